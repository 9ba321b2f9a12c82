"""The answers behind a number of the report: a row of one of its tables, and the lists that its counts count.

The row is read from the very table that the report saved. The lists come from the same evidence as its numbers.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from medjury.foundation.errors import MedjuryError
from medjury.panel._evidence._run import EvidenceRun, State
from medjury.panel._evidence._snapshot import Flags, Snapshot
from medjury.store.runs import files
from medjury.tables import Measured

Row = Mapping[str, str]


@dataclass(frozen=True)
class Behind:
    """Answers, what they are in the row's own words, and the cell of the row that counts them, if one does."""

    title: str
    flags: Flags
    counted_by: str = ""


def rows_of(run: EvidenceRun, table: str) -> list[Row]:
    """The rows of one of the report's tables, as they were saved."""
    if table not in run.tables():
        raise MedjuryError(f"the report has no table {table[:80]!r}; write it with `medjury report RUN`")
    path = Path(run.folder) / files.TABLES / f"{table}.csv"
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def number_shown(run: EvidenceRun, state: State, table: str, row: int) -> tuple[Row, list[Behind]]:
    """One row and the lists of answers behind it; rows are numbered from 1, as the table shows them."""
    rows = rows_of(run, table)
    if not 1 <= row <= len(rows):
        raise MedjuryError(f"{table} has {len(rows)} rows, and none of the number {row}")
    said = rows[row - 1]
    return said, list(_LISTS.get(table, _in_scope)(state.snapshot, said))


def _dimensions(snapshot: Snapshot, row: Row) -> list[Measured]:
    """The dimension that a row names by label or name; all of them where it names none."""
    wanted = row.get("dimension", "")
    named = [each for each in snapshot.dimensions if wanted in (each.label, each.name)]
    return named if wanted else list(snapshot.dimensions)


def _held_out(snapshot: Snapshot) -> Flags:
    return ~snapshot.development


def _scored(snapshot: Snapshot, dimension: Measured, rater: str) -> Flags:
    return np.asarray(~np.isnan(snapshot.scores(dimension.name, rater)))


def _known(snapshot: Snapshot, name: str) -> bool:
    return name in snapshot.table.raters or name == snapshot.rater


def _severe(snapshot: Snapshot, row: Row) -> Iterator[Behind]:
    for dimension in _dimensions(snapshot, row):
        rater, name = row["rater"], dimension.name
        lost = snapshot.dangerous_scored(name, rater, scored=False)
        yield Behind("severe errors", snapshot.missed(name, rater), "errors")
        yield Behind(
            "dangerous answers that it scored",
            snapshot.dangerous_scored(name, rater),
            "dangerous with a score",
        )
        yield Behind("dangerous answers without its score", lost, "dangerous without a score")


def _confusion(snapshot: Snapshot, row: Row) -> Iterator[Behind]:
    """Answers with the clinicians' one grade and the other's."""
    rater = row.get("rater") or snapshot.rater
    given = (
        row.get("grade") or row.get("jury") or row[rater]
    )  # the head names the judge where there is no jury
    for dimension in _dimensions(snapshot, row):
        if dimension.grades is None:
            continue
        sides = (snapshot.reference(dimension.name), snapshot.scores(dimension.name, rater))
        both = _held_out(snapshot) & ~np.isnan(sides[0]) & ~np.isnan(sides[1])
        found = both.copy()
        for side, wanted in zip(sides, (row["clinicians"], given), strict=True):
            found[both] &= np.isclose(dimension.grades.grade(side[both]), float(wanted))
        yield Behind(f"clinicians {float(row['clinicians']):g}, {rater} {float(given):g}", found, "answers")


def _unscored(snapshot: Snapshot, row: Row) -> Iterator[Behind]:
    found = snapshot.with_status(
        "unscored", dimension=row.get("dimension", ""), rater=row["rater"], reason=row["reason"]
    )
    yield Behind(f"{row['rater']} gave no score: {row['reason'].replace('_', ' ')}", found)


