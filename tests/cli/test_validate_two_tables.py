"""`medjury validate HUMANS JUDGES` as a student with two files meets it: what the columns are is guessed and shown,
what stays in doubt is asked, or refused with the option that answers it, and nothing is guessed in silence."""

from __future__ import annotations

import csv
import io
import json
import shlex
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import yaml

from medjury.cli import main
from medjury.studies.inspection import TwoTables
from medjury.tables import Answer, Doubt, Panel

CASES = 40
_SEED = np.random.default_rng(7)
_QUALITY = _SEED.normal(3.0, 1.3, CASES)


def _scores(error: float) -> list[int]:
    noisy = np.clip(np.round(_QUALITY + error * _SEED.normal(size=CASES)), 1, 5).astype(int)
    noisy[:2] = (1, 5)  # both ends of the scale are in every column
    return [int(score) for score in noisy]


ADA, SAM, LLAMA, QWEN = (_scores(error) for error in (0.4, 0.5, 0.4, 0.6))
IDS = [f"visit-{number}" for number in range(1, CASES + 1)]
Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Write:
    monkeypatch.chdir(tmp_path)

    def written(name: str, header: str, *columns: Sequence[Any]) -> Path:
        with (tmp_path / name).open("w", newline="") as file:
            csv.writer(file).writerows([header.split(","), *zip(*columns, strict=True)])
        return tmp_path / name

    return written


@pytest.fixture
def wide(write: Write) -> Path:
    return write("h.csv", "item,dr_a,dr_b", IDS, ADA, SAM)


class UnansweredError(Exception):
    """A doubt that nobody answered."""


def through(
    humans: Path, judges: Path, *answers: int, **given: Any
) -> tuple[TwoTables, list[Panel], list[str]]:
    """The door, both panels, and every question. `answers` are numbers of answers; a further one has none."""
    asked: list[str] = []

    def ask(doubt: Doubt) -> Answer | None:
        if doubt.may_stay_open:
            return None
        asked.append(doubt.question)
        if len(asked) > len(answers):
            raise UnansweredError(doubt.question)
        return doubt.answers[answers[len(asked) - 1]]

    door = TwoTables(humans, judges, ask, lambda text: None, given=given)
    return door, door.panels(), asked


def score(panel: Panel, item: str, rater: str, dimension: str) -> float:
    found = panel.frame.filter(
        pl.col("item") == item, pl.col("rater") == rater, pl.col("dimension") == dimension
    )
    return float(found["score"].item())


def test_wide(wide: Path, write: Write) -> None:
    door, panels, asked = through(wide, write("j.csv", "case_id,llama,qwen", IDS, LLAMA, QWEN))
    assert asked == []
    assert door.settings["humans"] == {"item": "item", "raters": ["dr_a", "dr_b"]}
    assert door.settings["judges"] == {"item": "case_id", "raters": ["llama", "qwen"]}
    assert score(panels[1], IDS[5], "qwen", "score") == QWEN[5]


def test_no_rater_and_no_dimension_is_lost_by_its_name_or_by_a_word_in_its_cells(write: Write) -> None:
    """David ends like an id, sentiment holds the word time, one cell says N/A, and Eve began late."""
    late = [""] * 250
    more = [f"more-{number}" for number in range(250)]
    humans = write(
        "h.csv", "item,David,Ingrid,Eve,remark", more + IDS, late + ADA, ["N/A"] + [3] * 249 + SAM, late + ADA,
        ["fine"] * (250 + CASES),
    )  # fmt: skip
    door, _, asked = through(humans, write("j.csv", "item,llama", more + IDS, [3] * 250 + LLAMA))
    assert asked == [] and door.settings["humans"]["raters"] == ["David", "Ingrid", "Eve"]
    humans = write("h.csv", "item,rater,timeliness,sentiment", IDS, ["Ada"] * CASES, ADA, SAM)
    door, _, asked = through(humans, write("j.csv", "item,timeliness,sentiment", IDS, LLAMA, QWEN))
    assert asked == [] and door.settings["humans"]["dimensions"] == ["timeliness", "sentiment"]


def test_rows_that_are_numbered_are_no_cases_where_another_column_names_them(write: Write) -> None:
    numbers = range(1, CASES + 1)
    humans = write("h.csv", "id,encounter,dr_a", numbers, IDS, ADA)
    judges = write("j.csv", "id,encounter,llama", numbers, IDS[::-1], LLAMA[::-1])
    with pytest.raises(UnansweredError, match=r"columns id and encounter\. Which of them names the case"):
        through(humans, judges)
    _, panels, _ = through(humans, judges, 1)
    assert score(panels[1], IDS[3], "llama", "score") == LLAMA[3]


