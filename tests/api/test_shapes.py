"""Which outputs' shapes a model promises."""

from __future__ import annotations

import pytest

from ortcache.api.element import element
from ortcache.api.shapes import output_shapes
from ortcache.api.typeinfo import Kind, TypeInfo, ValueInfo


def _tensor(name: str, shape: tuple[int | str | None, ...] | None, code: int = 1) -> ValueInfo:
    return ValueInfo(name, TypeInfo(Kind.ONNX_TYPE_TENSOR, element(code), shape))


@pytest.mark.parametrize(
    ("declared", "given", "output", "expected"),
    [
        ((2, 3), (2, 3), (3, 2), [(3, 2)]),
        (("n",), (5,), ("n",), [(5,)]),
        (("n", "m"), (5, 0), ("m", 4, "n"), [(0, 4, 5)]),
        (("n", "n"), (5, 5), ("n",), [(5,)]),
        (("n", "n"), (5, 6), ("n",), None),  # the model's own error says what is wrong
        (("n",), (5,), ("m",), None),
        (("n",), (5,), (None,), None),
        (("n",), (5,), None, None),
        (None, (5, 6), (2,), [(2,)]),
        (None, (5,), ("n",), None),
        (("n",), (5, 6), (2,), None),
        ((), (), (), [()]),
    ],
)
def test_a_shape_is_known_where_the_inputs_fix_it(
    declared: tuple[int | str, ...] | None,
    given: tuple[int, ...],
    output: tuple[int | str | None, ...] | None,
    expected: list[tuple[int, ...]] | None,
) -> None:
    assert output_shapes([_tensor("x", declared)], [_tensor("y", output)], {"x": given}) == expected


def test_several_inputs_and_outputs() -> None:
    inputs = [_tensor("a", ("n", 2)), _tensor("b", ("m",))]
    outputs = [_tensor("p", ("m", "n")), _tensor("q", (1,))]
    assert output_shapes(inputs, outputs, {"a": (3, 2), "b": (4,)}) == [(4, 3), (1,)]
    assert output_shapes(inputs, outputs, {"a": (3, 2)}) is None
    assert output_shapes(inputs, outputs[1:], {}) == [(1,)]


@pytest.mark.parametrize("code", [8, 21, 22])
def test_what_numpy_cannot_hold_in_place_has_no_shape(code: int) -> None:
    assert output_shapes([], [_tensor("y", (2,), code)], {}) is None


def test_other_kinds_have_none() -> None:
    contained = TypeInfo(Kind.ONNX_TYPE_TENSOR, element(1), (2,))
    for kind in (Kind.ONNX_TYPE_SEQUENCE, Kind.ONNX_TYPE_OPTIONAL):
        assert output_shapes([], [ValueInfo("y", TypeInfo(kind, contained=contained))], {}) is None
