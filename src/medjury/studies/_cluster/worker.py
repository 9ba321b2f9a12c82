"""One worker: it loads the study where it is, and judges shares of its cases in the same loop as any run, or scores
them with text metrics.

Nothing in this file knows Ray. A worker reports counts, hashes and messages without a text of a case.
"""

from __future__ import annotations

import asyncio
import os
import traceback
from collections.abc import Collection, Hashable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from medjury.foundation.errors import MedjuryError
from medjury.instruments import TRANSIENT, Reason
from medjury.intake.cases import Case
from medjury.judging import Breaker, Progress, UnreachableError, judge_all
from medjury.models import Gate, MemoryCache, ModelError
from medjury.store.ratings import (
    Account,
    Rating,
    StoreDesk,
    StoreStopped,
    open_store,
)
from medjury.studies._cluster.shares import Share, Window, cases_hash
from medjury.studies._plan.manifest import now
from medjury.studies._plan.preflight import MARK, Preflight, load_models
from medjury.studies._run.calls import gate_settings
from medjury.studies._study.metrics import MetricRaters
from medjury.studies._study.study import Study, load_study
from medjury.texts.metrics import Kept
from medjury.version import __version__

_NUMBERS = ("found", "judged", "scored", "not_applicable")


class Tallies:
    """What shares that are done came to, and how far those are that workers are at. A share that dies with its
    worker counts from its start again: what it had stored is then found."""

    def __init__(self, shown: Progress) -> None:
        self._shown = shown
        self._done = Progress()
        self._running: dict[Hashable, Progress] = {}

    def running(self, share: Hashable, counts: Progress) -> None:
        self._running[share] = counts

    def forget(self, share: Hashable) -> None:
        self._running.pop(share, None)

    def done(self, share: Hashable, counts: Progress) -> None:
        self.forget(share)
        _add(self._done, counts)

    def show(self) -> int:
        """Put the sum before the eyes of whoever looks on; how many units that is."""
        whole = Progress()
        for counts in (self._done, *self._running.values()):
            _add(whole, counts)
        for name in (*_NUMBERS, "unscored"):
            setattr(self._shown, name, getattr(whole, name))
        for name, each in whole.judges.items():
            one = self._shown.judges.setdefault(name, Progress())
            one.found, one.judged, one.unscored = each.found, each.judged, each.unscored
        return whole.found + whole.judged


def _add(progress: Progress, more: Progress) -> None:
    for name in _NUMBERS:
        setattr(progress, name, getattr(progress, name) + getattr(more, name))
    progress.unscored.update(more.unscored)
    for name, each in more.judges.items():
        _add(progress.judges.setdefault(name, Progress()), each)


# Text metrics scored by a worker: the same rows and keys as anywhere, in the store that judges write to.


class Scoring:
    """Scores in a thread of its own, so that the worker answers meanwhile; models stay loaded from one share to the
    next. What a failure is, and what it is called, is stated in `MetricRaters`."""

    def __init__(self, study: Study, names: Sequence[str], desk: StoreDesk, run: str) -> None:
        assert study.metrics is not None
        self._raters: MetricRaters = study.metrics
        self._instrument = study.instrument
        self._names, self._desk, self._run = names, desk, run
        self._kept: Kept = {}
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="medjury-metrics")

    async def score(
        self, cases: Sequence[Case], progress: Progress, retry: Collection[Reason], stop: asyncio.Event
    ) -> None:
        """All that is not settled yet. Returns when it is stored."""
        for name in self._names:
            keys = [set(self._raters.keys(case, name, self._instrument).values()) for case in cases]
            if not keys or stop.is_set():
                return
            settled = await self._desk.settled(set().union(*keys), retry, run=self._run)
            for each in keys:
                if each <= settled:
                    progress.find(name)
            waiting = [case for case, each in zip(cases, keys, strict=True) if not each <= settled]
            if not waiting:
                continue
            scored = await asyncio.get_running_loop().run_in_executor(
                self._thread, self._score, name, waiting
            )
            await self._desk.write_ratings(self._run, scored)
            each_has = len(scored) // len(waiting)
            for start in range(0, len(scored), each_has):
                progress.note(scored[start : start + each_has], name)

    def close(self) -> None:
        self._thread.shutdown(wait=False)
        self._kept.clear()

    def _score(self, name: str, cases: Sequence[Case]) -> list[Rating]:
        return list(self._raters.ratings(cases, self._instrument, now(), [name], self._kept))


CHANGED = "the cases changed while they were judged; run again with the file as it is now"


@dataclass(frozen=True)
class Order:
    """What a worker is given. `judges` are those that it asks, `metrics` those that it scores; `place` is its
    number among `workers` like it. With `no_gpu` it may use none, though its machine has some: they are
    another's."""

    file: str
    overrides: tuple[str, ...]
    skip_bad_cases: bool
    run: str
    log: str
    judges: tuple[str, ...]
    place: int
    workers: int
    retry_unscored: bool = False
    keep_going: bool = False
    preflight: bool = True
    ask: bool = True
    metrics: tuple[str, ...] = ()
    no_gpu: bool = False


def signature(study: Study, judges: Collection[str], metrics: Collection[str] = ()) -> dict[str, str]:
    """What must be the same wherever the study is loaded, or keys would not be: of the judges and metrics that a
    worker has to do with, for the weights of others need not be where it is."""
    asked = {judge.name: judge.settings_hash() for judge in study.jury.judges if judge.name in judges}
    scored = {} if study.metrics is None else {name: study.metrics.identities[name] for name in metrics}
    return {"medjury": __version__, "instrument": study.instrument.fingerprint(), **asked, **scored}


