"""Rows that follow from rows: the jury's rating from its judges' votes, and composites from dimensions."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import lru_cache
from hashlib import sha256
from itertools import accumulate, chain, groupby, pairwise
from operator import attrgetter
from typing import Any, TypeVar

from medjury.errors import MedjuryError
from medjury.instruments import (
    GRADES_ITSELF,
    Instrument,
    NotApplicable,
    Outcome,
    Reason,
    Score,
    Unscored,
    derive,
    remarked_words,
)
from medjury.judging._combine import Rule, combine
from medjury.judging._outcomes import outcome_columns
from medjury.ratings import RaterKind, Rating, RatingRow, Status
from medjury.records import dataclass

Row = TypeVar("Row", Rating, RatingRow)
ANSWER = attrgetter("item", "system")
Shape = tuple[tuple[object, ...], ...]
_WHOSE = attrgetter("rater", "rater_kind", "repeat", "instrument", "dimension")
# Of each rater and repeat, the dimensions and the places of their rows.
Places = list[tuple[tuple[str, RaterKind, int], tuple[str, ...], tuple[int, ...]]]
# What an outcome puts into a row: score, status, reason and explanation.
_Columns = tuple[float | None, Status, Reason | None, str]
# What a vote says, without its words: a score, that there is none (None), or that none applies. Zero is spelled
# out, for it equals zero with a minus.
_Vote = float | str | NotApplicable | None
_MOST_KNOWN = 10_000
_make = tuple.__new__
_NOT_APPLICABLE, _NO_SCORE = NotApplicable(), Unscored(Reason.MISSING)


def aggregate(
    votes: Iterable[Row],
    *,
    judges: Sequence[str],
    repeats: int = 1,
    rule: Rule = "mean",
    quorum: int | None = None,
    name: str = "jury",
    dimensions: Collection[str] | None = None,
) -> Iterator[Row]:
    """One jury row per case and dimension, or of those `dimensions` alone. First each judge's repeats become one
    vote, then the votes one row.

    Rows must come grouped by item and system, as the store gives them; every vote stays where it was.
    """
    for _, group in groupby(votes, key=ANSWER):
        rows = list(group)
        for count in counts(rows, judges, repeats, rule, quorum, name, dimensions):
            yield count.row(rows)


@dataclass(frozen=True, slots=True)
class Count:
    """How one row of a jury follows from the rows on an answer: at which `places` among them its votes stand, and
    how many of those are each judge's. It holds for every answer with rows of the same `shape`."""

    name: str
    dimension: str
    places: tuple[int, ...]
    ballots: tuple[int, ...]
    seats: int
    repeats: int
    rule: Rule
    quorum: int | None

    def row(self, rows: Sequence[Row]) -> Row:
        sources = [rows[place] for place in self.places]
        votes = tuple([_vote(source) for source in sources])
        if self.repeats > 1:
            ends = list(accumulate(self.ballots, initial=0))
            votes = tuple(
                [
                    _vote_of(_combined(votes[start:end], self.repeats, self.rule, None))
                    for start, end in pairwise(ends)
                ]
            )
        counted = outcome_columns(_combined(votes, self.seats, self.rule, self.quorum))
        made: Row = _following_row(_origin(sources), counted, self.name, "jury", self.dimension, 0)
        return made


def shape(rows: Iterable[Row]) -> Shape:
    """Who gave the rows on an answer, and on what: all that counting them depends on, but for what they say."""
    return tuple(map(_WHOSE, rows))


