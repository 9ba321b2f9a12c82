"""The difference of two rates on the same answers: never certain, also where both are zero."""

from __future__ import annotations

import numpy as np
import pytest

from medjury.statistics import Estimate, paired_rate_difference, proportion
from medjury.statistics._shares import difference_of


def test_two_rates_of_zero_may_still_differ() -> None:
    found = paired_rate_difference(np.zeros(30), np.zeros(30))
    reach = proportion(0, 30).high
    assert found.value == 0.0
    assert (found.low, found.high) == pytest.approx((-reach, reach))
    assert paired_rate_difference(np.zeros(30), np.zeros(30), list(range(30))) == found


def test_with_several_answers_to_a_case_it_takes_15_cases_in_which_the_two_differ() -> None:
    cases, first = np.repeat(np.arange(40), 3), np.zeros(120)
    second = (np.arange(120) % 3 == 0) & (np.arange(120) < 45)
    enough = paired_rate_difference(first, second, cases)
    assert enough.value == pytest.approx(0.125)
    assert 0 < enough.low < 0.125 < enough.high
    second[0] = False
    few = paired_rate_difference(first, second, cases)
    assert (few.value, few.low, few.high, few.n) == (pytest.approx(14 / 120), None, None, 120)
    assert few.method == "no interval: the two differ in 14 cases, at least 15 are needed"


def test_fourteen_errors_against_fifteen_prove_nothing() -> None:
    first, second = np.zeros(90), np.zeros(90)
    first[:15], second[1:15] = 1, 1
    found = paired_rate_difference(first, second)
    assert found.value == pytest.approx(-1 / 90)
    assert found.low < 0 < found.high


def test_the_interval_is_that_of_zou_and_donner() -> None:
    found = difference_of(Estimate(0.3, 0.2, 0.45, 9, ""), Estimate(0.1, 0.04, 0.2, 9, ""), "rates")
    assert found.low == pytest.approx(0.2 - np.sqrt(0.1**2 + 0.1**2))
    assert found.high == pytest.approx(0.2 + np.sqrt(0.15**2 + 0.06**2))


@pytest.mark.parametrize("answers", [1, 5])
def test_it_covers_the_true_difference(answers: int) -> None:
    """500 studies of 40 cases; answers of one case share their danger. 95 % shows as 93 to 97 %."""
    held = given = 0
    for seed in range(500):
        generator = np.random.default_rng(seed)
        hard = np.repeat(generator.beta(0.5, 2.0, 40), answers)
        first, second = generator.random(len(hard)) < hard, generator.random(len(hard)) < 0.6 * hard
        found = paired_rate_difference(first, second, np.repeat(np.arange(40), answers))
        given += found.low is not None
        held += found.low is not None and found.low <= -0.4 * 0.2 <= found.high
    assert given >= 400
    assert 0.92 <= held / given <= 0.985
