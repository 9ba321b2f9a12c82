"""A mapping as a person checks it: which column is what, what is not used, and three ratings as they were read."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from typing import Any

from medjury.studies.inspection._guess import Guess
from medjury.tables import Panel

_WIDTH = 80
_LONGEST = 24


def shown(found: Guess, panel: Panel, mapping: Mapping[str, Any]) -> str:
    """The lines of one table, each at most 80 columns wide."""
    count = panel.frame["item"].n_unique()
    lines = [f"{found.title}: {found.kind.name}, {panel.frame.height:,} ratings of {count:,} cases"]
    lines += [_line(name, _words(value)) for name, value in mapping.items()]
    used = {str(each) for value in mapping.values() for each in _each(value)}
    unused = [name for name in found.columns if name not in used and name not in panel.frame.columns]
    if unused and not mapping.get("columns"):
        lines.append(_line("not used", ", ".join(unused)))
    lines += ["  three ratings, as they were read:", *(f"    {each}" for each in _samples(panel))]
    return "\n".join(lines)


def _line(name: str, words: str) -> str:
    start = f"  {name + ' ':<12}"
    return textwrap.fill(words, _WIDTH, initial_indent=start, subsequent_indent=" " * len(start))


def _words(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(str(k) if k == v else f"{k}: {v}" for k, v in value.items())
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def _each(value: Any) -> list[Any]:
    return (
        list(value.values()) if isinstance(value, Mapping) else value if isinstance(value, list) else [value]
    )


def _samples(panel: Panel) -> list[str]:
    """A rating of each of the first three cases, by another rater each time where there are several."""
    names = [
        name for name in ("item", "system", "rater", "dimension", "score") if name in panel.frame.columns
    ]
    found = []
    for place, (_, rows) in enumerate(panel.frame.select(names).group_by("item", maintain_order=True)):
        if place == 3:
            break
        row = rows.row(place % rows.height, named=True)
        parts = [f"{name} {_short(row[name])}" for name in names if row[name] not in (None, "")]
        found.append(", ".join(parts if row["score"] not in (None, "") else [*parts, "no score"]))
    return found


def _short(cell: object) -> str:
    text = " ".join(str(cell).split()).removesuffix(".0")
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
