"""A second panel beside the jury: the same numbers as the agreement table's, and after calibration too."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from tests.report.planted import planted_frame

from medjury.analysis.agreement import agreement, win_rates
from medjury.analysis.calibration import calibrate
from medjury.foundation.errors import MedjuryError
from medjury.tables import rating_table
from medjury.validation import against_panel

PRIMARY, RESCORE = ("primary 1", "primary 2"), "rescore"


def ratings() -> pl.DataFrame:
    """Two clinicians are the reference; the second panel scored every third case again, with more noise."""
    frame = planted_frame(
        cases=90, clinicians={**dict.fromkeys(PRIMARY, 0.4), RESCORE: 1.2}, dimensions=("accuracy",), seed=2
    )
    place = pl.col("item").str.slice(5).cast(pl.Int64)
    return frame.filter((pl.col("rater") != RESCORE) | (place % 3 == 0))


@pytest.fixture(scope="module")
def table():  # type: ignore[no-untyped-def]
    return rating_table(ratings(), scale=(1, 5))


def test_as_scored_it_says_what_the_agreement_table_says(table) -> None:  # type: ignore[no-untyped-def]
    found = against_panel(table, second_panel=RESCORE, resamples=300)
    said = agreement(table, reference=PRIMARY, panel=RESCORE, severe="accuracy", resamples=300, singles=False)
    for row in found.rows:
        if row.stage == "as scored":
            rate = said.find(f"win_rate_{row.metric}", reference="consensus", rater=row.rater).estimate
            delta = said.find(f"win_delta_{row.metric}", reference="consensus", rater=row.rater).estimate
            assert (row.win_rate, row.n) == (rate.value, rate.n) and row.n == 30
            assert (row.delta.value, row.delta.low, row.delta.high) == (delta.value, delta.low, delta.high)
    for each in found.safety:
        rate = said.find("severe_error_rate", reference="consensus", rater=each.rater).estimate
        assert (each.rate.value, each.dangerous) == (rate.value, rate.n)
        for label, value in (("", each.lower_flat), ("_paired", each.lower_paired_flat)):
            posterior = said.find(f"severe_error_lower{label}_flat", reference="consensus", rater=each.rater)
            assert value == posterior.estimate.value


def test_calibrated_scores_are_those_of_maps_that_never_saw_the_case(table) -> None:  # type: ignore[no-untyped-def]
    found = against_panel(table, second_panel=RESCORE, resamples=300)
    study = calibrate(table, reference=PRIMARY)
    jury = next(each for each in study.calibrations if each.rater == "jury")
    grid = jury.part.grid
    assert np.isnan(grid.scores[RESCORE]).sum() == 60
    by_hand = win_rates(
        jury.pairs.labels, jury.pairs.calibrated, grid.scores[RESCORE], scale=(1, 5), resamples=300
    )
    for row in found.rows:
        if (row.rater, row.stage) == ("jury", "calibrated"):
            metric = "absolute_offset" if row.metric == "offset" else row.metric
            assert row.win_rate == by_hand[metric].rate
    assert {row.rater for row in found.rows if row.stage == "calibrated"} == {
        "judge-a", "judge-b", "judge-c", "jury", "jury_of_calibrated"
    }  # fmt: skip


def test_a_noisy_second_panel_loses(table) -> None:  # type: ignore[no-untyped-def]
    found = against_panel(table, second_panel=RESCORE, resamples=300)
    rmse = found.find(rater="jury", stage="as scored", metric="rmse")
    assert rmse.win_rate > 0.9 and rmse.delta.value > 0


def test_several_members_are_averaged(table) -> None:  # type: ignore[no-untyped-def]
    found = against_panel(table, reference="primary 1", second_panel=["primary 2", RESCORE], resamples=50)
    assert found.panel == ("primary 2", RESCORE)
    assert all(row.n == 90 for row in found.rows)  # somebody of the panel scored every answer


def test_nobody_is_in_both_panels(table) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(MedjuryError, match="'rescore' is in the second panel and in the reference"):
        against_panel(table, reference=["primary 1", RESCORE], second_panel=RESCORE)
    with pytest.raises(MedjuryError, match="no second panel"):
        against_panel(table)
