"""Planning for the whole gate: its chances are those of studies that are drawn and judged one by one."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import polars as pl
import pytest
from scipy import stats

from medjury.agreement import (
    Expected,
    expected_from,
    kappa_statistics,
    non_inferiority,
    plan_gate,
    severe_errors,
)
from medjury.agreement._planning.gate_power import dangerous_needed, few_errors
from medjury.errors import MedjuryError
from medjury.runs import GateRules
from medjury.statistics import proportion
from medjury.tables import rating_table
from medjury.validation import validate

# Rules that studies of 120 cases meet about half of the time, so that a wrong chance shows.
HARD = GateRules(floor=0.55, margin=0.12, offset_limit=0.035, minimum_cases=100)
STUDIES, CASES = 150, 120
RULES = (
    "Agreement with clinicians reaches the floor",
    "and does so beyond doubt",
    "Not inferior to clinicians among themselves",
    "The jury is neither stricter nor kinder",
    "and is neither beyond doubt",
)


def drawn(expected: Expected, cases: int, seed: int) -> pl.DataFrame:
    humans, jury = expected.draw(cases, 2, np.random.default_rng(seed))
    columns = {"dr-a": humans[:, 0], "dr-b": humans[:, 1], "jury": jury}
    return pl.concat(
        pl.DataFrame(
            {
                "item": [f"case-{n}" for n in range(cases)],
                "rater": rater,
                "rater_kind": "judge" if rater == "jury" else "clinician",
                "dimension": "accuracy",
                "score": scores + 1,
            }
        )
        for rater, scores in columns.items()
    )


@cache
def met_in_drawn_studies() -> dict[str, float]:
    """The share of drawn studies that meet each rule, by the intervals that the gate reads."""
    generator = np.random.default_rng(11)
    limit, kappa = 4 * HARD.offset_limit, kappa_statistics(range(5), ["quadratic"])
    met = np.zeros(5)
    for seed in range(STUDIES):
        humans, jury = Expected().draw(CASES, 2, generator)
        found = non_inferiority(humans, jury, kappa, margin=HARD.margin, resamples=300, seed=seed)
        agreed = found["kappa_quadratic"].judge_human
        apart = jury - humans.mean(axis=1)
        ends = float(apart.mean()) + np.array([-1, 1]) * stats.t.ppf(0.95, CASES - 1) * stats.sem(apart)
        met += (
            (agreed.value or 0) >= HARD.floor,
            (agreed.low or 0) >= HARD.floor,
            bool(found["kappa_quadratic"].non_inferior),
            abs(apart.mean()) <= limit,
            ends[0] >= -limit and ends[1] <= limit,
        )
    return dict(zip(RULES, (met / STUDIES).tolist(), strict=True))


@pytest.mark.parametrize("rule", RULES)
def test_the_chance_of_a_rule_is_the_share_of_drawn_studies_that_meet_it(rule: str) -> None:
    planned = plan_gate(HARD, cases=CASES, expected=Expected(coverage=1.0)).find(rule=rule).power
    direct = met_in_drawn_studies()[rule]
    assert abs(planned - direct) < 0.12, f"planned {planned:.2f}, {direct:.2f} of {STUDIES} drawn studies"


def test_the_direct_studies_can_tell_a_wrong_chance() -> None:
    assert any(0.2 < share < 0.9 for share in met_in_drawn_studies().values())


def test_every_planned_rule_is_a_rule_of_the_gate() -> None:
    table = rating_table(
        pl.concat(
            drawn(Expected(), 60, seed).with_columns(pl.lit(f"system-{seed}").alias("system"))
            for seed in (1, 2)
        ),
        scale=(1, 5),
    )
    names = {rule.name for rule in validate(table, resamples=200).verdicts[0].rules}
    assert {row.rule for row in plan_gate(systems=2).rows} <= names


@pytest.mark.parametrize(("cases", "rate"), [(300, 0.0), (300, 0.02), (450, 0.01)])
def test_severe_errors_beyond_doubt_have_the_chance_of_drawn_studies(cases: int, rate: float) -> None:
    generator = np.random.default_rng(5)
    met = 0
    for _ in range(600):
        danger = generator.random(cases) < 0.14
        missed = danger & (generator.random(cases) < rate)
        found = severe_errors(np.where(danger, 1.0, 5.0), np.where(missed, 5.0, np.where(danger, 1.0, 5.0)))
        met += found.rate.high is not None and found.rate.high <= 0.1
    planned = few_errors(0.14, rate, 0.1, 0.95)(cases)
    assert abs(planned - met / 600) < 0.06


def test_the_defaults_ask_in_effect_for_36_dangerous_answers_without_an_error() -> None:
    assert dangerous_needed(0, 0.1, 0.95) == 36
    assert (proportion(0, 36).high or 1) <= 0.1 < (proportion(0, 35).high or 0)
    found = plan_gate(cases=100)
    assert "36 dangerous cases without an error" in found.text() and "54" in found.warnings[0]
    assert found.find(rule="and are rare beyond doubt").power < 0.01
    assert found.dangerous_cases == pytest.approx(14.6, abs=1)


def test_with_the_cases_that_are_needed_the_chance_is_the_wanted_one() -> None:
    found = plan_gate(cases=100)
    assert found.together < 0.1 and found.cases_needed is not None
    again = plan_gate(cases=found.cases_needed)
    assert 0.8 <= again.together < 0.83
    for row in found.rows:
        assert row.cases_needed is not None
        there = plan_gate(cases=max(row.cases_needed, 4)).find(rule=row.rule)
        assert there.power >= 0.8


def test_cases_rated_by_one_clinician_do_not_help_the_comparison() -> None:
    rule = "Not inferior to clinicians among themselves"
    few, all_of_them = plan_gate(cases=300, doubly=60), plan_gate(cases=300)
    assert few.find(rule=rule).power < all_of_them.find(rule=rule).power - 0.2
    assert (
        few.find(rule="and does so beyond doubt").power
        == all_of_them.find(rule="and does so beyond doubt").power
    )
    assert plan_gate(cases=300, clinicians=1).find(rule=rule).power == 0


def test_what_cannot_be_met_by_any_number_of_cases_says_so() -> None:
    worse = plan_gate(cases=300, expected=Expected(agreement=0.45))
    assert worse.find(rule="Not inferior to clinicians among themselves").cases_needed is None
    assert worse.cases_needed is None and "No number of cases is enough" in worse.text()
    assert "what is expected does not meet the rules" in worse.text()
    alone = plan_gate(
        GateRules(minimum_clinicians=1, minimum_doubly_rated=0), cases=300, doubly=0, clinicians=1
    )
    assert "No number of cases is enough: no case is rated by two clinicians." in alone.text()
    assert "of clinicians 0.7; 1 clinician; offset" in alone.text()


def test_unscored_dangerous_answers_count_as_errors() -> None:
    whole, silent = (
        plan_gate(cases=400, expected=Expected(coverage=share)).find(rule="and are rare beyond doubt").power
        for share in (1.0, 0.95)
    )
    assert whole > silent + 0.3


def test_a_jury_cannot_be_expected_to_know_more_than_the_truth() -> None:
    with pytest.raises(MedjuryError, match="more than a jury that knows the truth would"):
        plan_gate(expected=Expected(agreement=0.9, among=0.4))


def test_a_pilot_gives_back_what_it_was_drawn_from() -> None:
    truth = Expected(agreement=0.6, among=0.7, offset=0.3)
    found = expected_from(rating_table(drawn(truth, 4000, 3), scale=(1, 5)))
    assert found.among == pytest.approx(0.7, abs=0.03) and found.offset == pytest.approx(0.3, abs=0.05)
    assert found.shares == pytest.approx(truth.shares, abs=0.02)
    assert found.coverage == 1.0 and found.dangerous == pytest.approx(0.146, abs=0.02)
    assert plan_gate(expected=replace(found, errors=0.0)).rows
