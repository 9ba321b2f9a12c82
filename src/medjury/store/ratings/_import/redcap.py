"""What is peculiar to an export of REDCap: forms that nobody started, values that only the base row of a record
has, and records that two people typed."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from medjury.intake import Table, is_blank, shown_of
from medjury.store.ratings._import.layout import Layout
from medjury.store.ratings._import.report import ImportReport, Problem

Row = tuple[int, list[Any]]
_CHECKBOX = re.compile(r".+___.+")
_STATUSES = {"0": 0, "1": 1, "2": 2, "incomplete": 0, "unverified": 1, "complete": 2}
_UNCHECKED = ("", "0", "unchecked")
_TYPED_TWICE = re.compile(r"(.+)--[12]")
_OWN_TO_A_ROW = (
    "seconds",
    "minutes",
    "probability",
    "explanation",
    "repeat",
    "dimension",
)  # never filled down


def is_redcap(header: Iterable[str]) -> bool:
    """True where the column names are those of an export of REDCap: its own, or a form's status."""
    return any(name.startswith("redcap_") or name.endswith("_complete") for name in header)


def redcap_rows(table: Table, layout: Layout, report: ImportReport) -> Iterator[Row]:
    """The rows of the table as REDCap means them; of another table the rows as they are."""
    ticked = {each.name for each in layout.scores if _CHECKBOX.fullmatch(each.name)}
    if not is_redcap(table.header) and not ticked:
        yield from ((row.number, row.cells) for row in table.rows)
        return
    rows = [(row.number, row.cells) for row in table.rows]
    if any(name.startswith("redcap_") for name in table.header) or _statuses(table.header, rows):
        rows = _merged(table.file, rows, layout, report)
    rows = _filled_down(table, rows, layout, report)
    is_guarded = layout.source.forms == "started"
    forms = _forms(table.header, rows, layout) if is_guarded else []
    if is_guarded:
        _refuse_unknown_zeros(table, rows, layout, forms, report)
    unfinished = 0
    for number, cells in rows:
        unfinished += sum(form.guard(cells, report) for form in forms) > 0
        yield number, cells
    if unfinished:
        report.warnings.append(
            f"{table.file}: {unfinished:,} row{'s have' if unfinished > 1 else ' has'} scores on a form that is "
            "marked as incomplete; they are read"
        )


def _statuses(header: Sequence[str], rows: Sequence[Row]) -> list[int]:
    """The columns that hold the status of a form."""
    return [
        at
        for at, name in enumerate(header)
        if name.endswith("_complete")
        and all(shown_of(cells[at]).casefold() in ("", *_STATUSES) for _, cells in rows)
    ]


# What tells the rows of one record apart.
_PLACES = ("redcap_event_name", "redcap_repeat_instrument", "redcap_repeat_instance")


def _merged(file: str, found: Sequence[Row], layout: Layout, report: ImportReport) -> list[Row]:
    """Double data entry: 17--1 and 17--2 are the record 17, and where it is there itself, it replaces them."""
    places = [layout.index[name] for name in _PLACES if name in layout.index]

    def row_of(record: str, cells: Sequence[Any]) -> tuple[str, ...]:
        return (record, *(shown_of(cells[at]) for at in places))

    records = {row_of(shown_of(cells[0]), cells) for _, cells in found}
    kept: list[Row] = []
    read_as: list[str] = []
    for number, cells in found:
        typed = _TYPED_TWICE.fullmatch(shown_of(cells[0]))
        if typed and row_of(typed[1], cells) in records:
            report.merged_entries += 1
            continue
        item = layout.index.get(layout.fields.get("item", ""))
        if typed and item == 0:
            read_as.append(f"{typed[0]} as {typed[1]}")
            cells = [typed[1], *cells[1:]]
        kept.append((number, cells))
    if read_as:
        report.notes.append(
            f"{file}: {len(read_as):,} rows of double data entry are read as their record ({read_as[0]})"
        )
    return kept


def _filled_down(table: Table, rows: Sequence[Row], layout: Layout, report: ImportReport) -> list[Row]:
    """A column that no row of a repeating form or of an event has is filled from the base row of the record."""
    columns = [column for name, column in layout.fields.items() if name not in _OWN_TO_A_ROW]
    columns += [
        *layout.labels.values(),
        *(name for name in layout.source.only if not name.startswith("redcap_")),
    ]
    columns += [layout.source.content] if layout.source.content else []
    found = [(number, list(cells)) for number, cells in rows]
    for column in dict.fromkeys(columns):
        _fill(table, found, layout.index, column, report)
    return found


