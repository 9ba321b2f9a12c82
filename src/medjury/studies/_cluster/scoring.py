"""Text metrics scored by a worker: the same rows and keys as anywhere, in the store that judges write to."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence
from concurrent.futures import ThreadPoolExecutor

from medjury.instruments import Reason
from medjury.intake.cases import Case
from medjury.judging import Progress
from medjury.store.ratings import Rating, StoreDesk
from medjury.studies._metric_raters import MetricRaters
from medjury.studies._stated.manifest import now
from medjury.studies._study import Study
from medjury.texts.metrics import Kept


class Scoring:
    """Scores in a thread of its own, so that the worker answers meanwhile; models stay loaded from one share to the
    next. What a failure is, and what it is called, is said in `MetricRaters`."""

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
