"""Raters join a round, early or late, and leave it. Work that nobody has begun moves so that loads stay even."""

from __future__ import annotations

import math
import random
from collections.abc import Collection, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from sqlalchemy import insert, select, update

from medjury.foundation.errors import MedjuryError
from medjury.panel._design._assignments import Held, Work, members
from medjury.panel._design._rounds import Round
from medjury.panel._tables import members_table

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection


# Who rates which case, as pure functions of counts: the same seed gives the same design.
#
# A design is a list with one tuple of raters (by number) for each case.

Design = list[tuple[int, ...]]
_MOST_TRIES = 20_000


def everyone(cases: int, raters: int) -> Design:
    """Every rater, every case."""
    return [tuple(range(raters))] * cases


def balanced(cases: int, raters: int, per_case: int, seed: int = 0) -> Design:
    """`per_case` raters for each case: loads differ by one at most, and pairs meet as evenly as that allows.

    Each case takes the raters with the least work so far, which keeps loads even, and of these the ones who have
    met one another least. Then raters of two cases are exchanged, which leaves loads as they are, while that makes
    the meetings more even.
    """
    if per_case > raters:
        raise MedjuryError(f"{per_case} raters per case need {per_case} raters; there are {raters}")
    chance = random.Random(seed)
    load, met = [0] * raters, _Meetings(raters)
    design: list[set[int]] = []
    for _ in range(cases):
        chosen = _least_met(load, met, per_case, chance)
        for rater in chosen:
            load[rater] += 1
            met.add(rater, chosen - {rater}, 0.5)
        design.append(chosen)
    if 1 < per_case < raters:
        _exchange(design, met, chance)
    chance.shuffle(design)
    return [tuple(sorted(chosen)) for chosen in design]


class _Meetings:
    """How often each two raters were given the same case."""

    def __init__(self, raters: int) -> None:
        self._counts = [[0.0] * raters for _ in range(raters)]

    def add(self, rater: int, others: Collection[int], times: float = 1) -> None:
        for other in others:
            self._counts[rater][other] += times
            self._counts[other][rater] += times

    def between(self, rater: int, others: Collection[int]) -> float:
        return sum(self._counts[rater][other] for other in others)


def _least_met(load: Sequence[int], met: _Meetings, wanted: int, chance: random.Random) -> set[int]:
    """The `wanted` raters with the least load; where more have the same load, those who met the chosen least."""
    order = sorted(range(len(load)), key=lambda rater: load[rater])
    limit = load[order[wanted - 1]]
    chosen = {rater for rater in order if load[rater] < limit}
    free = [rater for rater in order if load[rater] == limit]
    chance.shuffle(free)
    while len(chosen) < wanted:
        chosen.add(free.pop(min(range(len(free)), key=lambda place: met.between(free[place], chosen))))
    return chosen


def _exchange(design: Sequence[set[int]], met: _Meetings, chance: random.Random) -> None:
    """Exchange raters between cases while that lowers the sum of squared meetings."""
    for _ in range(min(_MOST_TRIES, 200 * len(design))):
        one, other = chance.choice(design), chance.choice(design)
        leaves, comes = chance.choice(sorted(one)), chance.choice(sorted(other))
        if comes in one or leaves in other:
            continue
        with_one, with_other = one - {leaves}, other - {comes}
        for rater, others in ((leaves, with_one), (comes, with_other)):
            met.add(rater, others, -1)
        gain = met.between(leaves, with_one) + met.between(comes, with_other)
        gain -= met.between(leaves, with_other) + met.between(comes, with_one)
        # Of squares: (n + 1)^2 - n^2 is 2n + 1, and the ones are as many on both sides. Half the ties are taken.
        if gain > 0 or (gain == 0 and chance.random() < 0.5):
            one ^= {leaves, comes}
            other ^= {leaves, comes}
            with_one, with_other = with_other, with_one
        for rater, others in ((leaves, with_one), (comes, with_other)):
            met.add(rater, others, 1)


def overlapping(common: Sequence[bool], raters: int, seed: int = 0) -> Design:
    """Everyone rates the cases that are common, and one rater each of the rest."""
    singles = iter(balanced(len(common) - sum(common), raters, 1, seed))
    return [tuple(range(raters)) if each else next(singles) for each in common]


def paired(cases: int, raters: int, seed: int = 0) -> Design:
    """Raters work in fixed pairs, in the order in which they joined; each case goes to one pair. A rater without a
    partner has no case until another joins."""
    if raters < 2:
        return [()] * cases
    pairs = [(first, first + 1) for first in range(0, raters - 1, 2)]
    design: Design = [pairs[case % len(pairs)] for case in range(cases)]
    random.Random(seed).shuffle(design)
    return design


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


def leave(connection: Connection, round_: Round, person: str, now: datetime) -> int:
    """A rater leaves: finished answers stay, the rest goes to those with the least work, as far as they can take
    it. How much moved."""
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
        return 0  # the others rate every case as it is
    common, moved = common_items(round_, work.items), 0
    for held in (each for each in unfinished if each.item not in common):
        loads = work.loads()
        if free := [each for each in staying if (held.item, each) not in work.held]:
            least = min(free, key=lambda each: (loads[each], work.chance.random()))
            work.give([held.item], least)
            moved += 1
    return moved


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
