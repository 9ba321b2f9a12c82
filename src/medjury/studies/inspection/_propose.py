"""One complete mapping for a table of ratings: where its header is, which column is what, what its grades mean and
which scale they are on. What nobody can know from the file is a question with a default, or one missing fact."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any

from medjury.foundation.errors import MedjuryError
from medjury.intake import Reading, file_rows, is_blank, read_table, sheet_names, shown_of
from medjury.studies.inspection._column_names import kind_of, looks_like_models, made_of_others, proposal
from medjury.studies.inspection._grades import (
    Grades,
    grades_in,
    in_order,
    scale_in_name,
    scale_in_words,
    scale_part,
    usual_scale,
)
from medjury.tables import Answer, Doubt

HEAD = 5_000  # rows that are looked at
_TEXT = (".csv", ".tsv")
_JSON = (".json", ".jsonl", ".ndjson", ".eval")
_LONGEST_NAME = 150  # characters of a column's name; instructions are longer
_ABOVE = 60  # rows in which a header is looked for
_LISTS = ("dimensions", "raters", "items", "systems", "na", "blank", "fill_down")
_WIDE = ("dimensions", "raters", "items", "systems", "columns", "score")


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


@dataclass(frozen=True, slots=True)
class Proposed:
    """A mapping, what of it is a guess (each with its default, which the mapping has), and what is missing."""

    mapping: dict[str, Any]
    doubts: tuple[Doubt, ...] = ()
    missing: str = ""
    columns: Mapping[str, Any] = field(default_factory=dict)  # what names and cells of the columns told alone


# Where the table is: rows above its header, rows that name the columns, the sheets that are one table each.


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
    except MedjuryError:
        return None
    return Seen(
        page.header, page.rows, {name: how for name, how in page.how.items() if name != "sheet"}, page.above
    )


def _has_grades(page: Seen) -> bool:
    found = proposal(page.header, page.rows)
    return bool(page.rows) and any(name in found for name in _WIDE)


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


# What the grades mean, which scale they are on, who gave them: what the columns' names do not tell.


def propose(path: Path, seen: Seen, stated: Mapping[str, Any]) -> Proposed:
    """The whole mapping of a table of ratings; `stated` are lines of it that a person gave."""
    header = [name if name or at else "Unnamed: 0" for at, name in enumerate(seen.header)]
    taken = {str(each) for value in stated.values() for each in _each(value)}
    free = [at for at, name in enumerate(header) if name and name not in taken]
    found = proposal([header[at] for at in free], [[row[at] for at in free] for row in seen.rows])
    return replace(completed(path, seen, _merged(found, stated), stated), columns=found)


def completed(path: Path, seen: Seen, mapping: dict[str, Any], stated: Mapping[str, Any]) -> Proposed:
    """A mapping of columns, with all that their cells tell: grades, scale, gaps, and who rated."""
    how = {name: value for name, value in seen.how.items() if name != "sheets"}
    doubts: list[Doubt] = []
    mapping, asked = _with_who(path, seen, mapping, stated)
    doubts += asked
    if "{item}" not in str(mapping.get("columns")) and not mapping.keys() & {"item", "items"}:
        names = ", ".join(name for name in seen.header if name)
        return Proposed(
            how | mapping, (), f"which column names the case? It has {names}: say --map item=COLUMN"
        )
    scored = score_cells(seen, mapping)
    again = [name for name in scored if (found := re.fullmatch(r"(.+)\.\d", name)) and found[1] in scored]
    if again:
        return Proposed(
            how | mapping,
            missing=f"whose grades are in {', '.join(again)}? Columns of the same name were numbered: call "
            "them in the file by their rater, such as Accuracy Ada",
        )
    if not scored:
        names = ", ".join(name for name in seen.header if name)
        return Proposed(how | mapping, (), f"which columns hold grades? It has {names}: say --map dimensions=A,B "
                        "(or raters=A,B, where each column is a rater)")  # fmt: skip
    mapping |= _left_out(seen, mapping)
    if "item" not in stated and (apart := _apart(seen, mapping, scored)) is not None:
        mapping |= apart.suggested.sets if apart.suggested else {}
        if "dimension" in mapping and (fixed := mapping.get("fixed")):
            mapping["fixed"] = {name: each for name, each in fixed.items() if name != "dimension"}
        doubts.append(apart)
    if "without" in mapping:
        seen = _without(seen, mapping["without"])
        scored = score_cells(seen, mapping)
    mapping, asked, missing = _with_grades(seen, mapping, scored, stated)
    if missing:
        return Proposed(how | mapping, (), missing)
    if "scale" not in stated:
        scale, asked_scale = _scale(seen, mapping, scored)
        mapping |= scale
        asked += asked_scale
    order = [*how, *mapping]
    whole = {**mapping, **how}
    return Proposed({name: whole[name] for name in order}, (*doubts, *asked))


def _merged(found: dict[str, Any], stated: Mapping[str, Any]) -> dict[str, Any]:
    """What was found, less what a person says otherwise."""
    if stated.keys() & set(_WIDE):
        drop = set(_WIDE) | ({"fixed"} if not stated.keys() & {"score"} else set())
        found = {name: each for name, each in found.items() if name not in drop}
        if stated.keys() & {"raters", "items", "systems"} and not {"dimension"} & {*found, *stated}:
            found["fixed"] = {"dimension": "score"}
    if "items" in stated or "{item}" in str(stated.get("columns")):
        found.pop("item", None)
    fixed = {**found.get("fixed", {}), **stated.get("fixed", {})}
    merged = {**found, **stated}
    for name in ("dimensions", "raters", "items", "systems"):
        if isinstance(merged.get(name), list) and merged.get("cells") != "json":
            merged[name] = {each: each for each in merged[name]}
    return merged | ({"fixed": fixed} if fixed else {})


def _each(value: Any) -> list[Any]:
    return (
        list(value.values()) if isinstance(value, Mapping) else value if isinstance(value, list) else [value]
    )


def _with_who(
    path: Path, seen: Seen, mapping: dict[str, Any], stated: Mapping[str, Any]
) -> tuple[dict[str, Any], list[Doubt]]:
    """Who rated, and what sheets are: raters in a column, in names of columns or of sheets, or one for the file."""
    doubts: list[Doubt] = []
    sheets = seen.how.get("sheets")
    fixed = dict(mapping.get("fixed", {}))
    has_rater = (
        bool(mapping.keys() & {"rater", "raters"})
        or "{rater}" in str(mapping.get("columns"))
        or "rater" in fixed
    )
    if sheets:
        kind, said = kind_of(sheets), mapping.get("sheets")
        place = (
            said
            if isinstance(said, str)
            else "rater"
            if not has_rater and kind != "dimensions"
            else "system"
            if kind == "systems"
            else "dimension"
        )
        if place == "dimension":
            fixed.pop("dimension", None)
        mapping = {**mapping, "sheets": {place: list(sheets)}}
        has_rater = has_rater or place == "rater"
        others = [each for each in ("dimension", "rater", "system") if each != place]
        doubts.append(Doubt(
            f"Is each sheet ({', '.join(sheets)}) a {place}?",
            (Answer(f"yes, a {place}", {}), *(Answer(f"no, a {each}", {"sheets": each}) for each in others)),
            Answer(f"yes, a {place}", {}),
        ))  # fmt: skip
    wide = mapping.get("dimensions")
    open_columns = isinstance(wide, Mapping) and len(wide) > 1 and not kind_of(list(wide))
    if (
        not has_rater
        and isinstance(wide, Mapping)
        and open_columns
        and not {"dimension", "dimensions"} & {*stated, *(mapping.keys() - {"dimensions"})}
    ):
        names = list(wide.values())
        raters = {name: each for name, each in mapping.items() if name != "dimensions"} | {
            "raters": {name: name for name in names}
        }
        own = Answer("raters", {"raters": names})
        doubts.append(Doubt(
            f"Are the columns {', '.join(names)} raters or dimensions?",
            (own, Answer("dimensions", {"dimensions": names})), own,
        ))  # fmt: skip
        mapping, has_rater = raters, True
        fixed.setdefault("dimension", "score")
    pattern = str(mapping.get("columns", ""))
    if not has_rater and "{system}" in pattern and "columns" not in stated:
        own = Answer("systems, whose answers were graded", {"columns": pattern})
        other = Answer("raters", {"columns": pattern.replace("{system}", "{rater}")})
        doubts.append(
            Doubt(f"What is in the place of {{system}} in the columns {pattern}?", (own, other), own)
        )
    if not has_rater:
        fixed["rater"] = Path(path.name.removesuffix(".gz")).stem
        own = Answer(f"one rater, called {fixed['rater']}", {"fixed.rater": fixed["rater"]})
        doubts.append(
            Doubt(
                "Who gave the grades? No column says so.", (own, Answer("a column", {"rater": "COLUMN"})), own
            )
        )
    mapping = (
        {**mapping, "fixed": fixed}
        if fixed
        else {name: each for name, each in mapping.items() if name != "fixed"}
    )
    return _with_kind(seen, mapping, doubts), doubts


def _with_kind(seen: Seen, mapping: dict[str, Any], doubts: list[Doubt]) -> dict[str, Any]:
    """Whether the raters are models, by their names."""
    if "rater_kind" in mapping or any(name.casefold() == "rater_kind" for name in seen.header):
        return mapping
    names = sorted({text for cell in seen.cells(str(mapping.get("rater"))) if (text := shown_of(cell))})
    names = names or [str(each) for each in mapping.get("raters", {})]
    names = names or [str(each) for each in (mapping.get("fixed", {}).get("rater"),) if each]
    models = [name for name in names if looks_like_models([name])]
    if not models:
        return mapping
    kind: Any = "judge" if len(models) == len(names) else {"judge": models}
    words = "all raters are judges" if kind == "judge" else f"{', '.join(models)} are judges"
    own = Answer(words, {"rater_kind": "judge"} if kind == "judge" else {})
    doubts.append(Doubt(f"Are {', '.join(models)} models that judge?",
                        (own, Answer("all raters are clinicians", {"rater_kind": "clinician"})), own))  # fmt: skip
    return {**mapping, "rater_kind": kind}


def score_cells(seen: Seen, mapping: Mapping[str, Any]) -> dict[str, tuple[str, list[Any]]]:
    """By the column that holds scores: its dimension ("" where the column is for none alone) and its cells."""
    if mapping.get("cells") == "json" or mapping.get("take"):
        return {str(name): ("", []) for name in ("columns", "score", "dimensions") if mapping.get(name)}
    if mapping.get("columns"):
        pattern = re.escape(str(mapping["columns"])).replace(r"\{", "{").replace(r"\}", "}")
        listed = mapping.get("dimensions") or {}
        allowed = (
            "|".join(re.escape(str(each)) for each in sorted(listed.values(), key=len, reverse=True)) or ".+"
        )
        pattern = pattern.replace("{dimension}", f"(?P<dimension>{allowed})")
        pattern = re.sub(r"\{(\w+)\}", r"(?P<\1>.+)", pattern)
        known = {word: name for name, word in listed.items()}
        return {
            name: (known.get(found.groupdict().get("dimension", ""), ""), seen.cells(name))
            for name in seen.header
            if (found := re.fullmatch(pattern, name))
        }
    for place in ("raters", "items", "systems"):
        if mapping.get(place):
            return {name: ("", seen.cells(name)) for name in mapping[place].values()}
    if mapping.get("dimensions") and "dimension" not in mapping:
        return {column: (name, seen.cells(column)) for name, column in mapping["dimensions"].items()}
    name = str(mapping.get("score", "score"))
    return {name: ("", cells)} if (cells := seen.cells(name)) else {}


def _left_out(seen: Seen, mapping: Mapping[str, Any]) -> dict[str, Any]:
    """Rows of means below the cases, and ids that only the first of a case's rows has."""
    item = mapping["item"] if isinstance(mapping.get("item"), str) else None
    cells = [shown_of(cell) for cell in seen.cells(str(item))] if item else []
    if not cells:
        return {}
    found: dict[str, Any] = {}
    if made := sorted({text for text in cells if text and made_of_others(text)}):
        found["without"] = {item: made}
    others = [seen.cells(str(mapping[name])) for name in ("rater", "score", "dimension") if mapping.get(name)]
    gaps = [
        at for at, text in enumerate(cells) if not text and any(not is_blank(each[at]) for each in others)
    ]
    if gaps and cells[0] and "rater" in mapping:
        found["fill_down"] = [item]
    return found


