"""Who has which item: one rater's case as their pages need it, and the work of a round as it is. Raters join a
round, early or late, and leave it; work that nobody has begun moves so that loads stay even."""

from __future__ import annotations

import math
import random
import secrets
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

from sqlalchemy import bindparam, case, insert, select, update

from medjury.foundation.errors import MedjuryError
from medjury.panel._design._form import Passage, passages_from_row
from medjury.panel._design._rounds import Round
from medjury.panel._tables import assignments_table, items_table, made, members_table

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection, Row


@dataclass(frozen=True)
class Assignment:
    """What may be shown to the rater: texts and code. Neither item nor system is here, so that no page can tell."""

    id: int
    round: int
    person: str
    code: str
    shown: tuple[Passage, ...]
    key: Mapping[str, Any] | None
    is_finished: bool
    instrument: Mapping[str, Any] | None  # where the item has one of its own

    @property
    def answer(self) -> Passage | None:
        return next((each for each in self.shown if each.is_answer), None)

    @property
    def sources(self) -> tuple[Passage, ...]:
        return tuple(each for each in self.shown if not each.is_answer)


def assignment_of(connection: Connection, code: str, person: str) -> Assignment | None:
    """The rater's own case of that code; None where there is none, whoever else may have one."""
    a, i = assignments_table, items_table
    query = (
        select(a.c.id, a.c.round, a.c.person, a.c.code, a.c.finished_at, i.c.shown, i.c.key, i.c.instrument)
        .join(i, a.c.item == i.c.id)
        .where(a.c.code == code, a.c.person == person, a.c.withdrawn_at.is_(None))
    )
    row: Any = connection.execute(query).first()
    if row is None:
        return None
    shown = passages_from_row(row.shown)
    return made(Assignment, row, shown=shown, is_finished=row.finished_at is not None)


def places(connection: Connection, round_id: int, person: str) -> Sequence[Row[Any]]:
    """The rater's cases of a round, in the rater's own random order: `code`, `is_finished`, `is_begun`."""
    c = assignments_table.c
    state = c.finished_at.is_not(None).label("is_finished"), c.opened_at.is_not(None).label("is_begun")
    own = c.round == round_id, c.person == person, c.withdrawn_at.is_(None)
    return connection.execute(select(c.code, *state).where(*own).order_by(c.position, c.code)).all()


_T = assignments_table
_HERE = select(_T.c.position).where(_T.c.code == bindparam("after")).scalar_subquery()
_NEXT = (
    select(_T.c.code)
    .where(
        _T.c.round == bindparam("of_round"), _T.c.person == bindparam("rater"), _T.c.withdrawn_at.is_(None)
    )
    .where(_T.c.finished_at.is_(None), _T.c.code != bindparam("after"))
    .order_by(case((_T.c.position > _HERE, 0), else_=1), _T.c.position, _T.c.code)
    .limit(1)
)


def next_code(connection: Connection, round_id: int, person: str, after: str) -> str | None:
    """The next case that is not done: first those that follow, then those that were left behind."""
    return connection.execute(_NEXT, {"of_round": round_id, "rater": person, "after": after}).scalar()


@dataclass(frozen=True)
class Held:
    """One item in one rater's hands."""

    assignment: int
    item: int
    person: str
    begun: bool
    finished: bool


@dataclass
class Work:
    """Every item of a round with those who hold it; kept up as work is given and taken."""

    connection: Connection
    round: Round
    now: datetime
    items: list[int] = field(default_factory=list)
    drawn: dict[int, tuple[float, int]] = field(default_factory=dict)  # probability and place of an item
    held: dict[tuple[int, str], Held] = field(default_factory=dict)
    withdrawn: dict[tuple[int, str], int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        table = assignments_table
        items = items_table.c
        query = select(items.id, items.probability, items.place).where(items.round == self.round.id)
        for row in self.connection.execute(query.order_by(items.id)):
            self.items.append(row.id)
            if row.probability is not None:
                self.drawn[row.id] = (row.probability, row.place)
        self.chance = random.Random(f"{self.round.seed} {self.round.name}")
        for row in self.connection.execute(select(table).where(table.c.round == self.round.id)):
            if row.withdrawn_at is None:
                begun, finished = row.opened_at is not None, row.finished_at is not None
                self._hold(row.id, row.item, row.person, begun, finished)
            else:
                self.withdrawn[row.item, row.person] = row.id

    def _hold(
        self, identity: int, item: int, person: str, begun: bool = False, finished: bool = False
    ) -> None:
        self.held[item, person] = Held(identity, item, person, begun, finished)

    def loads(self) -> Counter[str]:
        return Counter(person for _, person in self.held)

    def holders_by_item(self) -> dict[int, set[str]]:
        found: dict[int, set[str]] = {item: set() for item in self.items}
        for item, person in self.held:
            found[item].add(person)
        return found

    def give(self, items: Iterable[int], person: str) -> None:
        """These items to this person, under codes that tell nothing, in a random order of their own. What was drawn
        for review comes to everybody in the order of the draw, which is random too: so what has been read is a fair
        draw, and read by all its raters, whenever they stop."""
        rows = []
        for item in items:
            if (item, person) in self.held:
                continue
            before = self.withdrawn.pop((item, person), None)
            if before is not None:
                self._change(before, withdrawn_at=None)
                self._hold(before, item, person, begun=True)
                continue
            chance = secrets.randbelow(2**52) / 2**52
            probability, position = self.drawn.get(item, (None, chance))
            rows.append(
                {
                    "round": self.round.id,
                    "item": item,
                    "person": person,
                    "code": secrets.token_urlsafe(12),
                    "position": position,
                    "probability": probability,
                    "assigned_at": self.now.isoformat(),
                }
            )
        if rows:
            self.connection.execute(insert(assignments_table), rows)
            query = select(assignments_table.c.id, assignments_table.c.item).where(
                assignments_table.c.round == self.round.id,
                assignments_table.c.person == person,
                assignments_table.c.withdrawn_at.is_(None),
            )
            for row in self.connection.execute(query):
                if (row.item, person) not in self.held:
                    self._hold(row.id, row.item, person)

    def take(self, held: Held) -> None:
        """Withdraw an item; what was said on it stays in the history."""
        del self.held[held.item, held.person]
        self.withdrawn[held.item, held.person] = held.assignment
        self._change(held.assignment, withdrawn_at=self.now.isoformat())

    def _change(self, assignment: int, **values: object) -> None:
        table = assignments_table
        self.connection.execute(update(table).where(table.c.id == assignment).values(**values))


def members(connection: Connection, round_: Round) -> list[str]:
    """Those who rate in this round, in the order in which they joined."""
    table = members_table
    query = select(table.c.person).where(table.c.round == round_.id, table.c.left_at.is_(None))
    return list(connection.execute(query.order_by(table.c.joined_at, table.c.person)).scalars())


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
