"""Takes the rows of a table apart into entries: one cell, who rated what, and where it is."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from medjury.foundation.nested import json_in
from medjury.instruments import Reason, Unscored, extract_json
from medjury.intake import Table, changed_id, code_of, is_blank, joined_id, shown_of
from medjury.store.ratings._import.layout import Layout, ScoreColumn
from medjury.store.ratings._import.redcap import redcap_rows
from medjury.store.ratings._import.report import ImportReport, Problem, short
from medjury.store.ratings._import.suspicious import EmptyColumns

_IDS = ("item", "system", "rater")


@dataclass(frozen=True, slots=True)
class Entry:
    """One rating as a file gives it; `failure` says why `cell` cannot be read, where that is known already."""

    file: str
    row: int
    column: str
    cell: Any
    fields: Mapping[str, str]  # item, system, rater, dimension, repeat... as text
    explanation: str = ""
    failure: Unscored | None = None
    content: str = ""
    share: int = 1  # entries that share what was measured once for the row (seconds)
    null: bool = False  # a JSON object says null, which may mean "not applicable"
    labels: Mapping[str, str] = field(default_factory=dict)  # what the row says of its case


def read_entries(table: Table, layout: Layout, report: ImportReport, empty: EmptyColumns) -> Iterator[Entry]:
    """Every entry of the table, blank ones too; rows that `only` leaves out are counted."""
    rows = empty.watch(table.file, layout, _wanted(table, layout, report))
    for number, cells in rows:
        report.rows += 1
        entries = list(_row(table.file, number, cells, layout, report))
        if layout.fields.keys() & {"seconds", "minutes"}:
            rated = sum(not is_blank(entry.cell) for entry in entries)
            entries = [replace(entry, share=max(rated, 1)) for entry in entries]
        yield from entries


def _wanted(table: Table, layout: Layout, report: ImportReport) -> Iterator[tuple[int, list[Any]]]:
    above: dict[str, Any] = {}
    for number, cells in redcap_rows(table, layout, report):
        for name in layout.source.fill_down:
            at = layout.index[name.strip()]
            if is_blank(cells[at]) and name in above:
                cells = [*cells[:at], above[name], *cells[at + 1 :]]
                report.filled_down[name] += 1
            above[name] = cells[at]
        if _is_wanted(cells, layout):
            yield number, cells
        else:
            report.rows_left_out += 1


def _is_wanted(cells: Sequence[Any], layout: Layout) -> bool:
    source = layout.source
    return all(_text(cells[layout.index[name]]) in words for name, words in source.only.items()) and not any(
        _text(cells[layout.index[name]]) in words for name, words in source.without.items()
    )


def _row(
    file: str, number: int, cells: Sequence[Any], layout: Layout, report: ImportReport
) -> Iterator[Entry]:
    source = layout.source
    fields = source.for_all()
    for name, column in layout.fields.items():
        cell = cells[layout.index[column]]
        if name in _IDS and (made := changed_id(cell)) is not None:
            message = f"is {made}, not an id: format the column as text and enter it again"
            report.problems.append(Problem(file, number, name, short(cell), message))
            return
        if value := shown_of(cell):
            fields[name] = value
    if len(source.item_columns) > 1:
        own = [cells[layout.index[name.strip()]] for name in source.item_columns]
        if made := next(filter(None, map(changed_id, own)), None):
            message = f"holds {made}, not an id: format the columns as text and enter them again"
            report.problems.append(Problem(file, number, "item", "", message))
            return
        fields["item"] = joined_id(map(shown_of, own))
    if source.dimension is not None and source.dimensions is not None:
        words = {word: name for name, word in source.dimensions.items()}
        if fields.get("dimension") not in words:
            report.rows_left_out += 1
            return
        fields["dimension"] = words[fields["dimension"]]
    explanation, content = fields.pop("explanation", ""), fields.pop("content_hash", "")
    if source.content is not None:
        content = content_hash(_text(cells[layout.index[source.content]]))
    labels = {label: _text(cells[layout.index[column]]) for label, column in layout.labels.items()}
    for scores in layout.scores:
        cell = cells[layout.index[scores.name]]
        entry = Entry(
            file,
            number,
            scores.name,
            cell,
            {**fields, **scores.says},
            explanation,
            content=content,
            labels=labels,
        )
        if source.json_cells:
            yield from _json_entries(entry, layout, report)
        else:
            yield _score_entry(entry, scores, cells, layout)


def _score_entry(entry: Entry, column: ScoreColumn, cells: Sequence[Any], layout: Layout) -> Entry:
    if column.explanation is not None:
        entry = replace(entry, explanation=_text(cells[layout.index[column.explanation]]))
    if not layout.source.taken or is_blank(entry.cell):
        return entry
    try:
        return replace(entry, cell=_taken(entry.cell, layout.source.taken))
    except ValueError as error:
        return replace(entry, failure=Unscored(Reason.PARSE, str(error)))


def _json_entries(entry: Entry, layout: Layout, report: ImportReport) -> Iterator[Entry]:
    """One entry per dimension. A judge was asked for each, so a gap is a failure; a clinician may leave one."""
    source = layout.source
    asked, because = source.dimensions or {}, source.column("explanation")
    judge = source.kind_of(entry.fields.get("rater", "")) != "clinician"
    scores: Mapping[str, Any] = {}
    failure: Unscored | None = None
    if is_blank(entry.cell):
        failure = Unscored(Reason.EMPTY, "is empty") if judge else None
    else:
        try:
            scores = _json_object(entry.cell, asked.values())
        except ValueError as error:
            failure = Unscored(Reason.PARSE, f"cannot be read: {error}")
    explanation = _text(scores.get(because)) if because else ""
    report.unused_fields.update(name for name in scores if name not in asked.values() and name != because)
    for dimension, name in asked.items():
        value = scores.get(name)
        problem = failure
        if failure is None and judge and is_blank(value):
            problem = Unscored(Reason.MISSING, "is missing from the answer")
        yield Entry(
            entry.file,
            entry.row,
            entry.column if failure else f"{entry.column}: {name}",
            entry.cell if failure else value,
            {**entry.fields, "dimension": dimension},
            explanation,
            problem,
            entry.content,
            null=name in scores and value is None,
            labels=entry.labels,
        )


def _json_object(cell: Any, expected: Collection[str]) -> Mapping[str, Any]:
    found = extract_json(cell) if isinstance(cell, str) else cell
    if isinstance(found, list) and len(found) == 1:
        found = found[0]
    if not isinstance(found, dict):
        raise ValueError("it is not a JSON object")
    return found


def _taken(cell: Any, names: Sequence[str]) -> Any:
    """The score in a cell such as `[{"rating": 4}]`: some programs export the answer so."""
    value = cell
    if isinstance(cell, str) and cell.lstrip()[:1] in ("[", "{"):
        try:
            value = json_in(cell)
        except ValueError:
            raise ValueError("is not JSON") from None
    while isinstance(value, list) and len(value) == 1:
        value = value[0]
    if isinstance(value, dict):
        found = [name for name in names if name in value]
        if not found:
            raise ValueError(f"has no field {' or '.join(map(repr, names))}")
        value = value[found[0]]
    while isinstance(value, list) and len(value) == 1:
        value = value[0]
    if isinstance(value, list | dict):
        raise ValueError("holds more than one answer")
    return value


def content_hash(text: str) -> str:
    """A hash of the words: spreadsheets change spaces and line ends, and that is the same text."""
    if not text:
        return ""
    return "words-" + hashlib.sha256(" ".join(text.split()).encode("utf-8", "surrogatepass")).hexdigest()


def _text(cell: Any) -> str:
    return "" if is_blank(cell) else code_of(cell)
