"""Length and format: a planted bias is found, a longer answer that is truly better is no bias."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from medjury.analysis.audits import text_effects
from medjury.analysis.audits._text_effects import case_features, text_features
from medjury.foundation.errors import MedjuryError
from medjury.intake.cases import Case


def rated(
    *, bias: float = 0.0, worth: float = 0.0, listing: float = 0.0, seed: int = 0, n: int = 400
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """A judge and a clinician, and the length and lists of each answer. `worth` is what a doubling of length is
    worth to both, `bias` what the judge adds for it, `listing` what it adds for an answer that is all lists."""
    generator = np.random.default_rng(seed)
    doublings, lists = generator.normal(6, 1, n), generator.uniform(0, 1, n)
    quality = 3 + worth * (doublings - 6) + generator.normal(0, 0.5, n)
    clinician = quality + generator.normal(0, 0.3, n)
    judge = quality + bias * (doublings - 6) + listing * lists + generator.normal(0, 0.3, n)
    items = [f"case {k // 2}" for k in range(n)]
    systems = [f"system {k % 2}" for k in range(n)]
    rows = [
        {"item": item, "system": system, "rater": rater, "dimension": "quality", "score": float(score)}
        for rater, scores in (("judge", judge), ("dr one", clinician))
        for item, system, score in zip(items, systems, scores, strict=True)
    ]
    features = {"item": items, "system": systems, "length": 2.0**doublings, "lists": lists}
    return pl.DataFrame(rows), pl.DataFrame(features)


def test_a_planted_length_bias_is_found_per_doubling() -> None:
    ratings, features = rated(bias=0.2, seed=1)
    found = text_effects(ratings, features, reference=["dr one"], resamples=1000)
    for statistic in ("slope", "slope_given_reference", "slope_beyond_reference"):
        assert found.find(statistic=statistic, group="length").estimate.value == pytest.approx(0.2, abs=0.06)
    assert found.find(statistic="slope_beyond_reference", group="length").verdict == "rewards it"
    assert found.find(statistic="slope_beyond_reference", group="lists").verdict == "not shown"


def test_longer_and_truly_better_is_no_bias() -> None:
    ratings, features = rated(worth=0.4)
    found = text_effects(ratings, features, reference=["dr one"], resamples=1000)
    assert found.find(statistic="slope", group="length").estimate.value == pytest.approx(0.4, abs=0.06)
    assert found.find(statistic="slope_beyond_reference", group="length").verdict == "not shown"


def test_holding_a_noisy_reference_fixed_is_not_enough() -> None:
    """The trap that the second slope is there for: noise in the reference leaves some of the worth behind."""
    ratings, features = rated(worth=0.4)
    found = text_effects(ratings, features, reference=["dr one"], resamples=1000)
    partial = found.find(statistic="slope_given_reference", group="length").estimate
    assert partial.low is not None and partial.low > 0


def test_a_taste_for_lists_is_told_apart_from_length() -> None:
    ratings, features = rated(listing=0.5, seed=2)
    found = text_effects(ratings, features, reference=["dr one"], resamples=1000)
    assert found.find(statistic="slope_beyond_reference", group="lists").verdict == "rewards it"
    assert found.find(statistic="slope_beyond_reference", group="length").verdict == "not shown"


def test_without_a_reference_it_is_an_association_and_says_so() -> None:
    ratings, features = rated(bias=0.3)
    found = text_effects(ratings, features, raters=["judge"], resamples=500)
    assert {each.statistic for each in found.rows} == {"slope"}
    assert all(each.verdict == "" for each in found.rows)
    assert any("association, not a bias" in text for text in found.warnings)


def test_slopes_equal_least_squares() -> None:
    ratings, features = rated(bias=0.1, worth=0.2, seed=4)
    found = text_effects(ratings, features, reference=["dr one"], resamples=0)
    judge = ratings.filter(pl.col("rater") == "judge")["score"].to_numpy()
    clinician = ratings.filter(pl.col("rater") == "dr one")["score"].to_numpy()
    x = np.column_stack(
        [np.ones(len(judge)), np.log2(features["length"].to_numpy()), features["lists"].to_numpy()]
    )
    expected = {
        "slope": np.linalg.lstsq(x, judge, rcond=None)[0][1],
        "slope_beyond_reference": np.linalg.lstsq(x, judge - clinician, rcond=None)[0][1],
        "slope_given_reference": np.linalg.lstsq(np.column_stack([x, clinician]), judge, rcond=None)[0][1],
    }
    for name, value in expected.items():
        assert found.find(statistic=name, group="length").estimate.value == pytest.approx(value, abs=1e-9)


def test_within_systems_a_wordy_system_is_no_longer_confused_with_length() -> None:
    ratings, features = rated(seed=6)
    wordy = pl.col("system") == "system 1"
    longer = features.with_columns(
        pl.when(wordy).then(pl.col("length") * 8).otherwise(pl.col("length")).alias("length")
    ).select("item", "system", "length")
    liked = ratings.with_columns(
        pl.when(wordy).then(pl.col("score") + 1).otherwise(pl.col("score")).alias("score")
    )
    options = {"raters": ["judge"], "resamples": 500}
    across = text_effects(liked, longer, **options).find(statistic="slope").estimate  # type: ignore[arg-type]
    within = text_effects(liked, longer, within_systems=True, **options).find(statistic="slope").estimate  # type: ignore[arg-type]
    assert across.low is not None and across.low > 0.1
    assert within.value == pytest.approx(0, abs=0.06)


def test_a_feature_that_never_varies_is_undefined() -> None:
    ratings, features = rated()
    found = text_effects(
        ratings, features.with_columns(pl.lit(0.0).alias("lists")), raters=["judge"], resamples=200
    )
    assert "does not vary" in found.find(statistic="slope", group="lists").estimate.reason
    assert found.find(statistic="slope", group="length").estimate.low is not None


def test_two_features_that_are_one_are_both_undefined() -> None:
    ratings, features = rated()
    twice = features.with_columns((pl.col("lists") * 2 + 1).alias("headings"))
    found = text_effects(ratings, twice, raters=["judge"], resamples=200)
    for name in ("lists", "headings"):
        assert "cannot be told apart" in found.find(statistic="slope", group=name).estimate.reason
    assert found.find(statistic="slope", group="length").estimate.low is not None


def test_features_may_stand_in_the_ratings() -> None:
    ratings, features = rated(bias=0.2)
    joined = ratings.join(features.select("item", "system", "length"), on=["item", "system"])
    found = text_effects(joined, raters=["judge"], resamples=200)
    assert found.find(statistic="slope").estimate.value == pytest.approx(0.2, abs=0.06)


def test_answers_without_features_are_counted() -> None:
    ratings, features = rated(n=100)
    found = text_effects(ratings, features.head(90), raters=["judge"], resamples=200)
    assert found.n == 90 and any("10 of 100" in text for text in found.warnings)


def test_what_cannot_be_used_is_refused() -> None:
    ratings, features = rated(n=20)
    with pytest.raises(MedjuryError, match="Give the cases"):
        text_effects(ratings)
    with pytest.raises(MedjuryError, match="zero or less"):
        text_effects(ratings, features.with_columns(pl.lit(0).alias("length")))
    with pytest.raises(MedjuryError, match="do not match"):
        text_effects(ratings, features.with_columns(pl.lit("other").alias("item")).head(1))
    with pytest.raises(MedjuryError, match="not a number"):
        text_effects(ratings, features.with_columns(pl.lit("long").alias("length")))


def test_features_of_a_text() -> None:
    found = text_features("# Plan\n\n**Rest**\n1. Drink water\n2. Drink **more** water\nSee you.")
    expected = {"length": 11, "repetition": 2 / 11, "lists": 2 / 5, "headings": 2 / 5, "bold": 200 / 11}
    assert found == pytest.approx(expected)
    assert not text_features(" \n ")


def test_features_of_cases_hold_numbers_and_no_text() -> None:
    cases = [Case(id="1", system="a", candidate="Take two tablets daily."), Case(id="2", system="a")]
    table, _ = case_features(cases)
    assert table.columns == ["item", "system", "length", "repetition", "lists", "headings", "bold"]
    assert table.rows()[0][:3] == ("1", "a", 4.0) and table.height == 1


def test_a_slope_that_only_one_of_the_two_comparisons_shows_is_not_shown() -> None:
    """The judge is the clinician squeezed to a third, and longer answers are better: less than the reference
    sees in length is no taste for short answers."""
    ratings, features = rated(worth=0.6, seed=3)
    squeezed = pl.when(pl.col("rater") == "judge").then(pl.col("score") / 3).otherwise(pl.col("score"))
    found = text_effects(
        ratings.with_columns(squeezed.alias("score")), features, reference=["dr one"], resamples=500
    )
    beyond = found.find(statistic="slope_beyond_reference", group="length")
    given = found.find(statistic="slope_given_reference", group="length").estimate
    assert beyond.estimate.high is not None and beyond.estimate.high < -0.2
    assert given.low is not None and given.low > 0
    assert beyond.verdict == "not shown" and not beyond.stands_out
