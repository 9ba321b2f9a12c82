"""The jury: several judges, their repeats, and how their votes become one rating."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from medjury.foundation.documents import nearest
from medjury.foundation.errors import MedjuryError
from medjury.judging._jury_rows import Count, Following, counts
from medjury.judging._jury_rule import Rule
from medjury.judging._rater import Rater
from medjury.store.ratings import Rating, RatingColumns, rating_blocks


@dataclass(frozen=True)
class Bench:
    """Who votes together and how: the `members` named, or, where none is, all judges."""

    name: str = "jury"
    members: tuple[str, ...] = ()
    rule: Rule = "mean"
    quorum: int | None = None


@dataclass(frozen=True)
class Jury:
    """Judges that grade by one instrument, in its words or in others. `quorum` is how many judges must have given a
    score; by default more than half. Two judges that would give the very same answers are refused: that is
    one judge counted twice, and `repeats` is the way to ask one judge again.

    `benches` are the juries that are formed of the judges, where it is not one of all of them: several, some of
    which a judge may have no part in, or none at all."""

    judges: Sequence[Rater]
    repeats: int = 1
    rule: Rule = "mean"
    quorum: int | None = None
    name: str = "jury"
    benches: tuple[Bench, ...] | None = None

    @property
    def all_benches(self) -> tuple[Bench, ...]:
        """Every jury that is formed of the judges."""
        return (Bench(self.name, (), self.rule, self.quorum),) if self.benches is None else self.benches

    def __post_init__(self) -> None:
        if not self.judges:
            raise MedjuryError("a jury needs at least one judge")
        names = [judge.name for judge in self.judges]
        for name in names:
            if names.count(name) > 1:
                raise MedjuryError(f"two judges are called {name!r}; give each its own `name`")
        for bench in self.all_benches:
            _check(bench, names, [each.name for each in self.all_benches])
        known: dict[str, str] = {}
        for judge in self.judges:
            twin = known.setdefault(judge.settings_hash(), judge.name)
            if twin != judge.name:
                if not judge.models:
                    raise MedjuryError(
                        f"judges {twin!r} and {judge.name!r} have the very same scores: one judge counted twice. "
                        "Name another file, or another `rater` of it."
                    )
                raise MedjuryError(
                    f"judges {twin!r} and {judge.name!r} are the same model with the same settings: one judge "
                    "counted twice. Change a setting (seed, temperature, model), or use `repeats`."
                )
        endings: dict[str, str] = {}
        for judge in self.judges:
            ending = judge.revises_as
            twin = endings.setdefault(ending, judge.name) if ending else judge.name
            if twin != judge.name:
                raise MedjuryError(
                    f"{twin!r} and {judge.name!r} both revise texts and rate them as those of a system ending in "
                    f"{ending!r}, but their texts differ; give each its own `suffix`"
                )
        if len({judge.instrument.shape() for judge in self.judges}) > 1:
            raise MedjuryError(
                "the judges of a jury must use the same instrument, or other words on its scale"
            )

    def ratings(self, votes: Iterable[Rating]) -> Iterator[Rating]:
        """Every vote, then what follows from it: the jury's rows, reversed dimensions and composites.

        `votes` come grouped by item and system, as a store gives them; clinicians' rows pass through.
        """
        for block in self.blocks(rating_blocks(votes)):
            yield from block.ratings()

    def blocks(self, votes: Iterable[RatingColumns]) -> Iterator[RatingColumns]:
        """The same column by column."""
        instrument = self.judges[0].instrument
        # What follows from the marks of a case follows from the points of its criteria too: see `criteria_scores`.
        return Following(self._counts, None if instrument.by_case else instrument).blocks(votes)

    def _counts(self, rows: RatingColumns) -> list[Count]:
        """How the votes on one answer become the rows of every jury."""
        names = [judge.name for judge in self.judges]
        revising = [judge.name for judge in self.judges if judge.revises_as]
        rated = {
            judge.name: {*rows.dimension}
            if judge.instrument.by_case
            else {each for group in judge.groups for each in group}
            for judge in self.judges
        }
        seats = _seats(rows, names, revising) if revising else names
        return [
            count
            for bench in self.all_benches
            for those, dimensions in _by_seats(rows, _of_bench(seats, bench), rated)
            for count in counts(
                rows,
                those,
                self.repeats,
                bench.rule,
                None if bench.quorum is None else min(bench.quorum, len(those)),
                bench.name,
                dimensions,
            )
        ]


def _check(bench: Bench, judges: Sequence[str], benches: Sequence[str]) -> None:
    if bench.name in judges:
        raise MedjuryError(f"a judge and the jury are both called {bench.name!r}; rename one")
    if benches.count(bench.name) > 1:
        raise MedjuryError(f"two juries are called {bench.name!r}; give each its own `name`")
    for name in bench.members:
        if name not in judges:
            raise MedjuryError(f"the jury {bench.name!r} has no judge {name!r}; {nearest(name, judges)}")
        if bench.members.count(name) > 1:
            raise MedjuryError(f"{name!r} is named twice in the jury {bench.name!r}: one judge counted twice")


def _of_bench(seats: Sequence[str], bench: Bench) -> Sequence[str]:
    return seats if not bench.members else [name for name in seats if name in bench.members]


def _by_seats(
    rows: RatingColumns, seats: Sequence[str], rated: Mapping[str, Collection[str]]
) -> Iterator[tuple[Sequence[str], Collection[str]]]:
    """The voters and the dimensions they vote on: a way of judging that does not rate a dimension at all has no
    seat there, for its silence is no failure."""
    found: dict[tuple[str, ...], set[str]] = {}
    votes = zip(rows.rater, rows.rater_kind, rows.dimension, strict=True)
    for dimension in dict.fromkeys(each for rater, kind, each in votes if kind == "judge" and rater in seats):
        those = tuple(name for name in seats if dimension in rated[name])
        found.setdefault(those, set()).add(dimension)
    return ((those, dimensions) for those, dimensions in found.items() if those)


def _seats(rows: RatingColumns, names: Sequence[str], revising: Sequence[str]) -> list[str]:
    """Who votes on this answer. A judge that revises answers rates its own texts, and nobody else does, so on those
    it has the only seat, and on the others it has none."""
    voted = {rater for rater, kind in zip(rows.rater, rows.rater_kind, strict=True) if kind == "judge"}
    return [name for name in revising if name in voted] or [name for name in names if name not in revising]
