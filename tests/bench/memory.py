"""What a run of 100 MB adds to the process's memory at its peak, each in a fresh interpreter; and its time."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from .measure import Row, child

__all__ = ["rows"]

_MEGABYTES = 100

# The peak is set back to what is in use just before the run, so it grows by what the run adds and nothing else.
_CODE = """
import json, sys, time
import numpy as np
ours, output = sys.argv[1] == "ours", sys.argv[2]
from tests.bench.models import big_model
model = big_model(output)
if ours:
    import ortcache
    session = ortcache.load().session(model, intra_op_num_threads=1)
    run = session.run
else:
    import onnxruntime
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    run = lambda feeds: session.run(None, feeds)
x = np.ones(100 * 1024 * 1024 // 4, np.float32)
run({"X": x[:1000]})
def status(name):
    return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith(name)) / 1024
open("/proc/self/clear_refs", "w").write("5")
before = status("VmRSS")
start = time.perf_counter()
result = run({"X": x})
seconds = time.perf_counter() - start
print(json.dumps([status("VmHWM") - before, seconds]))
"""


def rows() -> list[Row]:
    if not Path("/proc/self/clear_refs").exists():
        print("no peak of memory on this system: the 100 MB rows are left out", file=sys.stderr)
        return []
    return [*_rows("small", f"{_MEGABYTES} MB in"), *_rows("big", f"{_MEGABYTES} MB in and out")]


def _rows(output: str, what: str) -> list[Row]:
    measured = [[json.loads(child(_CODE, whose, output)) for whose in ("ours", "theirs")] for _ in range(5)]
    (mine, my_time), (others, their_time) = (
        (min(pair[at][0] for pair in measured), min(pair[at][1] for pair in measured)) for at in (0, 1)
    )
    # A goal in megabytes: with a small output nothing near the input's size may be added.
    memory = Row(f"{what}: memory added, of 100 MB", f"{mine:.1f} MB", f"{others:.1f} MB", mine / _MEGABYTES)
    memory.goal = 0.05 if output == "small" else 1.05
    timed = Row(f"{what}: time", f"{my_time * 1e3:.2f} ms", f"{their_time * 1e3:.2f} ms", my_time / their_time)
    return [memory, timed]
