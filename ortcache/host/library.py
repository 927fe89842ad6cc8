"""Plugin EPs registered through the host: a shim that ORT opens, and what its two functions do."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable
from typing import Any

from ..core.native import Native, native_at
from .shim import Shim

__all__ = ["PluginLibrary", "compiled_plugin"]

#: Does what CreateEpFactories does: gets the library that calls, and then the C arguments (registration name,
#: OrtApiBase, logger, where the factories go, how many fit, where their number goes).
CreateFactories = Callable[[Native, bytes, int, Any, Any, int, Any], None]

#: Does what ReleaseEpFactory does: gets the library and the factory's address.
ReleaseFactory = Callable[[Native, int], None]


class PluginLibrary:
    """A library that ORT can register. It serves one registration.

    Attributes:
        path: what to register.
    """

    def __init__(self, create: CreateFactories, release: ReleaseFactory) -> None:
        self._create = create
        self._release = release
        self._native: Native | None = None
        pointer, size = ctypes.c_void_p, ctypes.c_size_t
        # Addresses rather than typed pointers: what comes in is handed on.
        create_type = ctypes.CFUNCTYPE(pointer, ctypes.c_char_p, pointer, pointer, pointer, size, ctypes.POINTER(size))
        self._functions = (
            create_type(self._create_factories),
            ctypes.CFUNCTYPE(pointer, pointer)(self._release_factory),
        )
        names = ("CreateEpFactories", "ReleaseEpFactory")
        addresses = [ctypes.cast(function, pointer).value or 0 for function in self._functions]
        self._shim = Shim(dict(zip(names, addresses, strict=True)))
        self.path = self._shim.path

    @property
    def in_use(self) -> bool:
        """Is there an execution provider of it that was not released? What is compiled does not say so."""
        return False

    def loaded(self) -> None:
        """ORT has opened it, or will not."""
        self._shim.loaded()

    def close(self) -> None:
        """It is registered no more."""
        self._shim.loaded()

    def _create_factories(self, name: bytes, base: int, *rest: Any) -> int | None:
        try:
            native = self._native = native_at(base)
        except BaseException:  # without the library there is no way to make a status
            rest[-1][0] = 0
            return None
        try:
            self._create(native, name, base, *rest)
        except BaseException as error:
            return native.statuses.from_exception(error)
        return None

    def _release_factory(self, factory: int) -> int | None:
        assert self._native is not None
        try:
            self._release(self._native, factory)
        except BaseException as error:
            return self._native.statuses.from_exception(error)
        return None


def compiled_plugin(path: str | os.PathLike[Any], base: Callable[[Native], int]) -> PluginLibrary:
    """A compiled plugin, which gets an OrtApiBase of ours in place of ORT's.

    Args:
        base: the address of the OrtApiBase that it gets, for the library that registers it.

    Raises:
        OSError: the system cannot load the file.
        AttributeError: it exports no ``CreateEpFactories``.
    """
    library = ctypes.CDLL(os.fspath(path))
    create = library.CreateEpFactories
    create.restype = ctypes.c_void_p
    pointer = ctypes.c_void_p
    create.argtypes = [ctypes.c_char_p, pointer, pointer, pointer, ctypes.c_size_t, pointer]
    release = library.ReleaseEpFactory
    release.restype = ctypes.c_void_p
    release.argtypes = [pointer]

    def create_factories(
        native: Native, name: bytes, _base: int, logger: Any, factories: Any, most: int, count: Any
    ) -> None:
        status = create(name, base(native), logger, factories, most, count)
        if status:
            raise native.statuses.error_at(status, "CreateEpFactories")

    def release_factory(native: Native, factory: int) -> None:
        status = release(factory)
        if status:
            raise native.statuses.error_at(status, "ReleaseEpFactory")

    return PluginLibrary(create_factories, release_factory)
