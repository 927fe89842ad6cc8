"""Every error that ortcache raises of its own.

    OrtcacheError
    ├── LibraryError              no usable ONNX Runtime library
    │   ├── LibraryNotFoundError  none was found
    │   ├── NotOnnxRuntimeError   it loads, but is not ONNX Runtime
    │   └── LibraryVersionError   it is too old, or lacks the API version asked for
    ├── UnsupportedFunctionError  the loaded library does not have this function
    │   └── ProposedFunctionError no released library has it
    ├── OrtError                  ONNX Runtime reported a failure
    ├── ClosedError               the object was closed
    ├── EpCacheError              a strict EP cache cannot be honoured, or failed
    ├── StoreError                a store's backend failed
    │   └── StoreTimeoutError     it did not answer in time
    ├── HostError                 an execution provider cannot be put into this ONNX Runtime from Python
    └── InputError                a value that cannot be what was asked for

An UnsupportedFunctionError is an AttributeError too, an InputError a ValueError, a StoreTimeoutError a TimeoutError.
"""

from __future__ import annotations

__all__ = [
    "ClosedError",
    "EpCacheError",
    "HostError",
    "InputError",
    "LibraryError",
    "LibraryNotFoundError",
    "LibraryVersionError",
    "NotOnnxRuntimeError",
    "OrtError",
    "OrtcacheError",
    "ProposedFunctionError",
    "StoreError",
    "StoreTimeoutError",
    "UnsupportedFunctionError",
]


class OrtcacheError(Exception):
    """The base of all the others."""


class LibraryError(OrtcacheError):
    """There is no usable ONNX Runtime library."""


class LibraryNotFoundError(LibraryError):
    """No library was found; the message lists every place that was tried."""


class NotOnnxRuntimeError(LibraryError):
    """A library that is not ONNX Runtime, or that the system cannot load."""


class LibraryVersionError(LibraryError):
    """The library is older than ortcache supports, or does not have the API version asked for."""


class UnsupportedFunctionError(OrtcacheError, AttributeError):
    """A C function that the loaded library does not have."""


class ProposedFunctionError(UnsupportedFunctionError):
    """A C function that is proposed upstream and in no release."""


class OrtError(OrtcacheError):
    """ONNX Runtime reported a failure.

    Attributes:
        code: an OrtErrorCode (a plain int where a newer library has a code that is not declared).
        message: ORT's own text.
        function: the C function that failed.
    """

    def __init__(self, code: int, message: str, function: str) -> None:
        super().__init__(f"{function}: {message.strip()} [{getattr(code, 'name', code)}]")
        self.code = code
        self.message = message
        self.function = function

    def __reduce__(self) -> tuple[type[OrtError], tuple[int, str, str]]:
        return type(self), (self.code, self.message, self.function)


class ClosedError(OrtcacheError):
    """The object was closed, or what it belongs to was."""


class EpCacheError(OrtcacheError):
    """A strict EP cache: an execution provider cannot honour it, or it failed."""


class StoreError(OrtcacheError):
    """A store's backend failed: it is down, refuses, or holds what it cannot read.

    Attributes:
        told: was it logged already, so that nobody needs to do so again?
    """

    told = False


class StoreTimeoutError(StoreError, TimeoutError):
    """A store did not answer in the time that it was given."""


class HostError(OrtcacheError):
    """The host does not cover this platform or this library, or cannot make the file that it needs."""


class InputError(OrtcacheError, ValueError):
    """A value that cannot be what was asked for: a wrong name, element type, shape, option or path."""
