"""Runs of a judge one by one: nothing is merged before it is compared."""

from __future__ import annotations

from statistics import mean, stdev

import polars as pl
import pytest

from medjury.analysis.agreement import agreement_by_repeat, cohen_kappa
from medjury.foundation.errors import MedjuryError
from medjury.tables import rating_table

TRUTH = [0, 0, 1, 1, 2, 2, 2, 0]
# By hand: all right, one of eight wrong, two of eight wrong.
RUNS = [TRUTH, [0, 0, 1, 1, 2, 2, 1, 0], [0, 1, 1, 1, 2, 2, 1, 0]]


def ratings(runs: list[list[int | None]]) -> pl.DataFrame:
    rows = [(f"c{n}", "dr", "clinician", 0, float(score)) for n, score in enumerate(TRUTH)]
    for number, run in enumerate(runs):
        rows += [
            (f"c{n}", "judge", "judge", number, float(score))
            for n, score in enumerate(run)
            if score is not None
        ]
    frame = pl.DataFrame(rows, schema=["item", "rater", "rater_kind", "repeat", "score"], orient="row")
    return frame.with_columns(dimension=pl.lit("impact"), instrument=pl.lit("transcript_impact"))


def test_each_run_has_its_value_and_the_sd_is_across_runs() -> None:
    found = agreement_by_repeat(ratings(list(RUNS)))
    accuracy = found.find(statistic="accuracy")
    assert list(accuracy.values.values()) == [1.0, 7 / 8, 6 / 8]
    assert accuracy.mean == pytest.approx(mean([1, 7 / 8, 6 / 8]))
    assert accuracy.sd == pytest.approx(stdev([1, 7 / 8, 6 / 8])) == pytest.approx(0.125)
    assert accuracy.n == 8
    kappa = found.find(statistic="cohen_kappa")
    assert list(kappa.values.values()) == pytest.approx(
        [cohen_kappa(TRUTH, run, scale=[0, 1, 2], resamples=0).value for run in RUNS]
    )
    # Second run, F1 by class: 0: 1; 1: 2·2/(2 + 3) = 0.8; 2: 2·2/(3 + 2) = 0.8.
    assert list(found.find(statistic="macro_f1").values.values())[1] == pytest.approx((1 + 0.8 + 0.8) / 3)
    by_class = [found.find(statistic=f"f1_class_{level}").values[1] for level in (0, 1, 2)]
    assert by_class == pytest.approx([1, 0.8, 0.8])


def test_merging_first_would_hide_the_runs_that_are_wrong() -> None:
    """The median of three runs is right more often than any but the best: it is another number."""
    wrong_once = [[*TRUTH], [*TRUTH], [*TRUTH]]
    for number, run in enumerate(wrong_once):
        run[number] = (run[number] + 1) % 3
    found = agreement_by_repeat(ratings(wrong_once)).find(statistic="accuracy")  # type: ignore[arg-type]
    assert list(found.values.values()) == [7 / 8] * 3 and found.sd == 0.0


def test_scores_off_the_scale_are_reported_here_too() -> None:
    rows = ratings([[*RUNS[0][:-1], 7], list(RUNS[1])])
    found = agreement_by_repeat(rating_table(rows, scale=(0, 2)))
    assert any("off the scale" in each for each in found.warnings)


def test_a_rating_that_is_missing_in_one_run_is_missing_there_alone() -> None:
    runs: list[list[int | None]] = [[*RUNS[0]], [*RUNS[1][:-1], None]]
    accuracy = agreement_by_repeat(ratings(runs)).find(statistic="accuracy")
    assert list(accuracy.values.values()) == [1.0, 6 / 7] and accuracy.n == 7


def test_one_run_is_nothing_to_compare() -> None:
    with pytest.raises(MedjuryError, match="no judge was asked twice"):
        agreement_by_repeat(ratings([RUNS[0]]))  # type: ignore[list-item]
