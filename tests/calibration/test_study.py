"""Calibrating a rating table: judges, jury, composites, and refusals that name the judge and the
dimension."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.calibration.tables import planted_ratings

from medjury.analysis.calibration import CalibrationStudy, calibrate
from medjury.analysis.calibration._before_after import CalibrationRow
from medjury.analysis.calibration._part import judging_roles, parts_of
from medjury.analysis.calibration._study_result import derived_values
from medjury.foundation.errors import MedjuryError
from medjury.instruments import NotApplicable, Outcome, Score, derive, list_instruments, load_instrument
from medjury.tables import RatingTable, rating_table

DIAGNOSIS = ("diagnosis", "differential", "reasoning", "risk")


def graded(frame: pl.DataFrame) -> RatingTable:
    return rating_table(frame, scale=(1, 5))


def changes(study: CalibrationStudy) -> dict[tuple[str, str], dict[str, CalibrationRow]]:
    """The rows by rater and dimension, then by statistic."""
    found: dict[tuple[str, str], dict[str, CalibrationRow]] = {}
    for row in study.rows:
        found.setdefault((row.rater, row.dimension), {})[row.statistic] = row
    return found


def test_every_judge_and_the_jury_lose_their_offset() -> None:
    study = calibrate(graded(planted_ratings(cases=100)), reference=["panel"], resamples=300)
    table = changes(study)
    assert list(table) == [(name, "accuracy") for name in ("lenient", "strict", "jury", "jury_of_calibrated")]
    for judge in ("lenient", "strict"):
        change = table[judge, "accuracy"]["absolute_offset"]
        assert change.after.value < 0.1 * change.before.value
        assert change.change.high < 0
    assert study.refused == ()


def test_both_ways_of_calibrating_the_jury_give_about_the_same() -> None:
    table = changes(calibrate(graded(planted_ratings(cases=150)), reference=["panel"], resamples=0))
    direct, mean = (table[name, "accuracy"]["rmse"].after.value for name in ("jury", "jury_of_calibrated"))
    assert direct == pytest.approx(mean, abs=0.06)


def test_where_jurors_vary_the_mean_of_calibrated_judges_leaves_the_unit_out_and_says_so() -> None:
    frame = planted_ratings(judges={"one": -0.9, "two": 0.0, "three": 0.7})
    gone = (pl.col("rater") == "three") & pl.col("item").is_in(["c1", "c2"])
    study = calibrate(graded(frame.filter(~gone)), reference=["panel"])
    direct = next(each for each in study.calibrations if each.rater == "jury").pairs
    mean = next(each for each in study.derived if each.rater == "jury_of_calibrated").pairs
    assert direct.n == 120
    assert mean.n == 116
    assert "4 units lack the score of a judge" in study.warnings[-1]


def test_a_stored_jury_is_calibrated_as_it_is_and_no_second_one_is_formed() -> None:
    frame = planted_ratings()
    jury = (
        frame.filter(pl.col("rater_kind") == "judge")
        .group_by("item", "system", "dimension")
        .agg(pl.col("score").mean())
        .with_columns(rater=pl.lit("jury"), rater_kind=pl.lit("jury"))
        .select(frame.columns)
    )
    study = calibrate(graded(pl.concat([frame, jury])), reference=["panel"])
    assert [each.rater for each in study.calibrations] == ["jury", "lenient", "strict"]
    assert study.derived[0].rater == "jury_of_calibrated"
    assert np.isnan(study.derived[0].pairs.scores).sum() == 0


def test_composites_are_recomputed_from_calibrated_parts() -> None:
    frame = planted_ratings(dimensions=DIAGNOSIS, instrument="diagnosis@1.0")
    study = calibrate(frame, reference=["panel"], resamples=100)
    assert {each.dimension for each in study.calibrations} == set(DIAGNOSIS)
    quality = next(each for each in study.derived if (each.rater, each.dimension) == ("strict", "quality"))
    parts = {each.dimension: each.fitted.out_of_fold for each in study.calibrations if each.rater == "strict"}
    instrument = load_instrument("diagnosis")
    for side in ("scores", "calibrated", "labels"):
        by_hand = derive(instrument, {name: Score(getattr(each, side)[7]) for name, each in parts.items()})
        assert getattr(quality.pairs, side)[7] == pytest.approx(by_hand["quality"].value)  # type: ignore[union-attr]
    table = changes(study)
    assert {name for _, name in table} >= {"quality", "quality_with_reasoning", "safety"}
    assert table["strict", "quality"]["rmse"].change.value < 0


def test_a_part_that_does_not_apply_drops_out_of_the_composite_as_it_does_before_calibration() -> None:
    frame = planted_ratings(dimensions=DIAGNOSIS, instrument="diagnosis@1.0")
    ward = (pl.col("system") == "b") & (pl.col("dimension") == "reasoning")
    frame = frame.with_columns(
        pl.when(ward).then(None).otherwise(pl.col("score")).alias("score"),
        pl.when(ward).then(pl.lit("not_applicable")).otherwise(pl.lit("scored")).alias("status"),
    )
    study = calibrate(frame, reference=["panel"])
    found = {each.dimension: each.pairs for each in study.derived if each.rater == "strict"}
    assert found["quality"].n == 120
    assert found["quality_with_reasoning"].n == 60


def test_a_given_composite_is_calibrated_itself_only_where_its_parts_are_missing() -> None:
    alone = planted_ratings(dimensions=("safety",), instrument="diagnosis@1.0")
    assert [each.dimension for each in calibrate(alone, reference=["panel"]).calibrations][:1] == ["safety"]
    both = planted_ratings(dimensions=("risk", "safety"), instrument="diagnosis@1.0")
    study = calibrate(both, reference=["panel"])
    assert {each.dimension for each in study.calibrations} == {"risk"}
    assert "safety" in {each.dimension for each in study.derived}


def test_folds_are_made_of_patients_where_they_are_named() -> None:
    frame = planted_ratings().with_columns(
        patient=(pl.col("item").str.strip_prefix("c").cast(int) // 2).cast(str)
    )
    study = calibrate(graded(frame), reference=["panel"])
    part, fitted = study.calibrations[0].part, study.calibrations[0].fitted
    fold = dict(zip(part.grid.items.tolist(), fitted.out_of_fold.fold.tolist(), strict=True))
    assert len(fitted.fold_of) == 30
    assert all(fold[f"c{2 * number}"] == fold[f"c{2 * number + 1}"] for number in range(30))


def test_all_judges_and_dimensions_share_one_split() -> None:
    study = calibrate(graded(planted_ratings(dimensions=DIAGNOSIS)), reference=["panel"])
    assert len({tuple(sorted(each.fitted.fold_of.items())) for each in study.calibrations}) == 1


def test_one_judge_that_cannot_be_calibrated_does_not_stop_the_others() -> None:
    frame = planted_ratings()
    stuck = frame.filter(pl.col("rater") == "strict").with_columns(rater=pl.lit("stuck"), score=pl.lit(4.0))
    study = calibrate(graded(pl.concat([frame, stuck])), reference=["panel"])
    assert [(each.rater, each.dimension) for each in study.refused] == [("stuck", "accuracy")]
    assert "stuck gave the score 4 to all 120" in study.refused[0].reason
    assert {each.rater for each in study.calibrations} == {"lenient", "strict", "jury"}


def test_nothing_to_calibrate_is_an_error_with_all_reasons() -> None:
    with pytest.raises(MedjuryError, match="too few labels"):
        calibrate(graded(planted_ratings(labelled=8)), reference=["panel"])
    frame = planted_ratings(judges={"only": 0.0}).with_columns(
        score=pl.when(pl.col("rater") == "only").then(3.0).otherwise(pl.col("score"))
    )
    with pytest.raises(MedjuryError, match=r"nothing could be calibrated:\n  only, accuracy: only gave"):
        calibrate(graded(frame), reference=["panel"])


def test_scores_off_the_scale_count_as_unscored_and_are_reported() -> None:
    frame = planted_ratings().with_columns(
        score=pl.when((pl.col("item") == "c0") & (pl.col("rater") == "strict")).then(9.0).otherwise("score")
    )
    study = calibrate(graded(frame), reference=["panel"])
    strict = next(each for each in study.calibrations if each.rater == "strict").fitted.out_of_fold
    assert strict.n_unscored == 2
    assert any("2 scores lie off the scale 1 to 5" in each for each in study.warnings)


def test_the_scale_comes_from_the_instrument_and_is_never_guessed() -> None:
    frame = planted_ratings(dimensions=("risk",), instrument="diagnosis@1.0")
    study = calibrate(frame, reference=["panel"], resamples=0)
    assert study.calibrations[0].grades == (1, 2, 3, 4, 5)
    assert study.warnings == ()
    told = r"'accuracy': the scale is not known; scores run from 1 to 5. Give it with --scale LOW HIGH"
    with pytest.raises(MedjuryError, match=told):
        calibrate(planted_ratings(), reference=["panel"])
    wide = planted_ratings().with_columns(score=pl.col("score") * 20)
    with pytest.raises(MedjuryError, match=r"the scale is not known.* from 20 to 100. Give it with --scale"):
        calibrate(wide, reference=["panel"])


def test_a_dimension_without_a_scale_is_left_out_aloud_where_others_have_one_and_refused_where_named() -> (
    None
):
    frame = planted_ratings(dimensions=("accuracy", "clarity"))
    table = rating_table(frame, scale={"accuracy": (1, 5)})
    study = calibrate(table, reference=["panel"])
    assert {each.dimension for each in study.calibrations} == {"accuracy"}
    assert "left out: dimension 'clarity': the scale is not known" in study.warnings[0]
    with pytest.raises(MedjuryError, match="'clarity': the scale is not known"):
        calibrate(table, reference=["panel"], dimensions=["clarity"])


def test_a_composite_is_on_the_scale_of_its_parts() -> None:
    frame = planted_ratings(dimensions=("quality",), instrument="diagnosis@1.0")
    assert calibrate(frame, reference=["panel"]).calibrations[0].grades == (1, 2, 3, 4, 5)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"reference": ["pannel"]}, "there is no rater 'pannel' to be the reference; did you mean 'panel'"),
        ({"raters": ["panel"]}, "'panel' is named as a judge and as the reference"),
        ({"dimensions": ["acuracy"]}, "there is no dimension 'acuracy'"),
        ({"reference": []}, "name the reference: whose scores are the yardstick"),
    ],
)
def test_names_that_do_not_exist_are_refused(change: dict[str, list[str]], message: str) -> None:
    with pytest.raises(MedjuryError, match=message):
        calibrate(graded(planted_ratings()), **{"reference": ["panel"], **change})


def test_two_versions_of_an_instrument_are_not_calibrated_together() -> None:
    frame = planted_ratings(dimensions=("risk",)).with_columns(
        instrument=pl.when(pl.col("rater") == "strict")
        .then(pl.lit("diagnosis@1.0"))
        .otherwise(pl.lit("diagnosis@2.0"))
    )
    with pytest.raises(MedjuryError, match=r"judged with diagnosis@1.0 and diagnosis@2.0"):
        calibrate(graded(frame), reference=["panel"])
    other = planted_ratings(dimensions=("risk",), instrument="diagnosis@0.9")
    with pytest.raises(MedjuryError, match=r"was judged with diagnosis@0.9, not with diagnosis@1.0"):
        calibrate(rating_table(other, instrument="diagnosis"), reference=["panel"])


def test_several_reference_raters_are_averaged() -> None:
    frame = planted_ratings(judges={"strict": -0.9, "second": 0.1})
    table = graded(frame)
    roles = judging_roles(table, ["strict"], ["panel", "second"])
    part = parts_of(table, roles, table.dimensions)[0][0]
    first = frame.filter((pl.col("item") == "c3") & (pl.col("system") == "a") & (pl.col("rater") != "strict"))
    place = int(np.flatnonzero((part.grid.items == "c3") & (part.grid.systems == "a"))[0])
    assert part.labels[place] == pytest.approx(first["score"].mean())


def test_the_jury_needs_more_than_half_of_its_judges_and_not_just_half() -> None:
    """The table's rule and no other: with four judges two scores are too few, three are enough."""
    frame = planted_ratings(judges={"one": -0.9, "two": 0.0, "three": 0.2, "four": 0.7})
    lost = {"c1": ["three", "four"], "c2": ["four"]}
    gone = pl.any_horizontal(
        *((pl.col("item") == item) & pl.col("rater").is_in(names) for item, names in lost.items())
    )
    table = graded(frame.with_columns(score=pl.when(gone).then(None).otherwise("score")))
    study = calibrate(table)
    jury = next(each for each in study.calibrations if each.rater == "jury")
    known = dict(zip(jury.part.grid.items.tolist(), ~np.isnan(jury.pairs.scores), strict=True))
    assert (known["c1"], known["c2"], known["c3"]) == (False, True, True)
    median = next(
        each for each in calibrate(rating_table(table, jury="median")).calibrations if each.rater == "jury"
    )
    given = np.column_stack([median.part.scores(name) for name in ("one", "two", "three", "four")])
    place = median.part.grid.items.tolist().index("c3")
    assert median.pairs.scores[place] == pytest.approx(np.median(given[place]))


