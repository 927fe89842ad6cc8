"""The official onnxruntime module with ortcache in it: how each child process of its tests begins.

A process that imports this has ``ort``, ``interop``, a model that multiplies, and short ways to sessions.
"""

from __future__ import annotations

import functools
import re
import sys
from typing import Any

from .installed import library_file, package_folder
from .oracles import need
from .process import run_python

__all__ = ["NAMED_FUNCTIONS", "START", "api_version", "official_python"]

#: The first API version whose plugins find functions by name.
NAMED_FUNCTIONS = 28

START = """
import gc, json, logging, os, sys, threading, warnings, weakref
from concurrent.futures import ThreadPoolExecutor
import numpy as np, onnxruntime as ort, ortcache as oc
from ortcache import interop
from ortcache.ep import MulEp, instances
from tests.support.cache_eps import BOTH, EXPECTED, FEEDS, MODEL, NAME, Recorder
from tests.support.ep_classes import PlainMul, make_ep
from tests.support.ep_left import structs, tuples
from tests.support.ep_memory import descriptors, resident

ort.set_default_logger_severity(3)  # it warns of nodes that are left to the CPU provider

def options_for(devices, cache=None, ep_options={}, **how):
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    options.add_provider_for_devices(devices, ep_options)
    if cache is not None or how:
        interop.attach(options, cache, **how)
    return options

def right(session):
    return bool((session.run(None, FEEDS)[0] == EXPECTED).all())

def raised(kind, function, *args, **how):
    try:
        function(*args, **how)
    except kind as error:
        return error
    raise AssertionError(f"no {kind.__name__}")

class Values(dict):
    pass  # one that a weak reference can be made to
"""


@functools.cache
def api_version() -> int:
    """The minor version of the installed module."""
    found = re.search(r"1\.(\d+)\.\d+", library_file().name)
    assert found
    return int(found[1])


def official_python(code: str, *args: object, **how: Any) -> str:
    """Run the code after `START`, where the module is installed and the host covers the platform."""
    package_folder()
    need("linux", sys.platform == "linux")
    return run_python(START + code, *args, **how)