def _fill(
    table: Table, rows: Sequence[Row], index: Mapping[str, int], column: str, report: ImportReport
) -> None:
    at = index[column]

    def part(cells: list[Any], name: str) -> str:
        return shown_of(cells[index[name]]) if name in index else ""

    def group(cells: list[Any]) -> tuple[str, str, bool]:
        instance = part(cells, "redcap_repeat_instance")
        return part(cells, "redcap_event_name"), part(cells, "redcap_repeat_instrument"), bool(instance)

    own = {group(cells) for _, cells in rows if not is_blank(cells[at])}  # kinds of rows that have the column
    stated: dict[str, dict[str, Any]] = defaultdict(dict)
    stated_in_event: dict[tuple[str, str], dict[str, Any]] = defaultdict(dict)
    for _, cells in rows:
        if not is_blank(cells[at]) and not group(cells)[2]:
            stated[shown_of(cells[0])][shown_of(cells[at])] = cells[at]
            stated_in_event[shown_of(cells[0]), group(cells)[0]][shown_of(cells[at])] = cells[at]
    for number, cells in rows:
        if not is_blank(cells[at]) or group(cells) in own:
            continue
        record = shown_of(cells[0])
        values = stated_in_event.get((record, group(cells)[0])) or stated.get(record, {})
        if len(values) > 1:
            first, second = sorted(values)[:2]
            message = (
                f"is empty, and record {record!r} has {first!r} and {second!r} on other rows: keep one of them, or "
                "leave out the rows of an event with `only: {redcap_event_name: ...}`"
            )
            report.problems.append(Problem(table.file, number, column, "", message))
        elif values:
            cells[at] = next(iter(values.values()))
            report.filled_down[column] += 1


@dataclass(frozen=True, slots=True)
class _Form:
    """The columns of one form: its status, its checkboxes that hold scores, and all questions of it."""

    status: int
    checkboxes: tuple[int, ...]
    questions: tuple[int, ...]
    scores: tuple[int, ...]
    zeros: frozenset[int]

    def guard(self, cells: list[Any], report: ImportReport) -> bool:
        """Blank the checkboxes of a form that nobody started: REDCap writes 0 there. True where scores are on a
        form that is started and not finished."""
        if _STATUSES.get(shown_of(cells[self.status]).casefold(), 0):
            return False
        if any(not self._is_untouched(cells, at) for at in self.questions):
            return any(not is_blank(cells[at]) for at in self.scores)
        for at in self.checkboxes:
            if not is_blank(cells[at]):
                cells[at] = None
                report.not_started += 1
        return False

    def _is_untouched(self, cells: list[Any], at: int) -> bool:
        stated = shown_of(cells[at]).casefold()
        return not stated or (at in self.zeros and stated in _UNCHECKED)


def _refuse_unknown_zeros(
    table: Table, rows: Sequence[Row], layout: Layout, forms: Sequence[_Form], report: ImportReport
) -> None:
    """Where a form's status is not in the table, nobody can tell a form in which nothing was ticked from one that
    nobody started: REDCap writes 0 in both."""
    scored, used = {each.name for each in layout.scores}, {*layout.fields.values(), *layout.source.only}
    known = {at for form in forms for at in (*form.questions, *form.zeros, form.status)}
    own = [
        at
        for at, name in enumerate(table.header)
        if at and at not in known and name not in used and not name.startswith("redcap_")
    ]
    zeros = frozenset(at for at in own if _CHECKBOX.fullmatch(table.header[at]))
    ticked = [at for at in zeros if table.header[at] in scored]
    form = _Form(0, (), tuple(own), (), zeros)
    for number, cells in rows:
        if any(not is_blank(cells[at]) for at in ticked) and all(form._is_untouched(cells, at) for at in own):
            message = (
                "no checkbox is ticked and nothing else is answered: was this form filled in? Nothing in the table "
                "says so: export the form's status too (FORM_complete), or say `forms: all` if every one was"
            )
            report.problems.append(Problem(table.file, number, table.header[min(ticked)], "", message))


def _forms(header: Sequence[str], rows: Sequence[Row], layout: Layout) -> list[_Form]:
    """The forms whose status the table has: in an export each form's columns come before its status."""
    used = {*layout.fields.values(), *layout.source.only, *layout.labels.values()}
    scored = {each.name for each in layout.scores}
    forms: list[_Form] = []
    start = 1
    for at in _statuses(header, rows):
        if header[at] in scored or header[at] in layout.fields.values():
            continue
        own = [place for place in range(start, at) if not header[place].startswith("redcap_")]
        questions = [place for place in own if header[place] not in used]
        zeros = frozenset(place for place in own if _CHECKBOX.fullmatch(header[place]))
        scores = tuple(place for place in questions if header[place] in scored)
        forms.append(
            _Form(at, tuple(place for place in scores if place in zeros), tuple(questions), scores, zeros)
        )
        start = at + 1
    return forms