def counts(
    rows: Sequence[Row],
    judges: Sequence[str],
    repeats: int,
    rule: Rule,
    quorum: int | None,
    name: str,
    dimensions: Collection[str] | None,
) -> list[Count]:
    """How the votes among the rows on one answer are counted, dimension by dimension."""
    found: dict[str, dict[str, list[int]]] = {}
    for place, row in enumerate(rows):
        if (
            row.rater_kind == "judge"
            and row.rater in judges
            and (dimensions is None or row.dimension in dimensions)
        ):
            found.setdefault(row.dimension, {}).setdefault(row.rater, []).append(place)
    for dimension, by_judge in found.items():
        for judge, ballot in by_judge.items():
            if len(ballot) > repeats:
                raise MedjuryError(
                    f"{judge} has {len(ballot)} votes on {dimension} of {rows[ballot[0]].item!r} where {repeats} "
                    "were asked for: these are votes of different runs; give one run's votes"
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


class Derivation:
    """Reversed dimensions and composites by one instrument. Grades are few: what follows from the same grades is
    worked out once."""

    def __init__(self, instrument: Instrument) -> None:
        self._instrument = instrument
        self._label = f"{instrument.name}@{instrument.version}"
        self._worded = {each.of for each in instrument.reversed}  # the words of these are passed on
        self._known: dict[tuple[object, ...], list[tuple[str, _Columns]]] = {}

    def rows(self, rows: Sequence[Row], raters: Places) -> Iterator[Row]:
        """What follows from the rows on one answer, for every rater and repeat."""
        for (rater, kind, repeat), names, places in raters:
            given = [rows[place] for place in places]
            origin = _origin(given)
            for dimension, columns in self._following(names, given):
                yield _following_row(origin, columns, rater, kind, dimension, repeat)

    def places(self, rows: Sequence[Row]) -> Places:
        """At which places the rows of each rater and repeat stand, by their dimensions: the same for all answers
        with rows of the same `shape`. Nowhere, where nothing follows from any."""
        if not self._instrument.reversed and not self._instrument.composites:
            return []
        raters: dict[tuple[str, RaterKind, int], dict[str, int]] = {}
        for place, row in enumerate(rows):
            if row.instrument == self._label:
                raters.setdefault((row.rater, row.rater_kind, row.repeat), {})[row.dimension] = place
        return [(rater, tuple(places), tuple(places.values())) for rater, places in raters.items()]

    def _following(self, names: tuple[str, ...], given: Sequence[Row]) -> list[tuple[str, _Columns]]:
        words: list[object] = []
        if self._worded:
            words = [
                (row.reason, row.explanation)
                for name, row in zip(names, given, strict=True)
                if name in self._worded
            ]
        known = (names, *[_vote(row) for row in given], *words)
        found = self._known.get(known)
        if found is None:
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            outcomes = {name: row.outcome for name, row in zip(names, given, strict=True)}
            following = derive(self._instrument, outcomes)
            found = self._known[known] = [(name, outcome_columns(each)) for name, each in following.items()]
        return found


def derived(rows: Iterable[Row], instrument: Instrument) -> Iterator[Row]:
    """Reversed dimensions and composites of every rater, repeat by repeat. Rows come grouped as above."""
    derivation = Derivation(instrument)
    for _, group in groupby(rows, key=ANSWER):
        answer = list(group)
        yield from derivation.rows(answer, derivation.places(answer))


def _vote(row: Rating | RatingRow) -> _Vote:
    if row.score is not None:
        return row.score or repr(row.score)
    return None if row.reason is not None else _NOT_APPLICABLE


def _vote_of(outcome: Outcome) -> _Vote:
    if isinstance(outcome, Score):
        return outcome.value or repr(outcome.value)
    return None if isinstance(outcome, Unscored) else _NOT_APPLICABLE


@lru_cache(maxsize=_MOST_KNOWN)
def _combined(votes: tuple[_Vote, ...], seats: int, rule: Rule, quorum: int | None) -> Outcome:
    """`combine`, which looks at what votes say and not at their words, for votes that come again and again."""
    outcomes: list[Outcome] = [
        _NO_SCORE if vote is None else vote if isinstance(vote, NotApplicable) else Score(float(vote))
        for vote in votes
    ]
    return combine(outcomes, seats=seats, rule=rule, quorum=quorum)


# Of the rows that others follow from: the first, their keys, the latest moment, and whether the case grades itself.
_Origin = tuple[Any, str, str, bool]


def _origin(sources: Sequence[Any]) -> _Origin:
    first = sources[0]
    if len(sources) == 1:
        return first, first.key, first.created_at, first.explanation.startswith(GRADES_ITSELF)
    keys = "\0".join(sorted([row.key for row in sources]))
    told = True in [row.explanation.startswith(GRADES_ITSELF) for row in sources]
    return first, keys, max([row.created_at for row in sources]), told


def _following_row(
    origin: _Origin, columns: _Columns, rater: str, kind: RaterKind, dimension: str, repeat: int
) -> Any:
    """No call is made for it: its key is the hash of the rows it follows from, its cost is 0. What nobody measured
    of a clinician stays unknown."""
    first, keys, moment, told = origin
    score, status, reason, explanation = columns
    if told:
        explanation = remarked_words(explanation, f"{GRADES_ITSELF}.")
    values = (
        first.item, first.system, rater, kind, first.instrument, dimension, repeat, score, status, reason,
        explanation, None if kind == "clinician" else 0.0, 0, 0, 0.0, moment,
        sha256(f"{rater}\0{dimension}\0{keys}".encode()).hexdigest(), 0, None, None, None,
    )  # fmt: skip
    return _make(RatingRow, values) if type(first) is RatingRow else Rating(*values)
