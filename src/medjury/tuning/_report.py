"""The report of a tuning, and reading its lineage: what was found and tried, in words, tables and the texts."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from medjury.foundation.errors import MedjuryError
from medjury.foundation.screen import screen_columns
from medjury.instruments import Instrument, load_instrument
from medjury.statistics import Printable, shown, text_table
from medjury.store.runs import TuningManifest, files
from medjury.tuning._lineage import Ancestor, Lineage
from medjury.tuning._plan import Preparation, split_lines
from medjury.tuning._prompt_texts import editable_texts
from medjury.tuning._result import TuningResult


def report_text(made: Preparation, result: TuningResult, ancestors: Sequence[Ancestor]) -> str:
    """The whole page."""
    parts = [
        f"# Tuning of {made.study.name}: {made.judge.name}, by {made.part.way}",
        "\n".join(f"- {line}" for line in result.findings()),
        "## Cases",
        "\n".join(split_lines(made)),
        "Tuning has touched every training and validation case: no study may validate a judge on them.",
    ]
    if result.held_out is not None:
        rows = [_held_out_row(each.as_dict(), made.objective.name) for each in result.held_out.rows]
        parts += ["## Held-out cases", table(rows), _about(made)]
    if result.models is not None:
        rows = [
            {"judge": each.rater, "dimension": each.dimension, "statistic": each.statistic,
             "mean": shown(each.mean), "SD": shown(each.sd), "runs": len(each.values), "n": each.n}
            for each in result.models.rows
        ]  # fmt: skip
        parts += ["## The tuned prompt with other models", table(rows)]
    if result.curve:
        parts += [
            "## Learning curve",
            table([{name: shown(value) for name, value in each.as_dict().items()} for each in result.curve]),
        ]
    parts += ["## Lineage", table(lineage_rows(ancestors))]
    if result.found is not None and result.changed:
        parts += ["## What changed", difference(texts_of(result.found.start), texts_of(result.found.best))]
    return "\n\n".join(part for part in parts if part) + "\n"


def lineage_rows(ancestors: Sequence[Ancestor]) -> list[Mapping[str, Printable]]:
    return [
        {
            "candidate": "" if each.number is None else each.number,
            "hash": each.hash,
            "parent": ", ".join(each.parents),
            "changed": ", ".join(each.changed),
            "reward on its misses": ""
            if each.before is None
            else f"{shown(each.before)} -> {shown(each.after)}",
            "validation": shown(each.whole) if each.number is not None else "",
            "status": each.status if not each.why else f"{each.status}: {each.why}",
            "calls": each.calls,
            "cost": shown(each.cost),
        }
        for each in ancestors
    ]


def difference(before: Mapping[str, str], after: Mapping[str, str]) -> str:
    """What changed between two sets of texts, line by line."""
    lines: list[str] = []
    for name in dict.fromkeys([*before, *after]):
        one, two = before.get(name, ""), after.get(name, "")
        if one != two:
            lines += difflib.unified_diff(
                one.splitlines(), two.splitlines(), f"{name} (before)", f"{name} (after)", lineterm="", n=2
            )
    return "```diff\n" + "\n".join(lines) + "\n```" if lines else "Nothing changed."


def table(rows: Iterable[Mapping[str, Printable]]) -> str:
    """Rows as a Markdown table."""
    listed = list(rows)
    if not listed:
        return "None."
    names = list(listed[0])
    head = [f"| {' | '.join(names)} |", f"|{'---|' * len(names)}"]
    return "\n".join(
        [*head, *(f"| {' | '.join(str(row[name]).replace('|', '/') for name in names)} |" for row in listed)]
    )


def _held_out_row(row: Mapping[str, Printable], objective: str) -> dict[str, Printable]:
    interval = "" if row["low"] is None else f"{shown(row['low'])} to {shown(row['high'])}"
    return {
        "rater": row["rater"], "dimension": row["dimension"] or "all",
        "statistic": objective if row["statistic"] == "objective" else row["statistic"],
        "value": shown(row["value"]), "95 % interval": interval, "n": row["n"], "unscored": row["unscored"],
    }  # fmt: skip


def _about(made: Preparation) -> str:
    return (
        f"The objective is {made.objective.name}: the same number chose among prompts on the validation cases. "
        "Intervals resample whole groups "
        f"({made.part.resamples:,} resamples); with few groups there is none. Clinicians are compared with a "
        "label that their own labels formed, which flatters them."
    )


def texts_of(instrument: Instrument) -> dict[str, str]:
    """All that tuning may change of an instrument, by name."""
    examples = {
        f"example {number}": "\n".join([*each.inputs.values(), str(dict(each.scores)), each.explanation])
        for number, each in enumerate(instrument.examples, start=1)
    }
    return editable_texts(instrument) | examples


# Reading a lineage: what was tried, and what changed from one text to another.


def read_lineage(folder: str | Path, *, feedback: bool = False) -> tuple[str, list[dict[str, Any]]]:
    """The lineage of a tuning folder as a table, in Markdown or as wide as the screen, and as data; what was
    said of the misses only with `feedback`, for it is clinical text."""
    found = _lineage(Path(folder)).ancestors
    rows = lineage_rows(found)
    lines = [table(rows) if screen_columns() is None else "\n".join(text_table(rows))]
    for each in found if feedback else ():
        words = "\n".join(f"- {line}" for line in each.feedback)
        lines.append(f"{each.hash or 'refused'} ({each.status}), told:\n{words}" if words else "")
    told = [
        {name: value for name, value in each.content().items() if feedback or name != "feedback"}
        for each in found
    ]
    return "\n\n".join(line for line in lines if line), told


def prompt_difference(first: str, second: str | None = None, third: str | None = None) -> str:
    """What changed: between two ancestors of a tuning folder (the start and the best, where none is named), or
    between two instruments."""
    folder = Path(first)
    if (folder / files.TUNING).is_file():
        known = _lineage(folder).kept
        if not known:
            raise MedjuryError(f"{folder}: nothing was tried yet")
        one = _ancestor(known, second) if second is not None else known[0]
        two = _ancestor(known, third) if third is not None else _best(known)
        return difference(dict(one.texts), dict(two.texts))
    if second is None:
        raise MedjuryError(
            f"{first}: is not a tuning folder; name two instruments, or a folder of `medjury tune`"
        )
    return difference(texts_of(load_instrument(first)), texts_of(load_instrument(second)))


def _lineage(folder: Path) -> Lineage:
    TuningManifest.read(folder)  # says what is wrong where it is no tuning folder
    return Lineage.open(folder, "")


def _best(known: Sequence[Ancestor]) -> Ancestor:
    """The best by the validation cases; the earliest of equals."""
    return max(
        known, key=lambda each: (float("-inf") if each.whole is None else each.whole, -(each.number or 0))
    )


def _ancestor(known: Sequence[Ancestor], name: str) -> Ancestor:
    for each in known:
        if name in (str(each.number), each.hash):
            return each
    listed = ", ".join(f"{each.number} ({each.hash})" for each in known)
    raise MedjuryError(f"there is no ancestor {name!r}; there are {listed}")
