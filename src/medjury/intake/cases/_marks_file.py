"""Marks of criteria in the files of others: the rows of HealthBench's grader, and those of its physicians."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from medjury.foundation.errors import MedjuryError
from medjury.intake._files.any_file import Table, file_rows
from medjury.intake._files.json import is_json
from medjury.intake._files.reading import FileError, Reading, Row
from medjury.intake.cases._row import CRITERION_FIELDS, criteria_of

_LISTS = ("rubrics", "rubric_items", "criteria")
_MET = ("criteria_met", "met", "mark")
_ITEM, _RATER = ("prompt_id", "id", "item", "example_id"), ("rater", "grader", "judge", "annotator")
_SYSTEM = ("system", "model", "completion_id")
HEADER = (
    "item", "system", "rater", "dimension", "score", "status", "reason", "explanation", "points", "tags", "text",
)  # fmt: skip
MET_WORDS: Mapping[str, float] = {
    "true": 1.0, "yes": 1.0, "met": 1.0, "1": 1.0, "1.0": 1.0,
    "false": 0.0, "no": 0.0, "not met": 0.0, "not_met": 0.0, "unmet": 0.0, "0": 0.0, "0.0": 0.0,
}  # fmt: skip
NOT_APPLICABLE_WORDS = frozenset({"na", "n/a", "not applicable", "not_applicable"})


def is_marks_file(path: Path) -> bool:
    """Whether the first row of a JSON file holds criteria that are marked."""
    return _is_marked(_first_row(path))


def is_healthbench_file(path: Path) -> bool:
    """Whether the first row of a JSON file is a case of HealthBench, with criteria that nobody has marked."""
    first = _first_row(path)
    return "prompt_id" in first and bool(_list_of(first)) and not _is_marked(first)


def _first_row(path: Path) -> Mapping[str, Any]:
    if not is_json(path) or not path.is_file():
        return {}
    try:
        first = next(iter(file_rows(path, Reading(by_row=True))), None)
    except MedjuryError:
        return {}
    return first.cells if first is not None and isinstance(first.cells, dict) else {}


def marks_table(path: Path) -> Table:
    """The marks as a long table: a row for each criterion and rater. A criterion that is listed and not marked is
    an unscored row."""

    def rows() -> Iterator[Row]:
        for row in file_rows(path, Reading(by_row=True)):
            where = f"{path.name}, row {row.number}"
            if row.problem or not isinstance(row.cells, Mapping) or not _is_marked(row.cells):
                raise FileError(
                    f"{where}: {row.problem or 'holds no marked criteria, as the rows before it do'}"
                )
            try:
                found = list(_of_grader(row.cells) if _list_of(row.cells) else _of_physicians(row.cells))
            except MedjuryError as error:
                raise FileError(f"{where}: {error}") from None
            yield from (Row(row.number, [each.get(name) for name in HEADER]) for each in found)

    return Table(path.name, list(HEADER), rows())


def _is_marked(row: Mapping[str, Any]) -> bool:
    listed = _list_of(row)
    if any(isinstance(each, Mapping) and any(name in each for name in _MET) for each in listed):
        return True
    return isinstance(row.get("rubric"), str) and isinstance(row.get("binary_labels"), list)


def _list_of(row: Mapping[str, Any]) -> list[Any]:
    return next((list(row[name]) for name in _LISTS if isinstance(row.get(name), list)), [])


def _of_grader(row: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """A row of a grader: the criteria of the case, each with whether it is met and why."""
    listed = _list_of(row)
    for given, criterion in zip(listed, criteria_of(_without_marks(listed)), strict=True):
        said = given if isinstance(given, Mapping) else {}
        yield {
            **_whose(row),
            "dimension": criterion.id,
            **_mark(next((said[name] for name in _MET if name in said), None)),
            "explanation": str(said.get("explanation") or ""),
            "points": criterion.points,
            "tags": ", ".join(criterion.tags),
            "text": criterion.text,
        }


def _without_marks(listed: list[Any]) -> list[Any]:
    known = {name for names in CRITERION_FIELDS.values() for name in names}
    return [{name: each for name, each in one.items() if name in known} if isinstance(one, Mapping) else one
            for one in listed]  # fmt: skip


def _of_physicians(row: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """A row of HealthBench's meta-evaluation: one criterion of one completion, and every physician's word on it."""
    labels, names = row["binary_labels"], row.get("anonymized_physician_ids")
    named = names if isinstance(names, list) and len(names) == len(labels) else range(1, len(labels) + 1)
    for name, label in zip(named, labels, strict=True):
        yield {
            **_whose(row),
            "rater": str(name),
            "dimension": row["rubric"].strip(),
            **_mark(label),
            "text": row["rubric"].strip(),
        }


def _whose(row: Mapping[str, Any]) -> dict[str, Any]:
    def first(names: tuple[str, ...], other: str) -> str:
        return next((str(row[name]) for name in names if row.get(name) not in (None, "")), other)

    return {"item": first(_ITEM, ""), "system": first(_SYSTEM, ""), "rater": first(_RATER, "marks")}


def _mark(given: object) -> dict[str, Any]:
    """A mark as score, status and reason: what is no mark is unscored, never "not met"."""
    word = str(given).strip().casefold() if given is not None else ""
    if word in MET_WORDS:
        return {"score": MET_WORDS[word], "status": "scored", "reason": None}
    if word in NOT_APPLICABLE_WORDS:
        return {"score": None, "status": "not_applicable", "reason": None}
    return {"score": None, "status": "unscored", "reason": "parse" if word else "missing"}
