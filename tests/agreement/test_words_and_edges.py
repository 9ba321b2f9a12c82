"""What must not be said: certainty at an edge, agreement of a judge that never varies, an order of two systems."""

from __future__ import annotations

import numpy as np
import pytest
from tests.agreement.rating_rows import likert, long_table

from medjury.analysis.agreement import agreement, cohen_kappa, gwet_ac
from medjury.tables import rating_table


def table(scores: dict, scale: tuple[int, int] | None = (1, 5), **columns: object):
    return agreement(
        rating_table(long_table(scores, **columns), scale=scale), reference="human", resamples=299
    )


def test_a_judge_that_never_varies_has_no_kappa_and_its_ac2_is_not_called_substantial() -> None:
    generator = np.random.default_rng(0)
    human = generator.choice([3, 4, 5], 60, p=[0.05, 0.25, 0.7]).tolist()
    found = table({"human": human, "judge": [5] * 60})
    for name in ("kappa", "kappa_linear", "kappa_quadratic", "icc_2_1", "icc_3_1"):
        estimate = found.find(name).estimate
        assert estimate.value is None
        assert estimate.reason == "the rater gave every item the same score"
    row = found.find("gwet_ac2_quadratic")
    assert row.estimate.value > 0.8
    assert row.as_dict()["reading"] == "not to be read: a rater never varies"
    assert (
        "the rater gave every item the same score, so this says nothing about agreement"
        in row.estimate.method
    )


def test_kappa_of_a_constant_rater_says_which_one() -> None:
    found = cohen_kappa([1, 2, 3] * 5, [2] * 15, scale=[1, 2, 3])
    assert (
        found.reason
        == "the second rater gave every item the same level, so kappa would be 0 whoever the other rater is"
    )


def test_two_items_give_no_interval() -> None:
    found = gwet_ac([[1, 2], [5, 5]], scale=range(1, 6), weights="quadratic")
    assert (found.low, found.high) == (None, None)


def test_exact_match_without_a_scale_has_a_width_at_one_and_at_zero() -> None:
    halves = [place + 0.5 for place in range(12)]
    same = table({"human": halves, "judge": halves}, scale=None).find("exact_match").estimate
    assert (same.value, same.high) == (1.0, 1.0)
    assert same.low == pytest.approx(0.735, abs=0.001)
    other = [value + 0.25 for value in halves]
    never = table({"human": halves, "judge": other}, scale=None).find("exact_match").estimate
    assert never.low == 0.0 < never.high < 0.3


def test_nothing_between_two_systems_is_called_a_correlation() -> None:
    scores = likert(3, 40, human=0.6, judge=0.8)
    found = table(scores, systems=["a", "b"] * 20, items=[f"item {place // 2}" for place in range(40)])
    row = found.find("spearman_between_systems")
    assert row.estimate.value is None
    assert (
        row.estimate.reason
        == "two systems only: the means of two always lie on a line, so three or more are needed"
    )
    assert found.find("spearman_within_systems").estimate.defined


def test_an_interval_holds_its_own_estimate() -> None:
    for seed in range(20):
        found = table(likert(seed, 25, human=0.4, judge=1.5))
        for row in found.rows:
            each = row.estimate
            if each.low is not None and each.high is not None:
                assert each.low - 1e-9 <= each.value <= each.high + 1e-9, (seed, row.statistic)
