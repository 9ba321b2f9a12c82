"""Position: the place is told apart from the answer by asking in both orders."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from medjury.analysis.audits import position
from medjury.foundation.errors import MedjuryError


def preferences(*, favour_first: float, favour_a: float, items: int = 200, seed: int = 0) -> pl.DataFrame:
    """Both orders of A and B on every item; probabilities of choosing the first place and answer A."""
    generator = np.random.default_rng(seed)
    rows = []
    for item in range(items):
        for first, second in (("A", "B"), ("B", "A")):
            wins = 0.5 + favour_first + (favour_a if first == "A" else -favour_a)
            rows.append((f"case {item}", first, second, first if generator.random() < wins else second))
    return pl.DataFrame(rows, schema=["item", "first", "second", "preferred"], orient="row")


def test_a_better_answer_is_no_position_bias() -> None:
    found = position(preferences(favour_first=0.0, favour_a=0.4), resamples=1000)
    bias = found.find(statistic="first_place_bias")
    assert bias.verdict == "not shown" and bias.estimate.value == pytest.approx(0, abs=0.04)
    assert found.find(statistic="consistent").estimate.value == pytest.approx(0.9**2 + 0.1**2, abs=0.06)


def test_a_preference_for_the_first_place_is_found() -> None:
    found = position(preferences(favour_first=0.2, favour_a=0.1), resamples=1000)
    bias = found.find(statistic="first_place_bias")
    assert bias.verdict == "prefers the first place"
    assert bias.estimate.value == pytest.approx(0.2, abs=0.05)


def test_every_number_by_hand() -> None:
    rows = [
        ("1", "A", "B", "A"),
        ("1", "B", "A", "second"),  # A again: consistent
        ("2", "A", "B", "A"),
        ("2", "B", "A", "B"),  # the first place both times: reversed
        ("3", "A", "B", "tie"),
        ("3", "B", "A", "B"),  # a tie and a win: neither consistent nor reversed
        ("4", "A", "B", "first"),  # one order only
        ("5", "A", "B", ""),  # no answer
    ]
    table = pl.DataFrame(rows, schema=["item", "first", "second", "preferred"], orient="row")
    found = position(table, resamples=200)
    value = {each.statistic: each.estimate.value for each in found.rows}
    assert value["consistent"] == pytest.approx(1 / 3) and value["reversed"] == pytest.approx(1 / 3)
    assert value["first_place_bias"] == pytest.approx((0 + 0.5 + 0.25) / 3)
    assert value["first_place_share"] == pytest.approx((1 + 0 + 1 + 1 + 0.5 + 1 + 1) / 7)
    assert found.n == 7 and found.n_unscored == 1
    assert found.warnings == ("judge: 1 of 4 pairs were judged in one order only",)


def test_two_items_show_no_bias_however_alike_they_are() -> None:
    rows = [(item, *pair, "first") for item in "1234" for pair in (("A", "B"), ("B", "A"))]
    table = pl.DataFrame(rows, schema=["item", "first", "second", "preferred"], orient="row")
    two = position(table.head(4), resamples=1000).find(statistic="first_place_bias")
    assert two.p_value == 0.5 and not two.stands_out
    one_order = pl.DataFrame([("5", "A", "B", "A"), ("6", "A", "B", "A")], schema=table.columns, orient="row")
    bias = position(pl.concat([table, one_order]), resamples=1000).find(statistic="first_place_bias")
    assert bias.p_value == 0.125 and not bias.stands_out


def test_one_order_only_shows_no_bias() -> None:
    table = preferences(favour_first=0.3, favour_a=0.0).filter(pl.col("first") == "A")
    bias = position(table, resamples=200).find(statistic="first_place_bias").estimate
    assert bias.value is None and "both orders" in bias.reason


def test_several_judges_are_adjusted_together() -> None:
    table = pl.concat(
        preferences(favour_first=bias, favour_a=0.0, seed=seed).with_columns(pl.lit(name).alias("rater"))
        for seed, (name, bias) in enumerate([("ada", 0.25), ("bob", 0.0)])
    )
    found = position(table, resamples=1000)
    assert found.find(statistic="first_place_bias", rater="ada").verdict == "prefers the first place"
    bob = found.find(statistic="first_place_bias", rater="bob")
    assert bob.verdict == "not shown" and (bob.p_adjusted or 0) >= (bob.p_value or 0)
    assert {each.rater for each in position(table, raters=["bob"], resamples=100).rows} == {"bob"}


def test_bad_rows_are_named() -> None:
    good = preferences(favour_first=0.0, favour_a=0.0, items=2)
    with pytest.raises(MedjuryError, match="preferred is missing"):
        position(good.drop("preferred"))
    with pytest.raises(MedjuryError, match=r"row 1: preferred is 'C'; it must be 'A', 'B'"):
        position(good.with_columns(pl.lit("C").alias("preferred")))
    with pytest.raises(MedjuryError, match="row 1: first and second are the same"):
        position(good.with_columns(pl.lit("A").alias("first"), pl.lit("A").alias("second")))
    with pytest.raises(MedjuryError, match="no pairwise judgement"):
        position(good.with_columns(pl.lit("").alias("preferred")))
