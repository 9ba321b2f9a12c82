"""The strict check of a judge's models: what another model answered than the one asked for is no rating of it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

from medjury.instruments import Way
from medjury.judging._around import Around
from medjury.judging._asking import OtherModelError
from medjury.judging._rater import Rated, Unit
from medjury.models import Answer, ChatModel, Gate, MemoryCache, Request, is_deployment, same_model


class ModelChecked(Around):
    """A rater whose every answer must come from the model that was asked for; see `same_model`. A deployment has a
    name of its own, which cannot be compared."""

    def settings_hash(self) -> str:
        return hashlib.sha256(f"model_check strict {self.rater.settings_hash()}".encode()).hexdigest()

    def describe(self) -> Mapping[str, object]:
        return {**self.rater.describe(), "model_check": "strict"}

    async def rate(self, unit: Unit, gate: Gate) -> Rated:
        return await self.rater.rate(unit, _Strict(gate))


class _Strict(Gate):
    """Another gate, which hands no answer on that another model gave."""

    def __init__(self, gate: Gate) -> None:
        super().__init__(cache=MemoryCache())
        self._gate = gate

    async def ask(self, model: ChatModel, request: Request, repeat: int = 0, name: str = "") -> Answer:
        answer = await self._gate.ask(model, request, repeat, name)
        if not is_deployment(model) and not same_model(answer.asked, answer.answered):
            raise OtherModelError(answer)
        return answer

    def was_read(self, key: str, way: Way) -> None:
        self._gate.was_read(key, way)
