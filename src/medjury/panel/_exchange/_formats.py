"""The panel's ratings as files for other programs. Whatever a rater typed, no spreadsheet runs it as a formula."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import TypeVar

from medjury.instruments import Instrument
from medjury.panel._exchange._collecting import Collected, ratings_frame
from medjury.store.ratings import guard_frame

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
