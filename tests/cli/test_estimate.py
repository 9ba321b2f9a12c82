"""`medjury estimate`: prediction-powered means and differences from the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.calibration.tables import planted_ratings

from medjury.cli import main

ESTIMATORS = ["prediction_powered", "prediction_powered_fixed", "classical", "naive"]


@pytest.fixture
def ratings(tmp_path: Path) -> str:
    planted_ratings(cases=200, labelled=50, judges={"strict": -0.9}).write_csv(tmp_path / "ratings.csv")
    return str(tmp_path / "ratings.csv")


def test_the_four_estimates_under_stable_names(ratings: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        main(["estimate", ratings, "--reference", "panel", "--scale", "1", "5", "--labels-random", "--json"])
        == 0
    )
    found = json.loads(capsys.readouterr().out)
    assert set(found) == {"estimates", "raters", "refused", "warnings", "notes"}
    assert [each["estimator"] for each in found["estimates"]] == ESTIMATORS
    by_name = {each["estimator"]: each for each in found["estimates"]}
    tuned, classical, naive = (by_name[name] for name in ("prediction_powered", "classical", "naive"))
    assert tuned["value_high"] - tuned["value_low"] < classical["value_high"] - classical["value_low"]
    assert naive["value_high"] < tuned["value_low"]
    assert (tuned["n_labelled"], tuned["n_unlabelled"], tuned["n_labelled_cases"]) == (100, 300, 50)
    assert 0 < tuned["jury_weight"][0] <= 1
    assert tuned["effective_labels"] > 100
    assert tuned["warnings"] == []


def test_a_difference_and_a_warning_where_the_draw_was_not_said_to_be_random(
    ratings: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["estimate", ratings, "--reference", "panel", "--scale", "1", "5", "--difference", "a,b"]
    assert main(words) == 0
    shown = capsys.readouterr()
    assert "a − b" in shown.out
    assert "! the labelled items were not stated to be a random draw" in shown.out
    assert main([*words, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert {each["quantity"] for each in found["estimates"]} == {"mean", "difference"}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--confidence", "95"], "such as 0.95, not 95"),
        (["--difference", "a,z"], "there is no system 'z'"),
        (["--dimension", "acuracy"], "did you mean 'accuracy'"),
    ],
)
def test_wrong_input_is_one_clear_message(
    ratings: str, words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["estimate", ratings, "--reference", "panel", "--scale", "1", "5", *words]) == 2
    assert message in capsys.readouterr().err


def test_a_difference_is_of_two_systems(ratings: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["estimate", ratings, "--reference", "panel", "--difference", "a"])
    assert ended.value.code == 2
    assert "name two systems" in capsys.readouterr().err
