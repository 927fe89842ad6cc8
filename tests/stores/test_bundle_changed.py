"""Whatever is changed in a bundle: it is refused, or what comes out of it is what went in."""

from __future__ import annotations

import io

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from ortcache.errors import InputError
from ortcache.stores import MemoryStore
from ortcache.stores.bundle import export_bundle, import_bundle

from .contents import contents


def imported(data: bytes) -> dict[str, bytes | None] | None:
    """What is in the store then; None where the bundle is refused, and nothing is in the store."""
    store = MemoryStore()
    try:
        import_bundle(io.BytesIO(data), store)
    except InputError:
        assert contents(store) == {}
        return None
    return contents(store)


def exported() -> bytes:
    store, file = MemoryStore(), io.BytesIO()
    store.put("key", b"value")
    store.put("more", bytes(range(50)))
    export_bundle(store, file, info={"ort_version": "1.32.0"})
    return file.getvalue()


BUNDLE = exported()
WHOLE = imported(BUNDLE)


def test_no_cut_is_taken() -> None:
    for end in range(len(BUNDLE)):
        assert imported(BUNDLE[:end]) is None
    for start in range(1, len(BUNDLE)):
        assert imported(BUNDLE[start:]) is None or BUNDLE[start:].startswith(b"PK\x03\x04")


def test_no_flipped_bit_changes_what_is_imported() -> None:
    refusals = 0
    for place in range(len(BUNDLE)):
        for bit in range(8):
            data = bytearray(BUNDLE)
            data[place] ^= 1 << bit
            found = imported(bytes(data))
            refusals += found is None
            assert found in (None, WHOLE), (place, bit)  # times and the like mean nothing
    assert refusals > len(BUNDLE) * 8 * 0.7


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, len(BUNDLE) - 1), st.integers(0, 255)), min_size=1, max_size=8),
    st.binary(max_size=20),
)
@example([(0, 0)], b"")
def test_no_other_change_makes_a_wrong_value(changes: list[tuple[int, int]], rest: bytes) -> None:
    data = bytearray(BUNDLE)
    for place, value in changes:
        data[place] = value
    assert imported(bytes(data) + rest) in (None, WHOLE)


@given(st.binary(max_size=300))
@settings(deadline=None)
def test_no_other_bytes_are_a_bundle(data: bytes) -> None:
    assert imported(data) is None
