"""Calibration files: versioned JSON with provenance, refused where they do not belong."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.calibration.tables import rating_table

import medjury
from medjury.calibration import (
    METHODS,
    apply_calibrations,
    before_after,
    calibrate,
    change_table,
    evaluate_calibrations,
    load_calibrations,
    save_calibrations,
)
from medjury.errors import MedjuryError

LABEL = "diagnosis@1.0"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    study = calibrate(rating_table(dimensions=("risk",), instrument=LABEL), reference=["panel"])
    save_calibrations(study, tmp_path / "calibration.json", created_at="2026-01-02T03:04:05+00:00")
    return tmp_path / "calibration.json"


@pytest.mark.parametrize("method", sorted(METHODS))
def test_what_is_loaded_calibrates_exactly_as_what_was_saved(method: str, tmp_path: Path) -> None:
    frame = rating_table(dimensions=("risk",), instrument=LABEL)
    study = calibrate(frame, reference=["panel"], method=method)  # type: ignore[arg-type]
    assert save_calibrations(study, tmp_path / "c.json") == 3
    for each, saved in zip(study.calibrations, load_calibrations(tmp_path / "c.json"), strict=True):
        pairs = each.fitted.out_of_fold
        applied = saved.apply(pairs.scores, cases=each.part.cases)
        assert applied.scores.tolist() == pairs.calibrated.tolist()
        assert saved.apply([3.0], cases=["new"]).scores == pytest.approx(each.fitted.final.predict([3.0]))


def test_the_file_says_where_it_came_from_and_holds_no_case_name(file: Path) -> None:
    text = file.read_text()
    content = json.loads(text)
    assert content["medjury"] == medjury.__version__
    assert content["created_at"] == "2026-01-02T03:04:05+00:00"
    entry = content["calibrations"][0]
    assert (entry["judge"], entry["dimension"], entry["instrument"]) == ("lenient", "risk", LABEL)
    assert (entry["n_labels"], entry["n_cases"], entry["folds"], entry["seed"]) == (120, 60, 5, 0)
    assert len(entry["data_sha256"]) == 64
    assert entry["method"] == "isotonic"
    assert '"c17"' not in text
    assert "item c17" not in text


def test_the_data_hash_changes_with_the_data_and_not_with_their_order(tmp_path: Path) -> None:
    frame = rating_table(dimensions=("risk",), instrument=LABEL)
    hashes = []
    for each in (frame, frame.reverse(), rating_table(dimensions=("risk",), instrument=LABEL, seed=1)):
        save_calibrations(calibrate(each, reference=["panel"]), tmp_path / "c.json")
        hashes.append(load_calibrations(tmp_path / "c.json")[0].data_sha256)
    assert hashes[0] == hashes[1] != hashes[2]


def test_a_calibration_for_another_instrument_version_dimension_or_judge_is_refused(file: Path) -> None:
    saved = load_calibrations(file)[0]
    saved.check(judge="lenient", dimension="risk", instrument=LABEL)
    for wrong in ({"instrument": "diagnosis@2.0"}, {"dimension": "safety"}, {"judge": "strict"}):
        right = {"judge": "lenient", "dimension": "risk", "instrument": LABEL}
        with pytest.raises(
            MedjuryError, match=f"is for {next(iter(wrong))} .* not for '{next(iter(wrong.values()))}'"
        ):
            saved.check(**{**right, **wrong})
    with pytest.raises(MedjuryError, match=r"is for instrument 'diagnosis@1.0', not for 'diagnosis@2.0'"):
        apply_calibrations(
            rating_table(dimensions=("risk",), instrument="diagnosis@2.0"), load_calibrations(file)
        )
    with pytest.raises(MedjuryError, match=r"not for '\(not stated\)'"):
        apply_calibrations(rating_table(dimensions=("risk",)), load_calibrations(file))


def test_applied_ratings_are_out_of_fold_for_the_cases_that_taught_and_final_for_new_ones(file: Path) -> None:
    old = rating_table(dimensions=("risk",), instrument=LABEL)
    new = rating_table(dimensions=("risk",), instrument=LABEL, seed=5).with_columns(
        item="new " + pl.col("item")
    )
    applied = apply_calibrations(pl.concat([old, new]), load_calibrations(file))
    count = applied.counts["strict", "risk"]
    assert (count.n_out_of_fold, count.n_new, count.n_unscored) == (120, 120, 0)
    study = calibrate(old, reference=["panel"])
    strict = next(each for each in study.calibrations if each.judge == "strict")
    scores = {
        (row.item, row.system): row.score
        for row in applied.ratings
        if (row.rater, row.dimension) == ("strict:calibrated", "risk")
    }
    pairs = strict.fitted.out_of_fold
    for item, system, value in zip(strict.part.items, strict.part.systems, pairs.calibrated, strict=True):
        assert scores[str(item), str(system)] == pytest.approx(value)
    assert {row.rater_kind for row in applied.ratings if row.rater == "jury:calibrated"} == {"jury"}
    safety = next(row for row in applied.ratings if row.dimension == "safety")
    risk = scores if safety.rater == "strict:calibrated" else None
    assert risk is None or safety.score == pytest.approx(6 - risk[safety.item, safety.system])


def test_a_file_is_judged_on_the_cases_that_taught_it_as_if_cross_fitted_and_on_new_ones_as_it_is(
    file: Path,
) -> None:
    old = rating_table(dimensions=("risk",), instrument=LABEL)
    grades, pairs = evaluate_calibrations(old, load_calibrations(file), reference=["panel"])["strict", "risk"]
    by_file = before_after(pairs, grades=grades, resamples=0)
    by_study = change_table(calibrate(old, reference=["panel"]), resamples=0)["strict", "risk"]
    assert by_file["rmse"].after.value == pytest.approx(by_study["rmse"].after.value)
    new = rating_table(dimensions=("risk",), instrument=LABEL, seed=5).with_columns(
        item="new " + pl.col("item")
    )
    grades, pairs = evaluate_calibrations(new, load_calibrations(file), reference=["panel"])["strict", "risk"]
    assert set(pairs.fold.tolist()) == {-1}
    changes = before_after(pairs, grades=grades, resamples=200)
    assert changes["absolute_offset"].after.value < 0.2 < changes["absolute_offset"].before.value


def test_an_unscored_rating_stays_unscored(file: Path) -> None:
    frame = rating_table(dimensions=("risk",), instrument=LABEL).with_columns(
        score=pl.when((pl.col("item") == "c4") & (pl.col("rater") == "strict")).then(None).otherwise("score")
    )
    applied = apply_calibrations(frame, load_calibrations(file))
    assert applied.counts["strict", "risk"].n_unscored == 2
    lost = [row for row in applied.ratings if row.rater == "strict:calibrated" and row.item == "c4"]
    assert {(row.status, row.score) for row in lost if row.dimension == "risk"} == {("unscored", None)}
    assert "safety" not in {row.dimension for row in lost}


def test_scores_beyond_the_fitted_range_are_counted(tmp_path: Path) -> None:
    frame = rating_table(dimensions=("risk",), instrument=LABEL).with_columns(
        score=pl.when(pl.col("rater") == "strict").then(pl.col("score").clip(2, 4)).otherwise("score")
    )
    save_calibrations(calibrate(frame, reference=["panel"]), tmp_path / "c.json")
    applied = apply_calibrations(
        rating_table(dimensions=("risk",), instrument=LABEL, seed=3), load_calibrations(tmp_path / "c.json")
    )
    count = applied.counts["strict", "risk"].n_outside
    assert count > 0
    assert any(f"strict, risk: {count} scores lie beyond the range" in each for each in applied.warnings)


def test_scores_off_the_scale_are_refused_with_the_row(file: Path) -> None:
    frame = rating_table(dimensions=("risk",), instrument=LABEL)
    row = frame.with_row_index().filter(pl.col("rater") == "strict")["index"][3]
    wrong = frame.with_columns(score=pl.when(pl.int_range(pl.len()) == row).then(9.0).otherwise("score"))
    with pytest.raises(
        MedjuryError, match=f"1 scores lie off the scale 1 to 5 of 'risk', first in row {row + 1}"
    ):
        apply_calibrations(wrong, load_calibrations(file))


def test_calibrations_that_fit_nothing_are_named(file: Path) -> None:
    some = rating_table(dimensions=("risk",), judges={"strict": -0.9}, instrument=LABEL)
    assert apply_calibrations(some, load_calibrations(file)).unused == (("lenient", "risk"), ("jury", "risk"))
    none = rating_table(dimensions=("risk",), judges={"stranger": 0.0}, instrument=LABEL)
    with pytest.raises(MedjuryError, match="no calibration of the file fits the ratings"):
        apply_calibrations(none, load_calibrations(file))


def test_a_damaged_or_foreign_file_is_refused(file: Path, tmp_path: Path) -> None:
    content = json.loads(file.read_text())

    def refused(change: object, message: str) -> None:
        bad = tmp_path / "bad.json"
        bad.write_text(change if isinstance(change, str) else json.dumps(change))
        with pytest.raises(MedjuryError, match=message):
            load_calibrations(bad)

    refused("not json", "not a calibration file")
    refused([1, 2], "not a calibration file")
    refused({**content, "format": "something else"}, "not a calibration file")
    refused({**content, "format_version": 99}, "calibration format 99; this medjury reads 1")
    refused({key: value for key, value in content.items() if key != "case_folds"}, "damaged")
    entry = content["calibrations"][0]
    for change in (
        {"final": {**entry["final"], "knots": ["one", "two"]}},
        {"final": {**entry["final"], "extra": 1}},
        {"final": {**entry["final"], "values": entry["final"]["values"][::-1]}},
        {"final": {**entry["final"], "values": entry["final"]["values"][1:]}},
        {"by_fold": entry["by_fold"][:3]},
        {"seed": None},
    ):
        refused({**content, "calibrations": [{**entry, **change}]}, "damaged")
    refused({**content, "calibrations": [{**entry, "method": "pickle"}]}, "no calibration method 'pickle'")
    with pytest.raises(MedjuryError, match="there is no such file"):
        load_calibrations(tmp_path / "absent.json")
    with pytest.raises(MedjuryError, match="cannot be written"):
        study = calibrate(rating_table(), reference=["panel"])
        save_calibrations(study, tmp_path / "no folder" / "c.json")


def test_a_file_is_plain_json_without_nan(file: Path) -> None:
    def refuse(constant: str) -> None:
        raise AssertionError(constant)

    json.loads(file.read_text(), parse_constant=refuse)
    assert np.isfinite(load_calibrations(file)[0].final.predict([1, 5])).all()
