"""Anchors: sentences that both sides have word for word and once only. They cut a long problem into short ones."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence

LEAST_WORDS = 5  # shorter turns ("yes, that's fine") may be said twice and recognised once


def stretches(said: Sequence[tuple[str, ...]], heard: Sequence[tuple[str, ...]]) -> list[tuple[range, range]]:
    """The stretches between anchors, in order; an anchor is a stretch of its own. A gold turn equal to a segment
    leaves neither with a word to share with a neighbour, so that cutting there loses no better reading."""
    cuts = _in_order(_anchors(said, heard))
    parts: list[tuple[range, range]] = []
    row = column = 0
    for anchor_row, anchor_column in cuts:
        parts.append((range(row, anchor_row), range(column, anchor_column)))
        parts.append((range(anchor_row, anchor_row + 1), range(anchor_column, anchor_column + 1)))
        row, column = anchor_row + 1, anchor_column + 1
    parts.append((range(row, len(said)), range(column, len(heard))))
    return [part for part in parts if part[0] or part[1]]


def _anchors(said: Sequence[tuple[str, ...]], heard: Sequence[tuple[str, ...]]) -> list[tuple[int, int]]:
    times_said, times_heard = Counter(said), Counter(heard)
    places = {words: column for column, words in enumerate(heard)}
    return [
        (row, places[words])
        for row, words in enumerate(said)
        if len(words) >= LEAST_WORDS and times_said[words] == times_heard[words] == 1
    ]


def _in_order(anchors: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The longest run of anchors that keeps the order on both sides (patience sorting)."""
    tails: list[int] = []  # the least last column of a run of each length
    last: list[int] = []  # the anchor that ends it
    before: list[int] = []
    for number, (_, column) in enumerate(anchors):
        length = bisect_left(tails, column)
        before.append(last[length - 1] if length else -1)
        tails[length : length + 1] = [column]
        last[length : length + 1] = [number]
    chosen: list[tuple[int, int]] = []
    number = last[-1] if last else -1
    while number >= 0:
        chosen.append(anchors[number])
        number = before[number]
    return chosen[::-1]
