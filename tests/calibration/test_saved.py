"""Calibration files: versioned JSON with provenance, refused where they do not belong."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.calibration.tables import planted_ratings

import medjury
from medjury.analysis.calibration import (
    apply_calibrations,
    calibrate,
    evaluate_calibrations,
    load_calibrations,
    save_calibrations,
)
from medjury.analysis.calibration._cross_fit import METHODS
from medjury.foundation.errors import MedjuryError
from medjury.tables import rating_table

LABEL = "diagnosis@1.0"


def risk(**changes: Any) -> pl.DataFrame:
    return planted_ratings(**{"dimensions": ("risk",), "instrument": LABEL, **changes})


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("saved") / "calibration.json"
    save_calibrations(calibrate(risk(), reference=["panel"]), path)
    return path


@pytest.mark.parametrize("method", sorted(METHODS))
def test_what_is_loaded_calibrates_exactly_as_what_was_saved(method: str, tmp_path: Path) -> None:
    frame = risk()
    study = calibrate(frame, reference=["panel"], method=method)  # type: ignore[arg-type]
    assert len(save_calibrations(study, tmp_path / "c.json").rows) == 3
    for each, saved in zip(study.calibrations, load_calibrations(tmp_path / "c.json"), strict=True):
        pairs = each.pairs
        applied = saved.apply(pairs.scores, cases=each.part.cases)
        assert applied.scores.tolist() == pairs.calibrated.tolist()
        assert saved.apply([3.0], cases=["new"]).scores == pytest.approx(each.fitted.final.predict([3.0]))


def test_the_file_says_where_it_came_from_and_holds_no_case_name(file: Path) -> None:
    text = file.read_text()
    content = json.loads(text)
    assert content["medjury"] == medjury.__version__
    assert datetime.fromisoformat(content["created_at"]).tzinfo is not None
    entry = content["calibrations"][0]
    assert (entry["judge"], entry["dimension"], entry["instrument"]) == ("lenient", "risk", LABEL)
    assert (entry["n_labels"], entry["n_cases"], entry["folds"], entry["seed"]) == (120, 60, 5, 0)
    assert len(entry["data_sha256"]) == 64
    assert entry["method"] == "isotonic"
    assert '"c17"' not in text
    assert "item c17" not in text


def test_the_data_hash_changes_with_the_data_and_not_with_their_order(tmp_path: Path) -> None:
    frame = risk()
    hashes = []
    for each in (frame, frame.reverse(), risk(seed=1)):
        save_calibrations(calibrate(each, reference=["panel"]), tmp_path / "c.json")
        hashes.append(load_calibrations(tmp_path / "c.json")[0].data_sha256)
    assert hashes[0] == hashes[1] != hashes[2]


def test_a_calibration_for_another_instrument_version_dimension_or_judge_is_refused(file: Path) -> None:
    saved = load_calibrations(file)[0]
    saved.check(rater="lenient", dimension="risk", instrument=LABEL)
    for wrong in ({"instrument": "diagnosis@2.0"}, {"dimension": "safety"}, {"rater": "strict"}):
        right = {"rater": "lenient", "dimension": "risk", "instrument": LABEL}
        with pytest.raises(
            MedjuryError, match=f"is for {next(iter(wrong))} .* not for '{next(iter(wrong.values()))}'"
        ):
            saved.check(**{**right, **wrong})
    with pytest.raises(MedjuryError, match=r"is for instrument 'diagnosis@1.0', not for 'diagnosis@2.0'"):
        apply_calibrations(risk(instrument="diagnosis@2.0"), load_calibrations(file))
    with pytest.raises(MedjuryError, match=r"not for '\(not stated\)'"):
        apply_calibrations(risk(instrument=None), load_calibrations(file))


def test_applied_ratings_are_out_of_fold_for_the_cases_that_taught_and_final_for_new_ones(file: Path) -> None:
    old = risk()
    new = risk(seed=5).with_columns(item="new " + pl.col("item"))
    applied = apply_calibrations(pl.concat([old, new]), load_calibrations(file))
    count = applied.find(rater="strict", dimension="risk")
    assert (count.n_out_of_fold, count.n_new, count.n_unscored) == (120, 120, 0)
    study = calibrate(old, reference=["panel"])
    strict = next(each for each in study.calibrations if each.rater == "strict")
    scores = {
        (row.item, row.system): row.score
        for row in applied.ratings
        if (row.rater, row.dimension) == ("strict:calibrated", "risk")
    }
    pairs = strict.fitted.out_of_fold
    for item, system, value in zip(
        strict.part.grid.items, strict.part.grid.systems, pairs.calibrated, strict=True
    ):
        assert scores[str(item), str(system)] == pytest.approx(value)
    assert {row.rater_kind for row in applied.ratings if row.rater == "jury:calibrated"} == {"jury"}
    safety = next(row for row in applied.ratings if row.dimension == "safety")
    if safety.rater == "strict:calibrated":
        assert safety.score == pytest.approx(6 - scores[safety.item, safety.system])


def test_a_file_is_judged_on_the_cases_that_taught_it_as_if_cross_fitted_and_on_new_ones_as_it_is(
    file: Path,
) -> None:
    old = risk()
    where = {"rater": "strict", "dimension": "risk"}
    by_file = evaluate_calibrations(old, load_calibrations(file), reference=["panel"], resamples=0)
    by_study = calibrate(old, reference=["panel"], resamples=0)
    after = [each.find(**where, statistic="rmse").after.value for each in (by_file, by_study)]
    assert after[0] == pytest.approx(after[1])
    new = risk(seed=5).with_columns(item="new " + pl.col("item"))
    found = evaluate_calibrations(new, load_calibrations(file), reference=["panel"], resamples=200)
    assert {fold for each in found.derived for fold in each.pairs.fold.tolist()} == {-1}
    change = found.find(**where, statistic="absolute_offset")
    assert change.after.value < 0.2 < change.before.value


def test_an_unscored_rating_stays_unscored(file: Path) -> None:
    frame = risk().with_columns(
        score=pl.when((pl.col("item") == "c4") & (pl.col("rater") == "strict")).then(None).otherwise("score")
    )
    applied = apply_calibrations(frame, load_calibrations(file))
    assert applied.find(rater="strict", dimension="risk").n_unscored == 2
    lost = [row for row in applied.ratings if row.rater == "strict:calibrated" and row.item == "c4"]
    assert {(row.status, row.score) for row in lost if row.dimension == "risk"} == {("unscored", None)}
    assert "safety" not in {row.dimension for row in lost}


def test_scores_beyond_the_fitted_range_are_counted(tmp_path: Path) -> None:
    frame = risk().with_columns(
        score=pl.when(pl.col("rater") == "strict").then(pl.col("score").clip(2, 4)).otherwise("score")
    )
    save_calibrations(calibrate(frame, reference=["panel"]), tmp_path / "c.json")
    applied = apply_calibrations(
        risk(seed=3),
        load_calibrations(tmp_path / "c.json"),
    )
    count = applied.find(rater="strict", dimension="risk").n_outside
    assert count > 0
    assert any(f"strict, risk: {count} scores lie beyond the range" in each for each in applied.warnings)


@pytest.mark.parametrize("label", [LABEL, None])
def test_scores_off_the_scale_are_no_scores_and_it_is_said(label: str | None, tmp_path: Path) -> None:
    """The table's rule, whether the scale is the instrument's or the file's."""
    frame = risk(instrument=label)
    graded = rating_table(frame, scale=(1, 5))
    save_calibrations(calibrate(graded, reference=["panel"]), tmp_path / "c.json")
    row = frame.with_row_index().filter(pl.col("rater") == "strict")["index"][3]
    item, system = frame.row(row)[:2]
    wrong = frame.with_columns(score=pl.when(pl.int_range(pl.len()) == row).then(9.0).otherwise("score"))
    applied = apply_calibrations(wrong, load_calibrations(tmp_path / "c.json"))
    assert applied.find(rater="strict", dimension="risk").n_unscored == 1
    assert any("'risk': 1 scores lie off the scale 1 to 5" in each for each in applied.warnings)
    lost = [row for row in applied.ratings if row.score is None]
    assert [(row.rater, row.item, row.system) for row in lost if row.rater == "strict:calibrated"] == [
        ("strict:calibrated", item, system)
    ]


