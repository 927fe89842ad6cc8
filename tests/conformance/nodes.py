"""The ONNX backend node tests, through the official module and through ours, in one process.

Run as ``python -m tests.conformance.nodes`` it prints both counts and every case that only the official module
passes; the exit code is 1 if there is one.
"""

from __future__ import annotations

import sys
import warnings
from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np

import ortcache as oc

__all__ = ["Outcome", "collect", "compare", "run_case"]


@dataclass(frozen=True)
class Outcome:
    """How one case went. ``official`` and ``ours`` are "passed" or why not."""

    name: str
    official: str
    ours: str
    equal: bool

    @property
    def regression(self) -> bool:
        """Does only the official module pass, or do the two differ?"""
        return self.official == "passed" and not (self.ours == "passed" and self.equal)


def collect() -> list[Any]:
    """Every node case that the installed onnx package has or builds."""
    from onnx.backend.test.case.node import collect_testcases

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # numpy's, about the corner cases that the tests are made of
        return list(collect_testcases(None))


def run_case(rt: oc.Runtime, case: Any) -> Outcome:
    """One case with the official module, then with ours."""
    import onnxruntime as ort

    model = case.model.SerializeToString()
    names = [value.name for value in case.model.graph.input]

    def official() -> Any:
        options = ort.SessionOptions()
        options.log_severity_level = 4
        session = ort.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        return lambda feeds: session.run(None, feeds)

    def ours() -> Any:
        return rt.session(model, log_severity_level=4).run

    theirs, reference = _attempt(official, case, names)
    our_result, outputs = _attempt(ours, case, names)
    return Outcome(case.name, theirs, our_result, compare(reference, outputs))


def _attempt(make: Any, case: Any, names: list[str]) -> tuple[str, Any]:
    try:
        run, results = make(), []
        for data in case.data_sets:
            inputs, expected = (_arrays(part) for part in data)
            # Twice: the second run of a signature may go another way than the first.
            outputs = run(dict(zip(names, inputs, strict=False)))
            again = run(dict(zip(names, inputs, strict=False)))
            results += [outputs, again]
            for result in (outputs, again):
                if not _close(expected, result, case.rtol, case.atol):
                    return "wrong result", results
    except Exception as error:
        return f"{type(error).__name__}: {str(error)[:200]}", None
    return "passed", results


def _arrays(values: Any) -> list[Any]:
    """Some cases have their data as protobuf messages."""
    from onnx import TensorProto, numpy_helper

    return [numpy_helper.to_array(value) if isinstance(value, TensorProto) else value for value in values]


def compare(a: Any, b: Any) -> bool:
    """Equal to the bit, in structure and in type."""
    if isinstance(a, (list, tuple)):
        return isinstance(b, (list, tuple)) and len(a) == len(b) and all(map(compare, a, b))
    if isinstance(a, dict):
        return isinstance(b, dict) and a.keys() == b.keys() and all(compare(a[k], b[k]) for k in a)
    if isinstance(a, np.ndarray):
        if not isinstance(b, np.ndarray) or a.dtype != b.dtype or a.shape != b.shape:
            return False
        return a.tolist() == b.tolist() if a.dtype == object else a.tobytes() == b.tobytes()
    return type(a) is type(b) and a == b


def _close(expected: Any, result: Any, rtol: float, atol: float) -> bool:
    if isinstance(expected, (list, tuple)):
        return len(expected) == len(result) and all(
            _close(e, r, rtol, atol) for e, r in zip(expected, result, strict=True)
        )
    if expected is None or result is None:
        return expected is result
    expected, result = np.asarray(expected), np.asarray(result)
    if expected.shape != result.shape:
        return False
    if expected.dtype.kind in "OUS":
        return [str(e) for e in expected.ravel()] == [str(r) for r in result.ravel()]
    if expected.dtype != result.dtype:
        return False
    wide = np.complex128 if expected.dtype.kind == "c" else np.float64
    return bool(np.allclose(expected.astype(wide), result.astype(wide), rtol, atol, equal_nan=True))


def main() -> int:
    warnings.simplefilter("ignore")
    rt = oc.load(log_level="fatal")
    outcomes = [run_case(rt, case) for case in collect()]
    official = sum(o.official == "passed" for o in outcomes)
    ours = sum(o.ours == "passed" for o in outcomes)
    worse = [o for o in outcomes if o.regression]
    print(f"ONNX Runtime {rt.version}, {len(outcomes)} node cases")
    print(f"official module: {official} pass; ortcache: {ours} pass; only the official module: {len(worse)}")
    for outcome in worse:
        print(f"  {outcome.name}: {outcome.ours}{'' if outcome.equal else ', outputs differ'}")
    if "-v" in sys.argv:
        for reason, count in Counter(o.ours.split(":")[0] for o in outcomes).most_common():
            print(f"  ours: {reason}: {count}")
        for outcome in outcomes:
            if outcome.ours != "passed":
                print(f"  {outcome.name}: official {outcome.official!r}; ours {outcome.ours!r}")
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main())
