"""The adaptive jury: the cheapest juror first, and the next only while the decision is open."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, Self

from pydantic import model_validator

from medjury.foundation.errors import MedjuryError
from medjury.foundation.hashes import json_hash
from medjury.instruments import Instrument, Outcome, Reason, Score, Unscored
from medjury.judging._adaptive_rule import AdaptiveRule, Vote
from medjury.judging._judge import Graded, Judge
from medjury.judging._jury_rule import combine
from medjury.judging._rater import Beginnings, Expected, PlainRater, Rated, Unit, Used
from medjury.judging._rows import passing_failure, rows_of
from medjury.models import Answer, ChatModel, Gate
from medjury.store.runs import Body, RecordedOutcome, RunPart

# From the votes of an adaptive jury to one outcome. A vote that was lost keeps its seat, as in any jury: who is
# silent must not decide by it.

# The outcomes of each juror that was asked about one dimension, in the order of asking.
Ballots = Mapping[str, Sequence[Outcome]]


def has_quorum(ballots: Ballots) -> bool:
    """More than half of the jurors that were asked have voted, each by more than half of its draws."""
    return 2 * len(_voted(ballots)) > len(ballots)


def settle(ballots: Ballots, *, minimum: int, most_calls: int) -> Outcome:
    """One outcome: each juror's votes become one, then the jurors' votes one score."""
    votes = [
        (juror, vote) for juror, draws in ballots.items() for vote in draws if not isinstance(vote, Unscored)
    ]
    failures = {
        juror: draw for juror, draws in ballots.items() for draw in draws if isinstance(draw, Unscored)
    }
    why = "; ".join(f"{juror}: {each.reason.value}, {each.message}" for juror, each in failures.items())
    if not votes:
        return Unscored(list(failures.values())[-1].reason, f"no juror gave a usable vote ({why})")
    if len(votes) < minimum:
        return Unscored(Reason.NO_QUORUM, f"votes: {len(votes)} where {minimum} are needed ({why})")
    voted = _voted(ballots)
    if not has_quorum(ballots):
        counts = f"{len(voted)} of {len(ballots)} jurors asked gave a vote"
        return Unscored(Reason.NO_QUORUM, f"{counts}; more than half are needed ({why})")
    each = [combine(draws, seats=len(draws), rule="mean", quorum=1) for draws in voted.values()]
    together = combine(each, seats=len(ballots), rule="mean", quorum=1)
    if not isinstance(together, Score):
        return together
    calls = sum(map(len, ballots.values()))
    lost = f"; no vote from {why}" if why else ""
    words = _nearest(votes, together.value)
    return Score(
        together.value, f"{together.explanation}; {calls} of at most {most_calls} calls{lost}{words}"
    )


def _voted(ballots: Ballots) -> Ballots:
    """The usable votes of the jurors who gave more of them than they lost."""
    usable = {
        juror: [draw for draw in draws if not isinstance(draw, Unscored)] for juror, draws in ballots.items()
    }
    return {juror: votes for juror, votes in usable.items() if 2 * len(votes) > len(ballots[juror])}


def _nearest(votes: Sequence[tuple[str, Outcome]], value: float) -> str:
    """The words of the juror whose vote lies nearest to the score."""
    scored = [(juror, vote) for juror, vote in votes if isinstance(vote, Score)]
    juror, nearest = min(scored, key=lambda pair: abs(pair[1].value - value))
    return (
        f". {juror}, who gave {nearest.value:g}, said: {nearest.explanation}" if nearest.explanation else ""
    )


# The record of an adaptive jury: who was asked in which order, what was open after each, and why it stopped.

Stopped = Literal["settled", "all calls made", "not asked", "failed for now"]


class RecordedRule(RunPart):
    """The rule as it was: `maximum` calls at most; of fitted widths the hash."""

    signal: str = ""
    tolerance: float | None = None
    minimum: int = 1
    maximum: int
    threshold: float | None = None
    widths: str | None = None


class AdaptiveCall(RunPart):
    """One juror asked about the whole unit; `doubt` is None where there was nothing to go by."""

    juror: str
    round: int = 1
    outcomes: dict[str, RecordedOutcome]
    doubt: dict[str, float | None] = {}
    open: tuple[str, ...] = ()


class AdaptiveBody(Body):
    kind: str = "adaptive"
    jurors: tuple[str, ...]
    rule: RecordedRule
    stopped: Stopped
    calls: tuple[AdaptiveCall, ...]

    @model_validator(mode="after")
    def _its_own_jurors_were_asked_no_more_often_than_the_rule_allows(self) -> Self:
        if len(self.calls) > self.rule.maximum or any(each.juror not in self.jurors for each in self.calls):
            raise ValueError("more calls than its rule allows, or a juror that is not one of its own")
        if not self.calls and self.stopped != "not asked":
            raise ValueError("it has no calls")
        return self


# Part of every rating's key: raise it whenever the same votes would become another rating.
_VERSION = 2


@dataclass(frozen=True)
class AdaptiveJury(PlainRater):
    """`jurors` in the order in which they are asked, and the `rule` that says after each whether to go on.

    A call grades all dimensions at once, so the next juror is asked about the whole case while any dimension is
    open. The score is the mean of the jurors' votes, one juror's several votes counting as one. A juror whose
    answer cannot be used gives no vote: the next is asked, until more than half of those asked have voted; where
    they never have, there is no score. A failure that may pass (the endpoint is down, the budget is spent) ends the
    unit for now, so that who votes never depends on the state of the network. The calls
    are the very ones that the jurors would make as single judges: replies that are stored are not paid for again.
    """

    name: str
    jurors: Sequence[Judge]
    rule: AdaptiveRule = field(default_factory=AdaptiveRule)

    def __post_init__(self) -> None:
        names = [juror.name for juror in self.jurors]
        if not names:
            raise MedjuryError("an adaptive jury needs jurors; give two or more, the cheapest first")
        if len(set(names)) < len(names):
            raise MedjuryError(f"two jurors have the same name: {', '.join(names)}; give each its own")
        first = self.jurors[0]
        for juror in self.jurors[1:]:
            if (
                juror.instrument.fingerprint() != first.instrument.fingerprint()
                or juror.groups != first.groups
            ):
                raise MedjuryError(f"{juror.name} and {first.name} are not asked the same questions")
        if self.rule.minimum > self.most_calls:
            raise MedjuryError(
                f"{self.most_calls} calls cannot give the minimum of {self.rule.minimum} votes; name more jurors, "
                "lower `minimum` or raise `maximum`"
            )
        again = [
            juror.name
            for juror in self.jurors[: max(0, self.most_calls - len(names))]
            if juror.temperature == 0
        ]
        if again:
            raise MedjuryError(
                f"{self.most_calls} calls ask {again[0]} again, and at temperature 0 a model gives the "
                "same answer again: "
                f"set its `temperature` above 0, or `maximum` to {len(names)} or less"
            )
        if self.rule.widths is not None:
            missing = [
                each.name for each in first.instrument.dimensions if each.name not in self.rule.widths.cells
            ]
            if missing:
                raise MedjuryError(
                    f"the rule has no widths for {', '.join(missing)}; simulate the jury on them too"
                )

    @property
    def most_calls(self) -> int:
        return len(self.jurors) if self.rule.maximum is None else self.rule.maximum

    @property
    def instrument(self) -> Instrument:
        return self.jurors[0].instrument

    @property
    def models(self) -> Sequence[ChatModel]:
        return tuple(model for juror in self.jurors for model in juror.models)

    @property
    def groups(self) -> tuple[tuple[str, ...], ...]:
        return self.jurors[0].groups

    def _stated(self) -> Sequence[object]:
        jurors = [juror.settings_hash() for juror in self.jurors]
        return ["adaptive", _VERSION, jurors, self._rule_content(whole=True)]

    def describe(self) -> Mapping[str, object]:
        jurors = [
            {
                "name": juror.name,
                **{key: value for key, value in juror.describe().items() if key != "strategy"},
            }
            for juror in self.jurors
        ]
        shown = {"strategy": "adaptive", "jurors": jurors, "rule": self._rule_content()}
        known = {case for juror in jurors for case in _listed(juror.get("development_cases"))}
        return {**shown, "development_cases": sorted(known)} if known else shown

    def expected(self, unit: Unit) -> Expected | Unscored:
        """As if half of the calls beyond the minimum were made: how many will be is not known before the votes are.
        `medjury plan simulate-jury` tells what share to expect."""
        usual, most = Used(), Used()
        likely = self.rule.minimum + -(-(self.most_calls - self.rule.minimum) // 2)
        for turn in range(self.most_calls):
            one = self.jurors[turn % len(self.jurors)].expected(unit)
            if isinstance(one, Unscored):
                return one
            usual, most = usual.plus(one, turn < likely), most.plus(one.most)
        return Expected(usual.calls, usual.tokens_in, usual.tokens_out, most)

    def shared(self, unit: Unit) -> Beginnings:
        return self.jurors[0].shared(unit)

    async def rate(self, unit: Unit, gate: Gate) -> Rated:
        made: list[AdaptiveCall] = []
        ballots: dict[str, dict[str, list[Outcome]]] = {name: {} for name in unit.dimensions}
        answers: list[Answer] = []
        asked = False
        for turn in range(self.most_calls):
            juror = self.jurors[turn % len(self.jurors)]
            graded, taken = await self._ask(juror, unit, turn // len(self.jurors), gate)
            answers += taken or ()
            asked = asked or taken is not None
            for name, votes in ballots.items():
                votes.setdefault(juror.name, []).append(graded[name])
            made.append(self._call(juror.name, turn, graded, ballots))
            passing = passing_failure(graded.values())
            if passing is not None:
                failed = Unscored(passing.reason, f"juror {juror.name}: {passing.message}")
                return self._rated(
                    unit, dict.fromkeys(unit.dimensions, failed), made, answers, "failed for now"
                )
            if not made[-1].open:
                break
        outcomes = {
            name: settle(votes, minimum=self.rule.minimum, most_calls=self.most_calls)
            for name, votes in ballots.items()
        }
        if not asked:  # the case itself cannot be asked: no juror was, and the record must not say so
            return self._rated(unit, outcomes, [], None, "not asked")
        stopped: Stopped = "all calls made" if made[-1].open else "settled"
        return self._rated(unit, outcomes, made, answers, stopped)

    async def _ask(self, juror: Judge, unit: Unit, again: int, gate: Gate) -> Graded:
        rounds = -(-self.most_calls // len(self.jurors))
        # With one round these are the draws of the juror as a single judge; further rounds follow them.
        place = replace(unit, repeat=unit.repeat * rounds + again)
        return await juror.grade(place, gate)

    def _call(
        self, juror: str, turn: int, outcomes: Mapping[str, Outcome], ballots: Mapping[str, Ballots]
    ) -> AdaptiveCall:
        """The call in this turn, and what is open after it."""
        scales = {name: self._scale(name) for name in ballots}
        votes = {name: _votes(each) for name, each in ballots.items()}
        doubts = {name: self.rule.doubt(name, votes[name], scales[name]) for name in ballots}
        undecided = self.rule.still_open(votes, scales)
        return AdaptiveCall(
            juror=juror,
            round=turn // len(self.jurors) + 1,
            outcomes={name: RecordedOutcome.of(outcome) for name, outcome in outcomes.items()},
            # No number where there is nothing to go by.
            doubt={name: round(each, 4) if math.isfinite(each) else None for name, each in doubts.items()},
            open=tuple(name for name, each in ballots.items() if name in undecided or not has_quorum(each)),
        )

    def _rated(
        self,
        unit: Unit,
        outcomes: Mapping[str, Outcome],
        made: Sequence[AdaptiveCall],
        answers: Sequence[Answer] | None,
        stopped: Stopped,
    ) -> Rated:
        record = AdaptiveBody(
            jurors=tuple(juror.name for juror in self.jurors),
            rule=RecordedRule.model_validate(self._rule_content()),
            stopped=stopped,
            calls=tuple(made),
        )
        return Rated(rows_of(unit, outcomes, answers), record)

    def _scale(self, name: str) -> tuple[float, float]:
        dimension = self.instrument.dimension(name)
        return dimension.lowest, dimension.highest

    def _rule_content(self, *, whole: bool = False) -> dict[str, object]:
        """The rule as JSON values; of the widths, unless all is wanted, the hash."""
        rule = self.rule
        widths: object = None if rule.widths is None else rule.widths.content()
        if widths is not None and not whole:
            widths = json_hash(widths)
        return {
            "signal": "disagreement" if rule.widths is None else "conformal width",
            "tolerance": rule.tolerance,
            "minimum": rule.minimum,
            "maximum": self.most_calls,
            "threshold": rule.threshold,
            "widths": widths,
        }


def _votes(ballots: Ballots) -> list[Vote]:
    """The votes that were given: scores, and None for "not applicable"; a failure is no vote."""
    draws = (draw for given in ballots.values() for draw in given)
    return [
        each.value if isinstance(each, Score) else None for each in draws if not isinstance(each, Unscored)
    ]


def _listed(value: object) -> list[str]:
    return [str(each) for each in value] if isinstance(value, list) else []
