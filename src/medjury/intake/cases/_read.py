"""Cases from a file, one at a time, as often as needed; every bad row is reported."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Literal, Protocol

from medjury.foundation.errors import MedjuryError
from medjury.foundation.frames import FORMS, as_polars
from medjury.intake._files.cells import shown_of
from medjury.intake._files.reading import FileError
from medjury.intake._mapping import Given, read_mapping
from medjury.intake.cases._answers import with_answers
from medjury.intake.cases._case import Case, Criterion, Origin
from medjury.intake.cases._images import read_images
from medjury.intake.cases._language import with_language
from medjury.intake.cases._mapping import CaseMapping, ColumnMapping
from medjury.intake.cases._row import Problems, RawRow, build_case, check_ids
from medjury.intake.cases._rows import check_source, rows_of_source
from medjury.intake.cases._tally import BadRow, LeftOut, Seen, Tally, bad_rows, list_problems
from medjury.intake.cases._units import Unit, judged_units
from medjury.intake.cases._written_criteria import counted_criteria, read_written_criteria

OnBad = Literal["refuse", "skip"]


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

    With `on_bad="refuse"` the first use reads everything once and raises `FileError` with all bad rows, so
    that no case is judged before all are known to be good. With `"skip"` bad rows are left out and counted.
    """

    def __init__(
        self,
        name: str,
        rows: Callable[[], Iterator[RawRow]],
        mapping: ColumnMapping,
        on_bad: OnBad,
        file: Path | None = None,
        criteria: Path | None = None,
    ) -> None:
        self.name = name
        self._criteria = criteria
        self.file = file
        self._rows = rows
        self._mapping = mapping
        self._on_bad = on_bad
        self._summary: Tally | None = None

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
            raise FileError(f"{self.name}: holds no case that can be used; every case needs a row of its own")

    def again(self) -> Iterator[Case]:
        """The cases without the look at all of them first, where another process has taken it."""
        return self._pass()

    @property
    def summary(self) -> Tally:
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
        return tuple(self.summary.bad)

    def _refuse_bad(self) -> None:
        found = self.summary
        if found.skipped:
            rows = f"{found.skipped:,} of {found.skipped + found.count:,} rows"
            raise FileError(
                f"{self.name}: {rows} cannot be used:\n{found.problems_text()}\n"
                "Fix them, or go on without them (--skip-bad-cases).",
                found.bad,
            )

    def _pass(self) -> Iterator[Case]:
        checked = self._summary is not None
        tally, seen = Tally(self._mapping), Seen()
        written = counted_criteria([] if self._criteria is None else read_written_criteria(self._criteria))
        waiting = set(written)
        for row in self._rows():
            tally.meet(row)
            if row.is_remark:
                continue
            problems: Problems = [("row", row.problem)] if row.problem else []
            cases: list[Case] = []
            if not problems:
                remarks: Counter[str] = Counter()
                case = _case_of(self._mapping, row.values, row.origin, problems, remarks)
                tally.remark(+remarks)
                cases = [] if case is None or problems else self._judged(case, written, problems, tally)
            waiting -= {case.id for case in cases}
            if not all(seen.add(case.id, case.system) for case in cases):
                problems.append(("id", "an earlier row has the same id and the same system"))
            if not problems:
                for case in cases:
                    case = with_language(case, self._mapping.language)
                    tally.accept(case)
                    yield case
                continue
            if checked and self._on_bad == "refuse":
                bad = bad_rows(row, problems)
                listed = list_problems(bad, len(bad))
                raise FileError(f"{self.name}: has changed since it was checked:\n{listed}", bad)
            tally.refuse(row, problems)
            waiting.discard(shown_of(row.values.get(self._mapping.simple.get("id", "id"))))
        if unknown := sorted(waiting):
            raise FileError(
                f"{self.name}: has no case {unknown[0]!r}, for which there are criteria in a file beside it"
            )
        tally.finish(self.name)
        self._summary = tally

    def _judged(
        self, case: Case, written: Mapping[str, tuple[Criterion, ...]], problems: Problems, tally: Tally
    ) -> list[Case]:
        """The case, or what is judged of its conversation; with the criteria that were written beside the file."""
        found = [case]
        if self._mapping.unit is not None:
            remarks: Counter[str] = Counter()
            found = list(judged_units(case, self._mapping.unit, problems, remarks))
            tally.remark(remarks)
        return [_with_criteria(each, written.get(each.id, ()), problems) for each in found]


