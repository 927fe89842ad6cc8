"""Scopes: the right entry or a miss."""

from __future__ import annotations

import copy
import os
import warnings
from pathlib import Path
from typing import Any

import pytest

import ortcache as oc
from ortcache.errors import InputError, StoreError
from ortcache.keys import MAX_LENGTH
from ortcache.scope import Scope, ScopedStore, scopes
from ortcache.stores import Buffer, DirectoryStore, MemoryStore
from ortcache.stores.readonly import ReadOnly
from ortcache.stores.verified import Verified

from ..stores.conformance import Conformance
from ..support.models import add_model

NOW: dict[str, Any] = {
    "model": add_model(),
    "ort_version": "1.32.0",
    "ep": "OpenVINOExecutionProvider",
    "ep_version": "1.8.1",
    "device": "NPU 3720",
    "driver": "32.0.100",
    "options": {"precision": "FP16", "streams": 2},
    "extra": {"rank": 0},
}


class TestScopedStore(Conformance):
    """What every store must do."""

    @pytest.fixture
    def store(self, tmp_path: Path) -> ScopedStore:
        return Scope.of(**NOW).over(Verified(DirectoryStore(tmp_path / "s")))


@pytest.mark.parametrize(
    "other",
    [
        {"model": add_model().replace(b"add", b"dad")},
        {"ort_version": "1.31.0"},
        {"ep": "CPUExecutionProvider"},
        {"ep_version": "1.8.2"},
        {"ep_version": None},
        {"device": "NPU 4000"},
        {"device": ["NPU 3720"]},
        {"driver": "32.0.101"},
        {"options": {"precision": "FP32", "streams": 2}},
        {"options": {"precision": "FP16"}},
        {"options": {}},
        {"options": {"precision": "FP16", "streams": "2"}},
        {"options": {"precision": "FP16", "streams": 2, "more": None}},
        {"extra": {"rank": 1}},
        {"extra": {"rank": False}},
        {"extra": None},
        {"options": NOW["extra"], "extra": NOW["options"]},
    ],
)
def test_any_part_that_differs_is_a_miss(other: dict[str, Any]) -> None:
    store = MemoryStore()
    before, after = Scope.of(**NOW), Scope.of(**{**NOW, **other})
    before.over(store).put("key", b"an engine")
    assert before != after and before.digest != after.digest
    assert after.over(store).get("key") is None
    assert list(after.over(store).keys()) == []
    assert before.over(store).get("key") == b"an engine"


def test_the_same_parts_are_a_hit_in_whatever_order_the_options_are() -> None:
    store = MemoryStore()
    Scope.of(**NOW).over(store).put("key", b"an engine")
    again = Scope.of(**{**NOW, "options": {"streams": 2, "precision": "FP16"}})
    assert again == Scope.of(**NOW) and hash(again) == hash(Scope.of(**NOW))
    assert again.over(store).get("key") == b"an engine"


def test_two_versions_in_turn_keep_both_their_entries(tmp_path: Path) -> None:
    store = DirectoryStore(tmp_path / "s")
    made = []
    for version in ("1.31.0", "1.32.0", "1.31.0", "1.32.0", "1.31.0"):
        scoped = Scope.of(**{**NOW, "ort_version": version}).over(store)
        if scoped.get("key") is None:
            scoped.put("key", version.encode())
            made.append(version)
        assert scoped.get("key") == version.encode()
    assert made == ["1.31.0", "1.32.0"]


def test_models_that_differ_in_one_weight_are_apart_under_one_path(tmp_path: Path) -> None:
    path, store = tmp_path / "model.onnx", MemoryStore()
    path.write_bytes(add_model())
    Scope.of(model=path).over(store).put("key", b"an engine")
    assert Scope.of(model=str(path)).over(store).get("key") == b"an engine"
    weights = path.read_bytes().replace(b"\x00\x00\x20\x41", b"\x01\x00\x20\x41")  # 10.0 and the next float
    assert len(weights) == path.stat().st_size and weights != path.read_bytes()
    path.write_bytes(weights)
    assert Scope.of(model=path).over(store).get("key") is None


def test_the_parts_are_named_and_readable() -> None:
    parts = dict(Scope.of(**NOW).parts)
    assert parts.pop("model").startswith("sha256:")
    assert list(parts.items()) == [
        ("ort_version", "1.32.0"), ("ep", "OpenVINOExecutionProvider"), ("ep_version", "1.8.1"), ("device", "NPU 3720"),
        ("driver", "32.0.100"), ("options.precision", "FP16"), ("options.streams", "2"), ("extra.rank", "0"),
    ]  # fmt: skip
    with pytest.raises(TypeError):
        Scope.of(**NOW).parts["ep"] = "other"  # type: ignore[index]
    assert Scope(Scope.of(**NOW).parts) == Scope.of(**NOW)


