"""What is attached lives as long as the official options and sessions that use it, and no longer."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..support.official import official_python


@pytest.mark.parametrize("make", ["ort.InferenceSession", "interop.session"])
@pytest.mark.parametrize("first", ["options", "session"])
def test_it_goes_with_the_last_of_options_and_sessions(make: str, first: str) -> None:
    code = f"""
from tests.support.cache_eps import LazyEp
devices, store = interop.register_ep(LazyEp), Values()
dead = weakref.ref(store)
options = options_for(devices, store)
session = {make}(MODEL, options)
del store, {first}
gc.collect()
assert dead() is not None and tuples() == 1
if sys.argv[1] == "options":
    assert right(session) and "lazy" in dead()
    del session
else:
    assert right({make}(MODEL, options)) and "lazy" in dead()
    del options
gc.collect()
assert dead() is None and tuples() == 0 and instances() == []
"""
    official_python(code, first)


def test_what_is_replaced_goes_with_the_sessions_that_use_it() -> None:
    code = """
devices, stores = interop.register_ep(MulEp), [Values() for _ in range(4)]
dead = [weakref.ref(store) for store in stores]
options = options_for(devices, stores[0])
interop.attach(options, stores[1])
session = ort.InferenceSession(MODEL, options)
interop.attach(options, stores[2])
interop.attach(options, stores[3])
del stores
gc.collect()
assert [ref() is None for ref in dead] == [True, False, True, False]
del session
gc.collect()
assert [ref() is None for ref in dead] == [True, True, True, False]
interop.attach(options)
gc.collect()
assert dead[3]() is None
"""
    official_python(code)


@pytest.mark.parametrize("make", ["ort.InferenceSession", "interop.session"])
def test_a_compiled_provider_may_write_until_its_session_is_released(make: str, compiled: Path) -> None:
    code = f"""
devices, store, other = interop.register_ep_library("compiled", sys.argv[1]), Values(), Values()
options = options_for(devices, store)
session = {make}(MODEL, options)
interop.attach(options, other)
del options
gc.collect()
assert sorted(store) == ["c-mul.plan"]
del session  # it lets its options go before what writes
assert sorted(store) == ["c-mul.end", "c-mul.plan"] and other == {{}}
dead = weakref.ref(store)
del store
gc.collect()
assert dead() is None and tuples() == 0
"""
    official_python(code, compiled)


def test_a_function_of_what_owns_the_options_is_let_go_by_attaching_nothing() -> None:
    code = """
devices = interop.register_ep(MulEp)
class App:
    def __init__(self):
        self.values = {}
        self.options = options_for(devices, read=self.values.get, write=self.keep)
        self.session = ort.InferenceSession(MODEL, self.options)
    def keep(self, key, value):
        self.values[key] = bytes(value)
    def close(self):
        interop.attach(self.options)
        del self.session
app = App()
dead = weakref.ref(app)
app.close()
del app
gc.collect()
assert dead() is None and tuples() == 0
"""
    official_python(code)


def test_attaching_and_dropping_over_and_over_is_flat() -> None:
    code = """
devices, store = interop.register_ep(MulEp), Values()
def once(number):
    options = options_for(devices, store)
    interop.attach(options, read=store.get)
    interop.attach(options)
    if number % 10 == 0:
        interop.attach(options, store)
        for make in (ort.InferenceSession, interop.session):
            session = make(MODEL, options)
            assert interop.ep_cache_support(session)
for number in range(300):
    once(number)
before = descriptors(), structs(), resident()
for number in range(2000):
    once(number)
assert (descriptors(), structs()) == before[:2] and tuples() == 0
assert resident() - before[2] < 2 << 20, resident() - before[2]
from ortcache.core import callbacks
from ortcache.interop import attachment, sessions
assert len(callbacks._targets) == len(attachment._attached) == len(attachment._by_number) == len(sessions._made) == 0
"""
    official_python(code)


@pytest.mark.parametrize("method", ["get_capability", "compile"])
@pytest.mark.parametrize("make", ["ort.InferenceSession", "interop.session"])
def test_a_session_that_fails_is_gone_at_once(make: str, method: str) -> None:
    code = f"""
def fail(*args):
    raise ValueError("not today")
options = options_for(interop.register_ep(make_ep(name="Failing", {method}=fail)), {{}})
options.log_severity_level = 4
assert "ValueError: not today" in str(raised(Exception, {make}, MODEL, options))
assert instances() == []
interop.unregister_ep_library("Failing")
"""
    official_python(code)


def test_failing_sessions_leave_nothing() -> None:
    code = """
logging.disable()
devices = interop.register_ep(MulEp)
def fail(*args):
    raise OSError("dead")
def once():
    options = options_for(devices, read=fail, write=fail)
    options.log_severity_level = 4
    raised(oc.EpCacheError, interop.session, MODEL, options, strict=True)
    raised(Exception, interop.session, b"no model", options)
    raised(Exception, ort.InferenceSession, b"no model", options)
    assert right(ort.InferenceSession(MODEL, options))
for _ in range(30):
    once()
gc.collect()
before = descriptors(), structs(), resident()
for _ in range(100):
    once()
gc.collect()
assert (descriptors(), structs()) == before[:2] and tuples() == 0
assert resident() - before[2] < 2 << 20, resident() - before[2]
"""
    official_python(code)
