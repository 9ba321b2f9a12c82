"""Rows that follow from rows: the jury's rating from its judges' votes, and composites from dimensions."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from itertools import accumulate, chain, pairwise
from typing import Any

from medjury.foundation.errors import MedjuryError
from medjury.instruments import Instrument, NotApplicable, Outcome, Reason, Score, Unscored, derive
from medjury.judging._jury_rule import Rule, combine
from medjury.judging._rows import outcome_columns
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
# Of each rater, by its kind and repeat, the dimensions and the places of its rows.
Places = list[tuple[RaterKind, int, tuple[str, ...], tuple[int, ...]]]
_NOT_APPLICABLE, _NO_SCORE = NotApplicable(), Unscored(Reason.MISSING)
_MOST_KNOWN = 10_000  # that is remembered of what comes again and again


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

    def said(self, votes: Sequence[Vote]) -> Said:
        """What the jury says, from the votes on an answer."""
        own = tuple([votes[place] for place in self.places])
        if self.repeats > 1:  # one vote of each judge, from all of its repeats
            ends = pairwise(accumulate(self.ballots, initial=0))
            said = [_counted(own[start:end], self.repeats, self.rule, None) for start, end in ends]
            own = tuple([_vote(score, reason) for score, _, reason, _ in said])
        return _counted(own, self.seats, self.rule, self.quorum)


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


def _vote(score: float | None, reason: Reason | None) -> Vote:
    if score is not None:
        return score or repr(score)
    return _NOT_APPLICABLE if reason is None else None


@lru_cache(maxsize=_MOST_KNOWN)
def _counted(votes: tuple[Vote, ...], seats: int, rule: Rule, quorum: int | None) -> Said:
    """`combine`, which looks at what votes say and not at their words, for votes that come again and again."""
    outcomes: list[Outcome] = [
        _NO_SCORE if vote is None else vote if isinstance(vote, NotApplicable) else Score(float(vote))
        for vote in votes
    ]
    return outcome_columns(combine(outcomes, seats=seats, rule=rule, quorum=quorum))


class _Answer:
    """The rows on one answer: what is needed of them, and what follows."""

    def __init__(self, rows: RatingColumns, start: int, end: int) -> None:
        here = slice(start, end)
        self._item, self._system = rows.item[start], rows.system[start]
        self.raters, self._instruments = [*rows.rater[here]], [*rows.instrument[here]]
        self._keys, self._moments = [*rows.key[here]], [*rows.created_at[here]]
        self._scores, self._reasons = [*rows.score[here]], [*rows.reason[here]]
        self._words = [*rows.explanation[here]]
        self.votes = list(map(_vote, self._scores, self._reasons))
        self.following: list[tuple[Any, ...]] = []

    def outcome(self, place: int) -> Outcome:
        return outcome_of(self._scores[place], self._reasons[place], self._words[place])

    def words(self, place: int) -> tuple[Reason | None, str]:
        return self._reasons[place], self._words[place]

    def follow(
        self, places: tuple[int, ...], said: Said, rater: str, kind: RaterKind, dimension: str, repeat: int
    ) -> None:
        """A row that follows from those at these places. No call is made for it: its key is the hash of the rows
        that it follows from, its cost is 0. What nobody measured of a clinician stays unknown."""
        first = places[0]
        key, moment = self._keys[first], self._moments[first]
        if len(places) > 1:
            key = "\0".join(sorted([self._keys[place] for place in places]))
            moment = max([self._moments[place] for place in places])
        key = sha256(f"{rater}\0{dimension}\0{key}".encode()).hexdigest()
        instrument, seconds = self._instruments[first], None if kind == "clinician" else 0.0
        self.following.append(
            (self._item, self._system, rater, kind, instrument, dimension, repeat, *said, seconds, 0, 0, 0.0,
             moment, key, 0, None, None, None)
        )  # fmt: skip

    def join_jury(self) -> None:
        """The jury's rows, from which more follows, take their places behind those that were given."""
        for row in self.following:
            self.raters.append(row[2])
            self._instruments.append(row[4])
            self._scores.append(row[7])
            self._reasons.append(row[9])
            self._words.append(row[10])
            self._moments.append(row[15])
            self._keys.append(row[16])
            self.votes.append(_vote(row[7], row[9]))


