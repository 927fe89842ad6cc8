"""Real models that nobody here made, through the official module and through ours: equal to the bit.

Run as ``python -m tests.conformance.models`` it prints a line a model; the exit code is 1 if one differs.
"""

from __future__ import annotations

import importlib.util
import sys
import zlib
from pathlib import Path
from typing import Any

import numpy as np

import ortcache as oc

from .nodes import compare

__all__ = ["find_models", "make_feeds", "run_both"]

#: Package and folder in it.
_FOLDERS = (("onnxruntime", "datasets"), ("rapidocr_onnxruntime", "models"))

#: Sizes for dimensions that a model leaves open, by their place: the OCR models want images of whole 32-pixel tiles.
_OPEN = {4: (1, 3, 64, 320)}


def find_models() -> list[Path]:
    """The models of the installed packages; nothing of them is imported."""
    found: list[Path] = []
    for package, folder in _FOLDERS:
        spec = importlib.util.find_spec(package)
        for place in spec.submodule_search_locations or () if spec else ():
            found += sorted(Path(place, folder).glob("*.onnx"))
    return found


def make_feeds(inputs: Any, name: str) -> dict[str, Any]:
    """Arrays of the shapes that the inputs want, the same ones in every run."""
    generator = np.random.default_rng(zlib.crc32(name.encode()))
    feeds = {}
    for info in inputs:
        declared = info.shape
        fallback = _OPEN.get(len(declared), (3,) * len(declared))
        shape = [size if isinstance(size, int) and size > 0 else fallback[i] for i, size in enumerate(declared)]
        feeds[info.name] = generator.random(shape, dtype=np.float32)
    return feeds


def run_both(rt: oc.Runtime, path: Path) -> tuple[bool, str]:
    """Run a model both ways.

    Returns:
        Were the outputs equal, and what they were.
    """
    import onnxruntime as ort

    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    official = ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    with rt.session(path, intra_op_num_threads=1) as session:
        feeds = make_feeds(session.inputs, path.name)
        reference = official.run(None, feeds)
        # Plain twice, since the second run may go another way than the first; then bound; then from bytes.
        results = [session.run(feeds), session.run(feeds)]
        with session.bind(feeds) as binding:
            binding.run()
            results.append(list(binding.outputs.values()))
    with rt.session(path.read_bytes(), intra_op_num_threads=1) as session:
        results.append(session.run(None, feeds))
    shapes = ", ".join(
        f"{r.dtype}{list(r.shape)}" if isinstance(r, np.ndarray) else type(r).__name__ for r in reference
    )
    return all(compare(reference, result) for result in results), shapes


def main() -> int:
    rt = oc.load()
    print(f"ONNX Runtime {rt.version}, API version {rt.api_version}")
    models = find_models()
    differing = 0
    for path in models:
        equal, shapes = run_both(rt, path)
        differing += not equal
        print(f"  {'equal' if equal else 'DIFFERENT'}: {path.name} ({path.stat().st_size / 1e6:.2f} MB) -> {shapes}")
    print(f"{len(models)} models, {differing} differ")
    return 1 if differing or not models else 0


if __name__ == "__main__":
    sys.exit(main())
