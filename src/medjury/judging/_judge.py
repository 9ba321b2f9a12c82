"""The judge: one model with one instrument and its settings, asked once per case (or once per dimension)."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from medjury.foundation.errors import MedjuryError
from medjury.instruments import (
    TRANSIENT,
    Example,
    Explain,
    Instrument,
    Outcome,
    Unscored,
    output_schema,
    read_answer,
)
from medjury.intake.cases import Case, stated_language
from medjury.judging._asking import Speaker, ask_for
from medjury.judging._drawn_examples import DrawnExamples
from medjury.judging._own_prompt import OwnPrompt
from medjury.judging._prompt import (
    BEFORE_TOKENS,
    FIRST_VERSION,
    PROMPT_VERSIONS,
    RECORD_FIRST,
    WITH_TOKENS,
    Prompt,
    case_texts,
)
from medjury.judging._rater import (
    COMPLAINT,
    FRAME,
    Beginnings,
    Expected,
    PlainRater,
    Rated,
    Unit,
    most_question,
)
from medjury.judging._rows import rows_of, whole
from medjury.models import (
    Answer,
    ChatModel,
    Gate,
    Message,
    Request,
    estimate_tokens,
    image_tokens,
    most_tokens,
)

# What an answer takes, for a plan: measured roughly on English explanations of one or two sentences.
_TOKENS_PER_EXPLANATION = 45
_TOKENS_PER_SCORE = 12
Prompts = Mapping[tuple[str, ...], Prompt]  # by the dimensions that are asked together


# What a judge made of one unit, and every answer it took (None: nothing was asked).
Graded = tuple[Mapping[str, Outcome], Sequence[Answer] | None]


@dataclass(frozen=True)
class Judge(PlainRater):
    """A model that grades by an instrument.

    `per_dimension` asks one call per dimension (dimensions tied by a skip rule stay together); `reasks` is how
    often an unusable answer is handed back with what was wrong. `explain` asks for reasons before the grade,
    "after" it, or for none. Repeats use `seed + repeat`. `examples` are shown with every case; `drawn` are chosen
    for each case from a training split. `prompt` is the version of the question: the record comes first ("4") where
    several questions are asked about it and no examples lie between, else the rubric ("3"). "2" and "1" are the
    same without a token. `translated` asks in the words that the instrument has in the language of the case, if
    it has any; the frame around them, names and grades stay. `own` is a prompt in other words, asked and read as it
    stands.
    """

    model: ChatModel
    instrument: Instrument
    temperature: float | None = 0.0
    seed: int | None = 0
    max_tokens: int = 1024
    explain: Explain = True
    per_dimension: bool = False
    reasks: int = 2
    examples: Sequence[Example] = ()
    drawn: DrawnExamples | None = None
    prompt: str | None = None
    translated: bool = False
    own: OwnPrompt | None = None
    _last: list[tuple[Case, Beginnings]] = field(init=False, repr=False, compare=False, default_factory=list)

    def __post_init__(self) -> None:
        if self.prompt is not None and self.prompt not in PROMPT_VERSIONS:
            raise MedjuryError(
                f"there is no prompt {self.prompt!r}; there are {' and '.join(PROMPT_VERSIONS)}"
            )
        if self.prompt in RECORD_FIRST and self._has_examples:
            raise MedjuryError(
                f"prompt {self.prompt} puts the record first and shows no worked examples; take `prompt: "
                f"{self.prompt}` out, or the examples"
            )
        if self.own is not None:
            self._check_own(self.own)

    @property
    def _has_examples(self) -> bool:
        return bool(self.examples) or self.drawn is not None

    @cached_property
    def _layout(self) -> str:
        several = len(groups_of(self.instrument, self.per_dimension)) > 1
        return self.prompt or WITH_TOKENS[several and not self._has_examples]

    @cached_property
    def _prompts(self) -> Prompts:
        return self._prompts_by(self.instrument)

    @cached_property
    def _others(self) -> Mapping[str, Prompts]:
        """The prompts in other languages."""
        languages = sorted(self.instrument.translations) if self.translated else []
        return {each: self._prompts_by(self.instrument.in_language(each)) for each in languages}

    def _prompts_by(self, instrument: Instrument) -> Prompts:
        return {
            group: Prompt.build(
                instrument, group, explain=self.explain, examples=self.examples, version=self._layout
            )
            for group in groups_of(instrument, self.per_dimension)
        }

    @cached_property
    def _schemas(self) -> Mapping[tuple[str, ...], Mapping[str, object]]:
        if self.own is not None:
            return dict.fromkeys(self._prompts, self.own.schema(self.instrument))
        return {group: output_schema(self.instrument, group, explain=self.explain) for group in self._prompts}

    @cached_property
    def speaker(self) -> Speaker:
        token = self._layout not in BEFORE_TOKENS and self.own is None
        return Speaker(self.model, self.temperature, self.seed, self.max_tokens, self.reasks, token)

    def _check_own(self, own: OwnPrompt) -> None:
        without = {
            "per_dimension": self.per_dimension, "examples": self._has_examples,
            "translated": self.translated,
        }  # fmt: skip
        for name, is_there in without.items():
            if is_there:
                raise MedjuryError(f"a prompt of your own is asked as it stands, once; take `{name}` out")
        own.check(self.instrument)

    def _stated(self) -> Mapping[str, object]:
        words = [[m.role, m.content] for p in self._prompts.values() for m in p.opening]
        if self._layout in RECORD_FIRST:
            words += [["user", p.closing] for p in self._prompts.values()]
        settings: dict[str, object] = {
            "model": dict(self.model.identity),
            "instrument": self.instrument.fingerprint(),
            "prompt": [self._layout, words],
            "temperature": self.temperature,
            "seed": self.seed,
            "max_tokens": self.max_tokens,
            "explain": self.explain,
            "per_dimension": self.per_dimension,
            "reasks": self.reasks,
        }
        if self.own is not None:
            settings["prompt"] = self.own.fingerprint()
        if self.drawn is not None:
            settings["drawn"] = self.drawn.fingerprint()
        if self.translated:
            settings["translated"] = {
                language: [[[m.role, m.content] for m in p.opening] + [[p.closing]] for p in made.values()]
                for language, made in self._others.items()
            }
        return settings

    @property
    def name(self) -> str:
        return self.model.name

    @property
    def models(self) -> Sequence[ChatModel]:
        return (self.model,)

    @property
    def groups(self) -> tuple[tuple[str, ...], ...]:
        """The dimensions asked together: one call each for every case and repeat."""
        return tuple(self._prompts)

    def describe(self) -> Mapping[str, object]:
        settings: dict[str, object] = {
            "strategy": "single",
            "temperature": self.temperature,
            "seed": self.seed,
            "max_tokens": self.max_tokens,
            "explain": self.explain,
            "per_dimension": self.per_dimension,
            "reasks": self.reasks,
            "examples": len(self.examples),
        }
        if self.own is not None:
            settings["prompt"] = f"own {self.own.fingerprint()[:16]}"
        elif self._layout != FIRST_VERSION:
            settings["prompt"] = self._layout
        if self.translated:
            settings["translated"] = sorted(self._others)
        return settings if self.drawn is None else settings | self.drawn.described()

    def expected(self, unit: Unit) -> Expected | Unscored:
        messages = self._messages(unit, measured=True)
        if isinstance(messages, Unscored):
            return messages
        tokens_in = sum([estimate_tokens(message.content) for message in messages]) + image_tokens(messages)
        each = _TOKENS_PER_SCORE + (_TOKENS_PER_EXPLANATION if self.explain else 0)
        prompt = most_tokens(Request(messages, self._sent(unit)))
        most = most_question(prompt, self.speaker, COMPLAINT + FRAME * len(unit.dimensions))
        return Expected(1, tokens_in, each * len(unit.dimensions), most)

    def shared(self, unit: Unit) -> Beginnings:
        if self._layout not in RECORD_FIRST or len(self._prompts) < 2:
            return {}
        return self._beginnings(unit.case)

    def request(self, unit: Unit) -> Request | Unscored:
        """The first question of a unit, or why it cannot be asked."""
        messages = self._messages(unit)
        if isinstance(messages, Unscored):
            return messages
        return self.speaker.request(messages, self._sent(unit), unit.sample)

    def _sent(self, unit: Unit) -> Mapping[str, object] | None:
        """The form of the answer as it goes with the question; a prompt of one's own says it itself."""
        return self._schemas[unit.dimensions] if self.own is None else None

    def _messages(self, unit: Unit, *, measured: bool = False) -> tuple[Message, ...] | Unscored:
        if self.own is not None:
            return self.own.messages(unit.case, self.instrument)
        shown = (
            () if self.drawn is None else self.drawn.messages_for(unit.case, unit.dimensions, self.explain)
        )
        if isinstance(shown, Unscored):
            return shown
        return self._prompts_for(unit.case)[unit.dimensions].messages(unit.case, shown, measured=measured)

    def _prompts_for(self, case: Case) -> Prompts:
        """In the language that the case states: what a detector finds may not change a question behind its key."""
        return self._others.get(stated_language(case), self._prompts) if self._others else self._prompts

    async def rate(self, unit: Unit, gate: Gate) -> Rated:
        return Rated(rows_of(unit, *await self.grade(unit, gate)))

    async def grade(self, unit: Unit, gate: Gate) -> Graded:
        """The same before it becomes rows: for ways of judging in which a judge is one step."""
        messages = self._messages(unit)
        if isinstance(messages, Unscored):
            return dict.fromkeys(unit.dimensions, messages), None
        asked = await ask_for(
            gate, self.speaker, messages, self._schemas[unit.dimensions],
            self._reading(unit.dimensions), unit.sample, self._about(unit), form_is_sent=self.own is None,
        )  # fmt: skip
        outcomes = asked.value or asked.so_far or {}
        failure = asked.failure
        if failure is not None and (not outcomes or failure.reason in TRANSIENT):
            # What is still open can be asked for again, so it stays open.
            outcomes = {
                name: failure if isinstance(each := outcomes.get(name, failure), Unscored) else each
                for name in unit.dimensions
            }
        return outcomes, asked.answers

    def _beginnings(self, case: Case) -> Beginnings:
        """What the questions about a case begin with, found once for all of them: they follow each other."""
        if self._last and self._last[0][0] is case:
            return self._last[0][1]
        found: Beginnings = {}
        prompt = next(iter(self._prompts_for(case).values()))
        texts = case_texts(prompt.instrument, case)
        if not isinstance(texts, Unscored):
            text, ends = texts
            before = sum(estimate_tokens(each.content) for each in prompt.opening)
            found = {
                hashlib.blake2b(text[:end].encode(), digest_size=16).hexdigest(): before
                + estimate_tokens(text[:end])
                for end in ends
            }
        self._last[:] = [(case, found)]
        return found

    def _about(self, unit: Unit) -> list[object]:
        """What the question is about. Which dimensions it has is wording, unless there are several questions."""
        part = unit.dimensions[0] if len(self._prompts) > 1 else ""
        drawn = None if self.drawn is None else self.drawn.fingerprint()
        if self.own is not None:  # a reply in another form is no reply to this question
            return ["own", unit.case.fingerprint(), self.own.fingerprint()]
        return ["grade", unit.case.fingerprint(), part, self.explain, len(self.examples), drawn]

    def _reading(self, dimensions: Sequence[str]) -> Callable[[object], Mapping[str, Outcome]]:
        if (own := self.own) is not None:
            return lambda value: whole(
                read_answer(self.instrument, own.graded(value, self.instrument), dimensions)
            )
        return lambda value: whole(read_answer(self.instrument, value, dimensions), self.instrument)


def groups_of(instrument: Instrument, per_dimension: bool) -> list[tuple[str, ...]]:
    """All dimensions at once, or one each; a dimension and the one its skip rule looks at stay together."""
    names = [dimension.name for dimension in instrument.dimensions]
    if not per_dimension:
        return [tuple(names)]
    leader = {dimension.name: dimension.skip.dimension if dimension.skip else dimension.name
              for dimension in instrument.dimensions}  # fmt: skip
    groups: dict[str, list[str]] = {}
    for name in names:
        head = name
        while leader[head] != head:
            head = leader[head]
        groups.setdefault(head, []).append(name)
    return [tuple(sorted(group, key=names.index)) for group in groups.values()]
