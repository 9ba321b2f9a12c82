"""Which display shows how far the work is: drawn live on a terminal, plain lines in a log, none where quiet."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol, TextIO

from medjury.cli._terminal.line import ProgressLine

if TYPE_CHECKING:
    from medjury.judging import Progress


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
