"""How far the work is: drawn live on a terminal, plain lines in a log, nothing where quiet."""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol, TextIO

from medjury.statistics import counted

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.live import Live

    from medjury.judging import Progress


STOPPING = "Stopping: waiting for answers on their way. Ctrl-C again ends at once."


def seconds_left(progress: Progress, passed: float) -> float | None:
    """At the pace so far; None where nothing was done yet, or nothing is left."""
    remaining = progress.planned - progress.found - progress.judged
    return remaining * passed / progress.judged if progress.judged and remaining > 0 else None


def duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes:02d} min"
    return f"{minutes} min {rest:02d} s" if minutes else f"{rest} s"


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
        shown = LiveDisplay(stream)
    try:
        yield shown
    finally:
        shown.close()


def _draws(stream: TextIO) -> bool:
    """On a terminal that moves its cursor, for a reader who wants it."""
    return stream.isatty() and os.environ.get("TERM") != "dumb"


_LIVE_BAR = 16
_OTHER_LINES = 4  # of the screen: the head, the whole run, and room for what is said below


class LiveDisplay:
    """Redraws in place; the last state of a run stays on the screen, the report's bar goes away."""

    def __init__(self, stream: TextIO, clock: Callable[[], float] = time.monotonic) -> None:
        from rich.console import Console

        self._console = Console(file=stream)
        self._clock = clock
        self._of: Progress | None = None
        self._started = clock()
        self._last = -1e9
        self._live: Live | None = None
        self._latest: tuple[float | None, str] | None = (
            None  # money and currency of a state that may not be drawn
        )

    def __call__(self, progress: Progress, money: float | None, currency: str) -> None:
        """Redraw if it is time to; called again and again while judges are at work."""
        now = self._clock()
        self._latest = money, currency
        if progress is not self._of:  # the drafts are written, and judging begins
            self._of, self._started = progress, now
        if now - self._last >= _TERMINAL_EVERY:
            self._last = now
            self._draw(self._judges(progress, money, currency))

    def finish(self, progress: Progress, money: float | None, currency: str) -> None:
        """The last state, which stays."""
        progress.stopping = False
        self._of, self._latest = progress, (money, currency)
        self.close()

    def step(self, done: int, planned: int, name: str) -> None:
        """The report: so many of its sections are made, and this one is next."""
        from rich.progress_bar import ProgressBar
        from rich.table import Table

        line = Table.grid(padding=(0, 2))
        bar = ProgressBar(total=max(1, planned), completed=done, width=_LIVE_BAR)
        line.add_row("report", bar, f"{done} of {planned} sections", name)
        self._draw(line, stays=False)

    def close(self) -> None:
        """Draw how far the work came, and give the cursor back."""
        if self._latest is not None and self._of is not None:
            self._draw(self._judges(self._of, *self._latest))
            self._latest = None
        if self._live is not None:
            self._live.stop()
            self._live = None

    def _draw(self, what: RenderableType, *, stays: bool = True) -> None:
        from rich.live import Live

        if self._live is None:
            self._live = Live(
                console=self._console,
                auto_refresh=False,
                transient=not stays,
                redirect_stdout=False,
                redirect_stderr=False,
            )
            self._live.start()
        self._live.update(what, refresh=True)

    def _judges(self, progress: Progress, money: float | None, currency: str) -> RenderableType:
        from rich.console import Group
        from rich.table import Table

        table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
        table.add_column("judge", no_wrap=True, overflow="ellipsis", max_width=22)
        table.add_column("", width=_LIVE_BAR)
        table.add_column("done", justify="right", no_wrap=True)
        table.add_column("stored", justify="right", no_wrap=True)
        table.add_column("unscored", no_wrap=True, overflow="ellipsis")
        most = max(1, self._console.height - _OTHER_LINES)
        for name, each in list(progress.judges.items())[:most]:
            table.add_row(*_row(name, each))
        return Group(table, self._whole(progress, money, currency, left_out=len(progress.judges) - most))

    def _whole(
        self, progress: Progress, money: float | None, currency: str, *, left_out: int
    ) -> RenderableType:
        from rich.text import Text

        passed = self._clock() - self._started
        done = progress.found + progress.judged
        parts = [f"all: {done:,} of {progress.planned:,}"]
        if progress.calls and passed > 0:
            parts.append(f"{progress.calls / passed:.3g} calls/s")
        parts.append("cost not known" if money is None else f"{money:.4g} {currency}")
        if progress.tokens_cached:
            parts.append(f"{100 * progress.tokens_cached / progress.tokens_in:.0f} % of input cached")
        left = seconds_left(progress, passed)
        parts += [] if left is None else [f"{duration(left)} left"]
        parts += [f"{counted(left_out, 'judge')} more"] if left_out > 0 else []
        if progress.stopping:
            parts = [STOPPING]
        return Text(" · ".join(parts), no_wrap=True, overflow="ellipsis", style="bold")


def _row(name: str, judge: Progress) -> tuple[Any, ...]:
    """Name, bar, done, the share that was stored already, and what is unscored by reason."""
    from rich.markup import escape
    from rich.progress_bar import ProgressBar

    done = judge.found + judge.judged
    bar = ProgressBar(total=max(1, judge.planned), completed=done, width=_LIVE_BAR)
    stored = f"{100 * judge.found / done:.0f} %" if done else ""
    reasons = ", ".join(f"{count:,} {reason}" for reason, count in judge.unscored.most_common())
    return escape(name), bar, f"{done:,}/{judge.planned:,}", stored, escape(reasons or "none")
