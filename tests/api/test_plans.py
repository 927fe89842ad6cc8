"""Prepared runs give to the bit what the long way gives, whatever the signatures, and stand aside where they cannot."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ortcache as oc
from ortcache.api.plan import CopyingPlan, PointingPlan
from ortcache.api.plans import LATE, LIMIT, MOST

from ..conformance.nodes import compare
from ..support.graphs import Node, TensorProto, constant, identity, model, tensor

#: s = a + b with broadcasting, t = a transposed, u = b in float64.
MIXED = model(
    [
        Node("Add", ["a", "b"], ["s"]),
        Node("Transpose", ["a"], ["t"]),
        Node("Cast", ["b"], ["u"], to=TensorProto.DOUBLE),
    ],
    [tensor("a", ["n", "m"]), tensor("b", ["m"])],
    [tensor("s", ["n", "m"]), tensor("t", ["m", "n"]), tensor("u", ["m"], TensorProto.DOUBLE)],
)


@pytest.fixture(scope="module")
def mixed(rt: oc.Runtime) -> Iterator[oc.Session]:
    with rt.session(MIXED, intra_op_num_threads=1) as session:
        yield session


def _plans(session: oc.Session) -> list[str]:
    return [type(plan).__name__ for plan in session._plans._idle]


def _feeds(n: int, m: int, seed: int = 0) -> dict[str, Any]:
    random = np.random.default_rng(seed)
    return {"a": random.random((n, m), np.float32), "b": random.random(m, np.float32)}


def _long(session: oc.Session, feeds: Any) -> list[Any]:
    return session.run(["s", "t", "u"][::-1], feeds)[::-1]  # in another order than the plans': none serves it


def test_a_signature_has_a_plan_from_its_third_run_on(rt: oc.Runtime) -> None:
    with rt.session(MIXED) as session:
        made = []
        for _ in range(4):
            session.run(_feeds(2, 3))
            made.append(_plans(session))
        assert made == [[], ["CopyingPlan"], ["CopyingPlan"], ["CopyingPlan"]]


@pytest.mark.parametrize(("m", "kind"), [(10, CopyingPlan), (LIMIT, PointingPlan)])
def test_small_arrays_are_copied_and_large_ones_pointed_to(rt: oc.Runtime, m: int, kind: Any) -> None:
    with rt.session(MIXED) as session:
        for seed in range(5):
            feeds = _feeds(2, m, seed)
            assert compare(_long(session, feeds), session.run(feeds))
        assert [type(plan) for plan in session._plans._idle] == [kind]


@settings(max_examples=60, deadline=None)
@given(
    shapes=st.lists(st.tuples(st.integers(0, 4), st.integers(0, 5)), min_size=1, max_size=30), seed=st.integers(0, 99)
)
def test_random_signatures(mixed: oc.Session, shapes: list[tuple[int, int]], seed: int) -> None:
    for turn, (n, m) in enumerate(shapes):
        feeds = _feeds(n, m, seed + turn)
        assert compare(_long(mixed, feeds), mixed.run(feeds))


@pytest.mark.parametrize("sizes", [(3, 4), (3, LIMIT), (LIMIT, LIMIT + 1), (1, 2, 3, 4, 5)])
def test_signatures_in_turn(rt: oc.Runtime, sizes: tuple[int, ...]) -> None:
    with rt.session(MIXED) as session:
        for turn in range(6 * len(sizes)):
            feeds = _feeds(2, sizes[turn % len(sizes)], turn)
            assert compare(_long(session, feeds), session.run(feeds))
        assert len(_plans(session)) == len(sizes)


def test_the_number_of_plans_is_bounded_and_the_latest_signatures_have_them(rt: oc.Runtime) -> None:
    with rt.session(MIXED) as session:
        for n in range(1, 2 * MOST):
            for turn in range(LATE + 1):
                feeds = _feeds(n, 2, turn)
                assert compare(_long(session, feeds), session.run(feeds))
            assert len(_plans(session)) == min(n, MOST)
        newest = session._plans._idle[-1]
        session.run(_feeds(2 * MOST - 1, 2))
        assert session._plans._idle[-1] is newest


def test_more_signatures_than_there_is_room_for_do_not_take_each_others_plans_all_the_time(
    rt: oc.Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = []
    original = CopyingPlan.__init__
    monkeypatch.setattr(CopyingPlan, "__init__", lambda self, *args: made.append(1) or original(self, *args))
    with rt.session(MIXED) as session:
        for turn in range(1000):
            feeds = _feeds(1 + turn % (MOST + 4), 2, turn)
            assert compare(_long(session, feeds), session.run(feeds))
        assert MOST <= len(made) < MOST + 1000 / LATE


def test_shapes_that_do_not_come_again_make_no_plans(rt: oc.Runtime) -> None:
    with rt.session(MIXED) as session:
        for n in range(200):
            session.run(_feeds(n, 2))
        assert _plans(session) == []
        assert len(session._plans._seen) <= 4 * MOST


def test_every_layout_of_a_signature(mixed: oc.Session) -> None:
    base = _feeds(4, 6)
    a, b = base["a"], base["b"]
    read_only = a.copy()
    read_only.flags.writeable = False
    variants = [a, np.asfortranarray(a), a[::-1][::-1], np.repeat(a, 2, 0)[::2], read_only, a.astype(">f4"), a.tolist(),
                np.broadcast_to(a[0], a.shape), a.view(np.matrix)]  # fmt: skip
    for _ in range(3):
        for variant in variants:
            feeds = {"a": variant, "b": b}
            expected = [np.asarray(variant, "f4") + b, np.asarray(variant, "f4").T, b.astype("f8")]
            assert compare(expected, mixed.run(feeds))


def test_feeds_are_not_kept_and_results_are_new_each_time(rt: oc.Runtime) -> None:
    for m in (3, LIMIT):
        with rt.session(MIXED) as session:
            feeds = _feeds(2, m)
            results = [session.run(feeds) for _ in range(5)]
            before = [array.copy() for array in results[-1]]
            feeds["a"][:] = -1
            session.run(feeds)
            assert compare(before, results[-1]) and compare(results[0], results[-1])
            results[-1][0][:] = 5
            assert compare(before, session.run({"a": before[1].T.copy(), "b": feeds["b"]}))


def test_outputs_whose_shapes_depend_on_the_data_go_the_long_way(rt: oc.Runtime) -> None:
    data = model([Node("NonZero", ["x"], ["y"])], [tensor("x", ["n"])], [tensor("y", [1, None], TensorProto.INT64)])
    with rt.session(data) as session:
        for turn in range(12):
            x = (np.arange(6) % (turn % 4 + 1) == 0).astype(np.float32)
            assert session.run({"x": x})[0].tolist() == [np.nonzero(x)[0].tolist()]
        assert _plans(session) == []


def test_a_model_that_does_not_keep_what_it_promises(rt: oc.Runtime) -> None:
    promises = [tensor("y", [1, "n"], TensorProto.INT64)]
    data = model([Node("NonZero", ["x"], ["y"])], [tensor("x", ["n"])], promises)
    with rt.session(data, log_severity_level=4) as session:
        for turn, x in enumerate([[1, 1, 1], [2, 2, 2], [3, 3, 3], [1, 0, 1], [0, 0, 0], [1, 1, 1], [1, 1, 1]]):
            assert session.run({"x": np.array(x, np.float32)})[0].tolist() == [np.nonzero(x)[0].tolist()]
            assert (_plans(session) == ["CopyingPlan"]) == (turn in (1, 2))
        assert not session._plans._possible


def test_a_run_that_fails_keeps_its_plan(rt: oc.Runtime) -> None:
    nodes = [Node("Gather", ["x", "i"], ["y"])]
    data = model(nodes, [tensor("x", [3]), tensor("i", [1], TensorProto.INT64)], [tensor("y", [1])])
    with rt.session(data, log_severity_level=4) as session:
        for place in (0, 1, 2, 9, 1, 9, 2):
            feeds = {"x": np.arange(3, dtype=np.float32), "i": np.array([place])}
            if place < 3:
                assert session.run(feeds)[0].tolist() == [place]
            else:
                with pytest.raises(oc.OrtError, match="out of data bounds"):
                    session.run(feeds)
        assert _plans(session) == ["CopyingPlan"]


def test_random_numbers_are_new_in_every_run(rt: oc.Runtime) -> None:
    nodes = [Node("RandomNormalLike", ["x"], ["r"], dtype=1), Node("Identity", ["x"], ["y"])]
    with rt.session(model(nodes, [tensor("x", [4])], [tensor("r", [4]), tensor("y", [4])])) as session:
        x = np.ones(4, np.float32)
        results = [session.run({"x": x}) for _ in range(6)]
        assert _plans(session) == ["CopyingPlan"]
        assert len({result[0].tobytes() for result in results}) == 6
        assert all(result[1].tolist() == [1] * 4 for result in results)


@pytest.mark.parametrize("kind", [TensorProto.STRING, TensorProto.BFLOAT16, TensorProto.BOOL, TensorProto.FLOAT16])
def test_other_element_types(rt: oc.Runtime, kind: int) -> None:
    from ortcache.api.element import element

    array = np.array(["a", "b"], object) if kind == TensorProto.STRING else np.ones(2).astype(element(kind).dtype)
    with rt.session(identity(kind)) as session:
        for _ in range(4):
            assert compare([array], session.run({"x": array}))
        assert _plans(session) == ([] if kind == TensorProto.STRING else ["CopyingPlan"])


def test_bits_and_the_type_that_they_stand_for_in_turn(rt: oc.Runtime) -> None:
    bits = np.array([0x3F80, 0x4000], np.uint16)
    from ortcache.api.element import element

    floats = bits.view(element(16).dtype)
    with rt.session(identity(TensorProto.BFLOAT16)) as session:
        for given_array in (bits, floats) * 4:
            assert session.run({"x": given_array})[0].tobytes() == bits.tobytes()


def test_a_plan_serves_an_initializer_that_is_replaced_and_one_that_is_not(rt: oc.Runtime) -> None:
    nodes = [Node("Add", ["x", "w"], ["y"])]
    data = model(nodes, [tensor("x", [1]), tensor("w", [1])], [tensor("y", [1])], [constant("w", [10], "f4")])
    with rt.session(data) as session:
        for turn in range(8):
            x, w = np.float32([turn]), np.float32([100])
            assert session.run({"x": x})[0].tolist() == [turn + 10]
            assert session.run({"x": x, "w": w})[0].tolist() == [turn + 100]
        assert len(_plans(session)) == 2
