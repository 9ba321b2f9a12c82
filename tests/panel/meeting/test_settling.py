"""Raters settle their differences together: what all confirmed holds, the rest is the adjudicator's."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest
from sqlalchemy import delete, select, update
from sqlalchemy.engine import Connection
from sqlalchemy.exc import DatabaseError
from tests.panel.meeting.closed_rounds import closed_panel, only_round, same
from tests.panel.rounds import NOON

from medjury.foundation.errors import MedjuryError
from medjury.instruments import NotApplicable, Outcome, Reason, Score, Unscored, load_instrument
from medjury.panel._access._people import Person
from medjury.panel._design._form import Read
from medjury.panel._design._rounds import set_state
from medjury.panel._meeting._differences import (
    MeetingItem,
    close_meeting,
    differing,
    differs,
    meeting_items,
    meeting_of,
    open_meeting,
    rated_items,
    reconciled_labels,
)
from medjury.panel._meeting._settling import Overtaken, confirm, decide, do_not_agree, propose, read_settled
from medjury.panel._tables import answers_table, decisions_table, proposals_table

ACCURACY = load_instrument("note_quality").dimension("accuracy")
RISK = load_instrument("diagnosis").dimension("risk")


def meet(connection: Connection) -> list[MeetingItem]:
    meeting = open_meeting(connection, only_round(connection), danger=0.25, now=NOON)
    return meeting_items(connection, meeting)


def grade(connection: Connection, item: MeetingItem, value: str, why: str = "We looked again") -> Read:
    """What a form with this grade for every open question settles."""
    round_ = only_round(connection)
    (rated,) = rated_items(connection, round_, only=item.item)
    form = {f"grade.{name}": value for name in item.dimensions} | {f"why.{n}": why for n in item.dimensions}
    return read_settled(form, round_.instrument, item, rated)


def labels(connection: Connection) -> dict[tuple[str, str], Outcome]:
    return {(e.item, e.dimension): e.outcome for e in reconciled_labels(connection, only_round(connection))}


@pytest.mark.parametrize(
    ("rule", "said", "expected"),
    [
        ("any", (Score(3), Score(3)), False),
        ("any", (Score(3), Score(4)), True),
        ("any", (Score(3), Unscored(Reason.CANNOT_JUDGE, "no scan")), True),
        ("any", (NotApplicable("x"), NotApplicable("y")), False),
        ("more_than_one_grade", (Score(3), Score(4), Score(4)), False),
        ("more_than_one_grade", (Score(3), Score(4), Score(5)), True),
        ("more_than_one_grade", (Score(3), NotApplicable()), True),
        ("danger", (Score(3), Score(5)), False),
        ("danger", (Score(2), Score(3)), True),
        ("danger", (Score(1), Score(2)), False),
        ("danger", (Score(2), NotApplicable()), True),
        ("danger", (Score(3), NotApplicable()), False),
    ],
)
def test_the_rules_by_which_raters_differ(rule: str, said: tuple[Outcome, ...], expected: bool) -> None:
    assert differs(ACCURACY, said, rule, 0.25) is expected


def test_the_danger_line_of_a_scale_that_runs_the_other_way() -> None:
    assert differs(RISK, (Score(4), Score(3)), "danger", 0.25)
    assert not differs(RISK, (Score(1), Score(3)), "danger", 0.25)


def test_a_listed_answer_is_settled_whole_with_what_hangs_on_it_by_a_skip_rule() -> None:
    pdsqi9 = load_instrument("pdsqi9")
    skipping = next(each for each in pdsqi9.dimensions if each.skip)
    assert skipping.skip is not None
    one: dict[str, Outcome] = {each.name: Score(each.highest) for each in pdsqi9.dimensions}
    other = one | {skipping.skip.dimension: Score(pdsqi9.dimension(skipping.skip.dimension).lowest)}
    assert differing(pdsqi9, [one, other], "any", 0.25) == [
        each.name
        for each in pdsqi9.dimensions
        if each.name == skipping.skip.dimension
        or (each.skip and each.skip.dimension == skipping.skip.dimension)
    ]


def test_one_is_reconciled_one_adjudicated_and_the_rest_was_agreed(either_place: str, tmp_path: Path) -> None:
    grades = [same("4", "4"), same("4", "4", accuracy=("2", "5")), same("3", "3", accuracy=("1", "4"))]
    panel, (one, two) = closed_panel(tmp_path, grades, either_place)
    with panel.database.writing() as connection:
        first, second = sorted(meet(connection), key=lambda each: each.item)
        propose(connection, first.code, one.id, 0, grade(connection, first, "3"), NOON)
        assert ("marmoset-01", "accuracy") not in labels(connection), "one word is not two"
        settled = confirm(connection, first.code, two.id, 1, NOON)
        assert settled.state == "reconciled"
        assert do_not_agree(connection, second.code, two.id, 0, "The dose", NOON).state == "adjudicator"
        decide(
            connection, second.code, "judge-person", 0, grade(connection, second, "1", "It is 50 mg"), NOON
        )
        found = labels(connection)
    assert {item: outcome for (item, name), outcome in found.items() if name == "accuracy"} == {
        "marmoset-00": Score(4.0, "agreed"),
        "marmoset-01": Score(3.0, "reconciled: We looked again"),
        "marmoset-02": Score(1.0, "adjudicated: It is 50 mg"),
    }
    assert found["marmoset-02", "clarity"] == Score(3.0, "agreed")
    assert len(found) == 9
    with panel.database.reading() as connection:
        answers = connection.execute(select(answers_table.c.outcomes)).scalars().all()
    assert sorted(each["accuracy"]["score"] for each in answers) == [1, 2, 4, 4, 4, 5], "the originals stay"
    for table in (proposals_table, decisions_table):
        for change in (update(table).values(person="x"), delete(table)):
            with pytest.raises(DatabaseError, match="append-only"), panel.database.writing() as connection:
                connection.execute(change)
    panel.database.close()


def test_a_change_asks_everyone_again(tmp_path: Path) -> None:
    panel, (one, two, three) = closed_panel(
        tmp_path, [same("4", "4", "4", accuracy=("2", "5", "5"))], raters=3
    )
    with panel.database.writing() as connection:
        (item,) = meet(connection)
        propose(connection, item.code, one.id, 0, grade(connection, item, "3"), NOON)
        confirm(connection, item.code, two.id, 1, NOON)
        changed = propose(connection, item.code, three.id, 1, grade(connection, item, "4"), NOON)
        assert changed.state == "proposed"
        assert changed.proposal is not None
        assert changed.proposal.confirmed == {three.id}
        with pytest.raises(Overtaken):
            confirm(connection, item.code, two.id, 1, NOON)
        confirm(connection, item.code, two.id, 2, NOON)
        assert confirm(connection, item.code, one.id, 2, NOON).state == "reconciled"
        settled = Score(4.0, "reconciled: We looked again")
        assert labels(connection)["marmoset-00", "accuracy"] == settled


def test_the_second_of_two_who_save_at_once_is_told_and_nothing_is_lost(tmp_path: Path) -> None:
    panel, (one, two) = closed_panel(tmp_path, [same("4", "4", accuracy=("2", "5"))])
    with panel.database.writing() as connection:
        (item,) = meet(connection)
        propose(connection, item.code, one.id, 0, grade(connection, item, "3"), NOON)
        with pytest.raises(Overtaken):
            propose(connection, item.code, two.id, 0, grade(connection, item, "5"), NOON)
        again = propose(connection, item.code, one.id, 0, grade(connection, item, "3"), NOON)
        assert [each.version for each in again.proposals] == [1], "sent twice, saved once"
        with pytest.raises(Overtaken):
            do_not_agree(connection, item.code, two.id, 0, "no", NOON)


def test_a_decision_is_changed_by_a_new_version_only(tmp_path: Path) -> None:
    panel, (one, two) = closed_panel(tmp_path, [same("4", "4", accuracy=("2", "5"))])
    with panel.database.writing() as connection:
        (item,) = meet(connection)
        with pytest.raises(MedjuryError, match="not yours to decide"):
            decide(connection, item.code, "judge", 0, grade(connection, item, "2"), NOON)
        do_not_agree(connection, item.code, one.id, 0, "no", NOON)
        decide(connection, item.code, "judge", 0, grade(connection, item, "2", "first"), NOON)
        with pytest.raises(Overtaken):
            decide(connection, item.code, "judge", 0, grade(connection, item, "5", "second"), NOON)
        later = decide(connection, item.code, "judge", 1, grade(connection, item, "5", "second"), NOON)
        assert [each.said["accuracy"]["why"] for each in later.decisions] == ["first", "second"]
        assert labels(connection)["marmoset-00", "accuracy"] == Score(5.0, "adjudicated: second")
        with pytest.raises(MedjuryError, match="can no longer be changed"):
            propose(connection, item.code, two.id, 1, grade(connection, item, "3"), NOON)


def test_what_is_not_settled_when_the_meeting_ends_is_the_adjudicators(tmp_path: Path) -> None:
    panel, (one, _) = closed_panel(tmp_path, [same("4", "4", accuracy=("2", "5"))])
    with panel.database.writing() as connection:
        (item,) = meet(connection)
        propose(connection, item.code, one.id, 0, grade(connection, item, "3"), NOON)
        close_meeting(connection, item.meeting, NOON)
        (now,) = meeting_items(connection, item.meeting)
        assert now.state == "adjudicator"
        assert ("marmoset-00", "accuracy") not in labels(connection)


def test_nobody_rates_in_a_round_whose_raters_have_met(tmp_path: Path) -> None:
    panel, _ = closed_panel(tmp_path, [same("4", "4")])
    with panel.database.writing() as connection:
        assert meet(connection) == []
        with pytest.raises(MedjuryError, match="cannot become open"):
            set_state(connection, only_round(connection), "open")
        with pytest.raises(MedjuryError, match="must be closed"):
            meet(connection)


def test_a_round_that_is_still_rated_has_no_meeting_and_no_labels(tmp_path: Path) -> None:
    panel, _ = closed_panel(tmp_path, [same("4", "2")], close=False)
    with panel.database.writing() as connection:
        with pytest.raises(MedjuryError, match="must be closed"):
            meet(connection)
        assert labels(connection) == {}
        assert meeting_of(connection, only_round(connection).id) is None


def test_small_differences_lone_raters_and_what_nobody_can_judge_have_no_label(tmp_path: Path) -> None:
    grades = [same("4", "5"), same("4", ""), same("4", "4"), same("cannot", "cannot")]
    panel, _ = closed_panel(tmp_path, grades, panel="panel: {meeting: {differ: more_than_one_grade}}\n")
    with panel.database.writing() as connection:
        assert meet(connection) == []
        assert {item for item, _ in labels(connection)} == {"marmoset-02"}


def test_where_the_study_says_so_differences_go_straight_to_the_adjudicator(tmp_path: Path) -> None:
    study = "panel: {meeting: {by: adjudicator}}\n"
    panel, (one, _) = closed_panel(tmp_path, [same("2", "5")], panel=study)
    with panel.database.writing() as connection:
        (item,) = meet(connection)
        assert item.state == "adjudicator"
        with pytest.raises(LookupError):
            propose(connection, item.code, one.id, 0, grade(connection, item, "3"), NOON)


def test_a_grade_off_the_scale_or_without_a_reason_is_refused(tmp_path: Path) -> None:
    panel, _ = closed_panel(tmp_path, [same("4", "4", accuracy=("2", "5"))])
    with panel.database.writing() as connection:
        (item,) = meet(connection)
        for value, why in (("9", "x"), ("", "x"), ("4", "")):
            read = grade(connection, item, value, why)
            assert [*read.problems] == ["accuracy"]
            assert read.outcomes == {}


def test_of_two_proposals_at_the_same_moment_one_is_saved(either_place: str, tmp_path: Path) -> None:
    panel, people = closed_panel(tmp_path, [same("4", "4", accuracy=("2", "5"))], either_place)
    with panel.database.writing() as connection:
        (item,) = meet(connection)
        reads = [grade(connection, item, value) for value in ("3", "4")]
    together = Barrier(2)

    def enter(place: int) -> str:
        together.wait(timeout=30)
        try:
            with panel.database.writing() as connection:
                propose(connection, item.code, people[place].id, 0, reads[place], NOON)
        except Overtaken:
            return "told"
        return "saved"

    with ThreadPoolExecutor(2) as pool:
        assert sorted(pool.map(enter, range(2))) == ["saved", "told"]
    panel.database.close()


def test_a_stranger_to_the_case_settles_nothing(tmp_path: Path) -> None:
    panel, _ = closed_panel(tmp_path, [same("2", "5")])
    stranger = Person("somebody", "Somebody", "rater")  # type: ignore[arg-type]
    with panel.database.writing() as connection:
        (item,) = meet(connection)
        with pytest.raises(LookupError):
            confirm(connection, item.code, stranger.id, 0, NOON)
