"""How often cycles of objects are searched for: seldom while a command runs, not when it ends."""

from __future__ import annotations

import atexit
import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager

# New objects between two searches for cycles.
_BETWEEN = 200_000
_lock = threading.Lock()
_inside = 0  # how many are in the block below just now, in whatever thread
_before: tuple[int, int, int] = gc.get_threshold()  # as it was when the first of them came


@contextmanager
def few_searches_for_cycles(between: int = _BETWEEN) -> Iterator[None]:
    """While it lasts, cycles of objects are searched for less often: after `between` new objects.

    Analyses make few cycles and keep most of what they make, so that the same objects are gone through again and
    again (measured: a twentieth of a report's processor time, and a tenth of what it takes to import; of a run of
    6,000 calls a fiftieth). Several may overlap, in one thread or in several: the setting comes back with the last
    of them.
    """
    global _inside, _before
    with _lock:
        if not _inside:
            _before = gc.get_threshold()
        _inside += 1
        now = gc.get_threshold()
        gc.set_threshold(max(now[0], between) if now[0] else 0, *now[1:])
    try:
        yield
    finally:
        with _lock:
            _inside -= 1
            if not _inside:
                gc.set_threshold(*_before)


def no_search_at_the_end() -> None:
    """For a process that only computes and ends: it gives its memory back as a whole, and nobody needs to go
    through all its objects first (measured: a fortieth of a report's processor time, and of a run's as well). What
    closes files at the end does so all the same; what only a search for cycles would close stays open."""
    atexit.register(gc.freeze)
