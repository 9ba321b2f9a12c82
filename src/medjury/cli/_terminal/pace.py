"""How long the work will still take, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from medjury.judging import Progress

STOPPING = "Stopping: answers on their way are waited for. Ctrl-C again ends at once."


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
