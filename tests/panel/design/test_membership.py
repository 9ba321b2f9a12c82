"""Raters join early and late, and leave: loads stay even, nothing begun is taken away, nothing is lost."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import select, update
from sqlalchemy.engine import Connection
from tests.panel.rounds import NOON, set_up_panel

from medjury.foundation.errors import MedjuryError
from medjury.panel._database import PanelDatabase
from medjury.panel._design._assignments import Work, deal, has_joined, join, leave, members, places
from medjury.panel._design._rounds import Round
from medjury.panel._tables import assignments_table, items_table

PER_CASE = "panel: {rounds: [{name: rating, assign: {per_case: 2}}]}\n"
OVERLAP = "panel: {rounds: [{name: rating, assign: {overlap: 4}}]}\n"
PAIRS = "panel: {rounds: [{name: rating, assign: pairs}]}\n"


def ready(folder: Path, panel: str = "", cases: int = 6) -> tuple[PanelDatabase, Round]:
    database, (only,) = set_up_panel(folder, cases=cases, panel=panel)
    return database, only


def come(connection: Connection, round_: Round, *people: str) -> None:
    for number, person in enumerate(people):
        join(connection, round_, person, NOON + timedelta(seconds=number))


def loads(connection: Connection, round_: Round) -> Counter[str]:
    return Work(connection, round_, NOON).loads()


def begin(connection: Connection, person: str, *, finish: bool = False, number: int = 1) -> list[int]:
    """The person opens (and finishes) some of their cases."""
    table = assignments_table
    query = select(table.c.id).where(table.c.person == person, table.c.withdrawn_at.is_(None)).limit(number)
    found = list(connection.execute(query).scalars())
    values = {"opened_at": "x"} | ({"finished_at": "x"} if finish else {})
    connection.execute(update(table).where(table.c.id.in_(found)).values(**values))
    return found


def test_everyone_who_comes_has_every_case_in_an_order_of_their_own(tmp_path: Path) -> None:
    database, only = ready(tmp_path)
    with database.writing() as connection:
        come(connection, only, "a", "b")
        assert loads(connection, only) == {"a": 12, "b": 12}
        shown = {}
        for person in ("a", "b"):
            codes = [place.code for place in places(connection, only.id, person)]
            table = assignments_table
            by_code = {row.code: row.item for row in connection.execute(select(table))}
            shown[person] = [by_code[code] for code in codes]
        assert sorted(shown["a"]) == sorted(shown["b"])
        assert shown["a"] != shown["b"]


def test_latecomers_take_over_what_nobody_has_begun_until_loads_are_even(
    tmp_path: Path, either_place: str
) -> None:
    database, (only,) = set_up_panel(tmp_path, either_place, cases=6, panel=PER_CASE)
    with database.writing() as connection:
        come(connection, only, "a", "b", "c", "d")
        found = loads(connection, only)
        assert sum(found.values()) == 24
        assert max(found.values()) - min(found.values()) <= 1
        assert {len(holders) for holders in Work(connection, only, NOON).holders_by_item().values()} == {2}
        leave(connection, only, "b", NOON)
        found = loads(connection, only)
        assert set(found) == {"a", "c", "d"} and sum(found.values()) == 24
    database.close()


def test_what_is_begun_is_not_taken_away(tmp_path: Path) -> None:
    database, only = ready(tmp_path, PER_CASE)
    with database.writing() as connection:
        come(connection, only, "a", "b")
        kept = begin(connection, "a", number=10)
        come(connection, only, "c")
        table = assignments_table
        still = connection.execute(
            select(table.c.id).where(table.c.person == "a", table.c.withdrawn_at.is_(None))
        )
        assert set(kept) <= set(still.scalars())
        assert loads(connection, only)["c"] > 0


def test_who_leaves_keeps_what_is_finished_and_the_rest_moves(tmp_path: Path) -> None:
    database, only = ready(tmp_path, PER_CASE)
    with database.writing() as connection:
        deal(connection, only, ["a", "b", "c", "d"], NOON)
        begin(connection, "a", finish=True, number=2)
        assert leave(connection, only, "a", NOON) == 4
        found = loads(connection, only)
        assert found["a"] == 2
        assert sum(found.values()) == 24
        assert {len(holders) for holders in Work(connection, only, NOON).holders_by_item().values()} == {2}
        assert members(connection, only) == ["b", "c", "d"]
        assert has_joined(connection, only, "a") is False


def test_work_that_nobody_can_take_waits_for_who_comes(tmp_path: Path) -> None:
    database, only = ready(tmp_path, PER_CASE)
    with database.writing() as connection:
        deal(connection, only, ["a", "b"], NOON)
        assert leave(connection, only, "a", NOON) == 0
        come(connection, only, "c")
        assert {len(holders) for holders in Work(connection, only, NOON).holders_by_item().values()} == {2}


def test_who_comes_back_finds_the_same_codes(tmp_path: Path) -> None:
    database, only = ready(tmp_path)
    with database.writing() as connection:
        come(connection, only, "a")
        before = places(connection, only.id, "a")
        leave(connection, only, "a", NOON)
        assert places(connection, only.id, "a") == []
        come(connection, only, "a")
        assert [each.code for each in places(connection, only.id, "a")] == [each.code for each in before]


def test_an_overlap_stays_common_to_all_whoever_comes_later(tmp_path: Path) -> None:
    database, only = ready(tmp_path, OVERLAP)
    with database.writing() as connection:
        deal(connection, only, ["a", "b"], NOON)
        come(connection, only, "c")
        sizes = Counter(len(holders) for holders in Work(connection, only, NOON).holders_by_item().values())
        assert sizes == {3: 4, 1: 8}
        found = loads(connection, only)
        assert max(found.values()) - min(found.values()) <= 1


def test_pairs_form_in_the_order_of_joining(tmp_path: Path) -> None:
    database, only = ready(tmp_path, PAIRS)
    with database.writing() as connection:
        come(connection, only, "a")
        assert loads(connection, only) == {}
        join(connection, only, "b", NOON + timedelta(seconds=1))
        join(connection, only, "c", NOON + timedelta(seconds=2))
        assert loads(connection, only) == {"a": 12, "b": 12}
        join(connection, only, "d", NOON + timedelta(seconds=3))
        assert loads(connection, only) == {"a": 6, "b": 6, "c": 6, "d": 6}
        groups = {frozenset(found) for found in Work(connection, only, NOON).holders_by_item().values()}
        assert groups == {frozenset("ab"), frozenset("cd")}


def test_a_round_is_dealt_once(tmp_path: Path) -> None:
    database, only = ready(tmp_path)
    with database.writing() as connection:
        deal(connection, only, ["a"], NOON)
        with pytest.raises(MedjuryError, match="let the others join one by one"):
            deal(connection, only, ["a", "b"], NOON)


def test_the_probability_of_a_draw_is_kept_with_the_assignment(tmp_path: Path) -> None:
    database, only = ready(tmp_path)
    with database.writing() as connection:
        connection.execute(update(items_table).values(probability=0.25, place=items_table.c.id))
        work = Work(connection, only, NOON)
        work.give(work.items[:3], "a")
        kept = connection.execute(select(assignments_table.c.probability)).scalars().all()
    assert kept == [0.25, 0.25, 0.25]
