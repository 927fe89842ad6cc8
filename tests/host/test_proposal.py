"""The setter, the getter and what inherits, on the real library, called as C functions."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from typing import Any

import pytest

import ortcache as oc
from ortcache import raw
from ortcache.core.loader import open_native
from ortcache.core.named_buffers import read_pointer, write_pointer
from ortcache.core.native import Native
from ortcache.host.attach import Host, host_of

Tuple = tuple[bool, bool, int | None]
NOTHING: Tuple = (False, False, None)


class Options:
    """Session options made and released through the C functions."""

    def __init__(self, native: Native, pointer: Any = None) -> None:
        self.native = native
        self.pointer = pointer or ctypes.POINTER(raw.OrtSessionOptions)()
        if not pointer:
            native.api.CreateSessionOptions(ctypes.byref(self.pointer))

    def set(self, state: int | None, *, read: bool = True, write: bool = True) -> None:
        functions = read_pointer(self.native) if read else None, write_pointer(self.native) if write else None
        self.native.api.SessionOptionsSetEpCacheDataFuncs(self.pointer, *functions, state)

    def get(self) -> Tuple:
        read, write, state = raw.OrtReadNamedBufferFunc(), raw.OrtWriteNamedBufferFunc(), ctypes.c_void_p()
        self.native.api.SessionOptionsGetEpCacheDataFuncs(
            self.pointer, ctypes.byref(read), ctypes.byref(write), ctypes.byref(state)
        )
        return bool(read), bool(write), state.value

    def clone(self) -> Options:
        out = ctypes.POINTER(raw.OrtSessionOptions)()
        self.native.api.CloneSessionOptions(self.pointer, ctypes.byref(out))
        return Options(self.native, out)

    def release(self) -> None:
        self.native.api.ReleaseSessionOptions(self.pointer)


@pytest.fixture(scope="module")
def host(rt: oc.Runtime, library: Any) -> Iterator[Host]:
    assert rt.env  # ORT logs into it
    yield host_of(open_native(library))


@pytest.fixture
def options(host: Host) -> Iterator[Options]:
    made = Options(host.native)
    yield made
    made.release()
    assert len(host.proposal.entries) == 0


def test_nothing_is_set_at_first(options: Options) -> None:
    assert options.get() == NOTHING


def test_what_is_set_is_what_an_ep_gets(options: Options) -> None:
    options.set(42)
    assert options.get() == (True, True, 42)


def test_each_call_replaces_the_whole_tuple(options: Options) -> None:
    options.set(1)
    options.set(2, write=False)
    assert options.get() == (True, False, 2)
    options.set(3, read=False)
    assert options.get() == (False, True, 3)
    options.set(None)
    assert options.get() == (True, True, None)


def test_two_nulls_clear_it(options: Options) -> None:
    options.set(None, read=False, write=False)
    assert options.get() == NOTHING
    options.set(1)
    options.set(None, read=False, write=False)
    assert options.get() == NOTHING


def test_null_options_are_an_invalid_argument(host: Host) -> None:
    for call in (
        lambda: host.native.api.SessionOptionsSetEpCacheDataFuncs(None, None, None, None),
        lambda: host.native.api.SessionOptionsGetEpCacheDataFuncs(None, None, None, None),
        lambda: host.native.api.SessionGetEpCacheDataCallbackSupport(None, None, None),
    ):
        with pytest.raises(oc.OrtError) as caught:
            call()
        assert caught.value.code == raw.OrtErrorCode.ORT_INVALID_ARGUMENT


def test_a_clone_inherits_and_neither_sees_the_others_change(options: Options) -> None:
    options.set(1)
    clone = options.clone()
    assert clone.get() == (True, True, 1)
    options.set(2)
    assert (options.get(), clone.get()) == ((True, True, 2), (True, True, 1))
    clone.set(3, read=False)
    assert (options.get(), clone.get()) == ((True, True, 2), (False, True, 3))
    options.set(None, read=False, write=False)
    assert (options.get(), clone.get()) == (NOTHING, (False, True, 3))
    clone.release()


def test_a_clone_outlives_the_original(host: Host, options: Options) -> None:
    first = Options(host.native)
    first.set(7)
    clone = first.clone()
    first.release()
    assert clone.get() == (True, True, 7)
    clone.release()
    assert len(host.proposal.entries) == 0


def test_a_session_keeps_its_tuple_alive(host: Host, rt: oc.Runtime, options: Options, mul_model: Any) -> None:
    mine = Options(host.native)
    mine.set(9)
    session = ctypes.POINTER(raw.OrtSession)()
    host.native.api.CreateSession(rt.env, str(mul_model).encode(), mine.pointer, ctypes.byref(session))
    mine.release()
    assert len(host.proposal.entries) == 1
    host.native.api.ReleaseSession(session)
    assert len(host.proposal.entries) == 0


def test_compilation_inherits_and_does_not_see_a_later_change(host: Host, rt: oc.Runtime, options: Options) -> None:
    options.set(1)
    compilation = ctypes.POINTER(raw.OrtModelCompilationOptions)()
    compile_api = host.native.table("OrtCompileApi")
    compile_api.CreateModelCompilationOptionsFromSessionOptions(rt.env, options.pointer, ctypes.byref(compilation))
    options.set(2)
    assert len(host.proposal.entries) == 2  # the compilation still has the first
    compile_api.ReleaseModelCompilationOptions(compilation)
    assert len(host.proposal.entries) == 1


def test_replacing_makes_no_noise_and_leaves_one_mark(
    host: Host, options: Options, caplog: pytest.LogCaptureFixture
) -> None:
    for state in range(1, 50):
        options.set(state)
    assert options.get() == (True, True, 49)
    assert caplog.records == []
    assert len(host.proposal.entries) == 1


def test_nothing_grows_over_set_and_drop_cycles(host: Host) -> None:
    for state in range(1, 2000):
        mine = Options(host.native)
        mine.set(state)
        mine.release()
    assert len(host.proposal.entries) == 0
    assert len(host.proposal.entries._held) == 0


def test_a_mark_whose_tuple_is_gone_is_an_error_status(host: Host, options: Options) -> None:
    host.native.api.AddSessionConfigEntry(options.pointer, b"ep_cache.ortcache.999999999", b"1")
    with pytest.raises(oc.OrtError, match="are gone") as caught:
        options.get()
    assert caught.value.code == raw.OrtErrorCode.ORT_INVALID_ARGUMENT


def test_the_support_of_a_session_without_eps_of_ours_is_none(host: Host, rt: oc.Runtime, mul_model: Any) -> None:
    session = ctypes.POINTER(raw.OrtSession)()
    mine = Options(host.native)
    host.native.api.CreateSession(rt.env, str(mul_model).encode(), mine.pointer, ctypes.byref(session))
    flags = ctypes.c_uint32(77)
    for name in (None, b"CPUExecutionProvider"):
        host.native.api.SessionGetEpCacheDataCallbackSupport(session, name, ctypes.byref(flags))
        assert flags.value == 0
    host.native.api.ReleaseSession(session)
    mine.release()
