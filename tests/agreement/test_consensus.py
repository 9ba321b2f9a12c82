"""One reference from several raters, and the grades that scores are rounded to."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from medjury.errors import MedjuryError
from medjury.instruments import load_instrument
from medjury.tables import Grades, adjudicated, majority, mean_of_raters, median_of_raters
from medjury.tables._consensus import consensus_of
from medjury.tables._grades import grades_from_instrument, grades_of

NAN = np.nan


def test_means_and_medians_use_whoever_scored() -> None:
    table = [[1, 2, 6], [NAN, 4, 5], [NAN, NAN, NAN]]
    assert mean_of_raters(table) == pytest.approx([3, 4.5, NAN], nan_ok=True)
    assert median_of_raters(table) == pytest.approx([2, 4.5, NAN], nan_ok=True)


def test_a_majority_is_more_than_half_of_those_who_voted() -> None:
    table = [[1, 1, 2], [1, 2, 3], [1, 2, NAN], [2, NAN, NAN], [NAN, NAN, NAN]]
    assert majority(table) == pytest.approx([1, NAN, NAN, 2, NAN], nan_ok=True)


def test_a_majority_does_not_depend_on_the_order_of_raters() -> None:
    table = np.array([[1.0, 2, 2, 1], [3, 1, 3, 3]])
    for order in ([0, 1, 2, 3], [3, 2, 1, 0], [1, 3, 0, 2]):
        assert majority(table[:, order]) == pytest.approx([NAN, 3], nan_ok=True)


def test_an_adjudicator_settles_what_the_raters_left_open() -> None:
    scores = [[0, 0], [0, 1], [0, 1], [2, NAN]]
    assert adjudicated(scores, [NAN, 1, NAN, NAN]) == pytest.approx([0, 1, NAN, NAN], nan_ok=True)
    assert adjudicated(scores, [2, NAN, NAN, 1])[0] == 2


def test_unknown_rules_and_missing_adjudicators_are_refused() -> None:
    with pytest.raises(MedjuryError, match="no consensus rule"):
        consensus_of([[1, 2]], "vote")
    with pytest.raises(MedjuryError, match="adjudicator's labels"):
        consensus_of([[1, 2]], "adjudicated")
    with pytest.raises(MedjuryError, match="has no part"):
        consensus_of([[1, 2]], "mean", [1])


def test_two_numbers_are_the_ends_of_a_scale_of_whole_grades() -> None:
    assert grades_of((1, 5)).values == (1, 2, 3, 4, 5)
    assert grades_of((0, 1)).values == (0, 1)
    assert grades_of((0, 0.5, 1)).values == (0, 0.5, 1)


@pytest.mark.parametrize("wrong", [(5, 1), (0.5, 1), (1,), (1, 1, 2)])
def test_what_is_no_scale_is_refused(wrong: tuple[float, ...]) -> None:
    with pytest.raises(MedjuryError, match="scale"):
        grades_of(wrong)


@given(st.floats(1, 5))
def test_a_grade_is_the_nearest_and_never_further_than_half(score: float) -> None:
    grade = grades_of((1, 5)).grade(np.array([score]))[0]
    assert abs(grade - score) <= 0.5 + 1e-8
    assert grade in (1, 2, 3, 4, 5)


def test_a_scale_comes_from_the_instrument_for_dimensions_and_reversed_ones() -> None:
    diagnosis = load_instrument("diagnosis")
    assert grades_from_instrument(diagnosis, "risk") == Grades((1, 2, 3, 4, 5), "instrument diagnosis")
    assert grades_from_instrument(diagnosis, "safety").values == (1, 2, 3, 4, 5)
    assert grades_from_instrument(diagnosis, "no such thing") is None
