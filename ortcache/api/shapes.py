"""The shapes of a model's outputs, where it says that the shapes of its inputs fix them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from .typeinfo import Kind, TypeInfo, ValueInfo

__all__ = ["output_shapes"]


def output_shapes(
    inputs: Iterable[ValueInfo], outputs: Iterable[ValueInfo], given: Mapping[str, tuple[int, ...]]
) -> list[tuple[int, ...]] | None:
    """The shape of each output; None where one of them is not fixed, or is no tensor that numpy can hold.

    Args:
        given: input name to its array's shape.
    """
    known: dict[str, int] = {}
    for info in inputs:
        if info.name in given and not _learn(known, info.info, given[info.name]):
            return None
    shapes = []
    for info in outputs:
        shape = _resolve(info.info, known)
        if shape is None:
            return None
        shapes.append(shape)
    return shapes


def _learn(known: dict[str, int], info: TypeInfo, shape: tuple[int, ...]) -> bool:
    """Take the sizes of the symbolic dimensions; false where one name would have two."""
    if info.shape is None or len(info.shape) != len(shape):
        return info.shape is None
    return all(known.setdefault(d, n) == n for d, n in zip(info.shape, shape, strict=True) if isinstance(d, str))


def _resolve(info: TypeInfo, known: Mapping[str, int]) -> tuple[int, ...] | None:
    if info.kind != Kind.ONNX_TYPE_TENSOR or info.element is None or not info.element.plain or info.shape is None:
        return None
    sizes = [known.get(d) if isinstance(d, str) else d for d in info.shape]
    return None if None in sizes else tuple(sizes)  # type: ignore[arg-type]
