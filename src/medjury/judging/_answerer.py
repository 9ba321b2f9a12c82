"""Answering: a model is asked a prompt as it is, and its answer is kept word for word.

It runs through the engine like a rater with one row per case, which says whether there is an answer; the answer
itself is the record beside that row. What becomes of it (a mark, a jury's grades) is decided elsewhere.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from medjury.foundation.hashes import json_hash
from medjury.instruments import Dimension, Input, Instrument, NotApplicable, Outcome, Reason, Unscored
from medjury.intake.cases import Case
from medjury.judging._asking import Speaker, Unusable, ask, no_answer
from medjury.judging._rater import Expected, PlainRater, Rated, Unit, most_prompt, most_question
from medjury.judging._rows import rows_of
from medjury.models import Answer, ChatModel, Gate, Message, estimate_tokens
from medjury.store.runs import Body

# Part of every answer's key: raise it whenever the way of asking changes.
ANSWERING_VERSION = "1"
ANSWER, PROMPT, LIMIT = "answer", "prompt", "most_tokens"
# What an answer takes, for a plan: a letter is shorter, a note longer.
TOKENS_PER_ANSWER = 300


class AnswerText(Body):
    """What a model answered. An answer that cannot count as one (declined, cut off, empty) has a `reason`, and the
    words that there are of it."""

    kind: str = "answer"
    text: str = ""
    reason: str | None = None
    message: str = ""


@dataclass(frozen=True)
class Answerer(PlainRater):
    """Asks the `prompt` of each case. An answer may be as long as the case says (`most_tokens`), unless the model
    has a limit of its own: one that thinks before it answers needs more than any benchmark states."""

    speaker: Speaker
    own_limit: bool = False

    @property
    def instrument(self) -> Instrument:
        return _INSTRUMENT

    @cached_property
    def _settings_hash(self) -> str:
        stated = {
            "version": ANSWERING_VERSION,
            "speaker": self.speaker.settings(),
            "own_limit": self.own_limit,
        }
        return json_hash(stated, sort_keys=False)

    @property
    def name(self) -> str:
        return self.speaker.model.name

    @property
    def models(self) -> Sequence[ChatModel]:
        return (self.speaker.model,)

    def describe(self) -> Mapping[str, object]:
        return {
            "strategy": "answering",
            "temperature": self.speaker.temperature,
            "seed": self.speaker.seed,
            "max_tokens": self.speaker.max_tokens if self.own_limit else "as each benchmark states",
        }

    def expected(self, unit: Unit) -> Expected | Unscored:
        messages = _messages(unit.case)
        if isinstance(messages, Unscored):
            return messages
        speaker = self._speaker(unit.case)
        tokens = sum(estimate_tokens(message.content) for message in messages)
        most = most_question(most_prompt(messages), speaker)
        return Expected(1, tokens, min(TOKENS_PER_ANSWER, speaker.max_tokens), most)

    async def rate(self, unit: Unit, gate: Gate) -> Rated:
        messages = _messages(unit.case)
        if isinstance(messages, Unscored):
            rows = rows_of(unit, {ANSWER: messages}, None, system=self.name)
            return Rated(rows, _record("", messages))
        speaker = self._speaker(unit.case)

        def read(answer: Answer) -> str:
            reply = answer.reply
            failure = no_answer(reply, speaker.max_tokens)
            if failure is not None:
                raise Unusable(failure.message, failure.reason, so_far=reply.text)
            gate.was_read(answer.key, "text")
            return reply.text

        about = ["answer", unit.case.fingerprint()]
        asked = await ask(gate, speaker, messages, None, read, unit.sample, about)
        outcome: Outcome = asked.failure or NotApplicable("an answer was given; it is marked elsewhere")
        said = (asked.value if asked.failure is None else asked.so_far) or ""
        rows = rows_of(unit, {ANSWER: outcome}, asked.answers, system=self.name)
        return Rated(rows, _record(said, asked.failure))

    def _speaker(self, case: Case) -> Speaker:
        limit = case.metadata.get(LIMIT)
        if self.own_limit or not isinstance(limit, int):
            return self.speaker
        return replace(self.speaker, max_tokens=limit)


def _messages(case: Case) -> tuple[Message, ...] | Unscored:
    prompt = case.texts.get(PROMPT, "")
    if not prompt.strip():
        return Unscored(Reason.INPUT, "the case has no prompt to answer")
    return (Message("user", prompt),)


def _record(text: str, failure: Unscored | None) -> AnswerText:
    if failure is None:
        return AnswerText(kind="answer", text=text)
    return AnswerText(kind="answer", text=text, reason=failure.reason.value, message=failure.message)


_INSTRUMENT = Instrument(
    name="answering",
    version=ANSWERING_VERSION,
    title="Answering",
    instructions="",
    inputs=(Input(PROMPT, "Prompt"),),
    dimensions=(
        Dimension(
            ANSWER,
            "Answer",
            "Whether there is an answer.",
            {0: "no answer", 1: "an answer"},
            may_be_not_applicable=True,
        ),
    ),
)
