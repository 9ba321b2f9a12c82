"""From a run's ratings to the comparison of its ways of judging."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from medjury.analysis.agreement import SevereErrors, severe_errors
from medjury.foundation.errors import MedjuryError
from medjury.statistics import Estimate, Replicates, error_rate, paired_rate_difference, undefined
from medjury.store.runs import Manifest, ManifestJudge
from medjury.tables import ABSENT, SCORED, Names, RatingTable, Roles, rating_table
from medjury.validation._evidence import coverage_of, roles_of
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
from medjury.validation._ways import OnDimension, Spent, Way, Ways, sharing, spending, spent

# Which ways of judging are unbeaten: nobody agrees at least as well for at most the price.

_PRICES: tuple[Spent, ...] = ("cost", "calls")


def with_front(ways: Ways) -> Ways:
    """Mark the raters that no other one beats; the price is cost, else calls, where each has one. One that does not
    cover beats nobody and is not one of them."""
    known = {
        each.rater: each.agreement.value
        for each in ways.rows
        if each.agreement is not None and each.agreement.value is not None
    }
    able = [each for each in ways.rows if each.rater in known]
    by = next((price for price in _PRICES if _priced(able, price)), None)
    if by is None or len(able) < 2:
        return ways

    def beats(one: Way, other: Way) -> bool:
        gains = (known[one.rater] - known[other.rater], (other.price(by) or 0.0) - (one.price(by) or 0.0))
        return min(gains) > -_SAME and max(gains) > _SAME

    marked = {
        each.rater: each.covers and not any(beats(other, each) for other in able if other.covers)
        for each in able
    }
    rows = tuple(replace(each, on_front=marked.get(each.rater)) for each in ways.rows)
    return replace(ways, rows=rows, price=by)


def _priced(ways: Sequence[Way], price: Spent) -> bool:
    """Everyone's price is known, and somebody's is not nothing."""
    prices = [each.price(price) for each in ways]
    return None not in prices and any(prices)


# Danger and ways of judging: severe errors on the same answers, and dangerous ones that a rater left unscored.


Errors = Mapping[str, SevereErrors]  # each rater's on one dimension
Danger = tuple[SameAnswers, Errors]


def errors_of(table: RatingTable, part: SameAnswers) -> Errors:
    """Nothing where danger is not judged on the dimension, or no answer is shared."""
    limits = part.dimension.claimed_danger(table.rules)
    if limits is None or not part.units:
        return {}
    how: dict[str, Any] = {"threshold": limits[0], "gap": limits[1], "clusters": part.clusters}
    return {
        rater: severe_errors(part.danger, part.dimension.oriented(given), **how)
        for rater, given in part.given.items()
    }


def pooled(dangers: Sequence[Danger], rater: str, yardstick: str, confidence: float) -> dict[str, Any]:
    """Answers with a severe error on any dimension, of answers that are dangerous on any, and the change from the
    yardstick's rate. A rater that is not compared on each of these dimensions has no rate."""
    harmed = _harmed(dangers, rater)
    if harmed is None:
        return {}
    dangerous = dict[Unit, str]()
    for part, errors in dangers:
        whose = zip(part.units, part.clusters, errors[rater].danger.tolist(), strict=True)
        # In the order of the answers: that of a set differs from process to process, and so would the last digits.
        dangerous |= {unit: cluster for unit, cluster, flag in whose if flag}
    clusters = list(dangerous.values())
    mine = [unit in harmed for unit in dangerous]
    rate = error_rate(mine, clusters, confidence=confidence)
    found = {"errors": len(harmed), "severe": rate}
    others = _harmed(dangers, yardstick)
    if rater != yardstick and others is not None:
        theirs = [unit in others for unit in dangerous]
        found["severe_change"] = paired_rate_difference(theirs, mine, clusters, confidence=confidence)
    return found


def _harmed(dangers: Sequence[Danger], rater: str) -> set[Unit] | None:
    if not dangers or any(rater not in errors for _, errors in dangers):
        return None
    return {
        unit
        for part, errors in dangers
        for unit, flag in zip(part.units, errors[rater].flags.tolist(), strict=True)
        if flag
    }


