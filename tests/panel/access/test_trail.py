"""The audit trail: whatever was done is in it, and a row that was changed, removed or added is found."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from fastapi import FastAPI
from sqlalchemy import delete, text, update
from tests.panel.rounds import Clock
from tests.panel.visitors import Visitor, sign_in

from medjury.foundation.errors import MedjuryError
from medjury.panel._access._people import Role
from medjury.panel._access._trail import check_trail, trail, trail_entries
from medjury.panel._database import PanelDatabase
from medjury.panel._serve import Panel
from medjury.panel._tables import trail_table


def fill(database: PanelDatabase, rows: int, clock: Clock) -> None:
    with database.writing() as connection:
        for number in range(rows):
            trail(connection, "somebody", "did", f"this {number}", now=clock())


def without_triggers(database: PanelDatabase, *statements: Any) -> None:
    """What somebody could do who has the database's own password."""
    with database.writing() as connection:
        if database.engine.dialect.name == "sqlite":
            for name in ("trail_never_update", "trail_never_delete"):
                connection.execute(text(f"DROP TRIGGER {name}"))
        else:
            connection.execute(text("DROP TRIGGER trail_never_change ON trail"))
        for statement in statements:
            connection.execute(statement)


def test_a_whole_chain_holds(either_database: PanelDatabase, clock: Clock) -> None:
    with either_database.reading() as connection:
        assert check_trail(connection) is None
    fill(either_database, 5, clock)
    with either_database.reading() as connection:
        last = check_trail(connection)
        assert last is not None and last.number == 5
        assert [entry.number for entry in trail_entries(connection, newest=2)] == [5, 4]


@pytest.mark.parametrize(
    ("change", "row"),
    [
        (update(trail_table).where(trail_table.c.number == 3).values(about="that"), 3),
        (update(trail_table).where(trail_table.c.number == 3).values(at="2026-01-01"), 3),
        (delete(trail_table).where(trail_table.c.number == 2), 2),
        (delete(trail_table).where(trail_table.c.number == 1), 1),
        (update(trail_table).where(trail_table.c.number == 5).values(number=9), 5),
    ],
)
def test_a_change_is_found_where_it_was_made(
    either_database: PanelDatabase, clock: Clock, change: Any, row: int
) -> None:
    fill(either_database, 5, clock)
    without_triggers(either_database, change)
    with either_database.reading() as connection, pytest.raises(MedjuryError, match=f"at row {row}:"):
        check_trail(connection)


def test_many_at_once_make_one_chain(either_database: PanelDatabase, clock: Clock) -> None:
    threads = [threading.Thread(target=fill, args=(either_database, 5, clock)) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with either_database.reading() as connection:
        last = check_trail(connection)
    assert last is not None and last.number == 30


def test_a_clock_that_jumps_back_breaks_no_chain(database: PanelDatabase, clock: Clock) -> None:
    fill(database, 2, clock)
    clock.turn(days=-30)
    fill(database, 2, clock)
    with database.reading() as connection:
        assert check_trail(connection) is not None


def test_what_people_do_is_in_it(app: FastAPI, panel: Panel) -> None:
    coordinator, rater = sign_in(app, Role.COORDINATOR, "Ada"), sign_in(app, Role.RATER, "Dr Roe")
    assert rater.person is not None
    Visitor(app).submit("/sign-in", "/sign-in", name="Dr Roe", password="wrong")
    coordinator.submit(f"/people/{rater.person.id}/disable", "/people")
    coordinator.submit(f"/people/{rater.person.id}/enable", "/people")
    coordinator.submit("/account/sign-out-everywhere")
    coordinator.submit("/sign-out")
    with panel.database.reading() as connection:
        done = [entry.what for entry in trail_entries(connection)]
        assert check_trail(connection) is not None
    assert done == ["invited", "joined", "signed in"] * 2 + [
        "sign-in failed", "locked out", "let in again", "signed out everywhere", "signed in", "signed out",
    ]  # fmt: skip


def test_what_fails_half_way_leaves_no_trace(database: PanelDatabase, clock: Clock) -> None:
    with pytest.raises(RuntimeError), database.writing() as connection:
        trail(connection, "somebody", "did nothing", now=clock())
        raise RuntimeError
    with database.reading() as connection:
        assert check_trail(connection) is None


def test_the_coordinator_reads_names_and_sees_a_broken_chain(app: FastAPI, database: PanelDatabase) -> None:
    coordinator = sign_in(app, Role.COORDINATOR, "Ada")
    shown = coordinator.get("/trail").text
    assert "rows is intact" in shown and "<td>Ada as coordinator</td>" in shown
    without_triggers(database, update(trail_table).where(trail_table.c.number == 1).values(what="nothing"))
    assert "is broken at row 1" in coordinator.get("/trail").text
