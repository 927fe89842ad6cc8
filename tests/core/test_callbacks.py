"""Function pointers that live for ever, and tokens that do not."""

from __future__ import annotations

import ctypes
import gc
import threading
import weakref
from typing import Any

import pytest

import ortcache as oc
from ortcache import raw
from ortcache.core.callbacks import Token, status_callback, target


class _Owner:
    pass


def _error(rt: oc.Runtime, status: int) -> oc.OrtError:
    return rt.native.statuses.error(ctypes.cast(status, ctypes.POINTER(raw.OrtStatus)), "F")


def test_a_token_stands_for_its_target_until_it_is_closed() -> None:
    owner = _Owner()
    token = Token(owner)
    assert target(token.value) is owner
    token.close()
    token.close()
    with pytest.raises(oc.ClosedError, match=f"token {token.value}, whose owner is closed"):
        target(token.value)


def test_a_dropped_token_lets_its_target_go() -> None:
    owner = _Owner()
    dead = weakref.ref(owner)
    token = Token(owner)
    value = token.value
    del owner
    assert dead() is not None
    del token
    gc.collect()
    assert dead() is None
    with pytest.raises(oc.ClosedError):
        target(value)


@pytest.mark.parametrize("value", [None, 0, -1, 2**63])
def test_a_token_that_never_was_is_refused(value: int | None) -> None:
    with pytest.raises(oc.ClosedError, match="a callback came for token"):
        target(value)


def test_tokens_are_never_used_again() -> None:
    first = Token(None)
    first.close()
    assert Token(None).value > first.value


def _succeeds(*args: Any) -> Any:
    return "what a function returns is nothing to C"


def _fails(*args: Any) -> None:
    raise ValueError("in the callback")


def _is_interrupted(*args: Any) -> None:
    raise KeyboardInterrupt


def test_a_function_that_returns_is_a_success_whatever_it_returns(rt: oc.Runtime) -> None:
    assert status_callback(rt.native, "OrtWriteBufferFunc", _succeeds)(1, None, 0) is None


@pytest.mark.parametrize(("function", "cause"), [(_fails, ValueError), (_is_interrupted, KeyboardInterrupt)])
def test_whatever_a_function_raises_is_a_status_with_that_cause(
    rt: oc.Runtime, function: Any, cause: type[BaseException]
) -> None:
    status = status_callback(rt.native, "OrtWriteBufferFunc", function)(1, None, 0)
    assert isinstance(_error(rt, status).__cause__, cause)


def test_one_function_has_one_pointer_which_outlives_everything(rt: oc.Runtime) -> None:
    pointer = status_callback(rt.native, "OrtWriteBufferFunc", _succeeds)
    address = ctypes.cast(pointer, ctypes.c_void_p).value
    del pointer
    gc.collect()
    again = status_callback(rt.native, "OrtWriteBufferFunc", _succeeds)
    assert ctypes.cast(again, ctypes.c_void_p).value == address


def test_a_callback_may_come_from_many_threads_at_once(rt: oc.Runtime) -> None:
    pointer = status_callback(rt.native, "OrtWriteBufferFunc", _fails)
    causes: list[BaseException | None] = []

    def call() -> None:
        causes.extend(_error(rt, pointer(1, None, 0)).__cause__ for _ in range(50))

    threads = [threading.Thread(target=call) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(causes) == 200 and len({id(cause) for cause in causes}) == 200
    assert all(isinstance(cause, ValueError) for cause in causes)
