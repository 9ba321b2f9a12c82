"""What raters said of many answers, column by column: what follows from it is then found for all of them at once.

Nearly all answers of a run have the same raters on the same dimensions in the same order, the same `Shape`. The
rows at one place of each of them are a `Strand`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from itertools import pairwise
from typing import Any

from medjury.instruments import NotApplicable, Outcome, Reason
from medjury.store.ratings import RaterKind, RatingColumns, Status, outcome_of

# Who gave a row, and on what: all that counting depends on, but for what it says. Clinicians are numbered answer by
# answer: what follows from their rows is the same whoever they are, and hardly two answers may have the same ones.
Whose = tuple[str | int, RaterKind, int, str, str]
Shape = tuple[Whose, ...]  # of all rows on an answer
# What a vote says, without its words: a score, that there is none (None), or that none applies. Zero is spelled
# out, for it equals zero with a minus.
Vote = float | str | NotApplicable | None
# What an outcome puts into a row: score, status, reason and explanation.
Said = tuple[float | None, Status, Reason | None, str]
NOT_APPLICABLE = NotApplicable()


class Strand:
    """The rows at one place of many answers: what is needed of them."""

    def __init__(self, block: RatingColumns, place: int = 0, step: int = 1) -> None:
        every = slice(place, None, step)
        self.items = block.item[every]
        self.systems = block.system[every]
        self.raters = block.rater[every]
        self.instruments = block.instrument[every]
        self.scores = block.score[every]
        self.reasons = block.reason[every]
        self.explanations = block.explanation[every]
        self.moments = block.created_at[every]
        self.keys = block.key[every]
        self._votes: list[Vote] | None = None

    @property
    def votes(self) -> list[Vote]:
        if self._votes is None:
            self._votes = [
                (score or repr(score))
                if score is not None
                else None
                if reason is not None
                else NOT_APPLICABLE
                for score, reason in zip(self.scores, self.reasons, strict=True)
            ]
        return self._votes

    def outcome(self, place: int) -> Outcome:
        return outcome_of(self.scores[place], self.reasons[place], self.explanations[place])


class Sources:
    """The strands that others follow from, taken together."""

    def __init__(self, strands: Sequence[Strand]) -> None:
        first = self._first = strands[0]
        self._keys, self._moments = first.keys, first.moments
        if len(strands) > 1:
            self._keys = ["\0".join(sorted(keys)) for keys in across([each.keys for each in strands])]
            self._moments = list(map(max, across([each.moments for each in strands])))

    def following(
        self, said: Sequence[Said], raters: Sequence[str], kind: RaterKind, dimension: str, repeat: int
    ) -> RatingColumns:
        """Rows that follow. No call is made for them: the key of each is the hash of the rows that it follows from,
        its cost is 0. What nobody measured of a clinician stays unknown."""
        first, rows = self._first, len(said)
        score, status, reason, words = zip(*said, strict=True)
        keys = [
            sha256(f"{rater}\0{dimension}\0{key}".encode()).hexdigest()
            for rater, key in zip(raters, self._keys, strict=True)
        ]
        zero, none, nothing = [0] * rows, [None] * rows, [0.0] * rows
        seconds = none if kind == "clinician" else nothing
        return RatingColumns(
            first.items, first.systems, raters, [kind] * rows, first.instruments, [dimension] * rows,
            [repeat] * rows, score, status, reason, words, seconds, zero, zero, nothing, self._moments, keys, zero,
            none, none, none,
        )  # fmt: skip


def across(columns: Sequence[Sequence[Any]]) -> Iterator[tuple[Any, ...]]:
    """The values of several columns, row by row."""
    return zip(*columns, strict=True)


def strands_of(block: RatingColumns, form: Shape) -> list[Strand]:
    """The strands of answers that all have this shape."""
    return [Strand(block, place, len(form)) for place in range(len(form))]


def woven(given: RatingColumns, form: Shape, following: Sequence[RatingColumns]) -> RatingColumns:
    """Answer by answer the rows that were given, and those that follow."""
    if given.height == len(form):  # one answer
        return RatingColumns.joined([given, *following])
    return _in_turn([*[given.part(place, step=len(form)) for place in range(len(form))], *following])


def _in_turn(strands: Sequence[RatingColumns]) -> RatingColumns:
    columns: list[Any] = []
    for parts in zip(*strands, strict=True):
        column: list[Any] = [None] * (len(parts) * len(parts[0]))
        for place, part in enumerate(parts):
            column[place :: len(parts)] = part
        columns.append(column)
    return RatingColumns(*columns)


def whole_answers(blocks: Iterable[RatingColumns]) -> Iterator[RatingColumns]:
    """The same rows in blocks that part no answer. Rows on one answer come one after the other."""
    held: list[RatingColumns] = []  # rows on one answer, which may go on
    for block in blocks:
        if not block.height:
            continue
        start, last = block.height - 1, _answer(block, -1)
        while start and _answer(block, start - 1) == last:
            start -= 1
        if (held and _answer(held[0], 0) != last) or start:
            yield RatingColumns.joined([*held, block.part(0, start)])
            held = []
        held.append(block.part(start))
    if held:
        yield RatingColumns.joined(held)


def _answer(block: RatingColumns, place: int) -> tuple[str, str]:
    return block.item[place], block.system[place]


def starts_of_answers(block: RatingColumns) -> list[int]:
    """The places at which the rows of an answer begin, and the end of them all."""
    answers = pairwise(zip(block.item, block.system, strict=True))
    return [0, *[place for place, (one, other) in enumerate(answers, 1) if one != other], block.height]


def shapes(block: RatingColumns, starts: Sequence[int]) -> dict[Shape, list[int]]:
    """The shapes of answers, each with the numbers of those that have it."""
    whose: list[tuple[str, RaterKind, int, str, str]] = list(
        zip(block.rater, block.rater_kind, block.repeat, block.instrument, block.dimension, strict=True)
    )
    first, answers = whose[: starts[1]], len(starts) - 1
    if whose == first * answers and starts == list(range(0, len(whose) + 1, len(first))):
        return {tuple(first): list(range(answers))}  # as nearly always
    found: dict[Shape, list[int]] = {}
    for number, (start, end) in enumerate(pairwise(starts)):
        met: dict[str, int] = {}
        form = tuple(
            [
                (met.setdefault(each[0], len(met)), *each[1:]) if each[1] == "clinician" else each
                for each in whose[start:end]
            ]
        )
        found.setdefault(form, []).append(number)
    return found
