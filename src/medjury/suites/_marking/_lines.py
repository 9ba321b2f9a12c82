"""Lines that are the answer: a letter alone, a letter with its text, a text alone, a choice with a tick."""

from __future__ import annotations

import re
from typing import NamedTuple

from medjury.suites._marking._choices import Choices, Named, folded

_BULLET = re.compile(r"^[\s>#*_`~•·|\-–—+=]+(?=\S)")
_CLOSING = re.compile(r"[\s*_`~.!|\"'”)\]]+$")
_TICK = re.compile(
    r"[✓✔✅☑🟢👍]|\[x\]|\((?:the\s+)?(?:correct|right|answer)(?:\s+answer)?\)|(?:←|<-|<=)\s*(?:\w+\s+)?(?:correct|answer)|[-–—:]\s*(?:correct|right|true)\s*[.!]?$|"
    r"^\W*\w[).:]\s*(?:correct|right|true|yes)\W*$",
    re.IGNORECASE,
)
_REJECTS = re.compile(
    r"[\s,(]*(?:rather\s+than|instead\s+of|(?:and\s+|but\s+)?not|over|as\s+opposed\s+to)(?!\w)(?:\s+\S+){1,5}$",
    re.IGNORECASE,
)
_LABELS = re.compile(r"(?<!\w)[A-Z](?:[):](?=\s|\d)|\.\s+(?=[A-Z0-9]))")
_CROSS = re.compile(r"[✗✘❌☒🔴]|\b(?:incorrect|wrong|false|not\s+(?:correct|right))\b", re.IGNORECASE)


class Line(NamedTuple):
    """A line that names a choice: where, which, and whether it holds no more than that choice."""

    start: int
    end: int
    named: Named
    whole: bool
    bare: bool  # a letter without any text
    ticked: bool


def lone_lines(text: str, choices: Choices) -> list[Line]:
    """The lines that stand for an answer. Those that restate the choices one after the other do not."""
    lines = _lines(text, choices)
    if ticked := [line for line in lines if line.ticked]:
        return ticked
    listed = _listing(lines, choices)
    return [line for line in lines if line not in listed]


def listed_spans(text: str, choices: Choices) -> list[tuple[int, int]]:
    """Where the lines lie that restate the choices one after the other."""
    return [(line.start, line.end) for line in _listing(_lines(text, choices), choices)]


def _lines(text: str, choices: Choices) -> list[Line]:
    found: list[Line] = []
    at = 0
    for raw in text.split("\n"):
        start, at = at, at + len(raw) + 1
        ticked = _TICK.search(raw) is not None and _CROSS.search(raw) is None
        words = re.sub(r"[✓✔✅☑🟢👍✗✘❌☒🔴]|\[[xX ]\](?!\])", " ", raw)
        words = _CLOSING.sub("", _BULLET.sub("", words.strip())).strip()
        if not words or len(words) > 600:
            continue
        line = _one(words, choices)
        if line is not None:
            found.append(Line(start, start + len(raw), *line, ticked))
    return found


def _one(words: str, choices: Choices) -> tuple[Named, bool, bool] | None:
    words = re.sub(r"^A\s*:\s*(?=[(\[]?[A-Z][)\]]?$)", "", words)  # Q: … A: C
    named = choices.meant_by(words)
    if not named.keys and not named.unknown:
        return None
    rest = folded(named.rest)
    if not rest or _REJECTS.match(named.rest):
        letters = re.fullmatch(
            r"[\W_]*(?:(?:option|choice|answer|letter)\s+)?[\W_]*\w[\W_]*", words, re.IGNORECASE
        )
        return named, True, letters is not None
    labelled = re.match(r"[(\[]?[^\W\d_][)\].:]", words) is not None and len(named.keys) == 1
    labelled = labelled and not _LABELS.search(named.rest)
    return (named, False, False) if labelled else None


def _listing(lines: list[Line], choices: Choices) -> list[Line]:
    """The runs of lines with text whose letters follow one another: the options as the question had them."""
    order = {key: place for place, key in enumerate(choices.texts)}
    runs: list[list[Line]] = []
    for line in lines:
        if line.bare or len(line.named.keys) != 1:
            continue
        key = line.named.keys[0]
        if runs and order[key] > order[runs[-1][-1].named.keys[0]]:
            runs[-1].append(line)
        else:
            runs.append([line])
    return [line for run in runs if len(run) > 1 for line in run]
