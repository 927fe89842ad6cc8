"""What a long command is doing, on standard error: a display on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import time
from typing import Any, Protocol

from .output import complain, say

__all__ = ["INTERVAL", "Display", "PlainDisplay", "RichDisplay", "open_display"]

#: Seconds between two plain lines that say that it still goes on.
INTERVAL = 10.0


class Display(Protocol):
    """Shows one task at a time. Used by one thread."""

    def begin(self, name: str, what: str) -> None:
        """A task begins, with what is being done first."""

    def change(self, what: str) -> None:
        """Something else is being done from now on."""

    def say(self, text: str) -> None:
        """A line that stays."""

    def tick(self) -> None:
        """Some time has passed."""

    def close(self) -> None:
        """There is nothing more to show."""


class PlainDisplay:
    """A line for each change, and one now and then with the seconds."""

    def __init__(self) -> None:
        self._name = self._what = ""
        self._start = self._next = 0.0

    def begin(self, name: str, what: str) -> None:
        self._name, self._start = name, time.monotonic()
        self.change(what)

    def change(self, what: str) -> None:
        self._what, self._next = what, time.monotonic() + INTERVAL
        self.say(f"{self._name}: {what}")

    def say(self, text: str) -> None:
        say(text)

    def tick(self) -> None:
        now = time.monotonic()
        if now >= self._next:
            self._next = now + INTERVAL
            self.say(f"{self._name}: {self._what}, {now - self._start:.0f} s")

    def close(self) -> None:
        pass


class RichDisplay:
    """A line that moves, with the time, below the lines that stay."""

    def __init__(self, console: Any) -> None:
        from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

        columns = SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn()
        self._progress = Progress(*columns, console=console, transient=True)
        self._name = ""
        self._task: Any = None
        self._progress.start()

    def begin(self, name: str, what: str) -> None:
        if self._task is not None:
            self._progress.remove_task(self._task)
        self._name = name
        self._task = self._progress.add_task(f"{name}: {what}", total=None)

    def change(self, what: str) -> None:
        self._progress.update(self._task, description=f"{self._name}: {what}")
        self.say(f"{self._name}: {what}")

    def say(self, text: str) -> None:
        self._progress.console.print(text, markup=False, highlight=False, soft_wrap=True)

    def tick(self) -> None:
        pass  # it moves by itself

    def close(self) -> None:
        self._progress.stop()


def open_display() -> Display:
    """The one that standard error can show. A terminal without rich gets plain lines, and once the way to a display."""
    if sys.stderr is None or not sys.stderr.isatty():
        return PlainDisplay()
    try:
        from rich.console import Console
    except ImportError:
        complain("a progress display needs rich: `pip install 'ortcache[cli]'`")
        return PlainDisplay()
    console = Console(stderr=True)
    return RichDisplay(console) if console.is_terminal and not console.is_dumb_terminal else PlainDisplay()
