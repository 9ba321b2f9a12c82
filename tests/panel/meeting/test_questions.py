"""Further questions: asked only after a grade, in either order, and the order is stored."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import func, select
from tests.panel.meeting.closed_rounds import closed_panel, only_round
from tests.panel.rounds import NOON, write_study

from medjury.foundation.errors import MedjuryError
from medjury.panel._access._people import Person
from medjury.panel._design._form import read_form
from medjury.panel._design._rounds import set_state
from medjury.panel._meeting._differences import open_meeting
from medjury.panel._meeting._pages import reply
from medjury.panel._meeting._questions import (
    QuestionReply,
    ask_questions,
    left_share,
    question_replies,
    questions_for,
    what_order_did,
    write_question_replies,
)
from medjury.panel._meeting._settling import Overtaken
from medjury.panel._rating._answers import Entry, add_version
from medjury.panel._serve import Panel
from medjury.panel._tables import asked_table, assignments_table

WHEN = "{name: p, ask: x, when: {dimension: concordant, is: 1}, "
QUESTION = (
    "panel:\n  questions:\n    - name: preference\n      ask: Which would you rather send?\n"
    "      when: {dimension: concordant, is: 1}\n      between: [reference, answer]\n"
    "      choices: [No preference]\n"
)
CONCORDANT = {"concordant": ("1", "1", "1", "1")}


def concordance_rows(cases: int) -> list[dict[str, Any]]:
    return [
        {
            "id": f"marmoset-{case:02}",
            "system": "zebrafinch-9b",
            "candidate": f"Wait and see {case}",
            "reference": f"Watchful waiting {case}",
            "texts": {"question": "Treat?"},
        }
        for case in range(cases)
    ]


def asked_panel(
    folder: Path, grades: list[Any], place: str | None = None, **more: Any
) -> tuple[Panel, list[Person]]:
    study = {"rows": concordance_rows(len(grades)), "instrument": "concordance", "panel": QUESTION}
    return closed_panel(
        folder, grades, place, dimensions="dimensions: [concordant]\n", close=False, **{**study, **more}
    )


def ask_everyone(panel: Panel, people: list[Person]) -> None:
    for person in people:
        with panel.database.writing() as connection:
            ask_questions(connection, person.id, NOON)


def test_only_after_concordant_and_half_of_the_raters_see_each_order(
    either_place: str, tmp_path: Path
) -> None:
    grades = [CONCORDANT] * 11 + [{"concordant": ("0", "0", "0", "0")}]
    panel, people = asked_panel(tmp_path, grades, either_place, raters=4)
    ask_everyone(panel, people)
    ask_everyone(panel, people)
    a, q = assignments_table, asked_table
    with panel.database.reading() as connection:
        turned = select(a.c.item, a.c.person, q.c.turned).join(a, a.c.id == q.c.assignment)
        found = connection.execute(turned).all()
    assert len(found) == 44, "once each, and not where the answer is discordant"
    by_item = Counter((row.item, row.turned) for row in found)
    assert set(by_item.values()) == {2}, "two raters of each answer see each order"
    by_person = Counter((row.person, row.turned) for row in found)
    assert set(by_person.values()) <= {5, 6}, "and each rater sees both orders alike"
    panel.database.close()


def test_a_rater_is_asked_only_when_all_their_cases_are_rated(tmp_path: Path) -> None:
    panel, people = asked_panel(tmp_path, [{"concordant": ("1", "1")}, {"concordant": ("1", "")}])
    ask_everyone(panel, people)
    with panel.database.reading() as connection:
        assert [len(questions_for(connection, person.id)) for person in people] == [2, 0]


def test_the_texts_stand_as_they_were_turned_and_carry_no_name(tmp_path: Path) -> None:
    panel, people = asked_panel(tmp_path, [{"concordant": ("1", "1")}])
    ask_everyone(panel, people)
    with panel.database.writing() as connection:
        orders = []
        for person in people:
            (asked,) = questions_for(connection, person.id)
            orders.append([each.name for each in asked.sides])
            assert asked.choices == ("left", "right", "No preference")
            assert [each.name for each in asked.shown] == ["question"]
            reply(connection, asked.code, person.id, 0, "left", "", NOON)
        found = list(question_replies(connection, only_round(connection)))
    assert sorted(orders) == [["answer", "reference"], ["reference", "answer"]]
    assert sorted((each.left, each.choice, each.chosen) for each in found) == [
        ("answer", "left", "answer"), ("reference", "left", "reference"),
    ]  # fmt: skip
    share = left_share(found, "preference")
    assert (share.value, share.n) == (1, 2), "the effect of order can be counted"


def replies_by(*choices: str) -> list[QuestionReply]:
    """One rater for each text: `LLR` chose left twice, then right."""
    means = {"L": "left", "R": "right", "N": "No preference"}
    return [
        QuestionReply(f"case {place}", "s", f"rater {number}", "preference", "reference", "answer",
                      means[sign], "", "", "", 1, None)
        for number, text in enumerate(choices)
        for place, sign in enumerate(text)
    ]  # fmt: skip


def test_what_order_did_comes_with_an_interval_of_whole_raters() -> None:
    spread = left_share(replies_by(*["LRLRLRLRLN"] * 40), "preference")
    habits = left_share(replies_by(*["LLLLLLLLLN", "RRRRRRRRRN"] * 20), "preference")
    assert (spread.n, habits.n) == (360, 360), "whoever prefers neither chose no side"
    assert (
        spread.low is not None
        and spread.high is not None
        and habits.low is not None
        and habits.high is not None
    )
    assert spread.low < 0.5 < spread.high and habits.value == 0.5
    assert habits.high - habits.low > 2 * (spread.high - spread.low), (
        "forty habits are worth forty replies, not 360"
    )
    biased = replies_by(*["LLLLLLLLLR"] * 40)
    low, told = left_share(biased, "preference").low, what_order_did(biased, "preference")
    assert low is not None and low > 0.5
    assert "preference: the left text was chosen in 0.90" in told and "400 replies" in told
    alone = replies_by("LLLL")
    assert left_share(alone, "preference").value is None
    assert "two raters or more" in what_order_did(alone, "preference")


def test_a_reply_is_changed_by_a_new_version_and_taken_back_with_its_grade(tmp_path: Path) -> None:
    panel, people = asked_panel(tmp_path, [{"concordant": ("1", "1")}])
    ask_everyone(panel, people)
    one = people[0]
    with panel.database.writing() as connection:
        (asked,) = questions_for(connection, one.id)
        with pytest.raises(MedjuryError, match="Choose one"):
            reply(connection, asked.code, one.id, 0, "neither of them", "", NOON)
        with pytest.raises(LookupError):
            reply(connection, asked.code, people[1].id, 0, "left", "", NOON)
        reply(connection, asked.code, one.id, 0, "left", "", NOON)
        reply(connection, asked.code, one.id, 0, "left", "", NOON)  # sent twice
        with pytest.raises(Overtaken):
            reply(connection, asked.code, one.id, 0, "right", "", NOON)
        reply(connection, asked.code, one.id, 1, "No preference", "=1+1", NOON)
        round_ = only_round(connection)
        (found,) = question_replies(connection, round_)
        assert (found.choice, found.chosen, found.version) == ("No preference", "No preference", 2)
        own = select(assignments_table.c.id).where(assignments_table.c.person == one.id)
        read = read_form({"grade.concordant": "0"}, round_.instrument, round_.questions)
        assignment = connection.execute(own).scalar_one()
        add_version(connection, assignment, round_, Entry(1, read.said, "", read.outcomes), NOON)
        assert list(question_replies(connection, round_)) == []
        assert questions_for(connection, one.id) == []
        assert connection.execute(select(func.count()).select_from(asked_table)).scalar() == 2


def test_after_the_raters_have_met_nobody_is_asked(tmp_path: Path) -> None:
    panel, people = asked_panel(tmp_path, [{"concordant": ("1", "1")}])
    ask_everyone(panel, people[:1])
    with panel.database.writing() as connection:
        set_state(connection, only_round(connection), "closed")
        open_meeting(connection, only_round(connection), danger=0.25, now=NOON)
        ask_questions(connection, people[1].id, NOON)
        assert questions_for(connection, people[1].id) == []
        (asked,) = questions_for(connection, people[0].id)
        with pytest.raises(MedjuryError, match="have met"):
            reply(connection, asked.code, people[0].id, 0, "left", "", NOON)


def test_replies_are_written_as_a_harmless_table(tmp_path: Path) -> None:
    row = QuestionReply("i", "s", "p", "q", "answer", "reference", "left", "answer", "=1+1", "now", 1, None)
    assert write_question_replies([row], tmp_path / "q.csv") == 1
    head, line = (tmp_path / "q.csv").read_text(encoding="utf-8").splitlines()
    assert head == "item,system,person,question,left,right,choice,chosen,why,said_at,version,probability"
    assert line == "i,s,p,q,answer,reference,left,answer,'=1+1,now,1,"


@pytest.mark.parametrize(
    ("part", "told"),
    [
        ("{name: p, ask: x, when: {dimension: other, is: 1}, choices: [a, b]}", "not in the instrument"),
        ("{name: p, ask: x, when: {dimension: concordant, is: 7}, choices: [a, "
            "b]}", "no rater would ever be asked"),
        (WHEN + "choices: [a]}", "two `choices`"),
        (WHEN + "between: [answer, scan]}", "not in the instrument"),
        (WHEN + "between: [answer, answer]}", "same text twice"),
        (WHEN + "between: [answer, reference], choices: [left]}", "left"),
    ],
)  # fmt: skip
def test_a_question_that_cannot_be_asked_is_refused(part: str, told: str, tmp_path: Path) -> None:
    with pytest.raises(MedjuryError, match=told):
        write_study(
            tmp_path,
            rows=concordance_rows(1),
            instrument="concordance",
            panel=f"panel: {{questions: [{part}]}}\n",
            dimensions="",
        )
