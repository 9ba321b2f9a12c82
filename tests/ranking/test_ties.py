"""Tie groups: letters say exactly who is separated from whom, and equal systems are rarely separated."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.ranking.tables import benchmark_table, rating_table, scores_of

from medjury.analysis.ranking._rank_scores import rank_scores
from medjury.analysis.ranking._ties import rank_limits, separate, tie_groups


@st.composite
def separations(draw: st.DrawFn) -> np.ndarray:
    size = draw(st.integers(2, 7))
    apart = np.zeros((size, size), dtype=bool)
    for one, other in combinations(range(size), 2):
        apart[one, other] = apart[other, one] = draw(st.booleans())
    return apart


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(apart=separations(), order=st.randoms(use_true_random=False))
def test_two_systems_share_a_letter_exactly_where_they_are_not_separated(
    apart: np.ndarray, order: object
) -> None:
    listed = list(range(len(apart)))
    order.shuffle(listed)  # type: ignore[attr-defined]
    letters = tie_groups(listed, apart)
    for one, other in combinations(range(len(apart)), 2):
        assert bool(set(letters[one]) & set(letters[other])) == (not apart[one, other])
    assert "a" in letters[listed[0]]
    assert all(letters)


def test_a_chain_of_ties_is_not_one_tie() -> None:
    apart = np.array([[0, 0, 1, 1], [0, 0, 0, 1], [1, 0, 0, 0], [1, 1, 0, 0]], dtype=bool)
    assert tie_groups([0, 1, 2, 3], apart) == ["a", "ab", "bc", "c"]


def test_rank_limits_count_the_separated() -> None:
    apart = np.array([[0, 0, 1], [0, 0, 1], [1, 1, 0]], dtype=bool)
    assert rank_limits(np.array([3.0, 2.0, 1.0]), apart) == ([1, 1, 3], [2, 2, 3])


def test_more_than_26_groups_have_names_too() -> None:
    apart = ~np.eye(30, dtype=bool)
    letters = tie_groups(list(range(30)), apart)
    assert letters[25:28] == ["z", "(27)", "(28)"]


EQUAL = dict.fromkeys(("A", "B", "C", "D", "E"), 0.0)


@pytest.mark.parametrize("by", ["macro_average", "win_rate"])
@pytest.mark.parametrize("benchmarks", [6, 30])
@pytest.mark.simulation
def test_equal_systems_are_separated_in_about_one_ranking_of_twenty(by: str, benchmarks: int) -> None:
    false = 0
    for seed in range(150):
        scores = scores_of(benchmark_table(EQUAL, benchmarks=benchmarks, seed=seed))
        ranking = rank_scores(scores, by=by, resamples=400, seed=seed)  # type: ignore[arg-type]
        false += any(pair.separated for pair in ranking.pairs.rows)
    assert false / 150 <= 0.09


@pytest.mark.parametrize("by", ["macro_average", "win_rate"])
@pytest.mark.simulation
def test_the_same_holds_for_ratings(by: str) -> None:
    false = 0
    for seed in range(60):
        scores = scores_of(rating_table(EQUAL, cases=50, seed=seed))
        ranking = rank_scores(scores, by=by, resamples=400, seed=seed)  # type: ignore[arg-type]
        false += any(pair.separated for pair in ranking.pairs.rows)
    assert false / 60 <= 0.12


def test_few_benchmarks_cannot_show_what_they_do_not_hold() -> None:
    """A beats B on all of three benchmarks: by wins alone that happens to equal systems one time in four."""
    values, drawn = np.array([1.0, 0.0]), np.tile([1.0, 0.0], (500, 1))
    assert separate(values, drawn, freedom=2, kind="wins")[0][0, 1] == pytest.approx(0.25)
    assert separate(values, drawn, freedom=9, kind="wins")[1][0, 1]


def test_identical_systems_are_never_separated() -> None:
    values, drawn = np.array([0.5, 0.5]), np.full((500, 2), 0.5)
    for kind in ("scores", "wins", "steps"):
        assert separate(values, drawn, freedom=50, kind=kind)[0][0, 1] == 1.0  # type: ignore[arg-type]
