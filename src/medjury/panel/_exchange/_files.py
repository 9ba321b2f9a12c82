"""The panel's ratings as files for other programs, and ratings that come from files.

Whatever a rater typed, no spreadsheet runs it as a formula. What was given elsewhere is read and checked as every
clinicians' file is, and kept beside our own.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from sqlalchemy import delete, insert

from medjury.foundation.errors import MedjuryError
from medjury.foundation.files import write_whole
from medjury.foundation.limits import part_of_limits
from medjury.instruments import Instrument
from medjury.intake import FileError
from medjury.panel._access._people import NOBODYS_NAMES, compared, people
from medjury.panel._access._trail import erased_among
from medjury.panel._design._form import outcome_row
from medjury.panel._design._rounds import rounds
from medjury.panel._exchange._collecting import collect, include, ratings_frame
from medjury.panel._meeting._questions import question_replies, what_order_did, write_question_replies
from medjury.panel._meeting._reference_files import write_references
from medjury.panel._panel import Panel
from medjury.panel._rating._answers import Collected
from medjury.panel._tables import exports_table, imported_table
from medjury.statistics import counted
from medjury.store.ratings import ImportedRatings, Rating, guard_frame, read_ratings
from medjury.studies import RatedStudy

if TYPE_CHECKING:
    from medjury.panel._database import PanelDatabase


_FORM = "medjury_rating"


@dataclass(frozen=True)
class Format:
    """How a file is called, what it is to a browser, and how it is made."""

    title: str
    ending: str
    media_type: str
    write: Callable[[list[Collected], Instrument], bytes]


def _as_csv(ratings: list[Collected], _instrument: Instrument) -> bytes:
    return guard_frame(ratings_frame(ratings)).write_csv().encode()


def _as_xlsx(ratings: list[Collected], _instrument: Instrument) -> bytes:
    from openpyxl import Workbook

    book = Workbook(write_only=True)
    sheet = book.create_sheet("ratings")
    frame = guard_frame(ratings_frame(ratings))
    sheet.append(frame.columns)
    for row in frame.iter_rows():
        sheet.append([_writable(each) for each in row])
    written = io.BytesIO()
    book.save(written)
    return written.getvalue()


# Signs that no workbook can hold.
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f]")


def _writable(cell: object) -> object:
    return _CONTROL.sub("\N{REPLACEMENT CHARACTER}", cell) if isinstance(cell, str) else cell


def _as_label_studio(ratings: list[Collected], _instrument: Instrument) -> bytes:
    """Tasks with their annotations, as Label Studio takes them in: a task for each answer, an annotation for each
    rater, a result for each dimension. What has no grade has no result."""
    tasks = []
    for (item, system), of_answer in _grouped(ratings, lambda each: (each.item, each.system)):
        annotations = []
        for rater, of_rater in _grouped(of_answer, lambda each: each.rater):
            annotation = {
                "completed_by": rater,
                "result": [_result(each) for each in of_rater if each.score is not None],
                "lead_time": _seconds(of_rater),
            }
            annotations.append(annotation)
        tasks.append({"data": {"case_id": item, "system": system}, "annotations": annotations})
    return json.dumps(tasks, ensure_ascii=False, indent=1).encode()


def _result(rating: Collected) -> dict[str, object]:
    return {
        "from_name": rating.dimension,
        "to_name": "answer",
        "type": "number",
        "value": {"number": rating.score},
        "meta": {"text": [rating.explanation]},
    }


def _as_redcap(ratings: list[Collected], instrument: Instrument) -> bytes:
    """One record for each answer and one repeating instance for each rater: REDCap's import of repeating forms."""
    names = [each.name for each in instrument.dimensions]
    if instrument.by_case:  # each case has criteria of its own
        names = list(dict.fromkeys(each.dimension for each in ratings))
    columns = [
        "record_id", "redcap_repeat_instrument", "redcap_repeat_instance",
        "case_id", "system", "reviewer", "seconds",
        *(_field(name) for name in names), *(f"{_field(name)}_note" for name in names), f"{_FORM}_complete",
    ]  # fmt: skip
    rows: list[list[object]] = []
    answers = _grouped(ratings, lambda each: (each.item, each.system))
    for number, ((item, system), of_answer) in enumerate(answers, start=1):
        for instance, (rater, of_rater) in enumerate(_grouped(of_answer, lambda each: each.rater), start=1):
            said = {each.dimension: each for each in of_rater}
            grades = [_grade(said.get(name)) for name in names]
            notes = [said[name].explanation if name in said else "" for name in names]
            measured = _seconds(of_rater)
            time = "" if measured is None else f"{measured:g}"
            rows.append([str(number), _FORM, str(instance), item, system, rater, time, *grades, *notes, "2"])
    return _guarded_csv(columns, rows)


def _guarded_csv(columns: list[str], rows: list[list[object]]) -> bytes:
    import polars

    frame = polars.DataFrame(rows, schema=dict.fromkeys(columns, polars.String), orient="row")
    return guard_frame(frame).write_csv().encode()


