"""One complete mapping for a table of ratings: which column is what, who rated, what its grades mean and
which scale they are on. What nobody can know from the file is a question with a default, or one missing fact."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from medjury.intake import is_blank, shown_of
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
from medjury.studies.inspection._seen import Seen
from medjury.tables import Answer, Doubt

_LISTS = ("dimensions", "raters", "items", "systems", "na", "blank", "fill_down")
_WIDE = ("dimensions", "raters", "items", "systems", "columns", "score")


Family = Literal["ratings", "cases", "transcript", "run", "store", "study", "unknown"]


@dataclass(frozen=True, slots=True)
class Kind:
    """What a file is: its family, its name in words, the mapping that it needs, what of that is a guess (each with
    its default, which the mapping has), the one fact that is missing, and whether it may be read as the other of
    ratings and cases."""

    family: Family
    name: str
    mapping: dict[str, Any] = field(default_factory=dict)
    doubts: tuple[Doubt, ...] = ()
    missing: str = ""
    other: Family | None = None
    columns: Mapping[str, Any] = field(default_factory=dict)  # what names and cells of the columns told alone


# What the grades mean, which scale they are on, who gave them: what the columns' names do not tell.


def propose(path: Path, seen: Seen, stated: Mapping[str, Any]) -> Kind:
    """The whole mapping of a table of ratings; `stated` are lines of it that a person gave."""
    header = [name if name or at else "Unnamed: 0" for at, name in enumerate(seen.header)]
    taken = {str(each) for value in stated.values() for each in each_of(value)}
    free = [at for at, name in enumerate(header) if name and name not in taken]
    found = proposal([header[at] for at in free], [[row[at] for at in free] for row in seen.rows])
    return replace(completed(path, seen, _merged(found, stated), stated), columns=found)


def completed(path: Path, seen: Seen, mapping: dict[str, Any], stated: Mapping[str, Any]) -> Kind:
    """A mapping of columns, with all that their cells tell: grades, scale, gaps, and who rated."""
    how = {name: value for name, value in seen.how.items() if name != "sheets"}
    doubts: list[Doubt] = []
    mapping, asked = _with_who(path, seen, mapping, stated)
    doubts += asked
    if "{item}" not in str(mapping.get("columns")) and not mapping.keys() & {"item", "items"}:
        names = ", ".join(name for name in seen.header if name)
        return _lacking(how | mapping, f"which column names the case? It has {names}: say --map item=COLUMN")
    scored = score_cells(seen, mapping)
    again = [name for name in scored if (found := re.fullmatch(r"(.+)\.\d", name)) and found[1] in scored]
    if again:
        return _lacking(
            how | mapping,
            f"whose grades are in {', '.join(again)}? Columns of the same name were numbered: call them in the "
            "file by their rater, such as Accuracy Ada",
        )
    if not scored:
        names = ", ".join(name for name in seen.header if name)
        return _lacking(how | mapping, f"which columns hold grades? It has {names}: say --map dimensions=A,B "
                        "(or raters=A,B, where each column is a rater)")  # fmt: skip
    mapping |= _left_out(seen, mapping)
    if "item" not in stated and (apart := _apart(seen, mapping, scored)) is not None:
        mapping |= apart.suggested.sets if apart.suggested else {}
        if "dimension" in mapping and (fixed := mapping.get("fixed")):
            mapping["fixed"] = {name: each for name, each in fixed.items() if name != "dimension"}
        doubts.append(apart)
    if "items" in mapping and "items" not in stated:
        columns = list(mapping["items"].values())
        own = Answer("a case", {"items": columns})
        doubts.append(Doubt(f"What is each of the columns {', '.join(columns[:6])}?",
                            (own, Answer("a dimension", {"dimensions": columns})), own))  # fmt: skip
    if "without" in mapping:
        seen = _without(seen, mapping["without"])
        scored = score_cells(seen, mapping)
    mapping, asked, missing = _with_grades(seen, mapping, scored, stated)
    if missing:
        return _lacking(how | mapping, missing)
    if "scale" not in stated:
        scale, asked_scale = _scale(seen, mapping, scored)
        mapping |= scale
        asked += asked_scale
    order = [*how, *mapping]
    whole = {**mapping, **how}
    return Kind("ratings", "", {name: whole[name] for name in order}, (*doubts, *asked))


def _lacking(mapping: dict[str, Any], missing: str) -> Kind:
    return Kind("ratings", "", mapping, missing=missing)


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


def each_of(value: Any) -> list[Any]:
    """The names in a line of a mapping: of one column, a list, or by our own names."""
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
    into_cells = str(mapping.get("columns", "")).partition(".")[0] in seen.header
    if mapping.get("cells") == "json" or mapping.get("take") or into_cells:
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
    found: dict[str, Any] = {}
    named = [(item, cells)] if cells else []
    if "items" in mapping:  # rows of means, below the raters
        named += [(name, list(map(shown_of, seen.cells(str(name))))) for key in ("rater", "dimension")
                  if (name := mapping.get(key))]  # fmt: skip
    for name, texts in named:
        if made := sorted({text for text in texts if text and made_of_others(text)}):
            found.setdefault("without", {})[name] = made
    if not cells:
        return found
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
    kind = mapping.get("rater_kind")
    judges = kind == "judge" or isinstance(kind, Mapping) or "rater_kind" in map(str.casefold, seen.header)
    if judges and "na" not in stated:
        # A judge was asked: what is no grade is a failure, and never excused by a guess.
        grades = {
            name: replace(each, not_applicable=frozenset(), not_rated=each.not_applicable | each.not_rated)
            for name, each in grades.items()
        }
    for key, name in (("na", "not_applicable"), ("blank", "not_rated")):
        codes = sorted({code for each in grades.values() for code in getattr(each, name)})
        if codes and key not in stated:
            mapping = {**mapping, key: codes}
            meant = name.replace("_", " ")
            if key == "blank" and judges:
                meant = "unscored" if kind == "judge" else "not rated, and of a judge unscored"
            own = Answer(meant, {key: codes})
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
