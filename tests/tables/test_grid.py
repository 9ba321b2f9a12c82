"""The grid: a place for every unit and rater, and a reason for every hole."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from tests.agreement.rating_rows import long_table

from medjury.tables import ABSENT, NOT_APPLICABLE, SCORED, UNSCORED, Grid, rating_table


def grid(frame: pl.DataFrame, dimension: str = "quality", **options: object) -> Grid:
    return rating_table(frame, **options).grid(dimension)


def test_units_are_answers_of_systems_in_one_order_whatever_that_of_the_rows() -> None:
    frame = long_table({"a": [1, 2, 3, 4]}, items=["x", "x", "y", "y"], systems=["s", "t", "s", "t"])
    for rows in (frame, frame.reverse()):
        found = grid(rows)
        assert list(zip(found.items, found.systems, strict=True)) == [
            ("x", "s"),
            ("x", "t"),
            ("y", "s"),
            ("y", "t"),
        ]
        assert found.scores["a"].tolist() == [1, 2, 3, 4]


def test_every_hole_has_its_reason() -> None:
    frame = long_table({"a": [1, None, None, 4], "b": [1, 2, 3, 4]}).with_columns(
        status=pl.Series(["scored", "unscored", "not_applicable", "scored", *["scored"] * 4])
    )
    found = grid(frame.filter(~((pl.col("rater") == "a") & (pl.col("item") == "item 3"))))
    assert found.states["a"].tolist() == [SCORED, UNSCORED, NOT_APPLICABLE, ABSENT]
    assert np.isnan(found.scores["a"][1:]).all()
    assert found.states["b"].tolist() == [SCORED] * 4


@pytest.mark.parametrize(("rule", "expected"), [("mean", 2.0), ("median", 1.0)])
def test_repeats_become_one_score_and_a_repeat_that_failed_is_left_out(rule: str, expected: float) -> None:
    frame = pl.concat(
        [
            long_table({"a": [score, 3]}).with_columns(repeat=pl.lit(number))
            for number, score in enumerate([1.0, 1.0, 4.0, None])
        ]
    )
    found = grid(frame, repeats=rule)
    assert found.scores["a"].tolist() == [expected, 3]
    assert found.repeat_spread["a"] == pytest.approx([np.std([1, 1, 4], ddof=1), 0])
    assert found.states["a"].tolist() == [SCORED, SCORED]


def test_one_failed_repeat_among_excused_ones_is_a_failure() -> None:
    frame = pl.concat(
        [
            long_table({"a": [None], "b": [1]}).with_columns(
                repeat=pl.lit(number), status=pl.Series([status, "scored"])
            )
            for number, status in enumerate(["not_applicable", "unscored"])
        ]
    )
    assert grid(frame).states["a"].tolist() == [UNSCORED]


def test_a_single_score_has_no_spread() -> None:
    assert np.isnan(grid(long_table({"a": [1, 2]})).repeat_spread["a"]).all()


def test_each_dimension_has_its_own_units_and_raters_without_rows_are_absent_there() -> None:
    both = pl.concat(
        [
            long_table({"a": [1, 2, 3]}, dimension="one"),
            long_table({"b": [4, 5]}, dimension="two", items=["item 1", "z"]),
        ]
    )
    table = rating_table(both)
    one, two = table.grid("one"), table.grid("two")
    assert one.items.tolist() == ["item 0", "item 1", "item 2"]
    assert two.items.tolist() == ["item 1", "z"]
    assert one.states["b"].tolist() == [ABSENT] * 3
    assert two.states["a"].tolist() == [ABSENT] * 2
    assert two.scores["b"].tolist() == [4, 5]
    assert two.clusters.tolist() == ["item item 1", "item z"]


def test_chosen_units_are_the_same_units() -> None:
    found = grid(long_table({"a": [1, 2, 3]}))
    part = found.where(np.array([True, False, True]))
    assert (part.items.tolist(), part.scores["a"].tolist()) == (["item 0", "item 2"], [1, 3])
    assert part.states["a"].tolist() == [SCORED] * 2
    assert len(part.repeat_spread["a"]) == len(part.clusters) == len(part.systems) == 2
