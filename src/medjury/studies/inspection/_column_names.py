"""Which column is what, as far as names and cells tell: a mapping to begin with, never one to trust unread."""

from __future__ import annotations

import itertools
import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from medjury.tables import CASE_PARTS as _PARTS

CASE_PARTS = frozenset(_PARTS) - {"language"}  # which may be what is graded

_NAMES = {
    "item": ("item", "item_id", "case", "case_id", "caseid", "case_code", "record_id", "note_id", "sample_id",
             "conversation_id", "convid", "encounter_id", "study_id", "doc_id", "summary_id", "id"),
    "rater": ("rater", "rater_id", "reviewer", "reviewer_id", "annotator", "clinician", "evaluator", "judge",
              "physician", "grader", "assessor", "recipientemail", "your name", "email address", "user"),
    "system": ("system", "model", "vendor", "arm"),
    "dimension": ("dimension", "criterion", "metric", "aspect", "question"),
    "score": ("score", "rating", "grade", "value"),
    "seconds": ("seconds", "lead_time", "duration (in seconds)"),
    "repeat": ("repeat", "repetition"),
    "probability": ("probability", "inclusion_probability"),
}  # fmt: skip
# Whole words alone: David and Ingrid are raters, timeliness and sentiment are graded.
_NEVER_SCORES = re.compile(
    r"redcap_.*|.*_complete|age|sex|status|progress|(.*[\W_])?(ids?|dates?|times?|timestamp|datetime|duration)([\W_].*)?|"
    r"(case|item|record|patient|user|task|doc|note|sample|annotation|annotator|study|conv|encounter|rater|row)id",
    re.I,
)
_NUMBER = re.compile(r"-?\d+([.,]\d+)?")
_HIGHEST = 100  # of what is no grade of a short scale: percent
_MOST_GRADES = 12  # a scale has few grades; a column with more different numbers is something else
_GRID = re.compile(
    r"(?P<before>.*?)(?P<item>\d+)(?P<between>\D*?[\s_.\[(-]+)(?P<dimension>[^\])]+)(?P<after>[\])]?)"
)


def proposal(header: Sequence[str], rows: Sequence[Sequence[Any]]) -> dict[str, Any]:
    """A mapping for the table; it lacks what neither names nor cells tell."""
    found: dict[str, Any] = {}
    lower = {name.casefold(): name for name in header if name}
    for field, names in _NAMES.items():
        known = next(
            (lower[name] for name in names if name in lower and lower[name] not in found.values()), None
        )
        if known is not None:
            found[field] = known
    columns = {name: [row[at] for row in rows] for at, name in enumerate(header) if name}
    free = {name: cells for name, cells in columns.items() if name not in found.values()}
    graded = [name for name in free if _is_graded(name, free[name])]
    if not graded and "item" in found and "score" not in found:
        graded = [name for name in free if is_measured(name, free[name])]
    taken = next((key for name in columns for cell in columns[name] if (key := _taken(cell))), None)
    if objects := _objects(columns):
        return {
            name: column for name, column in found.items() if name not in ("score", "dimension")
        } | objects
    if "score" in found and "dimension" in found:
        return found
    if "score" in found and not graded and taken is None:
        return {**found, "fixed": {"dimension": "score"}}
    if "score" in found:
        graded = [found["score"], *graded]  # one dimension of several
    for field in ("score", "dimension"):
        found.pop(field, None)
    if taken is not None:
        graded = [name for name in columns if any(_taken(cell) for cell in columns[name])]
        found["take"] = taken
    if (grid := _grid(graded)) is not None and "rater" in found:
        found.pop("item", None)
        found["columns"] = grid
    elif graded:
        found["dimensions"] = {name: name for name in graded}
    return found


def _is_graded(name: str, cells: Sequence[Any]) -> bool:
    if _NEVER_SCORES.fullmatch(name) or name.casefold() in CASE_PARTS:
        return False
    filled = [str(cell).strip() for cell in cells if cell is not None and str(cell).strip()]
    numbers = [each for each in filled if _NUMBER.fullmatch(each)]
    # A cell that says N/A does not make its column one of texts.
    return bool(numbers) and 2 * len(numbers) >= len(filled) and len(set(numbers)) <= _MOST_GRADES


def is_measured(name: str, cells: Sequence[Any]) -> bool:
    """True where numbers are no grades of a short scale, and may be shares, percent or means of grades."""
    if _NEVER_SCORES.fullmatch(name) or name.casefold() in CASE_PARTS:
        return False
    filled = [str(cell).strip() for cell in cells if cell is not None and str(cell).strip()]
    numbers = [_number(each) for each in filled if _NUMBER.fullmatch(each)]
    return 2 * len(numbers) >= len(filled) > 0 and all(0 <= each <= _HIGHEST for each in numbers)


def _number(text: str) -> float:
    return float(text.replace(",", "."))


def _objects(columns: Mapping[str, Sequence[Any]]) -> dict[str, Any]:
    """The mapping of columns whose cells are JSON objects of scores, such as `{"accuracy": 4, "safety": 5}`."""
    found: dict[str, dict[str, None]] = {}
    for name, cells in columns.items():
        keys: dict[str, None] = {}
        for cell in cells:
            if (scores := _object(cell)) is not None:
                keys |= dict.fromkeys(scores)
        if keys:
            found[name] = keys
    if not found:
        return {}
    mapping: dict[str, Any] = {
        "cells": "json", "dimensions": list(dict.fromkeys(key for keys in found.values() for key in keys))
    }  # fmt: skip
    if len(found) == 1:
        return mapping | {"score": next(iter(found))}
    before, after = _start(list(found)), _start([name[::-1] for name in found])[::-1]
    return mapping | {"columns": f"{before}{{system}}{after}"}


def _start(names: Sequence[str]) -> str:
    """What all the names begin with."""
    same = itertools.takewhile(lambda letters: len(set(letters)) == 1, zip(*names, strict=False))
    return "".join(letters[0] for letters in same)


def _object(cell: Any) -> list[str] | None:
    """The fields of a JSON object that hold numbers; None where the cell is not such an object."""
    if not (isinstance(cell, str) and cell.lstrip().startswith("{")):
        return None
    try:
        value = json.loads(cell)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict):
        return None
    return [
        key for key, score in value.items() if isinstance(score, int | float) and not isinstance(score, bool)
    ]


def _taken(cell: Any) -> str | None:
    """The field of the one answer in a cell such as `[{"rating": 4}]`."""
    found = re.match(r'\s*\[\{"(rating|number)"', cell) if isinstance(cell, str) else None
    return found[1] if found else None


def _grid(columns: Sequence[str]) -> str | None:
    """The pattern of columns that are one for each item and question, such as `Case 12 [Accuracy]`."""
    shapes: Counter[str] = Counter()
    items: dict[str, set[str]] = {}
    for name in columns:
        if (match := _GRID.fullmatch(name)) is not None:
            shape = f"{match['before']}{{item}}{match['between']}{{dimension}}{match['after']}"
            shapes[shape] += 1
            items.setdefault(shape, set()).add(match["item"])
    if not shapes:
        return None
    shape, count = shapes.most_common(1)[0]
    return shape if count >= 4 and len(items[shape]) >= 2 and 2 * count > len(columns) else None
