"""Empty sequences of every element type that ORT has them of."""

from __future__ import annotations

import pytest

import ortcache as oc
from ortcache import raw
from ortcache.api.element import element
from ortcache.api.empty import empty_sequence
from ortcache.api.typeinfo import Kind, TypeInfo

_CODES = [int(code) for code in raw.ONNXTensorElementDataType if code]


@pytest.mark.parametrize("code", _CODES)
def test_an_empty_sequence_is_of_the_element_type_that_was_asked_for_or_an_error(rt: oc.Runtime, code: int) -> None:
    try:
        made = empty_sequence(rt.native, TypeInfo(Kind.ONNX_TYPE_TENSOR, element(code)))
    except oc.OrtError as error:
        assert code >= 14, error  # ORT has none of the complex, the 8-bit float and the packed types
        return
    value = oc.Value.of(rt.native, made)
    assert value.type == f"seq(tensor({element(code).name}))"
    assert value.numpy() == []


def test_what_onnx_cannot_make_is_refused(rt: oc.Runtime) -> None:
    inner = TypeInfo(Kind.ONNX_TYPE_MAP, element(7), contained=TypeInfo(Kind.ONNX_TYPE_TENSOR, element(1)))
    for contained in (inner, TypeInfo(Kind.ONNX_TYPE_TENSOR, None)):
        with pytest.raises(oc.InputError, match=r"an empty seq\(.*\) cannot be made"):
            empty_sequence(rt.native, contained)


def test_a_failure_leaves_nothing_behind(rt: oc.Runtime) -> None:
    for _ in range(20):
        with pytest.raises(oc.OrtError):
            empty_sequence(rt.native, TypeInfo(Kind.ONNX_TYPE_TENSOR, element(14)))
    made = empty_sequence(rt.native, TypeInfo(Kind.ONNX_TYPE_TENSOR, element(1)))
    assert oc.Value.of(rt.native, made).numpy() == []
