"""External locations read off the wire format, against what the onnx package says."""

from __future__ import annotations

import io
from typing import BinaryIO

import onnx
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from onnx import TensorProto, helper
from onnx.external_data_helper import ExternalDataInfo, _get_all_tensors, uses_external_data

from ortcache.errors import InputError
from ortcache.scope.wire import external_locations

from ..support.models import add_model, chain_model, loop_model, lora_model, metadata_model
from .models import PLACES, external, model_of


def locations(data: bytes) -> set[str]:
    return external_locations(io.BytesIO(data), len(data))


@pytest.mark.parametrize("place", PLACES)
def test_a_location_is_found_wherever_it_is(place: str) -> None:
    assert locations(PLACES[place](external("the/weights.bin")).SerializeToString()) == {"the/weights.bin"}


@given(st.lists(st.tuples(st.text(min_size=1, max_size=8), st.booleans(), st.integers(0, 300)), max_size=6))
@example([("é", True, 0), ("x", False, 200)])
def test_it_agrees_with_the_onnx_package(tensors: list[tuple[str, bool, int]]) -> None:
    made = []
    for number, (location, is_external, size) in enumerate(tensors):
        tensor = external(location, name=f"t{number}") if is_external else TensorProto(name=f"t{number}")
        tensor.doc_string = "location" * (size // 8)
        if not is_external:
            tensor.raw_data = bytes(size)
            tensor.external_data.add(key="location", value="not used: the data is here")
        made.append(tensor)
    model = model_of(*made)
    said = {ExternalDataInfo(tensor).location for tensor in _get_all_tensors(model) if uses_external_data(tensor)}
    assert locations(model.SerializeToString()) == said == {one for one, is_external, _ in tensors if is_external}


@pytest.mark.parametrize("make", [add_model, chain_model, lora_model, loop_model, metadata_model])
def test_a_model_without_has_none(make: object) -> None:
    assert callable(make)
    assert locations(make()) == set()


def test_weights_inside_are_not_read() -> None:
    inside = TensorProto(name="big", data_type=TensorProto.FLOAT, dims=[1 << 20], raw_data=bytes(4 << 20))
    data = model_of(inside, external("w.bin", name="W")).SerializeToString()
    read = 0

    class Counting(io.BytesIO):
        def read(self, size: int | None = -1, /) -> bytes:
            nonlocal read
            found = super().read(size)
            read += len(found)
            return found

    stream: BinaryIO = Counting(data)
    assert external_locations(stream, len(data)) == {"w.bin"}
    assert read < 300_000


def test_fields_that_it_does_not_know_are_passed_over() -> None:
    unknown = b"\xf8\x07\x05" + b"\xf9\x07" + bytes(8) + b"\xfd\x07" + bytes(4) + b"\xfa\x07\x03abc"
    data = model_of(external("w.bin")).SerializeToString()
    assert locations(unknown + data + unknown) == {"w.bin"}


def test_a_model_of_which_any_end_is_missing_is_refused_or_has_nothing_more() -> None:
    data = model_of(external("w.bin")).SerializeToString()
    graph = onnx.ModelProto.FromString(data).graph.ByteSize()
    refused = 0
    for end in range(len(data)):
        try:
            assert locations(data[:end]) <= {"w.bin"}
        except InputError as error:
            assert "not a whole ONNX file" in str(error)
            refused += 1
    assert refused > graph - 5  # wherever the cut is within the graph


@given(st.binary(max_size=60))
@example(b"\x0b")  # a group
@example(b"\xff" * 20)
@example(b"\x3a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01")
def test_what_is_no_model_is_refused_or_has_no_location(data: bytes) -> None:
    try:
        assert locations(data) == set()
    except InputError as error:
        assert "not a whole ONNX file" in str(error)


def nested(depth: int) -> bytes:
    """A graph in an attribute in a node in a graph, that many times over."""
    graph = helper.make_graph([], "g", [], [], [external("w.bin")])
    data = graph.SerializeToString()

    def field(number: int, content: bytes) -> bytes:
        size, length = len(content), b""
        while size > 0x7F:
            length, size = length + bytes([size & 0x7F | 0x80]), size >> 7
        return bytes([number << 3 | 2]) + length + bytes([size]) + content

    for _ in range(depth):
        data = field(1, field(5, field(6, data)))
    return field(7, data)


def test_nesting_has_an_end() -> None:
    assert locations(nested(30)) == {"w.bin"}
    with pytest.raises(InputError, match="nested more than 200 deep"):
        locations(nested(20_000))


def test_an_endless_location_is_refused() -> None:
    with pytest.raises(InputError, match="has 40000 bytes"):
        locations(model_of(external("x" * 40_000)).SerializeToString())


def test_a_location_that_is_no_utf_8_is_refused() -> None:
    data = model_of(external("w.bin")).SerializeToString().replace(b"w.bin", b"w\xff\xfe\xfdn")
    with pytest.raises(InputError, match="not UTF-8"):
        locations(data)