def test_a_scope_without_the_model_is_warned_of_at_the_line_that_makes_it() -> None:
    with pytest.warns(RuntimeWarning, match="without the model") as caught:
        Scope.of(ep="CPUExecutionProvider", extra={"path": "model.onnx"})
    assert [warning.filename for warning in caught] == [__file__]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Scope.of(model=add_model())
        Scope.of(model_digest="whatever changes with the model")


def test_what_the_loaded_library_says_is_the_version(rt: oc.Runtime) -> None:
    assert Scope.of(model=add_model(), ort_version=rt.version).parts["ort_version"] == rt.version


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        ({}, "without a part"),
        ({"model": b"x", "model_digest": "y"}, "not both"),
        ({"external_data": "x"}, "give the model too"),
        ({"model_digest": "x", "external_data": "x"}, "give the model too"),
        ({"model_digest": b"x"}, "model of a scope is text"),
        ({"model_digest": ""}, "model of a scope is text"),
        ({"model": b"x", "ep": ""}, "ep of a scope is text"),
        ({"model": b"x", "ort_version": 1.32}, "ort_version of a scope is text"),
        ({"model": "absent"}, "not there"),
        ({"model": b"x", "device": object()}, "it is or holds object"),
        ({"model": b"x", "options": [1]}, "is a mapping, not list"),
        ({"model": b"x", "options": {1: 2}}, "has the name 1, which is int"),
        ({"model": b"x", "extra": {"a": b"b"}}, "extra.a cannot"),
    ],
)
def test_what_cannot_be_a_scope_is_refused(parts: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        Scope.of(**parts)


@pytest.mark.parametrize("parts", [{"a": 1}, {1: "a"}, {"a": None}])
def test_parts_are_text(parts: Any) -> None:
    with pytest.raises(InputError, match="parts of a scope are text"):
        Scope(parts)


def test_a_record_is_left_when_something_is_stored_and_not_before() -> None:
    store = MemoryStore()
    scope = Scope.of(**NOW)
    scoped = scope.over(store)
    assert scoped.get("key") is None and scoped.delete("key") is False and list(scoped.keys()) == []
    assert list(store.keys()) == []
    with pytest.raises(InputError):
        scoped.put("../x", b"")
    assert list(store.keys()) == []
    scoped.put("key", b"value")
    assert [record.parts for record in scopes(store)] == [scope.parts]
    assert list(scoped.keys()) == ["key"]


def test_the_record_is_written_once(monkeypatch: pytest.MonkeyPatch) -> None:
    puts = []

    class Watched(MemoryStore):
        def put(self, key: str, value: Buffer) -> None:
            puts.append(key)
            super().put(key, value)

    scoped = Scope.of(**NOW).over(Watched())
    for _ in range(3):
        scoped.put("key", b"value")
    assert len(puts) == 4


def test_a_record_that_cannot_be_written_is_logged_and_tried_again(caplog: pytest.LogCaptureFixture) -> None:
    class Picky(MemoryStore):
        refuse = True

        def put(self, key: str, value: Buffer) -> None:
            if key.startswith("scopes.") and self.refuse:
                raise StoreError("full")
            super().put(key, value)

    store = Picky()
    scoped = Scope.of(**NOW).over(store)
    scoped.put("key", b"value")
    assert scoped.get("key") == b"value"
    assert "not recorded: StoreError: full" in caplog.text
    store.refuse = False
    scoped.put("key", b"value")
    assert [record.parts for record in scopes(store)] == [scoped.scope.parts]


def test_over_a_read_only_store_it_reads() -> None:
    store = MemoryStore()
    Scope.of(**NOW).over(store).put("key", b"value")
    scoped = Scope.of(**NOW).over(ReadOnly(store))
    assert scoped.get("key") == b"value"
    with pytest.raises(InputError, match="read-only"):
        scoped.put("key", b"x")


def test_a_copy_is_equal_as_what_a_spawned_process_gets_is() -> None:
    scope = Scope.of(**NOW)
    copied = copy.deepcopy(scope)
    assert copied is not scope
    assert (copied, copied.digest, hash(copied)) == (scope, scope.digest, hash(scope))


def test_the_longest_key_fits() -> None:
    scoped = Scope.of(**NOW).over(MemoryStore())
    scoped.put("k" * MAX_LENGTH, b"value")
    assert list(scoped.keys()) == ["k" * MAX_LENGTH]


def test_bytes_of_a_file_name_may_be_a_part() -> None:
    name = os.fsdecode(b"caf\xe9")
    assert Scope.of(model=b"x", extra={"name": name}) != Scope.of(model=b"x", extra={"name": name + " "})


def test_a_plugin_s_device_gives_the_parts_that_it_has(rt: oc.Runtime) -> None:
    device = rt.ep_devices()[0]
    scope = Scope.of_device(device, model=add_model(), ort_version=rt.version, options={"a": "b"}, driver="7")
    hardware = [device.device.vendor_id, device.device.device_id]
    assert scope == Scope.of(
        model=add_model(),
        ort_version=rt.version,
        ep=device.ep_name,
        ep_version=device.ep_metadata.get("version"),
        device=hardware,
        driver="7",
        options={"a": "b"},
    )