def _apart(seen: Seen, mapping: Mapping[str, Any], scored: Mapping[str, Any]) -> Doubt | None:
    """Where rows are about the same case, rater and system: the columns that tell them apart. With a column of
    raters nobody can tell a case of its own from a second grade."""
    named = [mapping.get(name) for name in ("item", "rater", "system", "dimension", "repeat")]
    keys = [seen.cells(str(name)) for name in named if isinstance(name, str)]
    by_rows = (
        not mapping.get("fill_down") and "sheets" not in seen.how and isinstance(mapping.get("item"), str)
    )
    if not by_rows or not all(keys) or _different(keys) == len(seen.rows):
        return None
    used = {*map(str, named), *scored, *(mapping.get("without") or {})}
    free = {
        name: cells
        for name in seen.header
        if name and name not in used and _is_short(cells := seen.cells(name))
    }
    item = str(mapping["item"])
    if "score" in mapping and "dimension" not in mapping:
        names = {name: list(dict.fromkeys(map(shown_of, cells))) for name, cells in free.items()}
        asked = [
            name
            for name, values in names.items()
            if (name.casefold() == "name" or kind_of(values) == "dimensions")
            and _different([*keys, free[name]]) == len(seen.rows)
        ]
        if asked:
            own = Answer(f"what was graded: {', '.join(names[asked[0]][:4])}", {"dimension": asked[0]})
            return Doubt(f"Rows share {item}. What does {asked[0]!r} tell apart?", (own,), own)
    if "rater" in mapping:
        few = [
            name
            for name, cells in free.items()
            if len(set(map(shown_of, cells))) <= 20 and _different([*keys, cells]) == len(seen.rows)
        ]
        if len(few) != 1 or "system" in mapping:
            return None
        own = Answer(f"{few[0]}: the system that was graded", {"system": few[0]})
        other = Answer("it numbers repeats", {"repeat": few[0]})
        return Doubt(f"Rows share {item} and rater. What tells them apart?", (own, other), own)
    alone = [name for name, cells in free.items() if _different([cells, *keys[1:]]) == len(seen.rows)]
    pairs = [name for name, cells in free.items() if _different([*keys, cells]) == len(seen.rows)]
    if not alone and not pairs:
        return None
    both = [item, *pairs[:1]]
    own = Answer(alone[0], {"item": alone[0]}) if alone else Answer(" and ".join(both), {"item": both})
    others = [Answer(name, {"item": name}) for name in alone[1:3]]
    return Doubt(f"Several rows have the same {item}. Which column names the case?", (own, *others), own)


