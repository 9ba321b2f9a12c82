"""Where a new case lies: inside what was validated, or outside and why."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from medjury.in_use.passports._novelty import NoveltyTest
from medjury.in_use.passports._population import NOT_STATED, Population, group_value, number_of
from medjury.intake.cases import Case, content_marks


@dataclass(frozen=True, slots=True)
class Placed:
    """A case is inside, or has reasons why it is not. `p_value` is that of its `distance`."""

    item: str
    system: str
    inside: bool
    p_value: float
    distance: float
    reasons: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        return asdict(self) | {"reasons": list(self.reasons)}


class Placing:
    """Looks at new cases one by one. Outside by rule is a case with a system, specialty, site, language or age that
    no validated case had, and one that served development; any other is outside if the novelty test says so."""

    def __init__(self, population: Population) -> None:
        self._population = population
        self._marks = frozenset(population.development_marks)
        self._test = NoveltyTest(population.novelty)

    def place(self, case: Case) -> Placed:
        """Where this case lies, with every reason why it is not inside."""
        reasons = [*self._by_rule(case)]
        if not content_marks(case).isdisjoint(self._marks):
            reasons.append("served development: nothing was validated on it")
        distance, p_value, feature = self._test.look(case)
        if p_value <= self._test.alpha + 1e-12:
            reasons.append(
                f"unlike the validated cases: p = {p_value:.3g} at the level {self._test.alpha:g}, most of all by "
                f"{feature}"
            )
        return Placed(case.id, case.system, not reasons, p_value, distance, tuple(reasons))

    def _by_rule(self, case: Case) -> Iterator[str]:
        for name, known in self._population.groups.items():
            value = group_value(case, name)
            if value not in known:
                told = f"no {name} is stated" if value == NOT_STATED else f"{name} {value!r}"
                yield f"{told}: none of the validated cases"
        for name, own in self._population.ranges.items():
            number = number_of(case, name)
            if number is None:
                yield f"no {name} is stated: none of the validated cases"
            elif number < own.low or (own.high is not None and number > own.high):
                end = " and above" if own.high is None else f" to {own.high:g}"
                yield f"{name} {number:g}: the validated cases have {own.low:g}{end}"
