"""Notes which stored reply answered which question of a piece of work, so that it can be read again."""

from __future__ import annotations

from dataclasses import replace

from medjury.instruments import TRANSIENT, Way
from medjury.models import (
    Answer,
    ChatModel,
    Gate,
    ModelError,
    Request,
    failure_text,
    request_key,
)
from medjury.store.ratings import Question


class Noted(Gate):
    """Another gate, for the questions of one unit."""

    def __init__(self, gate: Gate, unit: str) -> None:
        self._gate = gate
        self._unit = unit
        self._questions: dict[str, Question] = {}
        self._ways: dict[str | None, Way] = {}

    @property
    def questions(self) -> tuple[Question, ...]:
        return tuple(
            replace(each, read_as=self._ways[each.reply]) if each.reply in self._ways else each
            for each in self._questions.values()
        )

    def was_read(self, key: str, way: Way) -> None:
        self._ways[key] = way

    async def ask(self, model: ChatModel, request: Request, repeat: int = 0, name: str = "") -> Answer:
        try:
            answer = await self._gate.ask(model, request, repeat, name)
        except ModelError as error:
            if name and error.reason not in TRANSIENT:  # what may pass is not how the question ended
                why = failure_text(error, request_key(model.identity, request, repeat))
                self._questions.setdefault(name, Question(self._unit, name, None, why))
            raise
        if name:
            self._questions[name] = Question(self._unit, name, answer.key)
        return answer
