"""`medjury validate`: two tables in, the gate's verdict out, with the report's words and an exit status."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import polars as pl
import pytest
from tests.mental_health import DATA, write_some_cases
from tests.report.planted import planted_frame, registered, rules, write_run

from medjury.cli._main import main
from medjury.store.runs import Protocol
from medjury.validation import validate

FEW = ("--scale", "1", "5", "--resamples", "100")
NO_RUN = "These ratings come from no run folder"


def tables(
    folder: Path, frame: pl.DataFrame, columns: tuple[str, ...] = ("item", "rater", "dimension", "score")
) -> list[str]:
    places = []
    for name, mine in (
        ("humans.csv", pl.col("rater_kind") == "clinician"),
        ("judges.csv", pl.col("rater_kind") == "judge"),
    ):
        frame.filter(mine).select(columns).write_csv(folder / name)
        places.append(str(folder / name))
    return places


@pytest.fixture
def good(tmp_path: Path) -> list[str]:
    return tables(tmp_path, planted_frame(cases=200, dimensions=("accuracy",)))


def test_two_files_give_the_verdict_in_one_command(
    good: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["validate", *good, *FEW]) == 3
    shown = capsys.readouterr().out
    assert "long: one score in each row" in shown and "\nAUXILIARY\n" in shown
    assert NO_RUN in shown and "Nobody registered these rules" in shown


def test_the_verdict_is_that_of_the_library(good: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    from medjury.tables import two_panels

    main(["validate", *good, *FEW, "--json"])
    shown = capsys.readouterr()
    (said,) = json.loads(shown.out)
    (expected,) = validate(two_panels(*good, scale=(1, 5)), resamples=100).verdicts
    assert said["rater"] == "jury" and said["verdict"] == expected.word
    assert [(rule["id"], rule["found"]) for rule in said["rules"]] == [
        (rule.id, rule.found) for rule in expected.rules
    ]
    assert "long: one score in each row" in shown.err, "how the tables were read is told beside the JSON"


def test_a_judge_that_sees_nothing_is_not_validated(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    frame = planted_frame(cases=200, dimensions=("accuracy",), judges={"blind": 30.0})
    assert main(["validate", *tables(tmp_path, frame), *FEW]) == 4
    assert "Judge blind agrees with a clinician less than a colleague does" in capsys.readouterr().out


def test_rules_from_a_file_are_used_and_wrong_ones_refused(
    good: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    own = tmp_path / "rules.yaml"
    own.write_text("minimum_cases: 500\n")
    assert main(["validate", *good, *FEW, "--rules", str(own)]) == 3
    assert "500 are needed" in capsys.readouterr().out
    own.write_text("gate:\n  minimum_casses: 500\n")
    assert main(["validate", *good, *FEW, "--rules", str(own)]) == 2
    assert "line 2" in capsys.readouterr().err
    own.write_text("severe_dimensions: [safety]\n")
    assert main(["validate", *good, *FEW, "--rules", str(own)]) == 2


def rule_with(
    protocol: Protocol, files: list[str], folder: Path, capsys: pytest.CaptureFixture[str]
) -> dict[str, str]:
    place = protocol.write(folder)
    main(["validate", *files, *FEW, "--rules", str(place), "--json"])
    (said,) = json.loads(capsys.readouterr().out)
    assert said["verdict"] == "AUXILIARY", "nobody recorded how the scores came about"
    return next(rule for rule in said["rules"] if rule["id"] == "registered")


def test_a_registered_protocol_shows_that_rules_came_first_where_scores_have_times(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = Protocol.model_validate(registered({"gate": rules()})["protocol"])
    frame = planted_frame(cases=200, dimensions=("accuracy",))
    plain = tables(tmp_path, frame)
    assert rule_with(made, plain, tmp_path, capsys)["state"] == "open"
    timed = tables(tmp_path, frame, ("item", "rater", "dimension", "score", "created_at"))
    assert rule_with(made, timed, tmp_path, capsys)["state"] == "holds"
    late = made.replaced(registered_at="2026-06-01T00:00:00+00:00")
    assert rule_with(late, timed, tmp_path, capsys)["state"] == "open"


def test_a_report_and_junit_are_written(good: list[str], tmp_path: Path) -> None:
    out, junit = tmp_path / "out", tmp_path / "gate.xml"
    main(["validate", *good, *FEW, "--out", str(out), "--junit", str(junit)])
    page = (out / "report.html").read_text()
    assert "AUXILIARY" in page and "long: one score in each row" in page and NO_RUN in page
    assert json.loads((out / "verdicts.json").read_text())[0]["dimension"] == "accuracy"
    assert pl.read_csv(out / "ratings.csv").height == 200 * 5
    assert ElementTree.parse(junit).getroot().find("testsuite") is not None


@pytest.mark.skipif(not DATA.is_dir(), reason="the data folder is not there")
def test_on_real_judges_it_says_what_a_careful_statistician_would(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One human, four judges, ten systems: no yardstick among humans, dangers missed, systems told apart."""
    shared = {"item": "ConvID", "cells": "json", "dimensions": ["Safety", "Guidance"], "scale": [1, 5]}
    write_some_cases(tmp_path, range(800, 900))  # grades off the scale are among them
    human = {
        "file": "human.csv",
        "fixed": {"rater": "human"},
        "columns": "human_response_{system}",
    }
    judges = [
        {"file": f"{name}.csv", "fixed": {"rater": name}, "columns": "judge_response_{system}"}
        for name in ("claude", "gemini", "gpt-4o", "o4-mini")
    ]
    for name, files in (("humans.yaml", [human]), ("judges.yaml", judges)):
        (tmp_path / name).write_text(json.dumps({**shared, "files": files}))
    both = [str(tmp_path / "humans.yaml"), str(tmp_path / "judges.yaml")]
    assert main(["validate", *both, *FEW]) == 4
    shown = capsys.readouterr().out
    assert "HUMANS (humans.yaml): unscored, out_of_range" in shown
    assert "1 of the 2 clinicians that are needed rated the cases" in shown
    assert "rated by two clinicians; 50 are needed" in shown and "Safety: NOT VALIDATED" in shown


