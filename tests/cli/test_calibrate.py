"""`medjury calibrate`: fit, apply and report from the command line."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from tests.calibration.tables import planted_ratings

from medjury.cli import main


@pytest.fixture
def ratings(tmp_path: Path) -> str:
    planted_ratings(instrument="note_quality@1.0", dimensions=("accuracy",)).write_csv(
        tmp_path / "ratings.csv"
    )
    return str(tmp_path / "ratings.csv")


def run_json(capsys: pytest.CaptureFixture[str], *words: str, status: int = 0) -> dict:
    assert main([*words, "--json"]) == status
    return json.loads(capsys.readouterr().out)


def test_report_gives_every_statistic_before_and_after_under_stable_names(
    ratings: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("calibrate", "report", ratings, "--reference", "panel", "--resamples", "200")
    found = run_json(capsys, *words)
    assert set(found) == {"changes", "refused", "warnings"}
    row = found["changes"][0]
    assert set(row) == {
        "dimension", "reference", "rater", "statistic", "before", "before_low", "before_high", "after",
        "after_low",
        "after_high", "change", "change_low", "change_high", "n", "n_cases", "n_unscored", "calibration",
        "method",
        "reason",
    }  # fmt: skip
    names = {each["statistic"] for each in found["changes"]}
    assert names == {"offset", "absolute_offset", "rmse", "spearman", "kappa_quadratic"}
    strict = {each["statistic"]: each for each in found["changes"] if each["rater"] == "strict"}
    assert strict["offset"]["before"] < -0.5
    assert abs(strict["offset"]["after"]) < 0.1
    assert strict["rmse"]["change_high"] < 0
    assert strict["rmse"]["n_cases"] == 60


def test_report_prints_a_table_for_people(ratings: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["calibrate", "report", ratings, "--reference", "panel", "--resamples", "100"]) == 0
    text = capsys.readouterr().out
    assert text.splitlines()[0].split() == [
        "dimension",
        "rater",
        "statistic",
        "before",
        "after",
        "change",
        "n",
    ]
    assert "jury_of_calibrated" in text
    assert "kappa of a single judge falls too" in text


def test_the_mean_of_calibrated_judges_can_be_asked_for_alone(
    ratings: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is no rater of the table: it follows from the calibration of everybody, as in the whole report."""
    words = ("calibrate", "report", ratings, "--reference", "panel", "--resamples", "100")
    whole = run_json(capsys, *words)["changes"]
    alone = run_json(capsys, *words, "--raters", "jury_of_calibrated")["changes"]
    assert alone and alone == [each for each in whole if each["rater"] == "jury_of_calibrated"]
    two = run_json(capsys, *words, "--raters", "jury_of_calibrated,strict")["changes"]
    assert [each for each in two if each["rater"] == "strict"] == [
        each for each in whole if each["rater"] == "strict"
    ]
    assert main([*words, "--raters", "jury_of_calibrated,nobody"]) == 2
    assert "there is no calibrated rater 'nobody'; known: jury, jury_of_calibrated" in capsys.readouterr().err