def test_numbers_beside_grades_may_be_scores_or_something_else(wide: Path, write: Write) -> None:
    judges = write("j.csv", "item,llama,mean_of_three", IDS, LLAMA, [1 + 4 * n / CASES for n in range(CASES)])
    with pytest.raises(UnansweredError, match=r"Is 'mean_of_three', .* a column of scores too"):
        through(wide, judges)
    door, _, _ = through(wide, judges, 0)
    assert door.settings["judges"]["raters"] == ["llama"]


def test_long(write: Write) -> None:
    humans = write(
        "h.csv", "case_id,reviewer,criterion,rating", IDS, ["Ada"] * CASES, ["safety"] * CASES, ADA
    )
    judges = write(
        "j.csv", "case_id,judge,criterion,rating", IDS, ["llama"] * CASES, ["safety"] * CASES, LLAMA
    )
    door, panels, asked = through(humans, judges)
    assert asked == []
    assert door.settings["judges"] == {
        "item": "case_id", "rater": "judge", "dimension": "criterion", "score": "rating"
    }  # fmt: skip
    assert score(panels[0], IDS[3], "Ada", "safety") == ADA[3]


def test_long_with_one_dimension_that_nobody_names(write: Write) -> None:
    humans = write("h.csv", "case_id,rater,score", IDS, ["Ada"] * CASES, ADA)
    door, panels, asked = through(humans, write("j.csv", "case_id,score", IDS, LLAMA))
    assert asked == [] and door.settings["humans"] == {"item": "case_id", "rater": "rater", "score": "score"}
    assert score(panels[1], IDS[3], "judge", "score") == LLAMA[3]


def test_redcap(write: Write) -> None:
    """A form that nobody started is no form of zeros."""
    done = ["2"] * (CASES - 1) + ["0"]
    ticked = ["1"] * (CASES - 1) + ["0"]
    acc = [*map(str, ADA[:-1]), ""]
    humans = write(
        "h.csv", "record_id,redcap_event_name,reviewer,q_acc,flag___1,review_complete", IDS, ["one_arm_1"] * CASES,
        ["ALEE"] * CASES, acc, ticked, done,
    )  # fmt: skip
    judges = write("j.csv", "record_id,q_acc,flag___1", IDS, LLAMA, ["1"] * CASES)
    door, panels, asked = through(humans, judges)
    assert asked == [] and door.settings["humans"]["forms"] == "started"
    assert door.settings["humans"]["dimensions"] == {"q_acc": "q_acc", "flag___1": "flag___1"}
    assert score(panels[0], IDS[0], "ALEE", "q_acc") == ADA[0]
    assert IDS[-1] not in panels[0].frame["item"].to_list()


def test_label_studio(write: Write) -> None:
    cells = [json.dumps([{"rating": score}]) for score in ADA]
    humans = write(
        "h.csv", "id,case_id,annotator,annotation_id,accuracy,lead_time", range(CASES), IDS, ["ada"] * CASES,
        range(900, 900 + CASES), cells, [3.5] * CASES,
    )  # fmt: skip
    door, panels, asked = through(humans, write("j.csv", "case_id,accuracy", IDS, LLAMA))
    assert asked == []
    assert {"item": "case_id", "rater": "annotator", "take": "rating"}.items() <= door.settings[
        "humans"
    ].items()
    assert score(panels[0], IDS[4], "ada", "accuracy") == ADA[4]
    assert score(panels[1], IDS[4], "judge", "accuracy") == LLAMA[4]


def test_json_cells(write: Write) -> None:
    humans = write("h.csv", "case_id,rater,accuracy,safety", IDS, ["Ada"] * CASES, ADA, SAM)
    cells = [
        json.dumps({"accuracy": a, "safety": s, "why": "the note"}) for a, s in zip(LLAMA, QWEN, strict=True)
    ]
    door, panels, asked = through(
        humans, write("j.csv", "case_id,judge,reply", IDS, ["llama"] * CASES, cells)
    )
    assert asked == []
    assert door.settings["judges"] == {
        "item": "case_id", "rater": "judge", "cells": "json", "dimensions": ["accuracy", "safety"], "score": "reply"
    }  # fmt: skip
    assert score(panels[1], IDS[9], "llama", "safety") == QWEN[9]