def blind(table: RatingTable, roles: Roles, rater: str) -> dict[str, Any]:
    """Held-out answers that clinicians called dangerous on some dimension, and those of them that were left without
    a score on such a dimension: an error there can be no error of the rater's."""
    dangerous, unseen = set[Unit](), set[Unit]()
    for dimension in table.counted:
        limits = dimension.claimed_danger(table.rules)
        if limits is None:
            continue
        grid = table.grid(dimension.name, roles)
        states = grid.states.get(rater)
        flags = table.danger_word(grid, dimension, roles.reference) <= limits[0] + 1e-9
        for place in flags.nonzero()[0].tolist():
            unit = str(grid.items[place]), str(grid.systems[place])
            # That something does not apply is no excuse where a clinician saw danger.
            if states is not None and states[place] != ABSENT:
                dangerous.add(unit)
                if states[place] != SCORED:
                    unseen.add(unit)
    return {"blind": len(unseen), "dangerous": len(dangerous)}


SINGLE = "single"
_SAME = 1e-12


def compare_ways(
    table: object,
    *,
    dimensions: Names | None = None,
    confidence: float = 0.95,
    resamples: int | None = None,
    seed: int | None = None,
) -> Ways | None:
    """Every judge of a run, and every jury, on the same answers; None where no judge rated anything."""
    table = rating_table(table)
    manifest = table.run.manifest or Manifest()
    judges = [each.name for each in manifest.judges if each.name in table.judges]
    judges += [name for name in table.judges if name not in judges]
    if not judges:
        return None
    roles = roles_of(table)
    described = {name: manifest.judge(name) or ManifestJudge(name=name) for name in judges}
    yardstick = min(judges, key=lambda name: _distance(described[name].way))
    beside = [name for name in roles.on_trial if len(judges) > 1 and name not in judges]
    rows = spent(table)
    alike = sharing(rows, yardstick)
    rules = {each.name: each for each in (table.jury_rule, *table.juries)}
    juries = {name: rules.get(name, table.jury_rule) for name in beside}
    seats = {name: [each for each in rule.members or alike if each in alike] for name, rule in juries.items()}
    took = spending(rows, judges, alike, seats)
    lost = {name: _unscored(table, roles, name) for name in (*judges, *juries)}
    ways = [
        Way(name, described[name].way, _settings(described[name]), took[name], lost[name]) for name in judges
    ]
    ways += [
        Way(name, f"jury of {len(seats[name])}", {"rule": rule.rule}, took[name], lost[name])
        for name, rule in juries.items()
    ]
    asked = table.rules.coverage
    ways = [
        replace(each, covers=each.unscored is None or 1 - each.unscored >= asked - _SAME) for each in ways
    ]
    found = Ways(tuple(ways), yardstick, coverage=asked, confidence=confidence)
    if not roles.reference:
        return found
    parts = [
        same_answers(table, roles, each, [way.rater for way in ways])
        for each in table.chosen(dimensions, derived=False)
    ]
    drawn = {"resamples": table.resamples(resamples), "seed": table.seed(seed)}
    return with_front(_with_agreement(table, roles, found, parts, drawn))


def _distance(strategy: str) -> int:
    """How far a way of judging is from the plain one that others are measured against; a jury is none."""
    if strategy == SINGLE:
        return 0
    return 1 if strategy.startswith(f"{SINGLE},") else 3 if strategy.startswith("jury of") else 2


def _settings(judge: ManifestJudge) -> dict[str, object]:
    # Names of cases are for the gate alone; how many there are is stated with the examples.
    return {name: value for name, value in judge.others.items() if name != "development_cases"}


def _unscored(table: RatingTable, roles: Roles, rater: str) -> float | None:
    """Of the held-out answers and dimensions it was asked about, and that apply, the share without a score."""
    counts = [coverage_of(table, table.grid(each.name, roles), rater, roles) for each in table.counted]
    scored, asked = sum(each[1] for each in counts), sum(each[2] for each in counts)
    return (asked - scored) / asked if asked else None


