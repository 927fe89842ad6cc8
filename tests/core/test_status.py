"""OrtStatus to exceptions and back, and which exception was the cause."""

from __future__ import annotations

import ctypes
import gc
import pickle
import threading
import weakref

import pytest

import ortcache as oc
from ortcache import raw
from ortcache.core.status import address, describe

from ..support.process import run_python


def _pointer(at: int | None) -> object:
    return ctypes.cast(at, ctypes.POINTER(raw.OrtStatus))


@pytest.mark.parametrize("code", [code for code in raw.OrtErrorCode if code])
def test_each_code_of_a_real_status_is_told(rt: oc.Runtime, code: int) -> None:
    status = rt.api.CreateStatus(code, "Größe: 模".encode())
    error = rt.native.statuses.error(status, "SomeFunction")
    assert error.code is code
    assert (error.message, error.function) == ("Größe: 模", "SomeFunction")
    assert str(error) == f"SomeFunction: Größe: 模 [{code.name}]"  # type: ignore[attr-defined]
    assert error.__cause__ is None


def test_a_code_that_is_not_declared_stays_a_number(rt: oc.Runtime) -> None:
    error = rt.native.statuses.error(rt.api.CreateStatus(1234, b"new"), "F")
    assert error.code == 1234 and type(error.code) is int
    assert str(error) == "F: new [1234]"


def test_a_message_that_is_no_utf8_is_still_told(rt: oc.Runtime) -> None:
    assert rt.native.statuses.error(rt.api.CreateStatus(1, b"caf\xe9"), "F").message == "caf\ufffd"


def test_a_failing_function_raises_with_its_name(rt: oc.Runtime) -> None:
    with pytest.raises(oc.OrtError) as raised:
        rt.api.SetSessionExecutionMode(rt.session_options(), 7)
    assert raised.value.code == raw.OrtErrorCode.ORT_INVALID_ARGUMENT
    assert raised.value.function == "SetSessionExecutionMode"


def test_an_error_can_be_pickled(rt: oc.Runtime) -> None:
    error = rt.native.statuses.error(rt.api.CreateStatus(3, b"gone"), "F")
    again = pickle.loads(pickle.dumps(error))
    assert (again.code, again.message, again.function, str(again)) == (3, "gone", "F", str(error))


def test_statuses_are_released() -> None:
    code = """
        import resource, ortcache
        rt = ortcache.load()
        text = b"x" * 100_000
        def peak():
            for _ in range(2000):
                rt.native.statuses.error(rt.api.CreateStatus(1, text), "F")
            return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        first = peak()
        print(peak() - first < 50_000)  # kilobytes; they would be 200,000
    """
    assert run_python(code).strip() == "True"


class _Broken(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no text either")


class _Empty(Exception):
    pass


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (ValueError("plain"), "ValueError: plain"),
        (_Empty(), "_Empty"),
        (_Broken(), "_Broken: an exception that cannot be shown"),
        (ValueError("a\0b"), "ValueError: a?b"),
        (ValueError("ünï 模"), "ValueError: ünï 模"),
        (ValueError("\udcff"), "ValueError: ?"),
        (KeyboardInterrupt(), "KeyboardInterrupt"),
        (SystemExit(3), "SystemExit: 3"),
        (ValueError("é" * 50_000), "ValueError: " + "é" * 744 + "…"),
    ],
    ids=lambda value: None if isinstance(value, str) else type(value).__name__,
)
def test_an_exception_becomes_a_status_and_comes_back_as_the_cause(
    rt: oc.Runtime, error: BaseException, text: str
) -> None:
    status = rt.native.statuses.from_exception(error)
    raised = rt.native.statuses.error(_pointer(status), "Outer")
    assert raised.code == raw.OrtErrorCode.ORT_FAIL
    assert raised.message == text
    assert raised.__cause__ is error