def _field(dimension: str) -> str:
    """A name that REDCap takes for a field: small letters, digits and `_`, beginning with a letter."""
    name = re.sub(r"[^a-z0-9_]+", "_", dimension.lower()).strip("_")
    return name if name[:1].isalpha() else f"q_{name}"


def _grade(rating: Collected | None) -> str:
    if rating is None or rating.score is None:
        return ""  # blank: nobody gave a grade; the note says why
    return f"{rating.score:g}"


def _seconds(ratings: Iterable[Collected]) -> float | None:
    known = [each.seconds for each in ratings if each.seconds is not None]
    return round(sum(known), 1) if known else None


_Key = TypeVar("_Key", str, tuple[str, str])


def _grouped(
    ratings: Iterable[Collected], key: Callable[[Collected], _Key]
) -> list[tuple[_Key, list[Collected]]]:
    ordered = sorted(ratings, key=key)
    return [(name, list(group)) for name, group in groupby(ordered, key=key)]


FORMATS: Mapping[str, Format] = {
    "csv": Format("Table (CSV)", "csv", "text/csv", _as_csv),
    "xlsx": Format(
        "Workbook (Excel)",
        "xlsx",
        "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        _as_xlsx,
    ),
    "label-studio": Format("Label Studio tasks (JSON)", "json", "application/json", _as_label_studio),
    "redcap": Format("REDCap import (CSV)", "csv", "text/csv", _as_redcap),
}


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
        here = {compared(each.name) for each in people(connection)}
        for name in sorted({each.rater for each in imported.ratings}):
            if compared(name) in here | NOBODYS_NAMES:
                why = "is the name of more than one person" if compared(name) in NOBODYS_NAMES else "rates"
                raise FileError(
                    f"{name} {why} in this panel; what was rated elsewhere needs another name in the file's column "
                    "of raters"
                )
        if gone := erased_among(connection, {each.item for each in imported.ratings}):
            raise FileError(
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
            raise FileError(f"{each.rater} is not a clinician ({each.rater_kind}); leave these rows out")
        if (key := (each.rater, each.item, each.system, each.dimension)) in seen:
            raise FileError(
                f"{each.rater} rates {each.item} more than once on {each.dimension}; keep one of them in the file"
            )
        seen.add(key)


def bring_in_sent(
    study: RatedStudy, database: PanelDatabase, files: Mapping[str, tuple[str, bytes]], *, now: datetime
) -> ImportedRatings:
    """The same for a file that a browser sent: it lies in a folder of its own beside the study while it is read. It
    must hold the ratings themselves: one that names other files would let a browser read this machine's."""
    if Path(files["file"][0]).suffix.lower() in (".yaml", ".yml"):
        raise FileError("Choose the file that holds the ratings. A mapping goes into the field beside it.")
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
        except FileError as error:
            raise FileError(str(error).replace(f"{folder}/", "")) from None


def write_export(panel: Panel, file: str | Path, kind: str) -> str:
    """Write what other programs take: `references` (the study's cases with those of its panels), `questions` (the
    replies to further questions), or `ratings:FORMAT`. What was written, in words; where, is remembered: an
    erasure has to find it."""
    what, _, format_ = kind.partition(":")
    with panel.database.reading() as connection:
        if what == "references":
            written, lacking = write_references(connection, _study(panel).cases, file)
            said = f"{written} cases with the reference of a panel, {lacking} without one left out"
        elif what == "questions":
            found = [each for round_ in rounds(connection) for each in question_replies(connection, round_)]
            between = dict.fromkeys(each.question for each in found if each.left)
            orders = [what_order_did(found, name) for name in between]
            said = "\n".join([f"{write_question_replies(found, file)} replies", *orders])
        else:
            ratings = collect(connection)
            write_whole(file, FORMATS[format_].write(ratings, _study(panel).instrument))
            said = f"{len(ratings):,} ratings"
    place = Path(file).resolve()
    row = {"kind": kind, "digest": hashlib.sha256(place.read_bytes()).hexdigest(), "path": str(place)}
    with panel.database.writing() as connection:
        connection.execute(delete(exports_table).where(exports_table.c.path == str(place)))
        connection.execute(insert(exports_table).values(**row, written_at=panel.now().isoformat()))
    return f"{file}: {said}"


def include_ratings(panel: Panel) -> str:
    """Bring the ratings into the study and its run; what came of it, in words."""
    return include(_study(panel), panel.database)[1]


def take_in_ratings(panel: Panel, file: str | Path, mapping: str | Path | None = None) -> str:
    """Keep ratings that were given elsewhere beside the panel's own; what was read, in words."""
    said = None if mapping is None else Path(mapping)
    found = bring_in(_study(panel), panel.database, Path(file), mapping=said, now=panel.now())
    return found.report.text()


def _study(panel: Panel) -> RatedStudy:
    if panel.study is None:
        raise MedjuryError("this needs the cases and the instrument of a study; name its file")
    return panel.study
