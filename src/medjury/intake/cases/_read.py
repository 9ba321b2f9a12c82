"""Reads cases from any file that holds them, one at a time, and reports every bad row."""

from __future__ import annotations

import gzip
import os
import zlib
from array import array
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path
from typing import Any, Literal, Protocol

from medjury.foundation.errors import no_such
from medjury.foundation.limits import counted
from medjury.intake.cases._case import Case
from medjury.intake.cases._mapping import ColumnMapping, parse_mapping
from medjury.intake.cases._readers.csv import read_csv
from medjury.intake.cases._readers.eval import read_eval
from medjury.intake.cases._readers.json_folder import read_folder, read_json
from medjury.intake.cases._readers.jsonl import read_jsonl
from medjury.intake.cases._readers.parquet import read_parquet
from medjury.intake.cases._readers.text_file import ending, is_packed
from medjury.intake.cases._readers.xlsx import read_xlsx
from medjury.intake.cases._report import BadRow, CaseError, list_problems
from medjury.intake.cases._row import Problems, RawRow, build_case
from medjury.intake.cases._tally import CaseSummary, LeftOut, Tally, bad_rows

# Remembers which answers were seen at some sixteen bytes each: a million cases need little memory.


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


OnBad = Literal["refuse", "skip"]

Reader = Callable[[Path, ColumnMapping], Iterator[RawRow]]
READERS: dict[str, Reader] = {
    ".jsonl": read_jsonl,
    ".ndjson": read_jsonl,
    ".json": read_json,
    ".csv": read_csv,
    ".tsv": read_csv,
    ".parquet": read_parquet,
    ".xlsx": read_xlsx,
    ".eval": read_eval,
}
_PACKED_INSIDE = (".xlsx", ".parquet", ".eval")


class CaseSource(Protocol):
    """Cases that can be read as often as needed, one at a time."""

    def __iter__(self) -> Iterator[Case]: ...

    @property
    def skipped(self) -> int:
        """How many rows were left out because they could not be read."""

    @property
    def left_out(self) -> LeftOut:
        """Why they were, and what was left out of the others."""


class GivenCases(tuple[Case, ...]):
    """Cases that are at hand already."""

    @property
    def skipped(self) -> int:
        return 0

    @property
    def left_out(self) -> LeftOut:
        return LeftOut()


class CaseReader:
    """The cases of a file, to be iterated as often as needed; nothing of them is kept.

    With `on_bad="refuse"` the first use reads everything once and raises `CaseError` with all bad rows, so
    that no case is judged before all are known to be good. With `"skip"` bad rows are left out and counted.
    """

    def __init__(
        self,
        name: str,
        rows: Callable[[], Iterator[RawRow]],
        mapping: ColumnMapping,
        on_bad: OnBad,
        file: Path | None = None,
    ) -> None:
        self.name = name
        self.file = file
        self._rows = rows
        self._mapping = mapping
        self._on_bad = on_bad
        self._summary: CaseSummary | None = None

    def __iter__(self) -> Iterator[Case]:
        if self._on_bad == "refuse":
            self._refuse_bad()
        yield from self.unchecked()

    def unchecked(self) -> Iterator[Case]:
        """The cases in one pass, for who does nothing with any of them before the last has come: only then are bad
        rows refused."""
        yield from self._pass()
        if self._on_bad == "refuse":
            self._refuse_bad()
        if not self.count:
            raise CaseError(f"{self.name}: holds no case that can be used; every case needs a row of its own")

    def again(self) -> Iterator[Case]:
        """The cases without the look at all of them first, where another process has taken it."""
        return self._pass()

    @property
    def summary(self) -> CaseSummary:
        """Counts, systems, inputs and problems of all rows, from the first whole pass over them."""
        if self._summary is None:
            for _ in self._pass():
                pass
        assert self._summary is not None
        return self._summary

    @property
    def count(self) -> int:
        """How many cases can be used."""
        return self.summary.count

    @property
    def skipped(self) -> int:
        """How many rows cannot."""
        return self.summary.skipped

    @property
    def left_out(self) -> LeftOut:
        """What was not read, with counts by reason: whole rows, and parts of the rest."""
        return self.summary.left_out

    @property
    def bad(self) -> tuple[BadRow, ...]:
        """What is wrong with them: the first thousand problems; `summary.problems` counts all."""
        return self.summary.bad

    def _refuse_bad(self) -> None:
        found = self.summary
        if found.skipped:
            rows = f"{found.skipped:,} of {found.skipped + found.count:,} rows"
            raise CaseError(
                f"{self.name}: {rows} cannot be used:\n{list_problems(found.bad, found.problems)}\n"
                "Fix them, or go on without them (--skip-bad-cases).",
                found.bad,
            )

    def _pass(self) -> Iterator[Case]:
        checked = self._summary is not None
        tally, seen = Tally(self._mapping), Seen()
        for row in self._rows():
            tally.meet(row)
            if row.is_remark:
                continue
            problems: Problems = [("row", row.problem)] if row.problem else []
            case = None
            if not problems:
                case = build_case(self._mapping.classify(row.values, problems), row.origin, problems)
            if case is not None and not problems and not seen.add(case.id, case.system):
                problems.append(("id", "an earlier row has the same id and the same system"))
            if case is not None and not problems:
                tally.accept(case)
                yield case
                continue
            if checked and self._on_bad == "refuse":
                bad = bad_rows(row, problems)
                told = list_problems(bad, len(bad))
                raise CaseError(f"{self.name}: has changed since it was checked:\n{told}", bad)
            tally.refuse(row, problems)
        self._summary = tally.summary(self.name)


