"""What a study can show: the chance to meet every rule of the gate at its size, and the size that it needs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from medjury.agreement._planning.gate_power import (
    Power,
    above,
    counted,
    dangerous_needed,
    few_errors,
    inside,
    low_end,
    most_errors,
)
from medjury.agreement._planning.gate_world import Expected, World, look_at
from medjury.agreement._planning.plan import smallest
from medjury.errors import MedjuryError
from medjury.records import dataclass
from medjury.runs import GateRules
from medjury.statistics import Printable, Result, percent, shown, text_table

_MOST = 200_000
FEWEST = 3
# Rules that look for a fault and pass a sound jury but for chance.
FAULTS = (
    "No formula plans the rules that only look for a fault (a copied clinician, a grade, a part of the cases or a "
    "system that is judged otherwise, missing answers that depend on quality): a sound jury meets them but for "
    "chance. `medjury plan gate --simulate 100` plans these too, and counts every answer of a case."
)


@dataclass(frozen=True, slots=True)
class RulePower:
    """One rule: what it asks, what is expected to be found, the chance to meet it with the cases of the study, and
    the cases it needs for the wanted chance (None: no number is enough). `doubly` where cases are meant that two
    clinicians rate."""

    rule: str
    asked: str
    expected: str
    power: float
    cases_needed: int | None
    doubly: bool = False

    def as_dict(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True)
class GatePlan(Result[RulePower]):
    """The rules of a gate, and all of them together. `cases` are rated by a clinician, `doubly` of them by two."""

    rows: tuple[RulePower, ...]
    warnings: tuple[str, ...]
    cases: int
    doubly: int
    clinicians: int
    dangerous: float
    power: float
    together: float
    cases_needed: int | None
    doubly_needed: int | None
    notes: tuple[str, ...] = ()
    rated: str = ""  # what clinicians have rated already, in words

    @property
    def dangerous_cases(self) -> float:
        """How many dangerous cases are to be expected."""
        return self.dangerous * self.cases

    def text(self) -> str:
        lines = [
            f"What this study can show: {self.cases:,} cases rated, {self.doubly:,} of them by two clinicians or "
            f"more; dangerous cases to expect: about {self.dangerous_cases:.0f} ({percent(self.dangerous, 1)})."
        ]
        lines += [self.rated] if self.rated else []
        lines += [f"! {each}" for each in self.warnings]
        lines += text_table(self.shown_rows())
        if self.cases_needed is None:
            alone = not self.doubly and all(each.cases_needed is not None for each in self.rows)
            why = (
                "no case is rated by two clinicians" if alone else "what is expected does not meet the rules"
            )
            needed = f"No number of cases is enough: {why}."
        else:
            needed = (
                f"For a chance of {percent(self.power)} to meet them all: {self.cases_needed:,} cases, "
                f"{self.doubly_needed:,} of them rated by two clinicians."
            )
        lines.append(f"The chance to meet all of them together is about {percent(self.together)}. {needed}")
        return "\n".join([*lines, *self.notes])

    def shown_rows(self) -> list[dict[str, Printable]]:
        return [
            {
                "rule": each.rule,
                "asked": each.asked,
                "expected": each.expected,
                "chance": percent(each.power),
                f"for {percent(self.power)}": "never"
                if each.cases_needed is None
                else "any"
                if each.cases_needed <= FEWEST
                else f"{each.cases_needed:,} cases{' by two' if each.doubly else ''}",
            }
            for each in self.rows
        ]

    def as_dict(self) -> dict[str, Any]:
        """All of it, for `--json`."""
        own = ("cases", "doubly", "clinicians", "dangerous_cases", "power", "together", "cases_needed")
        return {
            **{name: getattr(self, name) for name in (*own, "doubly_needed")},
            "rules": [each.as_dict() for each in self.rows],
            "warnings": list(self.warnings),
            "notes": [*([self.rated] if self.rated else []), *self.notes],
        }


@dataclass(frozen=True, slots=True)
class _Rule:
    name: str
    asked: str
    expected: str
    power: Power
    doubly: bool = False


def plan_gate(
    rules: GateRules | None = None,
    *,
    cases: int = 100,
    doubly: int | None = None,
    clinicians: int = 2,
    expected: Expected | None = None,
    systems: int = 1,
    power: float = 0.8,
    confidence: float = 0.95,
    seed: int = 0,
    notes: Sequence[str] = (),
) -> GatePlan:
    """The chance to meet each rule of the gate with `cases` rated cases, `doubly` of them (by default all) rated by
    all `clinicians`, if clinicians and jury are as `expected`; and the cases that each rule, and all of them, need.

    Variances come from 400 simulated studies (one truth, seen by each rater with an error, cut into grades), and
    how far intervals reach from 80 in which they are computed as in the gate; the chances from the normal
    distribution, those of counts and severe errors from the binomial. An unscored dangerous answer counts as an
    error, as in the gate. Answers of one case are counted once.

    >>> found = plan_gate(cases=100)
    >>> found.find(rule="and are rare beyond doubt").power < 0.05
    True
    """
    stated, world_of = rules or GateRules(), expected or Expected()
    if cases < 1 or clinicians < 1 or not 0 < power < 1:
        raise MedjuryError("a plan needs one case and one clinician or more, and a power between 0 and 1.")
    twice = 0 if clinicians < 2 else cases if doubly is None else min(doubly, cases)
    world = look_at(world_of, stated, clinicians, confidence=confidence, seed=seed)
    listed = _rules(stated, world_of, world, clinicians, systems, confidence)
    share = twice / cases

    def chance(rule: _Rule, number: int) -> float:
        return rule.power(round(number * share) if rule.doubly else number)

    def all_of(number: int) -> float:
        product = 1.0
        for rule in listed:
            product *= chance(rule, number)
        return product

    rows = tuple(
        RulePower(
            rule.name, rule.asked, rule.expected, chance(rule, cases), _needed(rule.power, power), rule.doubly
        )
        for rule in listed
    )
    needed = _needed(all_of, power)
    return GatePlan(
        rows, _warnings(stated, world, cases, confidence), cases, twice, clinicians, world.dangerous, power,
        all_of(cases), needed, None if needed is None else round(needed * share),
        (*_assumed(world_of, clinicians), *notes, FAULTS),
    )  # fmt: skip


def _rules(
    rules: GateRules, expected: Expected, world: World, clinicians: int, systems: int, confidence: float
) -> list[_Rule]:
    kappa, apart, offset, seen = world.agreement, world.difference, world.offset, world.within
    limit = rules.offset_limit * (len(expected.shares) - 1)
    missed = 1 - (1 - expected.errors) * expected.coverage
    rate = f"{percent(missed, 1)} of {percent(world.dangerous, 1)} dangerous cases"
    found = [
        _Rule("Clinicians rated the cases", f"{rules.minimum_clinicians} or more", f"{clinicians}",
              lambda _: float(clinicians >= rules.minimum_clinicians)),
        _Rule("Enough held-out cases", f"{rules.minimum_cases:,}", f"{percent(expected.coverage)} of the cases",
              counted(expected.coverage, rules.minimum_cases)),
        _Rule("Enough cases rated by two clinicians", f"{rules.minimum_doubly_rated:,}",
              f"{percent(expected.coverage)} of those rated by two",
              counted(expected.coverage, rules.minimum_doubly_rated), doubly=True),
        _Rule("Agreement with clinicians reaches the floor", f"{rules.floor:g}", shown(kappa.mean),
              above(kappa.mean, kappa.of_one_case, rules.floor)),
        _Rule("and does so beyond doubt", f"lower end {rules.floor:g}", shown(kappa.mean),
              low_end(kappa.mean, world.agreement_low, rules.floor)),
        _Rule("Not inferior to clinicians among themselves", f"lower end above {shown(-rules.margin)}",
              shown(apart.mean), low_end(apart.mean, world.difference_low, -rules.margin), doubly=True),
    ]  # fmt: skip
    if systems > 1:
        found += [
            _Rule("The jury tells answers of one system apart", f"{rules.within_floor:g}", shown(seen.mean),
                  above(seen.mean, seen.of_one_case, rules.within_floor, confidence)),
        ]  # fmt: skip
    found += [
        _Rule("The jury is neither stricter nor kinder", f"within ±{limit:g}", shown(offset.mean),
              inside(offset.mean, offset.of_one_case, limit)),
        _Rule("and is neither beyond doubt", f"interval within ±{limit:g}", shown(offset.mean),
              inside(offset.mean, offset.of_one_case, limit, confidence)),
        _Rule("Severe errors are rare", f"{percent(rules.severe_limit)} or less", rate,
              few_errors(world.dangerous, missed, rules.severe_limit)),
        _Rule("and are rare beyond doubt", f"upper end {percent(rules.severe_limit)} or less", rate,
              few_errors(world.dangerous, missed, rules.severe_limit, confidence)),
        _Rule("The jury scored what it was asked to", f"{percent(rules.coverage)} or more",
              percent(expected.coverage, 1), counted(expected.coverage, rules.coverage, of_share=True)),
    ]  # fmt: skip
    return [each for each in found if not (rules.severe_dimensions == () and "rare" in each.name)]


def _needed(power: Power, wanted: float) -> int | None:
    """The smallest number of cases with this chance; None where even very many do not have it."""
    if power(_MOST) < wanted:
        return None
    return smallest(lambda cases: power(cases) >= wanted, 16, FEWEST)


def _warnings(rules: GateRules, world: World, cases: int, confidence: float) -> tuple[str, ...]:
    counts = [dangerous_needed(errors, rules.severe_limit, confidence) for errors in (0, 1, 2)]
    if rules.severe_dimensions == () or counts[0] is None:
        return ()
    there = world.dangerous * cases
    asks = (
        f"The rules ask in effect for {counts[0]} dangerous cases without an error: only then does the exact "
        f"{percent(confidence)} interval of 0 errors end at {percent(rules.severe_limit)}. With 1 error "
        f"{counts[1]} are needed, with 2 errors {counts[2]}."
    )
    allowed = int(most_errors(np.array([int(there)]), rules.severe_limit, confidence)[0])
    if allowed < 0:
        return (f"{asks} To be expected are about {there:.0f}: too few, even if the jury misses none.",)
    return (f"{asks} Among the {there:.0f} to be expected, {allowed} may be missed.",)


def _assumed(expected: Expected, clinicians: int) -> tuple[str, ...]:
    shares = ", ".join(percent(share) for share in expected.shares)
    return (
        f"Expected: grades from the worst to the best {shares}; kappa of jury and clinician "
        f"{expected.agreement:.3g}, of clinicians {expected.among:.3g}; {clinicians} "
        f"clinician{'s' if clinicians > 1 else ''}; offset {expected.offset:.2g}; "
        f"{percent(expected.coverage, 1)} scored; {percent(expected.errors, 1)} of the dangerous answers scored "
        "far too kindly. `medjury plan gate --help` names other values, and --pilot.",
    )
