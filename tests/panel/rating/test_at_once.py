"""Saves that come at the same moment, in SQLite and in PostgreSQL: one version each, and nobody is overwritten."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.panel.rounds import NOON, set_up_panel

from medjury.instruments import Score
from medjury.panel._design._assignments import Work, assignment_of, join, places
from medjury.panel._rating._answers import Entry, add_version, history, latest_answers
from medjury.panel._rating._course import standing


def test_of_two_tabs_that_save_at_once_one_is_told(either_place: str, tmp_path: Path) -> None:
    database, (only,) = set_up_panel(tmp_path, either_place, cases=1, systems=("one",))
    with database.writing() as connection:
        join(connection, only, "somebody", NOON)
        (place_of_case,) = places(connection, only.id, "somebody")
        assignment = assignment_of(connection, place_of_case.code, "somebody")
        assert assignment is not None

    def tab(number: int) -> int | str:
        said = {"accuracy": {"grade": str(number % 5 + 1), "why": ""}}
        entry = Entry(0, said, f"tab {number}", {"accuracy": Score(number % 5 + 1)})
        with database.writing() as connection:
            assert standing(connection, place_of_case.code, "somebody", hold=True) is not None
            return add_version(connection, assignment.id, only, entry, NOON)

    with ThreadPoolExecutor(8) as threads:
        done = list(threads.map(tab, range(8)))
    assert Counter(type(each) for each in done) == {int: 1, str: 7}
    (kept,) = [number for number, each in enumerate(done) if isinstance(each, int)]
    with database.reading() as connection:
        assert [each.comment for each in history(connection, assignment.id)] == [f"tab {kept}"]
        assert [each.outcome for each in latest_answers(connection, only)] == [Score(kept % 5 + 1)]
    database.close()


def test_many_raters_save_at_once_and_all_of_it_is_there(either_place: str, tmp_path: Path) -> None:
    database, (only,) = set_up_panel(tmp_path, either_place, cases=2, systems=("one",))
    people = [f"rater {number}" for number in range(12)]
    with database.writing() as connection:
        for person in people:
            join(connection, only, person, NOON)
        held = list(Work(connection, only, NOON).held.values())

    def rate(number: int) -> int | str:
        with database.writing() as connection:
            entry = Entry(0, {}, held[number].person, {"accuracy": Score(3)})
            return add_version(connection, held[number].assignment, only, entry, NOON)

    with ThreadPoolExecutor(12) as threads:
        assert set(threads.map(rate, range(len(held)))) == {1}
    with database.reading() as connection:
        found = Counter(each.rater for each in latest_answers(connection, only))
        assert all(each.comment == each.rater for each in latest_answers(connection, only))
    assert found == dict.fromkeys(people, 2)
    database.close()
