"""What a user gives for a tensor, to an array that can be one."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import InputError
from .element import STRING, Element, element_of, is_text

__all__ = ["as_array"]

_NUMBERS = "biufc"


def as_array(data: Any, target: Element | None) -> tuple[Any, Element]:
    """An array and the element type that it is to be.

    An array keeps its dtype, which must be the target's. Python's own numbers, and lists of them, have none: they
    become what is wanted, where no value changes by it.

    Args:
        data: an array, anything with a dtype, a number, text, or nested lists.
        target: the element type that is wanted; None for the one that fits the data.

    Raises:
        InputError: it is of another element type, or ONNX has none for it.
    """
    if isinstance(data, np.ma.MaskedArray):
        raise InputError("a masked array is no tensor: fill it first, with .filled(value)")
    if isinstance(data, np.ndarray) or hasattr(data, "dtype") or hasattr(data, "__array__"):
        array = np.asarray(data)
        return array, _checked(array, target)
    if target is None:
        array = _made(data, None)
        return array, element_of(array.dtype)
    return _from_python(data, target), target


def _checked(array: Any, target: Element | None) -> Element:
    if target is None:
        return element_of(array.dtype)
    if target.dtype == array.dtype or (target.code == STRING and is_text(array.dtype)):
        return target
    # `dtype == None` is true of float64 in numpy, so None is asked for first.
    if target.bits_dtype is not None and array.dtype == target.bits_dtype:
        return target
    if target.packed and target.bits_dtype is None and array.dtype.kind in "iu":
        return target
    given = element_of(array.dtype)
    if target.code == given.code:  # in the other byte order
        return target
    hint = "" if STRING in (target.code, given.code) and array.dtype != object else _convert(target)
    raise InputError(f"it must be tensor({target.name}); an array of {array.dtype} is tensor({given.name}){hint}")


def _convert(target: Element) -> str:
    return f": convert it with .astype({target.dtype.name!r})"


def _made(data: Any, dtype: Any) -> Any:
    try:
        return np.array(data, dtype=dtype)
    except (ValueError, TypeError, OverflowError) as error:
        raise InputError(f"numpy cannot make an array of this {type(data).__name__}: {error}") from error


def _from_python(data: Any, target: Element) -> Any:
    if target.code == STRING:
        return _made(data, object)
    array = _made(data, None)
    if not array.size:
        return array.astype(target.dtype)
    kind, wanted = array.dtype.kind, _kind(target)
    if kind not in _NUMBERS:
        raise InputError(
            f"it must be tensor({target.name}); this {type(data).__name__} makes an array of {array.dtype}"
        )
    if _NUMBERS.index(kind.replace("u", "i")) > _NUMBERS.index(wanted):
        raise InputError(f"it must be tensor({target.name}), which these values of {array.dtype} do not fit in")
    if target.packed and wanted == "i":
        return array.astype(np.int64) if kind == "b" else array  # its range is seen to where it is packed
    if wanted == "i":
        _check_range(array, target)
    if target.bits_dtype is not None and target.dtype == target.bits_dtype:
        raise InputError(
            f"it must be tensor({target.name}): numbers become that with the package ml_dtypes installed; without it "
            f"give an array of {target.bits_dtype} with the bits"
        )
    with np.errstate(over="raise"):
        try:
            return array.astype(target.dtype)
        except FloatingPointError:
            raise InputError(f"it must be tensor({target.name}), which a value is too large for") from None


def _kind(target: Element) -> str:
    """Its letter in `_NUMBERS`; "i" for unsigned too."""
    for letter, name in (("b", "bool"), ("i", "int"), ("i", "uint"), ("c", "complex")):
        if target.name.startswith(name):
            return letter
    return "f"


def _check_range(array: Any, target: Element) -> None:
    bounds = np.iinfo(target.dtype)
    low, high = int(array.min()), int(array.max())
    if low < bounds.min or high > bounds.max:
        raise InputError(
            f"tensor({target.name}) holds {bounds.min} to {bounds.max}; the values go from {low} to {high}"
        )
