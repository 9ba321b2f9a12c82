"""Reading a lineage: what was tried, and what changed from one text to another."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from medjury.foundation.errors import MedjuryError
from medjury.foundation.screen import screen_columns
from medjury.instruments import load_instrument
from medjury.statistics import text_table
from medjury.store.runs import TuningManifest, files
from medjury.tuning._report import difference, lineage_rows, table, texts_of
from medjury.tuning._search.lineage import Ancestor, Lineage


def lineage_content(folder: str | Path, *, feedback: bool = False) -> list[dict[str, Any]]:
    """The lineage of a tuning folder; what was said of the misses only with `feedback`, for it is clinical text."""
    found = [each.content() for each in _lineage(Path(folder)).ancestors]
    return [{name: each[name] for name in each if feedback or name != "feedback"} for each in found]


def lineage_text(folder: str | Path, *, feedback: bool = False) -> str:
    """The lineage of a tuning folder as a table, in Markdown or as wide as the reader's screen; with `feedback`,
    what was said of the misses of each."""
    found = _lineage(Path(folder)).ancestors
    rows = lineage_rows(found)
    lines = [table(rows) if screen_columns() is None else "\n".join(text_table(rows))]
    for each in found if feedback else ():
        told = "\n".join(f"- {line}" for line in each.feedback)
        lines.append(f"{each.hash or 'refused'} ({each.status}), told:\n{told}" if told else "")
    return "\n\n".join(line for line in lines if line)


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
            f"{first}: is no tuning folder; name two instruments, or a folder of `medjury tune`"
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
