"""What would make a number of the study wrong without anybody seeing it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
from sqlalchemy import select, update
from tests.loopback import LoopbackServer
from tests.panel.meeting.closed_rounds import ONE_SYSTEM, closed_panel, only_round, same
from tests.panel.raters import GOOD, Rater, rater
from tests.panel.rounds import NOON, case_rows, set_up_panel
from tests.panel.visitors import sign_in, token_in

from medjury.cli import main
from medjury.foundation.errors import MedjuryError
from medjury.panel._access._people import Role
from medjury.panel._design._assignments import join, leave
from medjury.panel._design._rounds import set_state
from medjury.panel._exchange._collecting import collect, include
from medjury.panel._live._pages import agreement_so_far, table_of
from medjury.panel._meeting._differences import open_meeting
from medjury.panel._rating._answers import history, latest_answers
from medjury.panel._serve import Panel, make_app, open_panel
from medjury.panel._tables import assignments_table, items_table

JUDGE = 'judges:\n  - {{kind: openai, name: juror, url: "{url}", model: m}}\nhumans: panel\n'


def own_instrument(folder: Path, best: str) -> None:
    grades = {1: "bad", 2: "middling", 3: "good"} if best == "high" else {1: "good", 2: "middling", 3: "bad"}
    (folder / "own.yaml").write_text(
        yaml.safe_dump(
            {
                "name": "own",
                "version": "1",
                "title": "Own",
                "instructions": "Grade it.",
                "inputs": [{"name": "candidate", "label": "Answer"}],
                "dimensions": [
                    {"name": "quality", "label": "Quality", "definition": "How good is it?", "grades": grades}
                ],
            }
        )
    )


def test_grades_of_another_instrument_are_not_taken_for_this_ones(tmp_path: Path) -> None:
    """The words of the grades were turned round after the raters had rated: a 3 of then is a 1 of now."""
    own_instrument(tmp_path, "high")
    grades = [{"quality": ("3", "3")}]
    closed_panel(tmp_path, grades, place=tmp_path / "ward.panel.sqlite", instrument="own.yaml", dimensions="")
    panel = open_panel(tmp_path / "study.yaml")
    assert panel.study is not None
    assert panel.study_now is not None and include(panel.study_now, panel.database)[0] == 2
    own_instrument(tmp_path, "low")
    again = open_panel(tmp_path / "study.yaml")
    for study in (again.study, again.study_now):  # the study file itself is as it was
        assert study is not None
        with pytest.raises(MedjuryError, match="instrument"):
            include(study, again.database)


def test_whoever_restarts_with_another_instrument_is_told(tmp_path: Path) -> None:
    own_instrument(tmp_path, "high")
    grades = [{"quality": ("3", "3")}]
    closed_panel(tmp_path, grades, place=tmp_path / "ward.panel.sqlite", instrument="own.yaml", dimensions="")
    own_instrument(tmp_path, "low")
    app = make_app(open_panel(tmp_path / "study.yaml"))
    assert "continues as it was set up" in sign_in(app, Role.COORDINATOR).get("/rounds").text


def test_a_case_that_left_the_study_is_not_left_out_in_silence(tmp_path: Path) -> None:
    closed_panel(tmp_path, [same("4", "4"), same("2", "2")], place=tmp_path / "ward.panel.sqlite")
    rows = case_rows(1, ONE_SYSTEM)
    (tmp_path / "cases.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    panel = open_panel(tmp_path / "study.yaml")
    assert panel.study is not None
    with pytest.raises(MedjuryError, match="marmoset-01"):
        include(panel.study, panel.database)


def test_a_changed_case_of_a_round_that_left_the_study_file_is_refused(tmp_path: Path) -> None:
    rounds = "panel: {rounds: [{name: first, kind: rating}]}\n"
    closed_panel(tmp_path, [same("4", "4")], place=tmp_path / "ward.panel.sqlite", panel=rounds)
    study = tmp_path / "study.yaml"
    study.write_text(study.read_text().replace("first", "second"))
    text = (tmp_path / "cases.jsonl").read_text().replace("amlodipine 5 mg", "amlodipine 50 mg")
    (tmp_path / "cases.jsonl").write_text(text)
    panel = open_panel(study)
    assert panel.study is not None
    with pytest.raises(MedjuryError, match="was changed after it was rated"):
        include(panel.study, panel.database)


def test_what_raters_settled_is_not_one_more_rater_who_agrees(tmp_path: Path) -> None:
    grades = [same("4", "4", accuracy=("1", "5") if n % 2 else (str(1 + n % 5),) * 2) for n in range(12)]
    panel, _ = closed_panel(tmp_path, grades)
    assert panel.study is not None
    with panel.database.writing() as connection:
        before = collect(connection)
        open_meeting(connection, only_round(connection), danger=0.25, now=NOON)
        after = collect(connection)
    assert {each.rater for each in after} > {each.rater for each in before}
    tables = [table_of(found, panel.study.instrument, {}) for found in (before, after)]
    alone, met = (agreement_so_far(table) for table in tables)
    assert [each.alpha.value for each in alone] == [each.alpha.value for each in met]


def test_the_report_does_not_count_what_was_settled_as_a_clinician(tmp_path: Path) -> None:
    grades = [same("4", "4", accuracy=("1", "5")), same("4", "4"), same("2", "2")]
    with LoopbackServer() as server:
        panel, _ = closed_panel(
            tmp_path, grades, place=tmp_path / "ward.panel.sqlite", panel=JUDGE.format(url=server.url)
        )
        with panel.database.writing() as connection:
            open_meeting(connection, only_round(connection), danger=0.25, now=NOON)
        assert main(["run", str(tmp_path / "study.yaml"), "--quiet"]) == 0
        assert main(["panel", "include", str(tmp_path / "study.yaml")]) == 0
    assert "2 clinicians" in (tmp_path / "runs" / "ward" / "report.html").read_text()


def test_nothing_is_saved_in_a_round_that_was_closed_a_moment_ago(tmp_path: Path) -> None:
    """The rater's form was read while the round was open; before it is saved, the coordinator closes the round."""
    panel, _ = closed_panel(tmp_path, [same("4", "4")], close=False)
    one = rater(make_app(panel), "Dr Hand")
    (code,) = one.codes()
    assert one.rate(code, **GOOD).status_code == 303
    page = one.get(f"/rate/{code}").text
    with panel.database.writing() as connection:
        set_state(connection, only_round(connection), "closed")
    assert one.person is not None
    worse = {f"grade.{name}": "1" for name in ("accuracy", "completeness", "clarity")}
    sent = {"csrf": token_in(page), "version": "1", **worse}
    for path, action in (("", "submit"), ("", "save"), ("/draft", "save")):
        assert one.post(f"/rate/{code}{path}", data={**sent, "action": action}).status_code == 409
    with panel.database.reading() as connection:
        own = connection.execute(select(assignments_table.c.id).where(assignments_table.c.code == code))
        assert [each.submitted for each in history(connection, own.scalar_one())] == [True]
        given = [
            each.outcome
            for each in latest_answers(connection, only_round(connection))
            if each.rater == one.person.id
        ]
    assert [getattr(each, "value", None) for each in given] == [float(each) for each in GOOD.values()]


