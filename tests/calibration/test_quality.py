"""Prediction-powered estimates of a rating table."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.calibration.tables import planted_ratings

from medjury.analysis.calibration import estimate, read_target
from medjury.cli import main
from medjury.foundation.errors import MedjuryError
from medjury.tables import rating_table

FRAME = planted_ratings(cases=300, labelled=60)


def test_means_of_all_systems_and_of_each() -> None:
    found = estimate(FRAME, reference=["panel"], by_system=True, labels_random=True)
    assert [(each.quantity, each.system) for each in found.estimates] == [
        ("mean", name) for name in ("all", "a", "b")
    ]
    overall = found.estimates[0].found
    truth = planted_ratings(cases=300).filter(pl.col("rater") == "panel")["score"].mean()
    assert overall.power_tuned.low < truth < overall.power_tuned.high
    assert overall.power_tuned.high - overall.power_tuned.low < overall.classical.high - overall.classical.low
    assert (overall.n_labelled, overall.n_unlabelled, overall.n_labelled_cases) == (120, 480, 60)


def test_a_difference_comes_with_both_means() -> None:
    found = estimate(FRAME, reference=["panel"], differences=[("a", "b")], labels_random=True)
    assert [each.quantity for each in found.estimates] == ["mean", "mean", "difference"]
    first, second, difference = (each.found.classical.value for each in found.estimates)
    assert difference == pytest.approx(first - second)
    assert len(found.estimates[2].found.weights) == 2


def test_a_system_without_labels_is_refused_by_name_and_the_others_go_on() -> None:
    frame = FRAME.filter((pl.col("system") == "a") | (pl.col("rater") != "panel"))
    found = estimate(frame, reference=["panel"], by_system=True)
    assert [(dimension, system) for dimension, system, _ in found.refused] == [("accuracy", "b")]
    assert [each.system for each in found.estimates] == ["all", "a"]
    with pytest.raises(MedjuryError, match=r"there is no system 'z' in the ratings; known: a, b"):
        estimate(frame, reference=["panel"], differences=[("a", "z")])
    with pytest.raises(MedjuryError, match="nothing could be estimated"):
        estimate(planted_ratings(labelled=2), reference=["panel"])


def test_one_face_for_the_result_and_the_scale_is_not_needed() -> None:
    found = estimate(FRAME, labels_random=True)
    assert [row.estimator for row in found.rows][:2] == ["prediction_powered", "prediction_powered_fixed"]
    row = found.find(estimator="classical", system="all")
    assert row.value == found.estimates[0].found.classical
    assert found.frame()["value_low"][2] == row.value.low
    assert found.raters == ("lenient", "strict")


def test_the_jury_is_the_tables_own() -> None:
    """Of three judges one alone is no jury: its items have no prediction, and are counted."""
    frame = planted_ratings(cases=100, labelled=50, judges={"one": -0.9, "two": 0.0, "three": 0.7})
    gone = pl.col("rater").is_in(["two", "three"]) & (pl.col("item") == "c1")
    found = estimate(
        frame.with_columns(score=pl.when(gone).then(None).otherwise("score")), labels_random=True
    )
    assert found.estimates[0].found.n_unscored == 2
    median = estimate(rating_table(frame, jury="median"), labels_random=True).estimates[0].found
    mean = estimate(frame, labels_random=True).estimates[0].found
    assert median.naive.value != mean.naive.value


def test_answers_that_the_jury_left_unscored_are_told_with_bounds_and_their_labels_count() -> None:
    bad = FRAME.filter(pl.col("rater") == "panel", pl.col("score") <= 2).select("item", "system").unique()
    unscored = FRAME.join(bad.with_columns(gone=True), on=["item", "system"], how="left").with_columns(
        score=pl.when((pl.col("rater") != "panel") & pl.col("gone").fill_null(False))
        .then(None)
        .otherwise("score")
    )
    rest = (pl.col("rater") != "panel") & pl.col("item").is_in(["c250", "c251"])
    unscored = unscored.with_columns(score=pl.when(rest).then(None).otherwise("score")).drop("gone")
    whole = estimate(FRAME, reference=["panel"], labels_random=True).estimates[0].found
    found = estimate(rating_table(unscored, scale=(1, 5)), reference=["panel"], labels_random=True)
    made = found.estimates[0].found
    assert made.classical == whole.classical
    assert (made.n_unscored_labelled, made.n_unscored) == (bad.height, bad.height + 4)
    assert any(
        "4 answers with neither a jury score nor a label; the mean would be" in text
        for text in found.warnings
    )
    assert f"{bad.height} of them with a label" in found.text()


# Strata, and the population that is meant.


SHARES = {"cardiology": 0.7, "surgery": 0.3}


def of_two_wards(seed: int = 0, cases: int = 400, labelled: int = 120) -> pl.DataFrame:
    """Surgery is a grade worse, and three of four answers of the sample are surgery's."""
    generator = np.random.default_rng(seed)
    rows = []
    for case in range(cases):
        ward = "surgery" if generator.random() < 0.75 else "cardiology"
        truth = 3.8 - (ward == "surgery") + generator.normal() * 0.9
        label = float(np.clip(round(truth), 1, 5))
        jury = float(np.clip(round(truth + 0.4 + 0.5 * generator.normal()), 1, 5))
        age = int(generator.integers(1, 95))
        if case < labelled:
            rows.append((f"c{case}", "dr", "clinician", label, ward, age))
        rows.append((f"c{case}", "j", "judge", jury, ward, age))
    columns = ["item", "rater", "rater_kind", "score", "specialty", "age"]
    frame = pl.DataFrame(rows, schema=columns, orient="row")
    return frame.with_columns(pl.lit("accuracy").alias("dimension"), pl.lit("s").alias("system"))