def test_several_columns_of_json_name_systems_or_raters_and_nobody_can_tell(write: Write) -> None:
    cells = [json.dumps({"accuracy": score}) for score in LLAMA]
    humans = write("h.csv", "case_id,rater,accuracy", IDS, ["Ada"] * CASES, ADA)
    judges = write("j.csv", "case_id,by_llama,by_qwen", IDS, cells, cells)
    with pytest.raises(
        UnansweredError, match=r"several columns hold JSON \(by_\{system\}\)\. What does each name\?"
    ):
        through(humans, judges)
    _, panels, _ = through(humans, judges, 1)
    assert score(panels[1], IDS[9], "llama", "accuracy") == LLAMA[9]


def test_a_survey_of_qualtrics(write: Write) -> None:
    marks = [f'{{"ImportId":"{number}"}}' for number in range(5)]
    header = "RecipientEmail,Q1_1,Q1_2,Q2_1,Q2_2"
    rows = [["Mail", "a", "b", "c", "d"], marks, ["ada@example.org", 4, 5, 3, 2]]
    humans = write("h.csv", header, *zip(*rows, strict=True))
    judges = write("j.csv", "item,dimension,rater,score", "1122", "1212", ["llama"] * 4, [4, 5, 3, 1])
    door, panels, asked = through(humans, judges)
    assert asked == [] and door.settings["humans"]["columns"] == "Q{item}_{dimension}"
    assert score(panels[0], "2", "ada@example.org", "1") == 3


def test_a_shifted_scale_is_asked_about_and_never_moved_by_itself(wide: Path, write: Write) -> None:
    judges = write("j.csv", "item,llama", IDS, [score - 1 for score in LLAMA])
    with pytest.raises(
        UnansweredError, match=r"from 1 to 5 in HUMANS .* from 0 to 4 in JUDGES .*shifted by one down"
    ):
        through(wide, judges)
    door, panels, _ = through(wide, judges, 0)
    assert door.settings["judges"]["rescale"] == "0 to 4 as 1 to 5"
    assert score(panels[1], IDS[6], "llama", "score") == LLAMA[6]
    assert "JUDGES (j.csv): scores on 'score' were read 0 to 4 as 1 to 5" in panels[1].reported
    _, panels, _ = through(wide, judges, 1)
    assert score(panels[1], IDS[6], "llama", "score") == LLAMA[6] - 1


def test_a_scale_that_is_given_finds_one_score_off_it(wide: Path, write: Write) -> None:
    """Without 4 the table might be on 0 to 5; the scale that is given says that 0 is none of its grades."""
    judges = write("j.csv", "item,llama", IDS, [min(score, 4) - 1 for score in LLAMA])
    with pytest.raises(UnansweredError, match=r"shifted by one down"):
        through(wide, judges, scale=[1.0, 5.0])


def test_a_strict_jury_is_no_shifted_scale(write: Write) -> None:
    humans = write("h.csv", "item,dr_a", IDS, [max(score, 2) for score in ADA])
    _, _, asked = through(humans, write("j.csv", "item,llama", IDS, [max(s, 2) - 1 for s in LLAMA]))
    assert asked == []


def test_percent_beside_shares(write: Write) -> None:
    humans = write("h.csv", "item,dr_a", IDS, [score / 5 for score in ADA])
    judges = write("j.csv", "item,llama", IDS, [score * 20 for score in LLAMA])
    with pytest.raises(UnansweredError, match=r"percent beside shares from 0 to 1"):
        through(humans, judges)
    _, panels, _ = through(humans, judges, 0)
    assert score(panels[1], IDS[6], "llama", "score") == pytest.approx(LLAMA[6] / 5)


def test_percent_beside_grades_is_two_scales_and_the_tables_speak_for_no_rule(
    wide: Path, write: Write
) -> None:
    judges = write("j.csv", "item,llama", IDS, [score * 20 for score in LLAMA])
    with pytest.raises(UnansweredError, match=r"two different scales"):
        through(wide, judges)


