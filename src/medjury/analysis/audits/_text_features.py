"""What a judge may reward in a text besides what it says: length, repetition, lists, headings, bold type."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from medjury.foundation.errors import MedjuryError
from medjury.intake.cases import Case

if TYPE_CHECKING:
    import polars

_WORD = re.compile(r"\w+(?:['’]\w+)*")
_LIST_ITEM = re.compile(r"^\s*(?:[-*•–]|\d+[.)])\s+\S")
_HEADING = re.compile(r"^\s*(?:#{1,6}\s+\S|\*\*[^*]+\*\*:?\s*$)")
_BOLD = re.compile(r"\*\*[^*\n]+\*\*|__[^_\n]+__")

FEATURES = ("length", "repetition", "lists", "headings", "bold")


@dataclass(frozen=True, slots=True)
class TextFeatures:
    """Of one answer: `length` in words; `repetition`, the share of words that stood there before; `lists` and
    `headings`, shares of the lines that are not empty; `bold`, bold stretches per 100 words."""

    length: float
    repetition: float
    lists: float
    headings: float
    bold: float


def text_features(text: str) -> TextFeatures | None:
    """The features of a text, or None where it has no word.

    >>> found = text_features("# Plan\\n- rest\\n- rest and fluids")
    >>> found.length, round(found.lists, 2), round(found.headings, 2), round(found.repetition, 2)
    (5.0, 0.67, 0.33, 0.2)
    """
    words = [word.casefold() for word in _WORD.findall(text)]
    if not words:
        return None
    lines = [line for line in text.splitlines() if line.strip()]
    return TextFeatures(
        length=float(len(words)),
        repetition=1.0 - len(set(words)) / len(words),
        lists=sum(bool(_LIST_ITEM.match(line)) for line in lines) / len(lines),
        headings=sum(bool(_HEADING.match(line)) for line in lines) / len(lines),
        bold=100.0 * len(_BOLD.findall(text)) / len(words),
    )


def case_features(
    cases: Iterable[Case], groups: Sequence[str] = (), *, notes: bool = False
) -> tuple[polars.DataFrame, dict[str, dict[str, str]]]:
    """A table `item, system` and the features of every case's candidate answer (answers without words are absent),
    and of each of `groups` the value that a case's metadata give each item. With `notes` there is also
    `note_length`, the words of the notes and texts that the answer was made from (null where there are none).

    Only numbers and groups leave the cases, which are gone through once: no text is kept.
    """
    import polars as pl

    rows: list[tuple[object, ...]] = []
    values: dict[str, dict[str, str]] = {}
    for case in cases:
        found = text_features(case.candidate or "")
        if found is not None:
            own = (getattr(found, name) for name in FEATURES)
            rows.append((case.id, case.system, *own, *((_note_length(case),) if notes else ())))
        for name in groups:
            value = case.metadata.get(name)
            if value is not None and values.setdefault(name, {}).setdefault(case.id, str(value)) != str(
                value
            ):
                raise MedjuryError(f"the cases of item {case.id!r} have different values of {name}.")
    numbers = (*FEATURES, "note_length") if notes else FEATURES
    schema = {"item": pl.String, "system": pl.String} | dict.fromkeys(numbers, pl.Float64)
    return pl.DataFrame(rows, schema=schema, orient="row"), values


def _note_length(case: Case) -> float | None:
    texts = (*(note.text for note in case.notes), *case.texts.values())
    words = sum(len(_WORD.findall(text)) for text in texts)
    return float(words) if words else None
