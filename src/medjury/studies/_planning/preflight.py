"""The preflight: one short question to each model before its first case, to find out at once, and without clinical
text, whether its host, its key and its name are right."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

from medjury.instruments import TRANSIENT, Reason
from medjury.judging import HopelessError, UnreachableError
from medjury.models import (
    Budget,
    ChatModel,
    Gate,
    Message,
    ModelError,
    PriceList,
    Request,
    RequestLog,
)
from medjury.studies._file import ModelPart

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
    """A model inside this process cannot be away."""
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
            told = f"{model.name}: {error.message.rstrip('.')}. No case was sent to it"
            if error.retry and error.reason in TRANSIENT:
                raise UnreachableError(error.reason, told) from None
            raise HopelessError(error.reason, told) from None
        finally:  # only what was answered counts: a server that is away must not use up the budget
            self._budget.settle(reservation, cost=cost, sent=answered)
            self.calls += gate.calls
