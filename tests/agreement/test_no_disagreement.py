"""Raters who never differ: resampling is certain of them, and few cases prove nothing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from medjury.analysis.agreement import no_disagreement, non_inferiority
from medjury.analysis.agreement._correlation import correlation_statistics
from medjury.analysis.agreement._icc import icc_statistics
from medjury.analysis.agreement._kappa import kappa_statistics
from medjury.statistics import combined

GRADES = (1, 2, 3, 4, 5)
# Shares of the grades as in real studies.
SKEW = (0.03, 0.05, 0.12, 0.35, 0.45)


def beside(grades: Any, **settings: Any) -> Any:
    """A judge and two clinicians who all gave these grades."""
    same = np.asarray(grades, dtype=np.float64)
    every = combined(
        kappa_statistics(GRADES, ["quadratic"]),
        icc_statistics(["icc_2_1"]),
        correlation_statistics(["spearman"]),
    )
    return non_inferiority(np.column_stack([same, same]), same, every, margin=0.1, resamples=200, **settings)


def test_a_perfect_judge_and_many_cases_is_not_inferior_for_every_coefficient() -> None:
    for found in beside(np.tile(GRADES, 20)).values():
        assert found.non_inferior and found.difference.value == pytest.approx(0)
        assert found.difference.low == pytest.approx(-(1 - 0.05 ** (1 / 100)) / 0.8)
        assert found.judge_human.low == pytest.approx(1 - (1 - 0.025 ** (1 / 100)) / 0.8)
        assert found.judge_human.high == 1 and found.human_human.low == found.judge_human.low
        assert "nobody differed on 100 cases" in found.difference.method


def test_a_perfect_judge_and_few_cases_is_not_shown_to_be_as_good() -> None:
    for found in beside(np.tile(GRADES, 4)).values():
        assert found.non_inferior is False and found.difference.low < -0.1 and found.p_value > 0.05


def test_answers_of_one_patient_are_one_case() -> None:
    grades = np.tile(GRADES, 20)
    assert beside(grades)["kappa_quadratic"].non_inferior
    of_twenty = beside(grades, clusters=[f"patient-{place // 5}" for place in range(100)])["kappa_quadratic"]
    assert of_twenty.non_inferior is False and "on 20 cases" in of_twenty.difference.method


def test_scores_that_do_not_vary_prove_nothing() -> None:
    for found in beside(np.full(500, 4.0)).values():
        assert found.non_inferior is None and found.difference.low is None
    alike = no_disagreement(np.full((500, 3), 4.0))
    assert alike is not None and alike.guessed_at_most(0.05) == 1


def test_scores_that_hardly_vary_need_more_cases() -> None:
    """Who guesses "5" where nearly all answers have a 5 is right by chance."""
    nearly = np.r_[np.full(95, 5.0), np.full(5, 1.0)]
    assert not beside(nearly)["kappa_quadratic"].non_inferior
    assert beside(np.tile(GRADES, 20))["kappa_quadratic"].non_inferior


def test_who_differs_once_is_resampled_as_ever() -> None:
    grades = np.tile(GRADES, 20).astype(float)
    other = grades.copy()
    other[7] -= 1
    assert no_disagreement(np.column_stack([grades, other])) is None
    found = non_inferiority(
        np.column_stack([grades, grades]),
        other,
        kappa_statistics(GRADES, ["quadratic"]),
        margin=0.1,
        resamples=200,
    )["kappa_quadratic"]
    assert "bootstrap" in found.difference.method and "exact" not in found.difference.method


def test_the_same_order_a_grade_lower_is_not_the_same_score() -> None:
    grades = np.tile([2.0, 3, 4, 5], 25)
    found = non_inferiority(
        np.column_stack([grades, grades]),
        grades - 1,
        correlation_statistics(["spearman"]),
        margin=0.1,
        resamples=200,
    )["spearman"]
    assert found.difference.low is None and found.non_inferior is None


@pytest.mark.parametrize("cases", [44, 45])
def test_a_judge_who_guesses_as_often_as_the_margin_allows_is_called_as_good_in_one_study_of_twenty(
    cases: int,
) -> None:
    """45 cases are the fewest that suffice with these shares of grades; then such a judge, whose kappa is 0.1 below
    that of clinicians who never differ, has never differed from them in at most 5 % of studies."""
    draw = np.random.default_rng(cases)
    studies = 20_000
    truth = draw.choice(GRADES, (studies, cases), p=SKEW)
    guess = draw.choice(GRADES, (studies, cases), p=SKEW)
    said = np.where(draw.random((studies, cases)) < 0.1, guess, truth)
    kappa = 1 - ((said - truth) ** 2).mean() / (2 * truth.var())
    assert kappa == pytest.approx(0.9, abs=0.005)
    never = float((said == truth).all(axis=1).mean())
    alike = no_disagreement(np.column_stack([np.repeat(GRADES, np.multiply(100, SKEW).astype(int))] * 2))
    assert alike is not None
    enough = type(alike)(cases, alike.right).guessed_at_most(0.05) < 0.1
    assert enough == (cases >= 45) and never == pytest.approx(0.05, abs=0.008)
