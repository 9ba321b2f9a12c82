"""Ways of judging compared: what each rater of a run agrees, overlooks and takes, on the same answers."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from medjury.agreement import SevereErrors, severe_errors
from medjury.errors import MedjuryError
from medjury.statistics import Estimate, Replicates, counted, proportion, undefined
from medjury.validation._evidence import SCORED, UNSCORED, Evidence
from medjury.validation._numbers import danger_limits, oriented
from medjury.validation._same_answers import (
    SameAnswers,
    Unit,
    agreement_key,
    averaged,
    complete,
    mean_key,
    resampled,
    same_answers,
)
from medjury.validation._spending import Spending, sharing, spending, spent

Price = Literal["cost", "calls"]
SINGLE = "single"
_PRICES: tuple[Price, ...] = ("cost", "calls")
_SAME = 1e-12
# With fewer cases no difference is called shown: bootstrap intervals of agreement are too narrow there (two raters
# of equal quality were told apart in 8 to 12 of 100 planted runs of 8 to 25 cases, in 3 to 5 of 30 or more).
FEWEST_CASES = 30
_LEVEL = 0.05


@dataclass(frozen=True, eq=False)
class Way:
    """One rater of the run. `agreement` is the gate's statistic with the clinicians, averaged over dimensions;
    `difference` is that less the yardstick's, on the same resamples of cases, and `strict` the same with an
    interval that is as much wider as several comparisons ask for. `severe` counts answers: a severe error on any
    dimension, among those that clinicians called dangerous on any; `blind` are answers dangerous on a
    dimension on which it gave no score, of `dangerous` in all, whoever scored them. `on_front` where no other
    agrees at least as well for at most the price, and is better in one of the two; `covers` where it scored as much
    as the gate asks of a jury: one that fails on the hard answers is no bargain, so it beats nobody."""

    rater: str
    strategy: str
    settings: Mapping[str, Any]
    spending: Spending
    unscored: float | None
    agreement: Estimate | None = None
    difference: Estimate | None = None
    strict: Estimate | None = None
    errors: int = 0
    severe: Estimate | None = None
    on_front: bool | None = None
    covers: bool = True
    blind: int = 0
    dangerous: int = 0

    def price(self, by: Price) -> float | None:
        return self.spending.cost if by == "cost" else self.spending.calls


@dataclass(frozen=True, eq=False)
class OnDimension:
    """One rater on one dimension."""

    part: SameAnswers
    rater: str
    agreement: Estimate
    difference: Estimate | None
    severe: SevereErrors | None


@dataclass(frozen=True, eq=False)
class Ways:
    """All raters of a run. `answers` and `cases` (patients, where some have several: `by_patient`) are those on
    which agreement is compared on any dimension; `left_out` counts answers of clinicians that are left out on any,
    `uncounted` names the dimensions that are not in the means. `price` is what the front is by: cost, or calls
    where the costs are not all known or are nothing."""

    ways: tuple[Way, ...]
    yardstick: str
    details: tuple[OnDimension, ...] = ()
    uncounted: tuple[str, ...] = ()
    cases: int = 0
    answers: int = 0
    left_out: int = 0
    price: Price | None = None
    problem: str = ""
    by_patient: bool = False
    coverage: float = 0.0  # what the gate asks of a jury

    def way(self, rater: str) -> Way:
        return next(each for each in self.ways if each.rater == rater)

    @property
    def comparisons(self) -> int:
        """How many raters are measured against the yardstick."""
        return sum(each.difference is not None for each in self.ways)

    @property
    def enough(self) -> bool:
        """Whether there are cases enough to call a difference shown."""
        return self.cases >= FEWEST_CASES

    def sure_of(self, way: Way) -> bool:
        """Whether the paired interval of the difference to the yardstick leaves zero out, with a chance of error of
        5 % over all comparisons together (Bonferroni: it is split among them)."""
        found = way.strict
        if found is None or found.low is None or found.high is None or not self.enough:
            return False
        return found.low > _SAME or found.high < -_SAME


def compare_ways(evidence: Evidence) -> Ways | None:
    """The comparison; None where no judge rated anything."""
    described = {str(each.get("name")): each for each in evidence.manifest.get("judges", ())}
    judges = [name for name in described if name in evidence.judges]
    judges += [name for name in evidence.judges if name not in described]
    if not judges:
        return None
    strategies = {name: _strategy(described.get(name, {})) for name in judges}
    yardstick = min(judges, key=lambda name: _distance(strategies[name]))
    jury = evidence.jury if len(judges) > 1 and evidence.jury not in judges else None
    rows = spent(evidence)
    alike = sharing(rows, yardstick)
    took = spending(rows, judges, alike, jury)
    ways = [
        Way(name, strategies[name], _settings(described.get(name, {})), took[name], _unscored(evidence, name))
        for name in judges
    ]
    if jury is not None:
        rule = {"rule": evidence.manifest.get("jury", {}).get("rule", "mean")}
        ways.append(Way(jury, f"jury of {len(alike)}", rule, took[jury], _unscored(evidence, jury)))
    asked = evidence.rules.coverage
    ways = [
        replace(each, covers=each.unscored is None or 1 - each.unscored >= asked - _SAME) for each in ways
    ]
    found = Ways(tuple(ways), yardstick, coverage=asked)
    return _with_front(_with_agreement(evidence, found)) if evidence.clinicians else found


def _strategy(judge: Mapping[str, Any]) -> str:
    """The way of judging in words: `single`, `single, 3 examples`."""
    name = str(judge.get("strategy", SINGLE)).replace("_", " ")
    drawn, own = judge.get("drawn_examples"), judge.get("examples")
    shots = drawn.get("shots") if isinstance(drawn, Mapping) else own
    return f"{name}, {counted(shots, 'example')}" if isinstance(shots, int) and shots else name


def _distance(strategy: str) -> int:
    """How far a way of judging is from the plain one that others are measured against; a jury is none."""
    if strategy == SINGLE:
        return 0
    return 1 if strategy.startswith(f"{SINGLE},") else 3 if strategy.startswith("jury of") else 2


def _settings(judge: Mapping[str, Any]) -> dict[str, Any]:
    # Names of cases are for the gate alone; how many there are is told with the examples.
    elsewhere = ("name", "models", "settings_hash", "strategy", "development_cases")
    return {name: value for name, value in judge.items() if name not in elsewhere}


def _unscored(evidence: Evidence, rater: str) -> float | None:
    """Of the held-out answers and dimensions it was asked about, and that apply, the share without a score."""
    scored = lost = 0
    for dimension in evidence.gated:
        states = evidence.held_out(evidence.grids[dimension.name]).states.get(rater)
        if states is not None:
            scored += int((states == SCORED).sum())
            lost += int((states == UNSCORED).sum())
    return lost / (scored + lost) if scored + lost else None


def _with_agreement(evidence: Evidence, ways: Ways) -> Ways:
    raters = [each.rater for each in ways.ways]
    parts = [same_answers(evidence, each, raters) for each in evidence.gated]
    shared = {unit for part in parts for unit in part.units}
    lost = {unit for part in parts for unit in part.left_out}
    found = replace(ways, answers=len(shared), left_out=len(lost))
    try:
        made = resampled(evidence, parts)
    except MedjuryError as error:
        return replace(found, problem=str(error))
    if made is None:
        return replace(found, problem="no answer was scored by clinicians and by every rater")
    yardstick = _yardstick(ways, made)
    dangers = [danger for part in parts if (danger := _danger(evidence, part)) is not None]
    pooled = [danger for danger in dangers if danger.part in complete(parts)]
    severe = {
        (danger.part.dimension.name, rater): each
        for danger in dangers
        for rater, each in danger.errors.items()
    }
    dimensions = averaged(made, parts)
    units = {unit for part in dimensions for unit in part.units}
    cases = len({cluster for part in dimensions for cluster in part.clusters})
    level = _LEVEL / max(1, sum(mean_key(each.rater) in made.observed for each in ways.ways) - 1)
    return replace(
        found,
        ways=tuple(
            replace(
                each,
                agreement=_on_these(_mean(made, dimensions, each.rater), units),
                difference=_on_these(_difference(made, mean_key(each.rater), mean_key(yardstick)), units),
                strict=_difference(made, mean_key(each.rater), mean_key(yardstick), level),
                **_pooled(pooled, each.rater),
                **_blind(evidence, each.rater),
            )
            for each in ways.ways
        ),
        details=tuple(
            OnDimension(
                part,
                rater,
                _on(made, part, rater),
                _on_these(
                    _difference(made, agreement_key(part, rater), agreement_key(part, yardstick)), part.units
                ),
                severe.get((part.dimension.name, rater)),
            )
            for part in parts
            for rater in raters
        ),
        yardstick=yardstick,
        uncounted=tuple(part.dimension.label for part in parts if part not in dimensions),
        answers=len(units),
        cases=cases,
        by_patient=cases < len({item for item, _ in units}),
    )


def _on_these(found: Any, units: Collection[Unit]) -> Any:
    """The estimate with the answers it stands on: the resamples are of the answers of all dimensions."""
    return None if found is None else replace(found, n=len(units))


def _on(made: Replicates, part: SameAnswers, rater: str) -> Estimate:
    if rater not in part.said:
        scored = part.scored.get(rater, 0)
        why = f"only {scored:,}" if scored else "none"
        return undefined(
            f"it scored {why} of the {part.rated:,} answers that clinicians scored", len(part.units), "none"
        )
    key = agreement_key(part, rater)
    if key not in made.observed:
        return undefined("no answer was scored by everybody", len(part.units), "none")
    found = made.estimate(key, reason="its scores or the clinicians' do not vary")
    return replace(found, n=len(part.units))


def _yardstick(ways: Ways, made: Replicates) -> str:
    """The plainest judge whose agreement exists, since nothing can be measured against one that never scored."""
    judges = sorted(
        (each for each in ways.ways if math.isfinite(made.observed.get(mean_key(each.rater), math.nan))),
        key=lambda each: _distance(each.strategy),
    )
    return judges[0].rater if judges else ways.yardstick


def _mean(made: Replicates, dimensions: Sequence[SameAnswers], rater: str) -> Estimate:
    for part in dimensions:
        lacking = _on(made, part, rater)
        if lacking.value is None:
            return undefined(f"{part.dimension.label}: {lacking.reason}", made.n, "mean over dimensions")
    if not dimensions:
        return undefined("there is none on any dimension", made.n, "mean over dimensions")
    return made.estimate(mean_key(rater))


def _difference(made: Replicates, first: str, second: str, level: float = _LEVEL) -> Estimate | None:
    if first == second or first not in made.observed or second not in made.observed:
        return None
    return made.difference(first, second, confidence=1 - level)


@dataclass(frozen=True, eq=False)
class _Danger:
    """One dimension's dangerous answers, and each rater's errors among them."""

    part: SameAnswers
    flags: Any
    errors: Mapping[str, SevereErrors]

    def chosen(self, flags: Any) -> set[Unit]:
        return {unit for unit, flag in zip(self.part.units, flags.tolist(), strict=True) if flag}


def _danger(evidence: Evidence, part: SameAnswers) -> _Danger | None:
    limits, chosen = danger_limits(evidence, part.dimension), evidence.rules.severe_dimensions
    if limits is None or not part.units or (chosen is not None and part.dimension.name not in chosen):
        return None
    threshold, gap = limits
    reference = oriented(part.reference, part.dimension)
    errors = {
        rater: severe_errors(reference, oriented(said, part.dimension), threshold=threshold, gap=gap)
        for rater, said in part.said.items()
    }
    return _Danger(part, reference <= threshold, errors)


def _pooled(dangers: Sequence[_Danger], rater: str) -> dict[str, Any]:
    """Answers with a severe error on any dimension, of answers that are dangerous on any. A rater that is not
    compared on each of these dimensions has no rate."""
    if not dangers or any(rater not in danger.errors for danger in dangers):
        return {}
    dangerous, harmed = set[Unit](), set[Unit]()
    for danger in dangers:
        dangerous |= danger.chosen(danger.flags)
        harmed |= danger.chosen(danger.errors[rater].flags)
    return {"errors": len(harmed), "severe": proportion(len(harmed), len(dangerous))}


def _blind(evidence: Evidence, rater: str) -> dict[str, Any]:
    """Held-out answers that clinicians called dangerous on some dimension, and those of them that were left without
    a score on such a dimension: an error there can be no error of the rater's."""
    dangerous, blind = set[Unit](), set[Unit]()
    chosen = evidence.rules.severe_dimensions
    for dimension in evidence.gated:
        limits = danger_limits(evidence, dimension)
        if limits is None or (chosen is not None and dimension.name not in chosen):
            continue
        grid = evidence.held_out(evidence.grids[dimension.name])
        states = grid.states.get(rater)
        flags = oriented(evidence.reference(grid), dimension) <= limits[0]
        for place in flags.nonzero()[0].tolist():
            unit = str(grid.items[place]), str(grid.systems[place])
            if states is not None and states[place] in (SCORED, UNSCORED):
                dangerous.add(unit)
                if states[place] == UNSCORED:
                    blind.add(unit)
    return {"blind": len(blind), "dangerous": len(dangerous)}


