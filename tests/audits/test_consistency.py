"""Internal consistency: the correlation matrix of a rater's dimensions, and how it differs from the clinicians'."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from scipy import stats

from medjury.analysis.audits import internal_consistency
from medjury.foundation.errors import MedjuryError


def rated(*, halo: float, seed: int = 0, cases: int = 150) -> pl.DataFrame:
    """A clinician whose `c` stands apart from `a` and `b`; a judge whose dimensions share a halo."""
    generator = np.random.default_rng(seed)
    base, apart = generator.normal(size=(2, cases))
    clinician = {"a": base, "b": base, "c": apart}
    rows = []
    for dimension, signal in clinician.items():
        noise = generator.normal(0, 0.5, (2, cases))
        judge = (1 - halo) * signal + halo * base
        for rater, scores in (("dr one", signal + noise[0]), ("judge", judge + noise[1])):
            rows += [
                (f"c{k}", rater, dimension, float(np.clip(np.rint(3 + score), 1, 5)))
                for k, score in enumerate(scores)
            ]
    return pl.DataFrame(rows, schema=["item", "rater", "dimension", "score"], orient="row")


def test_the_matrix_is_spearmans() -> None:
    ratings = rated(halo=0.0)
    found = internal_consistency(ratings, raters=["judge"], resamples=200)
    wide = ratings.filter(pl.col("rater") == "judge").pivot("dimension", index="item", values="score")
    expected = {pair: stats.spearmanr(wide[pair[0]], wide[pair[1]]).statistic for pair in ("ab", "ac", "bc")}
    for pair, value in expected.items():
        finding = found.find(statistic="spearman", dimension=pair[0], group=pair[1])
        assert finding.estimate.value == pytest.approx(value)
        assert finding.estimate.low is not None and finding.estimate.low < value
    assert found.find(statistic="mean_correlation").estimate.value == pytest.approx(
        np.mean(list(expected.values()))
    )
    assert found.find(statistic="cronbach_alpha").estimate.value is not None


def test_a_halo_shows_as_dimensions_closer_together_than_the_clinicians() -> None:
    found = internal_consistency(rated(halo=0.8), reference=["dr one"], resamples=500)
    assert found.find(statistic="spearman_less_reference", dimension="a", group="b").verdict == "not shown"
    halo = found.find(statistic="spearman_less_reference", dimension="a", group="c")
    assert halo.verdict == "closer together than for the reference" and (halo.estimate.low or 0) > 0.2
    assert {each.rater for each in found.rows if each.statistic == "spearman"} == {"judge", "dr one"}


def test_the_same_pattern_as_the_clinicians_is_no_finding() -> None:
    found = internal_consistency(rated(halo=0.0), reference=["dr one"], resamples=500)
    assert {each.verdict for each in found.rows if each.statistic == "spearman_less_reference"} == {
        "not shown"
    }


def test_a_constant_dimension_is_undefined_and_named() -> None:
    constant = pl.when(pl.col("dimension") == "c").then(5.0).otherwise(pl.col("score")).alias("score")
    found = internal_consistency(rated(halo=0.0).with_columns(constant), raters=["judge"], resamples=100)
    assert found.find(statistic="spearman", dimension="a", group="c").estimate.value is None
    assert any("judge: c has the same score" in text for text in found.warnings)


def test_missing_cells_leave_the_other_pairs_alone() -> None:
    ratings = rated(halo=0.0)
    gap = (pl.col("dimension") == "c") & pl.col("item").is_in([f"c{k}" for k in range(10)])
    found = internal_consistency(
        ratings.with_columns(pl.when(~gap).then(pl.col("score")).alias("score")),
        raters=["judge"],
        resamples=100,
    )
    assert found.find(statistic="spearman", dimension="a", group="b").estimate.n == 150
    assert found.find(statistic="spearman", dimension="a", group="c").estimate.n == 140
    assert found.n_unscored == 10


def test_one_dimension_is_refused() -> None:
    with pytest.raises(MedjuryError, match="two dimensions or more"):
        internal_consistency(rated(halo=0.0).filter(pl.col("dimension") == "a"))
