"""What one text has that another has not, word by word."""

from __future__ import annotations

import re
from collections.abc import Callable
from difflib import SequenceMatcher

Parts = list[tuple[str, bool]]  # words, and whether the other text lacks them
_WORDS = re.compile(r"\s*\S+|\s+$")


def word_difference(
    left: str, right: str, *, plain: Callable[[str], str] = str, most: int = 4_000
) -> tuple[Parts, Parts] | None:
    """Both texts, with the words marked that the other has not; words are alike where `plain` makes them so. None
    where more than `most` words differ: marks would take longer than a reader waits."""
    one, two = _WORDS.findall(left), _WORDS.findall(right)
    plain_one, plain_two = [plain(each.strip()) for each in one], [plain(each.strip()) for each in two]
    head = 0
    while head < min(len(one), len(two)) and plain_one[head] == plain_two[head]:
        head += 1
    tail = 0
    while tail < min(len(one), len(two)) - head and plain_one[-1 - tail] == plain_two[-1 - tail]:
        tail += 1
    first, second = plain_one[head : len(one) - tail], plain_two[head : len(two) - tail]
    if max(len(first), len(second)) > most:
        return None
    marked_one, marked_two = [False] * len(one), [False] * len(two)
    for kind, start, end, begin, stop in SequenceMatcher(None, first, second, autojunk=False).get_opcodes():
        if kind != "equal":
            marked_one[head + start : head + end] = [True] * (end - start)
            marked_two[head + begin : head + stop] = [True] * (stop - begin)
    return _joined(one, marked_one), _joined(two, marked_two)


def _joined(words: list[str], marked: list[bool]) -> Parts:
    """Neighbours of one kind together; the space before what differs is not part of it."""
    parts: Parts = []
    for word, differs in zip(words, marked, strict=True):
        if differs and not (parts and parts[-1][1]):
            space = word[: len(word) - len(word.lstrip())]
            parts += [(space, False), (word.lstrip(), True)]
        elif parts and parts[-1][1] == differs:
            parts[-1] = (parts[-1][0] + word, differs)
        else:
            parts.append((word, differs))
    return [each for each in parts if each[0]]
