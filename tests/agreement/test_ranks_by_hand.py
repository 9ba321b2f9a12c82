"""Ranks, concordance and quantiles against plain loops over all pairs."""

from __future__ import annotations

import numpy as np
from scipy import stats

from medjury.analysis.agreement._ranks import centred_midranks, concordance, levels_of, quantiles
from medjury.analysis.agreement._scores import snapped, tied


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


def test_midranks_of_many_levels_equal_those_of_scipy() -> None:
    column = np.random.default_rng(1).permutation(300).astype(float)
    levels = levels_of(np.concatenate([column, column[:50]]))
    ranks = stats.rankdata(np.concatenate([column, column[:50]])) - 351 / 2
    found = centred_midranks(levels.weights(np.ones((1, 350))))[0][levels.codes]
    assert float(np.abs(found - ranks).max()) == 0.0


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
