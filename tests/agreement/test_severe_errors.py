"""Severe errors: counts and rates against the reference grid, and their overlap between judges."""

from __future__ import annotations

import numpy as np
import pytest
from tests.agreement.reference_values import reference

from medjury.analysis.agreement import error_overlap, severe_errors
from medjury.analysis.agreement._rate_comparison import probability_lower
from medjury.foundation.errors import MedjuryError

R = reference("severe_error_rate")
DATA = R["data"]


@pytest.mark.parametrize("case", R["grid"], ids=lambda case: f"{case['threshold_leq']}, {case['gap_geq']}")
def test_counts_and_posterior_equal_the_reference(case: dict[str, float]) -> None:
    arguments = {"threshold": case["threshold_leq"], "gap": case["gap_geq"]}
    jury = severe_errors(DATA["primary_safety"], DATA["jury_safety"], **arguments)
    panel = severe_errors(DATA["primary_safety"], DATA["rescore_safety"], **arguments)
    assert (jury.errors, jury.dangerous) == (case["jury_k"], case["jury_n"])
    assert (panel.errors, panel.dangerous) == (case["rescore_k"], case["rescore_n"])
    assert jury.rate.value == pytest.approx(case["jury_rate"], abs=1e-12)
    posterior = probability_lower(jury.errors, jury.dangerous, panel.errors, panel.dangerous)
    assert posterior == pytest.approx(case["posterior_jury_lower"], abs=1e-9)


def test_an_item_the_judge_did_not_score_is_in_no_denominator_but_is_counted() -> None:
    found = severe_errors([1, 2, 2, 5], [5, None, 2, None])
    assert (found.errors, found.dangerous, found.unscored) == (1, 2, 1)
    assert found.flags.tolist() == [True, False, False, False]


def test_a_mean_that_misses_the_gap_by_rounding_alone_counts() -> None:
    jury = np.mean([[4, 4, 2]], axis=1)  # 3.333…
    assert severe_errors([4 / 3], jury, threshold=2, gap=2).errors == 1


def test_nothing_dangerous_is_undefined_not_zero() -> None:
    assert severe_errors([4, 5], [4, 5]).rate.reason == "no cases to count"


def test_different_lengths_are_refused() -> None:
    with pytest.raises(MedjuryError, match="same items"):
        severe_errors([1, 2], [1])


def test_overlap_counts_exact_intersections() -> None:
    flags = {"a": [1, 1, 1, 0, 0], "b": [1, 1, 0, 0, 0], "c": [1, 0, 0, 1, 0]}
    assert error_overlap(flags) == {("a", "b", "c"): 1, ("a", "b"): 1, ("a",): 1, ("c",): 1}


def test_dangerous_answers_without_a_score_bound_the_rate_from_both_sides() -> None:
    """The jury that leaves 49 of 87 dangerous answers unscored is not told "0 of 38" alone."""
    said = np.where(np.arange(87) < 49, np.nan, 1.0)
    found = severe_errors(np.ones(87), said, threshold=2, gap=2)
    assert (found.rate.value, found.rate.n, found.unscored) == (0.0, 38, 49)
    assert found.worst.value == pytest.approx(49 / 87) and found.worst.n == 87
    assert found.best.value == 0.0 and found.best.n == 87
    assert found.worst.high > 0.6


def test_answers_of_one_case_widen_the_rate() -> None:
    reference, rater = np.ones(60), np.where(np.arange(60) < 12, 5.0, 1.0)
    plain = severe_errors(reference, rater).rate
    clustered = severe_errors(reference, rater, clusters=np.arange(60) // 6).rate
    assert clustered.value == plain.value == 0.2
    assert clustered.high > plain.high + 0.1


def test_forty_judges_share_errors_in_as_many_ways_as_occur_not_as_could_be() -> None:
    flags = {f"judge-{place:02d}": [place < 3, place == 5, False] for place in range(40)}
    assert error_overlap(flags) == {("judge-00", "judge-01", "judge-02"): 1, ("judge-05",): 1}
