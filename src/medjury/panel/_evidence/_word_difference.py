"""What one text has that another has not, word by word."""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import SequenceMatcher

_WORDS = re.compile(r"\s*\S+|\s+$")
# Beyond so many words in the part that differs, marks would take longer than a reader waits.
_MOST_WORDS = 4_000


@dataclass(frozen=True, slots=True)
class Part:
    """Words that both have (`same`), or that only the one has."""

    text: str
    same: bool


@dataclass(frozen=True, slots=True)
class Difference:
    """Both texts in parts; `too_long` says that they are shown unmarked."""

    left: tuple[Part, ...]
    right: tuple[Part, ...]
    too_long: bool = False


def word_difference(left: str, right: str) -> Difference:
    """Both texts, with the words marked that the other has not."""
    one, two = _WORDS.findall(left), _WORDS.findall(right)
    plain_one, plain_two = [each.strip() for each in one], [each.strip() for each in two]
    head = 0
    while head < min(len(one), len(two)) and plain_one[head] == plain_two[head]:
        head += 1
    tail = 0
    while tail < min(len(one), len(two)) - head and plain_one[-1 - tail] == plain_two[-1 - tail]:
        tail += 1
    first, second = plain_one[head : len(one) - tail], plain_two[head : len(two) - tail]
    if max(len(first), len(second)) > _MOST_WORDS:
        return Difference((Part(left, True),), (Part(right, True),), True)
    same_one, same_two = [True] * len(one), [True] * len(two)
    for kind, start, end, begin, stop in SequenceMatcher(None, first, second, autojunk=False).get_opcodes():
        if kind != "equal":
            same_one[head + start : head + end] = [False] * (end - start)
            same_two[head + begin : head + stop] = [False] * (stop - begin)
    return Difference(_joined(one, same_one), _joined(two, same_two))


def _joined(words: list[str], same: list[bool]) -> tuple[Part, ...]:
    parts: list[Part] = []
    for word, alike in zip(words, same, strict=True):
        if parts and parts[-1].same == alike:
            parts[-1] = Part(parts[-1].text + word, alike)
        else:
            parts.append(Part(word, alike))
    return tuple(parts)
