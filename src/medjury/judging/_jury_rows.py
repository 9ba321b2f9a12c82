"""Rows that follow from rows: the jury's rating from its judges' votes, and composites from dimensions."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, chain, pairwise
from typing import Any

from medjury.foundation.errors import MedjuryError
from medjury.instruments import Instrument, NotApplicable, Outcome, Reason, Score, Unscored, derive
from medjury.judging._jury_rule import Rule, combine
from medjury.judging._rows import outcome_columns
from medjury.judging._strands import (
    NOT_APPLICABLE,
    Said,
    Shape,
    Sources,
    Strand,
    Vote,
    Whose,
    across,
    shapes,
    starts_of_answers,
    strands_of,
    whole_answers,
    woven,
)
from medjury.store.ratings import RaterKind, RatingColumns

_MOST_KNOWN = 10_000
_NO_SCORE = Unscored(Reason.MISSING)


@dataclass(frozen=True, slots=True)
class Count:
    """How one row of a jury follows from the rows on an answer: at which `places` among them its votes are, and
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
    dimensions: Collection[str],
) -> list[Count]:
    """How the votes among the rows on one answer are counted, dimension by dimension."""
    found: dict[str, dict[str, list[int]]] = {}
    those = zip(rows.rater, rows.rater_kind, rows.dimension, strict=True)
    for place, (rater, kind, dimension) in enumerate(those):
        if kind == "judge" and rater in judges and dimension in dimensions:
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


# Reversed dimensions and composites, from the rows on many answers at once.

# Of each rater, by its kind and repeat, the dimensions and the places of its rows.
Places = list[tuple[RaterKind, int, tuple[str, ...], tuple[int, ...]]]
_MOST_KNOWN = 10_000


class Derivation:
    """Reversed dimensions and composites by one instrument. Grades are few: what follows from the same grades is
    worked out once."""

    def __init__(self, instrument: Instrument) -> None:
        self._instrument = instrument
        self._label = f"{instrument.name}@{instrument.version}"
        self._worded = {each.of for each in instrument.reversed}  # the words of these are passed on
        self._names = [
            *(each.name for each in instrument.reversed),
            *(each.name for each in instrument.composites),
        ]
        self._known: dict[tuple[object, ...], list[Said]] = {}

    def following(self, strands: Sequence[Strand], raters: Places) -> Iterator[RatingColumns]:
        """What follows from the rows on answers, for every rater and repeat."""
        for kind, number, names, places in raters:
            given = [strands[place] for place in places]
            sources = Sources(given)
            for name, said in zip(self._names, zip(*self._following(names, given), strict=True), strict=True):
                yield sources.following(said, given[0].raters, kind, name, number)

    def places(self, rows: Iterable[Whose]) -> Places:
        """At which places the rows of each rater and repeat are, by their dimensions: the same for all answers
        with rows of the same `shape`. Nowhere, where nothing follows from any."""
        if not self._names:
            return []
        raters: dict[tuple[str | int, RaterKind, int], dict[str, int]] = {}
        for place, (rater, kind, number, instrument, dimension) in enumerate(rows):
            if instrument == self._label:
                raters.setdefault((rater, kind, number), {})[dimension] = place
        return [
            (kind, number, tuple(places), tuple(places.values()))
            for (_, kind, number), places in raters.items()
        ]

    def _following(self, names: tuple[str, ...], given: Sequence[Strand]) -> Iterator[list[Said]]:
        """What follows for each answer, in the order of the names of what follows."""
        columns: list[Sequence[Any]] = [strand.votes for strand in given]
        for name, strand in zip(names, given, strict=True):
            if name in self._worded:
                columns += (strand.reasons, strand.explanations)
        for place, said in enumerate(across(columns)):
            known = names, said
            found = self._known.get(known)
            if found is None:
                if len(self._known) >= _MOST_KNOWN:
                    self._known.clear()
                outcomes = {name: strand.outcome(place) for name, strand in zip(names, given, strict=True)}
                following = derive(self._instrument, outcomes)
                found = self._known[known] = [outcome_columns(following[name]) for name in self._names]
            yield found


_MOST_SHAPES = 10_000  # that are remembered of answers' rows; nearly all of a run have the same


class Following:
    """What follows from the rows on answers: what a jury counts, and what an instrument derives from that and from
    them. How it does is found out once for all answers of one shape."""

    def __init__(
        self, counts: Callable[[RatingColumns], list[Count]], instrument: Instrument | None = None
    ) -> None:
        self._counts = counts
        self._derivation = None if instrument is None else Derivation(instrument)
        self._known: dict[Shape, tuple[list[Count], Places]] = {}

    def blocks(self, rows: Iterable[RatingColumns]) -> Iterator[RatingColumns]:
        """For each answer the rows that were given, and those that follow."""
        for block in whole_answers(rows):
            starts = starts_of_answers(block)
            found = shapes(block, starts)
            parts: list[RatingColumns] = []
            places: dict[int, range] = {}  # of each answer's rows among those of all parts
            end = 0
            for form, answers in found.items():
                own = block
                if len(found) > 1:
                    own = block.at([row for each in answers for row in range(starts[each], starts[each + 1])])
                following = self._following(own, form)
                size = len(form) + len(following)
                parts.append(woven(own, form, following))
                for answer in answers:
                    places[answer] = range(end, end + size)
                    end += size
            if len(parts) == 1:
                yield parts[0]
            elif parts:
                order = [row for each in range(len(starts) - 1) for row in places[each]]
                yield RatingColumns.joined(parts).at(order)

    def _following(self, block: RatingColumns, form: Shape) -> list[RatingColumns]:
        """What follows from the rows on answers of one shape."""
        counted, places = self._ways(block, form)
        strands = strands_of(block, form)
        jury = [count.following(strands) for count in counted]
        if not places or self._derivation is None:
            return jury
        return [*jury, *self._derivation.following([*strands, *map(Strand, jury)], places)]

    def _ways(self, block: RatingColumns, form: Shape) -> tuple[list[Count], Places]:
        known = self._known.get(form)
        if known is None:
            if len(self._known) >= _MOST_SHAPES:
                self._known.clear()
            counted = self._counts(block.part(0, len(form)))
            whose = (*form, *[count.whose(form) for count in counted])
            known = counted, [] if self._derivation is None else self._derivation.places(whose)
            self._known[form] = known
        return known
