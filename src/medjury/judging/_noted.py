"""Notes which stored reply answered which question of a piece of work, so that it can be read again."""

from __future__ import annotations

import json

from medjury.instruments import TRANSIENT, Reason
from medjury.models import Answer, ChatModel, ContextError, Gate, ModelError, Request
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
                self._questions.setdefault(name, Question(self._unit, name, None, failure_text(error)))
            raise
        if name:
            self._questions[name] = Question(self._unit, name, answer.key)
        return answer


def failure_text(error: ModelError) -> str:
    """Why a question has no reply, as it is stored."""
    told: dict[str, object] = {"reason": error.reason.value, "message": error.message}
    if isinstance(error, ContextError):  # a record that is too long is shortened by as much
        told |= {"excess": error.excess, "sent": error.sent}
    return json.dumps(told)


def failure_of(text: str, model: ChatModel) -> ModelError:
    """The same failure again."""
    told = json.loads(text)
    if "excess" not in told:
        return ModelError(Reason(told["reason"]), told["message"])
    error = ContextError(model, "", told["excess"], 0, 0, exact=True, sent=told["sent"])
    error.message = told["message"]
    return error