def _with_criteria(case: Case, written: tuple[Criterion, ...], problems: Problems) -> Case:
    if not written:
        return case
    criteria = (*case.criteria, *written)
    check_ids(criteria, problems, "the file beside it has a criterion of the same id")
    return replace(case, criteria=criteria)


def read_cases(
    path: str | os.PathLike[str],
    *,
    mapping: Given | None = None,
    on_bad: OnBad = "refuse",
    unit: Unit | None = None,
    language: str | None = None,
    criteria: str | os.PathLike[str] | None = None,
    answers: str | os.PathLike[str] | None = None,
) -> CaseReader:
    """The cases of a table, a workbook, JSON or a log of Inspect (text may be packed as .gz), or of a folder of
    .json files or of a FHIR bulk export.

    `mapping` states which column is which where a file has names of its own, in place or in a YAML file; see
    `CaseMapping`. `unit` says what is judged of each conversation: all of it (`conversation`), the assistant's
    last turn (`last`) or each of its turns (`turn`), which is then a case of its own. `language` is that of the
    cases that state none, or `detect`. `criteria` is a file of criteria that were written for the cases: those that
    a person wrote or accepted are added. `answers` is a file of answers to the cases, a row for each.
    """
    if on_bad not in ("refuse", "skip"):
        raise FileError(f"on_bad is {on_bad!r}; use 'refuse' or 'skip'")
    file = Path(path)
    columns = replace(_columns(mapping), unit=unit, language=language, folder=file.parent)
    check_source(file, columns)
    beside = None if criteria is None else Path(criteria)
    given = None if answers is None else Path(answers)
    if given is not None:
        check_source(given, ColumnMapping())

    def rows() -> Iterator[RawRow]:
        found = rows_of_source(file, columns)
        return found if given is None else with_answers(found, given, columns)

    return CaseReader(file.name, rows, columns, on_bad, file, beside)


def read_rows(path: str | os.PathLike[str], *, rows: str | None = None) -> Iterator[RawRow]:
    """The rows of such a file before they become cases, for readers of something else: each is a row, a problem
    with a row, or a remark that counts what was left out. `rows` leads to them inside a JSON document."""
    file, columns = Path(path), ColumnMapping(CaseMapping(rows=rows), needs_id=False)
    check_source(file, columns)
    return rows_of_source(file, columns)


def cases_from_frame(frame: object, *, mapping: Given | None = None, on_bad: OnBad = "refuse") -> CaseReader:
    """The cases of a polars, pandas or Arrow table or of a list of dictionaries, by the rules of `read_cases`;
    problems name the row of the table, from 1."""
    made = as_polars(frame)
    if made is None:
        raise MedjuryError(f"cases come from {FORMS}, not {type(frame).__name__}")
    columns = _columns(mapping)
    columns.check_header(made.columns, "frame")

    def rows() -> Iterator[RawRow]:
        for number, row in enumerate(made.iter_rows(named=True), 1):
            yield RawRow(Origin("frame", number), row)

    return CaseReader("frame", rows, columns, on_bad)


def case_from_row(row: Mapping[str, object], *, mapping: Given | None = None) -> Case:
    """One case from one row; the error names every field that is wrong. Images are named from the current
    folder."""
    problems: Problems = []
    case = _case_of(_columns(mapping), row, None, problems, Counter())
    if case is None or problems:
        bad = [BadRow("row", 1, *each) for each in problems]
        raise FileError("; ".join(f"{where}: {problem}" for where, problem in problems), bad)
    return case


def _case_of(
    mapping: ColumnMapping,
    row: Mapping[str, object],
    origin: Origin | None,
    problems: Problems,
    remarks: Counter[str],
) -> Case | None:
    fields = mapping.classify(row, problems)
    case = build_case(fields, origin, problems)
    if case is None or fields.images is None:
        return case
    return replace(case, images=read_images(fields.images, mapping.folder, problems, remarks))


def _columns(given: Given | None) -> ColumnMapping:
    if given is None:
        return ColumnMapping()
    return ColumnMapping(read_mapping(given, CaseMapping)[0])
