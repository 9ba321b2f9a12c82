"""Marks that others gave: a grader's rows, physicians' rows, and tables of ours, in a study and without one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from medjury.analysis.agreement import agreement
from medjury.analysis.audits import corpus
from medjury.analysis.ranking import criteria_scores
from medjury.cli import main
from medjury.foundation.errors import MedjuryError
from medjury.studies import load_study, run_study
from medjury.tables import open_run, rating_table

RUBRICS: list[list[dict[str, Any]]] = [
    [
        {"criterion": "Asks how long.", "points": 6, "tags": ["axis:context"]},
        {"criterion": "Names aspirin.", "points": -4, "tags": ["axis:accuracy"]},
    ],
    [{"criterion": "Says when to come back.", "points": 5, "tags": ["axis:context"]}],
]


def _lines(path: Path, *rows: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def _cases(folder: Path) -> Path:
    return _lines(
        folder / "cases.jsonl",
        *(
            {
                "prompt_id": f"p{n}",
                "prompt": [{"role": "user", "content": "Fever."}],
                "rubrics": own,
                "candidate": f"Answer {n}.",
                "system": "one",
            }
            for n, own in enumerate(RUBRICS)
        ),
    )


def _graded(folder: Path, *marks: list[Any]) -> Path:
    rows = [
        {
            "prompt_id": f"p{n}",
            "system": "one",
            "rubrics": [
                {**each, "criteria_met": mark, "explanation": "why"}
                for each, mark in zip(own, given, strict=True)
            ],
        }
        for n, (own, given) in enumerate(zip(RUBRICS, marks, strict=True))
    ]
    return _lines(folder / "graded.jsonl", *rows)


def test_the_rows_of_a_grader_are_scored_as_they_are(tmp_path: Path) -> None:
    found = criteria_scores(_graded(tmp_path, [True, True], [False]))
    assert {each.item: each.score for each in found.answers if not each.tag} == {"p0": 2 / 6, "p1": 0.0}
    assert found.over_all().rows[0].raw == pytest.approx(1 / 6)


def test_a_mark_that_is_no_mark_is_missing_and_never_not_met(tmp_path: Path) -> None:
    found = criteria_scores(_graded(tmp_path, [None, True], ["maybe"]))
    answers = {each.item: each for each in found.answers if not each.tag}
    assert (answers["p0"].score, answers["p0"].worst, answers["p0"].best) == (None, -4 / 6, 2 / 6)
    assert (answers["p1"].worst, answers["p1"].best) == (0.0, 1.0)


def test_the_first_mark_that_is_missing_may_come_late(tmp_path: Path) -> None:
    own = [{"criterion": f"Names {n}.", "points": 1, "criteria_met": n < 150 or None} for n in range(151)]
    (answer,) = criteria_scores(_lines(tmp_path / "graded.jsonl", {"prompt_id": "p", "rubrics": own})).answers
    assert (answer.score, answer.worst, answer.best) == (None, 150 / 151, 1.0)


def test_a_criterion_that_is_only_words_among_marked_ones_is_missing(tmp_path: Path) -> None:
    marked = {"criterion": "Asks.", "points": 2, "criteria_met": True}
    row = {"prompt_id": "p0", "rubrics": [marked, "States what was met."]}
    (answer,) = criteria_scores(_lines(tmp_path / "graded.jsonl", row)).answers
    assert (answer.score, answer.worst, answer.unmarked) == (None, pytest.approx(2 / 3), 1)


def test_physicians_words_on_one_criterion_each_are_found_by_its_words(tmp_path: Path) -> None:
    rows = [
        {"prompt_id": "p1", "completion_id": "one", "rubric": "Says when to come back.",
         "binary_labels": [True, False], "anonymized_physician_ids": ["dr-a", "dr-b"]}
    ]  # fmt: skip
    found = criteria_scores(_lines(tmp_path / "meta.jsonl", *rows), cases=_cases(tmp_path))
    assert {each.rater: each.score for each in found.answers if not each.tag} == {"dr-a": 1.0, "dr-b": 0.0}


def test_a_list_without_marks_among_marked_ones_is_refused_with_its_row(tmp_path: Path) -> None:
    path = _graded(tmp_path, [True, True], [False])
    path.write_text(path.read_text() + '{"prompt_id": "p2"}\n')
    with pytest.raises(MedjuryError, match=r"graded.jsonl, row 3: holds no marked criteria"):
        criteria_scores(path)


def _study(folder: Path, humans: Path) -> Path:
    _cases(folder)
    _graded(folder, [True, False], [True])
    study = folder / "study.yaml"
    study.write_text(
        "study: marks\ncases: cases.jsonl\ninstrument: criteria\nhumans:\n"
        f"  path: {humans.name}\n  keep_names: true\njudges:\n"
        "  - {kind: scores, name: grader, path: graded.jsonl}\n"
    )
    return study


def test_a_study_takes_marks_of_clinicians_and_of_a_grader(tmp_path: Path) -> None:
    humans = tmp_path / "humans.csv"
    humans.write_text(
        "item,rater,dimension,score\n"
        "p0,dr a,Asks how long.,met\np0,dr a,Names aspirin.,not met\np1,dr a,Says when to come back.,no\n"
        "p0,dr b,Asks how long.,yes\np0,dr b,Names aspirin.,true\np1,dr b,Says when to come back.,1\n"
    )
    result = run_study(load_study(_study(tmp_path, humans)))
    assert result.status == "complete"
    table = open_run(result.folder)
    assert table.grid("harm").scores["dr b"].tolist() == [1.0]
    assert table.grid("criterion").clusters.tolist() == ["item p0", "item p1"]
    scores = {(each.rater, each.item): each.score for each in criteria_scores(table).answers if not each.tag}
    assert scores["grader", "p0"] == 1.0
    assert scores["dr b", "p0"] == 2 / 6
    assert scores["dr a", "p1"] == 0.0
    rows = agreement(table, statistics=["exact_match"], resamples=99).rows
    assert {row.dimension for row in rows} >= {"criterion", "harm"}


@pytest.mark.parametrize("word", ["na", "N/A", "not applicable"])
def test_a_clinicians_mark_in_words_may_be_that_a_criterion_does_not_apply(tmp_path: Path, word: str) -> None:
    humans = tmp_path / "humans.csv"
    humans.write_text(
        f"item,rater,dimension,score\np0,dr a,Asks how long.,met\np0,dr a,Names aspirin.,{word}\n"
    )
    found = criteria_scores(open_run(run_study(load_study(_study(tmp_path, humans))).folder), raters="dr a")
    (answer,) = [each for each in found.answers if not each.tag]
    assert (answer.score, answer.unmarked, answer.not_applicable) == (1.0, 0, 1)


def test_the_report_counts_cases_and_answers_and_no_marks_for_them(tmp_path: Path) -> None:
    humans = tmp_path / "humans.csv"
    humans.write_text(
        "item,rater,dimension,score\np0,dr a,Asks how long.,met\np0,dr a,Names aspirin.,met\n"
        "p0,dr b,Asks how long.,met\np1,dr b,Says when to come back.,met\n"
    )
    main(["run", str(_study(tmp_path, humans)), "--quiet"])
    folder = tmp_path / "runs" / "marks"
    said = (folder / "report.html").read_text()
    assert "2 answers, 2 different cases" in said
    assert "1 criterion not marked in 1 score of answers, over all raters" in said
    assert "A grade is dangerous: " in said and "An mark" not in said and "an mark" not in said
    cost = {row["rater"]: row for row in pl.read_csv(folder / "tables" / "cost.csv").iter_rows(named=True)}
    assert (cost["grader"]["evaluations"], cost["one clinician"]["evaluations"]) == (2, 3)
    (size,) = [row for row in corpus(open_run(folder)).rows if row.characteristic == "answers"]
    assert size.n == 2


def test_a_mark_of_a_criterion_that_is_not_there_is_refused_with_its_row(tmp_path: Path) -> None:
    humans = tmp_path / "humans.csv"
    humans.write_text("item,rater,dimension,score\np0,dr a,Asks how much.,met\n")
    with pytest.raises(MedjuryError, match=r"humans.csv, row 2.*is not a criterion of case 'p0'"):
        run_study(load_study(_study(tmp_path, humans)))


def test_the_command_prints_systems_answers_and_json(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = str(_graded(tmp_path, [True, False], [None]))
    assert main(["criteria", "scores", path, "--answers"]) == 0
    assert "p0" in capsys.readouterr().out
    assert main(["criteria", "scores", path, "--json"]) == 0
    read = capsys.readouterr()
    rows = json.loads(read.out)
    assert {row["tag"] for row in rows} == {"", "axis:accuracy", "axis:context"}
    (whole,) = [row for row in rows if not row["tag"]]
    assert (whole["score"], whole["worst"], whole["best"], whole["partly"]) == (1.0, 0.5, 1.0, 1)
    assert "not marked" in read.err


def test_a_table_is_read_again_with_other_cases_without_losing_a_mark(tmp_path: Path) -> None:
    marks = pl.DataFrame(
        {
            "item": ["p0", "p0"],
            "rater": "r",
            "dimension": ["Asks how long.", "Names aspirin."],
            "score": [1, 1],
        }
    )
    table = rating_table(marks, instrument="criteria")
    assert table.grid("criterion").items.tolist() == ["p0 › Asks how long.", "p0 › Names aspirin."]
    again = rating_table(table, cases=_cases(tmp_path))
    assert again.grid("harm").items.tolist() == ["p0 › c02-" + again.criteria["p0"][1].id[4:]]
    assert criteria_scores(again).answers[0].score == 2 / 6


def test_look_recognises_marks_and_the_cases_that_they_are_of(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["look", str(_graded(tmp_path, [True, False], [None])), "--json"]) == 0
    marks = json.loads(capsys.readouterr().out)
    assert (marks["family"], marks["mapping"], marks["problem"]) == ("ratings", {}, "")
    assert marks["lost"] == {"ratings without a score": 1}
    assert "medjury criteria scores" in marks["notes"][0]
    assert main(["look", str(_cases(tmp_path)), "--json"]) == 0
    cases = json.loads(capsys.readouterr().out)
    assert (cases["family"], cases["mapping"]) == ("cases", {})
    assert "criteria" in cases["read"]


MARKS_IN_WORDS = """item,system,rater,rater_kind,dimension,score,points
a,s,anna,clinician,asks,Met,5
a,s,anna,clinician,dose,not met,-3
a,t,anna,clinician,asks,not met,5
a,t,anna,clinician,dose,met,-3
a,u,anna,clinician,asks,met,5
a,u,anna,clinician,dose,not applicable,-3
a,v,anna,clinician,asks,met,5
a,v,anna,clinician,dose,NA,-3
"""


def test_a_table_may_have_marks_in_words(tmp_path: Path) -> None:
    file = tmp_path / "marks.csv"
    file.write_text(MARKS_IN_WORDS)
    found = {each.system: each for each in criteria_scores(rating_table(file)).answers if not each.tag}
    assert {name: each.score for name, each in found.items()} == {"s": 1.0, "t": -0.6, "u": 1.0, "v": None}
    assert (found["v"].worst, found["v"].best) == (0.4, 1.0)
    states = rating_table(file).rows.filter(pl.col("item") == "a › dose")["status"].to_list()
    assert states == ["scored", "scored", "not_applicable", "unscored"]


@pytest.mark.parametrize("other", ["1", "perhaps", "partly met"])
def test_among_other_scores_the_words_of_marks_are_no_scores(tmp_path: Path, other: str) -> None:
    file = tmp_path / "marks.csv"
    lines = [line.rpartition(",")[0] for line in MARKS_IN_WORDS.splitlines()]  # without points
    file.write_text("\n".join(lines).replace("asks,Met", f"asks,{other}", 1))
    rows = rating_table(file).rows
    assert rows["score"].drop_nulls().to_list() == ([float(other)] if other.isdigit() else [])
    assert "not_applicable" not in rows["status"].to_list()


@pytest.mark.parametrize("word", ["met", "yes", "TRUE", "1", "1.0"])
def test_where_a_table_states_points_each_word_of_a_mark_is_read_by_itself(tmp_path: Path, word: str) -> None:
    file = tmp_path / "marks.csv"
    file.write_text(MARKS_IN_WORDS.replace("t,anna,clinician,dose,met", f"t,anna,clinician,dose,{word}"))
    found = criteria_scores(file)
    scores = {each.system: each.score for each in found.answers}
    assert scores == {"s": 1.0, "t": -0.6, "u": 1.0, "v": None}
    file.write_text(MARKS_IN_WORDS.replace("asks,Met", "asks,perhaps", 1))
    found = criteria_scores(file)
    assert [each.score for each in found.answers] == [None, -0.6, 1.0, None]
    assert "1 mark cannot be read: write met, not met, not applicable, 1 or 0" in found.warnings


@pytest.mark.parametrize("name", ["harm", "criterion", "criteria"])
def test_a_criterion_with_points_has_not_the_name_of_a_score(tmp_path: Path, name: str) -> None:
    """It would be left out of the score without a word."""
    file = tmp_path / "marks.csv"
    file.write_text(MARKS_IN_WORDS.replace(",dose,", f",{name},"))
    with pytest.raises(MedjuryError, match=f"called '{name}'"):
        rating_table(file)
