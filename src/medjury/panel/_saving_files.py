"""What panels wrote and raters said, as files for whoever goes on with the study, and what comes from files."""

from __future__ import annotations

import hashlib
from pathlib import Path

from medjury.foundation.errors import MedjuryError
from medjury.foundation.files import write_whole
from medjury.panel._panel import Panel
from medjury.studies import RatedStudy


def save_references(panel: Panel, file: str | Path) -> tuple[int, int]:
    """Write the study's cases with the references of its panels; how many cases have one, and how many none."""
    from medjury.panel._meeting import write_references

    with panel.database.reading() as connection:
        counts = write_references(connection, _study(panel).cases, file)
    _note_export(panel, file, "references")
    return counts


def save_question_replies(panel: Panel, file: str | Path) -> tuple[int, list[str]]:
    """Write the replies to the study's further questions as CSV; how many there are, and what order did to each."""
    from medjury.panel._design import rounds
    from medjury.panel._meeting import order_counts, question_replies, write_question_replies

    with panel.database.reading() as connection:
        found = [each for round_ in rounds(connection) for each in question_replies(connection, round_)]
    between = dict.fromkeys(each.question for each in found if each.left)
    count = write_question_replies(found, file)
    _note_export(panel, file, "questions")
    return count, [order_counts(found, name).text() for name in between]


def save_ratings(panel: Panel, file: str | Path, kind: str) -> int:
    """Write the ratings for another program; how many there are."""
    from medjury.panel._exchange import FORMATS, collect

    with panel.database.reading() as connection:
        ratings = collect(connection)
    write_whole(file, FORMATS[kind].write(ratings, _study(panel).instrument))
    _note_export(panel, file, f"ratings:{kind}")
    return len(ratings)


def write_export(panel: Panel, file: Path, kind: str) -> None:
    """Write a file anew that was written here before, as it would be written now."""
    what, _, format_ = kind.partition(":")
    if what == "references":
        save_references(panel, file)
    elif what == "questions":
        save_question_replies(panel, file)
    else:
        save_ratings(panel, file, format_)


def _note_export(panel: Panel, file: str | Path, kind: str) -> None:
    """Remember where it was written: an erasure has to find it."""
    from sqlalchemy import delete, insert

    from medjury.panel._exchange._tables import exports_table

    place = Path(file).resolve()
    row = {"kind": kind, "digest": hashlib.sha256(place.read_bytes()).hexdigest()}
    with panel.database.writing() as connection:
        connection.execute(delete(exports_table).where(exports_table.c.path == str(place)))
        row |= {"path": str(place), "written_at": panel.now().isoformat()}
        connection.execute(insert(exports_table).values(**row))


def include_ratings(panel: Panel) -> str:
    """Bring the ratings into the study and its run; what came of it, in words."""
    from medjury.panel._exchange import include

    return include(_study(panel), panel.database).text()


def take_in_ratings(panel: Panel, file: str | Path, mapping: str | Path | None = None) -> str:
    """Keep ratings that were given elsewhere beside the panel's own; what was read, in words."""
    from medjury.panel._exchange import bring_in

    said = None if mapping is None else Path(mapping)
    found = bring_in(_study(panel), panel.database, Path(file), mapping=said, now=panel.now())
    return found.report.text()


def _study(panel: Panel) -> RatedStudy:
    if panel.study is None:
        raise MedjuryError("this needs the cases and the instrument of a study; name its file")
    return panel.study
