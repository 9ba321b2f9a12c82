"""How often cycles of objects are searched for: seldom while a command runs, and not when its process ends."""

from __future__ import annotations

import atexit
import gc
from collections.abc import Iterator
from contextlib import contextmanager

# New objects between two searches for cycles.
_BETWEEN = 50_000


@contextmanager
def few_searches_for_cycles() -> Iterator[None]:
    """While it lasts, cycles of objects are searched for less often.

    Analyses make few cycles and keep most of what they make, so that the same objects are gone through again and
    again (measured: a twentieth of a report's processor time, and a tenth of what it takes to import). A call to a
    model makes some hundred small objects that die by themselves.
    """
    before = gc.get_threshold()
    gc.set_threshold(max(before[0], _BETWEEN) if before[0] else 0, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)


def no_search_at_the_end() -> None:
    """A process that ends gives its memory back as a whole: nobody needs to go through all its objects first
    (measured: a fortieth of a report's processor time). What closes files at the end does so all the same."""
    atexit.register(gc.freeze)