def read_cases(
    path: str | os.PathLike[str],
    *,
    mapping: Mapping[str, Any] | None = None,
    on_bad: OnBad = "refuse",
) -> CaseReader:
    """The cases of a .jsonl, .csv, .tsv, .parquet, .xlsx, .json or .eval file (text may be packed as .gz), or of
    a folder of .json files or of a FHIR bulk export.

    `mapping` says which column is which where a file has names of its own; see `ColumnMapping`.
    """
    if on_bad not in ("refuse", "skip"):
        raise CaseError(f"on_bad is {on_bad!r}; use 'refuse' or 'skip'")
    file, columns = Path(path), parse_mapping(mapping)
    reader = _reader(file, columns)
    return CaseReader(file.name, lambda: _rows(file, columns, reader), columns, on_bad, file)


def read_rows(path: str | os.PathLike[str], *, rows: str | None = None) -> Iterator[RawRow]:
    """The rows of such a file before they become cases, for readers of something else: each is a row, a problem
    with a row, or a remark that counts what was left out. `rows` leads to them inside a JSON document."""
    file, columns = Path(path), replace(parse_mapping({"rows": rows} if rows else None), needs_id=False)
    return _rows(file, columns, _reader(file, columns))


def _reader(file: Path, columns: ColumnMapping) -> Reader:
    if not file.exists():
        raise CaseError(no_such(file, "file or folder"))
    kind = ending(file)
    reader = read_folder if file.is_dir() else READERS.get(kind)
    if is_packed(file) and kind in _PACKED_INSIDE:
        raise CaseError(f"{file}: is packed already inside; unpack the .gz around it")
    if columns.rows is not None and kind not in (".json", ".jsonl", ".ndjson", ".eval") and not file.is_dir():
        raise CaseError(f"{file}: `rows` is for JSON; take it out of the mapping")
    if columns.encoding is not None and kind in _PACKED_INSIDE:
        raise CaseError(f"{file}: `encoding` is for text; take it out of the mapping")
    if reader is None:
        known = ", ".join(READERS)
        raise CaseError(
            f"{file}: cases are read from {known} or a folder of .json files; save it as one of these"
        )
    return reader


def _rows(file: Path, columns: ColumnMapping, reader: Reader) -> Iterator[RawRow]:
    try:
        yield from counted(file, reader(file, columns), lambda row: len(row.values))
    except (gzip.BadGzipFile, EOFError, zlib.error):
        raise CaseError(f"{file}: is no gzip file, or it is damaged; pack it or copy it again") from None
    except OSError as error:
        raise CaseError(f"{file}: cannot be read: {error.strerror or type(error).__name__}") from None


def case_from_row(row: Mapping[str, object], *, mapping: Mapping[str, Any] | None = None) -> Case:
    """One case from one row; `CaseError` names every field that is wrong."""
    problems: Problems = []
    case = build_case(parse_mapping(mapping).classify(row, problems), None, problems)
    if case is None or problems:
        bad = [BadRow("row", 1, *each) for each in problems]
        raise CaseError("; ".join(f"{where}: {problem}" for where, problem in problems), bad)
    return case
