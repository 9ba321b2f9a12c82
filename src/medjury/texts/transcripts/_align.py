"""The deterministic aligner: the cheapest way to read both transcripts in order, with merges and splits.

Every gold turn is missed or in a group, every segment spurious or in a group, and groups never cross. Reading a
group costs the words that must be deleted and inserted to turn one side into the other, without sounds of
hesitation; a turn left over costs all its words. The constants are in words too, so that they can be weighed
against evidence: see `_weights`.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median

from medjury.foundation.errors import MedjuryError
from medjury.texts.transcripts import _weights as weights
from medjury.texts.transcripts._alignment import Alignment
from medjury.texts.transcripts._repair import repair
from medjury.texts.transcripts._turn import Turn
from medjury.texts.transcripts._words import Common, comparable, letter_similarity, similarity

# Anchors: sentences that both sides have word for word and once only. They cut a long problem into short ones.

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


Words = Sequence[tuple[str, ...]]
MOST_CELLS = 1_000_000  # gold turns × segments between two anchors: seconds of work for ordinary speech
_CLOCK_PAIRS = 3  # fewer sure pairs than this do not set one clock by the other


@dataclass(frozen=True, slots=True)
class Group:
    """`size` gold turns and `fragments` segments, from a given place on, the distance between their words, and how
    many words they have."""

    size: int
    fragments: int
    distance: float
    words: int


Groups = dict[tuple[int, int], list[Group]]


def align(golden: Sequence[Turn], segments: Sequence[Turn]) -> Alignment:
    """Align in two passes: by words alone, then once more with the clocks of both sides set by the sure pairs.

    >>> gold = [Turn(0, "Four days ago."), Turn(1, "Yes."), Turn(2, "It itches, and it burns.")]
    >>> heard = [Turn(0, "four days ago"), Turn(1, "it itches"), Turn(2, "and it burns")]
    >>> [(match.golden_indices, match.asr_indices) for match in align(gold, heard).matches]
    [((0,), (0,)), ((2,), (1, 2))]
    """
    said = [comparable(turn.text) for turn in golden]
    heard = [comparable(turn.text) for turn in segments]
    proposals: list[tuple[list[int], list[int]]] = []
    parts = stretches(said, heard)
    found: list[tuple[range, range, Groups]] = []
    for rows, columns in parts:
        if len(rows) * len(columns) > MOST_CELLS:
            raise MedjuryError(
                f"{len(rows):,} gold turns beside {len(columns):,} segments with no sentence that both sides have "
                "word for word: are the files of one conversation? If so, cut both into parts and align each"
            )
        groups = _groups([said[row] for row in rows], [heard[column] for column in columns])
        found.append((rows, columns, groups))
    offset: float | None = None
    for use_time in (False, True):
        if use_time and (offset := _clock_offset(proposals, golden, segments, said, heard)) is None:
            break
        proposals = [
            ([rows[row] for row in each_rows], [columns[column] for column in each_columns])
            for rows, columns, groups in found
            for each_rows, each_columns in _cheapest(
                [said[row] for row in rows],
                [heard[column] for column in columns],
                [_sureness(segments[column]) for column in columns],
                groups,
                _lateness(rows, columns, groups, golden, segments, offset) if use_time else {},
            )
        ]
    return repair(golden, segments, proposals, method="deterministic")


def _groups(said: Words, heard: Words) -> Groups:
    """All groups worth a thought: those whose first and last turn and segment each bring a shared word. Without
    that word a turn is cheaper on its own, and neither time nor a tie may tie it to a neighbour."""
    groups: Groups = {}
    below: dict[int, _Shared] = {}  # shared words of the groups that begin one gold turn later, by size
    for row in range(len(said) - 1, -1, -1):
        gold: tuple[str, ...] = ()
        here: dict[int, _Shared] = {}
        for size in range(1, min(weights.MOST_GOLDEN, len(said) - row) + 1):
            gold += said[row + size - 1]
            common = Common(gold)
            here[size] = now = _Shared()
            for column in range(len(heard) - 1, -1, -1):
                if common.holds_any(heard[column]):
                    shorter = here.get(size - 1), below.get(size - 1)
                    for fragments, distance, words in _extend(column, len(gold), common, heard, now, shorter):
                        groups.setdefault((row, column), []).append(Group(size, fragments, distance, words))
                elif size == 1:
                    _add_misheard(groups, row, column, gold, heard[column])
        below = here
    return groups


class _Shared(dict[tuple[int, int], int]):
    """Shared words by first segment and number of segments; segments that share nothing have no entry."""

    def of(self, column: int, fragments: int) -> int:
        while fragments > 0:
            if (column, fragments) in self:
                return self[column, fragments]
            column, fragments = column + 1, fragments - 1
        return 0


def _extend(
    column: int, said: int, common: Common, heard: Words, now: _Shared,
    shorter: tuple[_Shared | None, _Shared | None],
) -> Iterator[tuple[int, float, int]]:  # fmt: skip
    """These gold turns with one, two, three... segments from `column` on, where every end brings a word."""
    common.restart()
    words = shared = 0
    room = said // 2 + 6  # far more was heard that was not said: no such group can pay
    for fragments in range(1, min(weights.MOST_FRAGMENTS, len(heard) - column) + 1):
        words += len(heard[column + fragments - 1])
        grown = common.add(heard[column + fragments - 1])
        now[column, fragments] = grown
        without = [now.of(column + 1, fragments - 1), shared]
        without += [each.of(column, fragments) for each in shorter if each is not None]
        if grown > max(without):
            yield fragments, said + words - 2 * grown, said + words
        shared = grown
        if words - grown > room or grown == said:  # nothing is left that a further segment could bring
            break


def _add_misheard(
    groups: Groups, row: int, column: int, gold: tuple[str, ...], heard: tuple[str, ...]
) -> None:
    alike = letter_similarity(gold, heard)
    if alike:
        words = len(gold) + len(heard)
        groups.setdefault((row, column), []).append(Group(1, 1, (1 - alike) * words, words))


def _cheapest(
    said: Words, heard: Words, sure: Sequence[float], groups: Groups,
    lateness: dict[tuple[int, int], float],
) -> list[tuple[list[int], list[int]]]:  # fmt: skip
    """The cheapest reading, from the end to the beginning; equal costs are settled in favour of a group."""
    rows, columns = len(said), len(heard)
    cost = [[0.0] * (columns + 1) for _ in range(rows + 1)]
    step: list[list[Group | str]] = [[""] * (columns + 1) for _ in range(rows + 1)]
    for row in range(rows, -1, -1):
        here = cost[row]
        for column in range(columns, -1, -1):
            best, move = (0.0, "") if (row, column) == (rows, columns) else (float("inf"), "")
            chosen: Group | str = move
            for group in groups.get((row, column), ()):
                price = (
                    group.distance
                    + weights.UNLIKE * group.distance / group.words
                    + weights.EXTRA_GOLDEN * (group.size - 1)
                    + weights.EXTRA_FRAGMENT * (group.fragments - 1)
                    + lateness.get((row, column), 0.0)
                    + cost[row + group.size][column + group.fragments]
                )
                if price < best:
                    best, chosen = price, group
            if row < rows:
                price = weights.MISSED + len(said[row]) + cost[row + 1][column]
                if price < best:
                    best, chosen = price, "missed"
            if column < columns:
                price = sure[column] * weights.SPURIOUS + len(heard[column]) + here[column + 1]
                if price < best:
                    best, chosen = price, "spurious"
            here[column], step[row][column] = best, chosen
    return _read_back(step, rows, columns)


def _sureness(segment: Turn) -> float:
    """What the recogniser itself doubted is left over a little more readily; without a confidence it is as sure."""
    return 1.0 if segment.confidence is None else 1 - weights.DOUBT * (1 - segment.confidence)


def _read_back(step: list[list[Group | str]], rows: int, columns: int) -> list[tuple[list[int], list[int]]]:
    proposals = []
    row = column = 0
    while row < rows or column < columns:
        move = step[row][column]
        if isinstance(move, Group):
            proposals.append(
                (list(range(row, row + move.size)), list(range(column, column + move.fragments)))
            )
            row, column = row + move.size, column + move.fragments
        elif move == "missed":
            row += 1
        else:
            column += 1
    return proposals


def _clock_offset(
    proposals: Sequence[tuple[list[int], list[int]]],
    golden: Sequence[Turn], segments: Sequence[Turn], said: Words, heard: Words,
) -> float | None:  # fmt: skip
    """How far the segments' clock is ahead of the gold one: the median over sure pairs, or None where too few."""
    ahead = []
    for rows, columns in proposals:
        if len(rows) == len(columns) == 1:
            start, heard_at = golden[rows[0]].start, segments[columns[0]].start
            alike = similarity(said[rows[0]], heard[columns[0]])
            if start is not None and heard_at is not None and alike >= 0.8:
                ahead.append(heard_at - start)
    return median(ahead) if len(ahead) >= _CLOCK_PAIRS else None


def _lateness(
    rows: range, columns: range, groups: Groups, golden: Sequence[Turn], segments: Sequence[Turn],
    offset: float | None,
) -> dict[tuple[int, int], float]:  # fmt: skip
    late = {}
    for row, column in groups:
        start, heard_at = golden[rows[row]].start, segments[columns[column]].start
        if start is not None and heard_at is not None and offset is not None:
            apart = abs(heard_at - start - offset)
            late[row, column] = weights.TIME * min(1.0, apart / weights.TIME_REACH)
    return late
