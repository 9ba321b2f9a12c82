"""The pages of a panel that writes references: nothing is told too early, and what was typed is never lost."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI
from tests.panel.meeting.reference_panels import ROUTINE, reference_study
from tests.panel.meeting.signed_in import send
from tests.panel.meeting.test_pages import PLANTED, SCRIPT
from tests.panel.rounds import NOON, Clock
from tests.panel.visitors import Visitor, reachable, sign_in

from medjury.cli import main
from medjury.panel._access._people import Role
from medjury.panel._meeting._reference import make_panel, work_of_person
from medjury.panel._meeting._reference_files import set_up_references
from medjury.panel._serve import Panel, make_app, open_panel, open_panel_database

WORDS = {"primary": "Embolism", "secondary": "", "differential": "Pneumonia", "reasoning": "D-dimer"}


@dataclass
class Writing:
    """One case of a panel of two, a rater who is not on it, and the coordinator."""

    app: FastAPI
    one: Visitor
    two: Visitor
    stranger: Visitor
    coordinator: Visitor
    page: str

    def send(self, who: Visitor, action: str = "", **fields: str) -> Any:
        """Somebody sends a form of the page, resting on what was there before anybody saved."""
        at = self.page if who is not self.stranger else "/account"
        return send(who, at, f"{self.page}/{action}", **{"version": "0"} | fields)


@pytest.fixture
def writing(tmp_path: Path) -> Writing:
    study = reference_study(tmp_path, cases=1)
    panel = Panel(open_panel_database(tmp_path / "panel.sqlite"), Clock(), study)
    app = make_app(panel)
    one, two, stranger = (sign_in(app, Role.RATER, f"Dr Wallaby {each}") for each in range(3))
    assert one.person and two.person
    with panel.database.writing() as connection:
        set_up_references(connection, study)
        make_panel(connection, "Internal medicine", [one.person, two.person], now=NOON)
        (work,) = work_of_person(connection, one.person.id)
    return Writing(app, one, two, stranger, sign_in(app, Role.COORDINATOR, "Ada"), f"/reference/{work.code}")


def hand_in(writing: Writing, visitor: Visitor, **words: str) -> None:
    answer = writing.send(visitor, "alone", do="submit", **WORDS | words)
    assert answer.status_code == 303, answer.text


def test_no_page_tells_another_members_words_the_routine_diagnosis_or_a_system_too_early(
    writing: Writing,
) -> None:
    hand_in(writing, writing.two, primary="capybara", reasoning="capybara")
    alone = str(reachable(writing.one))
    assert writing.page in alone
    for early in ("capybara", ROUTINE, "Opinion 0", *PLANTED):
        assert early.casefold() not in alone.casefold(), early
    hand_in(writing, writing.one)
    writing.send(writing.one, "begin")
    together = str(reachable(writing.one))
    assert "capybara" in together
    for early in (ROUTINE, "Opinion 0", *PLANTED):
        assert early.casefold() not in together.casefold(), early
    writing.send(writing.one, "together", do="submit", **WORDS)
    assert ROUTINE in writing.one.get(writing.page).text
    assert "Opinion 0" not in str(reachable(writing.one))
    writing.send(writing.two, "routine", agrees="yes", why="")
    scoring = reachable(writing.one)
    assert "Opinion 0" in str(scoring)
    for path, text in scoring.items():
        for planted in (*PLANTED, "Wallaby 1"):
            assert planted.casefold() not in f"{path} {text}".casefold(), f"{path} tells {planted}"


def test_who_is_not_on_the_panel_is_told_that_there_is_no_such_case(writing: Writing) -> None:
    assert writing.stranger.get(writing.page).status_code == 404
    for action in ("alone", "begin", "together", "routine", "finish"):
        assert writing.send(writing.stranger, action, agrees="yes", do="draft").status_code == 404, action
    assert writing.coordinator.get(writing.page).status_code == 403
    assert "References to write" not in writing.stranger.get("/together").text


def test_a_member_who_was_overtaken_keeps_what_they_typed(writing: Writing) -> None:
    hand_in(writing, writing.one)
    assert writing.send(writing.two, "begin").status_code == 400, "two has not written yet"
    code = writing.page.rpartition("/")[2]
    assert send(writing.coordinator, "/panels", f"/panels/{code}/open").status_code == 303
    late = writing.send(writing.two, "alone", do="submit", **WORDS | {"primary": "mine"})
    assert (late.status_code, "What you typed, not saved" in late.text, "mine" in late.text) == (
        409,
        True,
        True,
    )
    draft = writing.send(writing.one, "together", do="draft", **WORDS)
    assert draft.status_code == 303
    late = writing.send(writing.two, "together", do="draft", **WORDS | {"primary": "b"})
    assert late.status_code == 409
    assert "Embolism" in late.text


def test_what_is_missing_is_told_and_the_rest_kept(writing: Writing) -> None:
    empty = writing.send(writing.one, "alone", do="submit", secondary="kept words")
    assert (empty.status_code, "Primary diagnosis, Reasoning" in empty.text, "kept words" in empty.text) == (
        400, True, True,
    )  # fmt: skip
    assert writing.send(writing.one, "alone", do="draft").status_code == 303
    go_on = writing.send(writing.one, "finish")
    assert go_on.status_code in (400, 409)


def test_a_script_stays_text_and_answers_are_graded_on_the_scale_alone(writing: Writing) -> None:
    hand_in(writing, writing.one, primary=SCRIPT)
    hand_in(writing, writing.two)
    writing.send(writing.one, "begin")
    words = WORDS | {"reasoning": SCRIPT}
    writing.send(writing.one, "together", do="submit", **words)
    refused = writing.send(writing.two, "routine", agrees="no", why="")
    assert "Say in a few words why" in refused.text
    writing.send(writing.two, "routine", agrees="no", why=SCRIPT)
    answers = [path for path in reachable(writing.one) if "/answer/" in path]
    assert len(answers) == 2
    for path in answers:
        assert (
            send(
                writing.one, path, path, version="0", **{"grade.diagnosis": "9", "grade.risk": "1"}
            ).status_code
            == 400
        )
        good = {"grade.diagnosis": "4", "grade.risk": "1", "why.risk": SCRIPT}
        assert send(writing.one, path, path, version="0", **good).status_code == 303
        late = send(
            writing.two, path, path, version="0", **good | {"grade.diagnosis": "2", "comment": "my words"}
        )
        assert (late.status_code, "my words" in late.text, "another member saved" in late.text) == (
            409,
            True,
            True,
        )
    for text in reachable(writing.two).values():
        assert "<script>alert" not in text
        assert "<img" not in text
    assert writing.send(writing.two, "finish").status_code == 303
    assert "This case is done" in writing.two.get(writing.page).text


def test_the_command_line_writes_references_and_replies(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    reference_study(tmp_path, cases=2)
    study, out = str(tmp_path / "study.yaml"), tmp_path / "out.jsonl"
    panel = open_panel(study)
    with panel.database.reading() as connection:
        assert work_of_person(connection, "nobody") == []
    panel.database.close()
    assert main(["panel", "references", study, "--out", str(out)]) == 0
    assert "0 cases with the reference of a panel, 2 without one left out" in capsys.readouterr().out
    assert main(["panel", "questions", study, "--out", str(tmp_path / "replies.csv")]) == 0
    assert "0 replies" in capsys.readouterr().out
