"""Ranks under weights are the same by a product or cumulated; concordance and quantiles against plain loops."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import rankdata

from medjury.analysis.agreement._ranks import (
    PRODUCT_UP_TO,
    GroupRanks,
    Groups,
    centred_midranks,
    concordance,
    levels_of,
    quantiles,
)
from medjury.analysis.agreement._scores import snapped, tied

FEW, MANY = 5, PRODUCT_UP_TO + 1


@pytest.mark.parametrize("levels", [1, 2, FEW, PRODUCT_UP_TO, MANY])
def test_centred_midranks_are_those_of_the_items_one_by_one(levels: int) -> None:
    times = np.random.default_rng(levels).integers(0, 4, levels)
    times[0] = 2
    ranks = rankdata(np.repeat(np.arange(levels), times))
    found = centred_midranks(times[np.newaxis].astype(float))[0]
    assert np.repeat(found, times).tolist() == (ranks - ranks.mean()).tolist()


@pytest.mark.parametrize("grades", [FEW, MANY])
def test_ranks_within_systems_are_those_of_each_system_alone(grades: int) -> None:
    draw = np.random.default_rng(grades)
    system, values = draw.integers(0, 3, 400), draw.integers(0, grades, 400).astype(float)
    made = GroupRanks(values, system)
    found, squares = made.ranks(np.ones((400, 1)))
    for number in range(3):
        ranks = rankdata(values[system == number])
        centred = ranks - ranks.mean()
        assert found[system == number, 0].tolist() == centred.tolist()
        assert squares[number, 0] == pytest.approx((centred**2).sum(), rel=1e-12)


def test_ranks_are_the_same_however_many_resamples_are_ranked_at_once() -> None:
    draw = np.random.default_rng(3)
    system, values = draw.integers(0, 3, 60), draw.integers(0, 9, 60).astype(float)
    made = GroupRanks(values, system)
    counts = draw.integers(0, 4, (60, 600)).astype(float)
    found, squares = made.ranks(counts)
    for place in range(0, 600, 50):
        alone, alone_squares = made.ranks(counts[:, place : place + 1])
        assert found[:, place].tolist() == alone[:, 0].tolist()
        assert squares[:, place].tolist() == alone_squares[:, 0].tolist()


def test_rows_that_are_groups_of_their_own_are_not_added_up() -> None:
    values = np.arange(6.0).reshape(3, 2)
    assert Groups(np.arange(3), 3).sums(values).tolist() == values.tolist()
    assert Groups(np.array([1, 0, 2]), 3).sums(values).tolist() == [[2.0, 3.0], [0.0, 1.0], [4.0, 5.0]]


def test_concordance_by_merging_equals_that_over_all_pairs_also_of_rows_that_tie_on_both() -> None:
    generator = np.random.default_rng(3)
    x, y = generator.integers(0, 6, 2600).astype(float), generator.integers(0, 5, 2600).astype(float)
    weights = generator.integers(0, 3, (2, 2600)).astype(float)
    pairs = [
        float(
            (np.sign(np.subtract.outer(x, x)) * np.sign(np.subtract.outer(y, y)) * np.outer(each, each)).sum()
            / 2
        )
        for each in weights
    ]
    assert (concordance(levels_of(x), levels_of(y))(weights) - np.array(pairs)).tolist() == [0.0, 0.0]


def test_concordance_of_few_rows_equals_that_over_all_pairs() -> None:
    x, y = np.array([1.0, 2.0, 2.0, 4.0]), np.array([3.0, 1.0, 3.0, 5.0])
    assert concordance(levels_of(x), levels_of(y))(np.array([[1.0, 1, 1, 1], [2.0, 0, 1, 1]])).tolist() == [
        2.0,
        3.0,
    ]


def test_quantiles_of_weighted_rows_equal_those_of_the_rows_themselves() -> None:
    levels = levels_of(np.array([5.0, 1.0, 3.0]))
    weights = np.array([[1.0, 2.0, 1.0], [0.0, 3.0, 1.0], [0.0, 0.0, 0.0]])
    assert [
        np.round(quantiles(levels, weights, share), 4).tolist()[:2] for share in (0.0, 0.25, 0.5, 0.9, 1.0)
    ] == [[1.0, 1.0], [1.0, 1.0], [2.0, 1.0], [4.4, 2.4], [5.0, 3.0]]


def test_nothing_has_no_quantile() -> None:
    assert bool(np.isnan(quantiles(levels_of(np.array([5.0])), np.array([[0.0]]), 0.5)[0])) is True


def test_values_that_differ_by_rounding_are_one_level() -> None:
    assert (
        levels_of(np.array([0.1 + 0.2, 0.3, 1.0])).values.tolist(),
        snapped(np.array([1.0, 1.0 + 1e-12, 2.0])).tolist(),
        snapped(np.array([1.0, 1.0 + 1e-9])).tolist(),
        snapped(np.empty(0)).tolist(),
    ) == ([0.3, 1.0], [1.0, 1.0, 2.0], [1.0, 1.000000001], [])


def test_differences_that_rounding_hides_are_ties() -> None:
    rows = np.array([[4.3, 4.0], [3.3, 3.0], [1.0, 1.0 + 1e-12]])
    assert [
        len(set(tied(rows[:, 0] - rows[:, 1], rows).tolist())),
        tied(np.array([0.5, -0.5]), rows).tolist(),
        tied(rows[:, 0] - rows[:, 1], rows).tolist()[2],
    ] == [2, [0.5, -0.5], 0.0]
