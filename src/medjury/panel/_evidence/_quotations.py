"""Quotations: which words a rater quotes, and where they stand in the texts that were judged.

A quotation stands where its very words do, whatever their case and the space between them. One that stands nowhere
is said to: a rater who quotes what is not there is what a reader must see first.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise

from medjury.texts.metrics import Mark

# Words between quotation marks in an explanation; three words or more, for one or two are a term and no quotation.
_MARKED = re.compile(r"“([^“”]{8,600})”|\"([^\"\n]{8,600})\"|«([^«»]{8,600})»")
_FEWEST_WORDS = 3
_WORD = re.compile(r"\S+")
# Two signs for one thing: quotation marks, dashes, and the micro sign beside the Greek letter.
_PLAIN = str.maketrans("‘’“”–—−‑µ", "''\"\"----μ")
_EDGE = " \t\r\n\"'“”‘’«»….,;:"
_MOST = 200  # quotations of one answer
# Where several lie over one another, the first of these counts.
_TONES = ("contradicted", "", "not-verified", "supported", "not-addressed")
SIGNS = 60_000  # of one text that a page shows; the rest is on pages of its own


@dataclass(frozen=True, slots=True)
class Quotation:
    """Words and whose they are; `of` is the text that they are said to be from, where that is known."""

    words: str
    by: str
    of: str = ""
    tone: str = ""  # what became of it: supported, contradicted, not-addressed; none for plain words


@dataclass(frozen=True, slots=True)
class Found:
    """A quotation with its place: the number of the text and the signs of it; or none. `where` names the text,
    `link` leads there where that is not on the same page."""

    quotation: Quotation
    number: int
    text: int | None = None
    start: int = 0
    end: int = 0
    where: str = ""
    link: str = ""


@dataclass(frozen=True)
class Quotable:
    """A text, in which words are found whatever their case and the space between them."""

    name: str
    text: str = field(repr=False)
    title: str = ""

    def place(self, words: str) -> tuple[int, int] | None:
        wanted = words.strip(_EDGE)
        if not wanted:
            return None
        start = self.text.find(wanted)
        if start >= 0:
            return start, start + len(wanted)
        folded, begins, places = self._folded
        needle = " ".join(_lower(wanted).split())
        at = folded.find(needle)
        if at < 0:
            return None
        first = bisect_right(begins, at) - 1
        last = bisect_right(begins, at + len(needle) - 1) - 1
        return places[first] + at - begins[first], places[last] + at + len(needle) - begins[last]

    @cached_property
    def _folded(self) -> tuple[str, list[int], list[int]]:
        """The text in small letters with single spaces, and where each of its words begins there and here."""
        lower = _lower(self.text)
        words, begins, places, length = [], [], [], 0
        for found in _WORD.finditer(lower):
            words.append(found.group())
            begins.append(length)
            places.append(found.start())
            length += len(found.group()) + 1
        return " ".join(words), begins, places


def quoted_in(explanation: str, by: str) -> list[Quotation]:
    """The quotations in an explanation: what stands between quotation marks there."""
    found = []
    for match in _MARKED.finditer(explanation):
        words = next(filter(None, match.groups()))
        if len(words.split()) >= _FEWEST_WORDS:
            found.append(Quotation(words.strip(), by))
    return found


def locate(quotations: Iterable[Quotation], texts: Sequence[Quotable], address: str = "") -> list[Found]:
    """Each quotation once for whoever gave it, with its first place: in the text that it names, else in any. The
    pages of long texts are below `address`."""
    found: list[Found] = []
    known = {each.name: number for number, each in enumerate(texts)}
    for number, quotation in enumerate(list(dict.fromkeys(quotations))[:_MOST], start=1):
        first = known.get(quotation.of)
        order = [*([] if first is None else [first]), *(each for each in range(len(texts)) if each != first)]
        for text in order:
            place = texts[text].place(quotation.words)
            if place is not None:
                beyond = f"{address}/text/{text}?from={max(0, place[0] - 500)}#q{number}"
                link = beyond if place[0] >= SIGNS else ""
                found.append(Found(quotation, number, text, *place, texts[text].title, link))
                break
        else:
            found.append(Found(quotation, number))
    return found


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a text: quoted by the quotations of these `numbers`, or by none. `begins` are those that begin
    here, for links to find."""

    text: str
    numbers: tuple[int, ...] = ()
    begins: tuple[int, ...] = ()
    by: str = ""
    tone: str = ""
    differs: str = ""  # from the other text: a number, a side or a negation


def pieces(
    text: str, found: Iterable[Found], *, start: int = 0, end: int | None = None, marks: Sequence[Mark] = ()
) -> list[Piece]:
    """A text (its signs from `start` to `end`) cut where quotations and marks begin and end."""
    end = len(text) if end is None else min(end, len(text))
    here = [each for each in found if each.start < end and each.end > start]
    ends = [cut for each in here for cut in (each.start, each.end)]
    ends += [cut for each in marks for cut in (each.start, each.end)]
    cuts = sorted({start, end, *(min(max(cut, start), end) for cut in ends)})
    made = []
    for left, right in pairwise(cuts):
        over = [each for each in here if each.start < right and each.end > left]
        made.append(
            Piece(
                text[left:right],
                tuple(each.number for each in over),
                tuple(each.number for each in over if max(each.start, start) == left),
                ", ".join(dict.fromkeys(each.quotation.by for each in over)),
                min((each.quotation.tone for each in over), key=_TONES.index, default=""),
                next((each.kind for each in marks if each.start < right and each.end > left), ""),
            )
        )
    return made


def _lower(text: str) -> str:
    """Small letters and plain marks, sign for sign: the few that become two would move every place behind them."""
    made = text.lower()
    if len(made) != len(text):
        made = "".join(one if len(one := sign.lower()) == 1 else sign for sign in text)
    return made.translate(_PLAIN)
