"""Ratings from a store: all of it, or the runs that are named."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from medjury.foundation.documents import nearest
from medjury.foundation.errors import MedjuryError
from medjury.store.runs import Manifest
from medjury.tables._roles import Names

if TYPE_CHECKING:
    import polars

_SQLITE = b"SQLite format 3\x00"


def is_store(place: str) -> bool:
    """Whether a place is a database: an address such as `postgresql://…`, or a file that SQLite wrote."""
    if "://" in place:
        return True
    file = Path(place)
    if not file.is_file():
        return False
    with file.open("rb") as content:
        return content.read(len(_SQLITE)) == _SQLITE


def read_store(place: str, run: Names | None) -> tuple[polars.DataFrame, Manifest | None]:
    """The ratings of the named runs, or of all, and the manifest where one run is named that has an instrument."""
    import polars as pl

    from medjury.store.ratings import open_store

    with open_store(place, create=False) as store:
        runs = {each.name: each for each in store.runs()}
        wanted = (run,) if isinstance(run, str) else tuple(run or ())
        for name in wanted:
            if name not in runs:
                raise MedjuryError(f"{store.place} has no run {name!r}; {nearest(name, list(runs))}")
        frames = [store.frame(name) for name in wanted or (None,)]
        # Runs that share an answer share its rows.
        frame = pl.concat(frames).unique(["key", "dimension"], maintain_order=True)
        if not frame.height:
            raise MedjuryError(f"{store.place} has no ratings; judge cases, or import ratings, first.")
    if len(runs) > 1 and not wanted:
        _refuse_mixed(frame, place, list(runs))
    stated = runs[wanted[0]].manifest if len(wanted) == 1 else {}
    return frame, Manifest.model_validate(stated) if "instrument" in stated else None


def _refuse_mixed(frame: polars.DataFrame, place: str, runs: list[str]) -> None:
    """Two runs of one study rate the same answers: nobody but the user knows which of them is meant."""
    key = ["item", "system", "rater", "dimension", "repeat"]
    if frame.select(key).is_duplicated().any():
        shown = ", ".join(runs[:5]) + (" …" if len(runs) > 5 else "")
        raise MedjuryError(
            f"several runs of this store rated the same answers; name the run, or the runs, to read (--run). "
            f"There are {shown}."
        )
