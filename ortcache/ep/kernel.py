"""What a kernel gets for one run: inputs as arrays, and memory for its outputs."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..api.arrays import as_array
from ..api.element import STRING, Element, element
from ..api.packed import pack
from ..api.reading import read
from ..api.tensor import describe, read_tensor, shared_array
from ..api.text import fill_strings
from ..core.native import Native
from ..errors import ClosedError, InputError
from .log import EpLogger

__all__ = ["KernelContext", "count_of"]

_BYTE = 2  # the code of uint8


def count_of(native: Native, address: int, what: str) -> int:
    """How many "Input"s or "Output"s the OrtKernelContext at that address has; it is the same in each run."""
    out, function = ctypes.c_size_t(), f"KernelContext_Get{what}Count"
    status = getattr(native.quick, function)(address, ctypes.byref(out))
    if status:
        raise native.statuses.error_at(status, function)
    return out.value


class KernelContext:
    """One run of a kernel.

    The arrays are over ORT's own memory: they must not be kept beyond the run, when that memory is used for something
    else. The methods raise ClosedError then; an array cannot.

    Args:
        address: of the OrtKernelContext.
        counts: how many inputs and outputs it has: `count_of` each.
        tensors: the inputs that can be nothing but tensors.

    Attributes:
        input_count: how many inputs there are, optional ones that are left out among them.
        output_count: how many outputs there are.
        state: what the kernel's ``create_state`` gave; None where it has none.
        log: the session's log.
    """

    def __init__(
        self, native: Native, address: int, counts: tuple[int, int], tensors: frozenset[int], state: Any, log: EpLogger
    ) -> None:
        self._native = native
        self._tensors = tensors
        self._here: int | None = address
        self.input_count, self.output_count = counts
        self._written: dict[int, tuple[int, Element]] = {}
        self.state = state
        self.log = log

    @property
    def inputs(self) -> list[Any]:
        """Every `input`."""
        return [self.input(index) for index in range(self.input_count)]

    def input(self, index: int) -> Any:
        """A tensor as a read-only array (text is copied), a sequence as a list, a map as a dict; None for an optional
        input that is left out.

        Raises:
            IndexError: there is no such input.
        """
        value = self._value("KernelContext_GetInput", index, "input", self.input_count)
        if value is None:
            return None
        known = read_tensor if index in self._tensors else read  # to ask for less takes half the time
        return known(self._native, value, None, writeable=False)

    def output(self, index: int, shape: Sequence[int], dtype: Any = None) -> Any:
        """Let ORT allocate an output, and give its memory as an array to write into.

        Args:
            dtype: the dtype that is expected; the model says which it is.

        Raises:
            IndexError: there is no such output.
            InputError: the output is of another dtype, or of a type whose memory numpy cannot use: see `set_output`.
            OrtError: ORT does not allocate that shape.
        """
        sizes = tuple(int(size) for size in shape)
        value, item = self._allocate(index, sizes)
        if dtype is not None and np.dtype(dtype) != item.dtype:
            raise InputError(
                f"output {index} is tensor({item.name}), whose dtype is {item.dtype}, not {np.dtype(dtype)}"
            )
        if not item.plain:
            raise InputError(
                f"output {index} is tensor({item.name}), which numpy cannot write in place: use set_output"
            )
        return shared_array(None, self._data(value), sizes, item)

    def set_output(self, index: int, data: Any) -> None:
        """Copy an array, or what numpy can make one of, to an output of any element type.

        Raises:
            IndexError: there is no such output.
            InputError: the data are of another element type.
            OrtError: ORT does not allocate that shape.
        """
        shape = np.shape(data)
        value, item = self._allocate(index, shape)
        array, _ = as_array(data, item)
        if item.code == STRING:
            fill_strings(self._native, value, array)
        elif item.packed:
            packed = pack(array, item)
            shared_array(None, self._data(value), packed.shape, element(_BYTE))[...] = packed
        else:
            shared_array(None, self._data(value), shape, item)[...] = array

    def missing_outputs(self) -> list[int]:
        """The outputs that were not written: ORT cannot go on without them."""
        return [index for index in range(self.output_count) if index not in self._written]

    def close(self) -> None:
        """The run is over."""
        self._here = None

    @property
    def _address(self) -> int:
        if self._here is None:
            raise ClosedError("this KernelContext was valid only during the run that it was made for")
        return self._here

    def _value(self, function: str, index: int, what: str, count: int, *args: Any) -> int | None:
        if not 0 <= index < count:
            raise IndexError(f"there is no {what} {index}: the kernel has {count}")
        out = ctypes.c_void_p()
        self._check(getattr(self._native.quick, function)(self._address, index, *args, ctypes.byref(out)), function)
        return out.value

    def _allocate(self, index: int, shape: tuple[int, ...]) -> tuple[int, Element]:
        sizes = (ctypes.c_int64 * len(shape))(*shape)
        value = self._value("KernelContext_GetOutput", index, "output", self.output_count, sizes, len(shape))
        if value is None:
            raise InputError(f"output {index} is an optional one that nothing uses")
        self._written[index] = value, describe(self._native, value)[0]
        return self._written[index]

    def _data(self, value: int) -> int:
        out = ctypes.c_void_p()
        self._check(self._native.quick.GetTensorMutableData(value, ctypes.byref(out)), "GetTensorMutableData")
        return out.value or 0

    def _check(self, status: int | None, function: str) -> None:
        if status:
            raise self._native.statuses.error_at(status, function)
