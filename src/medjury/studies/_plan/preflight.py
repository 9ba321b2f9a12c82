"""Before the first case: models of this process are loaded and timed, each other one is asked a short question."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from medjury.instruments import TRANSIENT, Reason
from medjury.judging import HopelessError, UnreachableError, Used
from medjury.models import Budget, ChatModel, Gate, Message, ModelError, PriceList, Request, RequestLog
from medjury.studies._file.models import ModelPart
from medjury.studies._plan.plan import SECONDS_PER_CALL, JudgePlan, RunPlan, priced
from medjury.studies._study.study import Study

_QUESTION = (
    Message("system", "You are asked one short question, to find out whether you can be reached."),
    Message("user", 'Is seven a number? Answer with the JSON object {"answer": "yes"} or {"answer": "no"}.'),
)
_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {"answer": {"type": "string", "enum": ["yes", "no"]}},
    "required": ["answer"],
    "additionalProperties": False,
}
TOKENS_IN, TOKENS_OUT = 60, 8  # for a plan
MOST_TOKENS_IN = 2_000  # more than the question has, by any way of counting
# What says nothing of host, key and name: the run itself finds out, and tells.
_LET_PASS = frozenset({Reason.RATE_LIMIT, Reason.OVER_BUDGET, Reason.REFUSAL, Reason.CONTEXT})

MakeGate = Callable[[Budget, RequestLog], Gate]
# What marks its lines in a log.
MARK: Mapping[str, Any] = {"preflight": True}


def needs_preflight(model: ChatModel) -> bool:
    """A model inside this process cannot be unavailable."""
    return model.host is not None


class Preflight:
    """Asks each model once, when the first answer that is not stored is wanted of it: a run that finds all of them
    in its store asks nobody. `make_gate` makes the gate through which the question goes, without the run's store:
    an answer of yesterday would say nothing of today."""

    def __init__(
        self,
        make_gate: MakeGate,
        parts: Mapping[str, ModelPart],
        budget: Budget,
        prices: PriceList,
        log: RequestLog,
    ) -> None:
        self.calls = 0
        self.money: float | None = 0.0
        self._make_gate, self._parts, self._budget, self._prices = make_gate, parts, budget, prices
        self._log = log
        self._asked: dict[str, asyncio.Task[None]] = {}

    async def __call__(self, model: ChatModel) -> None:
        """Returns once the model has answered; raises where no further question can succeed."""
        if not needs_preflight(model) or model.name not in self._parts:
            return
        if model.name not in self._asked:
            self._asked[model.name] = asyncio.create_task(self._ask(model))
        await asyncio.shield(self._asked[model.name])

    async def _ask(self, model: ChatModel) -> None:
        part = self._parts[model.name]
        request = Request(_QUESTION, _SCHEMA, part.max_tokens, part.temperature, part.seed)
        worst = self._prices.estimate(model, MOST_TOKENS_IN, part.max_tokens) or 0.0
        if not self._budget.has_room(worst, calls=2):
            return  # the last call is for a case; where there is not even that one, the case will say so
        reservation = await self._budget.reserve(worst)
        gate = self._make_gate(Budget(), self._log)
        cost, answered = 0.0, False
        try:
            answer = await gate.ask(model, request)
            cost, answered = answer.cost or 0.0, True
            self.money = None if answer.cost is None or self.money is None else self.money + answer.cost
        except ModelError as error:
            if error.fatal or error.reason in _LET_PASS:
                if error.fatal:
                    raise
                return
            text = f"{model.name}: {error.message.rstrip('.')}. No case was sent to it"
            if error.retry and error.reason in TRANSIENT:
                raise UnreachableError(error.reason, text) from None
            raise HopelessError(error.reason, text) from None
        finally:  # only what was answered counts: a server that is unavailable must not use up the budget
            self._budget.settle(reservation, cost=cost, sent=answered)
            self.calls += gate.calls


async def load_models(models: Iterable[ChatModel]) -> None:
    """One after another; `MedjuryError` where one cannot be."""
    for model in models:
        await model.load()


class LoadedFirst:
    """Is awaited ahead of every call that is really made: the first loads all `models`. A run that finds every
    answer in its store loads none."""

    def __init__(self, models: Iterable[ChatModel], then: Callable[[ChatModel], Awaitable[None]]) -> None:
        self._models = tuple(models)
        self._then = then
        self._loading: asyncio.Task[None] | None = None

    async def __call__(self, model: ChatModel) -> None:
        if self._loading is None:
            self._loading = asyncio.create_task(load_models(self._models))
        await asyncio.shield(self._loading)
        await self._then(model)


# Neutral words, no clinical text; a token has about four characters.
_FILLER, _PER_TOKEN = "The weather was fair and the road was long. ", 4
_MOST_TOKENS = 20_000


async def timed_plan(study: Study, plan: RunPlan) -> RunPlan:
    """The plan with the time of every judge whose models all run in this process, from one call of the size that
    its calls have. Judges that others are asked for keep their guess, and so does one that gives no answer."""
    timed: dict[str, float] = {}
    judges = []
    for judge, part in zip(study.jury.judges, plan.judges, strict=True):
        local = [model for model in judge.models if has_own_weights(model)]
        if len(local) < len(judge.models) or not part.calls:
            judges.append(part)
            continue
        seconds = await _seconds(local, part)
        if seconds is not None:
            timed[part.name] = seconds
        judges.append(part if seconds is None else replace(part, seconds=seconds * part.calls))
    for model, _ in study.models:
        await model.close()
    return replace(plan, judges=tuple(judges), timed=timed)


def has_own_weights(model: ChatModel) -> bool:
    """Whether its weights come into the memory of the process that asks it."""
    return model.host is None and not model.recorded and "weights" in model.identity


async def _seconds(models: list[ChatModel], part: JudgePlan) -> float | None:
    """The slowest of the models; None where one gives no answer."""
    tokens_in = min(part.tokens_in // part.calls, _MOST_TOKENS)
    words = _FILLER * max(1, tokens_in * _PER_TOKEN // len(_FILLER))
    asked = Message("user", f"{words}Say in a few sentences what this text is about.")
    request = Request((asked,), None, max(1, part.tokens_out // part.calls))
    longest = 0.0
    for model in models:
        try:
            await model.ask(replace(request, max_tokens=1, messages=(Message("user", "Ready?"),)))  # loads it
            started = time.monotonic()
            await model.ask(request)
        except ModelError:
            return None
        longest = max(longest, time.monotonic() - started)
    return longest


def with_preflight(
    plan: RunPlan, models: Iterable[tuple[ChatModel, ModelPart]], prices: PriceList
) -> RunPlan:
    """The plan with the short question that each model is asked first."""
    asked = [(model, part) for model, part in models if needs_preflight(model)]
    if not asked:
        return plan
    named, times = [model for model, _ in asked], len(asked)
    usual = Used(times, times * TOKENS_IN, times * TOKENS_OUT)
    most = Used(times, times * MOST_TOKENS_IN, sum(part.max_tokens for _, part in asked))
    return replace(plan, preflight=priced("preflight", named, usual, most, SECONDS_PER_CALL, prices))