def _different(columns: Sequence[Sequence[Any]]) -> int:
    return len({tuple(map(shown_of, row)) for row in zip(*columns, strict=True)})


def _is_short(cells: Sequence[Any]) -> bool:
    shown = [shown_of(cell) for cell in cells if not isinstance(cell, list | dict)]
    return len(shown) == len(cells) > 0 and all(each and len(each) <= 60 for each in shown)


def _without(seen: Seen, words: Mapping[str, Sequence[str]]) -> Seen:
    gone = {
        at
        for name, listed in words.items()
        for at, cell in enumerate(seen.cells(name))
        if shown_of(cell) in listed
    }
    return replace(seen, rows=[row for at, row in enumerate(seen.rows) if at not in gone])


def _with_grades(
    seen: Seen,
    mapping: dict[str, Any],
    scored: Mapping[str, tuple[str, list[Any]]],
    stated: Mapping[str, Any],
) -> tuple[dict[str, Any], list[Doubt], str]:
    """What cells mean that are no numbers: phrases, words, codes for what is missing, a decimal comma."""
    grades = {name: grades_in(cells) for name, (_, cells) in scored.items()}
    doubts: list[Doubt] = []
    if any(each.form == "numbered" for each in grades.values()):
        mapping = {**mapping, "cells": "numbered"}
    worded = {name: each for name, each in grades.items() if each.words}
    if worded and "labels" not in stated:
        labels, missing = _labels(scored, worded)
        if missing:
            return mapping, [], missing
        mapping = {**mapping, "labels": labels}
        flat = (
            {word: number for each in labels.values() for word, number in each.items()}
            if _is_nested(labels)
            else labels
        )
        shown = ", ".join(
            f"{word} = {number:g}" for word, number in sorted(flat.items(), key=lambda each: each[1])
        )
        words = " < ".join(dict.fromkeys(word for word, _ in sorted(flat.items(), key=lambda each: each[1])))
        own = Answer("yes", {"labels": words})
        doubts.append(Doubt(f"Do the words mean {shown}?", (own,), own))
    for key, name in (("na", "not_applicable"), ("blank", "not_rated")):
        codes = sorted({code for each in grades.values() for code in getattr(each, name)})
        if codes and key not in stated:
            mapping = {**mapping, key: codes}
            own = Answer(name.replace("_", " "), {key: codes})
            other = Answer(
                "not rated" if key == "na" else "not applicable", {"blank" if key == "na" else "na": codes}
            )
            doubts.append(Doubt(f"What does {', '.join(codes)} mean?", (own, other), own))
    if any(each.decimal == "," for each in grades.values()):
        mapping = {**mapping, "decimal": ","}
    return mapping, doubts, ""


