"""Memory for resamples: what is freed is kept at hand, for it is asked for again at once."""

from __future__ import annotations

import numpy as np

# Just below the largest block from which glibc learns, in numbers of eight bytes: 31 MB.
_LARGEST = 31 << 17


def keep_freed_memory() -> None:
    """Let the process keep memory that it frees, up to about 60 MB.

    glibc hands free memory back to the system beyond twice the largest block that it saw freed. Blocks of weights
    are 4 MB, so a report would hand back and fetch the same 2 GB page by page (measured: a tenth of its processor
    time). Freeing one larger block, which is never touched, lifts that bound; elsewhere it does nothing.
    """
    np.empty(_LARGEST)
