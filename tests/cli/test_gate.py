"""`medjury gate`: the report's verdict with an exit status, as JSON and as JUnit."""

from __future__ import annotations

import html
import json
from pathlib import Path
from xml.etree import ElementTree

import polars as pl
import pytest
from tests.report.planted import page_of, planted_frame, write_run

from medjury.cli._main import main
from medjury.validation import validate
from medjury.validation._sentences import LINE_IDS

ONE = ("accuracy",)


def gate(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str]:
    status = main(["gate", *words])
    return status, capsys.readouterr().out


def write_log(folder: Path) -> Path:
    from medjury.models import AuditLog

    AuditLog(folder / "audit.jsonl").record({"event": "start"})
    return folder


@pytest.fixture
def good(tmp_path: Path) -> Path:
    return write_log(write_run(tmp_path / "good", planted_frame(cases=150, dimensions=ONE)))


def test_a_good_jury_ends_with_zero(good: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, shown = gate(capsys, str(good))
    assert status == 0 and shown.startswith("VALIDATED\n")


def test_each_word_has_its_exit_status(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    frame = planted_frame(cases=150, dimensions=ONE)
    unregistered = write_log(write_run(tmp_path / "a", frame, protocol=None))
    assert gate(capsys, str(unregistered))[0] == 3
    few = write_log(write_run(tmp_path / "b", planted_frame(cases=20, dimensions=ONE)))
    assert gate(capsys, str(few))[0] == 4
    stopped = write_log(write_run(tmp_path / "c", frame, status="incomplete", why="stopped"))
    assert gate(capsys, str(stopped))[0] == 5
    assert gate(capsys, str(tmp_path / "nothing"))[0] == 2


def test_over_several_dimensions_the_worst_counts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    frame = planted_frame(cases=150, dimensions=("accuracy", "clarity"))
    blind = (pl.col("dimension") == "clarity") & (pl.col("rater_kind") != "clinician")
    frame = frame.with_columns(pl.when(blind).then(3.0).otherwise(pl.col("score")).alias("score"))
    status, shown = gate(capsys, str(write_log(write_run(tmp_path / "mixed", frame))))
    assert status == 4 and "Accuracy: VALIDATED" in shown and "Clarity: NOT VALIDATED" in shown


def test_the_json_has_the_words_and_numbers_of_the_report(
    good: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (said,) = json.loads(gate(capsys, str(good), "--json")[1])
    assert set(said) == {"schema_version", "rater", "dimension", "verdict", "meaning", "rules", "scope"}
    assert (said["rater"], said["dimension"], said["verdict"]) == ("jury", "accuracy", "VALIDATED")
    assert set(said["scope"]) == {"holds", "fails", "not_known"} and said["schema_version"] == 2
    stated = {"id", "jury", "colleague", "value", "low", "high", "limit", "state"}
    assert all(set(rule) == stated | {"best_word", "found", "why"} for rule in said["rules"])
    (verdict,) = validate(good).verdicts
    assert [(rule["id"], rule["state"], rule["value"], rule["found"]) for rule in said["rules"]] == [
        (rule.id, rule.state, rule.value, rule.found) for rule in verdict.rules
    ]
    page = html.unescape(page_of(good))
    assert verdict.beside_colleague in page
    others = [rule["found"] for rule in said["rules"] if rule["id"] not in LINE_IDS]
    assert all(found.split("(")[0].strip() in page for found in others if "`" not in found)


def test_junit_has_a_suite_for_each_dimension_and_a_case_for_each_rule(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    frame = planted_frame(cases=150, dimensions=("accuracy", "clarity"), clinicians={"one & <only>": 0.5})
    folder = write_log(write_run(tmp_path / "run", frame))
    file = tmp_path / "gate.xml"
    status, _ = gate(capsys, str(folder), "--junit", str(file))
    root = ElementTree.parse(file).getroot()
    suites = root.findall("testsuite")
    assert root.tag == "testsuites" and [each.get("name") for each in suites] == [
        "jury, accuracy",
        "jury, clarity",
    ]
    verdicts = validate(folder).verdicts
    for suite, verdict in zip(suites, verdicts, strict=True):
        cases = suite.findall("testcase")
        assert [case.get("name") for case in cases] == [rule.id for rule in verdict.rules]
        assert suite.get("tests") == str(len(cases))
        failed = {
            case.get("name"): case.find("failure") for case in cases if case.find("failure") is not None
        }
        assert set(failed) == {rule.id for rule in verdict.rules if not rule.met}
        assert suite.get("failures") == str(len(failed)) and failed
        unknown = failed["agreement"]
        assert unknown is not None and unknown.get("type") == "not known", (
            "what nobody has shown is no success"
        )
        assert "nobody knows how a colleague would have done" in (unknown.get("message") or "")
    assert status == 4 and root.get("failures") == str(sum(int(each.get("failures") or 0) for each in suites))


def test_a_folder_that_was_changed_does_not_pass(good: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (good / "audit.jsonl").write_text("{}\n")
    status, shown = gate(capsys, str(good))
    assert status == 4 and "audit.jsonl" in shown


def test_a_judge_that_is_named_is_judged_for_itself(good: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = json.loads(gate(capsys, str(good), "--raters", "judge-a,judge-c", "--json")[1])
    assert [each["rater"] for each in said] == ["judge-a", "judge-c"]