def _is_nested(labels: Mapping[str, Any]) -> bool:
    return any(isinstance(each, Mapping) for each in labels.values())


def _labels(
    scored: Mapping[str, tuple[str, list[Any]]], worded: Mapping[str, Grades]
) -> tuple[dict[str, Any], str]:
    """What the words mean, together where one order has them all, else by dimension."""
    together = in_order({word for each in worded.values() for word in each.words})
    if together is not None:
        return dict(together[0]), ""
    by_dimension: dict[str, Any] = {}
    for name, each in worded.items():
        order = in_order(each.words)
        dimension = scored[name][0]
        if order is None or not dimension:
            listed = sorted({word for other in worded.values() for word in other.words})
            return {}, (
                f"which order do the grades {', '.join(map(repr, listed[:8]))} have? Say it, lowest first: "
                f"--map 'labels={' < '.join(listed[:8])}'"
            )
        by_dimension[dimension] = dict(order[0])
    return by_dimension, ""


def _scale(
    seen: Seen, mapping: Mapping[str, Any], scored: Mapping[str, tuple[str, list[Any]]]
) -> tuple[dict[str, Any], list[Doubt]]:
    """The scale of each dimension: from a column's name, from the instructions, else the usual one that has its
    grades, which is a question where it has more."""
    labels = mapping.get("labels", {})
    pools: dict[str, set[float]] = {}
    named: dict[str, tuple[float, float]] = {}
    dimensions = [shown_of(cell) for cell in seen.cells(str(mapping.get("dimension")))]
    for column, (dimension, cells) in scored.items():
        found = grades_in(cells)
        if (stated := scale_in_name(column)[1]) is not None:
            named[dimension] = stated
        elif found.form == "words" and not _is_nested(labels):
            ends = in_order(labels)
            named[dimension] = ends[1] if ends else (min(labels.values()), max(labels.values()))
        elif found.form == "words" and found.ends:
            named[dimension] = found.ends
        if dimensions and len(dimensions) == len(cells) and found.form == "numbers":
            words = {word: name for name, word in (mapping.get("dimensions") or {}).items()}
            for name, cell in zip(dimensions, cells, strict=True):
                own = grades_in([cell]).values
                if name and own <= found.values:
                    pools.setdefault(words.get(name, name), set()).update(own)
        else:
            pools.setdefault(dimension, set()).update(found.values)
    pools = {name: values for name, values in pools.items() if values or name in named}
    legend = scale_in_words([*seen.above])
    scales: dict[str, tuple[float, float]] = {}
    short = {
        value
        for name, values in pools.items()
        if name not in named and not values <= {0.0, 1.0}
        for value in values
    }
    guessed = bool(short) and any(values <= {0.0, 1.0} for name, values in pools.items() if name not in named)
    for name, values in pools.items():
        if name in named:
            scales[name] = named[name]
        elif legend and min(values) >= legend[0] and max(values) <= legend[1]:
            scales[name] = legend
        else:
            pool = short if not values <= {0.0, 1.0} and max(short) <= 10 else values
            # Grades that are all 1, where others go further, are as likely on the others' scale.
            pool = short if values == {1.0} and short and min(short) >= 1 else pool
            scales[name] = usual_scale(pool)
            guessed = guessed or (min(pool), max(pool)) != scales[name]
    if not scales or (mapping.get("cells") == "json" or mapping.get("take")):
        return {}, []
    parts = {name: scale_part(pools[name], ends) for name, ends in scales.items()}
    different = list(parts.values())
    scale: Any = different[0] if all(each == different[0] for each in different) and (
        len(parts) == len(pools)) else parts  # fmt: skip
    if not guessed:
        return {"scale": scale}, []
    seen_ends = (
        f"{min(map(min, filter(None, pools.values()))):g} to {max(map(max, filter(None, pools.values()))):g}"
    )
    low, high = next(iter(scales.values()))
    usual = Answer(f"{low:g} to {high:g}", {"scale": [low, high]})
    return {"scale": scale}, [
        Doubt(f"Which scale are the grades on? They run from {seen_ends}.", (usual,), usual)
    ]


def lines_of_mapping(lines: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """Lines such as `item=Request`, `fixed.rater=Ada` or `labels=Poor < Fair < Good` as a mapping."""
    found: dict[str, Any] = {}
    for key, value in lines:
        first, _, second = key.partition(".")
        if second:
            found.setdefault(first, {})[second] = _number_or_text(value)
        elif first == "labels" and "<" in value:
            found[first] = {word.strip(): number for number, word in enumerate(value.split("<"), start=1)}
        elif first == "scale":
            ends = re.findall(r"-?\d+(?:\.\d+)?", value.replace(" to ", " "))
            found[first] = [int(each) if "." not in each else float(each) for each in ends]
        elif first in _LISTS or (first == "item" and "," in value):
            found[first] = [each.strip() for each in value.split(",")]
        else:
            found[first] = _number_or_text(value) if first in ("skip_rows", "header_rows") else value
    return found


def _number_or_text(value: str) -> Any:
    return int(value) if value.isdecimal() and len(value) < 10 else value
