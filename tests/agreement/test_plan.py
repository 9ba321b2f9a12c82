"""Planning: formulas give the published numbers and keep their promise in simulated studies."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from medjury.analysis.agreement import cohen_kappa, plan_kappa, plan_study, simulate_kappa
from medjury.analysis.agreement._sample_size import plan_f1, plan_icc, simulate_f1, simulate_icc
from medjury.foundation.errors import MedjuryError

LIKERT = [0.05, 0.1, 0.2, 0.35, 0.3]


def test_width_of_an_icc_follows_bonett() -> None:
    """8 z² (1 − r)² (1 + (k − 1) r)² / (k (k − 1) w²) + 1 at r = 0.7, k = 3, w = 0.2 is 67.4; at k = 2 it is
    100.9, to which 5 r are added."""
    assert plan_icc(0.7, 3, width=0.2).cases == 68
    assert plan_icc(0.7, 2, width=0.2).cases == 105


def test_power_of_an_icc_follows_walter() -> None:
    """k = 2, 0.6 against 0.8, one-sided 5 %, power 80 %: 1 + 2·2·6.18 / ln(4/9)² = 38.6."""
    assert plan_icc(0.8, 2, null=0.6).cases == 39


def test_more_raters_need_fewer_cases() -> None:
    cases = [plan.cases for plan in plan_study("icc", 0.6, width=0.2).rows]
    assert all(more >= fewer for more, fewer in pairwise(cases))


def test_variance_behind_the_kappa_plan_is_that_of_the_interval() -> None:
    """With as many cases as the plan asks for, the analytic interval of data with the planned shares has the
    planned width."""
    plan = plan_kappa(0.6, [0.5, 0.5], width=0.2)
    agree = round(plan.cases * 0.4)
    differ = round(plan.cases * 0.1)
    first = [0] * agree + [1] * agree + [0] * differ + [1] * differ
    second = [0] * agree + [1] * agree + [1] * differ + [0] * differ
    found = cohen_kappa(first, second, scale=[0, 1], interval="analytic")
    assert found.high - found.low == pytest.approx(0.2, abs=0.003)


@pytest.mark.parametrize("weights", ["none", "linear", "quadratic"])
def test_a_kappa_plan_keeps_its_promise(weights: str) -> None:
    plan = plan_kappa(0.6, LIKERT, weights=weights, width=0.2)
    seen = simulate_kappa(plan.cases, 0.6, LIKERT, weights=weights, seed=1)
    assert seen.width == pytest.approx(0.2, rel=0.05)
    assert 0.93 <= seen.coverage <= 0.97
    power = plan_kappa(0.7, LIKERT, weights=weights, null=0.5)
    seen = simulate_kappa(power.cases, 0.7, LIKERT, weights=weights, null=0.5, seed=1)
    assert seen.power == pytest.approx(0.8, abs=0.08)


@pytest.mark.parametrize("raters", [2, 4])
def test_an_icc_plan_keeps_its_promise(raters: int) -> None:
    plan = plan_icc(0.7, raters, width=0.2)
    seen = simulate_icc(plan.cases, raters, 0.7, seed=1)
    assert seen.width == pytest.approx(0.2, rel=0.07)
    assert 0.93 <= seen.coverage <= 0.97
    plan = plan_icc(0.8, raters, null=0.6)
    assert simulate_icc(plan.cases, raters, 0.8, null=0.6, seed=1).power == pytest.approx(0.8, abs=0.05)


def test_the_coarse_scale_is_part_of_the_simulation() -> None:
    seen = simulate_icc(150, 2, 0.7, marginals=LIKERT, seed=1)
    assert "cut into grades" in seen.method
    assert 0.88 <= seen.coverage <= 0.97


def test_an_f1_plan_keeps_its_promise() -> None:
    plan = plan_f1(0.85, 0.3, width=0.1)
    seen = simulate_f1(plan.cases, 0.85, 0.3, seed=1)
    assert seen.width == pytest.approx(0.1, rel=0.05)
    assert 0.93 <= seen.coverage <= 0.97
    plan = plan_f1(0.85, 0.3, null=0.75)
    assert simulate_f1(plan.cases, 0.85, 0.3, null=0.75, seed=1).power == pytest.approx(0.8, abs=0.08)


def test_rare_findings_cost_cases() -> None:
    assert plan_f1(0.8, 0.05, width=0.1).cases > 5 * plan_f1(0.8, 0.3, width=0.1).cases


def test_simulated_plans_are_near_the_formula_and_reproducible_by_seed() -> None:
    asked = {"shares": [0.3, 0.7], "width": 0.25, "simulations": 800, "seed": 4}
    kappa = plan_study("kappa", 0.6, **asked)
    assert kappa == plan_study("kappa", 0.6, **asked)
    assert kappa.rows[0].cases == pytest.approx(plan_kappa(0.6, [0.3, 0.7], width=0.25).cases, rel=0.1)
    (icc,) = plan_study("icc", 0.75, raters=3, null=0.6, simulations=500, seed=4).rows
    assert icc.cases == pytest.approx(plan_icc(0.75, 3, null=0.6).cases, rel=0.15)
    (f1,) = plan_study("f1", 0.8, prevalence=0.4, width=0.15, simulations=800, seed=4).rows
    assert f1.cases == pytest.approx(plan_f1(0.8, 0.4, width=0.15).cases, rel=0.1)


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda: plan_kappa(0.6, [0.5, 0.5]), "either a width"),
        (lambda: plan_kappa(0.6, [0.5, 0.5], width=0.2, null=0.4), "either a width"),
        (lambda: plan_kappa(0.6, [0.5, 0.6], width=0.2), "sum to 1"),
        (lambda: plan_kappa(0.4, [0.5, 0.5], null=0.6), "must lie below"),
        (lambda: plan_kappa(1.0, [0.5, 0.5], width=0.1), "from 0 to below 1"),
        (lambda: plan_icc(0.8, 1, width=0.1), "two raters or more"),
        (lambda: plan_f1(0.8, 1.5, width=0.1), "between 0 and 1"),
        (lambda: simulate_f1(100, 0.2, 0.9), "more false positives than fit"),
        (lambda: plan_icc(0.8, 2, width=0.1, confidence=95), "confidence is a share"),
    ],
)
def test_a_plan_that_cannot_be_meant_is_refused(ask: object, message: str) -> None:
    with pytest.raises(MedjuryError, match=message):
        ask()


def test_planned_joint_distribution_has_the_kappa_and_the_marginals() -> None:
    from medjury.analysis.agreement._joint_distribution import credit, joint_with_kappa, kappa_of

    for weights in ("none", "linear", "quadratic"):
        joint, _ = joint_with_kappa(0.55, LIKERT, weights)
        assert joint.sum(axis=0) == pytest.approx(np.asarray(LIKERT), abs=1e-6)
        assert kappa_of(joint, credit(5, weights)) == pytest.approx(0.55, abs=1e-9)
