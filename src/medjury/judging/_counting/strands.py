"""What raters said of many answers, column by column: what follows from it is then found for all of them at once.

Nearly all answers of a run have the same raters on the same dimensions in the same order, the same `Shape`. The
rows at one place of each of them are a `Strand`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from hashlib import sha256
from itertools import pairwise
from typing import Any

from medjury.instruments import GRADES_ITSELF, NotApplicable, Outcome, Reason, remarked_words
from medjury.ratings import RaterKind, RatingColumns, Status, outcome_of

# Who gave a row, and on what: all that counting depends on, but for what it says.
Whose = tuple[str, RaterKind, int, str, str]
Shape = tuple[Whose, ...]  # of all rows on an answer
# What a vote says, without its words: a score, that there is none (None), or that none applies. Zero is spelled
# out, for it equals zero with a minus.
Vote = float | str | NotApplicable | None
# What an outcome puts into a row: score, status, reason and explanation.
Said = tuple[float | None, Status, Reason | None, str]
NOT_APPLICABLE = NotApplicable()


class Strand:
    """The rows at one place of many answers."""

    def __init__(self, columns: RatingColumns) -> None:
        self.columns = columns

    @cached_property
    def votes(self) -> list[Vote]:
        return [
            (score or repr(score)) if score is not None else None if reason is not None else NOT_APPLICABLE
            for score, reason in zip(self.columns.score, self.columns.reason, strict=True)
        ]

    @cached_property
    def told(self) -> list[bool]:
        """Whether each row says that its case grades itself."""
        return [words.startswith(GRADES_ITSELF) for words in self.columns.explanation]

    def outcome(self, place: int) -> Outcome:
        given = self.columns
        return outcome_of(given.score[place], given.reason[place], given.explanation[place])


class Sources:
    """The strands that others follow from, taken together."""

    def __init__(self, strands: Sequence[Strand]) -> None:
        first = strands[0]
        self._first = first.columns
        self._keys, self._moments, self._told = self._first.key, self._first.created_at, first.told
        if len(strands) > 1:
            columns = [strand.columns for strand in strands]
            self._keys = ["\0".join(sorted(keys)) for keys in across([each.key for each in columns])]
            self._moments = list(map(max, across([each.created_at for each in columns])))
            self._told = list(map(any, across([strand.told for strand in strands])))

    def strand(
        self, said: Sequence[Said], rater: str, kind: RaterKind, dimension: str, repeat: int
    ) -> Strand:
        """Rows that follow. No call is made for them: the key of each is the hash of the rows that it follows from,
        its cost is 0. What nobody measured of a clinician stays unknown."""
        first, rows = self._first, len(said)
        score, status, reason, words = zip(*said, strict=True)
        if True in self._told:
            words = tuple(
                remarked_words(each, f"{GRADES_ITSELF}.") if told else each
                for each, told in zip(words, self._told, strict=True)
            )
        start = f"{rater}\0{dimension}\0"
        keys = [sha256(f"{start}{key}".encode()).hexdigest() for key in self._keys]
        zero, none = [0] * rows, [None] * rows
        seconds = none if kind == "clinician" else [0.0] * rows
        return Strand(
            RatingColumns(
                first.item, first.system, [rater] * rows, [kind] * rows, first.instrument, [dimension] * rows,
                [repeat] * rows, score, status, reason, words, seconds, zero, zero, [0.0] * rows, self._moments,
                keys, zero, none, none, none,
            )
        )  # fmt: skip


def across(columns: Sequence[Sequence[Any]]) -> Iterator[tuple[Any, ...]]:
    """The values of several columns, row by row."""
    return zip(*columns, strict=True)


def strands_of(block: RatingColumns, form: Shape) -> list[Strand]:
    """The strands of answers that all have this shape."""
    return [Strand(block.part(place, step=len(form))) for place in range(len(form))]


def rows_of_strands(strands: Sequence[Strand]) -> RatingColumns:
    """The rows of strands, answer by answer."""
    columns = []
    for parts in zip(*[strand.columns for strand in strands], strict=True):
        column: list[Any] = [None] * (len(strands) * len(parts[0]))
        for place, part in enumerate(parts):
            column[place :: len(strands)] = part
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
    whose: list[Whose] = list(
        zip(block.rater, block.rater_kind, block.repeat, block.instrument, block.dimension, strict=True)
    )
    first, answers = whose[: starts[1]], len(starts) - 1
    if whose == first * answers and starts == list(range(0, len(whose) + 1, len(first))):
        return {tuple(first): list(range(answers))}  # as nearly always
    found: dict[Shape, list[int]] = {}
    for number, (start, end) in enumerate(pairwise(starts)):
        found.setdefault(tuple(whose[start:end]), []).append(number)
    return found
