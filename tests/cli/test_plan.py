"""`medjury plan`: how many cases and raters a study needs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from medjury.cli import main
from medjury.validation._sentences import LINE_IDS


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


def test_the_gate_is_planned_as_text_and_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", "gate", "--cases", "300", "--doubly-rated", "150", "--errors", "0.02"]) == 0
    shown = capsys.readouterr().out
    assert "300 cases rated, 150 of them by two clinicians" in shown
    assert "29 cases that every clinician calls dangerous are needed, even if the jury misses none" in shown
    assert "The jury agrees as a colleague does" in shown and "at worst above -0.1" in shown
    assert main(["plan", "gate", "--cases", "300", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["cases"] == said["doubly"] == 300 and 0 <= said["together"] <= 1
    assert {"rule", "asked", "expected", "power", "cases_needed", "doubly"} == set(said["rules"][0])
    lines = {each["rule"] for each in said["rules"]} & {*LINE_IDS}
    assert lines == {"agreement", "offset", "colleagues", "missed_danger", "consensus_danger"}


def test_several_systems_add_the_lines_on_answers_to_a_case_and_of_a_system(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["plan", "gate", "--cases", "300", "--systems", "3", "--json"]) == 0
    found = {each["rule"]: each for each in json.loads(capsys.readouterr().out)["rules"]}
    assert {*LINE_IDS} <= {*found} and found["within_case"]["doubly"]


def test_the_gate_is_planned_for_a_study_by_its_own_rules(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cases = [{"id": f"c{n}", "candidate": f"x {n}", "texts": {"context": "y"}} for n in range(40)]
    (tmp_path / "cases.jsonl").write_text("".join(json.dumps(each) + "\n" for each in cases))
    study = tmp_path / "study.yaml"
    study.write_text(
        "study: s\ncases: cases.jsonl\ninstrument: note_quality\ngate: {minimum_cases: 30, severe_limit: 0.2}\n"
        "judges: [{kind: openai, name: j, url: 'http://127.0.0.1:9/v1', model: m}]\n"
    )
    assert main(["plan", "gate", str(study)]) == 0
    planned = capsys.readouterr().out
    assert "40 cases rated" in planned and "14 cases that every clinician calls dangerous" in planned
    assert "The study is not registered" in planned and "No clinician has rated yet" in planned
    assert main(["run", str(study), "--dry-run"]) == 0
    assert planned.strip() in capsys.readouterr().out, "the dry run says the same"
    assert main(["plan", "gate", str(study), "--cases", "9"]) == 2
