"""Sparse tensors, to be read."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import Any

from .. import raw
from ..core.native import Native
from ..errors import InputError
from .element import STRING
from .tensor import describe, shared_array
from .typeinfo import read_tensor_info

__all__ = ["SparseTensor", "read_sparse"]


@dataclass(frozen=True)
class SparseTensor:
    """A sparse tensor as ORT holds it; the arrays share its memory and are read-only.

    Attributes:
        format: "coo", "csr" or "block".
        shape: of the tensor in full.
        values: what is there.
        indices: where: for coo one array, [n] with places in the flattened tensor or [n, 2] with row and column; for
            csr the inner and the outer indices; for block one array of block coordinates.
    """

    format: str
    shape: tuple[int, ...]
    values: Any
    indices: tuple[Any, ...]


_FORMATS = {
    raw.OrtSparseFormat.ORT_SPARSE_COO: ("coo", (raw.OrtSparseIndicesFormat.ORT_SPARSE_COO_INDICES,)),
    raw.OrtSparseFormat.ORT_SPARSE_CSRC: (
        "csr",
        (
            raw.OrtSparseIndicesFormat.ORT_SPARSE_CSR_INNER_INDICES,
            raw.OrtSparseIndicesFormat.ORT_SPARSE_CSR_OUTER_INDICES,
        ),
    ),
    raw.OrtSparseFormat.ORT_SPARSE_BLOCK_SPARSE: (
        "block",
        (raw.OrtSparseIndicesFormat.ORT_SPARSE_BLOCK_SPARSE_INDICES,),
    ),
}


def read_sparse(native: Native, value: int, owner: Any) -> SparseTensor:
    """The sparse tensor at that address; its arrays hold ``owner``.

    Raises:
        InputError: it holds strings, or was never filled.
    """
    api, pointer = native.api, ctypes.cast(value, ctypes.POINTER(raw.OrtValue))
    item, shape = describe(native, value)
    if item.code == STRING:
        raise InputError("a sparse tensor of strings has no form in Python; read it through the C functions")
    code, data, count = ctypes.c_int(), ctypes.c_void_p(), ctypes.c_size_t()
    api.GetSparseTensorFormat(pointer, ctypes.byref(code))
    if code.value not in _FORMATS:
        raise InputError("this sparse tensor was never filled")
    name, parts = _FORMATS[raw.OrtSparseFormat(code.value)]

    def array(function: Any, *which: int) -> Any:
        info = ctypes.POINTER(raw.OrtTensorTypeAndShapeInfo)()
        function(pointer, *which, ctypes.byref(info))
        try:
            kind, size = read_tensor_info(native, info)
        finally:
            api.ReleaseTensorTypeAndShapeInfo(info)
        if which:
            api.GetSparseTensorIndices(pointer, *which, ctypes.byref(count), ctypes.byref(data))
        else:
            api.GetSparseTensorValues(pointer, ctypes.byref(data))
        assert kind is not None and size is not None
        return shared_array(owner, data.value or 0, size, kind, writeable=False)  # type: ignore[arg-type]

    values = array(api.GetSparseTensorValuesTypeAndShape)
    return SparseTensor(name, shape, values, tuple(array(api.GetSparseTensorIndicesTypeShape, part) for part in parts))
