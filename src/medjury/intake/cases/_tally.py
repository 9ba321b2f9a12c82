"""What one pass over the rows found: counts, and the first problems. It does not grow with the file."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from medjury.intake.cases._case import Case
from medjury.intake.cases._mapping import SIMPLE, ColumnMapping
from medjury.intake.cases._report import BadRow, CaseError
from medjury.intake.cases._row import Problems, RawRow

# Problems and names beyond these are counted, not kept.
_KEPT_PROBLEMS = 1_000
_KEPT_NAMES = 1_000
_FIELDS = frozenset({*SIMPLE, "notes", "texts", "metadata", "row"})
UNMAPPED = "column that the mapping does not name, left out"


@dataclass(frozen=True, slots=True)
class LeftOut:
    """What a reader did not read, with counts: `rows` by what is wrong with them (a row may have several problems),
    `parts` by what was left out of the rest or kept with a mark. No word of a text is in it."""

    rows: Mapping[str, int] = field(default_factory=dict)
    parts: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CaseSummary:
    """The cases and bad rows of a file. `systems` and `inputs` count the cases that have each."""

    count: int
    skipped: int
    problems: int
    bad: tuple[BadRow, ...]
    systems: Mapping[str, int]
    inputs: Mapping[str, int]
    left_out: LeftOut = LeftOut()

    def content(self) -> dict[str, Any]:
        """Counts alone, and no word of a row."""
        return {
            "cases": self.count,
            "systems": dict(self.systems),
            "inputs": dict(self.inputs),
            "left_out": dict(self.left_out.parts),
            "rows_not_usable": self.skipped,
            "problems": dict(self.left_out.rows),
        }


class Tally:
    """Counts as the rows go by."""

    def __init__(self, mapping: ColumnMapping) -> None:
        self._mapping = mapping
        self._unseen = set(mapping.columns)
        self._count = self._skipped = self._problems = 0
        self._bad: list[BadRow] = []
        self._systems: Counter[str] = Counter()
        self._inputs: Counter[str] = Counter()
        self._reasons: Counter[str] = Counter()
        self._remarks: Counter[str] = Counter()
        self._columns: set[str] = set()

    def meet(self, row: RawRow) -> None:
        for remark, count in row.remarks.items():
            _count_name(self._remarks, remark, count)
        if row.is_remark:
            return
        for column in row.values.keys() - self._columns if self._mapping.given else ():
            if len(self._columns) < _KEPT_NAMES:
                self._columns.add(column)
                self._remarks[UNMAPPED] += self._mapping.leaves_out(column)
        if self._unseen and not row.problem:
            self._unseen = self._mapping.unseen(row.values, self._unseen)

    def refuse(self, row: RawRow, problems: Problems) -> None:
        self._skipped += 1
        self._problems += len(problems)
        self._bad += bad_rows(row, problems)[: _KEPT_PROBLEMS - len(self._bad)]
        for where, problem in problems:
            _count_name(self._reasons, _reason(where, row.reason or problem))

    def accept(self, case: Case) -> None:
        self._count += 1
        _count_name(self._systems, case.system)
        for name in _inputs_of(case):
            _count_name(self._inputs, name)

    def summary(self, file: str) -> CaseSummary:
        """The result; a mapped column that no row had is a mistake in the mapping, and an error."""
        if self._unseen and self._count + self._skipped:
            names = ", ".join(map(repr, sorted(self._unseen)))
            raise CaseError(f"{file}: the mapping names {names}, which no row has; correct the mapping")
        return CaseSummary(
            self._count,
            self._skipped,
            self._problems,
            tuple(self._bad),
            dict(self._systems),
            dict(self._inputs),
            LeftOut(dict(self._reasons), dict(+self._remarks)),
        )


def bad_rows(row: RawRow, problems: Problems) -> list[BadRow]:
    return [BadRow(row.origin.file, row.origin.row, *each) for each in problems]


def _reason(where: str, problem: str) -> str:
    """A problem for counts that are kept: names that the file itself gives, and places, are not in it."""
    field_name = re.sub(r"\[\d+\]", "", where)
    if field_name.partition(".")[0] not in _FIELDS:
        field_name = "a column"
    return f"{field_name}: {re.sub(r' [(](line [0-9]+, )?column [0-9]+[)]', '', problem)}"


def _inputs_of(case: Case) -> list[str]:
    found = [name for name in ("candidate", "reference", "notes") if case.input(name)]
    return [*found, *case.texts, *case.metadata]


def _count_name(counter: Counter[str], name: str, count: int = 1) -> None:
    if name in counter or len(counter) < _KEPT_NAMES:
        counter[name] = counter.get(name, 0) + count