def test_calibrations_that_fit_nothing_are_named(file: Path) -> None:
    some = risk(judges={"strict": -0.9})
    assert apply_calibrations(some, load_calibrations(file)).unused == (("lenient", "risk"), ("jury", "risk"))
    none = risk(judges={"stranger": 0.0})
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
    refused({**content, "format_version": 99}, "a calibration file of format 99; this medjury reads 1")
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
        study = calibrate(rating_table(planted_ratings(), scale=(1, 5)), reference=["panel"])
        save_calibrations(study, tmp_path / "no folder" / "c.json")


def test_a_file_is_plain_json_without_nan(file: Path) -> None:
    def refuse(constant: str) -> None:
        raise AssertionError(constant)

    json.loads(file.read_text(), parse_constant=refuse)
    assert np.isfinite(load_calibrations(file)[0].final.predict([1, 5])).all()


def test_a_jury_is_formed_anew_by_the_rule_that_it_was_fitted_with(tmp_path: Path) -> None:
    judges = {"one": -0.9, "two": 0.0, "three": 0.7}
    frame = risk(judges=judges)
    study = calibrate(rating_table(frame, jury="median"), reference=["panel"])
    save_calibrations(study, tmp_path / "c.json")
    jury = load_calibrations(tmp_path / "c.json")[-1]
    assert (jury.rater, jury.members, jury.rule.rule) == ("jury", ("one", "three", "two"), "median")
    applied = apply_calibrations(frame, [jury])
    made = {(row.item, row.system): row.score for row in applied.ratings if row.dimension == "risk"}
    fitted = study.calibrations[-1]
    for unit, value in zip(
        zip(fitted.part.grid.items.tolist(), fitted.part.grid.systems.tolist(), strict=True),
        fitted.pairs.calibrated,
        strict=True,
    ):
        assert made[unit] == pytest.approx(value)
    content = json.loads((tmp_path / "c.json").read_text())
    content["calibrations"][-1]["jury"]["rule"] = "loudest"
    (tmp_path / "c.json").write_text(json.dumps(content))
    with pytest.raises(MedjuryError, match="there is no jury rule 'loudest'"):
        load_calibrations(tmp_path / "c.json")