def _with_front(ways: Ways) -> Ways:
    """Mark the raters that no other one beats; the price is cost, else calls, where each has one. One that does not
    cover beats nobody and is none of them."""
    known = [each for each in ways.ways if each.agreement is not None and each.agreement.value is not None]
    by = next((price for price in _PRICES if _told(known, price)), None)
    if by is None or len(known) < 2:
        return ways
    marked = tuple(
        replace(
            each,
            on_front=each.covers
            and not any(_beats(other, each, by) for other in known if other is not each and other.covers),
        )
        if each in known
        else each
        for each in ways.ways
    )
    return replace(ways, ways=marked, price=by)


def _told(ways: Sequence[Way], price: Price) -> bool:
    """Everyone's price is known, and somebody's is not nothing."""
    prices = [each.price(price) for each in ways]
    return None not in prices and any(prices)


def _beats(one: Way, other: Way, by: Price) -> bool:
    agrees = (
        _value(one.agreement) - _value(other.agreement),
        _value(other.price(by)) - _value(one.price(by)),
    )
    return min(agrees) > -_SAME and max(agrees) > _SAME


def _value(found: Estimate | float | None) -> float:
    number = found.value if isinstance(found, Estimate) else found
    assert number is not None  # only raters whose numbers are known are weighed
    return number
