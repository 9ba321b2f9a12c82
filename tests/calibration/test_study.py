"""Calibrating a rating table: judges, jury, composites, and refusals that name the judge and the
dimension."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from tests.calibration.tables import rating_table

from medjury.calibration import calibrate, change_table, read_judged
from medjury.errors import MedjuryError
from medjury.instruments import Score, derive, load_instrument

DIAGNOSIS = ("diagnosis", "differential", "reasoning", "risk")


def test_every_judge_and_the_jury_lose_their_offset() -> None:
    study = calibrate(rating_table(cases=100), reference=["panel"], scale=(1, 5))
    table = change_table(study, resamples=300)
    assert list(table) == [(name, "accuracy") for name in ("lenient", "strict", "jury", "jury_of_calibrated")]
    for judge in ("lenient", "strict"):
        change = table[judge, "accuracy"]["absolute_offset"]
        assert change.after.value < 0.1 * change.before.value
        assert change.change.high < 0
    assert study.refused == ()


def test_both_ways_of_calibrating_the_jury_give_about_the_same() -> None:
    table = change_table(calibrate(rating_table(cases=150), reference=["panel"], scale=(1, 5)), resamples=0)
    direct, mean = (table[name, "accuracy"]["rmse"].after.value for name in ("jury", "jury_of_calibrated"))
    assert direct == pytest.approx(mean, abs=0.06)


def test_where_jurors_vary_the_mean_of_calibrated_judges_leaves_the_unit_out_and_says_so() -> None:
    frame = rating_table(judges={"one": -0.9, "two": 0.0, "three": 0.7})
    gone = (pl.col("rater") == "three") & pl.col("item").is_in(["c1", "c2"])
    study = calibrate(frame.filter(~gone), reference=["panel"], scale=(1, 5))
    direct = next(each for each in study.calibrations if each.judge == "jury").fitted.out_of_fold
    mean = next(each for each in study.derived if each.judge == "jury_of_calibrated").pairs
    assert direct.n == 120
    assert mean.n == 116
    assert "4 units lack the score of a judge" in study.warnings[-1]


def test_a_stored_jury_is_calibrated_as_it_is_and_no_second_one_is_formed() -> None:
    frame = rating_table()
    jury = (
        frame.filter(pl.col("rater_kind") == "judge")
        .group_by("item", "system", "dimension")
        .agg(pl.col("score").mean())
        .with_columns(rater=pl.lit("jury"), rater_kind=pl.lit("jury"))
        .select(frame.columns)
    )
    study = calibrate(pl.concat([frame, jury]), reference=["panel"], scale=(1, 5))
    assert [each.judge for each in study.calibrations] == ["jury", "lenient", "strict"]
    assert study.judged.dimensions[0].jurors == ("lenient", "strict")


def test_composites_are_recomputed_from_calibrated_parts() -> None:
    frame = rating_table(dimensions=DIAGNOSIS, instrument="diagnosis@1.0")
    study = calibrate(frame, reference=["panel"])
    assert {each.part.dimension for each in study.calibrations} == set(DIAGNOSIS)
    quality = next(each for each in study.derived if (each.judge, each.dimension) == ("strict", "quality"))
    parts = {
        each.part.dimension: each.fitted.out_of_fold for each in study.calibrations if each.judge == "strict"
    }
    instrument = load_instrument("diagnosis")
    for side in ("scores", "calibrated", "labels"):
        by_hand = derive(instrument, {name: Score(getattr(each, side)[7]) for name, each in parts.items()})
        assert getattr(quality.pairs, side)[7] == pytest.approx(by_hand["quality"].value)  # type: ignore[union-attr]
    table = change_table(study, resamples=100)
    assert {name for _, name in table} >= {"quality", "quality_with_reasoning", "safety"}
    assert table["strict", "quality"]["rmse"].change.value < 0


def test_a_part_that_does_not_apply_drops_out_of_the_composite_as_it_does_before_calibration() -> None:
    frame = rating_table(dimensions=DIAGNOSIS, instrument="diagnosis@1.0")
    ward = (pl.col("system") == "b") & (pl.col("dimension") == "reasoning")
    frame = frame.with_columns(
        pl.when(ward).then(None).otherwise(pl.col("score")).alias("score"),
        pl.when(ward).then(pl.lit("not_applicable")).otherwise(pl.lit("scored")).alias("status"),
    )
    study = calibrate(frame, reference=["panel"])
    found = {each.dimension: each.pairs for each in study.derived if each.judge == "strict"}
    assert found["quality"].n == 120
    assert found["quality_with_reasoning"].n == 60


def test_a_given_composite_is_calibrated_itself_only_where_its_parts_are_missing() -> None:
    alone = rating_table(dimensions=("safety",), instrument="diagnosis@1.0")
    assert [each.part.dimension for each in calibrate(alone, reference=["panel"]).calibrations][:1] == [
        "safety"
    ]
    both = rating_table(dimensions=("risk", "safety"), instrument="diagnosis@1.0")
    study = calibrate(both, reference=["panel"])
    assert {each.part.dimension for each in study.calibrations} == {"risk"}
    assert "safety" in {each.dimension for each in study.derived}


def test_folds_are_made_of_patients_where_they_are_named() -> None:
    frame = rating_table().with_columns(
        patient=(pl.col("item").str.strip_prefix("c").cast(int) // 2).cast(str)
    )
    study = calibrate(frame, reference=["panel"], scale=(1, 5))
    part, fitted = study.calibrations[0].part, study.calibrations[0].fitted
    fold = dict(zip(part.items.tolist(), fitted.out_of_fold.fold.tolist(), strict=True))
    assert len(fitted.fold_of) == 30
    assert all(fold[f"c{2 * number}"] == fold[f"c{2 * number + 1}"] for number in range(30))


def test_all_judges_and_dimensions_share_one_split() -> None:
    study = calibrate(rating_table(dimensions=DIAGNOSIS), reference=["panel"], scale=(1, 5))
    assert len({tuple(sorted(each.fitted.fold_of.items())) for each in study.calibrations}) == 1


def test_one_judge_that_cannot_be_calibrated_does_not_stop_the_others() -> None:
    frame = rating_table()
    stuck = frame.filter(pl.col("rater") == "strict").with_columns(rater=pl.lit("stuck"), score=pl.lit(4.0))
    study = calibrate(pl.concat([frame, stuck]), reference=["panel"], scale=(1, 5))
    assert [(each.judge, each.dimension) for each in study.refused] == [("stuck", "accuracy")]
    assert "stuck gave the score 4 to all 120" in study.refused[0].reason
    assert {each.judge for each in study.calibrations} == {"lenient", "strict", "jury"}


def test_nothing_to_calibrate_is_an_error_with_all_reasons() -> None:
    with pytest.raises(MedjuryError, match="too few labels"):
        calibrate(rating_table(labelled=8), reference=["panel"], scale=(1, 5))
    frame = rating_table(judges={"only": 0.0}).with_columns(
        score=pl.when(pl.col("rater") == "only").then(3.0).otherwise(pl.col("score"))
    )
    with pytest.raises(MedjuryError, match=r"nothing could be calibrated:\n  only, accuracy: only gave"):
        calibrate(frame, reference=["panel"], scale=(1, 5))


def test_scores_off_the_scale_count_as_unscored_and_are_reported() -> None:
    frame = rating_table().with_columns(
        score=pl.when((pl.col("item") == "c0") & (pl.col("rater") == "strict")).then(9.0).otherwise("score")
    )
    study = calibrate(frame, reference=["panel"], scale=(1, 5))
    strict = next(each for each in study.calibrations if each.judge == "strict").fitted.out_of_fold
    assert strict.n_unscored == 2
    assert any("2 scores lie off the scale 1 to 5" in each for each in study.warnings)


def test_the_scale_comes_from_the_instrument_or_is_assumed_aloud() -> None:
    known = read_judged(rating_table(dimensions=("risk",), instrument="diagnosis@1.0"), reference=["panel"])
    assert known.dimensions[0].grades == (1, 2, 3, 4, 5)
    assert known.warnings == ()
    assumed = read_judged(rating_table(), reference=["panel"])
    assert "the scale 1 to 5 was assumed" in assumed.warnings[0]
    zero_one = rating_table().with_columns(score=(pl.col("score") > 3).cast(float))
    assert read_judged(zero_one, reference=["panel"]).dimensions[0].grades == (0, 1)
    wide = rating_table().with_columns(score=pl.col("score") * 20)
    with pytest.raises(MedjuryError, match=r"the scale is not known .* from 20 to 100. Give it with --scale"):
        read_judged(wide, reference=["panel"])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"reference": ["pannel"]}, "there is no rater 'pannel' in the ratings; did you mean 'panel'"),
        ({"judges": ["panel"]}, "'panel' is named as a judge and as the reference"),
        ({"dimensions": ["acuracy"]}, "there is no dimension 'acuracy'"),
        ({"reference": []}, "name the clinicians' rater"),
    ],
)
def test_names_that_do_not_exist_are_refused(change: dict[str, list[str]], message: str) -> None:
    with pytest.raises(MedjuryError, match=message):
        calibrate(rating_table(), **{"reference": ["panel"], **change})


def test_two_versions_of_an_instrument_are_not_calibrated_together() -> None:
    frame = rating_table(dimensions=("risk",)).with_columns(
        instrument=pl.when(pl.col("rater") == "strict")
        .then(pl.lit("diagnosis@1.0"))
        .otherwise(pl.lit("diagnosis@2.0"))
    )
    with pytest.raises(MedjuryError, match=r"judged with diagnosis@1.0 and diagnosis@2.0"):
        calibrate(frame, reference=["panel"], scale=(1, 5))
    other = rating_table(dimensions=("risk",), instrument="diagnosis@0.9")
    with pytest.raises(MedjuryError, match=r"was judged with diagnosis@0.9, not with diagnosis@1.0"):
        calibrate(other, reference=["panel"], instrument=load_instrument("diagnosis"))


def test_several_reference_raters_are_averaged() -> None:
    frame = rating_table(judges={"strict": -0.9, "second": 0.1})
    judged = read_judged(frame, reference=["panel", "second"], judges=["strict"], scale=(1, 5))
    part = judged.dimensions[0]
    first = frame.filter((pl.col("item") == "c3") & (pl.col("system") == "a") & (pl.col("rater") != "strict"))
    place = int(np.flatnonzero((part.items == "c3") & (part.systems == "a"))[0])
    assert part.labels[place] == pytest.approx(first["score"].mean())
