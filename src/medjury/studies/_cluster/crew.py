"""The workers of a run on a Ray cluster, from the first to the last: started, given shares, looked at, replaced."""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import logging
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, NamedTuple

from medjury.foundation.errors import MedjuryError
from medjury.judging import Progress
from medjury.models import AuditLog, audit_totals
from medjury.store.ratings import Account, LogDrain, Store, StoreStopped
from medjury.store.runs import files
from medjury.studies._cluster.shares import Group, Share, ShareQueue, cut, groups_of, share_size
from medjury.studies._cluster.worker import CHANGED, Order, Tallies, Worker, signature
from medjury.studies._plan.plan import RunPlan
from medjury.studies._run.calls import log_name
from medjury.studies._run.conclude import WorkDone
from medjury.studies._run.how import How, interrupts
from medjury.studies._study.material import HashedCases
from medjury.studies._study.study import Study

_START = "`ray start --head` starts one, and `--address local` one for this run alone"


@contextmanager
def connected(address: str) -> Iterator[Any]:
    """The library, connected to a cluster. Nothing is reported to its makers, and what workers print stays where
    they are; a cluster of this run's own listens on this machine only and has no dashboard."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    try:
        ray = importlib.import_module("ray")
    except ModuleNotFoundError:
        raise MedjuryError("--engine ray needs Ray: pip install 'medjury[ray]'") from None
    settings: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR}
    if address == "local":
        settings |= {"include_dashboard": False, "_node_ip_address": "127.0.0.1"}
    else:
        settings |= {"address": address}
    try:
        ray.init(**settings)
    except (ConnectionError, RuntimeError, ValueError) as error:
        raise MedjuryError(
            f"no Ray cluster can be reached at {address} ({type(error).__name__}); {_START}"
        ) from None
    # What nodes report of dead workers is printed whatever was asked for, amid a command's own output.
    private: Any = importlib.import_module("ray._private.worker")
    if hasattr(private, "print_to_stdstream"):
        private.print_to_stdstream = lambda *_, **__: None
    try:
        yield ray
    finally:
        ray.shutdown()


_LANES = 2  # shares at a time for one worker: while one ends the next has begun
_MOST_DEATHS = 10  # of workers, with nothing done in between
_PATIENCE = 300.0  # seconds in which a first worker must have started
_NO_PLACE = (
    f"no worker could start within {_PATIENCE:.0f} s: `ray status` shows whether the cluster has room for it"
)
_LOOK_SECONDS = 1.0
_CLOSE_SECONDS = 60.0
_PLACE_SECONDS = 30.0  # in which a worker that loads a model has a place, where there is one
_MOST_LOADS = 3  # workers that may die while they load the same model


async def judge_on_cluster(
    study: Study,
    plan: RunPlan,
    store: Store,
    run: str,
    how: How,
    outcome: WorkDone,
    address: str,
    workers: int | None,
) -> None:
    """Judge all that is not settled yet, and bring the log of it into the run folder."""
    file = study.output / files.AUDIT_LOG
    log = log_name(file)
    drain = LogDrain(store, log, AuditLog(file))
    drain.finish()  # what workers of a run that was stopped have left
    before = audit_totals(file)
    Account.begin(store, log, before)
    planned = dict(plan.units)
    if study.metrics is not None:
        outcome.scored_elsewhere = study.metrics.for_workers
        planned |= dict.fromkeys(study.metrics.for_workers, plan.cases)
    judges = {name: Progress(planned=units) for name, units in planned.items()}
    outcome.progress = progress = Progress(planned=sum(planned.values()), judges=judges)
    stop = asyncio.Event()
    with connected(address) as ray:
        groups = groups_of(study, workers, ray.cluster_resources())
        order = Order(
            str(study.file.resolve()), study.overrides, study.skip_bad_cases, run, log,
            (), 0, 1, how.retry_unscored, how.keep_going, how.preflight, how.ask,
        )  # fmt: skip
        crew = Crew(ray, study, plan, order, groups, outcome, stop)

        def look() -> tuple[int, float]:
            drain.pull()
            calls, money = Account.spent(store, log)
            return calls - before.calls, money - before.money

        watching = asyncio.create_task(_watch(how, crew, progress, look, study.prices.currency))
        try:
            with interrupts(stop, outcome, progress, how.stopper):
                await crew.work()
        finally:
            watching.cancel()
            await asyncio.gather(watching, return_exceptions=True)
            drain.finish()
            after = audit_totals(file)
            outcome.calls, outcome.preflights = after.calls - before.calls, drain.preflights
            outcome.money = after.money - before.money if crew.price_known else None
            outcome.tokens_in, outcome.tokens_cached = crew.tokens
            outcome.dropped = crew.dropped


async def _watch(how: How, crew: Crew, progress: Progress, look: Any, currency: str) -> None:
    while True:
        await asyncio.sleep(_LOOK_SECONDS)
        await crew.look()
        progress.calls, money = await asyncio.to_thread(look)
        progress.tokens_in, progress.tokens_cached = crew.tokens
        if how.watch is not None:
            how.watch(progress, money if crew.price_known else None, currency)


class Seat(NamedTuple):
    """One of the workers of a group, whoever fills it."""

    group: Group
    place: int


class Crew:
    """Keeps every seat filled until nothing is left to do."""

    def __init__(
        self,
        ray: Any,
        study: Study,
        plan: RunPlan,
        order: Order,
        groups: Sequence[Group],
        outcome: WorkDone,
        stop: asyncio.Event,
    ) -> None:
        self._ray = ray
        self._study = study
        self._order = order
        self._outcome = outcome
        self._stop = stop
        self._plan = plan
        self._queues = {group: ShareQueue(self._cut(group), stop) for group in groups}
        self._tallies = Tallies(outcome.progress)
        self._actors: dict[Seat, Any] = {}  # those that are ready
        self._used: dict[str, dict[str, Any]] = {}  # by worker, what it last reported to have used
        self._done = self._deaths = 0
        self._expected = {group: signature(study, group.judges, group.metrics) for group in groups}
        self._proven: dict[Seat, Any] = {}  # workers that have loaded a model, and have nothing to do yet
        self._worker = ray.remote(Worker)
        self._ready = asyncio.Event()  # a first worker has started
        self._seats: dict[Seat, asyncio.Task[None]] = {}
        self.dropped: dict[str, list[str]] = {}

    @property
    def tokens(self) -> tuple[int, int]:
        given = list(self._used.values())
        return sum(each["tokens_in"] for each in given), sum(each["tokens_cached"] for each in given)

    @property
    def price_known(self) -> bool:
        return all(each["price_known"] for each in self._used.values())

    def _cut(self, group: Group) -> Iterator[Share]:
        cases = HashedCases(self._study.cases)
        yield from cut(cases, share_size(self._plan.cases, group.workers))
        if cases.hash != self._plan.data_hash:
            self._heed({"fatal": CHANGED})

    async def work(self) -> None:
        """Until every share is done, or a stop is asked for, or nothing more can succeed."""
        stopping, begun = asyncio.create_task(self._stopping()), asyncio.create_task(self._begun())
        proving = asyncio.create_task(self._prove())
        others = [stopping, begun, proving]
        try:
            waiting = {stopping, begun, proving}
            while not proving.done() and not stopping.done():
                done, waiting = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
                for each in done:
                    each.result()
            if stopping.done():
                return
            seats = [Seat(group, place) for group in self._queues for place in range(group.workers)]
            self._seats = {seat: asyncio.create_task(self._fill(seat)) for seat in seats}
            others.append(finished := asyncio.create_task(self._finished()))
            waiting = {*self._seats.values(), finished, begun}
            while not finished.done() and not waiting <= {finished, begun}:
                done, waiting = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
                for each in done:
                    if not each.cancelled():
                        each.result()
        finally:
            for task in (*self._seats.values(), *others):
                task.cancel()
            await asyncio.gather(*self._seats.values(), *others, return_exceptions=True)
            await self._close()
            self._tallies.show()

    async def look(self) -> None:
        """Ask each worker how far it is; one that does not answer is replaced by its seat."""
        for seat, actor in list(self._actors.items()):
            with contextlib.suppress(self._ray.exceptions.RayError, asyncio.TimeoutError):
                given = await asyncio.wait_for(_asked(actor.look.remote()), 10 * _LOOK_SECONDS)
                for number, counts in given["running"].items():
                    if self._actors.get(seat) is actor:
                        self._tallies.running((seat, number), counts)
                self._use(actor, given)
        done = self._tallies.show()
        if done > self._done:
            self._done, self._deaths = done, 0

    async def _fill(self, seat: Seat) -> None:
        """One worker after another, for as long as there is work."""
        while not self._stop.is_set():
            proven = self._proven.pop(seat, None)
            actor = proven or self._hired(seat)
            try:
                if proven is None:
                    await self._started(seat, actor)
                self._actors[seat] = actor
                await self._serve(seat, actor)
                await self._put_away(seat, actor)
                return
            except self._ray.exceptions.RayTaskError as error:
                raise MedjuryError(f"a worker failed ({type(error.cause).__name__})") from None
            except self._ray.exceptions.RayError as error:
                self._died(type(error).__name__)
                self._actors.pop(seat, None)
                await asyncio.sleep(0.1 * self._deaths)
            finally:
                if seat not in self._actors:
                    self._kill(actor)

    def _hired(self, seat: Seat) -> Any:
        group = seat.group
        order = replace(
            self._order, judges=group.judges, metrics=group.metrics, place=seat.place, workers=group.workers,
            no_gpu=not group.gpus,
        )  # fmt: skip
        return self._worker.options(**group.options()).remote(order)

    async def _started(self, seat: Seat, actor: Any) -> None:
        """It has a place, reads the study as we do, and has loaded the models that run in it."""
        await _asked(actor.there.remote())
        self._ready.set()
        self._check(seat.group, await _asked(actor.start.remote()))
        if seat.group.loads and self._order.ask:
            self._heed(await _asked(actor.load.remote()))

    async def _prove(self) -> None:
        """Before anybody is asked anything, one worker of each group loads the models that run in it: one that
        cannot be loaded ends the run while nothing is paid for. Those workers then do the work; but where the
        cluster has no place for all of them at once, the first give way."""
        for group in self._queues:
            if group.loads and self._order.ask:
                seat = Seat(group, 0)
                for again in reversed(range(_MOST_LOADS)):
                    if await self._proves(seat, again):
                        break

    async def _proves(self, seat: Seat, again: int) -> bool:
        """Whether a worker could load; False where it died, and it may be tried `again`."""
        actor = self._hired(seat)
        try:
            there = asyncio.ensure_future(_asked(actor.there.remote()))
            waited = 0.0
            while not (await asyncio.wait({there}, timeout=_PLACE_SECONDS))[0]:
                waited = 0.0 if self._proven else waited + _PLACE_SECONDS
                if self._proven:
                    self._kill(self._proven.pop(next(iter(self._proven))))
                elif waited >= _PATIENCE:
                    raise MedjuryError(f"{seat.group.names}: {_NO_PLACE}")
            await self._started(seat, actor)
        except self._ray.exceptions.RayTaskError as error:
            self._kill(actor)
            raise MedjuryError(f"a worker failed ({type(error.cause).__name__})") from None
        except self._ray.exceptions.RayError as error:
            if not again:
                raise MedjuryError(
                    f"{seat.group.names}: {_MOST_LOADS} workers died while they loaded its model "
                    f"({type(error).__name__}). Is there enough memory? Nothing was asked"
                ) from None
            return False
        except BaseException:
            self._kill(actor)
            raise
        self._proven[seat] = actor
        return True

    async def _put_away(self, seat: Seat, actor: Any) -> None:
        """Its group has nothing left to do: another group may be waiting for its place."""
        await asyncio.wait_for(_asked(actor.close.remote()), _CLOSE_SECONDS)
        self._actors.pop(seat, None)

    def _died(self, how: str) -> None:
        self._deaths += 1
        if self._deaths > _MOST_DEATHS:
            raise MedjuryError(
                f"{self._deaths} workers died one after another, and nothing was done in between ({how}). Is there "
                "enough memory? The logs of Ray say more"
            )

    async def _serve(self, seat: Seat, actor: Any) -> None:
        lanes = [asyncio.create_task(self._lane(seat, actor)) for _ in range(_LANES)]
        try:
            await asyncio.gather(*lanes)
        finally:
            for lane in lanes:
                lane.cancel()
            await asyncio.gather(*lanes, return_exceptions=True)

    async def _lane(self, seat: Seat, actor: Any) -> None:
        queue = self._queues[seat.group]
        while (share := await queue.next()) is not None:
            try:
                given = await _asked(actor.judge.remote(share))
            except BaseException:
                self._tallies.forget((seat, share.number))
                queue.give_back(share)
                raise
            self._tallies.done((seat, share.number), given["counts"])
            self._use(actor, given)
            queue.done()
            self._heed(given)

    def _heed(self, given: dict[str, Any]) -> None:
        if "store_stopped" in given:
            raise StoreStopped(given["store_stopped"])
        if "error" in given:
            raise MedjuryError(given["error"])
        self._outcome.fatal = self._outcome.fatal or given.get("fatal", "")
        self._outcome.unreachable = self._outcome.unreachable or given.get("unreachable", "")
        if self._outcome.fatal or self._outcome.unreachable:
            self._stop.set()

    def _check(self, group: Group, given: dict[str, Any]) -> None:
        self._heed(given)
        theirs = given["signature"]
        for name, hash in self._expected[group].items():
            if theirs.get(name) != hash:
                raise MedjuryError(
                    f"a worker reads {name!r} of this study differently from this machine. The study file, its "
                    "instrument and its run folder must be the same on every machine, and so must medjury itself"
                )

    def _use(self, actor: Any, given: dict[str, Any]) -> None:
        self._used[actor._actor_id.hex()] = given
        for name, words in given["dropped"].items():
            self.dropped[name] = list(words)

    async def _finished(self) -> None:
        for queue in self._queues.values():
            await queue.finished.wait()

    async def _stopping(self) -> None:
        """Pass a stop on to every worker, and wait for none that has not started."""
        await self._stop.wait()
        for queue in self._queues.values():
            queue.wake()
        for seat, filling in self._seats.items():
            if seat in self._actors:
                self._actors[seat].stop.remote()
            else:
                filling.cancel()

    async def _begun(self) -> None:
        try:
            await asyncio.wait_for(self._ready.wait(), _PATIENCE)
        except TimeoutError:
            raise MedjuryError(_NO_PLACE) from None

    async def _close(self) -> None:
        """Let workers put away what they hold, then end them."""
        closing = [asyncio.ensure_future(_asked(actor.close.remote())) for actor in self._actors.values()]
        if closing:
            await asyncio.wait(closing, timeout=_CLOSE_SECONDS)
        for task in closing:
            task.cancel()
        await asyncio.gather(*closing, return_exceptions=True)
        for actor in (*self._actors.values(), *self._proven.values()):
            self._kill(actor)

    def _kill(self, actor: Any) -> None:
        with contextlib.suppress(Exception):
            self._ray.kill(actor)


async def _asked(reference: Any) -> Any:
    return await reference
