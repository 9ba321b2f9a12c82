"""A run that is to stop begins no further call: what is on its way is kept, all else is left for another run."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import pytest

from medjury.instruments import TRANSIENT, Dimension, Input, Instrument, Reason
from medjury.intake.cases import Case
from medjury.judging import Judge, Progress, judge_all
from medjury.models import (
    AuditLog,
    Budget,
    Gate,
    Limits,
    MemoryCache,
    Message,
    ModelError,
    Reply,
    Request,
    Scripted,
    StoppedError,
    audit_totals,
)
from medjury.models._gate.sending import announce_request
from medjury.store.ratings import Rating

INSTRUMENT = Instrument(
    "small", "1.0", "Small", "Grade it.", (Input("candidate", "Summary"),),
    (Dimension("accuracy", "Accuracy", "Right?", {1: "no", 2: "yes"}),),
)  # fmt: skip
CASES = [Case(f"case-{number}", f"Summary {number}.") for number in range(40)]
PLACES = 3


class Ledger:
    def __init__(self) -> None:
        self.ratings: list[Rating] = []

    async def settled(
        self, keys: Collection[str], retry: Collection[Reason], *, run: str | None = None
    ) -> set[str]:
        return {each.key for each in self.ratings} & set(keys)

    async def write_ratings(self, run: str, ratings: Sequence[Rating], *_: object) -> None:
        self.ratings += ratings


class Slow(Scripted):
    """Answers when it is told to."""

    def __init__(self, first: str = "") -> None:
        super().__init__([], name="juror")
        self.host = "127.0.0.1"
        self.open, self.asked = asyncio.Event(), 0
        self.first = first

    async def ask(self, request: Request) -> Reply:
        self.asked += 1
        await self.open.wait()
        answer = self.first or json.dumps({"accuracy": 2})
        self.first = ""
        return Reply(answer, tokens_in=5, tokens_out=5)


def judging(
    model: Slow,
    ledger: Ledger,
    cache: MemoryCache,
    log: Path,
    stop: asyncio.Event,
    limits: Limits = Limits(concurrency=PLACES),  # noqa: B008 - it is frozen
    **how: Any,
) -> Any:
    gate = Gate(
        cache=cache, audit=AuditLog(log), budget=Budget(calls=1_000), limits={"juror": limits},
        stopped=stop.is_set,
    )  # fmt: skip
    return judge_all(
        CASES, [Judge(model, INSTRUMENT, explain=False, **how)], repeats=1, gate=gate, ledger=ledger, run="first",
        retry=TRANSIENT, workers={"juror": 4 * PLACES}, progress=Progress(), stop=stop,
    )  # fmt: skip


async def until_asked(model: Slow, times: int) -> None:
    for _ in range(500):  # turns of the loop: all that can happen has happened by then
        await asyncio.sleep(0)
    assert model.asked == times


async def test_calls_that_wait_for_a_place_are_not_begun(tmp_path: Path) -> None:
    model, ledger, cache, stop = Slow(), Ledger(), MemoryCache(), asyncio.Event()
    work = asyncio.create_task(judging(model, ledger, cache, tmp_path / "log", stop))
    await until_asked(model, PLACES)
    stop.set()
    model.open.set()
    await asyncio.wait_for(work, 60)
    assert model.asked == PLACES == len(ledger.ratings)
    assert all(each.status == "scored" for each in ledger.ratings)
    totals = audit_totals(tmp_path / "log")
    assert (totals.calls, totals.unended) == (PLACES, 0), "nothing was announced that did not leave"

    again = asyncio.Event()
    await asyncio.wait_for(judging(model, ledger, cache, tmp_path / "log", again), 60)
    assert model.asked == len(CASES) == len({each.item for each in ledger.ratings}) == len(ledger.ratings)


async def test_an_answer_that_cannot_be_used_is_not_handed_back_any_more(tmp_path: Path) -> None:
    """The unit stays open; another run finds the answer and goes on from it."""
    model, ledger, cache, stop = Slow("no JSON"), Ledger(), MemoryCache(), asyncio.Event()
    work = asyncio.create_task(judging(model, ledger, cache, tmp_path / "log", stop))
    await until_asked(model, PLACES)
    stop.set()
    model.open.set()
    await asyncio.wait_for(work, 60)
    assert model.asked == PLACES and len(ledger.ratings) == PLACES - 1

    await asyncio.wait_for(judging(model, ledger, cache, tmp_path / "log", asyncio.Event()), 60)
    assert model.asked == len(CASES) + 1 and len(ledger.ratings) == len(CASES)
    assert all(each.status == "scored" for each in ledger.ratings)


@pytest.mark.parametrize(
    "limits", [Limits(PLACES, requests_per_minute=1), Limits(PLACES, tokens_per_minute=600)]
)
async def test_calls_that_have_a_place_and_wait_for_their_turn_are_not_begun_and_not_waited_for(
    tmp_path: Path, limits: Limits
) -> None:
    model, ledger, cache, stop = Slow(), Ledger(), MemoryCache(), asyncio.Event()
    model.open.set()
    work = asyncio.create_task(judging(model, ledger, cache, tmp_path / "log", stop, limits))
    for _ in range(500):
        await asyncio.sleep(0)
    asked = model.asked
    assert asked < PLACES, "the others wait a minute for their turn"
    stop.set()
    await asyncio.wait_for(work, 20)
    assert model.asked == asked == len(ledger.ratings)
    totals = audit_totals(tmp_path / "log")
    assert (totals.calls, totals.unended) == (asked, 0)

    await asyncio.wait_for(judging(model, ledger, cache, tmp_path / "log", asyncio.Event()), 60)
    assert model.asked == len(CASES) == len(ledger.ratings)


class Failing(Slow):
    """Says that it will be back in ten minutes."""

    async def ask(self, request: Request) -> Reply:
        self.asked += 1
        raise ModelError(Reason.RATE_LIMIT, "too many", retry=True, retry_after=600.0)


async def test_a_call_that_was_refused_is_not_waited_for_and_not_made_again(tmp_path: Path) -> None:
    model, ledger, cache, stop = Failing(), Ledger(), MemoryCache(), asyncio.Event()
    work = asyncio.create_task(judging(model, ledger, cache, tmp_path / "log", stop))
    for _ in range(500):
        await asyncio.sleep(0)
    asked = model.asked
    assert 0 < asked <= PLACES
    stop.set()
    await asyncio.wait_for(work, 20)
    assert model.asked == asked and ledger.ratings == []
    assert audit_totals(tmp_path / "log").unended == 0


class Counting(Slow):
    """Has its endpoint count the tokens of a prompt."""

    def __init__(self) -> None:
        super().__init__()
        self.context_window = 50
        self.counted = 0

    async def count_tokens(self, request: Request) -> int:
        self.counted += 1
        return 10


async def test_no_prompt_is_counted_any_more(tmp_path: Path) -> None:
    model, cache, stop = Counting(), MemoryCache(), asyncio.Event()
    model.open.set()
    stop.set()
    gate = Gate(cache=cache, audit=AuditLog(tmp_path / "log"), budget=Budget(), stopped=stop.is_set)
    request = Request((Message("user", "word " * 500),), max_tokens=5)
    with pytest.raises(StoppedError):
        await gate.ask(model, request)
    assert (model.asked, model.counted) == (0, 0) and not (tmp_path / "log").exists()


class Twice(Slow):
    """Is asked a second time in another dialect."""

    announces = True

    def __init__(self, stop: asyncio.Event) -> None:
        super().__init__()
        self._stop = stop

    async def ask(self, request: Request) -> Reply:
        await announce_request()
        self.asked += 1
        self._stop.set()
        await announce_request()
        self.asked += 1
        return Reply("too late")


async def test_no_other_dialect_is_tried_any_more(tmp_path: Path) -> None:
    stop, budget = asyncio.Event(), Budget(calls=10)
    model, cache = Twice(stop), MemoryCache()
    gate = Gate(cache=cache, audit=AuditLog(tmp_path / "log"), budget=budget, stopped=stop.is_set)
    with pytest.raises(StoppedError):
        await gate.ask(model, Request((Message("user", "word"),)))
    totals = audit_totals(tmp_path / "log")
    assert (model.asked, totals.calls, totals.unended) == (1, 1, 0)