def test_a_table_may_be_calibrated_again_beside_what_an_earlier_calibration_made(
    file: Path, tmp_path: Path
) -> None:
    frame = risk()
    saved, first, again = load_calibrations(file), str(tmp_path / "first.csv"), str(tmp_path / "again.csv")
    once = apply_calibrations(frame, saved).save(first, with_originals=True)
    twice = apply_calibrations(rating_table(first, jury="mean"), saved).save(again, with_originals=True)
    assert once.n_written == twice.n_written
    assert pl.read_csv(again).equals(pl.read_csv(first))


def test_a_stored_jury_stays_a_jury(tmp_path: Path) -> None:
    frame = risk(judges={"strict": -0.9})
    stored = frame.with_columns(
        rater_kind=pl.when(pl.col("rater") == "strict").then(pl.lit("jury")).otherwise("rater_kind")
    )
    save_calibrations(calibrate(stored, reference=["panel"]), tmp_path / "c.json")
    applied = apply_calibrations(stored, load_calibrations(tmp_path / "c.json"))
    assert {row.rater_kind for row in applied.ratings} == {"jury"}


def test_development_cases_are_calibrated_too_for_nothing_is_concluded_from_them(file: Path) -> None:
    table = rating_table(risk())
    served = pl.col("item") == "c0"
    table = replace(table, rows=table.rows.filter(~served), development_rows=table.rows.filter(served))
    applied = apply_calibrations(table, load_calibrations(file))
    assert len({row.item for row in applied.ratings}) == 60
