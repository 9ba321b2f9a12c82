"""Judging from a script or a notebook: cases and a jury in, a table of ratings out."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Collection, Coroutine, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from medjury.instruments import TRANSIENT, Reason
from medjury.intake.cases import Case
from medjury.judging._by_case import ByCase
from medjury.judging._engine import Ledger, Progress, judge_all
from medjury.judging._judge import Judge
from medjury.judging._jury import Jury
from medjury.judging._rater import Rater
from medjury.models import Budget, Gate, MemoryCache, PriceList, ReplyCache
from medjury.store.ratings import Question, Rating, Store, StoreDesk, StoredRecord, open_store, rating_frame

if TYPE_CHECKING:
    import polars

_Result = TypeVar("_Result")
_RUN = "script"


def judge(
    cases: Iterable[Case],
    jury: Jury,
    *,
    store: str | Path | None = None,
    allow_hosts: Sequence[str] = (),
    budget: Budget | None = None,
    prices: PriceList | None = None,
    concurrency: int = 16,
) -> polars.DataFrame:
    """Judge every case and return every vote, the jury's rows and composites, one row per rating.

    With a `store` the answers are kept, and asking again costs nothing; without one they live in memory only
    as long as this call. Nothing leaves this machine unless its host is in `allow_hosts`.
    """
    wanted = list(cases)
    if jury.judges[0].instrument.by_case:
        jury = replace(jury, judges=[_by_case(each) for each in jury.judges])
    settings = {"allow_hosts": allow_hosts, "budget": budget, "prices": prices}
    if store is None:
        memory = _Memory()
        run_async(_judge(wanted, jury, memory, memory, concurrency, **settings))
        return rating_frame(jury.ratings(sorted(memory.ratings, key=lambda row: (row.item, row.system))))
    with open_store(store) as opened:
        run_async(_judge_in_store(wanted, jury, opened, concurrency, **settings))
        asked = {
            unit.key
            for each in jury.judges
            for case in wanted
            for repeat in range(jury.repeats)
            for unit in each.units(case, repeat)
        }
        votes = (row for row in opened.ratings(_RUN) if row.key in asked)
        return rating_frame(jury.ratings(votes))


def _by_case(rater: Rater) -> Rater:
    """A judge that is asked about the criteria of each case."""
    if isinstance(rater, Judge):
        return ByCase(rater.instrument, lambda instrument: replace(rater, instrument=instrument))
    return rater


class _Memory(MemoryCache):
    """A cache and a ledger that end with the call; no clinical text touches a disk."""

    def __init__(self) -> None:
        super().__init__()
        self.ratings: list[Rating] = []

    async def settled(
        self, keys: Collection[str], retry: Collection[Reason], *, run: str | None = None
    ) -> set[str]:
        return set()

    async def write_ratings(
        self,
        run: str,
        ratings: Sequence[Rating],
        records: Sequence[StoredRecord] = (),
        questions: Sequence[Question] = (),
    ) -> None:
        self.ratings.extend(ratings)


async def _judge_in_store(
    cases: Sequence[Case], jury: Jury, store: Store, concurrency: int, **settings: Any
) -> None:
    async with StoreDesk(store, _RUN) as desk:
        await _judge(cases, jury, desk, desk, concurrency, **settings)


async def _judge(
    cases: Sequence[Case], jury: Jury, cache: ReplyCache, ledger: Ledger, concurrency: int, **settings: Any
) -> None:
    models = [model for each in jury.judges for model in each.models]
    gate = Gate(cache=cache, **settings)
    gate.check(models)
    try:
        await judge_all(
            cases,
            jury.judges,
            repeats=jury.repeats,
            gate=gate,
            ledger=ledger,
            run=_RUN,
            retry=TRANSIENT,
            workers={each.name: concurrency for each in jury.judges},
            progress=Progress(planned=len(cases)),
            stop=asyncio.Event(),
        )
    finally:
        for model in models:
            await model.close()


def run_async(work: Coroutine[Any, Any, _Result]) -> _Result:
    """Run to the end from ordinary code, on the faster event loop where it is installed; inside a notebook,
    which has a loop of its own, in a thread."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return _run(work)
    results: list[_Result] = []
    errors: list[BaseException] = []
    started: list[tuple[asyncio.AbstractEventLoop, asyncio.Task[Any]]] = []

    async def cancellable() -> _Result:
        task = asyncio.current_task()
        assert task is not None
        started.append((asyncio.get_running_loop(), task))
        return await work

    def inside() -> None:
        try:
            results.append(_run(cancellable()))
        except BaseException as error:  # handed to the caller below
            errors.append(error)

    thread = threading.Thread(target=inside, name="medjury-judging")
    thread.start()
    try:
        thread.join()
    except KeyboardInterrupt:  # a notebook's stop button must stop the spending too
        for loop, task in started:
            loop.call_soon_threadsafe(task.cancel)
        thread.join()
        raise
    if errors:
        raise errors[0]
    return results[0]


def _run(work: Coroutine[Any, Any, _Result]) -> _Result:
    try:
        import uvloop
    except ImportError:
        return asyncio.run(work)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(work)