def test_curves_come_with_the_report_on_request(ratings: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = ("calibrate", "report", ratings, "--reference", "panel", "--resamples", "0", "--curves")
    curve = run_json(capsys, *words)["curves"][0]
    assert set(curve) == {"rater", "dimension", "reliability", "at", "maps"}
    assert curve["maps"]["final"] == sorted(curve["maps"]["final"])
    assert {"score", "label", "label_low", "label_high", "n"} == set(curve["reliability"]["before"][0])


def test_fit_then_apply_then_report_on_the_file(
    ratings: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, out = str(tmp_path / "c.json"), str(tmp_path / "calibrated.csv")
    fitted = run_json(capsys, "calibrate", "fit", ratings, "--reference", "panel", "--out", file)
    assert [each["rater"] for each in fitted["calibrations"]] == ["lenient", "strict", "jury"]
    assert fitted["calibrations"][0]["instrument"] == "note_quality@1.0"
    applied = run_json(
        capsys, "calibrate", "apply", ratings, "--calibration", file, "--out", out, "--with-originals"
    )
    assert applied["applied"][1]["n_out_of_fold"] == 120
    table = pl.read_csv(out)
    assert set(table["rater"]) == {
        "panel", "lenient", "strict", "lenient:calibrated", "strict:calibrated", "jury:calibrated"
    }  # fmt: skip
    report = run_json(
        capsys,
        "calibrate", "report", ratings, "--reference", "panel", "--calibration", file, "--resamples", "0",
    )  # fmt: skip
    direct = run_json(capsys, "calibrate", "report", ratings, "--reference", "panel", "--resamples", "0")
    by_file, by_study = (
        {(each["rater"], each["statistic"]): each["after"] for each in found["changes"]}
        for found in (report, direct)
    )
    assert all(by_study[name] == pytest.approx(value) for name, value in by_file.items())


def calibrated_with_a_jury(ratings: str, tmp_path: Path, rule: str = "mean") -> str:
    file, out = str(tmp_path / "c.json"), str(tmp_path / "calibrated.csv")
    assert main(["calibrate", "fit", ratings, "--reference", "panel", "--out", file]) == 0
    words = ["calibrate", "apply", ratings, "--calibration", file, "--jury", rule, "--with-originals"]
    assert main([*words, "--out", out]) == 0
    return out


def test_apply_with_a_jury_writes_the_jury_of_calibrated_jurors(
    ratings: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its score is the mean of the calibrated jurors', and its offset the one that the report gives."""
    table = pl.read_csv(calibrated_with_a_jury(ratings, tmp_path))
    wide = table.pivot("rater", index=["item", "system"], values="score")
    mean = (wide["lenient:calibrated"] + wide["strict:calibrated"]) / 2
    assert wide["jury_of_calibrated"].to_list() == pytest.approx(mean.to_list())
    assert set(table.filter(rater="jury_of_calibrated")["rater_kind"]) == {"jury"}
    capsys.readouterr()
    report = run_json(capsys, "calibrate", "report", ratings, "--reference", "panel", "--resamples", "0")
    told = next(
        each["after"]
        for each in report["changes"]
        if each["rater"] == "jury_of_calibrated" and each["statistic"] == "offset"
    )
    assert (wide["jury_of_calibrated"] - wide["panel"]).mean() == pytest.approx(told)


def test_a_jury_is_formed_of_what_apply_wrote_and_nobody_votes_twice(
    ratings: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = calibrated_with_a_jury(ratings, tmp_path)
    words = ["agreement", out, "--reference", "panel", "--jury", "mean", "--resamples", "0"]
    assert main(words) == 0
    assert "jury: mean of lenient:calibrated, strict:calibrated" in capsys.readouterr().out
    assert main([*words, "--raters", "jury_of_calibrated"]) == 0, "a stored jury that is named is the jury"
    assert main([*words, "--raters", "lenient"]) == 2
    assert "two or more compared raters" in capsys.readouterr().err


def test_a_unit_that_lacks_a_juror_has_no_score_of_the_jury_of_calibrated_jurors(
    ratings: str, tmp_path: Path
) -> None:
    frame = pl.read_csv(ratings)
    lost = (pl.col("item") == "c3") & (pl.col("system") == "a") & (pl.col("rater") == "strict")
    frame.filter(~lost).write_csv(ratings)
    table = pl.read_csv(calibrated_with_a_jury(ratings, tmp_path, "median")).filter(
        rater="jury_of_calibrated"
    )
    assert table.height == 120
    assert table.filter(pl.col("score").is_null()).select("item", "system", "status").rows() == [
        ("c3", "a", "unscored")
    ]


def test_calibrated_scores_have_no_majority(
    ratings: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = str(tmp_path / "c.json")
    assert main(["calibrate", "fit", ratings, "--reference", "panel", "--out", file]) == 0
    words = ["calibrate", "apply", ratings, "--calibration", file, "--jury", "majority"]
    assert main([*words, "--out", str(tmp_path / "o.csv")]) == 2
    assert "by --jury mean or --jury median" in capsys.readouterr().err


@pytest.mark.parametrize("ending", [".csv", ".parquet", ".jsonl"])
def test_apply_writes_ratings_that_the_commands_read_again(
    ratings: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], ending: str
) -> None:
    file = str(tmp_path / "c.json")
    assert main(["calibrate", "fit", ratings, "--reference", "panel", "--out", file]) == 0
    for flag in ([], ["--with-originals"]):
        out = str(tmp_path / f"out{len(flag)}{ending}")
        assert main(["calibrate", "apply", ratings, "--calibration", file, "--out", out, *flag]) == 0
    capsys.readouterr()
    again = run_json(
        capsys,
        "calibrate", "report", out, "--reference", "panel", "--judge", "strict:calibrated",
        "--resamples", "0",
        "--scale", "1", "5",
    )  # fmt: skip
    offset = next(each for each in again["changes"] if each["statistic"] == "offset")
    assert abs(offset["before"]) < 0.1


def test_patients_of_the_case_file_are_kept_in_one_fold(
    ratings: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cases = tmp_path / "cases.jsonl"
    lines = [{"id": f"c{n}", "candidate": "text", "patient": f"p{n // 2}"} for n in range(60)]
    cases.write_text("\n".join(json.dumps(line) for line in lines))
    words = (
        "calibrate",
        "report",
        ratings,
        "--reference",
        "panel",
        "--resamples",
        "0",
        "--cases",
        str(cases),
    )
    assert run_json(capsys, *words)["changes"][0]["n_cases"] == 30


def test_a_judge_that_cannot_be_calibrated_is_named_and_the_status_says_incomplete(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    frame = planted_ratings()
    stuck = frame.filter(pl.col("rater") == "strict").with_columns(rater=pl.lit("stuck"), score=pl.lit(4.0))
    pl.concat([frame, stuck]).write_csv(tmp_path / "r.csv")
    words = ("calibrate", "report", str(tmp_path / "r.csv"), "--reference", "panel", "--resamples", "0")
    words += ("--scale", "1", "5")
    found = run_json(capsys, *words, status=3)
    assert found["refused"][0]["rater"] == "stuck"
    assert "single-valued" in found["refused"][0]["reason"]
    assert main(list(words)) == 3
    assert "! not calibrated: stuck, accuracy: stuck gave the score 4" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--reference", "pannel"], "did you mean 'panel'"),
        (["--reference", "panel", "--folds", "40"], "too few labels"),
        (["--reference", "panel", "--confidence", "95"], "such as 0.95, not 95"),
        (["--reference", "panel", "--scale", "1", "5", "--grades", "1,2,3"], "give one of them"),
        (["--reference", "panel", "--instrument", "diagnosis"], "was judged with note_quality@1.0, not with"),
    ],
)
def test_wrong_input_is_one_clear_message(
    ratings: str, words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["calibrate", "report", ratings, *words]) == 2
    assert message in capsys.readouterr().err


def test_a_calibration_of_another_instrument_version_is_refused(
    ratings: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, other = str(tmp_path / "c.json"), str(tmp_path / "other.csv")
    assert main(["calibrate", "fit", ratings, "--reference", "panel", "--out", file]) == 0
    planted_ratings(instrument="note_quality@2.0", dimensions=("accuracy",)).write_csv(other)
    assert main(["calibrate", "apply", other, "--calibration", file, "--out", str(tmp_path / "o.csv")]) == 2
    assert "is for instrument 'note_quality@1.0', not for 'note_quality@2.0'" in capsys.readouterr().err
    assert not (tmp_path / "o.csv").exists()


def test_an_empty_name_between_commas_is_told(ratings: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["calibrate", "report", ratings, "--reference", "panel,,x"])
    assert ended.value.code == 2
    assert "give names separated by commas, none of them empty" in capsys.readouterr().err


def test_the_scale_is_asked_for_where_nobody_states_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    planted_ratings().write_csv(tmp_path / "r.csv")
    assert main(["calibrate", "fit", str(tmp_path / "r.csv"), "--reference", "panel"]) == 2
    assert "the scale is not known" in capsys.readouterr().err
    assert not (tmp_path / "calibration.json").exists()


def test_a_scale_is_that_of_the_dimensions_that_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    hundred = planted_ratings(dimensions=("percent",)).with_columns(score=pl.col("score") * 20)
    pl.concat([planted_ratings(), hundred]).write_csv(tmp_path / "r.csv")
    words = ("calibrate", "report", str(tmp_path / "r.csv"), "--resamples", "0", "--scale", "1", "5")
    found = run_json(capsys, *words, "--dimensions", "accuracy")
    assert {each["dimension"] for each in found["changes"]} == {"accuracy"}


def test_a_jury_may_be_formed_of_what_apply_wrote(
    ratings: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`apply` and `report` with --jury, on a table that holds calibrated judges and a calibrated jury already."""
    file, out = str(tmp_path / "c.json"), str(tmp_path / "out.csv")
    assert main(["calibrate", "fit", ratings, "--jury", "mean", "--out", file]) == 0
    words = ["--calibration", file, "--out", out, "--with-originals", "--jury", "mean"]
    assert main(["calibrate", "apply", ratings, *words]) == 0
    assert main(["calibrate", "apply", out, *words]) == 0
    capsys.readouterr()
    calibrated = ("--raters", "lenient:calibrated,strict:calibrated", "--jury", "mean", "--scale", "1", "5")
    found = run_json(capsys, "calibrate", "report", out, *calibrated, "--resamples", "0")
    raters = {each["rater"] for each in found["changes"]}
    assert raters == {"lenient:calibrated", "strict:calibrated", "jury", "jury_of_calibrated"}
