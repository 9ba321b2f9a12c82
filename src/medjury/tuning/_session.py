"""A tuning at work: every question passes the study's gate, and nothing that is written down is asked again."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections import Counter
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from medjury.foundation.errors import MedjuryError
from medjury.instruments import TRANSIENT, Instrument
from medjury.judging import Rater, Sample, Speaker
from medjury.models import Gate, Message, ModelError
from medjury.store.ratings import Rating
from medjury.tuning._labelled_cases import Labelled
from medjury.tuning._lineage import Judged, Lineage

_Value = TypeVar("_Value")


class TuningStoppedError(MedjuryError):
    """The tuning cannot go on now, and goes on where it stopped another time: the budget ends, a model is away."""


@dataclass
class Session:
    """`make` builds the judge for an instrument. `spent` counts by candidate what its judgements are worth in
    money, paid now or before; `loop` is where questions are asked, for those who ask from another thread."""

    make: Callable[[Instrument], Rater]
    gate: Gate
    lineage: Lineage
    writer: Speaker  # the model that writes prompts
    workers: int
    loop: asyncio.AbstractEventLoop
    spent: dict[str, float] = field(default_factory=dict)
    calls: Counter[str] = field(default_factory=Counter)
    unknown_cost: bool = False
    stopped: BaseException | None = None
    _draws: Counter[str] = field(default_factory=Counter)

    def wait_for(self, work: Coroutine[Any, Any, _Value]) -> _Value:
        """Do it on the loop, from the thread of the search. What stops the tuning is kept, since a search may
        swallow it."""
        if self.stopped is not None:
            work.close()
            raise self.stopped
        try:
            return asyncio.run_coroutine_threadsafe(work, self.loop).result()
        except BaseException as error:
            self.stopped = error
            raise

    async def judge(
        self,
        instrument: Instrument,
        candidate: str,
        cases: Sequence[Labelled],
        *,
        repeat: int = 0,
        rater: Rater | None = None,
    ) -> list[Judged]:
        """Judge these cases by this instrument, some at a time; what the lineage has is taken from there."""
        judge = self.make(instrument) if rater is None else rater
        places = asyncio.Semaphore(self.workers)

        async def one(case: Labelled) -> Judged:
            known = self.lineage.judged.get((candidate, case.key, repeat))
            if known is None:
                async with places:
                    known = await self._rate(judge, case, repeat)
                self.lineage.note_judged(candidate, case.key, repeat, known)
            return known

        tasks = [asyncio.create_task(one(case)) for case in cases]
        try:
            found = await asyncio.gather(*tasks)
        except BaseException:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            raise
        for each in found:
            self._count(candidate, each.cost, each.calls)
        return list(found)

    async def _rate(self, judge: Rater, case: Labelled, repeat: int) -> Judged:
        rows: list[Rating] = []
        for unit in judge.units(case.case, repeat):
            try:
                rows += (await judge.rate(unit, self.gate)).ratings
            except ModelError as error:
                raise MedjuryError(f"tuning stopped: {error.message}") from None
        passing = next((row for row in rows if row.reason in TRANSIENT), None)
        if passing is not None and passing.reason is not None:
            raise TuningStoppedError(
                f"{passing.reason.value}: {passing.explanation or 'no answer for now'}; run the same "
                "command again to go on: nothing that was answered is asked again"
            )
        costs = [row.cost for row in rows]
        cost = None if None in costs else sum(each or 0.0 for each in costs)
        return Judged({row.dimension: row.outcome for row in rows}, cost, sum(row.calls or 0 for row in rows))

    async def write(self, messages: Sequence[Message], candidate: str) -> str:
        """Ask for another text. The same question may be asked several times: each answer is drawn anew."""
        prompt = hashlib.sha256(
            json.dumps([[each.role, each.content] for each in messages]).encode("utf-8", "surrogatepass")
        ).hexdigest()[:16]
        draw = self._draws[prompt]
        self._draws[prompt] += 1
        known = self.lineage.proposed.get((prompt, draw))
        if known is None:
            try:
                request = self.writer.request(messages, None, Sample(draw))
                answer = await self.gate.ask(self.writer.model, request, draw)
            except ModelError as error:
                if error.fatal or error.reason not in TRANSIENT:
                    raise MedjuryError(f"tuning stopped: {error.message}") from None
                raise TuningStoppedError(f"{error.message}; run the same command again to go on") from None
            known = answer.reply.text, answer.worth
            self.lineage.note_proposed(prompt, draw, *known)
        reply, cost = known
        self._count(candidate, cost, 1)
        return reply

    def _count(self, candidate: str, cost: float | None, calls: int) -> None:
        self.calls[candidate] += calls
        self.spent[candidate] = self.spent.get(candidate, 0.0) + (cost or 0.0)
        self.unknown_cost |= cost is None and calls > 0