def clipped_mean(middle: float) -> float:
    draws = np.clip(np.round(middle + 0.9 * np.random.default_rng(9).normal(size=400_000)), 1, 5)
    return float(draws.mean())


@pytest.mark.simulation
def test_the_mean_is_given_for_the_case_mix_that_is_stated() -> None:
    truth = 0.7 * clipped_mean(3.8) + 0.3 * clipped_mean(2.8)
    covered, off = [], []
    for seed in range(200):
        found = estimate(of_two_wards(seed, 300, 90), target=("specialty", SHARES), labels_random=True)
        sample, target = found.estimates
        assert (sample.population, target.population) == ("", "target")
        value = target.found.power_tuned
        covered.append(value.low <= truth <= value.high)
        off.append(sample.found.power_tuned.value - truth)
    assert 0.92 <= np.mean(covered) <= 0.99
    assert np.mean(off) < -0.3, "the sample is not the hospital"


def test_slices_hold_together_and_name_themselves() -> None:
    found = estimate(
        of_two_wards(),
        slices={"specialty": (), "age": (18.0, 65.0)},
        labels_random=True,
        dimensions="accuracy",
    )
    slices = [each for each in found.estimates if each.population]
    assert [each.population for each in slices] == [
        "specialty: cardiology",
        "specialty: surgery",
        "age: 18 to below 65",
        "age: 65 and above",
        "age: below 18",
    ]
    assert (
        "99 %" in slices[0].found.power_tuned.method and "95 %" in found.estimates[0].found.power_tuned.method
    )
    assert sum(each.found.n_labelled for each in slices[:2]) == 120
    assert any("the 5 slices hold for all of them together" in text for text in found.notes)


def test_a_slice_with_too_few_labels_is_refused_by_name_and_the_others_go_on() -> None:
    frame = of_two_wards().with_columns(
        specialty=pl.when(pl.col("item") == "c1").then(pl.lit("dentistry")).otherwise("specialty")
    )
    found = estimate(frame, slices={"specialty": ()}, labels_random=True)
    assert [(where, why.split(";")[0]) for _, where, why in found.refused] == [
        ("all, specialty: dentistry", "these items: 1 cases have a clinician's label")
    ]


def test_what_has_no_stratum_is_counted_and_told() -> None:
    frame = of_two_wards().with_columns(
        specialty=pl.when(pl.col("item").is_in(["c1", "c300"])).then(None).otherwise("specialty")
    )
    found = estimate(frame, target=("specialty", SHARES), labels_random=True)
    assert "accuracy: 2 answers without specialty, left out of it" in found.warnings


def test_a_target_that_cannot_be_reached_is_refused() -> None:
    with pytest.raises(MedjuryError, match=r"add up to 0\.8, not to 1"):
        estimate(of_two_wards(), target=("specialty", {"cardiology": 0.8}), dimensions="accuracy")
    found = estimate(of_two_wards(), target=("specialty", {"surgery": 0.5, "oncology": 0.5}))
    assert "'oncology' and the ratings do not" in found.refused[0][2]
    with pytest.raises(MedjuryError, match="no column 'ward'"):
        estimate(of_two_wards(), slices={"ward": ()})
    with pytest.raises(MedjuryError, match=r"Cut a number into bands, as in age=18,65"):
        estimate(of_two_wards(), slices={"age": ()})


