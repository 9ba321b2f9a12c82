"""Finds the names of a site's own list, by whole words, in time that does not grow with the list."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise

from medjury.intake.cases._redaction.spans import Detector, Span

_WORD = re.compile(r"\w+(?:['’-]\w+)*")


_POSSESSIVE = ("'s", "’s", "'S", "’S")


def names_detector(names: Iterable[str], kind: str = "NAME") -> Detector:
    """Finds each name whatever the case and the spacing; "Jane Smith" is also found as "Smith, Jane"."""
    known: dict[str, set[tuple[str, ...]]] = {}
    for name in names:
        words = tuple(_words(name))
        for order in {words, (*words[-1:], *words[:-1])}:
            if order:
                known.setdefault(order[0], set()).add(order)
    longest_first = {first: sorted(found, key=len, reverse=True) for first, found in known.items()}

    def detect(text: str) -> Iterator[Span]:
        tokens = [(match.start(), match.end(), _plain(match.group())) for match in _WORD.finditer(text)]
        for place, (start, _, word) in enumerate(tokens):
            for name in longest_first.get(word, ()):
                following = tokens[place : place + len(name)]
                if tuple(each[2] for each in following) == name and _adjacent(text, following):
                    end = following[-1][1]
                    yield Span(start, end - 2 if text[end - 2 : end] in _POSSESSIVE else end, kind)
                    break

    return detect


def _words(name: str) -> Iterator[str]:
    for match in _WORD.finditer(name):
        yield _plain(match.group())


def _plain(word: str) -> str:
    word = word.casefold().replace("’", "'")
    return word.removesuffix("'s")


def _adjacent(text: str, tokens: list[tuple[int, int, str]]) -> bool:
    """Between two words of a name stand only blanks, a comma or a full stop: "Smith, Jane", "J. Smith"."""
    gaps = (text[left[1] : right[0]] for left, right in pairwise(tokens))
    return all(re.fullmatch(r"\s{1,5}|[.,]\s{0,5}", gap) for gap in gaps)