def test_a_reversed_scale_is_asked_about_and_yes_turns_nothing(
    wide: Path, write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    judges = write("j.csv", "item,llama", IDS, [6 - score for score in LLAMA])
    with pytest.raises(UnansweredError, match=r"judges give low scores where clinicians give high ones"):
        through(wide, judges)
    _, panels, _ = through(wide, judges, 1)
    assert score(panels[1], IDS[6], "llama", "score") == LLAMA[6]
    assert main(["validate", str(wide), str(judges), "--yes", "--out", "out", "--resamples", "100"]) == 4
    assert "turn nothing (--yes)" in capsys.readouterr().out
    assert yaml.safe_load(Path("out/mapping.yaml").read_text())["judges"]["reversed"] == "no"


@pytest.mark.parametrize(
    ("spelled", "rule"),
    [
        ([f" {name} " for name in IDS], "ignore blanks"),
        ([name.upper().replace("-", "_") for name in IDS], "ignore case and signs"),
        ([f"Visit {number:03d}" for number in range(1, CASES + 1)], "ignore case, signs and leading zeros"),
        ([f"case-{number:04d}" for number in range(1, CASES + 1)], "compare numbers alone"),
        (list(range(1, CASES + 1)), "compare numbers alone"),
    ],
)  # fmt: skip
def test_ids_that_are_written_differently(wide: Path, write: Write, spelled: list[Any], rule: str) -> None:
    judges = write("j.csv", "item,llama", spelled, LLAMA)
    with pytest.raises(UnansweredError, match=rf"0 of {CASES} in HUMANS .* and {CASES} by the rule '{rule}'"):
        through(wide, judges)
    door, panels, _ = through(wide, judges, 0)
    assert door.settings["match"] == {"item": rule}
    assert score(panels[1], IDS[6], "llama", "score") == LLAMA[6]
    assert any(f"by the rule {rule!r}: {CASES} match" in told for told in panels[1].reported)


def test_a_rule_that_would_make_two_cases_one_is_never_offered(wide: Path, write: Write) -> None:
    twice = [*(f"a-{number}" for number in range(20)), *(f"b-{number}" for number in range(20))]
    _, panels, asked = through(wide, write("j.csv", "item,llama", twice, LLAMA))
    assert asked == [] and panels[1].frame["item"].to_list() == twice


def test_files_that_share_no_id(wide: Path, write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    judges = write("j.csv", "item,llama", [f"x{chr(97 + n % 26)}{n // 26}y" for n in range(CASES)], LLAMA)
    assert main(["validate", str(wide), str(judges), "--yes"]) == 2
    told = capsys.readouterr().err
    assert "no answer is in both tables" in told and "No id is in both, even where case" in told


def test_columns_that_are_called_what_people_grade_are_not_taken_for_raters(wide: Path, write: Write) -> None:
    judges = write("j.csv", "item,accuracy,safety", IDS, LLAMA, QWEN)
    with pytest.raises(
        UnansweredError, match=r"JUDGES .* are the columns accuracy, safety raters or dimensions"
    ):
        through(wide, judges)


def test_columns_that_the_tables_share_in_part_are_asked_about(write: Write) -> None:
    humans = write("h.csv", "item,accuracy,safety", IDS, ADA, SAM)
    judges = write("j.csv", "item,accuracy", IDS, LLAMA)
    with pytest.raises(UnansweredError, match=r"raters or dimensions"):
        through(humans, judges)
    _, panels, asked = through(humans, judges, 1)
    assert len(asked) == 1 and score(panels[1], IDS[6], "judge", "accuracy") == LLAMA[6]


def test_a_judge_file_with_two_models_may_be_two_judges_or_two_systems(
    wide: Path, write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    judges = write("j.csv", "item,model,score", IDS * 2, ["llama"] * CASES + ["qwen"] * CASES, LLAMA + QWEN)
    with pytest.raises(UnansweredError, match=r"'model' holds llama, qwen, and HUMANS .* has no such column"):
        through(wide, judges)
    door, panels, _ = through(wide, judges, 0)
    assert door.settings["judges"] == {"item": "item", "score": "score", "rater": "model"}
    assert score(panels[1], IDS[6], "qwen", "score") == QWEN[6]
    assert main(["validate", str(wide), str(judges), "--yes"]) == 2, "the tables suggest neither"
    told = capsys.readouterr().err
    assert "--yes cannot answer this" in told and "--map judges.rater=model" in told


def test_blank_scores_of_a_judge_are_unscored_and_of_a_clinician_not_rated(write: Write) -> None:
    humans = write("h.csv", "item,dr_a", IDS, ["", *ADA[1:]])
    _, panels, asked = through(humans, write("j.csv", "item,llama", IDS, [*LLAMA[:-1], ""]))
    assert asked == [] and any("1 empty cells: not rated" in told for told in panels[0].reported)
    assert any(f"1 of {CASES} scores are empty or not a number" in told for told in panels[1].reported)


def test_patients_are_kept_in_every_layout(write: Write) -> None:
    whose = [f"p{number // 2}" for number in range(CASES)]
    cells = [json.dumps({"accuracy": score}) for score in LLAMA]
    humans = write("h.csv", "case_id,patient_id,rater,accuracy", IDS, whose, ["Ada"] * CASES, ADA)
    judges = write("j.csv", "case_id,patient_id,judge,reply", IDS, whose, ["llama"] * CASES, cells)
    _, panels, _ = through(humans, judges)
    assert all(each.frame["patient"].n_unique() == CASES // 2 for each in panels)


def test_without_a_terminal_a_doubt_is_refused_with_the_option_that_answers_it(
    wide: Path, write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    humans = write("other.csv", "dr_a,dr_b,where", ADA, SAM, IDS)
    judges = write("j.csv", "where,llama", IDS, [score - 1 for score in LLAMA])
    command = ["validate", str(humans), str(judges), "--resamples", "100"]
    assert main(command) == 2
    told = capsys.readouterr()
    assert "Which column names the case?" in told.err and "--item where" in told.err
    assert main([*command, "--item", "where"]) == 2
    told = capsys.readouterr()
    assert "--map 'judges.rescale=0 to 4 as 1 to 5'" in told.err and "VALIDATED" not in told.out
    said = ["--item", "where", "--map", "judges.rescale=0 to 4 as 1 to 5"]
    assert main([*command, *said]) == 4
    assert "scores on 'score' were read 0 to 4 as 1 to 5" in capsys.readouterr().out
    assert not Path("validation").exists(), "a pipeline that names no --out gets no folder"


def test_yes_asks_nothing_writes_the_report_and_the_mapping_reads_the_tables_again(
    write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    humans = write("h.csv", "visit,dr_a,dr_b,remark", IDS, ADA, SAM, ["fine"] * CASES)
    judges = write("j.csv", "visit,llama", [name.upper() for name in IDS], [score - 1 for score in LLAMA])
    command = ["validate", str(humans), str(judges), "--resamples", "100"]
    assert main([*command, "--yes"]) == 4
    shown = capsys.readouterr().out
    assert "  raters      dr_a, dr_b\n  not used    remark\n" in shown
    assert shown.count("item visit-1, rater") == 1 and shown.count("three ratings, as they were read") == 2
    assert shown.index("three ratings") < shown.index("NOT VALIDATED") < shown.index("Report: ")
    page = Path("validation/report.html").read_text()
    assert "were read 0 to 4 as 1 to 5" in page and "ignore case and signs" in page
    mapping = yaml.safe_load(Path("validation/mapping.yaml").read_text())
    assert mapping == {
        "humans": {"item": "visit", "raters": ["dr_a", "dr_b"]},
        "judges": {"item": "visit", "raters": ["llama"], "rescale": "0 to 4 as 1 to 5"},
        "match": {"item": "ignore case and signs"},
        "scale": [1.0, 5.0],
    }
    first = Path("validation/verdicts.json").read_text()
    assert main([*command, "--mapping", "validation/mapping.yaml", "--json"]) == 4
    assert json.loads(capsys.readouterr().out) == json.loads(first)


def test_a_mapping_that_says_something_else_is_refused(
    wide: Path, write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    judges = write("j.csv", "item,llama", IDS, LLAMA)
    for text, message in (
        ("item: case\n", "has the keys humans and judges"),
        ("humans: {item: item}\njudgs: {}\n", "'judgs' is not a line of a mapping"),
        ("humans: {item: csae}\n", "names the column 'csae', which is not there"),
        ("humans: {}\nmatch: {item: fuzzy}\n", "there is no rule 'fuzzy'"),
        ("humans: {}\njudges: {rescale: 1-5}\n", "'1-5' is not a rule"),
    ):
        Path("m.yaml").write_text(text)
        assert main(["validate", str(wide), str(judges), "--mapping", "m.yaml"]) == 2
        assert message in capsys.readouterr().err
    assert main(["validate", str(wide), str(judges), "--map", "judge.rater=x"]) == 2
    assert "'judge.rater' is not a line of a mapping" in capsys.readouterr().err


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_at_a_terminal_the_question_is_asked_and_the_answer_kept(
    wide: Path, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    judges = write("j.csv", "item,llama", IDS, [score - 1 for score in LLAMA])
    screen = Terminal()
    monkeypatch.setattr("sys.stdin", Terminal("7\n\n1 5\n"))  # no answer; Enter; a scale that is typed
    monkeypatch.setattr("sys.stdout", screen)
    assert main(["validate", str(wide), str(judges), "--out", "out", "--resamples", "100"]) == 4
    shown = screen.getvalue()
    assert "That is none of the answers." in shown and "shifted by one down" in " ".join(shown.split())
    assert all(len(line) <= 80 for line in shown[: shown.index("Which scale")].splitlines())
    mapping = yaml.safe_load(Path("out/mapping.yaml").read_text())
    assert mapping["judges"]["rescale"] == "0 to 4 as 1 to 5" and mapping["scale"] == [1.0, 5.0]


def test_stopping_at_a_question_compares_nothing(
    wide: Path, write: Write, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    judges = write("j.csv", "item,llama", IDS, [score - 1 for score in LLAMA])
    monkeypatch.setattr("sys.stdin", Terminal("q\n"))
    monkeypatch.setattr("sys.stdout", Terminal())
    assert main(["validate", str(wide), str(judges)]) == 2
    assert "Stopped." in capsys.readouterr().err and not Path("validation").exists()


def test_the_mapping_as_it_is_written_says_what_it_is(wide: Path, write: Write) -> None:
    door, _, _ = through(wide, write("j.csv", "item,llama", IDS, LLAMA))
    assert door.text().startswith("# How two tables were read.")


def _semicolons(write: Write) -> Path:
    """A table of clinicians as a spreadsheet in Europe writes it."""
    rows = [["Case No.", "Reviewer", "Accuracy (1-5)", "Completeness (1-5)"]]
    rows += [[n + 1, "Ada", ADA[n], SAM[n]] for n in range(CASES)] + [
        [n + 1, "Sam", SAM[n], ADA[n]] for n in range(CASES)
    ]
    place = write("humans.csv", "x", [1])
    place.write_text("\ufeff" + "\n".join(";".join(map(str, row)) for row in rows), encoding="utf-8")
    return place


def test_two_files_as_people_have_them_need_one_command_and_no_terminal(
    write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    judges = write("judges.csv", "case_id,accuracy,completeness", range(1, CASES + 1), LLAMA, QWEN)
    command = ["validate", str(_semicolons(write)), str(judges), "--resamples", "200", "--out", "out"]
    assert main(command) in (3, 4)
    shown = capsys.readouterr().out
    assert "the scale is the one in the columns' names: 1 to 5" in shown
    word, agreement, advice = (
        shown.index(each) for each in ("Accuracy: ", "colleagues\nkappa", "What to do: ")
    )
    assert word < agreement < advice
    page = Path("out/report.html").read_text()
    assert "<h1>humans.csv and judges.csv</h1>" in page
    ratings = pl.read_csv("out/ratings.csv")
    mine = ratings.filter(pl.col("item") == 7, pl.col("dimension") == "Accuracy").sort("rater")
    assert dict(mine.select("rater", "score").rows()) == {"Ada": ADA[6], "Sam": SAM[6], "judge": LLAMA[6]}
    scale = yaml.safe_load(Path("out/mapping.yaml").read_text())["scale"]
    assert scale == [1.0, 5.0]


def test_all_questions_are_asked_at_once(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    humans = write("h.csv", "dr_a,dr_b,where", ADA, SAM, IDS)
    judges = write("j.csv", "where,llama", [name.upper() for name in IDS], [score - 1 for score in LLAMA])
    command = ["validate", str(humans), str(judges), "--resamples", "100"]
    assert main(command) == 2
    told = capsys.readouterr().err
    assert "3 questions are open." in told
    options = ["--item", "where", "--map", "match.item=ignore case and signs"]
    options += ["--map", "judges.rescale=0 to 4 as 1 to 5"]
    assert f"--yes takes all that the tables suggest: {shlex.join(options)}" in told
    assert main([*command, *options]) == 4


def test_dimensions_meet_by_name_or_by_their_scores(write: Write) -> None:
    who = ["Ada"] * CASES
    humans = write("h.csv", "case,rater,Accuracy,harm", IDS, who, ADA, SAM)
    _, panels, asked = through(humans, write("j.csv", "case,ACCURACY,harm", IDS, LLAMA, QWEN))
    assert asked == [] and score(panels[1], IDS[2], "judge", "Accuracy") == LLAMA[2]
    judges = write("j.csv", "case,faithful,harm", IDS, LLAMA, QWEN)
    door, panels, asked = through(humans, judges, 0)
    assert asked[0].startswith("Which dimension of HUMANS (h.csv) is 'faithful' of JUDGES (j.csv)?")
    assert "with 'Accuracy'" in asked[0] and door.settings["match"]["dimensions"] == {"faithful": "Accuracy"}
    assert score(panels[1], IDS[2], "judge", "Accuracy") == LLAMA[2]
    _, panels, _ = through(humans, judges, 1)
    assert score(panels[1], IDS[2], "judge", "faithful") == LLAMA[2]


def test_cases_are_named_by_the_columns_whose_values_meet(write: Write) -> None:
    numbers = [f"r{n}" for n in range(CASES)]
    humans = write("h.csv", "case_id,variant,dr_a", numbers, IDS, ADA)
    judges = write("j.csv", "record_id,file,llama", [f"x{n}y{n}" for n in range(CASES)], IDS, LLAMA)
    door, panels, asked = through(humans, judges, 0)
    assert "share no value. Which columns name the case?" in asked[0] and len(asked) == 1
    assert (door.settings["humans"]["item"], door.settings["judges"]["item"]) == ("variant", "file")
    assert score(panels[1], IDS[2], "llama", "score") == LLAMA[2]


def test_a_table_that_names_no_dimension_has_that_of_the_other(write: Write) -> None:
    humans = write("h.csv", "case,dr_a,note", IDS, [f"{each}. Grade" for each in ADA], ["x"] * CASES)
    _, panels, asked = through(humans, write("j.csv", "case,judge,fluency", IDS, ["m"] * CASES, LLAMA))
    assert asked == [] and score(panels[0], IDS[2], "dr_a", "fluency") == ADA[2]
    assert score(panels[1], IDS[2], "m", "fluency") == LLAMA[2]


def test_cases_that_two_columns_name_meet_those_of_the_other_table(write: Write) -> None:
    places = [f"q{n % 4}" for n in range(CASES)]
    files = [f"rs{n // 4}" for n in range(CASES)]
    humans = write("h.csv", "number,variant,place,dr_a", range(CASES), files, places, ADA)
    judges = write("j.csv", "QuestionNumber,Filename,llama", places, [f"{name}.md" for name in files], LLAMA)
    door, panels, asked = through(humans, judges, 0, 0)
    assert "names a case by QuestionNumber and Filename together" in asked[0]
    assert door.settings["humans"]["item"] == ["place", "variant"]
    assert door.settings["match"] == {"item": "ignore endings of files"}
    assert score(panels[1], "q2 rs0", "judge", "llama") == LLAMA[2]


def test_a_few_scores_off_the_scale_do_not_shift_it(write: Write) -> None:
    items = [f"visit-{n}" for n in range(10 * CASES)]
    humans = write("h.csv", "item,dr_a", items, [0, *(ADA * 10)[1:]])
    _, _, asked = through(humans, write("j.csv", "item,llama", items, LLAMA * 10))
    assert asked == []


def test_sheets_and_words_are_validated_as_they_are(write: Write, tmp_path: Path) -> None:
    import openpyxl

    book, words = openpyxl.Workbook(), {1: "Very poor", 2: "Poor", 3: "Fair", 4: "Good", 5: "Very good"}
    del book["Sheet"]
    for name, grades in (("Accuracy", ADA), ("Safety", SAM)):
        page = book.create_sheet(name)
        page.append(["Grades of the letters"])
        page.append(["Letter ID", "Reviewer1", "Reviewer2"])
        for at, item in enumerate(IDS):
            page.append([item, words[grades[at]], words[QWEN[at]]])
    book.save(tmp_path / "h.xlsx")
    judges = write("j.csv", "letter_id,accuracy,safety", IDS, LLAMA, QWEN)
    _, panels, asked = through(tmp_path / "h.xlsx", judges)
    assert asked == []
    assert score(panels[0], IDS[4], "Reviewer1", "Safety") == SAM[4]
    assert score(panels[1], IDS[4], "judge", "Safety") == QWEN[4]