def test_a_table_of_shares_is_read_and_its_faults_are_named(tmp_path: Path) -> None:
    file = tmp_path / "mix.csv"
    file.write_text("specialty,share\ncardiology,0.7\nsurgery,0.3\n")
    assert read_target(file) == ("specialty", SHARES)
    for text, said in (
        ("specialty,share\na,0.5\na,0.5\n", "line 3: the stratum 'a' appears twice"),
        ("specialty,share\na,half\n", "line 2: 'half' is not a share"),
        ("specialty,site,share\na,b,1\n", "a target has two columns"),
    ):
        file.write_text(text)
        with pytest.raises(MedjuryError, match=said):
            read_target(file)


def test_the_command_line_estimates_danger_for_a_case_mix_by_slice_with_a_plan(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ratings, mix, cases = tmp_path / "ratings.csv", tmp_path / "mix.csv", tmp_path / "cases.jsonl"
    frame = of_two_wards()
    frame.drop("specialty").write_csv(ratings)
    mix.write_text("specialty,share\ncardiology,0.7\nsurgery,0.3\n")
    wards = frame.select("item", "specialty").unique(maintain_order=True)
    cases.write_text("".join(
        json.dumps({"id": item, "system": "s", "candidate": "a note", "metadata": {"specialty": ward}}) + "\n"
        for item, ward in wards.iter_rows()
    ))  # fmt: skip
    asked = [
        "estimate", str(ratings), "--reference", "dr", "--scale", "1", "5", "--labels-random",
        "--dangerous-at", "2", "--target", str(mix), "--slice", "age=18,65", "--cases", str(cases),
        "--plan-labels", "50",
    ]  # fmt: skip
    assert main(asked) == 0
    said = capsys.readouterr().out
    assert "dangerous is a score of 2 or less, of the clinicians' mean and of the jury; sensitivity" in said
    assert "of the next 50 labels give" in said and "age: 65 and above" in said
    assert main([*asked, "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["estimates"]
    names = {(row["population"], row["estimator"]) for row in rows}
    assert {
        ("", "by_verdict"),
        ("", "rogan_gladen"),
        ("", "plug_in"),
        ("target", "prediction_powered"),
    } <= names
    shares = {row["estimator"]: row["value"] for row in rows if row["population"] == ""}
    truth = frame.filter(pl.col("rater") == "dr").select((pl.col("score") <= 2).mean()).item()
    assert shares["classical"] == pytest.approx(truth)
    assert main(["estimate", str(ratings), "--reference", "dr", "--plan-labels", "50"]) != 0
    assert "--plan-labels needs --dangerous-at" in capsys.readouterr().err


def test_a_rare_danger_that_no_label_shows_is_not_none() -> None:
    frame = of_two_wards(labelled=60).with_columns(
        score=pl.when(pl.col("rater") == "dr").then(pl.max_horizontal("score", 3.0)).otherwise("score")
    )
    asked = {"dangerous_at": 2, "labels_random": True, "target": ("specialty", SHARES)}
    sample, target = estimate(frame, dimensions="accuracy", **asked).estimates  # type: ignore[arg-type]
    for one in (sample.found.classical, sample.found.power_tuned):
        assert one.value == 0 and one.low == 0 and one.high is not None and 0.04 < one.high < 0.1
    few = target.found.classical.high
    assert few is not None and 0.1 < few < 0.3, "most of the target is a ward with few labels"


@pytest.mark.simulation
def test_intervals_of_a_rare_danger_cover_and_stay_between_0_and_1() -> None:
    covered = []
    for seed in range(200):
        generator = np.random.default_rng(seed)
        bad = generator.random(400) < 0.04
        verdict = np.where(bad, generator.random(400) < 0.7, generator.random(400) < 0.03)
        rows = [(f"c{k}", "j", "judge", 1.0 if verdict[k] else 5.0) for k in range(400)]
        rows += [(f"c{k}", "dr", "clinician", 1.0 if bad[k] else 5.0) for k in range(60)]
        frame = pl.DataFrame(
            rows, schema=["item", "rater", "rater_kind", "score"], orient="row"
        ).with_columns(dimension=pl.lit("d"), system=pl.lit("s"))
        one = estimate(frame, dangerous_at=2, labels_random=True).estimates[0].found.power_tuned
        assert 0 <= one.low <= one.value <= one.high <= 1
        covered.append(one.low <= 0.04 <= one.high)
    assert np.mean(covered) >= 0.93