class Following:
    """What follows from the rows on answers: what a jury counts, and the reversed dimensions and composites that an
    instrument derives from that and from them. How it does is found out once for all answers of one shape, and what
    follows from the same grades is worked out once."""

    def __init__(
        self, counts: Callable[[RatingColumns], list[Count]], instrument: Instrument | None = None
    ) -> None:
        self._counts = counts
        self._instrument = instrument
        self._names: list[str] = []
        self._label, self._worded = "", frozenset[str]()
        if instrument is not None:
            self._names += [each.name for each in instrument.reversed]
            self._names += [each.name for each in instrument.composites]
            self._label = f"{instrument.name}@{instrument.version}"
            self._worded = frozenset(each.of for each in instrument.reversed)
        self._ways: dict[Shape, tuple[list[Count], Places]] = {}
        self._known: dict[tuple[object, ...], list[Said]] = {}

    def blocks(self, rows: Iterable[RatingColumns]) -> Iterator[RatingColumns]:
        """For each answer the rows that were given, and those that follow."""
        for block in whole_answers(rows):
            answers = pairwise(zip(block.item, block.system, strict=True))
            starts = [
                0,
                *[place for place, (one, other) in enumerate(answers, 1) if one != other],
                block.height,
            ]
            following: list[tuple[Any, ...]] = []
            order: list[int] = []
            for start, end in pairwise(starts):
                found = self._of_answer(block, start, end)
                order += range(start, end)
                first = block.height + len(following)
                order += range(first, first + len(found))
                following += found
            if following:
                made = RatingColumns(*zip(*following, strict=True))
                block = RatingColumns.joined([block, made]).at(order)
            yield block

    def _of_answer(self, block: RatingColumns, start: int, end: int) -> list[tuple[Any, ...]]:
        counted, raters = self._way(block, start, end)
        if not counted and not raters:
            return []
        answer = _Answer(block, start, end)
        for count in counted:
            said = count.said(answer.votes)
            answer.follow(count.places, said, count.name, "jury", count.dimension, 0)
        if raters:
            answer.join_jury()
        for kind, number, names, places in raters:
            for name, said in zip(self._names, self._derived(answer, names, places), strict=True):
                answer.follow(places, said, answer.raters[places[0]], kind, name, number)
        return answer.following

    def _way(self, block: RatingColumns, start: int, end: int) -> tuple[list[Count], Places]:
        shape = _shape(block, start, end)
        known = self._ways.get(shape)
        if known is None:
            if len(self._ways) >= _MOST_KNOWN:
                self._ways.clear()
            counted = self._counts(block.part(start, end))
            jury: list[Whose] = [
                (each.name, "jury", 0, shape[each.places[0]][3], each.dimension) for each in counted
            ]
            known = self._ways[shape] = counted, self._places([*shape, *jury])
        return known

    def _places(self, rows: Iterable[Whose]) -> Places:
        """At which places the rows of each rater and repeat are, by their dimensions. Nowhere, where nothing
        follows from any."""
        raters: dict[tuple[str | int, RaterKind, int], dict[str, int]] = {}
        for place, (rater, kind, number, instrument, dimension) in enumerate(rows):
            if self._names and instrument == self._label:
                raters.setdefault((rater, kind, number), {})[dimension] = place
        return [
            (kind, number, tuple(places), tuple(places.values()))
            for (_, kind, number), places in raters.items()
        ]

    def _derived(self, answer: _Answer, names: tuple[str, ...], places: tuple[int, ...]) -> list[Said]:
        """What follows from one rater's rows, in the order of the names of what follows."""
        assert self._instrument is not None
        votes = answer.votes
        # Only the words of what is reversed are passed on.
        words = [answer.words(at) for name, at in zip(names, places, strict=True) if name in self._worded]
        known = names, tuple([votes[place] for place in places]), tuple(words)
        found = self._known.get(known)
        if found is None:
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            outcomes = {name: answer.outcome(place) for name, place in zip(names, places, strict=True)}
            following = derive(self._instrument, outcomes)
            found = self._known[known] = [outcome_columns(following[name]) for name in self._names]
        return found


def _shape(block: RatingColumns, start: int, end: int) -> Shape:
    here = slice(start, end)
    whose = zip(
        block.rater[here], block.rater_kind[here], block.repeat[here], block.instrument[here],
        block.dimension[here], strict=True,
    )  # fmt: skip
    met: dict[str, int] = {}
    return tuple(
        [(met.setdefault(each[0], len(met)), *each[1:]) if each[1] == "clinician" else each for each in whose]
    )


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
