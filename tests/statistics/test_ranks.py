"""Ranks under weights: by a product where there are few levels, cumulated where there are many, always the same."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import rankdata

from medjury.statistics import GroupRanks, centred_midranks
from medjury.statistics._ranks import PRODUCT_UP_TO

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
