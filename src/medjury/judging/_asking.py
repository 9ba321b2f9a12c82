"""The one way a model is asked: ask, read, hand back what is wrong; and draw anew what was asked in vain.

A single judge and every step of the other ways of judging ask through here. Every call goes through the gate,
which keeps each reply under its request and draw. Who builds questions from the case and from earlier replies
alone is therefore resumed where it was stopped.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from medjury.instruments import TRANSIENT, AnswerError, Reason, Unscored, has_unasked_text, read_reply
from medjury.judging._breaker import breaker
from medjury.judging._prompt import PROMPT_VERSION
from medjury.models import Answer, ChatModel, Gate, Message, ModelError, Reply, Request, why_unfinished

# Handing an answer back with what was wrong changes its form; it changes neither a refusal nor the token limit.
_NOT_CHANGED_BY_REASKING = frozenset({Reason.REFUSAL, Reason.TRUNCATED, Reason.CONTEXT})
# Draws from here on are answers drawn anew: repeats are far fewer.
_ANEW = 1_000_000
_written = json.JSONEncoder(sort_keys=True).encode
_ALL = sys.maxsize  # nothing of an answer can be used

_Value = TypeVar("_Value")
_Error = TypeVar("_Error", bound=Exception)


class Unusable(Exception):  # noqa: N818 - it is not an error of the program
    """Raised by a reader: the answer cannot be used. The message goes to the model and to the reader of the
    rating, so it quotes no clinical text.

    `so_far` is what can be used of it all the same and `lacking` how many parts that leaves open: of several
    answers the one that lacks least is kept. `complaint` are other words for the model than the usual ones.
    """

    def __init__(
        self,
        message: str,
        reason: Reason = Reason.PARSE,
        *,
        so_far: Any = None,
        lacking: int = _ALL,
        complaint: str = "",
    ) -> None:
        super().__init__(message)
        self.message = message
        self.reason = reason
        self.so_far = so_far
        self.lacking = lacking
        self.complaint = complaint or (
            f"Your answer could not be used: {message}. Answer again with one JSON object of the form "
            "that was asked for, and nothing else."
        )


class OtherModelError(ModelError):
    """Another model answered. The answer was paid for all the same."""

    def __init__(self, paid: Answer) -> None:
        names = f"{paid.asked} was asked for, and {paid.answered} reports that it answered"
        super().__init__(Reason.OTHER_MODEL, f"{names}; `model_check: strict` accepts no such answer")
        self.paid = paid


@dataclass(frozen=True, slots=True)
class Sample:
    """Which of a model's possible answers is asked for: the first, a repeat, or one drawn anew. `anew` says that
    an answer which is stored and cannot be used is to be replaced by the next one."""

    number: int = 0
    anew: bool = False

    def later(self, times: int) -> Sample:
        """The answer that is drawn when those before it were in vain. Numbered, not dated: what a retry paid for
        is found by the next one."""
        return replace(self, number=self.number + _ANEW * times)

    def seed(self, first: int) -> int:
        """Drawn anew, the numbers are large, and endpoints take seeds of 31 bits."""
        return first + self.number if self.number < _ANEW else (first + self.number) % 2**31


@dataclass(frozen=True, slots=True)
class Speaker:
    """A model with how it is asked: a judge, or one role of a way of judging. Without `token` its questions are
    those of the prompts before tokens, word for word, and only a reply that is one object is read."""

    model: ChatModel
    temperature: float | None = 0.0
    seed: int | None = 0
    max_tokens: int = 1024
    reasks: int = 2
    token: bool = True

    def settings(self) -> dict[str, object]:
        """Everything about it that determines an answer, for the hash of a way of judging."""
        return {
            "model": dict(self.model.identity),
            "temperature": self.temperature,
            "seed": self.seed,
            "max_tokens": self.max_tokens,
            "reasks": self.reasks,
            **({"prompt": PROMPT_VERSION} if self.token else {}),
        }

    def request(
        self, messages: Sequence[Message], schema: Mapping[str, Any] | None, sample: Sample
    ) -> Request:
        """The question as this speaker is asked it: each draw has a seed of its own."""
        seed = None if self.seed is None else sample.seed(self.seed)
        return Request(tuple(messages), schema, self.max_tokens, self.temperature, seed, plain=not self.token)

    def name(self, about: Sequence[object], sample: Sample) -> str:
        """What the question is called within its piece of work: as the key of its call, but with what it is about
        in place of its words."""
        if not about:
            return ""
        stated = [
            dict(self.model.identity),
            self.temperature,
            self.seed,
            self.max_tokens,
            sample.number,
            about,
        ]
        return hashlib.sha256(_written(stated).encode()).hexdigest()[:32]


@dataclass(frozen=True, slots=True)
class Asked(Generic[_Value]):
    """What came of an attempt, be it one question or several: a value, or why it failed and the best that can be
    used of answers that were not whole; every answer it took, for the costs; and how much a failure leaves open.
    `in_vain` says that all of it was stored before and could not be used."""

    failure: Unscored | None
    answers: Sequence[Answer]
    lacking: int = 0
    in_vain: bool = False
    value: _Value | None = None
    so_far: _Value | None = None


async def draw_anew(sample: Sample, attempt: Callable[[Sample], Awaitable[Asked[_Value]]]) -> Asked[_Value]:
    """Make an attempt; where `sample` says so and all of it was stored and in vain, the next one, and so on. An
    attempt that had to ask ends it: what fails just now is not paid for a second time at once. Of several
    failures the one that lacks least is kept, but one that may pass comes first: the next run goes on with it."""
    best = tried = await attempt(sample)
    times = 0
    while sample.anew and tried.in_vain:
        times += 1
        tried = await attempt(sample.later(times))
        why = None if tried.failure is None else tried.failure.reason
        if not tried.answers and why is Reason.NOT_STORED:
            break  # replies are only read again, and so many were drawn
        if why in TRANSIENT or tried.lacking <= best.lacking:
            best = tried
    return best if best is tried else replace(best, in_vain=False)


async def ask_for(
    gate: Gate,
    speaker: Speaker,
    messages: Sequence[Message],
    schema: Mapping[str, Any],
    read: Callable[[Any], _Value],
    sample: Sample = Sample(),  # noqa: B008 - it is frozen
    about: Sequence[object] = (),
    *,
    token: str = "",
    form_is_sent: bool = True,
) -> Asked[_Value]:
    """Ask for a JSON object of this schema and give it to `read`, which raises `Unusable` where it is wrong. Where
    the question says the form in its own words the schema is not sent.

    `about` says what the question is about, in JSON values that hold nothing of its wording and all that it owes to
    the case and to earlier replies: by that its reply is found again where only the wording has changed. A question
    that hands an earlier reply back has the `token` of that one. Only a fatal `ModelError` is raised; every other
    failure is in the result.
    """

    def read_answer(answer: Answer) -> _Value:
        failure = no_answer(answer.reply, speaker.max_tokens)
        if failure is not None:
            raise Unusable(failure.message, failure.reason)
        try:
            found = read_reply(answer.reply.text, answer.reply.token)
        except AnswerError as error:
            raise Unusable(str(error), error.reason) from None
        # A reply that was read then has what was asked then: a dimension may have been taken out since.
        if not answer.was_read and has_unasked_text(found.value, schema):
            raise Unusable("it has a text under a key that was not asked for")
        gate.was_read(answer.key, found.way)
        return read(found.value)

    sent = schema if form_is_sent else None
    return await ask(gate, speaker, messages, sent, read_answer, sample, about, token)


async def ask(
    gate: Gate,
    speaker: Speaker,
    messages: Sequence[Message],
    schema: Mapping[str, Any] | None,
    read: Callable[[Answer], _Value],
    sample: Sample,
    about: Sequence[object],
    token: str = "",
) -> Asked[_Value]:
    """The same for a reader of the whole reply, which may be free text."""

    async def attempt(sample: Sample) -> Asked[_Value]:
        request, name = speaker.request(messages, schema, sample), speaker.name(about, sample)
        if token:
            request = replace(request, token=token, question=-3)
        return await _converse(gate, speaker, request, name, read, sample.number)

    return await draw_anew(sample, attempt)


async def _converse(
    gate: Gate, speaker: Speaker, request: Request, name: str, read: Callable[[Answer], _Value], number: int
) -> Asked[_Value]:
    """Ask; hand a wrong answer back with what was wrong, at most `reasks` times. Where a failure that may pass
    breaks this off the question stays open; after any other the fault of the answer before it is kept."""
    answers: list[Answer] = []
    best: Unusable | None = None
    wrong: Unusable | None = None
    async with breaker().question(speaker.model) as ending:
        for reask in range(1 + speaker.reasks):
            try:
                answer = await gate.ask(speaker.model, request, number, f"{name}.{reask}" if name else "")
            except ModelError as error:
                if error.fatal:
                    raise
                if wrong is not None and error.reason is Reason.NOT_STORED:
                    error.message = (
                        f"the answer could not be used, and was not handed back then: {wrong.message}"
                    )
                stored = False
                if isinstance(error, OtherModelError):
                    answers.append(error.paid)
                    stored = all(answer.from_cache for answer in answers)
                lasting = wrong is not None and error.reason not in TRANSIENT
                why = wrong if lasting and wrong is not None else error
                if not stored:
                    ending.failed(why.reason, why.message, may_pass=error.retry)
                return _failed(_without_trace(why), answers, best, in_vain=stored)
            answers.append(answer)
            try:
                value = read(answer)
            except Unusable as unusable:
                wrong = _without_trace(unusable)
            else:
                if not answer.from_cache:
                    ending.answered()
                return Asked(None, answers, value=value)
            if best is None or wrong.lacking <= best.lacking:
                best = wrong
            if wrong.reason in _NOT_CHANGED_BY_REASKING:
                break
            said = Message("assistant", answer.reply.text), Message("user", wrong.complaint)
            # It has seen one token, where it was asked, and is shown no other.
            token, question = answer.reply.token or request.token, request.question - len(said)
            request = replace(request, messages=(*request.messages, *said), token=token, question=question)
        assert wrong is not None and best is not None
        stored = all(answer.from_cache for answer in answers)
        if not stored and _usable_in_part(best.so_far):
            ending.answered()
        elif not stored:
            ending.failed(wrong.reason, wrong.message)
    return _failed(wrong, answers, best, in_vain=stored)


def _without_trace(error: _Error) -> _Error:
    """The error without the way that it came. That holds this very question and its replies, which would then hold
    one another until somebody searches for cycles; of a judge who answers nothing usable there are thousands."""
    error.__traceback__ = error.__context__ = error.__cause__ = None
    return error


def _usable_in_part(so_far: Any) -> bool:
    return isinstance(so_far, Mapping) and not all(isinstance(each, Unscored) for each in so_far.values())


def _failed(
    why: ModelError | Unusable,
    answers: Sequence[Answer],
    best: Unusable | None,
    *,
    in_vain: bool = False,
) -> Asked[Any]:
    so_far, lacking = (None, _ALL) if best is None else (best.so_far, best.lacking)
    return Asked(Unscored(why.reason, why.message), answers, lacking, in_vain, so_far=so_far)


def no_answer(reply: Reply, max_tokens: int) -> Unscored | None:
    """Why a reply holds no answer at all, where it does not."""
    if (why := why_unfinished(reply.finish, max_tokens)) is not None:
        return Unscored(*why)
    if not reply.text.strip():
        return Unscored(Reason.EMPTY, "the model answered with nothing")
    return None
