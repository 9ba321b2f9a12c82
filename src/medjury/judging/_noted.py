"""Notes which stored reply answered which question of a piece of work, so that it can be read again."""

from __future__ import annotations

from medjury.instruments import TRANSIENT
from medjury.models import (
    Answer,
    ChatModel,
    Gate,
    ModelError,
    Request,
    failure_text,
    request_key,
)
from medjury.ratings import Question


class Noted(Gate):
    """Another gate, for the questions of one unit."""

    def __init__(self, gate: Gate, unit: str) -> None:
        self._gate = gate
        self._unit = unit
        self._questions: dict[str, Question] = {}

    @property
    def questions(self) -> tuple[Question, ...]:
        return tuple(self._questions.values())

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
