"""Win rates: by definition, and whatever the data."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from medjury.analysis.ranking._measures import Ties, rival_win_rates, win_shares
from medjury.foundation.errors import MedjuryError

SCORES = st.tuples(st.integers(2, 6), st.integers(1, 8)).flatmap(
    lambda shape: arrays(np.float64, shape, elements=st.integers(0, 4).map(float))
)


@pytest.mark.parametrize(("ties", "worth"), [("half", 0.5), ("win", 1.0)])
@given(scores=SCORES)
def test_the_definition(ties: Ties, worth: float, scores: np.ndarray) -> None:
    systems, benchmarks = scores.shape
    expected = np.zeros_like(scores)
    for one, other, place in product(range(systems), range(systems), range(benchmarks)):
        if one != other:
            mine, theirs = scores[one, place], scores[other, place]
            expected[one, place] += (mine > theirs) + worth * (mine == theirs)
    assert win_shares(scores, ties) == pytest.approx(expected / (systems - 1))


@given(scores=SCORES)
def test_with_half_for_ties_win_rates_average_to_one_half(scores: np.ndarray) -> None:
    assert win_shares(scores).mean() == pytest.approx(0.5)
    assert win_shares(scores, "win").mean() >= 0.5 - 1e-12


@given(scores=SCORES, scale=st.floats(0.1, 10), shift=st.floats(-5, 5))
def test_the_scale_of_a_benchmark_does_not_matter(scores: np.ndarray, scale: float, shift: float) -> None:
    moved = scores.copy()
    moved[:, 0] = moved[:, 0] * scale + shift
    assert win_shares(moved) == pytest.approx(win_shares(scores))


@given(scores=SCORES)
def test_the_mean_over_rivals_is_the_win_rate(scores: np.ndarray) -> None:
    assert np.nanmean(rival_win_rates(scores), axis=1) == pytest.approx(win_shares(scores).mean(axis=1))


def test_rounding_does_not_break_a_tie() -> None:
    scores = np.array([[0.1 + 0.2], [0.3]])
    assert win_shares(scores).tolist() == [[0.5], [0.5]]


def test_one_system_wins_against_nobody() -> None:
    with pytest.raises(MedjuryError, match="two systems"):
        win_shares(np.ones((1, 3)))
    with pytest.raises(MedjuryError, match="'half' or as 'win'"):
        win_shares(np.ones((2, 3)), "none")  # type: ignore[arg-type]
