"""What a model says of itself, and the key-value pairs that C keeps such things in."""

from __future__ import annotations

import onnx
import pytest

import ortcache as oc
from ortcache.api.keyvalues import read_key_values, temporary_key_values
from ortcache.api.metadata import ModelMetadata

from ..support.models import chain_model, metadata_model
from ..support.process import run_python


def test_every_field_is_read(rt: oc.Runtime) -> None:
    custom = {"klasse": "Größe", "模": "型", "empty": ""}
    with rt.session(metadata_model(**custom)) as session:
        assert session.metadata == ModelMetadata(
            producer_name="prodücer",
            graph_name="the graph",
            domain="org.example",
            description="what the model is",
            graph_description="what the graph is",
            version=42,
            custom_metadata_map=custom,
        )


def test_a_model_that_says_nothing_has_empty_fields_and_the_highest_version(rt: oc.Runtime) -> None:
    model = onnx.load_from_string(chain_model())
    model.graph.name = "g"
    with rt.session(model.SerializeToString()) as session:
        assert session.metadata == ModelMetadata(graph_name="g", version=2**63 - 1)


def test_the_official_module_reads_the_same(rt: oc.Runtime, mul_model: object) -> None:
    code = """
        import json, sys, onnxruntime
        found = onnxruntime.InferenceSession(sys.argv[1]).get_modelmeta()
        names = [name for name in dir(found) if not name.startswith("_")]
        print(json.dumps({name: getattr(found, name) for name in names}))
    """
    official = __import__("json").loads(run_python(code, mul_model, quiet=False))
    with rt.session(mul_model) as session:  # type: ignore[arg-type]
        ours = vars(session.metadata)
    assert ours == official


def test_metadata_outlives_the_session_and_raises_after_it(rt: oc.Runtime, mul_model: object) -> None:
    session = rt.session(mul_model)  # type: ignore[arg-type]
    metadata = session.metadata
    session.close()
    assert metadata.producer_name == "chenta"
    with pytest.raises(oc.ClosedError, match="this Session is closed"):
        session.metadata  # noqa: B018


def test_reading_it_again_and_again_takes_no_more_memory(mul_model: object) -> None:
    code = """
        import resource, sys, ortcache
        from tests.support.models import metadata_model
        session = ortcache.load().session(metadata_model(**{f"k{i}": "x" * 50_000 for i in range(10)}))
        def peak():
            for _ in range(300):
                session.metadata
            return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        first = peak()
        print(peak() - first < 30_000)  # kilobytes; they would be 150,000
    """
    assert run_python(code).strip() == "True"


def test_key_values_come_back_as_they_went_in(rt: oc.Runtime) -> None:
    entries = {"b": "2", "a": "ünï 模", "empty": ""}
    with temporary_key_values(rt.native, entries) as pairs:
        assert read_key_values(rt.native, pairs) == entries
        rt.api.AddKeyValuePair(pairs, b"c", b"3")
        rt.api.RemoveKeyValuePair(pairs, b"a")
        assert read_key_values(rt.native, pairs) == {"b": "2", "c": "3", "empty": ""}
    with temporary_key_values(rt.native, {}) as pairs:
        assert read_key_values(rt.native, pairs) == {}


def test_no_pairs_are_an_empty_dict(rt: oc.Runtime) -> None:
    assert read_key_values(rt.native, None) == {}


@pytest.mark.parametrize(("entries", "said"), [({"": "x"}, "key is empty"), ({"a\0": ""}, "NUL"), ({"a": "\0"}, "NUL")])
def test_entries_that_c_would_lose_are_refused(rt: oc.Runtime, entries: dict[str, str], said: str) -> None:
    with pytest.raises(oc.InputError, match=said):
        with temporary_key_values(rt.native, entries):
            pass
