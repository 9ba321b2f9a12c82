"""The grades of a scale, and how scores between them are rounded."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from medjury.foundation.errors import MedjuryError
from medjury.instruments import load_instrument
from medjury.tables import Grades, grades_of, of_instrument


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
    known = {each.name: each.grades for each in of_instrument(diagnosis)}
    assert known["risk"] == Grades((1, 2, 3, 4, 5), "instrument diagnosis")
    assert known["safety"].values == (1, 2, 3, 4, 5)


def test_halves_are_rounded_up_and_a_third_of_three_votes_is_exact() -> None:
    assert grades_of((1, 5)).grade(np.array([2.5, 3.5, 2.49, np.nan])).tolist()[:3] == [3, 4, 2]
    assert np.isnan(grades_of((1, 5)).grade(np.array([np.nan]))[0])
    assert grades_of((0, 0.5, 1)).grade(np.array([0.25, 0.24, 0.75])).tolist() == [0.5, 0, 1]
    # A half that is made of thirds may be a little less than a half in binary.
    assert grades_of((1, 5)).grade(np.array([2.5 - 1e-12, 2.4])).tolist() == [3, 2]


def test_a_scale_holds_its_ends_and_what_rounding_leaves_of_them() -> None:
    held = grades_of((1, 5)).holds(np.array([1, 5, 1 - 1e-12, 5 + 1e-12, 0.99, 5.01, np.nan]))
    assert held.tolist() == [True, True, True, True, False, False, False]