def test_text_metrics_take_no_part_unless_they_are_named() -> None:
    frame = planted_ratings()
    metric = frame.filter(pl.col("rater") == "strict").with_columns(
        rater=pl.lit("rouge"), rater_kind=pl.lit("metric")
    )
    table = graded(pl.concat([frame, metric]))
    assert {each.rater for each in calibrate(table).calibrations} == {"lenient", "strict", "jury"}
    assert {each.rater for each in calibrate(table, raters="rouge").calibrations} == {"rouge"}


def test_one_face_for_the_result() -> None:
    study = calibrate(graded(planted_ratings()), resamples=100)
    assert study.frame().height == len(study.rows) == 20
    row = study.find(rater="strict", dimension="accuracy", statistic="rmse")
    assert row.as_dict()["rater"] == "strict"
    assert study.only("jury").rows == tuple(each for each in study.rows if each.rater == "jury")
    assert "strict" in study._repr_html_()
    before, after = study.reliability("strict", "accuracy")
    assert after.error < before.error
    assert len(study.plot().axes) == 3


def test_development_cases_teach_nothing_and_are_reported_nowhere() -> None:
    table = graded(planted_ratings())
    served = pl.col("item") == "c0"
    table = replace(table, rows=table.rows.filter(~served), development_rows=table.rows.filter(served))
    study = calibrate(table, resamples=0)
    assert study.rows[0].n == 118
    assert "item c0" not in study.calibrations[0].fitted.fold_of


