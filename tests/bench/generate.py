"""From the headers to the raw modules, against ctypesgen on the same headers, each as a whole process."""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from .measure import Row, alternate, child

__all__ = ["rows"]

_ROOT = Path(__file__).resolve().parents[2]
_RELEASE = "1.29"
_OURS = """
import sys
from gen.cli import main
headers, out, release = sys.argv[1:]
if main(["import", release, "--from", headers, "--out", out]):
    sys.exit("import failed")
sys.exit(main(["build", "--snapshot", f"{out}/ort-{release}.json", "--out", f"{out}/raw"]))
"""
_THEIRS = "import sys; from ctypesgen.main import main; sys.exit(main(sys.argv[1:]))"


def rows() -> list[Row]:
    headers = _ROOT / "headers" / "upstream" / _RELEASE
    missing = _missing(headers)
    if missing:
        print(f"{missing}: the row for the generator is left out", file=sys.stderr)
        return []
    with tempfile.TemporaryDirectory() as folder:
        ours = _seconds(_OURS, str(headers), folder, _RELEASE)
        header = str(headers / "onnxruntime_c_api.h")
        theirs = _seconds(_THEIRS, "-I", str(headers), "-o", f"{folder}/theirs.py", header)
        mine, others, ratio = alternate(ours, theirs, 5)
    return [Row("headers to raw modules, against ctypesgen", f"{mine:.2f} s", f"{others:.2f} s", ratio, 1.0)]


def _missing(headers: Path) -> str | None:
    if not headers.is_dir():
        return f"the headers are not here (`python -m gen fetch {_RELEASE}` brings them)"
    if not shutil.which("gcc"):
        return "ctypesgen needs gcc, which is not here"
    return None


def _seconds(code: str, *args: str) -> Callable[[], float]:
    def measure() -> float:
        start = time.perf_counter()
        child(code, *args)
        return time.perf_counter() - start

    return measure
