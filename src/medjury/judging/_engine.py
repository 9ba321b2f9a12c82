"""The engine: streams cases through raters, skips what the store has, stores each result before the next.

Memory is bounded by the queues, not by the number of cases. Whatever ends the run (a signal, a fatal error,
`kill -9`), every rating that was answered is in the store, except those in flight at that moment.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections import Counter, deque
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import NamedTuple, Protocol

from medjury.instruments import TRANSIENT, Reason
from medjury.intake.cases import Case
from medjury.judging._around import Noted
from medjury.judging._breaker import BREAKER, Breaker
from medjury.judging._rater import Rated, Rater, Unit
from medjury.models import Gate, PendingError, StoppedError
from medjury.store.ratings import Question, Rating, StoredRecord

# The line in which units of work wait for a worker; siblings wait until the first of them has filled the cache.
#
# Questions about one record begin alike, and a provider's prompt cache serves that beginning once a question with
# it has been answered. Sent at the same moment, none of them would find it there. So the first goes alone; whatever
# comes of it, the others follow, and meanwhile other records have their turn: no worker waits idle for it.

# A first question that takes longer than this is no longer waited for.
MOST_SECONDS = 60.0
# Providers keep a beginning for about five minutes after its last use.
_KEPT_SECONDS = 240.0
_MOST_KNOWN = 10_000


class Place(NamedTuple):
    """A unit in the line, with the beginnings that its question shares."""

    unit: Unit
    beginnings: Sequence[str]


class Line:
    """Hands out units in their order; with `siblings` none whose beginning another one is filling. At most `most`
    wait."""

    def __init__(self, most: int, *, siblings: bool = False, longest_wait: float = MOST_SECONDS) -> None:
        self._most = most
        self._siblings = siblings
        self._longest_wait = longest_wait
        self._ready: deque[Place] = deque()
        self._held: dict[str, list[Place]] = {}
        self._filling: dict[str, tuple[Unit, asyncio.TimerHandle]] = {}
        self._filled: dict[str, float] = {}  # when, the oldest first
        self._waiting = 0
        self._ended = False
        self._workers: deque[asyncio.Future[None]] = deque()
        self._room: asyncio.Future[None] | None = None

    async def put(self, unit: Unit) -> None:
        """Wait for room, then join the end of the line. Only one may put at a time."""
        while self._waiting >= self._most and not self._ended:
            self._room = asyncio.get_running_loop().create_future()
            await self._room
        beginnings = tuple(unit.rater.shared(unit)) if self._siblings else ()
        self._ready.append(Place(unit, beginnings))
        self._waiting += 1
        self._wake(1)

    async def get(self) -> Unit | None:
        """The next unit that may start; None where none will come any more."""
        while True:
            if (place := self._next()) is not None:
                self._start(place)
                return place.unit
            if self._ended and not self._waiting:
                self._wake(len(self._workers))
                return None
            called = asyncio.get_running_loop().create_future()
            self._workers.append(called)
            try:
                await called
            except asyncio.CancelledError:
                if called.done() and not called.cancelled():
                    self._wake(1)
                raise

    def done(self, unit: Unit) -> None:
        """The unit is over, whatever came of it: those that waited for it may start."""
        for beginning in [each for each, (first, _) in self._filling.items() if first is unit]:
            self._release(beginning)

    def end(self, *, drop: bool = False) -> None:
        """Nothing more will be put; `drop` leaves out what still waits."""
        self._ended = True
        if drop:
            self._ready.clear()
            self._held.clear()
            self._waiting = 0
        if self._room is not None and not self._room.done():
            self._room.set_result(None)
        self._wake(len(self._workers))

    def _next(self) -> Place | None:
        while self._ready:
            place = self._ready.popleft()
            busy = next((each for each in place.beginnings if each in self._filling), None)
            if busy is None:
                return place
            self._held.setdefault(busy, []).append(place)
        return None

    def _start(self, place: Place) -> None:
        self._waiting -= 1
        if self._room is not None and not self._room.done():
            self._room.set_result(None)
        if not place.beginnings:
            return
        loop, now = asyncio.get_running_loop(), time.monotonic()
        for each in place.beginnings:
            if now - self._filled.get(each, -_KEPT_SECONDS) >= _KEPT_SECONDS:
                bound = loop.call_later(self._longest_wait, self._release, each)
                self._filling[each] = place.unit, bound

    def _release(self, beginning: str) -> None:
        _, bound = self._filling.pop(beginning)
        bound.cancel()
        self._filled.pop(beginning, None)
        self._filled[beginning] = time.monotonic()
        if len(self._filled) > _MOST_KNOWN:
            del self._filled[next(iter(self._filled))]
        freed = self._held.pop(beginning, [])
        self._ready.extendleft(reversed(freed))  # while the cache is warm
        self._wake(len(freed))

    def _wake(self, count: int) -> None:
        while count > 0 and self._workers:
            called = self._workers.popleft()
            if not called.done():
                called.set_result(None)
                count -= 1


# Units looked up in the store at once.
_LOOKUP = 256
# How long calls in flight may take to finish after a stop was asked for.
_GRACE_SECONDS = 30.0


class Ledger(Protocol):
    """What the engine needs of the store."""

    async def settled(
        self, keys: Collection[str], retry: Collection[Reason], *, run: str | None = None
    ) -> set[str]:
        """The keys that need no further work; they become part of the run."""

    async def write_ratings(
        self,
        run: str,
        ratings: Sequence[Rating],
        records: Sequence[StoredRecord] = (),
        questions: Sequence[Question] = (),
    ) -> None:
        """Returns when all of it is safely stored."""


@dataclass
class Progress:
    """Counts of units of work, and in `judges` those of each judge; the command line draws its bar from them."""

    planned: int = 0
    found: int = 0  # in the store already
    judged: int = 0  # done by this process
    pending: int = 0  # with a provider, in batch jobs that have not ended
    scored: int = 0  # ratings written by this process, by what became of them
    not_applicable: int = 0
    unscored: Counter[Reason] = field(default_factory=Counter)
    calls: int = 0  # requests sent by this process
    stopping: bool = False  # asked to stop: answers on their way are waited for
    judges: dict[str, Progress] = field(default_factory=dict)
    tokens_in: int = 0  # of the answers paid for, and those that a provider's prompt cache served
    tokens_cached: int = 0

    def find(self, judge: str) -> None:
        """A unit of this judge is in the store already."""
        self.found += 1
        self._of(judge).found += 1

    def note(self, ratings: Sequence[Rating], judge: str) -> None:
        """A unit of this judge is done."""
        for one in (self, self._of(judge)):
            one.judged += 1
            for rating in ratings:
                if rating.status == "scored":
                    one.scored += 1
                elif rating.reason is None:
                    one.not_applicable += 1
                else:
                    one.unscored[rating.reason] += 1

    def _of(self, judge: str) -> Progress:
        known = self.judges.get(judge)
        return self.judges.setdefault(judge, Progress()) if known is None else known


async def judge_all(
    cases: Iterable[Case],
    raters: Sequence[Rater],
    *,
    repeats: int,
    gate: Gate,
    ledger: Ledger,
    run: str,
    retry: Collection[Reason],
    workers: Mapping[str, int],
    progress: Progress,
    stop: asyncio.Event,
    again: bool = False,
    watched_by: Breaker | None = None,
) -> None:
    """Do all the work that is not settled yet. `workers` is the number of units in flight per rater; setting
    `stop` lets those in flight finish and starts no more. `again` asks anew even where an answer is stored that
    could not be used. `watched_by` stops what cannot succeed. The first error ends the run and is raised."""
    BREAKER.set(watched_by)  # for the tasks that are made below
    # Where questions wait for the first of their record, other records must be in sight. In a batch job all of them
    # go together.
    lines = {
        rater.name: Line(workers[rater.name])
        if any(model.batch for model in rater.models)
        else Line(2 * workers[rater.name] * len(rater.groups), siblings=True)
        for rater in raters
    }

    async def work(line: Line) -> None:
        while (unit := await line.get()) is not None and not stop.is_set():
            noted = Noted(gate, unit.key)
            try:
                rated = await unit.rater.rate(unit, noted)
            except PendingError:  # in a batch job; what came of it is fetched by another run
                progress.pending += 1
                continue
            except StoppedError:
                continue
            finally:
                line.done(unit)
            questions = rated.questions or noted.questions
            await ledger.write_ratings(run, rated.ratings, _records(unit, rated), questions)
            progress.note(rated.ratings, unit.rater.name)
            if watched_by is not None:
                watched_by.check()

    async def feed() -> None:
        units = _all_units(cases, raters, repeats)
        while not stop.is_set() and (chunk := list(islice(units, _LOOKUP))):
            keys = [unit.key for unit in chunk]
            settled = await ledger.settled(keys, retry, run=run)
            # Only what was answered and could not be used is asked anew. What a passing failure broke off goes on
            # with the replies that are stored.
            lasting = await ledger.settled(keys, TRANSIENT) if again else set()
            for unit in chunk:
                if unit.key in settled:
                    progress.find(unit.rater.name)
                else:
                    unit = replace(unit, again=True) if unit.key in lasting else unit
                    await lines[unit.rater.name].put(unit)
        for line in lines.values():
            line.end()

    feeder = asyncio.create_task(feed())
    crew = [
        asyncio.create_task(work(lines[rater.name])) for rater in raters for _ in range(workers[rater.name])
    ]
    await _finish(feeder, crew, lines.values(), stop)


async def _finish(
    feeder: asyncio.Task[None],
    crew: Sequence[asyncio.Task[None]],
    lines: Iterable[Line],
    stop: asyncio.Event,
) -> None:
    """Wait for all; after a stop or an error give calls in flight a little time, then cancel them."""
    tasks = [feeder, *crew]
    stopped = asyncio.create_task(_wait(stop))
    try:
        waiting = set(tasks)
        while waiting and not stop.is_set():
            done, _ = await asyncio.wait({*waiting, stopped}, return_when=asyncio.FIRST_COMPLETED)
            waiting -= done
            if any(task.exception() for task in done):
                stop.set()
        if waiting:
            feeder.cancel()
            for line in lines:  # wake the workers that wait for work which will not come
                line.end(drop=True)
            await asyncio.wait(waiting, timeout=_GRACE_SECONDS)
    finally:
        stopped.cancel()
        for task in tasks:
            task.cancel()
        results = await asyncio.gather(*tasks, return_exceptions=True)
    for result in results:
        if isinstance(result, Exception):
            raise result


async def _wait(stop: asyncio.Event) -> None:
    await stop.wait()


def _records(unit: Unit, rated: Rated) -> Sequence[StoredRecord]:
    """The record of a unit as the store keeps it; a single judge has none."""
    if rated.record is None:
        return ()
    first = rated.ratings[0]
    body = json.dumps(rated.record.content(), ensure_ascii=False)
    return (
        StoredRecord(unit.key, first.item, first.system, first.rater, unit.repeat, body, first.created_at),
    )


def _all_units(cases: Iterable[Case], raters: Sequence[Rater], repeats: int) -> Iterator[Unit]:
    for case in cases:
        for repeat in range(repeats):
            for rater in raters:
                yield from rater.units(case, repeat)
