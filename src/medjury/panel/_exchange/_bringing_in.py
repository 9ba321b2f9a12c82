"""Ratings that were given elsewhere: read and checked as every clinicians' file is, and kept beside our own."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import insert

from medjury.foundation.files import write_whole
from medjury.foundation.limits import part_of_limits
from medjury.panel._access import NOBODYS_NAMES, compared, erased_among, people
from medjury.panel._design import outcome_row
from medjury.panel._exchange._tables import imported_table
from medjury.statistics import counted
from medjury.store.ratings import ImportedRatings, Rating, RatingsError, read_ratings

if TYPE_CHECKING:
    from medjury.panel._database import PanelDatabase
    from medjury.studies import RatedStudy

_SENT = 0.05  # of the limits of files: a browser sends at most 2 MB, which must not unpack to gigabytes


def bring_in(
    study: RatedStudy,
    database: PanelDatabase,
    file: Path,
    *,
    mapping: Path | None = None,
    now: datetime,
    called: str = "",
) -> ImportedRatings:
    """Read a file of ratings, check every row against the study's instrument and cases, keep all of it or nothing.
    A later file replaces what an earlier one says of the same rater, answer and dimension."""
    imported = read_ratings(
        file,
        mapping=mapping,
        instrument=study.instrument,
        cases=study.cases,
        advice="Correct the file and import it again.",
    )
    _refuse_what_would_be_lost(imported.ratings)
    with database.writing() as connection:
        here = {compared(state.person.name) for state in people(connection)}
        for name in sorted({each.rater for each in imported.ratings}):
            if compared(name) in here | NOBODYS_NAMES:
                why = "stands for more than one person" if compared(name) in NOBODYS_NAMES else "rates"
                raise RatingsError(
                    f"{name} {why} in this panel; what was rated elsewhere needs another name in the file's column "
                    "of raters"
                )
        if gone := erased_among(connection, {each.item for each in imported.ratings}):
            raise RatingsError(
                f"this file has ratings of {counted(len(gone), 'case')} erased from the panel; take them out and "
                "import it again"
            )
        rows = [
            {
                "rater": each.rater,
                "item": each.item,
                "system": each.system,
                "dimension": each.dimension,
                "outcome": outcome_row(each.outcome),
                "seconds": each.seconds,
                "probability": each.probability,
                "profile": dict(imported.profiles.get(each.rater, {})),
                "file": called or file.name,
                "imported_at": now.isoformat(timespec="seconds"),
            }
            for each in imported.ratings
        ]
        connection.execute(insert(imported_table), rows)
    return imported


def _refuse_what_would_be_lost(ratings: Sequence[Rating]) -> None:
    """A panel keeps one rating of a clinician for each answer and dimension."""
    seen = set()
    for each in ratings:
        if each.rater_kind != "clinician":
            raise RatingsError(f"{each.rater} is no clinician ({each.rater_kind}); leave these rows out")
        if (key := (each.rater, each.item, each.system, each.dimension)) in seen:
            raise RatingsError(
                f"{each.rater} rates {each.item} more than once on {each.dimension}; keep one of them in the file"
            )
        seen.add(key)


def bring_in_sent(
    study: RatedStudy,
    database: PanelDatabase,
    files: Mapping[str, tuple[str, bytes]],
    *,
    now: datetime,
) -> ImportedRatings:
    """The same for a file that a browser sent: it lies in a folder of its own beside the study while it is read. It
    must hold the ratings themselves: one that names other files would let a browser read this machine's."""
    if Path(files["file"][0]).suffix.lower() in (".yaml", ".yml"):
        raise RatingsError("Choose the file that holds the ratings. A mapping goes into the field beside it.")
    with tempfile.TemporaryDirectory(prefix=".medjury-import-", dir=study.file.resolve().parent) as folder:
        places: dict[str, Path] = {}
        for part, (name, content) in files.items():
            places[part] = Path(folder) / f"{part}{Path(name).suffix.lower()[:10]}"
            write_whole(places[part], content)
        try:
            with part_of_limits(_SENT):
                return bring_in(
                    study,
                    database,
                    places["file"],
                    mapping=places.get("mapping"),
                    now=now,
                    called=Path(files["file"][0]).name[:200],
                )
        except RatingsError as error:
            raise RatingsError(str(error).replace(f"{folder}/", "")) from None