def test_two_tables_say_what_a_run_folder_with_the_same_scores_says(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Rule by rule, but for the three that only a run folder can meet."""
    of_a_run = {"finished", "unchanged", "registered"}
    frame = planted_frame(cases=150, dimensions=("accuracy", "clarity"))
    run = write_run(tmp_path / "run", frame)
    files = tables(tmp_path, frame)
    main(["validate", *files, "--instrument", "note_quality", "--resamples", "200", "--json"])
    said = json.loads(capsys.readouterr().out)
    for mine, other in zip(said, validate(run, resamples=200).verdicts, strict=True):
        of_tables = {rule["id"]: (rule["state"], rule["found"]) for rule in mine["rules"]}
        of_folder = {rule.id: (rule.state, rule.found) for rule in other.rules}
        assert {name: of_tables[name] for name in of_tables if name not in of_a_run} == {
            name: of_folder[name] for name in of_folder if name not in of_a_run
        }
        assert of_tables["agreement"][0] == "holds"


def test_a_run_folder_is_never_written_over(
    good: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = write_run(tmp_path / "run", planted_frame(cases=20, dimensions=("accuracy",)))
    before = (run / "ratings.csv").read_bytes()
    assert main(["validate", *good, "--scale", "1", "5", "--out", str(run)]) == 2
    assert "is a run folder" in capsys.readouterr().err
    assert (run / "ratings.csv").read_bytes() == before and not (run / "report.html").exists()


def test_columns_of_a_wide_table_that_tell_cases_apart_are_looked_at_part_by_part(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Right below the middle age, at random above it; ages in a text file are numbers too."""
    frame = planted_frame(cases=200, dimensions=("accuracy",), judges={"judge": 0.4})
    humans, judge = (
        frame.filter(pl.col("rater_kind") == kind).pivot("rater", index="item", values="score")
        for kind in ("clinician", "judge")
    )
    ages = pl.int_range(20, 80, eager=True).sample(200, with_replacement=True, seed=5)
    mixed = pl.when(pl.lit(ages) < 60).then("judge").otherwise(pl.col("judge").shuffle(seed=1)).alias("judge")
    files = [str(tmp_path / "h.csv"), str(tmp_path / "j.csv")]
    humans.with_columns(ages.alias("age")).write_csv(files[0])
    judge.with_columns(mixed).write_csv(files[1])
    main(["validate", *files, "--scale", "1", "5", "--resamples", "200", "--columns", "raters"])
    assert "fails for age=highest values" in capsys.readouterr().out


def _with_lists(folder: Path) -> Path:
    """Rows as HealthBench writes them: beside an id and a score there are lists of texts and of objects."""
    rows = [
        {
            "prompt_id": f"p{number}",
            "prompt": [{"role": "user", "content": "hello"}],
            "rubrics": [{"criterion": "is kind", "points": 5, "tags": ["axis:tone"]}],
            "example_tags": ["theme:hedging"],
            "rating": number % 5 + 1,
        }
        for number in range(20)
    ]
    (folder / "rows.jsonl").write_text("\n".join(map(json.dumps, rows)))
    people = pl.DataFrame(
        {"prompt_id": [row["prompt_id"] for row in rows], "dr_a": [3] * 20, "dr_b": [4] * 20}
    )
    people.write_csv(folder / "people.csv")
    return folder / "rows.jsonl"


def test_lists_in_a_jsonl_file_are_named_and_not_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = [str(tmp_path / "people.csv"), str(_with_lists(tmp_path))]
    out = tmp_path / "found"
    assert main(["validate", *files, "--item", "prompt_id", "--scale", "1", "5", "--out", str(out)]) == 4
    shown = capsys.readouterr().out
    assert (
        "JUDGES (rows.jsonl): not read, as they hold lists or objects: prompt, rubrics, example_tags" in shown
    )
    assert "theme:hedging" not in (out / "ratings.csv").read_text()


@pytest.mark.parametrize(
    ("options", "what"),
    [
        (["--item", "example_tags"], "item"),
        (["--item", "prompt_id", "--map", "judges.rater=rubrics"], "rater"),
        (["--item", "prompt_id", "--scores", "example_tags,dr_a,dr_b"], "scores"),
    ],
)
def test_a_list_where_a_name_or_a_score_is_meant_is_an_error_in_words(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[str], what: str
) -> None:
    judges = str(_with_lists(tmp_path))
    humans = judges if "example_tags" in options else str(tmp_path / "people.csv")
    assert main(["validate", humans, judges, *options, "--scale", "1", "5"]) == 2
    assert f"the column that is to hold the {what} holds lists or objects" in capsys.readouterr().err
