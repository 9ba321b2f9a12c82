"""The line: units come in their order, and siblings wait for the first of them, but never for ever."""

from __future__ import annotations

import asyncio

from medjury.instruments import Dimension, Input, Instrument
from medjury.intake.cases import Case, Note
from medjury.judging import Judge
from medjury.judging._engine import Line
from medjury.judging._rater import Unit
from medjury.models import Scripted

SCALE = {1: "bad", 2: "good"}
INSTRUMENT = Instrument(
    "small", "1.0", "Small", "Grade it.", (Input("candidate", "Summary"), Input("notes", "Notes")),
    tuple(Dimension(name, name.title(), "Is it?", SCALE) for name in ("right", "clear", "short")),
)  # fmt: skip


def units(*, records: int = 1, systems: int = 1, per_dimension: bool = True) -> list[Unit]:
    judge = Judge(Scripted(["{}"]), INSTRUMENT, per_dimension=per_dimension)
    return [
        unit
        for record in range(records)
        for system in range(systems)
        for unit in judge.units(
            Case(f"{record}", f"Answer {system}.", notes=(Note("N1", f"Record {record}."),), system=f"s{system}"), 0
        )
    ]  # fmt: skip


def name(unit: Unit | None) -> str:
    return "none" if unit is None else f"{unit.case.id}{unit.case.system}/{unit.dimensions[0]}"


async def lined_up(some: list[Unit], **how: float) -> Line:
    line = Line(100, siblings=True, **how)
    for unit in some:
        await line.put(unit)
    return line


async def ready(line: Line) -> list[Unit]:
    """All that may start at this moment."""
    found: list[Unit] = []
    while True:
        try:
            unit = await asyncio.wait_for(line.get(), 0.01)
        except TimeoutError:
            return found
        if unit is None:
            return found
        found.append(unit)


async def test_the_first_of_a_record_goes_alone_and_other_records_do_not_wait() -> None:
    line = await lined_up(units(records=2, systems=2))
    first = await ready(line)
    assert [name(unit) for unit in first] == ["0s0/right", "1s0/right"]
    line.done(first[0])
    assert [name(unit) for unit in await ready(line)] == ["0s0/clear", "0s0/short", "0s1/right"]
    line.done(first[1])
    assert [name(unit) for unit in await ready(line)] == ["1s0/clear", "1s0/short", "1s1/right"]


async def test_the_first_of_a_second_answer_is_waited_for_too_and_nothing_is_lost() -> None:
    line = await lined_up(units(systems=3))
    line.end()
    seen = []
    while (unit := await asyncio.wait_for(line.get(), 1)) is not None:
        seen.append(name(unit))
        line.done(unit)
    assert sorted(seen) == sorted(name(unit) for unit in units(systems=3)) and len(set(seen)) == 9


async def test_a_first_question_that_never_ends_is_waited_for_no_longer_than_stated() -> None:
    line = await lined_up(units(), longest_wait=0.05)
    assert len(await ready(line)) == 1
    await asyncio.sleep(0.06)
    assert [name(unit) for unit in await ready(line)] == ["0s0/clear", "0s0/short"]


async def test_workers_that_wait_while_the_line_ends_are_sent_home() -> None:
    line = await lined_up(units())
    first = await line.get()
    assert first is not None
    waiting = [asyncio.create_task(line.get()) for _ in range(4)]
    await asyncio.sleep(0)
    line.end()
    line.done(first)
    given = await asyncio.wait_for(asyncio.gather(*waiting), 1)
    assert sorted(map(name, given)) == ["0s0/clear", "0s0/short", "none", "none"]


async def test_what_is_dropped_is_handed_to_nobody() -> None:
    line = await lined_up(units())
    assert await line.get() is not None
    line.end(drop=True)
    assert await line.get() is None


async def test_a_full_line_lets_nobody_join_until_one_leaves() -> None:
    line = Line(2)
    some = units(per_dimension=False, records=3)
    await line.put(some[0])
    await line.put(some[1])
    joining = asyncio.create_task(line.put(some[2]))
    await asyncio.sleep(0)
    assert not joining.done()
    assert name(await line.get()) == "0s0/right"
    await asyncio.wait_for(joining, 1)


async def test_questions_that_share_nothing_never_wait() -> None:
    line = await lined_up(units(per_dimension=False, records=3, systems=2))
    assert len(await ready(line)) == 6


async def test_a_cancelled_worker_hands_its_call_to_the_next() -> None:
    line = Line(10)
    one, two = (asyncio.create_task(line.get()) for _ in range(2))
    await asyncio.sleep(0)
    [unit, *_] = units(per_dimension=False)
    await line.put(unit)
    one.cancel()
    assert await asyncio.wait_for(two, 1) is unit
