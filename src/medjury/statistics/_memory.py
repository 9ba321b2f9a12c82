"""Memory for resamples: what is freed is kept at hand, for it is asked for again at once."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

# Just below the largest block from which glibc learns, in numbers of eight bytes: 31 MB.
_LARGEST = 31 << 17
# New objects between two searches for cycles.
_BETWEEN = 50_000


@contextmanager
def few_searches_for_cycles() -> Iterator[None]:
    """While it lasts, cycles of objects are searched for less often.

    Analyses make few cycles and keep most of what they make, so that the same objects are gone through again and
    again (measured: a twentieth of a report's processor time).
    """
    before = gc.get_threshold()
    gc.set_threshold(max(before[0], _BETWEEN) if before[0] else 0, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)


def keep_freed_memory() -> None:
    """Let the process keep memory that it frees, up to about 60 MB.

    glibc hands free memory back to the system beyond twice the largest block that it saw freed. Blocks of weights
    are 4 MB, so a report would hand back and fetch the same 2 GB page by page (measured: a tenth of its processor
    time). Freeing one larger block, which is never touched, lifts that bound; elsewhere it does nothing.
    """
    np.empty(_LARGEST)