class Worker:
    """Every method answers with values that any process can read; what went wrong is reported under `error`,
    `fatal` and the like."""

    def __init__(self, order: Order) -> None:
        self._order = order
        self._running: dict[int, Progress] = {}
        self._study: Study | None = None
        self._scoring: Scoring | None = None

    async def there(self) -> bool:
        """That it has a place, and can be asked."""
        return True

    async def start(self) -> Mapping[str, Any]:
        """Load the study and open its store; what it is known by."""
        try:
            self._open()
        except Exception as error:
            return _told(error)
        assert self._study is not None
        return {"signature": signature(self._study, self._order.judges, self._order.metrics)}

    async def load(self) -> Mapping[str, Any]:
        """Load the models that run in this worker; an error where one cannot be loaded."""
        try:
            await load_models(self._models)
        except Exception as error:
            return _told(error)
        return {}

    def _open(self) -> None:
        order = self._order
        if order.no_gpu:  # read by CUDA and ROCm when they are first used
            os.environ.update(CUDA_VISIBLE_DEVICES="", HIP_VISIBLE_DEVICES="")
        study = load_study(order.file, skip_bad_cases=order.skip_bad_cases, overrides=order.overrides)
        self._study = study
        self._judges = [judge for judge in study.jury.judges if judge.name in order.judges]
        self._models = list({id(model): model for judge in self._judges for model in judge.models}.values())
        self._window = Window(study.cases)
        self._stop = asyncio.Event()
        self._breaker = Breaker(keep_going=order.keep_going)
        self._store = open_store(study.store, reconnect_seconds=study.settings.store_reconnect_seconds)
        self._desk = StoreDesk(self._store, order.run)
        if order.metrics:
            self._scoring = Scoring(study, order.metrics, self._desk, order.run)
        account = Account(self._desk, order.log)
        caps = study.settings.budget
        budget = account.budget(caps.money, caps.calls if order.ask else 0)
        common = gate_settings(study, order.place, order.workers)
        common["pace"] = account.pace
        self._preflight = Preflight(
            lambda budget, audit: Gate(cache=MemoryCache(), budget=budget, audit=audit, **common),
            {model.name: part for model, part in study.models} if order.preflight else {},
            budget,
            study.prices,
            account.log(MARK, claimed=False),
        )
        self._gate = Gate(
            cache=self._desk, budget=budget, audit=account.log(), before=self._preflight,
            stopped=self._stop.is_set, **common,
        )  # fmt: skip
        self._gate.check(self._models)

    async def judge(self, share: Share) -> Mapping[str, Any]:
        """Judge the cases of a share; what is stored already is found. Returns when all of it is stored."""
        progress = self._running[share.number] = Progress()
        found: dict[str, Any] = {}
        try:
            await self._judge(share, progress)
        except UnreachableError as error:
            found = {"unreachable": error.message}
        except ModelError as error:
            found = {"fatal": error.message}
        except Exception as error:
            found = dict(_told(error))
        finally:
            del self._running[share.number]
        return {**found, "counts": progress, **self._used()}

    async def _judge(self, share: Share, progress: Progress) -> None:
        assert self._study is not None
        order = self._order
        cases = self._window.take(share)
        if cases_hash(cases) != share.hash:
            raise ModelError(Reason.INPUT, CHANGED, fatal=True)
        retry = frozenset(Reason) if order.retry_unscored else TRANSIENT
        if self._scoring is not None:
            await self._scoring.score(cases, progress, retry, self._stop)
            return
        jury = self._study.jury
        await judge_all(
            cases,
            self._judges,
            repeats=jury.repeats,
            gate=self._gate,
            ledger=self._desk,
            run=order.run,
            retry=retry,
            workers=self._in_flight(),
            progress=progress,
            stop=self._stop,
            again=order.retry_unscored,
            watched_by=self._breaker,
        )

    def _in_flight(self) -> dict[str, int]:
        """Units at a time for each judge: shared out over the workers, but for models that each of them has."""
        assert self._study is not None
        units, workers = self._study.workers, self._order.workers
        return {
            judge.name: units[judge.name]
            if all(model.host is None for model in judge.models)
            else max(2, -(-units[judge.name] // workers))
            for judge in self._judges
        }

    async def look(self) -> Mapping[str, Any]:
        """How far the shares are that this worker is at."""
        return {"running": dict(self._running), **self._used()}

    async def stop(self) -> None:
        """Ask nothing more; what is on its way is waited for."""
        self._stop.set()

    async def close(self) -> None:
        """Let go of everything that is claimed."""
        if self._study is None:
            return
        await self._desk.close()
        if self._scoring is not None:
            self._scoring.close()
        for model in self._models:
            await model.close()
        self._store.close()

    def _used(self) -> dict[str, Any]:
        gate = self._gate
        known = gate.money is not None and self._preflight.money is not None
        dropped = {model.name: list(model.dropped) for model in self._models if model.dropped}
        return {
            "tokens_in": gate.tokens_in,
            "tokens_cached": gate.tokens_cached,
            "price_known": known,
            "dropped": dropped,
        }


def _told(error: Exception) -> Mapping[str, Any]:
    """A message for the reader; an error of another kind is reported by its name and place, for its words may hold
    what a case says."""
    if isinstance(error, StoreStopped):
        return {"store_stopped": str(error)}
    if isinstance(error, MedjuryError):
        return {"error": str(error)}
    last = traceback.extract_tb(error.__traceback__)[-1]
    return {"error": f"a worker failed ({type(error).__name__} in {last.name}, line {last.lineno})"}