def _with_agreement(
    table: RatingTable, roles: Roles, ways: Ways, parts: Sequence[SameAnswers], drawn: dict[str, int]
) -> Ways:
    raters = [each.rater for each in ways.rows]
    shared = {unit for part in parts if part.given for unit in part.units}
    lost = {unit for part in parts for unit in part.left_out}
    found = replace(ways, answers=len(shared), left_out=len(lost))
    try:
        made = resampled(parts, **drawn)
    except MedjuryError as error:
        return replace(found, warnings=(str(error),))
    if made is None:
        return replace(found, warnings=("no answer was scored by clinicians and by every rater",))
    yardstick, level = _yardstick(ways, made), ways.confidence
    dangers = [(part, errors) for part in parts if (errors := errors_of(table, part))]
    common = [(part, errors) for part, errors in dangers if part in complete(parts)]
    severe = {
        (part.dimension.name, rater): each for part, errors in dangers for rater, each in errors.items()
    }
    dimensions = averaged(made, parts)
    units = {unit for part in dimensions for unit in part.units}
    cases = len({cluster for part in dimensions for cluster in part.clusters})
    compared = sum(mean_key(each.rater) in made.observed for each in ways.rows)
    strict = 1 - (1 - level) / max(1, compared - 1)
    return replace(
        found,
        rows=tuple(
            replace(
                each,
                agreement=_on_these(_mean(made, dimensions, each.rater, level), units),
                difference=_on_these(
                    _difference(made, mean_key(each.rater), mean_key(yardstick), level), units
                ),
                strict=_difference(made, mean_key(each.rater), mean_key(yardstick), strict),
                **pooled(common, each.rater, yardstick, level),
                **blind(table, roles, each.rater),
            )
            for each in ways.rows
        ),
        details=tuple(
            OnDimension(
                part,
                rater,
                _on(made, part, rater, level),
                _on_these(
                    _difference(made, agreement_key(part, rater), agreement_key(part, yardstick), level),
                    part.units,
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


def _on_these(found: Estimate | None, units: Collection[Unit]) -> Estimate | None:
    """The estimate with the answers it rests on: the resamples are of the answers of all dimensions."""
    return None if found is None else replace(found, n=len(units))


def _on(made: Replicates, part: SameAnswers, rater: str, confidence: float) -> Estimate:
    if rater not in part.given:
        scored = part.scored.get(rater, 0)
        why = f"only {scored:,}" if scored else "none"
        return undefined(
            f"it scored {why} of the {part.rated:,} answers that clinicians scored", len(part.units), "none"
        )
    key = agreement_key(part, rater)
    if key not in made.observed:
        return undefined("no answer was scored by everybody", len(part.units), "none")
    found = made.estimate(key, confidence=confidence, reason="its scores or the clinicians' do not vary")
    return replace(found, n=len(part.units))


def _yardstick(ways: Ways, made: Replicates) -> str:
    """The plainest judge whose agreement exists, since nothing can be measured against one that never scored."""
    judges = sorted(
        (each for each in ways.rows if math.isfinite(made.observed.get(mean_key(each.rater), math.nan))),
        key=lambda each: _distance(each.strategy),
    )
    return judges[0].rater if judges else ways.yardstick


def _mean(made: Replicates, dimensions: Sequence[SameAnswers], rater: str, confidence: float) -> Estimate:
    for part in dimensions:
        lacking = _on(made, part, rater, confidence)
        if lacking.value is None:
            return undefined(f"{part.dimension.label}: {lacking.reason}", made.n, "mean over dimensions")
    if not dimensions:
        return undefined("there is none on any dimension", made.n, "mean over dimensions")
    return made.estimate(mean_key(rater), confidence=confidence, statistic=dimensions[0].statistic)


def _difference(made: Replicates, first: str, second: str, confidence: float) -> Estimate | None:
    if first == second or first not in made.observed or second not in made.observed:
        return None
    return made.difference(first, second, confidence=confidence)
