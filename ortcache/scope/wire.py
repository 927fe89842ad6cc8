"""Where an ONNX model says that its weights lie, read off the protobuf wire format in one pass and little memory."""

from __future__ import annotations

from typing import BinaryIO

from ..errors import InputError

__all__ = ["LOCATION", "external_locations"]

#: The key of the entry that says where external data lies.
LOCATION = b"location"

#: The messages that lead to a tensor, and the numbers of the fields that lead on.
_CHILDREN: dict[str, dict[int, str]] = {
    "model": {7: "graph", 20: "training", 25: "function"},
    "training": {1: "graph", 2: "graph"},
    "function": {7: "node", 11: "attribute"},
    "graph": {1: "node", 5: "tensor", 15: "sparse"},
    "node": {5: "attribute"},
    "attribute": {5: "tensor", 6: "graph", 10: "tensor", 11: "graph", 22: "sparse", 23: "sparse"},
    "sparse": {1: "tensor", 2: "tensor"},
    "tensor": {13: "entry"},
    "entry": {},
}
_DATA_LOCATION, _EXTERNAL = 14, 1  # of a tensor
_LOCATION_KEY = LOCATION.decode()
_KEY, _VALUE = 1, 2  # of an entry

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5

_WINDOW = 1 << 16
_DEEPEST = 200  # protobuf's own limit is 100
_LONGEST = 1 << 15  # bytes of a key or a location


def external_locations(stream: BinaryIO, size: int) -> set[str]:
    """The location of every tensor whose data is external: initializers, sparse ones, attributes, subgraphs, functions.

    Args:
        stream: the model; it can seek.
        size: its bytes.

    Raises:
        InputError: it is not a whole protobuf message.
    """
    reader = _Reader(stream)
    found: set[str] = set()
    stack = [_Message("model", size)]
    while stack:
        message = stack[-1]
        if reader.position == message.end:
            stack.pop()
            if message.kind == "entry" and message.key == _LOCATION_KEY:
                stack[-1].location = message.value
            elif message.kind == "tensor" and message.external and message.location is not None:
                found.add(message.location)
            continue
        number, wire = divmod(reader.varint(message.end), 8)
        if wire == _BYTES:
            length = reader.varint(message.end)
            end = reader.position + length
            if end > message.end:
                raise _broken(f"a field at byte {reader.position} is longer than what it is in")
            child = _CHILDREN[message.kind].get(number)
            if child and reader.may_hold(LOCATION, length):
                if len(stack) == _DEEPEST:
                    raise _broken(f"it is nested more than {_DEEPEST} deep")
                stack.append(_Message(child, end))
            elif message.kind == "entry" and number == _KEY:
                message.key = reader.text(length)
            elif message.kind == "entry" and number == _VALUE:
                message.value = reader.text(length)
            else:
                reader.position = end
        elif wire == _VARINT:
            value = reader.varint(message.end)
            if message.kind == "tensor" and number == _DATA_LOCATION:
                message.external = value == _EXTERNAL
        elif wire in (_FIXED64, _FIXED32):
            reader.position += 8 if wire == _FIXED64 else 4
            if reader.position > message.end:
                raise _broken("it ends in the middle of a number")
        else:
            raise _broken(f"a field at byte {reader.position} has the wire type {wire}")
    return found


class _Message:
    """A message that is being read, and what is known of it so far."""

    __slots__ = ("end", "external", "key", "kind", "location", "value")

    def __init__(self, kind: str, end: int) -> None:
        self.kind = kind
        self.end = end
        self.external = False
        self.location: str | None = None
        self.key = ""
        self.value = ""


class _Reader:
    """Reads from a position, through a window: what is skipped is not read."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._window = b""
        self._start = 0
        self.position = 0

    def varint(self, end: int) -> int:
        value = shift = 0
        while shift < 70:
            if self.position >= end:
                raise _broken("it ends in the middle of a number")
            place = self._reach(1)
            byte = self._window[place]
            self.position += 1
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
            shift += 7
        raise _broken(f"a number at byte {self.position} is too long")

    def text(self, length: int) -> str:
        if length > _LONGEST:
            raise _broken(f"the location of external data at byte {self.position} has {length} bytes")
        self._stream.seek(self.position)
        data = self._stream.read(length)
        if len(data) != length:
            raise _broken("it was cut while it was read")
        self.position += length
        try:
            return data.decode()
        except UnicodeDecodeError:
            raise _broken(f"the text at byte {self.position - length} is not UTF-8") from None

    def may_hold(self, text: bytes, length: int) -> bool:
        """Is that text in the next bytes? If they are too many to look at, yes."""
        if length > _WINDOW:
            return True
        place = self._reach(length) if length else 0
        return self._window.find(text, place, place + length) >= 0

    def _reach(self, length: int) -> int:
        """Where in the window the position is; that many bytes behind it are there too."""
        place = self.position - self._start
        if place < 0 or place + length > len(self._window):
            self._stream.seek(self.position)
            self._window = self._stream.read(_WINDOW)
            self._start, place = self.position, 0
            if len(self._window) < length:
                raise _broken("it was cut while it was read")
        return place


def _broken(problem: str) -> InputError:
    return InputError(f"the model is not a whole ONNX file: {problem}")
