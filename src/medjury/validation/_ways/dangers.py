"""Danger and ways of judging: severe errors on the same answers, and dangerous ones that a rater left unscored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from medjury.agreement import SevereErrors, severe_errors
from medjury.records import dataclass
from medjury.statistics import error_rate, paired_rate_difference
from medjury.tables import ABSENT, SCORED, Measured, RatingTable, Roles
from medjury.validation._ways.same_answers import SameAnswers, Unit


@dataclass(frozen=True, eq=False)
class Dangers:
    """One dimension's dangerous answers, and each rater's errors among them."""

    part: SameAnswers
    flags: Any
    errors: Mapping[str, SevereErrors]

    def chosen(self, flags: Any) -> set[Unit]:
        return {unit for unit, flag in zip(self.part.units, flags.tolist(), strict=True) if flag}


def dangers_of(table: RatingTable, part: SameAnswers) -> Dangers | None:
    """None where danger is not judged on the dimension, or no answer is shared."""
    limits = _limits(table, part.dimension)
    if limits is None or not part.units:
        return None
    threshold, gap = limits
    reference = part.danger
    errors = {
        rater: severe_errors(
            reference, part.dimension.oriented(said), threshold=threshold, gap=gap, clusters=part.clusters
        )
        for rater, said in part.said.items()
    }
    return Dangers(part, reference <= threshold + 1e-9, errors)


def pooled(dangers: Sequence[Dangers], rater: str, yardstick: str, confidence: float) -> dict[str, Any]:
    """Answers with a severe error on any dimension, of answers that are dangerous on any, and the change from the
    yardstick's rate. A rater that is not compared on each of these dimensions has no rate."""
    harmed = _harmed(dangers, rater)
    if harmed is None:
        return {}
    dangerous = dict[Unit, str]()
    for danger in dangers:
        whose = zip(danger.part.units, danger.part.clusters, danger.flags.tolist(), strict=True)
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


def _harmed(dangers: Sequence[Dangers], rater: str) -> set[Unit] | None:
    if not dangers or any(rater not in danger.errors for danger in dangers):
        return None
    return {unit for danger in dangers for unit in danger.chosen(danger.errors[rater].flags)}


def blind(table: RatingTable, roles: Roles, rater: str) -> dict[str, Any]:
    """Held-out answers that clinicians called dangerous on some dimension, and those of them that were left without
    a score on such a dimension: an error there can be no error of the rater's."""
    dangerous, unseen = set[Unit](), set[Unit]()
    for dimension in table.counted:
        limits = _limits(table, dimension)
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


def _limits(table: RatingTable, dimension: Measured) -> tuple[float, float] | None:
    return dimension.claimed_danger(table.rules)