ANSWERS = 60
WITH_DERIVED = [
    name for name in list_instruments() if (known := load_instrument(name)).composites or known.reversed
]


def _given(name: str, seed: int) -> dict[str, tuple[Any, np.ndarray, np.ndarray]]:
    """Scores, gaps and what does not apply, of answers that each dimension has in an order of its own."""
    draw = np.random.default_rng(seed)
    parts = {}
    for dimension in load_instrument(name).dimensions:
        order = draw.permutation(ANSWERS)[: ANSWERS - 5]
        grid = SimpleNamespace(
            items=np.array([f"case {place}" for place in order]), systems=np.full(len(order), "system")
        )
        values = draw.uniform(dimension.lowest, dimension.highest, len(order))
        values[draw.random(len(order)) < 0.05] = np.nan
        parts[dimension.name] = grid, values, draw.random(len(order)) < 0.08
    return parts


@pytest.mark.parametrize("name", WITH_DERIVED)
def test_all_at_once_is_one_by_one_to_the_last_digit(name: str) -> None:
    instrument, units = load_instrument(name), [(f"case {place}", "system") for place in range(ANSWERS)]
    parts = _given(name, seed=3)
    found = derived_values(instrument, units, parts)
    scored = 0
    for place, unit in enumerate(units):
        outcomes: dict[str, Outcome] = {}
        for dimension, (grid, values, applies_not) in parts.items():
            for item, value, skipped in zip(grid.items, values.tolist(), applies_not.tolist(), strict=True):
                if item == unit[0] and (skipped or value == value):
                    outcomes[dimension] = NotApplicable() if skipped else Score(value)
        for derived, outcome in derive(instrument, outcomes).items():
            value = found[derived][place]
            if isinstance(outcome, Score):
                scored += 1
                assert value == outcome.value, (derived, unit)
            else:
                assert np.isnan(value), (derived, unit)
    assert scored > ANSWERS / 10


def test_there_are_instruments_to_try_it_on() -> None:
    assert len(WITH_DERIVED) > 2
    assert any(
        each.needs_every_part for name in WITH_DERIVED for each in load_instrument(name).composites
    ) or any(load_instrument(name).reversed for name in WITH_DERIVED)
