"""What a run over 100 MB adds to the process's memory at its peak, and whether it takes the time of a copy.

Each in a fresh interpreter. The first output is small, so that only the input can be copied; the second is as big.
"""

from __future__ import annotations

import json
import statistics
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
    run = ortcache.load().session(model, intra_op_num_threads=1).run
else:
    import onnxruntime
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    run = lambda feeds: session.run(None, feeds)
x = np.ones(100 * 1024 * 1024 // 4, np.float32)
run({"X": x[:100000]})
def status(name):
    return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith(name)) / 1024
open("/proc/self/clear_refs", "w").write("5")
before = status("VmRSS")
start = time.perf_counter()
result = run({"X": x})
seconds = time.perf_counter() - start
added = status("VmHWM") - before
target = np.zeros_like(x)
start = time.perf_counter()
np.copyto(target, x)
print(json.dumps([added, seconds, time.perf_counter() - start]))
"""


def rows() -> list[Row]:
    if not Path("/proc/self/clear_refs").exists():
        print("this system does not tell the peak of memory: the 100 MB rows are left out", file=sys.stderr)
        return []
    found = []
    # Of an input that is not copied nothing is added; of an output its own size.
    for output, what, allowed in (("small", "100 MB in", 0.05), ("big", "100 MB in, 100 MB out", 1.05)):
        ours, theirs = _measured("ours", output), _measured("theirs", output)
        added = f"{what}: memory added, of 100 MB"
        found.append(Row(added, f"{ours[0]:.1f} MB", f"{theirs[0]:.1f} MB", ours[0] / _MEGABYTES, allowed))
        if output == "small":
            copied = f"{what}: run, against one copy of it"
            found.append(Row(copied, f"{ours[1] * 1e3:.2f} ms", f"{ours[2] * 1e3:.2f} ms", ours[1] / ours[2], 0.2))
        else:
            timed = f"{what}: run"
            found.append(Row(timed, f"{ours[1] * 1e3:.1f} ms", f"{theirs[1] * 1e3:.1f} ms", ours[1] / theirs[1]))
    return found


def _measured(whose: str, output: str) -> list[float]:
    """Megabytes added, seconds of the run, seconds of a copy: the medians of some tries."""
    tries = [json.loads(child(_CODE, whose, output)) for _ in range(5)]
    return [statistics.median(column) for column in zip(*tries, strict=True)]
