"""What a rating table answers: which dimensions count, who takes part, how often to resample."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from tests.agreement.rating_rows import long_table

from medjury.foundation.errors import MedjuryError
from medjury.statistics import RESAMPLES
from medjury.store.runs import ReportSettings
from medjury.tables import RatingTable, rating_table


def diagnosis(**columns: list[object]) -> RatingTable:
    """Three dimensions, of which safety is risk turned round."""
    names = ("diagnosis", "risk", "safety")
    scores = {"anna": [1, 2, 3, 4], "gpt": [1, 2, 3, 5], "claude": [2, 2, 3, 5]}
    frame = pl.concat([long_table(scores, dimension=name, **columns) for name in names])
    kinds = {"anna": "clinician", "gpt": "judge", "claude": "judge"}
    kind = pl.col("rater").replace_strict(kinds).alias("rater_kind")
    return rating_table(frame.with_columns(kind), instrument="diagnosis")


def test_dimensions_are_chosen_by_name_in_the_order_of_the_names() -> None:
    table = diagnosis()
    assert [each.name for each in table.chosen(("safety", "diagnosis"))] == ["safety", "diagnosis"]
    assert [each.name for each in table.chosen("risk")] == ["risk"]
    assert table.chosen() == table.dimensions
    assert table.chosen(derived=False) == table.counted
    assert "safety" not in [each.name for each in table.counted]
    with pytest.raises(MedjuryError, match="did you mean 'risk'"):
        table.chosen("risc")


def test_what_follows_from_other_dimensions_is_never_pooled_with_them() -> None:
    table = diagnosis()
    pooled = table.pooled(table.counted)
    assert len(pooled.items) == 4 * len(table.counted)
    assert pooled.dimension == "all"
    assert pooled.scale == table.dimension("risk").grades
    assert pooled.scores["anna"].tolist() == [1, 2, 3, 4] * len(table.counted)
    with pytest.raises(MedjuryError, match="safety follows from other dimensions"):
        table.pooled(table.dimensions)
    with pytest.raises(MedjuryError, match="no dimension is named"):
        table.pooled(())


def test_dimensions_on_different_scales_have_none_in_common() -> None:
    one, two = long_table({"a": [1, 2]}, dimension="one"), long_table({"a": [0, 1]}, dimension="two")
    table = rating_table(pl.concat([one, two]), scale={"one": (1, 5), "two": (0, 1)})
    assert table.pooled(table.counted).scale is None


def test_the_mean_of_the_reference_is_that_of_whoever_scored() -> None:
    table = rating_table(long_table({"a": [1, None, None], "b": [2, 4, None], "c": [9, 9, 9]}))
    grid = table.grid("quality")
    assert table.reference_scores(grid, ("a", "b")) == pytest.approx([1.5, 4, np.nan], nan_ok=True)
    assert np.isnan(table.reference_scores(grid)).all()
    known = diagnosis()
    assert known.reference_scores(known.grid("risk")).tolist() == [1, 2, 3, 4]


def test_a_jury_that_cannot_be_formed_is_refused() -> None:
    frame = long_table({"human": [1, 2], "a": [1, 2], "b": [1, 2]})
    assert rating_table(frame, jury="mean").roles(reference="human").jurors == ("a", "b")
    with pytest.raises(MedjuryError, match="a jury needs two or more"):
        rating_table(frame, jury="mean").roles("a", "human")


def test_patients_are_resampled_only_where_one_has_several_items() -> None:
    assert not diagnosis().by_patient
    assert not diagnosis(patient=["p", "q", "r", "s"]).by_patient
    assert diagnosis(patient=["p", "p", "r", "s"]).by_patient


def test_systems_without_a_name_are_none() -> None:
    assert diagnosis().systems == ()
    assert diagnosis(system=["x", "y", "x", "y"]).systems == ("x", "y")


def units(count: int) -> RatingTable:
    return rating_table(long_table({"a": [1.0] * count}))


def test_very_large_tables_are_resampled_less_often_unless_it_is_asked_for() -> None:
    assert units(10).resamples(None) == units(3000).resamples(None) == RESAMPLES
    assert units(3001).resamples(None) == units(10_000).resamples(None) == 1000
    assert units(10_001).resamples(None) == 400
    assert units(10_001).resamples(5000) == 5000
    assert units(10).resamples(0) == 0


def test_a_run_that_states_more_resamples_gets_them() -> None:
    stated = replace(units(10), settings=ReportSettings(resamples=10_000))
    assert stated.resamples(None) == 10_000
    assert replace(units(3001), settings=ReportSettings(resamples=300)).resamples(None) == 300


def test_some_of_the_rows_are_a_table_of_their_own() -> None:
    table = diagnosis()
    part = table.where(table.rows.filter(pl.col("item") != "item 0"))
    assert len(part.grid("risk").items) == 3
    assert part.dimensions == table.dimensions
    assert len(table.grid("risk").items) == 4


def test_names_that_look_like_one_rater_are_warned_of() -> None:
    frame = long_table({"GPT-4o": [1, 2], "gpt4o": [1, 2], "anna": [1, 1]})
    assert any("'GPT-4o' and 'gpt4o'" in each for each in rating_table(frame).warnings)
    apart = pl.concat([long_table({"sonnet": [1]}, items=["1"]), long_table({"sonet": [1]}, items=["2"])])
    assert len(rating_table(apart).warnings) == 1
    assert rating_table(long_table({"sonnet": [1], "sonet": [1]})).warnings == ()
