"""What one pass over the rows found: counts, the first problems, and which answers were seen. It hardly grows with
the file."""

from __future__ import annotations

import re
from array import array
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any

from medjury.intake._files.reading import FileError
from medjury.intake.cases._case import Case
from medjury.intake.cases._mapping import SIMPLE, ColumnMapping
from medjury.intake.cases._messages import CONVERSATION
from medjury.intake.cases._row import Problems, RawRow

SHOWN_PROBLEMS = 20
# Problems and names beyond these are counted, not kept.
_KEPT_PROBLEMS = 1_000
_KEPT_NAMES = 1_000
_FIELDS = frozenset({*SIMPLE, CONVERSATION, "notes", "texts", "metadata", "criteria", "row"})
UNMAPPED = "column that the mapping does not name, left out"


@dataclass(frozen=True, slots=True)
class BadRow:
    """One problem of one row. A row with three problems has three of these and is one skipped row."""

    file: str
    row: int
    field: str
    problem: str

    def __str__(self) -> str:
        return f"{self.file}, row {self.row}, {self.field}: {self.problem}"


def list_problems(bad: Sequence[BadRow], total: int, shown: int = SHOWN_PROBLEMS) -> str:
    """The first problems, one to a line, and how many more there are."""
    lines = [f"  {each}" for each in bad[:shown]]
    if total > len(lines):
        lines.append(f"  ... and {total - len(lines):,} more")
    return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class LeftOut:
    """What a reader did not read, with counts: `rows` by what is wrong with them (a row may have several problems),
    `parts` by what was left out of the rest or kept with a mark. No word of a text is in it."""

    rows: Mapping[str, int] = field(default_factory=dict)
    parts: Mapping[str, int] = field(default_factory=dict)


class Tally:
    """Counts as the rows go by; at the end, the cases and bad rows of a file. `systems` and `inputs` count the
    cases that have each."""

    def __init__(self, mapping: ColumnMapping) -> None:
        self._mapping = mapping
        self._unseen = set(mapping.columns)
        self.count = self.skipped = self.problems = 0
        self.bad: list[BadRow] = []
        self.systems: Counter[str] = Counter()
        self.inputs: Counter[str] = Counter()
        self._reasons: Counter[str] = Counter()
        self._remarks: Counter[str] = Counter()
        self._columns: set[str] = set()

    def remark(self, remarks: Mapping[str, int]) -> None:
        for remark, count in remarks.items():
            _count_name(self._remarks, remark, count)

    def meet(self, row: RawRow) -> None:
        self.remark(row.remarks)
        if row.is_remark:
            return
        for column in row.values.keys() - self._columns if self._mapping.given else ():
            if len(self._columns) < _KEPT_NAMES:
                self._columns.add(column)
                self._remarks[UNMAPPED] += self._mapping.leaves_out(column)
        if self._unseen and not row.problem:
            self._unseen = self._mapping.unseen(row.values, self._unseen)

    def refuse(self, row: RawRow, problems: Problems) -> None:
        self.skipped += 1
        self.problems += len(problems)
        self.bad += bad_rows(row, problems)[: _KEPT_PROBLEMS - len(self.bad)]
        for where, problem in problems:
            _count_name(self._reasons, _reason(where, row.reason or problem))

    def accept(self, case: Case) -> None:
        self.count += 1
        _count_name(self.systems, case.system)
        for name in _inputs_of(case):
            _count_name(self.inputs, name)

    def finish(self, file: str) -> None:
        """A mapped column that no row had is a mistake in the mapping, and an error."""
        if self._unseen and self.count + self.skipped:
            names = ", ".join(map(repr, sorted(self._unseen)))
            raise FileError(f"{file}: the mapping names {names}, which no row has; correct the mapping")

    @property
    def left_out(self) -> LeftOut:
        return LeftOut(dict(self._reasons), dict(+self._remarks))

    def problems_text(self, shown: int = SHOWN_PROBLEMS) -> str:
        """The first problems, one to a line, and how many more there are."""
        return list_problems(self.bad, self.problems, shown)

    def content(self) -> dict[str, Any]:
        """Counts alone, and no word of a row."""
        found = self.left_out
        return {
            "cases": self.count,
            "systems": dict(self.systems),
            "inputs": dict(self.inputs),
            "left_out": dict(found.parts),
            "rows_not_usable": self.skipped,
            "problems": dict(found.rows),
        }


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
    found += ["criteria"] * bool(case.criteria) + ["images"] * bool(case.images)
    return [*found, *case.texts, *case.metadata]


def _count_name(counter: Counter[str], name: str, count: int = 1) -> None:
    if name in counter or len(counter) < _KEPT_NAMES:
        counter[name] = counter.get(name, 0) + count


class Seen:
    """A set of 8-byte digests in an open-addressed table.

    Two different keys collide with probability about n²/2⁶⁵: 3 in 10⁸ for a million cases. A set of Python
    integers would need five times the memory.
    """

    def __init__(self) -> None:
        self._mask = 1023
        self._table = array("Q", bytes(8 * (self._mask + 1)))
        self._count = 0

    def add(self, *parts: str) -> bool:
        """Remember the key; False where it was there already."""
        joined = "\x00".join(parts).encode("utf-8", "surrogatepass")
        digest = (
            int.from_bytes(blake2b(joined, digest_size=8).digest(), "little") or 1
        )  # 0 marks a free place
        place = self._find(digest)
        if self._table[place]:
            return False
        self._table[place] = digest
        self._count += 1
        if self._count * 3 > self._mask * 2:
            self._grow()
        return True

    def _find(self, digest: int) -> int:
        place = digest & self._mask
        while self._table[place] not in (0, digest):
            place = (place + 1) & self._mask
        return place

    def _grow(self) -> None:
        old = self._table
        self._mask = self._mask * 2 + 1
        self._table = array("Q", bytes(8 * (self._mask + 1)))
        for digest in old:
            if digest:
                self._table[self._find(digest)] = digest
