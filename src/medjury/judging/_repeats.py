"""Repeats as one judge: the same question drawn several times, one score from all of them, the spread kept."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from medjury.foundation.errors import MedjuryError
from medjury.instruments import Instrument, Outcome, Reason, Score, Unscored
from medjury.judging._judge import Judge
from medjury.judging._jury_rule import Rule, combine
from medjury.judging._rater import Expected, PlainRater, Rated, Unit, Used
from medjury.judging._rows import passing_failure, rows_of
from medjury.models import Answer, ChatModel, Gate
from medjury.store.runs import Body, RecordedOutcome, RunPart

# The record of repeats: every draw of one judge, and how far the draws lie apart.


class RecordedDraw(RunPart):
    """One draw: its number from 1, the seed it was asked with, and what it said of each dimension."""

    draw: int
    seed: int | None = None
    outcomes: dict[str, RecordedOutcome]


class Spread(RunPart):
    scores: tuple[float, ...]
    mean: float
    median: float
    standard_deviation: float


class RepeatsBody(Body):
    """The record: every draw, and the spread of each dimension that has two scores or more."""

    kind: str = "repeats"
    n: int
    rule: str = ""
    draws: tuple[RecordedDraw, ...]
    spread: dict[str, Spread] = {}


# Part of every rating's key: raise it whenever the same draws would become another rating.
_VERSION = 1


@dataclass(frozen=True)
class Repeats(PlainRater):
    """`judge` asked `n` times about each case, with the seeds `seed`, `seed + 1` and so on; one rating per
    dimension by `rule` from the draws that gave a score, of which more than half (or `quorum`) are needed.

    The draws are the very ones that the judge itself would give as repeats 0 to `n - 1`: whichever of the two is
    run second finds the replies of the first.
    """

    judge: Judge
    n: int = 5
    rule: Rule = "median"
    quorum: int | None = None

    def __post_init__(self) -> None:
        if self.n < 2:
            raise MedjuryError(f"n is {self.n}: repeats need 2 draws or more")
        if self.quorum is not None and not 1 <= self.quorum <= self.n:
            raise MedjuryError(f"quorum is {self.quorum}; it is a number of draws from 1 to {self.n}")
        if self.judge.temperature == 0:
            raise MedjuryError(
                f"at temperature 0 a model gives the same answer again, so {self.n} draws cost {self.n} "
                "times as much "
                "and add nothing: set a `temperature` above 0, or null to leave it to the endpoint"
            )

    @property
    def name(self) -> str:
        return self.judge.name

    @property
    def instrument(self) -> Instrument:
        return self.judge.instrument

    @property
    def models(self) -> Sequence[ChatModel]:
        return self.judge.models

    @property
    def groups(self) -> tuple[tuple[str, ...], ...]:
        return self.judge.groups

    def _stated(self) -> Sequence[object]:
        return ["repeats", _VERSION, self.judge.settings_hash(), self.n, self.rule, self.quorum]

    def describe(self) -> Mapping[str, object]:
        own = {"strategy": "repeats", "n": self.n, "rule": self.rule, "quorum": self.quorum}
        return {**self.judge.describe(), **own}

    def expected(self, unit: Unit) -> Expected | Unscored:
        """`n` times the judge: every draw sends the whole question again."""
        one = self.judge.expected(unit)
        if isinstance(one, Unscored):
            return one
        most = Used().plus(one.most, self.n)
        return Expected(self.n * one.calls, self.n * one.tokens_in, self.n * one.tokens_out, most)

    async def rate(self, unit: Unit, gate: Gate) -> Rated:
        draws: list[tuple[int, Mapping[str, Outcome]]] = []
        answers: list[Answer] = []
        asked = False
        for number in range(self.n):
            # The draws of a study's second repeat follow those of its first.
            place = unit.repeat * self.n + number
            drawn, taken = await self.judge.grade(replace(unit, repeat=place), gate)
            draws.append((place, drawn))
            answers += taken or ()
            asked = asked or taken is not None
            for_now = passing_failure(drawn.values())
            if for_now is not None:  # the draws so far are kept; the next run goes on from here
                failed = Unscored(for_now.reason, f"draw {number + 1} of {self.n}: {for_now.message}")
                return self._rated(unit, dict.fromkeys(unit.dimensions, failed), draws, answers)
            if taken is None:  # it cannot be asked, and will not be another time
                break
        outcomes = {name: self._settle([said[name] for _, said in draws]) for name in unit.dimensions}
        return self._rated(unit, outcomes, draws, answers if asked else None)

    def _settle(self, votes: Sequence[Outcome]) -> Outcome:
        """One outcome from the draws. Where all of them failed in the same way, that is the reason."""
        failures = {vote.reason: vote for vote in votes if isinstance(vote, Unscored)}
        if len(failures) == 1 and all(isinstance(vote, Unscored) for vote in votes):
            (failure,) = failures.values()
            if len(votes) < self.n:
                return failure
            return Unscored(failure.reason, f"each of {self.n} draws: {failure.message}")
        together = combine(votes, seats=self.n, rule=self.rule, quorum=self.quorum)
        if isinstance(together, Score):
            said = [vote for vote in votes if isinstance(vote, Score)]
            return replace(together, explanation=_in_words(together, said))
        if isinstance(together, Unscored):
            return replace(together, message=together.message + _reasons(votes))
        return together

    def _rated(
        self,
        unit: Unit,
        outcomes: Mapping[str, Outcome],
        draws: Sequence[tuple[int, Mapping[str, Outcome]]],
        answers: Sequence[Answer] | None,
    ) -> Rated:
        seed = self.judge.seed
        record = RepeatsBody(
            n=self.n,
            rule=self.rule,
            draws=tuple(
                RecordedDraw(
                    draw=number,
                    seed=None if seed is None else seed + place,
                    outcomes={name: RecordedOutcome.of(outcome) for name, outcome in said.items()},
                )
                for number, (place, said) in enumerate(draws, 1)
            ),
            spread={
                name: spread
                for name in unit.dimensions
                if (spread := _spread(_scores(draws, name))) is not None
            },
        )
        return Rated(rows_of(unit, outcomes, answers), record)


def _scores(draws: Sequence[tuple[int, Mapping[str, Outcome]]], name: str) -> list[float]:
    return [vote.value for vote in (said[name] for _, said in draws) if isinstance(vote, Score)]


def _spread(scores: Sequence[float]) -> Spread | None:
    if len(scores) < 2:
        return None
    return Spread(
        scores=tuple(scores),
        mean=statistics.fmean(scores),
        median=statistics.median(scores),
        standard_deviation=statistics.stdev(scores),
    )


def _in_words(together: Score, said: Sequence[Score]) -> str:
    """The scores and their spread, and the words of the draw nearest to the result, the first of several."""
    values = [vote.value for vote in said]
    spread = f", standard deviation {statistics.stdev(values):.2f}" if len(values) > 1 else ""
    nearest = min(said, key=lambda vote: abs(vote.value - together.value))
    words = f". A draw of {nearest.value:g} said: {nearest.explanation}" if nearest.explanation else ""
    return f"{together.explanation}{spread}{words}"


def _reasons(votes: Sequence[Outcome]) -> str:
    """How often each reason kept a draw from giving a score."""
    reasons = [vote.reason for vote in votes if isinstance(vote, Unscored)]
    each = [f"{reasons.count(reason)} {reason.value}" for reason in Reason if reason in reasons]
    return f" ({', '.join(each)})" if each else ""
