"""Where a table is in its file: rows above its header, rows that name its columns, sheets that are one table."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from medjury.foundation import limits
from medjury.foundation.errors import MedjuryError
from medjury.intake import Reading, file_rows, is_blank, read_table, sheet_names, shown_of
from medjury.studies.inspection._column_names import proposal

HEAD = 5_000  # rows that are looked at
_TEXT = (".csv", ".tsv")
_JSON = (".json", ".jsonl", ".ndjson", ".eval")
_LONGEST_NAME = 150  # characters of a column's name; instructions are longer
_ABOVE = 60  # rows in which a header is looked for
_GRADED = ("dimensions", "raters", "items", "systems", "columns", "score")


@dataclass(frozen=True, slots=True)
class Seen:
    """A table as it was found: `how` is how its file is to be read, `above` the lines above its header."""

    header: list[str]
    rows: list[list[Any]]
    how: Mapping[str, Any]
    above: tuple[str, ...] = ()
    reported: tuple[str, ...] = ()

    def cells(self, column: str) -> list[Any]:
        names = [name or f"Unnamed: {at}" for at, name in enumerate(self.header)]
        at = names.index(column) if column in names else None
        return [] if at is None else [row[at] for row in self.rows]


def seen_table(path: Path, stated: Mapping[str, Any]) -> Seen:
    """The table in a file, wherever it begins; of a workbook the sheet that is stated, else that with grades."""
    try:
        return _seen(path, stated)
    except MedjuryError as error:
        if path.suffix.lower() not in _TEXT or "encoding" in stated or "is not valid UTF-8" not in str(error):
            raise
        return _seen(path, {**stated, "encoding": "cp1252"})  # as spreadsheets in Europe write it


def _seen(path: Path, stated: Mapping[str, Any]) -> Seen:
    if path.suffix.lower() in _JSON:
        return _read(path, {name: stated[name] for name in ("rows",) if name in stated})
    if path.suffix.lower() != ".xlsx" or stated.get("sheet") or len(names := sheet_names(path)) < 2:
        how = {name: stated[name] for name in ("sheet", "encoding", "delimiter") if name in stated}
        return _sheet(path, how, stated)
    pages = {name: page for name in names if (page := _page(path, name, stated)) is not None}
    graded = {name: page for name, page in pages.items() if _has_grades(page)}
    named = {name: page for name, page in graded.items() if "item" in proposal(page.header, page.rows)}
    graded = named or graded
    if not graded:
        return _sheet(path, {}, stated)
    first, page = next(iter(graded.items()))
    alike = [name for name, other in graded.items() if other.header == page.header and other.how == page.how]
    if len(alike) < 2:
        return Seen(
            page.header,
            page.rows,
            {**page.how, **({"sheet": first} if first != names[0] else {})},
            page.above,
        )
    rows = [row for name in alike for row in graded[name].rows]
    return Seen(page.header, rows, {**page.how, "sheets": alike}, page.above)


def _page(path: Path, sheet: str, stated: Mapping[str, Any]) -> Seen | None:
    try:
        page = _sheet(path, {"sheet": sheet}, stated)
    except limits.FileLimitError:
        raise
    except MedjuryError:
        return None
    return Seen(
        page.header, page.rows, {name: how for name, how in page.how.items() if name != "sheet"}, page.above
    )


def _has_grades(page: Seen) -> bool:
    found = proposal(page.header, page.rows)
    return bool(page.rows) and any(name in found for name in _GRADED)


def _sheet(path: Path, how: dict[str, Any], stated: Mapping[str, Any]) -> Seen:
    raw: list[list[Any]] = []
    if path.suffix.lower() in (*_TEXT, ".xlsx", ".ods") or path.suffix.lower() == ".gz":
        how, raw = _raw(path, how)
        skipped, names = header_place(raw)
        skipped, names = stated.get("skip_rows", skipped), stated.get("header_rows", names)
        how |= {"skip_rows": skipped} if skipped else {}
        how |= {"header_rows": names} if names > 1 else {}
    above = tuple(
        shown_of(cell) for row in raw[: how.get("skip_rows", 0)] for cell in row if not is_blank(cell)
    )
    found = _read(path, how)
    return Seen(found.header, found.rows, how, above, found.reported)


def _read(path: Path, how: Mapping[str, Any]) -> Seen:
    table = read_table(path, Reading(columns=("Unnamed: 0",), **how))
    rows = [row.cells for row in islice(table.rows, HEAD)]
    return Seen(table.header, rows, how, reported=tuple(table.reported))


def _raw(path: Path, how: dict[str, Any]) -> tuple[dict[str, Any], list[list[Any]]]:
    """The rows as they lie there; of a text by the separator that makes most rows equally wide."""
    if path.suffix.lower() not in _TEXT or "delimiter" in how:
        return how, _cells(path, how)
    found: dict[str, list[list[Any]]] = {}
    for sign in (None, ",", ";", "\t", "|"):
        try:
            found[sign or ""] = _cells(path, how | ({"delimiter": sign} if sign else {}))
        except limits.FileLimitError:
            if sign is None:
                raise
        except MedjuryError:
            continue
    if not found:
        return how, _cells(path, how)
    best = max(found, key=lambda sign: (_regular(found[sign]), not sign))
    place, _ = header_place(found[best])
    same = best == "" or found.get("") == found[best] or place > 0  # then the header itself shows it
    return how if same else how | {"delimiter": best}, found[best]


def _cells(path: Path, how: Mapping[str, Any]) -> list[list[Any]]:
    return [row.cells for row in islice(file_rows(path, Reading(**how)), HEAD)]


def _regular(rows: Sequence[Sequence[Any]]) -> float:
    """How much of a table is one of several columns."""
    widths = Counter(len(row) for row in rows if len(row) > 1)
    return max((count * (1 + width / 100) for width, count in widths.items()), default=0.0)


def header_place(rows: Sequence[Sequence[Any]]) -> tuple[int, int]:
    """How many rows are above the header, and how many name the columns.

    >>> header_place([["Study of scribes"], [], ["case", "Ada", "Sam"], ["1", "4", "5"], ["2", "3", "3"]])
    (2, 1)
    >>> header_place([["case", "Accuracy", "", "Clarity", ""], ["", "R1", "R2", "R1", "R2"], ["1", 4, 5, 3, 3]])
    (0, 2)
    """
    filled = [[text for cell in row if (text := shown_of(cell))] for row in rows]
    widths = Counter(len(each) for each in filled if len(each) > 1)
    if not widths:
        return 0, 1
    width = max(widths, key=lambda each: (widths[each], each))
    for at, cells in enumerate(filled[:_ABOVE]):
        whole = len(cells) >= (max(1, width - 1) if at == 0 else max(2, 0.6 * width))
        numbers = sum(_is_number(each) for each in cells)
        is_names = len(set(cells)) == len(cells) and all(len(each) <= _LONGEST_NAME for each in cells)
        if whole and (at == 0 or (is_names and 2 * numbers <= len(cells))):
            return at, 2 if _goes_on(rows[at:]) else 1
        if at == 0 and is_names and not numbers and len(cells) > 1 and _goes_on(rows):
            return 0, 2
    return 0, 1


def _is_number(text: str) -> bool:
    return re.fullmatch(r"[+-]?\d+([.,]\d+)?", text) is not None


def _goes_on(rows: Sequence[Sequence[Any]]) -> bool:
    """True where the second row names columns too: below gaps of the first, in words, over a row with numbers."""
    if len(rows) < 3:
        return False
    first, second, third = ([shown_of(cell) for cell in row] for row in rows[:3])
    gaps = [at for at, cell in enumerate(second) if cell and at and (at >= len(first) or not first[at])]
    words = [cell for cell in second if cell]
    below = [third[at] for at, cell in enumerate(second) if cell and at < len(third)]
    return bool(gaps) and not any(map(_is_number, words)) and any(map(_is_number, below))
