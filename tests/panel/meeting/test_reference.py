"""Panels write the reference: alone first, then together, then the routine diagnosis, then the answers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import update
from sqlalchemy.engine import Connection
from sqlalchemy.exc import DatabaseError
from tests.panel.meeting.reference_panels import ROUTINE, reference_panel, reference_study, rows
from tests.panel.rounds import NOON, SYSTEMS, write_study

from medjury.foundation.errors import MedjuryError
from medjury.instruments import Score
from medjury.intake.cases import read_cases
from medjury.panel._access._people import Person
from medjury.panel._design._form import form_of_instrument, read_form
from medjury.panel._meeting._reference import ROUTINE as ROUTINE_PART
from medjury.panel._meeting._reference import (
    TOGETHER,
    CaseWork,
    alone,
    begin_meeting,
    go_on,
    make_panel,
    shown_of_work,
    work_by_code,
    work_of_person,
    write,
)
from medjury.panel._meeting._reference_files import (
    panel_references,
    panel_scores,
    set_up_references,
    write_references,
)
from medjury.panel._meeting._settling import Overtaken
from medjury.panel._tables import reference_entries_table

SAID = {"primary": "Embolism", "secondary": "", "differential": "Pneumonia", "reasoning": "D-dimer"}


def again(connection: Connection, work: CaseWork) -> CaseWork:
    found = work_by_code(connection, work.code)
    assert found is not None
    return found


def hand_in(connection: Connection, work: CaseWork, person: Person, words: str) -> CaseWork:
    said = {**SAID, "primary": words}
    write(connection, work, person.id, alone(person.id), 0, said, NOON, submitted=True)
    return again(connection, work)


def write_together(connection: Connection, work: CaseWork, person: Person) -> CaseWork:
    write(connection, work, person.id, TOGETHER, 0, SAID, NOON, submitted=True)
    go_on(connection, work, person.id, NOON, to="routine")
    return again(connection, work)


def judge_routine(connection: Connection, work: CaseWork, person: Person, agrees: str) -> CaseWork:
    said = {"agrees": agrees, "why": "Not a numbat"}
    write(connection, work, person.id, ROUTINE_PART, 0, said, NOON, submitted=True)
    go_on(connection, work, person.id, NOON, to="scoring")
    return again(connection, work)


def score(connection: Connection, work: CaseWork, person: Person, grade: str) -> CaseWork:
    for each in work.answers:
        form = {"grade.diagnosis": grade, "grade.risk": grade}
        read = read_form(form, work.instrument, form_of_instrument(work.instrument))
        said: dict[str, Any] = {**read.said, "comment": ""}
        write(connection, work, person.id, each.part, 0, said, NOON, submitted=True, outcomes=read.outcomes)
    return again(connection, work)


def test_a_panel_writes_and_scores_and_a_study_reads_it(either_place: str, tmp_path: Path) -> None:
    panel, people = reference_panel(tmp_path, either_place)
    with panel.database.writing() as connection:
        work = work_of_person(connection, people[0].id)[0]
        for number, person in enumerate(people):
            work = hand_in(connection, work, person, f"idea {number}")
        begin_meeting(connection, work, people[1].id, NOON)
        work = write_together(connection, again(connection, work), people[1])
        work = judge_routine(connection, work, people[2], "no")
        work = score(connection, work, people[0], "4")
        assert list(panel_scores(connection)) == [], "a case that is not finished has no scores"
        go_on(connection, work, people[0].id, NOON, to="done")
        ((item, found),) = panel_references(connection).items()
        scores = list(panel_scores(connection))
    text = "Primary diagnosis: Embolism\nDifferential diagnosis: Pneumonia\nReasoning: D-dimer"
    assert found["reference"] == text
    assert found["metadata"] == {"reference_panel": "Internal medicine", "routine_is_wrong": 1}
    assert {(each.system, each.dimension): each.outcome for each in scores} == {
        (system, dimension): Score(4.0) for system in SYSTEMS for dimension in ("diagnosis", "risk")
    }
    assert {(each.item, each.rater) for each in scores} == {(item, "Internal medicine")}
    with panel.database.reading() as connection:
        assert write_references(connection, panel.study.cases, tmp_path / "out.jsonl") == (1, 1)  # type: ignore[union-attr]
    written = list(read_cases(tmp_path / "out.jsonl"))
    assert [(each.id, each.system) for each in written] == [(item, system) for system in SYSTEMS]
    assert {each.reference for each in written} == {text}
    assert {each.metadata["routine_is_wrong"] for each in written} == {1}
    assert {each.texts["panel_primary"] for each in written} == {"Embolism"}
    with pytest.raises(DatabaseError, match="append-only"), panel.database.writing() as connection:
        connection.execute(update(reference_entries_table).values(person="x"))
    panel.database.close()


def test_each_stage_is_locked_once_the_next_has_begun(tmp_path: Path) -> None:
    panel, people = reference_panel(tmp_path, members=2)
    with panel.database.writing() as connection:
        work = work_of_person(connection, people[0].id)[0]
        with pytest.raises(Overtaken):
            write(connection, work, people[0].id, TOGETHER, 0, SAID, NOON, submitted=False)
        for person in people:
            work = hand_in(connection, work, person, "mine")
        begin_meeting(connection, work, people[0].id, NOON)
        begin_meeting(connection, again(connection, work), people[1].id, NOON)  # both press the button
        work = again(connection, work)
        with pytest.raises(Overtaken):
            write(
                connection,
                work,
                people[0].id,
                alone(people[0].id),
                1,
                {**SAID, "primary": "b"},
                NOON,
                submitted=True,
            )
        work = write_together(connection, work, people[0])
        with pytest.raises(Overtaken):
            write(connection, work, people[1].id, TOGETHER, 1, {**SAID, "primary": "b"}, NOON, submitted=True)
        work = judge_routine(connection, work, people[0], "yes")
        work = score(connection, work, people[0], "5")
        go_on(connection, work, people[0].id, NOON, to="done")
        work = again(connection, work)
        with pytest.raises(Overtaken):
            write(connection, work, people[0].id, work.answers[0].part, 1, {}, NOON, submitted=True)
        (found,) = panel_references(connection).values()
        assert found["metadata"]["routine_is_wrong"] == 0


def test_the_second_of_two_members_who_type_at_once_is_told(tmp_path: Path) -> None:
    panel, (one, two) = reference_panel(tmp_path, members=2)
    with panel.database.writing() as connection:
        work = work_of_person(connection, one.id)[0]
        go_on(connection, work, "the coordinator", NOON, to="together")
        work = again(connection, work)
        write(connection, work, one.id, TOGETHER, 0, SAID, NOON, submitted=False)
        work = again(connection, work)
        with pytest.raises(Overtaken):
            write(connection, work, two.id, TOGETHER, 0, {**SAID, "primary": "other"}, NOON, submitted=False)
        write(connection, work, one.id, TOGETHER, 0, SAID, NOON, submitted=False)  # sent twice: saved once
        assert [each.version for each in again(connection, work).entries[TOGETHER]] == [1]


def test_drawn_answers_carry_their_probability(tmp_path: Path) -> None:
    settings = "panel: {references: {show: [history], routine: ward, answers: 1}}\n"
    panel, (one, two) = reference_panel(tmp_path, members=2, cases=1, settings=settings)
    with panel.database.writing() as connection:
        (work,) = work_of_person(connection, one.id)
        assert len(work.answers) == 1
        go_on(connection, work, "the coordinator", NOON, to="together")
        work = write_together(connection, again(connection, work), two)
        work = score(connection, judge_routine(connection, work, one, "yes"), one, "3")
        go_on(connection, work, one.id, NOON, to="done")
        assert {each.probability for each in panel_scores(connection)} == {0.5}


def test_a_case_without_a_routine_diagnosis_goes_straight_to_the_answers(tmp_path: Path) -> None:
    panel, (one, _) = reference_panel(
        tmp_path, members=2, settings="panel: {references: {show: [history]}}\n"
    )
    with panel.database.writing() as connection:
        work = work_of_person(connection, one.id)[0]
        assert work.stages == ["alone", "together", "scoring", "done"]


def test_a_panel_has_two_or_three_members_and_a_case_one_panel(tmp_path: Path) -> None:
    panel, people = reference_panel(tmp_path, cases=1)
    with panel.database.writing() as connection:
        for members, cases, told in (
            (people[:1], (), "2 or 3 members"),
            (people[:2], (), "Every case has a panel"),
            (people[:2], ("marmoset-00",), "another panel has it"),
        ):
            with pytest.raises(MedjuryError, match=told):
                make_panel(connection, "Second", members, cases=cases, now=NOON)
        with pytest.raises(MedjuryError, match="already"):
            make_panel(connection, "Internal  medicine", people[:2], now=NOON)


def test_a_second_start_adds_nothing(tmp_path: Path) -> None:
    panel, _ = reference_panel(tmp_path)
    with panel.database.writing() as connection:
        assert set_up_references(connection, reference_study(tmp_path)) == 0


def test_a_record_that_differs_between_answers_is_refused(tmp_path: Path) -> None:
    panel, _ = reference_panel(tmp_path)
    cases = rows(1)
    cases[1]["texts"]["history"] = "Another history"
    settings = "panel: {references: {show: [history]}}\n"
    study = write_study(tmp_path, rows=cases, instrument="diagnosis", dimensions="", panel=settings)
    with panel.database.writing() as connection, pytest.raises(MedjuryError, match="different records"):
        set_up_references(connection, study)


def test_a_record_that_some_cases_lack_is_refused(tmp_path: Path) -> None:
    panel, _ = reference_panel(tmp_path)
    study = reference_study(tmp_path, settings="panel: {references: {show: [scan]}}\n")
    with panel.database.writing() as connection, pytest.raises(MedjuryError, match="marmoset-00: scan"):
        set_up_references(connection, study)


@pytest.mark.parametrize("name", ["candidate", "reference", "ward"])
def test_the_study_cannot_show_what_comes_later(name: str, tmp_path: Path) -> None:
    settings = f"panel: {{references: {{show: [history, {name}], routine: ward}}}}\n"
    with pytest.raises(MedjuryError, match=f"'{name}' comes later"):
        reference_study(tmp_path, settings=settings)


def test_a_study_of_references_alone_has_no_round_and_any_other_needs_one(tmp_path: Path) -> None:
    assert list(reference_study(tmp_path).rounds) == []
    with pytest.raises(MedjuryError, match="there is no round"):
        reference_study(tmp_path, settings="panel: {rounds: []}\n")


def test_nobody_sees_another_members_words_before_the_meeting(tmp_path: Path) -> None:
    panel, (one, two, three) = reference_panel(tmp_path)
    with panel.database.writing() as connection:
        work = work_of_person(connection, one.id)[0]
        work = hand_in(connection, work, one, "the secret of one")
        work = hand_in(connection, work, two, "the secret of two")
        shown = shown_of_work(connection, work, three.id)
        assert [shown[name] for name in ("others", "routine", "reference", "waiting")] == [[], None, None, 1]
        with pytest.raises(MedjuryError, match="still reading alone"):
            begin_meeting(connection, work, one.id, NOON)
        go_on(connection, work, "the coordinator", NOON, to="together")
        shown = shown_of_work(connection, again(connection, work), three.id)
        assert sorted(str(wrote.get("primary", "nothing")) for _, wrote in shown["others"]) == [
            "nothing", "the secret of one", "the secret of two",
        ]  # fmt: skip
        assert shown["routine"] is None, "the routine diagnosis waits for the reference"
        shown = shown_of_work(connection, write_together(connection, again(connection, work), one), two.id)
        assert (shown["routine"], shown["reference"]) == (ROUTINE, SAID)
