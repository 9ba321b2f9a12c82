"""Time at a case, by the server's clock: idle time does not count, and no clock makes it negative."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some
from sqlalchemy.engine import Connection
from tests.panel.rounds import NOON, Clock, set_up_panel

from medjury.panel._database import PanelDatabase
from medjury.panel._design._assignments import Work
from medjury.panel._rating._answers import _row, looked, note_opened, note_saved, note_sign_of_life

IDLE = 180.0


@pytest.fixture
def database(tmp_path: Path) -> Iterator[PanelDatabase]:
    database, (only,) = set_up_panel(tmp_path, cases=1, systems=("one",))
    with database.writing() as connection:
        work = Work(connection, only, NOON)
        work.give(work.items, "somebody")
    yield database
    database.close()


def look(connection: Connection, clock: Clock) -> tuple[float, bool]:
    found = looked(_row(connection, 1), clock(), IDLE)
    assert found is not None
    return found


def test_signs_of_life_are_counted_and_silence_is_not(database: PanelDatabase) -> None:
    clock = Clock()
    with database.writing() as connection:
        note_opened(connection, 1, clock())
        for seconds in (10, 10, 600, 10):  # ten minutes away from the page
            clock.turn(seconds)
            note_sign_of_life(connection, 1, clock())
        clock.turn(5)
        assert look(connection, clock) == (35.0, True)


def test_without_scripts_the_time_is_capped_and_marked_as_not_measured(database: PanelDatabase) -> None:
    clock = Clock()
    with database.writing() as connection:
        note_opened(connection, 1, clock())
        clock.turn(60)
        assert look(connection, clock) == (60.0, False)
        clock.turn(3600)
        assert look(connection, clock) == (IDLE, False)


def test_coming_back_adds_to_the_time(database: PanelDatabase) -> None:
    clock = Clock()
    with database.writing() as connection:
        note_opened(connection, 1, clock())
        clock.turn(30)
        note_saved(connection, 1, clock(), look(connection, clock)[0])
        clock.turn(86_400)
        note_opened(connection, 1, clock())
        clock.turn(20)
        assert look(connection, clock) == (50.0, False)


def test_a_case_that_was_never_opened_has_no_time(database: PanelDatabase) -> None:
    with database.writing() as connection:
        assert looked(_row(connection, 1), NOON, IDLE) is None


def test_two_tabs_of_one_case_do_not_count_twice(database: PanelDatabase) -> None:
    clock = Clock()
    with database.writing() as connection:
        note_opened(connection, 1, clock())
        for _ in range(20):  # each tab every ten seconds, five seconds apart
            clock.turn(5)
            note_sign_of_life(connection, 1, clock())
        assert look(connection, clock)[0] == 100.0


@settings(max_examples=25)
@given(
    some.lists(some.tuples(some.sampled_from(["open", "here", "save"]), some.floats(-1e6, 1e6)), max_size=30)
)
def test_a_clock_that_jumps_gives_no_negative_and_no_huge_time(steps: list[tuple[str, float]]) -> None:
    import tempfile

    clock, passed = Clock(), 0.0
    with tempfile.TemporaryDirectory() as folder:
        database, (only,) = set_up_panel(Path(folder), cases=1, systems=("one",))
        with database.writing() as connection:
            work = Work(connection, only, NOON)
            work.give(work.items, "somebody")
            note_opened(connection, 1, clock())
            for kind, seconds in steps:
                clock.turn(seconds)
                passed += min(max(seconds, 0.0), IDLE)
                if kind == "open":
                    note_opened(connection, 1, clock())
                elif kind == "here":
                    note_sign_of_life(connection, 1, clock())
                else:
                    note_saved(connection, 1, clock(), look(connection, clock)[0])
                assert 0 <= look(connection, clock)[0] <= passed + 1e-6
        database.close()
