"""Around a rater and around a gate: everything is the inner one's own but what the outer one changes."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence

from medjury.instruments import TRANSIENT, Instrument, Unscored, Way
from medjury.intake.cases import Case
from medjury.judging._asking import OtherModelError
from medjury.judging._rater import Beginnings, Expected, Rated, Rater, Unit, make_units
from medjury.judging._shortening import Truncation
from medjury.models import (
    Answer,
    ChatModel,
    Gate,
    ModelError,
    Request,
    failure_text,
    is_deployment,
    request_key,
    same_model,
)
from medjury.store.ratings import Question


class Around:
    """A rater that passes everything on; see `Rater` for what each is."""

    def __init__(self, rater: Rater) -> None:
        self.rater = rater

    @property
    def name(self) -> str:
        return self.rater.name

    @property
    def instrument(self) -> Instrument:
        return self.rater.instrument

    @property
    def models(self) -> Sequence[ChatModel]:
        return self.rater.models

    @property
    def groups(self) -> Sequence[tuple[str, ...]]:
        return self.rater.groups

    @property
    def revises_as(self) -> str:
        return self.rater.revises_as

    @property
    def truncation(self) -> Truncation | None:
        return self.rater.truncation

    def settings_hash(self) -> str:
        return self.rater.settings_hash()

    def describe(self) -> Mapping[str, object]:
        return self.rater.describe()

    def units(self, case: Case, repeat: int) -> list[Unit]:
        inner = self.rater.units(case, repeat)  # which may refuse the case, or have its own dimensions for it
        return make_units(self, case, repeat, [unit.dimensions for unit in inner])

    def expected(self, unit: Unit) -> Expected | Unscored:
        return self.rater.expected(unit)

    def shared(self, unit: Unit) -> Beginnings:
        return self.rater.shared(unit)

    async def rate(self, unit: Unit, gate: Gate) -> Rated:
        return await self.rater.rate(unit, gate)


class GateAround(Gate):
    """A gate that passes every question on to another one, and holds nothing of its own."""

    def __init__(self, gate: Gate) -> None:
        self._gate = gate

    async def ask(self, model: ChatModel, request: Request, repeat: int = 0, name: str = "") -> Answer:
        return await self._gate.ask(model, request, repeat, name)

    def was_read(self, key: str, way: Way) -> None:
        self._gate.was_read(key, way)


class Noted(GateAround):
    """Notes which stored reply answered which question of a unit, so that it can be read again."""

    def __init__(self, gate: Gate, unit: str) -> None:
        super().__init__(gate)
        self._unit = unit
        self._replies: dict[str, tuple[str | None, str]] = {}  # of each question, or why there is none
        self._ways: dict[str | None, Way] = {}

    @property
    def questions(self) -> tuple[Question, ...]:
        return tuple(
            Question(self._unit, name, reply, failure, self._ways.get(reply, ""))
            for name, (reply, failure) in self._replies.items()
        )

    def was_read(self, key: str, way: Way) -> None:
        self._ways[key] = way

    async def ask(self, model: ChatModel, request: Request, repeat: int = 0, name: str = "") -> Answer:
        try:
            answer = await super().ask(model, request, repeat, name)
        except ModelError as error:
            if name and error.reason not in TRANSIENT:  # what may pass is not how the question ended
                why = failure_text(error, request_key(model.identity, request, repeat))
                self._replies.setdefault(name, (None, why))
            raise
        if name:
            self._replies[name] = answer.key, ""
        return answer


class ModelChecked(Around):
    """A rater whose every answer must come from the model that was asked for; see `same_model`. A deployment has a
    name of its own, which cannot be compared."""

    def settings_hash(self) -> str:
        return hashlib.sha256(f"model_check strict {self.rater.settings_hash()}".encode()).hexdigest()

    def describe(self) -> Mapping[str, object]:
        return {**self.rater.describe(), "model_check": "strict"}

    async def rate(self, unit: Unit, gate: Gate) -> Rated:
        return await self.rater.rate(unit, _Strict(gate))


class _Strict(GateAround):
    """Hands no answer on that another model gave."""

    async def ask(self, model: ChatModel, request: Request, repeat: int = 0, name: str = "") -> Answer:
        answer = await super().ask(model, request, repeat, name)
        if not is_deployment(model) and not same_model(answer.asked, answer.answered):
            raise OtherModelError(answer)
        return answer
