"""All pairs of raters are read at once, and each is what it is alone, to the last digit."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import polars as pl
import pytest

from medjury.analysis.agreement import rater_pairs
from medjury.analysis.agreement._correlation import correlation_statistics
from medjury.analysis.agreement._kappa import kappa_statistics
from medjury.analysis.agreement._rater_pairs import _alone, _values
from medjury.tables import rating_table


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("missing", [0.0, 0.2, 0.9])
def test_each_pair_is_what_it_is_alone(seed: int, missing: float) -> None:
    generator = np.random.default_rng(seed)
    items, raters = generator.integers(1, 60), generator.integers(2, 6)
    grades = generator.integers(1, 6, (items, raters)).astype(float)
    grades[:, 0] = 3.0 if seed % 4 == 0 else grades[:, 0]
    grades[generator.random(grades.shape) < missing] = np.nan
    means = grades.copy()
    means[:, -1] = (means[:, -1] + generator.integers(1, 6, (2, items)).sum(axis=0)) / 3
    pairs = np.array(list(combinations(range(raters), 2)))
    for statistics, scores in (
        (kappa_statistics([1, 2, 3, 4, 5], ["quadratic"]), grades),
        (correlation_statistics(["spearman"]), means),
    ):
        alone = [_alone(statistics, scores[:, pair]) for pair in pairs]
        assert _values(statistics, scores, pairs) == alone


def test_scores_of_many_values_are_read_too() -> None:
    scores = np.random.default_rng(3).normal(size=(200, 3))
    found = _values(correlation_statistics(["spearman"]), scores, np.array([[0, 1], [0, 2], [1, 2]]))
    ranks = scores.argsort(axis=0).argsort(axis=0)
    assert found == pytest.approx(np.corrcoef(ranks.T)[[0, 0, 1], [1, 2, 2]])


def test_one_rater_alone_has_no_pair() -> None:
    rows = [(str(item), "judge", "accuracy", 1 + item % 5) for item in range(12)]
    frame = pl.DataFrame(rows, schema=["item", "rater", "dimension", "score"], orient="row")
    found = rater_pairs(rating_table(frame, scale=(1, 5)))
    assert found.rows == () and found.raters == ("judge",)