def _coverage(snapshot: Snapshot, row: Row) -> Iterator[Behind]:
    for status, title in (("unscored", "without a score"), ("not_applicable", "not applicable")):
        yield Behind(f"{row['rater']}: {title}", snapshot.with_status(status, rater=row["rater"]))


def _both_scored(snapshot: Snapshot, row: Row) -> Iterator[Behind]:
    """Answers that the rater and the clinicians scored: those that are compared."""
    rater = row.get("rater") or snapshot.rater
    for dimension in _dimensions(snapshot, row) if row.get("dimension") else ():
        if _known(snapshot, rater):
            both = _scored(snapshot, dimension, rater) & ~np.isnan(snapshot.reference(dimension.name))
            counted = "n" if row.get("n") else ""
            yield Behind(f"{rater} and the clinicians scored", both & _held_out(snapshot), counted)


def _scored_by(snapshot: Snapshot, row: Row) -> Iterator[Behind]:
    for dimension in _dimensions(snapshot, row):
        if _known(snapshot, row["rater"]):
            found = _scored(snapshot, dimension, row["rater"]) & _held_out(snapshot)
            yield Behind(f"{row['rater']} scored", found, "n")


def _overlap(snapshot: Snapshot, row: Row) -> Iterator[Behind]:
    """Severe errors of exactly these judges."""
    members = set(row["exactly these judges"].split(" + "))
    for dimension in _dimensions(snapshot, row):
        found = np.ones(len(snapshot.keys), dtype=bool)
        for judge in snapshot.table.judges:
            missed = snapshot.missed(dimension.name, judge)
            found &= missed if judge in members else ~missed
        yield Behind(f"severe errors of exactly {row['exactly these judges']}", found, "answers")


def _worth_reading(snapshot: Snapshot, row: Row) -> Iterator[Behind]:
    wanted = row["case"].removeprefix("'")
    found = [f"{item} · {system}" if system else item for item, system in snapshot.keys]
    yield Behind("the answer", np.array([each == wanted for each in found], dtype=bool))


def _triage(snapshot: Snapshot, row: Row) -> Iterator[Behind]:
    for dimension in _dimensions(snapshot, row):
        rated = ~np.isnan(snapshot.reference(dimension.name)) & _held_out(snapshot)
        yield Behind("answers that clinicians rated", rated, "rated answers")
        yield Behind("of them dangerous", snapshot.below_danger(dimension.name), "dangerous")


def _in_scope(snapshot: Snapshot, row: Row) -> Iterator[Behind]:
    """Any other row: the answers of its system, or those that its rater scored, as far as it names them."""
    rater = row.get("rater") or row.get("judge") or ""
    if row.get("system"):
        found = np.array([system == row["system"] for _, system in snapshot.keys], dtype=bool)
        yield Behind(f"answers of {row['system']}", found & _held_out(snapshot))
    elif _known(snapshot, rater) and row.get("dimension"):
        for each in _scored_by(snapshot, {**row, "rater": rater}):
            yield Behind(f"{each.title} (this row may rest on fewer of them)", each.flags)
    elif row.get("dimension"):
        for dimension in _dimensions(snapshot, row):
            found = ~np.isnan(snapshot.reference(dimension.name)) & _held_out(snapshot)
            yield Behind("answers that clinicians rated", found)


_LISTS: Mapping[str, Callable[[Snapshot, Row], Iterator[Behind]]] = {
    "severe-errors": _severe,
    "severe-error-overlap": _overlap,
    "confusion": _confusion,
    "confusion-by-rater": _confusion,
    "unscored": _unscored,
    "unscored-by-reason": _unscored,
    "coverage": _coverage,
    "agreement": _both_scored,
    "agreement-by-system": _both_scored,
    "agreement-other-coefficients": _both_scored,
    "attributes": _both_scored,
    "differences": _both_scored,
    "distributions": _scored_by,
    "cases-worth-reading": _worth_reading,
    "missed-danger": _worth_reading,
    "triage": _triage,
}
