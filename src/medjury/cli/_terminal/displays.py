"""Which display shows how far the work is: drawn live on a terminal, plain lines in a log, none where quiet."""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol, TextIO

from medjury.cli._terminal.pace import STOPPING, duration, seconds_left

if TYPE_CHECKING:
    from medjury.judging import Progress


# How far the work is, as one line: now and then in a log, rewritten on a terminal that cannot draw more.

_BAR = 24
_TERMINAL_EVERY = 0.2  # seconds between redraws
_LOG_EVERY = 10.0  # seconds between lines where the output is a file


class ProgressLine:
    """Draws one line that is rewritten on a terminal, and a plain line now and then in a log."""

    def __init__(self, stream: TextIO | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        self._stream = stream or sys.stderr
        self._clock = clock
        self._started = clock()
        self._last = -1e9
        self._width = 0
        self._stopping = False

    def __call__(self, progress: Progress, money: float | None, currency: str) -> None:
        """Redraw if it is time to; called after every unit of work."""
        now = self._clock()
        every = _TERMINAL_EVERY if self._stream.isatty() else _LOG_EVERY
        first_word = progress.stopping and not self._stopping
        self._stopping = progress.stopping
        if now - self._last >= every or first_word:
            self._last = now
            self._write(STOPPING if progress.stopping else self.text(progress, money, currency))

    def finish(self, progress: Progress, money: float | None, currency: str) -> None:
        self._write(self.text(progress, money, currency))
        if self._stream.isatty():
            self._put("\n")

    def step(self, done: int, planned: int, name: str) -> None:
        """A log needs no line for every section of a report."""

    def close(self) -> None:
        """Nothing is held open."""

    def text(self, progress: Progress, money: float | None, currency: str) -> str:
        done = progress.found + progress.judged
        share = done / progress.planned if progress.planned else 1.0
        full = int(_BAR * share)
        parts = [
            f"[{'#' * full}{'.' * (_BAR - full)}] {done:,} of {progress.planned:,} ({100 * share:.0f} %)",
        ]
        if progress.found:
            parts.append(f"{progress.found:,} already stored")
        if progress.unscored:
            reasons = ", ".join(f"{count} {reason}" for reason, count in progress.unscored.most_common())
            parts.append(f"unscored: {reasons}")
        parts.append("cost not known" if money is None else f"{money:.4g} {currency}")
        if progress.tokens_cached:
            parts.append(f"{100 * progress.tokens_cached / progress.tokens_in:.0f} % of input cached")
        left = seconds_left(progress, self._clock() - self._started)
        if left is not None:
            parts.append(f"{duration(left)} left")
        return " · ".join(parts)

    def _write(self, text: str) -> None:
        if self._stream.isatty():
            text = text[: shutil.get_terminal_size().columns - 1]  # a line that wraps could not be rewritten
            self._put("\r" + text.ljust(self._width))
            self._width = len(text)
        else:
            self._put(text + "\n")

    def _put(self, text: str) -> None:
        try:
            self._stream.write(text)
            self._stream.flush()
        except BrokenPipeError:  # nobody reads (`2>&1 | head`): the run goes on
            os.dup2(os.open(os.devnull, os.O_WRONLY), self._stream.fileno())


class Display(Protocol):
    """Shows how far a run is, then how far its report is."""

    def __call__(self, progress: Progress, money: float | None, currency: str) -> None: ...

    def finish(self, progress: Progress, money: float | None, currency: str) -> None: ...

    def step(self, done: int, planned: int, name: str) -> None: ...

    def close(self) -> None: ...


@contextmanager
def display(*, quiet: bool) -> Iterator[Display | None]:
    """The display on standard error; the cursor is given back also where the work ends with an error."""
    if quiet:
        yield None
        return
    stream: TextIO = getattr(sys.stderr, "unfolded", sys.stderr)
    shown: Display = ProgressLine(stream)
    if _draws(stream):
        from medjury.cli._terminal.live import LiveDisplay

        shown = LiveDisplay(stream)
    try:
        yield shown
    finally:
        shown.close()


def _draws(stream: TextIO) -> bool:
    """On a terminal that moves its cursor, for a reader who wants it."""
    return stream.isatty() and os.environ.get("TERM") != "dumb"
