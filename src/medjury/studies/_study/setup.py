"""What a strategy is given to build its rater from, and which version of the prompt a judge asks with."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from medjury.foundation.errors import MedjuryError
from medjury.foundation.fields import Part
from medjury.instruments import Instrument
from medjury.judging import (
    BEFORE_TOKENS,
    FIRST_VERSION,
    PROMPT_VERSION,
    RECORD_FIRST,
    OwnPrompt,
    Rater,
    Speaker,
)
from medjury.models import ChatModel, make_model
from medjury.studies._file.models import JudgePart, ModelPart, PromptPart

if TYPE_CHECKING:
    from medjury.judging import DrawnExamples


class Settings(Part):
    """The settings of a strategy in a study file; each strategy adds its own, all with a default."""

    name: str


@dataclass(frozen=True)
class Setup:
    """One judge's entry in a study file. `model` is the entry's own; `models` gathers it and every further one
    that a role asks for, with the part of the file that says how fast it may be asked and what it costs."""

    name: str
    part: JudgePart
    instrument: Instrument
    folder: Path  # where the study file lies
    use_examples: bool = False  # the instrument's own
    drawn: DrawnExamples | None = None  # from the clinicians' ratings
    strict: bool = False  # an answer of another model than the one asked for is none
    models: list[tuple[ChatModel, ModelPart]] = field(default_factory=list)

    @property
    def model(self) -> ChatModel:
        return self._make(self.part, self.name)

    @property
    def prompt(self) -> str | None:
        """The version of the prompt, where one is stated."""
        stated = self.part.prompt
        return None if isinstance(stated, PromptPart) else stated

    @property
    def own_prompt(self) -> OwnPrompt | None:
        """The prompt in the site's own words, where the entry names one."""
        stated = self.part.prompt
        if not isinstance(stated, PromptPart):
            return None
        file = self.folder / stated.file
        try:
            return OwnPrompt(file.read_text(encoding="utf-8-sig"), stated.reply, stated.words)
        except (OSError, UnicodeDecodeError) as error:
            raise MedjuryError(f"the prompt {file} cannot be read ({error})") from None

    @property
    def shows_token(self) -> bool:
        """Whether questions show the token that an answer proves itself by."""
        return self.prompt not in BEFORE_TOKENS

    def speaker(self, part: ModelPart | None = None, role: str = "") -> Speaker:
        """The model of a role with how it is asked: its own, or the entry's where none is named."""
        how = self.part if part is None else part
        model = self.model if part is None else self.make(part, role)
        if isinstance(self.part.prompt, PromptPart):
            raise MedjuryError(
                "this way of judging asks several questions, and a prompt of your own is one; take `strategy` or "
                "`prompt` out"
            )
        if self.part.prompt in RECORD_FIRST:
            raise MedjuryError(
                f"prompt: {self.part.prompt} puts the record first, and this way of judging does not; state "
                f"{PROMPT_VERSION}, or {FIRST_VERSION}, which shows no token"
            )
        return Speaker(model, how.temperature, how.seed, how.max_tokens, how.reasks, self.shows_token)

    def make(self, part: ModelPart, role: str) -> ChatModel:
        """A further model, called after the judge and its role in the audit log and in messages."""
        if "name" in part.options:
            raise MedjuryError(
                f"{role}: a model of a role has no `name`; it is called {self.name}/{role} in the audit log"
            )
        return self._make(part, f"{self.name}/{role}")

    def _make(self, part: ModelPart, name: str) -> ChatModel:
        for model, _ in self.models:
            if model.name == name:
                return model
        model = make_model(part.kind, name=name, **part.options_in(self.folder))
        self.models.append((model, part))
        return model


def prompt_version(judges: Iterable[Rater]) -> str:
    """The versions that these judges ask with, in a few signs."""
    return ", ".join(
        sorted({max(_stated_versions(judge.describe()), default=FIRST_VERSION) for judge in judges})
    )


def _stated_versions(described: Any) -> Iterator[str]:
    if isinstance(described, Mapping):
        if isinstance(version := described.get("prompt"), str):
            yield version
        described = list(described.values())
    if isinstance(described, list | tuple):
        for each in described:
            yield from _stated_versions(each)
