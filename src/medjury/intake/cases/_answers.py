"""Answers in a file of their own: each row names its item, its text and the system that wrote it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from medjury.intake._files.any_file import read_table
from medjury.intake._files.cells import is_blank, shown_of
from medjury.intake._files.reading import FileError
from medjury.intake.cases._case import Origin
from medjury.intake.cases._mapping import ColumnMapping
from medjury.intake.cases._row import RawRow

_NAMES = {
    "id": ("id", "prompt_id", "item", "case", "case_id"),
    "candidate": ("candidate", "answer", "completion", "response", "output"),
    "system": ("system", "model"),
}


def with_answers(rows: Iterator[RawRow], answers: Path, mapping: ColumnMapping) -> Iterator[RawRow]:
    """Each row once for every answer to it. A row that nobody answered is a bad row, and so is an answer to a row
    that is not there."""
    found = _answers(answers)
    ids, candidate, system = (mapping.simple.get(name, name) for name in _NAMES)
    met: set[str] = set()
    for row in rows:
        if row.is_remark or row.problem:
            yield row
            continue
        item = shown_of(row.values.get(ids))
        met.add(item)
        if not is_blank(row.values.get(candidate)):
            yield RawRow(row.origin, problem=f"has an answer of its own, and {answers.name} has answers too")
        elif item not in found:
            why = f"has no answer in {answers.name}"
            yield RawRow(row.origin, problem=why, reason=why)
        else:
            for name, text, number in found[item]:
                if text.strip():
                    yield RawRow(
                        row.origin, {**row.values, candidate: text, system: name}, remarks=row.remarks
                    )
                else:
                    yield RawRow(Origin(answers.name, number), problem="the answer is empty")
    for item, given in found.items():
        if item not in met:
            for _, _, number in given:
                yield RawRow(Origin(answers.name, number), problem=f"answers {item!r}, which is no case")


def _answers(path: Path) -> dict[str, list[tuple[str, str, int]]]:
    """By item: system, text and row of each answer."""
    table = read_table(path)
    places: dict[str, int] = {}
    for name, known in _NAMES.items():
        there = [each for each in known if each in table.header]
        if len(there) > 1:
            raise FileError(
                f"{path.name}: which column is the {name}: {' or '.join(there)}? Keep one of them"
            )
        if there:
            places[name] = table.header.index(there[0])
        elif name != "system":
            listed = ", ".join(filter(None, table.header))
            raise FileError(f"{path.name}: no column is the {name} ({', '.join(known)}); it has {listed}")
    found: dict[str, list[tuple[str, str, int]]] = {}
    for row in table.rows:
        if row.problem:
            raise FileError(f"{path.name}, row {row.number}: {row.problem}")
        cells = {name: row.cells[at] for name, at in places.items()}
        text = "" if is_blank(cells["candidate"]) else str(cells["candidate"])
        found.setdefault(shown_of(cells["id"]), []).append((shown_of(cells.get("system")), text, row.number))
    return found
