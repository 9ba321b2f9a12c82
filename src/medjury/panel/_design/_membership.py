"""Raters join a round, early or late, and leave it. Work that nobody has begun moves so that loads stay even."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from sqlalchemy import insert, select, update

from medjury.foundation.errors import MedjuryError
from medjury.panel._design._assigning import balanced, everyone, overlapping, paired
from medjury.panel._design._rounds import Round
from medjury.panel._design._tables import members_table
from medjury.panel._design._work import Held, Work, members

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection


@dataclass(frozen=True)
class Left:
    """What became of the work of somebody who left: how much moved, and what nobody else could take."""

    moved: int
    short: int


def deal(connection: Connection, round_: Round, people: Sequence[str], now: datetime) -> None:
    """Give a round that nobody has begun to all its raters at once: the most even design there is."""
    if members(connection, round_):
        raise MedjuryError(f"raters have joined {round_.name!r} already; let the others join one by one")
    for person in people:
        _join(connection, round_, person, now)
    work = Work(connection, round_, now)
    cases, raters, assign = len(work.items), len(people), round_.settings["assign"]
    if assign["per_case"] is not None:
        design = balanced(cases, raters, assign["per_case"], round_.seed)
    elif assign["overlap"] is not None:
        common = common_items(round_, work.items)
        design = overlapping([item in common for item in work.items], raters, round_.seed)
    elif assign["pairs"]:
        design = paired(cases, raters, round_.seed)
    else:
        design = everyone(cases, raters)
    for place, person in enumerate(people):
        work.give((item for item, chosen in zip(work.items, design, strict=True) if place in chosen), person)


def join(connection: Connection, round_: Round, person: str, now: datetime) -> None:
    """One more rater. A latecomer takes over work that nobody has begun, until the loads are even."""
    _join(connection, round_, person, now)
    work, assign = Work(connection, round_, now), round_.settings["assign"]
    if assign["pairs"]:
        _join_as_pair(work, members(connection, round_))
    elif assign["per_case"] is None and assign["overlap"] is None:
        work.give(work.items, person)
    else:
        per_case, common = assign["per_case"] or 1, common_items(round_, work.items)
        work.give([item for item in work.items if item in common], person)
        rest = [item for item in work.items if item not in common]
        holders = work.holders_by_item()
        work.give([item for item in rest if len(holders[item]) < per_case], person)
        _take_a_share(work, person, set(rest))


def leave(connection: Connection, round_: Round, person: str, now: datetime) -> Left:
    """A rater leaves: finished answers stay, the rest goes to those with the least work."""
    table = members_table
    connection.execute(
        update(table)
        .where(table.c.round == round_.id, table.c.person == person)
        .values(left_at=now.isoformat())
    )
    work, staying = Work(connection, round_, now), members(connection, round_)
    unfinished = [held for held in work.held.values() if held.person == person and not held.finished]
    for held in unfinished:
        work.take(held)
    assign = round_.settings["assign"]
    if assign["per_case"] is None and assign["overlap"] is None and not assign["pairs"]:
        return Left(0, 0)  # the others rate every case as it is
    common = common_items(round_, work.items)
    moved = short = 0
    for held in unfinished:
        if held.item in common:
            continue
        loads = work.loads()
        free = [each for each in staying if (held.item, each) not in work.held]
        if not free:
            short += 1
            continue
        least = min(free, key=lambda each: (loads[each], work.chance.random()))
        work.give([held.item], least)
        moved += 1
    return Left(moved, short)


def common_items(round_: Round, items: Sequence[int]) -> set[int]:
    """The items of a round with an overlap that everyone rates: drawn once, by the seed."""
    overlap = round_.settings["assign"]["overlap"]
    if overlap is None:
        return set()
    number = math.ceil(len(items) * overlap) if overlap < 1 else int(overlap)
    if number > len(items):
        raise MedjuryError(f"the overlap has {number} cases, and the round {len(items)}; take fewer")
    return set(random.Random(f"overlap {round_.seed} {round_.name}").sample(list(items), number))


def has_joined(connection: Connection, round_: Round, person: str) -> bool | None:
    """True: rates in it; False: left it; None: never joined."""
    row = _member(connection, round_, person)
    return None if row is None else row.left_at is None


def _member(connection: Connection, round_: Round, person: str) -> Any:
    table = members_table
    query = select(table).where(table.c.round == round_.id, table.c.person == person)
    return connection.execute(query).first()


def _join(connection: Connection, round_: Round, person: str, now: datetime) -> None:
    row, table = _member(connection, round_, person), members_table
    if row is None:
        connection.execute(insert(table).values(round=round_.id, person=person, joined_at=now.isoformat()))
    elif row.left_at is not None:
        again = {"left_at": None, "joined_at": now.isoformat()}
        connection.execute(
            update(table).where(table.c.round == round_.id, table.c.person == person).values(**again)
        )


def _take_a_share(work: Work, person: str, movable: set[int]) -> None:
    """Take items that nobody has begun from those with the most work, first where the newcomer has met the item's
    other raters least."""
    while True:
        loads, holders = work.loads(), work.holders_by_item()
        met = {each: sum(person in found and each in found for found in holders.values()) for each in loads}
        offered: dict[str, list[Held]] = {}
        for held in work.held.values():
            if held.item in movable and not held.begun and person not in holders[held.item]:
                offered.setdefault(held.person, []).append(held)
        givers = [each for each in offered if loads[each] > loads[person] + 1]
        if not givers:
            return
        giver = max(givers, key=lambda each: (loads[each], work.chance.random()))

        def meetings(held: Held) -> tuple[int, float]:
            others = holders[held.item] - {held.person}  # noqa: B023
            return sum(met[each] for each in others), work.chance.random()  # noqa: B023

        taken = min(offered[giver], key=meetings)
        work.take(taken)
        work.give([taken.item], person)


def _join_as_pair(work: Work, everybody: Sequence[str]) -> None:
    """Pairs in the order of joining. A new pair takes whole items from the pairs with the most work."""
    pairs = [(everybody[place], everybody[place + 1]) for place in range(0, len(everybody) - 1, 2)]
    if not pairs or len(everybody) % 2:
        return
    newest, earlier = pairs[-1], pairs[:-1]
    holders = work.holders_by_item()
    loads = work.loads()
    if any(loads[person] for person in newest):
        return
    for person in newest:
        work.give([item for item in work.items if not holders[item]], person)
    for _ in work.items:
        loads = work.loads()
        whole = {
            pair: [
                i for i in work.items if all((i, p) in work.held and not work.held[i, p].begun for p in pair)
            ]
            for pair in earlier
        }
        givers = [pair for pair in earlier if whole[pair] and loads[pair[0]] > loads[newest[0]] + 1]
        if not givers:
            return
        giver = max(givers, key=lambda pair: loads[pair[0]])
        item = work.chance.choice(whole[giver])
        for person in giver:
            work.take(work.held[item, person])
        for person in newest:
            work.give([item], person)
