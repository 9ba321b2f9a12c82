"""A rater's answers: checked, kept with their history, and never lost to a second tab."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from threading import Event
from typing import Any

import pytest
from fastapi import FastAPI
from sqlalchemy import select, update
from sqlalchemy.engine import Connection
from sqlalchemy.exc import DatabaseError
from tests.panel.raters import GOOD, Rater, rater
from tests.panel.rounds import Clock
from tests.panel.visitors import token_in

from medjury.instruments import Reason, Score, Unscored
from medjury.panel._design._assignments import assignment_of
from medjury.panel._design._rounds import rounds, set_state
from medjury.panel._exchange._collecting import collect
from medjury.panel._rating._answers import Collected, history, latest_answers, progress
from medjury.panel._tables import answers_table

MakePanel = Callable[..., FastAPI]


def said(one: Rater) -> list[Collected]:
    with one.app.state.panel.database.reading() as connection:  # type: ignore[attr-defined]
        return list(latest_answers(connection, rounds(connection)[0]))


def versions(one: Rater, code: str) -> Any:
    with one.app.state.panel.database.reading() as connection:  # type: ignore[attr-defined]
        assignment = assignment_of(connection, code, one.person.id)  # type: ignore[union-attr]
        assert assignment is not None
        return history(connection, assignment.id)


def test_an_answer_is_saved_and_leads_to_the_next_case(one: Rater) -> None:
    codes = one.codes()
    assert len(codes) == 6
    answer = one.rate(codes[0], **GOOD)
    assert (answer.status_code, answer.headers["location"]) == (303, f"/rate/{codes[1]}")
    found = said(one)
    assert {each.dimension: each.outcome for each in found} == {
        "accuracy": Score(4),
        "completeness": Score(5),
        "clarity": Score(3),
    }
    assert {(each.rater, each.probability, each.version) for each in found} == {(one.person.id, None, 1)}


def test_after_the_last_case_the_rater_is_thanked_and_may_still_change(make_panel: MakePanel) -> None:
    app = make_panel(cases=1)
    one = rater(app)
    first, second = one.codes()
    one.rate(first, **GOOD)
    assert one.rate(second, **GOOD).headers["location"] == "/rate"
    assert "All done. Thank you." in one.get("/rate").text
    assert "Submit the change" in one.get(f"/rate/{first}").text


def test_going_back_and_changing_keeps_every_version(one: Rater) -> None:
    code = one.codes()[0]
    one.rate(code, **GOOD)
    one.rate(code, **GOOD | {"grade.accuracy": "2", "why.accuracy": "Wrong dose"})
    kept = versions(one, code)
    assert [(each.version, each.submitted, each.said["accuracy"]["grade"]) for each in kept] == [
        (1, True, "4"),
        (2, True, "2"),
    ]
    (accuracy,) = [each for each in said(one) if each.dimension == "accuracy"]
    assert accuracy.outcome == Score(2, "Wrong dose")


def test_what_was_said_cannot_be_changed_in_the_database(one: Rater) -> None:
    one.rate(one.codes()[0], **GOOD)
    database = one.app.state.panel.database
    with pytest.raises(DatabaseError, match="append-only"), database.writing() as connection:
        connection.execute(update(answers_table).values(comment="forged"))


def test_what_is_missing_is_told_and_what_was_typed_stays(one: Rater) -> None:
    answer = one.rate(one.codes()[0], **{"grade.accuracy": "4", "comment": "Half of it"})
    assert answer.status_code == 422
    assert answer.text.count("Choose a grade.") == 2
    assert 'value="4" data-key="4" checked' in answer.text
    assert "Half of it" in answer.text
    assert not said(one)


def test_drafts_of_one_page_count_by_their_turn_however_they_arrive(one: Rater) -> None:
    code = one.codes()[0]
    own = {"csrf": one.token("/rate/profile"), "version": "0", "page": "a" * 32}

    def draft(turn: int, grade: str, **others: str) -> Any:
        return one.post(
            f"/rate/{code}/draft", data=own | {"turn": str(turn), "grade.accuracy": grade} | others
        )

    assert draft(2, "4").json() == {"version": 1}
    assert draft(1, "3").json() == {"version": 1}, "overtaken on its way"
    assert draft(3, "5").json() == {"version": 2}, "it had not heard of version 1"
    assert draft(1, "1", page="b" * 32).status_code == 409, "another page had"
    assert one.rate(code, **GOOD, version="0", page="a" * 32, turn="4").status_code == 303
    with one.app.state.panel.database.writing() as connection:
        set_state(connection, rounds(connection)[0], "closed")
    assert draft(3, "5").status_code == 200, "it is known, so nothing is lost"
    assert draft(9, "1").status_code == 409
    kept = [each.said["accuracy"]["grade"] for each in versions(one, code)]
    assert kept == ["4", "5", "4"]


def test_a_grade_that_the_scale_does_not_have_is_refused(one: Rater) -> None:
    code = one.codes()[0]
    for value in ("0", "6", "99999999999999999999", "4.0", "<script>", ""):
        assert one.rate(code, **GOOD | {"grade.accuracy": value}).status_code == 422
    assert not said(one)


def test_who_cannot_judge_says_why(one: Rater) -> None:
    code = one.codes()[0]
    assert "Say why" in one.rate(code, **GOOD | {"grade.clarity": "cannot"}).text
    one.rate(code, **GOOD | {"grade.clarity": "cannot", "why.clarity": "The source is cut off"})
    (clarity,) = [each for each in said(one) if each.dimension == "clarity"]
    assert clarity.outcome == Unscored(Reason.CANNOT_JUDGE, "The source is cut off")


def test_a_required_reason_is_asked_for(make_panel: MakePanel) -> None:
    one = rater(make_panel(panel="panel: {justification: {accuracy: required}}\n"))
    answer = one.rate(one.codes()[0], **GOOD)
    assert answer.status_code == 422
    assert "Give your reason in a few words." in answer.text


def test_a_draft_is_kept_and_does_not_count(one: Rater) -> None:
    code = one.codes()[0]
    answer = one.rate(code, "save", **{"grade.accuracy": "2", "comment": "not sure yet"})
    assert answer.headers["location"] == f"/rate/{code}?saved=1"
    assert 'value="2" data-key="2" checked' in one.get(f"/rate/{code}").text
    assert not said(one)
    assert "begun" in one.get("/rate").text


def test_a_draft_of_a_change_does_not_replace_what_was_submitted(one: Rater) -> None:
    code = one.codes()[0]
    one.rate(code, **GOOD)
    one.rate(code, "save", **GOOD | {"grade.accuracy": "1"})
    assert next(each for each in said(one) if each.dimension == "accuracy").outcome == Score(4)
    assert "You have changed this answer. Submit it" in one.get(f"/rate/{code}").text


def test_the_second_of_two_tabs_is_told_and_loses_nothing(one: Rater) -> None:
    code = one.codes()[0]
    one.rate(code, **GOOD)  # the first tab; the second was opened before, at version 0
    answer = one.rate(code, version="0", **GOOD | {"grade.accuracy": "1", "why.accuracy": "typed long"})
    assert answer.status_code == 409
    assert "from another tab or device" in answer.text
    assert "typed long" in answer.text
    assert next(each for each in said(one) if each.dimension == "accuracy").outcome == Score(4)
    assert 'name="version" value="1"' in answer.text  # sent again as it stands it is the next version
    one.rate(code, version="1", **GOOD | {"grade.accuracy": "1"})
    assert [each.said["accuracy"]["grade"] for each in versions(one, code)] == ["4", "1"]


def test_the_same_form_sent_twice_is_one_version(one: Rater) -> None:
    code = one.codes()[0]
    assert one.rate(code, version="0", **GOOD).status_code == 303
    assert one.rate(code, version="0", **GOOD).status_code == 303
    assert len(versions(one, code)) == 1


def test_autosave_answers_with_the_version_and_tells_when_it_is_stale(one: Rater) -> None:
    code = one.codes()[0]
    token = token_in(one.get(f"/rate/{code}").text)
    first = one.post(f"/rate/{code}/draft", data={"csrf": token, "version": "0", "grade.accuracy": "4"})
    assert (first.status_code, first.json()) == (200, {"version": 1})
    stale = one.post(f"/rate/{code}/draft", data={"csrf": token, "version": "0", "grade.accuracy": "5"})
    assert stale.status_code == 409
    assert "another tab" in stale.json()["message"]
    same = one.post(f"/rate/{code}/draft", data={"csrf": token, "version": "1", "grade.accuracy": "4"})
    assert same.json() == {"version": 1}


def test_nothing_is_saved_without_the_pages_own_token(one: Rater) -> None:
    code = one.codes()[0]
    for path in (f"/rate/{code}", f"/rate/{code}/draft", f"/rate/{code}/here", "/rate/profile"):
        assert one.post(path, data=GOOD | {"csrf": "forged", "version": "0"}).status_code == 403
    assert not versions(one, code)


def test_a_closed_round_takes_no_answer_and_says_so(one: Rater) -> None:
    code = one.codes()[0]
    database = one.app.state.panel.database
    with database.writing() as connection:
        set_state(connection, rounds(connection)[0], "closed")
    answer = one.rate(code, **GOOD)
    assert answer.status_code == 409
    assert "This round is closed" in answer.text
    assert not said(one)


@pytest.mark.parametrize("path", ["", "/draft"])
def test_a_round_that_closes_while_an_answer_is_on_its_way_takes_it_no_more(
    either_place: str, path: str, make_panel: MakePanel, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = make_panel(place=either_place)
    one = rater(app)
    code = one.codes()[0]
    sent = GOOD | {"csrf": one.token("/rate/profile"), "version": "0"}
    database = app.state.panel.database
    held, about_to_save = database.writing, Event()

    def writing() -> AbstractContextManager[Connection]:
        about_to_save.set()
        return held()

    with ThreadPoolExecutor(1) as thread:
        with held() as connection:
            set_state(connection, rounds(connection)[0], "closed")
            monkeypatch.setattr(database, "writing", writing)
            answer = thread.submit(one.post, f"/rate/{code}{path}", data=sent)
            assert about_to_save.wait(60), "the answer never came as far as the database"
        assert answer.result(60).status_code == 409
    assert "This round is closed" in answer.result().text
    monkeypatch.undo()
    assert not versions(one, code)
    database.close()


def test_another_raters_case_and_one_that_does_not_exist_are_answered_alike(make_panel: MakePanel) -> None:
    app = make_panel()
    one, two = rater(app, "Dr One"), rater(app, "Dr Two")
    theirs = two.codes()[0]
    for path in ("", "/key"):
        other, nothing = one.get(f"/rate/{theirs}{path}"), one.get(f"/rate/no-such-code{path}")
        assert (other.status_code, other.text) == (404, nothing.text)
    token = one.token("/rate/profile")
    assert one.post(f"/rate/{theirs}", data=GOOD | {"csrf": token, "version": "0"}).status_code == 404
    assert not said(one)


def test_two_raters_on_one_case_neither_see_nor_block_each_other(make_panel: MakePanel) -> None:
    app = make_panel(cases=1, systems=("only",))
    one, two = rater(app, "Dr One"), rater(app, "Dr Two")
    (first,), (second,) = one.codes(), two.codes()
    assert first != second
    assert one.rate(first, **GOOD | {"comment": "a capybara"}).status_code == 303
    page = two.get(f"/rate/{second}").text
    assert "capybara" not in page
    assert " checked" not in page
    assert two.rate(second, **GOOD).status_code == 303
    assert len(said(one)) == 6


def test_progress_and_time_left_come_from_the_raters_own_cases(one: Rater, clock: Clock) -> None:
    for code in one.codes()[:3]:
        one.get(f"/rate/{code}")
        clock.turn(120)
        token = one.token("/rate/profile")
        one.post(f"/rate/{code}", data=GOOD | {"csrf": token, "version": "0"})
    with one.app.state.panel.database.reading() as connection:
        found = progress(connection, rounds(connection)[0], one.person.id)
    assert (found.done, found.total, found.seconds_left) == (3, 6, 360.0)
    assert "3 of 6 done, about 6 min left" in one.get("/rate").text


def test_the_rows_of_a_case_share_its_time(one: Rater, clock: Clock) -> None:
    code = one.codes()[0]
    one.get(f"/rate/{code}")
    clock.turn(90)
    one.post(f"/rate/{code}", data=GOOD | {"csrf": one.token("/rate/profile"), "version": "0"})
    assert [each.seconds for each in said(one)] == [30.0, 30.0, 30.0]
    with one.app.state.panel.database.reading() as connection:
        assert connection.execute(select(answers_table.c.measured)).scalar() is False
        assert {each.seconds for each in collect(connection)} == {None}, "no page measured it"


def test_what_one_case_keeps_has_an_end_and_the_answer_still_finds_room(
    one: Rater, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every version is kept, so a rater (or whoever has their session) could fill the disk with drafts."""
    monkeypatch.setattr("medjury.panel._rating._answers.MOST_LETTERS", 300_000)
    code = one.codes()[0]
    sent = GOOD | {"csrf": one.token("/rate/profile")}
    large = one.post(f"/rate/{code}/draft", data=sent | {"version": "0", "comment": "x" * 1_000_000})
    assert large.status_code == 409 and "10,000 letters" in large.json()["message"]
    page = one.post(
        f"/rate/{code}", data=sent | {"version": "0", "action": "save", "why.accuracy": "y" * 10_001}
    )
    assert page.status_code == 409 and "10,000 letters" in page.text and "y" * 10_001 in page.text
    assert not versions(one, code)
    version, told = 0, ""
    for number in range(80):
        fields = sent | {"version": str(version), "comment": f"{number} {'z' * 9_000}"}
        answer = one.post(f"/rate/{code}/draft", data=fields)
        if answer.status_code != 200:
            told = answer.json()["message"]
            break
        version = answer.json()["version"]
    assert version == 50 and "more drafts than are kept" in told
    assert one.post(f"/rate/{code}", data=sent | {"version": "50", "comment": "final"}).status_code == 303
    assert [each.comment for each in versions(one, code)][-1] == "final"
