"""What a study can show: the plan's chances beside drawn studies, and expectations of every kind."""

from __future__ import annotations

import math

import numpy as np
import pytest

from medjury.analysis.agreement import Expected
from medjury.foundation.errors import MedjuryError
from medjury.store.runs import GateRules
from medjury.validation import GatePlan, plan_gate
from medjury.validation._colleague import colleague_test
from medjury.validation._planning import _drawn

NAMED = (
    "agreement",
    "colleagues",
    "offset",
    "missed_danger",
    "consensus_danger",
    "within_case",
    "within_system",
)


def power(plan: GatePlan, rule: str) -> float:
    return float(plan.find(rule=rule).power)


def test_more_cases_have_a_better_chance_and_a_stricter_rule_a_worse_one() -> None:
    few, many = plan_gate(cases=60, systems=2), plan_gate(cases=600, systems=2)
    strict = plan_gate(
        GateRules(margin=0.03, floor=0.6, severe_limit=0.05, missed_margin=0.02), cases=60, systems=2
    )
    for name in NAMED:
        assert power(few, name) <= power(many, name) + 1e-9 and power(strict, name) <= power(few, name) + 1e-9
    assert many.together > few.together and power(many, "agreement") > 0.9


def test_the_cases_that_are_needed_have_the_wanted_chance() -> None:
    plan = plan_gate(cases=100, power=0.8)
    assert plan.cases_needed is not None and plan.doubly_needed == plan.cases_needed
    again = plan_gate(cases=plan.cases_needed)
    assert 0.8 <= again.together < 0.85
    for row in plan.rows:
        assert row.cases_needed is not None
        assert power(plan_gate(cases=max(row.cases_needed, 2)), row.rule) >= 0.79


def test_the_plan_says_what_the_gate_does_with_drawn_studies() -> None:
    """60 studies of 80 cases as expected: how many hold a line, beside the chance that the plan states."""
    rules, expected, cases = GateRules(), Expected(shares=(0.2, 0.2, 0.2, 0.2, 0.2)), 80
    world = _drawn(expected, rules, 2, 1, np.random.default_rng(5), danger=True)
    held = dict.fromkeys(("agreement", "missed_danger", "consensus_danger", "offset"), 0)
    studies = 60
    for study in range(studies):
        place = slice(study * cases, (study + 1) * cases)
        part = world.__class__(
            world.humans[place], world.jury[place], world.silent[place], np.arange(cases),
            np.zeros(cases, dtype=np.int64), np.arange(cases), world.grades, world.statistic, world.danger,
        )  # fmt: skip
        found = colleague_test(part, rules, resamples=100, seed=study)
        for name in held:
            held[name] += found.line(name).state == "holds"
    plan = plan_gate(rules, cases=cases, expected=expected)
    for name, count in held.items():
        chance = power(plan, name)
        reach = (
            3 * math.sqrt(max(chance * (1 - chance), 0.02) / studies) + 0.08
        )  # the plan is an approximation
        assert count / studies == pytest.approx(chance, abs=reach), name


@pytest.mark.parametrize(
    ("expected", "rules"),
    [
        (Expected(agreement=0.0), GateRules()),
        (Expected(shares=(0.5, 0.5)), GateRules()),
        (Expected(coverage=0.0), GateRules()),
        (Expected(dangerous=0.0), GateRules()),
        (Expected(dangerous=1.0), GateRules()),
        (Expected(), GateRules(danger=5)),
        (Expected(), GateRules(danger=0.0)),
        (Expected(), GateRules(statistic="spearman")),
        (Expected(), GateRules(severe_dimensions=())),
    ],
)
def test_every_expectation_has_a_plan(expected: Expected, rules: GateRules) -> None:
    plan = plan_gate(rules, cases=100, expected=expected)
    assert all(0 <= row.power <= 1 for row in plan.rows) and 0 <= plan.together <= 1
    assert "The chance to meet all of them together" in plan.text() and plan.as_dict()["rules"]


def test_without_a_claim_of_danger_its_lines_are_not_planned() -> None:
    for plan in (plan_gate(danger=False), plan_gate(GateRules(severe_dimensions=()))):
        assert not {row.rule for row in plan.rows} & {"missed_danger", "consensus_danger"}
        assert plan.dangerous_cases == 0 and not plan.warnings


def test_one_clinician_shows_nothing_and_the_plan_says_why() -> None:
    plan = plan_gate(cases=500, clinicians=1)
    assert plan.doubly == 0 and plan.cases_needed is None and plan.together == 0
    assert "No number of cases is enough: no case is rated by two clinicians." in plan.text()


def test_a_jury_that_is_expected_to_fail_needs_no_number_of_cases() -> None:
    plan = plan_gate(cases=500, expected=Expected(errors=0.3))
    assert plan.find(rule="consensus_danger").cases_needed is None
    assert "what is expected does not meet the rules" in plan.text()


@pytest.mark.parametrize("wrong", [{"cases": 0}, {"clinicians": 0}, {"power": 1.0}, {"power": 0.0}])
def test_a_plan_of_nothing_is_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(MedjuryError, match="one case and one clinician or more"):
        plan_gate(**wrong)  # type: ignore[arg-type]
