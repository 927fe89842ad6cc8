"""The interpreter ends cleanly, whatever of the official module is still there."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..support.official import official_python

_ENDS = [
    "",
    "session",
    "sys.kept = session",
    "sys.kept = session, options, devices; sys.exit(0)",
    "last = sys.modules['last'] = type(sys)('last'); last.session = session; last.options = options",
    "cycle = [session, options]; cycle.append(cycle); del session, options",
    "del options",
    "del session; sys.kept = options",
    "interop.attach(options)",
    "thread = threading.Thread(target=lambda: setattr(sys, 'kept', session)); thread.start(); thread.join()",
    "import atexit; atexit.register(right, session)",
]


@pytest.mark.parametrize("end", _ENDS)
@pytest.mark.parametrize("make", ["ort.InferenceSession", "interop.session"])
def test_with_a_provider_in_python(make: str, end: str) -> None:
    code = f"""
devices = interop.register_ep(MulEp)
options = options_for(devices, {{}})
session = {make}(MODEL, options)
{end}
"""
    official_python(code)


@pytest.mark.parametrize("end", _ENDS)
def test_with_a_compiled_provider_that_writes_at_its_end(end: str, compiled: Path) -> None:
    code = f"""
devices = interop.register_ep_library("compiled", sys.argv[1])
options = options_for(devices, {{}})
session = interop.session(MODEL, options)
sys.both = interop.session(MODEL, options_for(interop.register_ep(MulEp), {{}}))
{end}
"""
    official_python(code, compiled)


@pytest.mark.parametrize(
    "code",
    [
        "interop.ep_cache_backend()",
        "interop.register_ep(MulEp)",
        "interop.register_ep(MulEp); interop.unregister_ep_library(NAME)",
        "options = ort.SessionOptions(); interop.attach(options, {})",
        "options = ort.SessionOptions(); interop.attach(options, {}); sys.kept = options",
        "warnings.simplefilter('ignore'); rt = oc.load(); rt.register_ep(MulEp); interop.register_ep(MulEp)",
    ],
)
def test_without_a_session(code: str) -> None:
    official_python(code)
