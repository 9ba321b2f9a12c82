"""`medjury triage`: the order for review from the command line."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from tests.calibration.test_triage import FRAME, ward_table

from medjury.cli import main


@pytest.fixture
def ratings(tmp_path: Path) -> str:
    FRAME.write_csv(tmp_path / "ratings.csv")
    return str(tmp_path / "ratings.csv")


def test_the_order_the_curves_and_the_decisions_under_stable_names(
    ratings: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [
        "triage",
        ratings,
        "--reference",
        "panel",
        "--decide-at",
        "3",
        "--error",
        "0.2",
        "--resamples",
        "100",
    ]
    assert main([*words, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert set(found) == {
        "dimension", "raters", "reversed", "how", "weights", "threshold", "n_labelled", "n_dangerous",
        "n_severe", "n_unscored", "ranking",
        "warnings", "curves", "review_to_catch", "conformal", "automatic",
    }  # fmt: skip
    assert [each["rank"] for each in found["ranking"]] == list(range(1, 301))
    assert set(found["ranking"][0]) == {
        "rank", "item", "system", "priority", "jury", "expected_harm", "disagreement", "boundary",
        "conformal_width", "grade_low", "grade_high", "decision",
    }  # fmt: skip
    orders = [each["order"] for each in found["review_to_catch"]]
    assert orders[:6] == ["rule", "expected_harm", "disagreement", "boundary", "conformal_width", "jury"]
    assert set(orders[6:]) == {"judge one", "judge two", "judge three"}
    assert "Not promised" in found["automatic"]["guarantee"] or "referred" in found["automatic"]["guarantee"]
    assert main([*words, "--top", "3"]) == 0
    text = capsys.readouterr().out
    assert "… and 297 more" in text
    assert "random" in text


def test_without_a_reference_the_order_alone_and_a_file_of_all_of_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, unlabelled = tmp_path / "order.csv", tmp_path / "unlabelled.csv"
    FRAME.filter(pl.col("rater") != "panel").write_csv(unlabelled)
    assert main(["triage", str(unlabelled), "--judge", "one,two", "--out", str(out), "--top", "2"]) == 0
    assert "nothing was learnt" in capsys.readouterr().out
    assert pl.read_csv(out)["rank"].to_list() == list(range(1, 301))


def test_the_routine_diagnosis(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ward_table().write_csv(tmp_path / "ward.csv")
    words = ["triage", str(tmp_path / "ward.csv"), "--reference", "panel", "--dimension", "safety"]
    words += ["--routine", "ward_wrong", "--scale", "1", "5"]
    assert main([*words, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["slope_high"] < 0
    assert (found["n"], found["n_unknown"]) == (90, 10)
    assert set(found["curve"][0]) == {"score", "probability", "probability_low", "probability_high"}
    assert main(words) == 0
    assert "Log-odds per point" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--reference", "panel", "--threshold", "0.5"], "no item is a dangerous answer"),
        (["--reference", "panel", "--catch", "80"], "lies between 0 and 1, not at 80"),
        (["--dimension", "safety,risk"], "there is no dimension 'risk'"),
        (["--routine", "ward"], "no rater of panel has a score under 'ward'"),
        (["--out", "order.xlsx"], "written as .csv"),
    ],
)
def test_wrong_input_is_one_clear_message(
    ratings: str, words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["triage", ratings, *words]) == 2
    assert message in capsys.readouterr().err


def test_one_of_several_dimensions_has_to_be_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pl.concat([FRAME, FRAME.with_columns(dimension=pl.lit("diagnosis"))]).write_csv(tmp_path / "two.csv")
    for words in ([], ["--dimensions", "diagnosis,safety"]):
        assert main(["triage", str(tmp_path / "two.csv"), *words]) == 2
        assert "triage is by one dimension; name one of diagnosis, safety" in capsys.readouterr().err
