"""One step of a strategy: ask a model for JSON, read it, and hand it back with what was wrong.

Every call goes through the gate, which keeps each reply under its request and draw. A strategy that builds its
questions from the case and from earlier replies alone is therefore resumed where it was stopped.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from medjury.instruments import AnswerError, AnswerForm, AnswerReader, Reason, Unscored
from medjury.judging._prompt import shown_texts
from medjury.models import Answer, ChatModel, Gate, Message, ModelError, Reply, Request

# A model can mend its form when told; it does not mend a refusal or the token limit.
HOPELESS = frozenset({Reason.REFUSAL, Reason.TRUNCATED})

# Draws from here on are answers asked for anew (see `Unit.draw`).
_ANEW = 1_000_000

_Value = TypeVar("_Value")


class Unusable(Exception):  # noqa: N818 - it is not an error of the program
    """Raised by a reader: the answer cannot be used. The message is told to the model and to the reader of the
    rating, so it quotes no clinical text."""

    def __init__(self, message: str, reason: Reason = Reason.PARSE) -> None:
        super().__init__(message)
        self.message = message
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Speaker:
    """A model with how it is asked: one role of a strategy."""

    model: ChatModel
    temperature: float | None = 0.0
    seed: int | None = 0
    max_tokens: int = 1024
    reasks: int = 2

    def settings(self) -> dict[str, object]:
        """Everything about it that determines an answer, for a strategy's `voice`."""
        return {
            "model": dict(self.model.identity),
            "temperature": self.temperature,
            "seed": self.seed,
            "max_tokens": self.max_tokens,
            "reasks": self.reasks,
        }


@dataclass(frozen=True, slots=True)
class Asked(Generic[_Value]):
    """What came of a step: a value, or why there is none; and every answer it took, for the costs."""

    value: _Value | None
    failure: Unscored | None
    answers: Sequence[Answer]


async def ask_for(
    gate: Gate,
    speaker: Speaker,
    messages: Sequence[Message],
    schema: Mapping[str, Any],
    read: Callable[[Any], _Value],
    draw: int = 0,
    *,
    shown: str | None = None,
) -> Asked[_Value]:
    """Ask for a JSON object of this schema and give it to `read`, which raises `Unusable` where it is wrong.

    `shown` is the part of the question that holds the texts under judgement (all of it, where nothing is said):
    what is quoted from them is no answer. A wrong answer is handed back with what was wrong, at most `reasks`
    times. Only a fatal `ModelError` is raised; every other failure is told in the result.
    """
    request = Request(
        messages=tuple(messages),
        schema=schema,
        max_tokens=speaker.max_tokens,
        temperature=speaker.temperature,
        seed=None if speaker.seed is None else seed_of(speaker.seed, draw),
    )
    if shown is None:
        shown = "\n".join(message.content for message in messages if message.role == "user")
    reader = AnswerReader(AnswerForm.of_schema(schema), shown_texts(shown))
    answers: list[Answer] = []
    failure: Unscored | None = None
    for _ in range(1 + speaker.reasks):
        try:
            answer = await gate.ask(speaker.model, request, repeat=draw)
        except ModelError as error:
            if error.fatal:
                raise
            return Asked(None, Unscored(error.reason, error.message), answers)
        answers.append(answer)
        failure = no_answer(answer.reply, speaker.max_tokens)
        if failure is None:
            try:
                return Asked(read(reader.read(answer.reply.text)), None, answers)
            except AnswerError as error:
                failure = Unscored(Reason.PARSE, str(error))
            except Unusable as error:
                failure = Unscored(error.reason, error.message)
        if failure.reason in HOPELESS:
            break
        complaint = (
            f"Your answer could not be used: {failure.message}. Answer again with one JSON object of the form "
            "that was asked for, and nothing else."
        )
        said = Message("assistant", answer.reply.text), Message("user", complaint)
        request = _with(request, (*request.messages, *said))
    return Asked(None, failure, answers)


def seed_of(seed: int, draw: int) -> int:
    """The seed of a draw. Answers asked for anew have very large draws, and endpoints take seeds of 31 bits."""
    return seed + draw if draw < _ANEW else (seed + draw) % 2**31


def no_answer(reply: Reply, max_tokens: int) -> Unscored | None:
    """Why a reply holds no answer at all, where it does not."""
    if reply.finish == "refusal":
        return Unscored(Reason.REFUSAL, "the model declined to answer")
    if reply.finish == "length":
        return Unscored(Reason.TRUNCATED, f"the answer was cut off at {max_tokens} tokens; raise max_tokens")
    if not reply.text.strip():
        return Unscored(Reason.EMPTY, "the model answered with nothing")
    return None


def _with(request: Request, messages: tuple[Message, ...]) -> Request:
    return Request(messages, request.schema, request.max_tokens, request.temperature, request.seed)