@pytest.fixture(scope="module")
def unrated(tmp_path_factory: pytest.TempPathFactory) -> tuple[Panel, Rater]:
    """An open panel, and one of its raters, who has saved nothing."""
    panel, _ = closed_panel(tmp_path_factory.mktemp("unrated"), [same("4", "4")], close=False)
    return panel, rater(make_app(panel), "Dr Hand")


@pytest.mark.parametrize("value", ["0", "6", "4.0", " 4", "4 ", "٤", "nan", "1e0", "-1", "na", "true", "4\n"])
def test_no_grade_off_the_scale_is_saved(unrated: tuple[Panel, Rater], value: str) -> None:
    panel, one = unrated
    (code,) = one.codes()
    assert one.rate(code, **GOOD | {"grade.accuracy": value}).status_code == 422
    with panel.database.reading() as connection:
        assert {each.rater for each in collect(connection)} == {"Dr Wallaby 0", "Dr Wallaby 1"}


def test_a_dimension_that_the_form_does_not_have_is_not_saved(tmp_path: Path) -> None:
    panel, _ = closed_panel(tmp_path, [same("4", "4")], close=False)
    one = rater(make_app(panel), "Dr Hand")
    (code,) = one.codes()
    extra = {"grade.overall": "1", "grade.quality": "1", "why.": "x", "grade.": "1", "seconds": "-5"}
    assert one.rate(code, **GOOD | extra).status_code == 303
    with panel.database.reading() as connection:
        own = [each for each in collect(connection) if each.rater == "Dr Hand"]
    assert {each.dimension for each in own} == {"accuracy", "completeness", "clarity"}
    assert all(each.seconds is None or each.seconds >= 0 for each in own)


def test_a_case_that_moves_to_another_rater_keeps_its_probability(tmp_path: Path) -> None:
    """Without it a case that was drawn because it looked bad would count like any other."""
    settings = "panel: {rounds: [{name: rating, assign: {per_case: 1}}]}\n"
    database, (round_,) = set_up_panel(tmp_path, cases=4, systems=ONE_SYSTEM, panel=settings)
    table = assignments_table
    with database.writing() as connection:
        connection.execute(update(items_table).values(probability=0.25, place=items_table.c.id))
        join(connection, round_, "first", NOON)
        join(connection, round_, "late", NOON)
        leave(connection, round_, "first", NOON)
        held = connection.execute(select(table).where(table.c.withdrawn_at.is_(None))).all()
    assert [(row.person, row.probability) for row in held] == [("late", 0.25)] * 4
