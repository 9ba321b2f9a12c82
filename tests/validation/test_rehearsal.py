"""The gate rehearsed: drawn studies are judged by the gate's own rules, all of them."""

from __future__ import annotations

from functools import cache

import pytest
from tests.agreement.test_plan_gate import drawn

from medjury.agreement import Expected, GatePlan, plan_gate
from medjury.errors import MedjuryError
from medjury.runs import GateRules
from medjury.tables import rating_table
from medjury.validation import rehearse_gate, validate
from medjury.validation._rehearsal import DONE_OR_NOT, _answers, _judged, _study

GOOD = Expected(shares=(0.2, 0.2, 0.2, 0.2, 0.2), agreement=0.8, among=0.8, coverage=0.99, errors=0.02)
SURE = "and are rare beyond doubt"


@cache
def planned() -> GatePlan:
    return rehearse_gate(cases=60, systems=2, expected=GOOD, studies=20)


@pytest.mark.simulation
def test_every_rule_of_the_gate_is_planned_but_for_what_a_site_does_or_not() -> None:
    names = {
        each.rule for each in validate(rating_table(drawn(GOOD, 60, 1), scale=(1, 5)), resamples=50).rows
    }
    shown = {row.rule for row in planned().rows}
    assert names - set(DONE_OR_NOT) <= shown and not shown & set(DONE_OR_NOT)
    assert {"The jury is no copy of one clinician", "No grade is scored too kindly or too strictly"} <= shown
    assert {"Agreement holds in every part", "Missing answers are not about quality"} <= shown


@pytest.mark.simulation
def test_too_few_cases_have_no_chance_and_the_needed_ones_have_the_wanted_one() -> None:
    found = planned()
    assert found.together == 0 and found.find(rule="Enough held-out cases").power == 0
    assert found.cases_needed is not None and found.cases_needed >= 100
    needed = found.cases_needed
    drawn_again = (_study(GOOD, GateRules(), needed, needed, 2, 2, [1, needed, place]) for place in range(20))
    assert _judged(drawn_again, 0.95).together >= 0.8, "other studies of this size than those of the plan"
    assert f"{found.cases_needed:,} cases" in found.text() and "By 20 drawn studies" in found.text()


@pytest.mark.simulation
def test_together_is_no_product_of_rules_that_go_together() -> None:
    for row in planned().rows:
        assert planned().together <= row.power


def test_what_is_stated_is_drawn() -> None:
    import numpy as np

    rules = GateRules()
    stated = Expected(shares=GOOD.shares, agreement=0.8, among=0.8, dangerous=0.1, errors=0.3)
    humans, jury = _answers(stated, rules, 4000, 2, np.random.default_rng(3))
    risky = humans.min(axis=1) <= 1
    assert risky.mean() == pytest.approx(0.1, abs=0.02)
    assert (jury - humans.min(axis=1) >= 2)[risky].mean() == pytest.approx(0.3, abs=0.06)
    table = _study(GOOD, rules, 50, 20, 2, 2, [1])
    grid = table.grid("quality", table.roles())
    raters = sum(~np.isnan(grid.scores[name]) for name in ("clinician-1", "clinician-2"))
    assert sorted(set(raters.tolist())) == [1, 2] and (raters == 2).sum() == 40 and len(raters) == 100


def test_more_severe_errors_make_a_smaller_chance() -> None:
    worse = rehearse_gate(
        GateRules(minimum_cases=20, minimum_doubly_rated=20),
        cases=60,
        systems=2,
        expected=Expected(shares=GOOD.shares, agreement=0.8, among=0.8, errors=0.3),
        studies=20,
    )
    assert worse.find(rule=SURE).power == 0 and worse.together == 0
    assert worse.cases_needed is None and "No number of cases is enough" in worse.text()


def test_few_drawn_studies_tell_no_chance() -> None:
    with pytest.raises(MedjuryError, match="draw 20 or more"):
        rehearse_gate(studies=19)


def test_the_formula_says_which_rules_it_leaves_out_and_how_to_plan_them() -> None:
    assert "`medjury plan gate --simulate 100`" in plan_gate(cases=100).text()
