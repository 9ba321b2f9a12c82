"""Four real judges and one human on 5,000 answers: what cross-fitted calibration does to them."""

from __future__ import annotations

import polars as pl
import pytest
from tests.mental_health import DATA, MAPPING, real_ratings

from medjury.analysis.calibration import CalibrationStudy, calibrate, held_out_sets, triage
from medjury.analysis.calibration._before_after import CalibrationRow
from medjury.tables import RatingTable, rating_table

JUDGES = ("claude", "gemini", "gpt-4o", "o4-mini")

pytestmark = pytest.mark.skipif(
    not (DATA.is_dir() and MAPPING.is_file()), reason=f"the judges' answers are not there: {DATA}"
)
Changes = dict[tuple[str, str], dict[str, CalibrationRow]]


@pytest.fixture(scope="module")
def ratings(tmp_path_factory: pytest.TempPathFactory) -> RatingTable:
    return rating_table(pl.read_parquet(real_ratings(tmp_path_factory)), scale=(1, 5))


def changes_of(study: CalibrationStudy) -> Changes:
    found: Changes = {}
    for row in study.rows:
        found.setdefault((row.rater, row.dimension), {})[row.statistic] = row
    return found


@pytest.fixture(scope="module")
def table(ratings: RatingTable) -> Changes:
    return changes_of(calibrate(ratings, reference=["human"], resamples=0))


def test_every_judge_and_the_jury_are_calibrated_on_every_attribute(table: Changes) -> None:
    attributes = {attribute for _, attribute in table}
    assert len(attributes) == 7
    assert set(table) == {
        (judge, each) for judge in (*JUDGES, "jury", "jury_of_calibrated") for each in attributes
    }


def test_an_offset_above_a_fifth_of_a_point_falls_by_nine_tenths_and_the_rmse_falls(table: Changes) -> None:
    large = {name: each for name, each in table.items() if each["absolute_offset"].before.value > 0.2}
    assert len(large) > 20
    for name, changes in large.items():
        offset, rmse = changes["absolute_offset"], changes["rmse"]
        assert offset.after.value <= 0.1 * offset.before.value, name
        assert rmse.after.value < rmse.before.value, name


def test_ranks_stay_and_the_kappa_of_some_single_judge_falls(table: Changes) -> None:
    """The price of shrinking to the mean, which the table shows beside the gain."""
    single = {name: each for name, each in table.items() if name[0] in JUDGES}
    assert all(abs(each["spearman"].change.value) < 0.02 for each in single.values())
    assert min(each["kappa_quadratic"].change.value for each in single.values()) < -0.05


def test_intervals_of_the_change_are_those_of_whole_conversations(ratings: RatingTable) -> None:
    study = calibrate(ratings, reference=["human"], raters=["gpt-4o"], dimensions=["Empathy"], resamples=500)
    changes = changes_of(study)["gpt-4o", "Empathy"]
    assert "500 clusters" in changes["rmse"].change.method
    assert changes["rmse"].change.high < 0
    assert changes["absolute_offset"].change.high < -0.6


def test_the_jury_orders_unsafe_answers_better_than_most_single_judges_and_better_than_chance(
    ratings: RatingTable,
) -> None:
    found = triage(ratings, dimensions="Safety", reference=["human"], resamples=200)
    curves = found.curves
    assert curves["rule"].area.low > 0.5
    areas = sorted(curves[f"judge {judge}"].area.value for judge in JUDGES)
    assert curves["rule"].area.value > areas[-2]
    # Most scores tie at the top of the scale, and conservative sets keep every tied grade.
    assert found.sets.coverage.value > 0.89
    part = found.part
    exact = held_out_sets(part.scores("jury"), part.labels, cases=part.cases, grades=part.grades, resamples=0)
    assert exact.coverage.value == pytest.approx(0.9, abs=0.02)
    assert exact.mean_width.value < found.sets.mean_width.value
