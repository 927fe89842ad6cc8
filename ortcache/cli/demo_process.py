"""One process of ``demo``: a session whose provider keeps its cache in a directory store. Prints a JSON line.

Run as ``python -m ortcache.cli.demo_process LIBRARY STORE``.
"""

from __future__ import annotations

import json
import sys
import time
from typing import Any

import numpy as np

from ..ep import MulEp, instances
from ..runtime import load
from ..stores.directory import DirectoryStore
from .sample import choose_model, sample_input

__all__ = ["main"]

#: What compiling the model's node takes, so that a warm start is seen to be one.
_COMPILE_MS = 200


def main(library: str, store: str) -> dict[str, Any]:
    """Make the session, run it, and say what went through the cache."""
    with load(library) as runtime:
        devices = runtime.register_ep(MulEp)
        model = choose_model(runtime.library)[1]
        options = runtime.session_options(ep_cache=DirectoryStore(store), intra_op_num_threads=1)
        options.append_ep(devices, {"compile_delay_ms": _COMPILE_MS})
        start = time.perf_counter()
        with runtime.session(model, options) as session:
            seconds = time.perf_counter() - start
            feeds = {"X": sample_input()}
            with runtime.session(model, intra_op_num_threads=1) as on_cpu:
                expected = on_cpu.run(feeds)[0]
            outcomes: dict[str, int] = {}
            for ep in instances(MulEp):
                assert isinstance(ep, MulEp)
                outcomes |= ep.outcomes
            return {
                "backend": runtime.ep_cache_backend,
                "seconds": seconds,
                "support": {name: str(flags.name) for name, flags in session.ep_cache_support().items()},
                "stats": session.ep_cache_stats().as_dict(),
                "outcomes": outcomes,
                "equal": bool(np.array_equal(session.run(feeds)[0], expected)),
            }


if __name__ == "__main__":
    print(json.dumps(main(*sys.argv[1:])))
