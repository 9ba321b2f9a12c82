"""Scores off their scale: a few are unscored and said, most of them mean that the scale is wrong."""

from __future__ import annotations

import polars as pl
import pytest
from tests.agreement.rating_rows import long_table

from medjury.foundation.errors import MedjuryError
from medjury.tables import rating_table


def test_exactly_half_off_the_scale_is_a_bad_table_and_more_than_half_a_wrong_scale() -> None:
    half = rating_table(long_table({"a": [1, 2, 7, 9]}), scale=(1, 5))
    assert half.rows["score"].to_list() == [1, 2, None, None]
    assert half.rows["reason"].to_list() == [None, None, "out_of_range", "out_of_range"]
    assert half.rows["status"].to_list() == ["scored", "scored", "unscored", "unscored"]
    assert "2 scores lie off the scale 1 to 5" in half.warnings[0]
    with pytest.raises(MedjuryError, match=r"3 of 4 scores lie off the scale 1 to 5 .* from 1 to 9"):
        rating_table(long_table({"a": [1, 6, 7, 9]}), scale=(1, 5))


def test_missing_scores_are_neither_on_nor_off_the_scale() -> None:
    table = rating_table(long_table({"a": [None, None, None, 1, 7]}), scale=(1, 5))
    assert table.unscored == {"a": {"missing": 3, "out_of_range": 1}}


def test_the_ends_belong_to_the_scale_and_rounding_does_not_throw_them_out() -> None:
    table = rating_table(long_table({"a": [1, 5, 5 + 1e-12, 1 - 1e-12]}), scale=(1, 5))
    assert table.unscored == {}
    assert table.warnings == ()


def test_each_dimension_is_held_to_its_own_scale() -> None:
    frame = pl.concat(
        [long_table({"a": [1, 5, 6]}, dimension="five"), long_table({"a": [0, 1, 5]}, dimension="two")]
    )
    table = rating_table(frame, scale={"five": (1, 5), "two": (0, 1)})
    assert table.rows.filter(pl.col("reason") == "out_of_range")["score"].to_list() == [None, None]
    assert table.rows.filter(pl.col("status") == "scored")["score"].to_list() == [1, 5, 0, 1]
    assert len(table.warnings) == 2


def test_a_metric_is_on_a_scale_of_its_own() -> None:
    frame = long_table({"a": [1, 2], "rouge": [0.1, 0.9]}).with_columns(
        rater_kind=pl.when(pl.col("rater") == "rouge").then(pl.lit("metric"))
    )
    table = rating_table(frame, scale=(1, 5))
    assert table.rows["score"].to_list() == [1, 2, 0.1, 0.9]
    assert table.warnings == ()


def test_another_scale_finds_again_what_lay_off_the_first() -> None:
    first = rating_table(long_table({"a": [1, 2, 9, None]}), scale=(1, 5))
    assert first.unscored == {"a": {"missing": 1, "out_of_range": 1}}
    second = rating_table(first, scale=(1, 10))
    assert second.rows["score"].to_list() == [1, 2, 9, None]
    assert second.unscored == {"a": {"missing": 1}}
    assert second.warnings == ()
    third = rating_table(second, scale=(1, 5))
    assert third.unscored == first.unscored
    assert third.warnings == first.warnings


def test_a_scale_for_a_dimension_that_is_not_there_is_refused() -> None:
    with pytest.raises(MedjuryError, match="did you mean 'quality'"):
        rating_table(long_table({"a": [1]}), scale={"qualty": (1, 5)})


def test_one_scale_for_all_is_not_that_of_a_composite() -> None:
    """A sum of two dimensions reaches 10 where each goes up to 5."""
    names = ["item", "rater", "dimension", "score"]
    rows = [("1", "a", "quality", 0.9), ("1", "a", "accuracy", 4.0)]
    frame = pl.DataFrame(rows, schema=names, orient="row")
    from medjury.tables._dimensions import Measured, present

    known = [
        Measured("accuracy", "accuracy", None),
        Measured("quality", "quality", None, derived=True, weights={"accuracy": 0.2}),
    ]
    found = {each.name: each.grades for each in present(known, frame, (1, 5))}
    assert found["quality"] is None
    assert found["accuracy"] is not None
    assert present(known, frame, {"quality": (0, 1)})[1].grades is not None
