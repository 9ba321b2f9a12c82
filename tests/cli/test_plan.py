"""`medjury plan`: how many cases and raters a study needs."""

from __future__ import annotations

import json

import pytest

from medjury.cli import main


def test_cases_for_each_number_of_raters(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", "icc", "--value", "0.7", "--width", "0.2", "--json"]) == 0
    plans = json.loads(capsys.readouterr().out)
    assert [plan["raters"] for plan in plans] == [2, 3, 4, 5, 6, 7, 8]
    assert plans[1]["cases"] == 68


@pytest.mark.parametrize(
    "words",
    [
        ["kappa", "--value", "0.6", "--shares", "0.2,0.3,0.5", "--weights", "quadratic", "--null", "0.4"],
        ["kappa", "--value", "0.6", "--shares", "0.5,0.5", "--width", "0.3", "--simulate", "300"],
        [
            "icc",
            "--value",
            "0.7",
            "--raters",
            "3",
            "--shares",
            "0.2,0.3,0.5",
            "--width",
            "0.3",
            "--simulate",
            "100",
        ],
        ["f1", "--value", "0.8", "--prevalence", "0.3", "--width", "0.2"],
        ["f1", "--value", "0.8", "--prevalence", "0.3", "--null", "0.7", "--simulate", "300"],
    ],
)
def test_every_statistic_has_a_plan_by_formula_and_by_simulation(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["plan", *words]) == 0
    assert " cases, " in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["icc", "--value", "0.7"], "either a width"),
        (["icc", "--value", "0.7", "--width", "0.2", "--shares", "0.5,0.5"], "add --simulate"),
        (["kappa", "--value", "0.6", "--shares", "0.5,0.6", "--width", "0.2"], "sum to 1"),
    ],
)
def test_a_plan_that_cannot_be_meant_is_refused(
    words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["plan", *words]) == 2
    assert message in capsys.readouterr().err
