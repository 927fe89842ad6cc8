"""A backend that failed is left alone for a while, with one warning, and then tried again."""

from __future__ import annotations

import gc
import logging
import threading
import weakref
from collections.abc import Iterator

import pytest

from ortcache.errors import InputError, StoreError, StoreTimeoutError
from ortcache.stores.breaker import Breaker


class Clock:
    """A clock that stands still until it is moved."""

    now = 1000.0

    def __call__(self) -> float:
        return self.now


class Backend:
    """Answers, or raises what it is told to; counts its calls."""

    def __init__(self) -> None:
        self.calls = 0
        self.error: BaseException | None = None

    def ask(self, answer: str = "answer") -> str:
        self.calls += 1
        if self.error is not None:
            raise self.error
        return answer


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def breaker(clock: Clock) -> Breaker:
    return Breaker(5, name="the far store", clock=clock)


@pytest.fixture
def backend() -> Backend:
    return Backend()


def logged(caplog: pytest.LogCaptureFixture) -> list[tuple[str, str]]:
    return [(r.levelname, r.getMessage()) for r in caplog.records if r.name == "ortcache.stores"]


def test_answers_pass(breaker: Breaker, backend: Backend, caplog: pytest.LogCaptureFixture) -> None:
    assert [breaker.call(backend.ask, "a"), breaker.call(backend.ask), breaker.open] == ["a", "answer", False]
    breaker.check()
    assert logged(caplog) == []


def test_a_failure_is_raised_as_it_is_and_nothing_is_asked_for_the_time(
    breaker: Breaker, backend: Backend, clock: Clock
) -> None:
    backend.error = OSError(28, "No space left on device")
    with pytest.raises(OSError, match="No space left"):
        breaker.call(backend.ask)
    clock.now += 4.9
    for call in (lambda: breaker.call(backend.ask), breaker.check):
        with pytest.raises(StoreError, match=r"the far store is not tried for another 0\.1 s, as it failed: .*No sp"):
            call()
    assert (backend.calls, breaker.open) == (1, True)
    clock.now += 0.2
    backend.error = None
    assert (breaker.open, breaker.call(backend.ask), backend.calls) == (False, "answer", 2)


@pytest.mark.parametrize(
    ("error", "kind"),
    [(StoreTimeoutError("slow"), StoreTimeoutError), (TimeoutError("slow"), StoreTimeoutError),
     (StoreError("down"), StoreError), (KeyError("gone"), StoreError), (MemoryError(), StoreError)],
    ids=lambda value: type(value).__name__,
)  # fmt: skip
def test_a_call_that_is_refused_tells_a_timeout_from_a_failure(
    breaker: Breaker, backend: Backend, error: Exception, kind: type[StoreError]
) -> None:
    backend.error = error
    with pytest.raises(type(error)):
        breaker.call(backend.ask)
    with pytest.raises(StoreError) as refused:
        breaker.call(backend.ask)
    assert type(refused.value) is kind
    assert (str(error) or type(error).__name__) in str(refused.value)


@pytest.mark.parametrize("error", [InputError("unsafe"), TypeError("no buffer"), KeyboardInterrupt(), SystemExit(1)])
def test_what_is_no_failure_of_the_backend_opens_nothing(
    breaker: Breaker, backend: Backend, error: BaseException, caplog: pytest.LogCaptureFixture
) -> None:
    backend.error = error
    for _ in range(2):
        with pytest.raises(type(error)):
            breaker.call(backend.ask)
    assert (backend.calls, breaker.open, logged(caplog)) == (2, False, [])


def test_one_warning_however_long_it_is_down_and_one_word_when_it_is_back(
    breaker: Breaker, backend: Backend, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "ortcache.stores")
    for _ in range(2):
        backend.error = StoreError("connection refused")
        for _ in range(30):
            with pytest.raises(StoreError):
                breaker.call(backend.ask)
            clock.now += 1
        backend.error = None
        clock.now += 5
        breaker.call(backend.ask)
        breaker.call(backend.ask)
    assert logged(caplog) == 2 * [
        ("WARNING", "the far store failed, and is tried again in 5 s: connection refused"),
        ("INFO", "the far store works again"),
    ]
    assert backend.calls == 2 * (6 + 2)


def test_one_thread_tries_while_the_others_are_refused(breaker: Breaker, backend: Backend, clock: Clock) -> None:
    backend.error = StoreTimeoutError("slow")
    with pytest.raises(StoreTimeoutError):
        breaker.call(backend.ask)
    clock.now += 6
    inside, go, answers = threading.Event(), threading.Event(), []

    def slow() -> str:
        inside.set()
        assert go.wait(30)
        return "back"

    trying = threading.Thread(target=lambda: answers.append(breaker.call(slow)))
    trying.start()
    assert inside.wait(30)
    with pytest.raises(StoreTimeoutError, match="is not tried"):
        breaker.call(backend.ask)
    go.set()
    trying.join(30)
    backend.error = None
    assert (answers, breaker.call(backend.ask), backend.calls) == (["back"], "answer", 2)


def test_a_try_that_is_interrupted_leaves_it_as_it_was(breaker: Breaker, backend: Backend, clock: Clock) -> None:
    for error in (StoreError("down"), KeyboardInterrupt()):
        backend.error = error
        with pytest.raises(type(error)):
            breaker.call(backend.ask)
        assert breaker.open
        clock.now += 6
    backend.error = None
    assert breaker.call(backend.ask) == "answer"


def test_an_iteration_may_fail_at_any_step(breaker: Breaker, clock: Clock) -> None:
    def items(fail_at: int) -> Iterator[int]:
        for number in range(4):
            if number == fail_at:
                raise StoreError(f"lost at {number}")
            yield number

    assert list(breaker.iterate(items, 9)) == [0, 1, 2, 3]
    found = []
    with pytest.raises(StoreError, match="lost at 2"):
        found.extend(breaker.iterate(items, 2))
    with pytest.raises(StoreError, match="is not tried"):
        next(breaker.iterate(items, 9))
    clock.now += 6
    assert list(breaker.iterate(items, 9)) == [0, 1, 2, 3]


def test_no_exception_is_kept(breaker: Breaker) -> None:
    class Held:
        pass

    def fail() -> None:
        held = Held()
        seen.append(weakref.ref(held))
        raise StoreError("down")

    seen: list[weakref.ref[Held]] = []
    with pytest.raises(StoreError):
        breaker.call(fail)
    gc.collect()
    assert seen[0]() is None


def test_no_time_at_all_asks_at_every_call(backend: Backend, caplog: pytest.LogCaptureFixture) -> None:
    breaker = Breaker(0)
    backend.error = StoreError("down")
    for _ in range(3):
        with pytest.raises(StoreError, match=r"^down$"):
            breaker.call(backend.ask)
    assert (backend.calls, len(logged(caplog))) == (3, 1)


@pytest.mark.parametrize("seconds", [-1, float("nan")])
def test_a_time_that_is_none_is_refused(seconds: float) -> None:
    with pytest.raises(InputError, match="retry_after is seconds"):
        Breaker(seconds)
