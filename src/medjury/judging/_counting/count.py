"""How the votes on an answer become one row of a jury."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, chain, pairwise

from medjury.foundation.errors import MedjuryError
from medjury.instruments import NotApplicable, Outcome, Reason, Score, Unscored
from medjury.judging._counting.combine import Rule, combine
from medjury.judging._counting.strands import (
    NOT_APPLICABLE,
    Said,
    Shape,
    Sources,
    Strand,
    Vote,
    Whose,
    across,
)
from medjury.judging._outcomes import outcome_columns
from medjury.store.ratings import RatingColumns

_MOST_KNOWN = 10_000
_NO_SCORE = Unscored(Reason.MISSING)


@dataclass(frozen=True, slots=True)
class Count:
    """How one row of a jury follows from the rows on an answer: at which `places` among them its votes stand, and
    how many of those are each judge's. It holds for every answer with rows of the same shape."""

    name: str
    dimension: str
    places: tuple[int, ...]
    ballots: tuple[int, ...]
    seats: int
    repeats: int
    rule: Rule
    quorum: int | None

    def whose(self, rows: Shape) -> Whose:
        """Who gives the row that is counted from those."""
        return self.name, "jury", 0, rows[self.places[0]][3], self.dimension

    def following(self, strands: Sequence[Strand]) -> RatingColumns:
        """The jury's row on each answer."""
        sources = [strands[place] for place in self.places]
        votes = across([source.votes for source in sources])
        if self.repeats > 1:
            votes = map(self._one_each, votes)
        said = [_counted(each, self.seats, self.rule, self.quorum) for each in votes]
        return Sources(sources).following(said, [self.name] * len(said), "jury", self.dimension, 0)

    def _one_each(self, votes: tuple[Vote, ...]) -> tuple[Vote, ...]:
        """One vote of each judge, from all of its repeats."""
        ends = accumulate(self.ballots, initial=0)
        return tuple(
            [
                _vote_of(_combined(votes[start:end], self.repeats, self.rule, None))
                for start, end in pairwise(ends)
            ]
        )


def counts(
    rows: RatingColumns,
    judges: Sequence[str],
    repeats: int,
    rule: Rule,
    quorum: int | None,
    name: str,
    dimensions: Collection[str] | None,
) -> list[Count]:
    """How the votes among the rows on one answer are counted, dimension by dimension."""
    found: dict[str, dict[str, list[int]]] = {}
    those = zip(rows.rater, rows.rater_kind, rows.dimension, strict=True)
    for place, (rater, kind, dimension) in enumerate(those):
        if kind == "judge" and rater in judges and (dimensions is None or dimension in dimensions):
            found.setdefault(dimension, {}).setdefault(rater, []).append(place)
    for dimension, by_judge in found.items():
        for judge, ballot in by_judge.items():
            if len(ballot) > repeats:
                raise MedjuryError(
                    f"{judge} has {len(ballot)} votes on {dimension} of {rows.item[0]!r} where {repeats} were "
                    "asked for: these are votes of different runs; give one run's votes"
                )
    return [
        Count(
            name,
            dimension,
            tuple(chain.from_iterable(by_judge.values())),
            tuple(map(len, by_judge.values())),
            len(judges),
            repeats,
            rule,
            quorum,
        )
        for dimension, by_judge in found.items()
    ]


def _vote_of(outcome: Outcome) -> Vote:
    if isinstance(outcome, Score):
        return outcome.value or repr(outcome.value)
    return None if isinstance(outcome, Unscored) else NOT_APPLICABLE


@lru_cache(maxsize=_MOST_KNOWN)
def _combined(votes: tuple[Vote, ...], seats: int, rule: Rule, quorum: int | None) -> Outcome:
    """`combine`, which looks at what votes say and not at their words, for votes that come again and again."""
    outcomes: list[Outcome] = [
        _NO_SCORE if vote is None else vote if isinstance(vote, NotApplicable) else Score(float(vote))
        for vote in votes
    ]
    return combine(outcomes, seats=seats, rule=rule, quorum=quorum)


@lru_cache(maxsize=_MOST_KNOWN)
def _counted(votes: tuple[Vote, ...], seats: int, rule: Rule, quorum: int | None) -> Said:
    return outcome_columns(_combined(votes, seats, rule, quorum))
