"""With callbacks or without: an execution provider and its cache have no path to the file system."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..support.process import run_python

CODE = """
import os, sys
import numpy as np
import ortcache.ep as ep
from ortcache.runtime import load
from tests.support.ep_classes import ep_session, registered
from tests.support.ep_models import squares_model

events = []
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT
OTHERS = {"os.mkdir", "os.rename", "os.remove", "os.link", "os.symlink", "tempfile.mkstemp"}
def audit(event, args):
    if event in OTHERS or (event == "open" and args[2] & WRITING):
        events.append((event, *map(str, args)))

os.chdir(sys.argv[2])
x = np.array([[1, 2]], np.float32)
rt = load(sys.argv[1])

def fail(*args):
    raise OSError(28, "No space left on device")

with registered(rt, ep.MulEp) as devices:
    sys.addaudithook(audit)
    caches = {"dict": ({},), "failing": (fail,), "none": ()}[sys.argv[3]]
    for _ in range(2):
        with rt.session_options() as options:
            options.append_ep(devices)
            if caches == (fail,):
                options.set_ep_cache(read=fail, write=fail)
            elif caches:
                options.set_ep_cache(caches[0])
            with rt.session(squares_model(), options) as session:
                assert session.run({"X": x})[0].tolist() == [[10, 160]]
assert events == [], events
assert os.listdir(".") == [], os.listdir(".")
"""


@pytest.mark.parametrize("cache", ["dict", "failing", "none"])
def test_nothing_is_opened_for_writing(library: object, tmp_path: Path, cache: str) -> None:
    here, temporary = tmp_path / "here", tmp_path / "temporary"  # where ONNX Runtime itself leaves a file of its own
    here.mkdir()
    temporary.mkdir()
    run_python(CODE, library, here, cache, quiet=cache != "failing", TMPDIR=str(temporary))