def test_an_ort_error_keeps_its_code_on_the_way_through(rt: oc.Runtime) -> None:
    inner = oc.OrtError(raw.OrtErrorCode.ORT_NOT_IMPLEMENTED, "no", "Inner")
    raised = rt.native.statuses.error(_pointer(rt.native.statuses.from_exception(inner)), "Outer")
    assert raised.code == raw.OrtErrorCode.ORT_NOT_IMPLEMENTED and raised.__cause__ is inner


@pytest.mark.parametrize("code", [0, "words", None])
def test_an_ort_error_with_no_code_of_a_failure_is_one_all_the_same(rt: oc.Runtime, code: object) -> None:
    inner = oc.OrtError(code, "made by hand", "F")  # type: ignore[arg-type]
    raised = rt.native.statuses.error(_pointer(rt.native.statuses.from_exception(inner)), "Outer")
    assert raised.code == raw.OrtErrorCode.ORT_FAIL and raised.__cause__ is inner


def test_the_cause_is_found_from_another_thread_and_in_a_longer_message(rt: oc.Runtime) -> None:
    statuses, made = rt.native.statuses, []
    cause = OSError("disk full")
    thread = threading.Thread(target=lambda: made.append(statuses.from_exception(cause)))
    thread.start()
    thread.join()
    rt.api.ReleaseStatus(_pointer(made[0]))
    wrapped = rt.api.CreateStatus(1, b"while compiling: OSError: disk full (node 3)")
    assert statuses.error(wrapped, "F").__cause__ is cause


def test_of_two_texts_that_begin_alike_each_finds_its_own(rt: oc.Runtime) -> None:
    statuses = rt.native.statuses
    long, short = ValueError("entry 12"), ValueError("entry 1")
    of_long, of_short = statuses.from_exception(long), statuses.from_exception(short)
    assert statuses.error(_pointer(of_long), "F").__cause__ is long
    assert statuses.error(_pointer(of_short), "F").__cause__ is short


def test_a_cause_is_given_once(rt: oc.Runtime) -> None:
    statuses, cause = rt.native.statuses, ValueError("only once")
    statuses.error(_pointer(statuses.from_exception(cause)), "F")
    again = rt.api.CreateStatus(1, b"ValueError: only once")
    assert statuses.error(again, "F").__cause__ is None


def test_an_error_without_a_python_cause_has_none(rt: oc.Runtime) -> None:
    pending = rt.native.statuses.from_exception(ValueError("unrelated"))
    rt.api.ReleaseStatus(_pointer(pending))
    with pytest.raises(oc.OrtError) as raised:
        rt.api.SetSessionExecutionMode(rt.session_options(), 7)
    assert raised.value.__cause__ is None


def test_a_null_pointer_has_no_address() -> None:
    assert address(None) is None
    assert address(ctypes.POINTER(raw.OrtStatus)()) is None


def test_a_description_holds_the_type() -> None:
    assert describe(KeyError("k")) == "KeyError: 'k'"


def test_an_error_without_a_text_is_not_taken_for_the_cause_of_another(rt: oc.Runtime) -> None:
    silent = rt.native.statuses.from_exception(oc.OrtError(1, "", "F"))
    rt.api.ReleaseStatus(_pointer(silent))
    assert rt.native.statuses.error(rt.api.CreateStatus(1, b"something else"), "F").__cause__ is None


def test_what_no_report_came_for_is_forgotten_when_the_outermost_call_is_over(rt: oc.Runtime) -> None:
    class Kept(Exception):
        """Exceptions hold on to frames, and these to all that they refer to."""

    statuses = rt.native.statuses
    raised: list[weakref.ref[Kept]] = []

    def fail() -> None:
        error = Kept("swallowed by whoever called")
        raised.append(weakref.ref(error))
        rt.api.ReleaseStatus(_pointer(statuses.from_exception(error)))

    def outer() -> None:
        fail()
        statuses.call(lambda: None, ())  # a call from within a callback is not the outermost
        statuses.settle()
        gc.collect()
        assert raised[0]() is not None

    statuses.call(outer, ())
    statuses.settle()
    gc.collect()
    assert raised[0]() is None
