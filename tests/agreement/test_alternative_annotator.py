"""The alternative-annotator test, on an example small enough to work out by hand."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import ttest_1samp
from statsmodels.stats.multitest import multipletests

from medjury.analysis.agreement import alternative_annotator_test
from medjury.analysis.agreement._alternative_annotator import benjamini_yekutieli

# Four kinds of items, eight of each. Left out against the two others, by the share of equal labels:
#   kind  humans  judge   human 1      human 2      human 3
#   a     1 1 1   1       tie          tie          tie
#   b     1 1 2   1       tie          tie          judge 1, human 0
#   c     1 2 2   2       judge        tie          tie
#   d     1 2 3   4       tie (0, 0)   tie (0, 0)   tie (0, 0)
HUMANS = np.tile([[1, 1, 1], [1, 1, 2], [1, 2, 2], [1, 2, 3]], (8, 1))
JUDGE = np.tile([1, 1, 2, 4], 8)


def test_advantages_p_values_and_winning_rate_are_those_worked_out_by_hand() -> None:
    result = alternative_annotator_test(HUMANS, JUDGE, alignment="exact", epsilon=0.2)
    assert [each.judge_advantage for each in result.humans] == [1.0, 1.0, 1.0]
    assert [each.human_advantage for each in result.humans] == [0.75, 1.0, 0.75]
    one_lost = ttest_1samp(np.tile([0, 0, -1, 0], 8), 0.2, alternative="less").pvalue
    assert result.humans[0].p_value == pytest.approx(one_lost)
    assert result.humans[2].p_value == pytest.approx(one_lost)
    # Human 2 ties everywhere: no variance, and a mean of 0 lies below epsilon.
    assert result.humans[1].p_value == 0.0
    assert result.winning_rate.value == 1.0
    assert result.advantage.value == 1.0
    assert result.passed


def test_without_epsilon_a_tie_is_no_win() -> None:
    result = alternative_annotator_test(HUMANS, JUDGE, alignment="exact", epsilon=0.0)
    assert [each.judge_wins for each in result.humans] == [True, False, True]
    assert result.winning_rate.value == pytest.approx(2 / 3)


def test_a_judge_that_answers_at_random_loses_to_every_human() -> None:
    truth = np.random.default_rng(0).integers(1, 6, 120)
    humans = np.stack([truth, truth, truth], axis=1)
    result = alternative_annotator_test(humans, truth[::-1])
    assert result.winning_rate.value == 0.0
    assert result.passed is False


def test_distance_sees_how_far_a_score_is_off() -> None:
    humans = np.tile([[3, 3, 5]], (40, 1))
    # Closest to the others everywhere; as far from 3, 3 as the third human and further elsewhere; furthest.
    for score, advantage in ((4, 1.0), (1, 1 / 3), (0, 0.0)):
        found = alternative_annotator_test(humans, np.full(40, score))
        assert found.advantage.value == pytest.approx(advantage)


def test_items_that_a_human_did_not_rate_are_left_out_for_that_human() -> None:
    humans = HUMANS.astype(float)
    humans[:4, 0] = np.nan
    result = alternative_annotator_test(humans, JUDGE, names=["x", "y", "z"])
    assert [(each.human, each.n) for each in result.humans] == [("x", 28), ("y", 32), ("z", 32)]
    assert "Wilcoxon" in result.humans[0].test


def test_few_items_are_tested_by_ranks() -> None:
    from scipy.stats import wilcoxon

    result = alternative_annotator_test(HUMANS[:20], JUDGE[:20], alignment="exact")
    expected = wilcoxon(np.tile([0, 0, -1, 0], 5) - 0.2, alternative="less", method="asymptotic").pvalue
    assert result.humans[0].p_value == pytest.approx(expected)
    assert "Wilcoxon" in result.humans[0].test


def test_two_humans_are_too_few_and_it_says_so() -> None:
    result = alternative_annotator_test(HUMANS[:, :2], JUDGE)
    assert result.passed is None
    assert "three humans or more" in result.winning_rate.reason


def test_nobody_in_common_is_undefined() -> None:
    result = alternative_annotator_test(np.full((5, 3), np.nan), np.arange(5.0))
    assert "no human shares" in result.winning_rate.reason


@pytest.mark.parametrize("seed", range(5))
def test_the_step_up_rule_equals_that_of_statsmodels(seed: int) -> None:
    values = np.random.default_rng(seed).random(9) ** 4
    expected = multipletests(values, alpha=0.05, method="fdr_by")[0]
    assert benjamini_yekutieli(values.tolist()).tolist() == expected.tolist()
