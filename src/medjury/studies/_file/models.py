"""Cases, models and judges as a study file names them."""

from __future__ import annotations

import difflib
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import ConfigDict, Field, field_validator, model_validator

from medjury.foundation.fields import FileName, Part
from medjury.intake.cases import language_code
from medjury.judging import UNTOUCHABLE, Truncation
from medjury.models import KINDS, split_bits


class CasesPart(Part):
    """Where the cases are; `mapping` renames a hospital's own columns. `language` is that of the cases that state
    none, or `detect`. `criteria` is a file of criteria that were written for them, `answers` one of answers
    to them, where they have none."""

    path: str
    mapping: str | dict[str, Any] | None = None
    language: str | None = None
    criteria: str | None = Field(default=None, min_length=1)
    answers: str | None = Field(default=None, min_length=1)

    def criteria_in(self, folder: Path) -> Path | None:
        """That file, where the study's file is in `folder`."""
        return None if self.criteria is None else folder / self.criteria

    @field_validator("language")
    @classmethod
    def _is_a_language(cls, value: str | None) -> str | None:
        if value is not None and not language_code(value):
            raise ValueError("is a language by its two letters, such as de, or `detect`")
        return value


ModelCheck = Literal["tell", "strict"]


class PricePart(Part):
    """Money per million tokens."""

    input: float = Field(ge=0)
    output: float = Field(ge=0)
    cached_input: float | None = Field(default=None, ge=0)
    cache_write: float | None = Field(default=None, ge=0)
    batch: float | None = Field(default=None, ge=0, le=1)  # the share of it that a call in a batch job costs


class ModelPart(Part):
    """A model: its kind and the kind's own options (url, model, key variable and so on), how it is asked, how
    fast, and what it costs. A role of a strategy is one."""

    model_config = ConfigDict(extra="allow")

    kind: str
    temperature: float | None = Field(default=0.0, ge=0, le=2)
    seed: int | None = 0
    max_tokens: int = Field(default=1024, ge=1)
    reasks: int = Field(default=2, ge=0, le=2)
    concurrency: int | None = Field(default=None, ge=1, le=1024)
    requests_per_minute: float | None = Field(default=None, gt=0)
    tokens_per_minute: float | None = Field(default=None, gt=0)
    price: PricePart | None = None
    # What a worker of a cluster needs for it, see docs/scale.md.
    gpus: float = Field(default=0.0, ge=0, le=64)
    cpus: float | None = Field(default=None, gt=0, le=1024)

    @model_validator(mode="before")
    @classmethod
    def _a_whole_number_is_the_window(cls, value: Any) -> Any:
        if isinstance(value, dict) and type(value.get("context")) is int:
            return {**{k: v for k, v in value.items() if k != "context"}, "context_window": value["context"]}
        return value

    @model_validator(mode="after")
    def _every_setting_is_spelt_right(self) -> Self:
        """What is no setting here goes to the endpoint kind, which does not know what was meant."""
        known = KINDS.get(self.kind)
        for option in self.options:
            close = difflib.get_close_matches(option, type(self).model_fields, n=1, cutoff=0.8)
            if close and known is not None and option not in known.options:
                raise ValueError(f"there is no setting {option!r}; did you mean {close[0]!r}?")
        return self

    @property
    def options(self) -> dict[str, Any]:
        """What goes to the endpoint kind."""
        return dict(self.model_extra or {})

    def options_in(self, folder: Path) -> dict[str, Any]:
        """The same; a file of recorded answers lies where the study file does, and so may weights: a worker of a
        cluster is started elsewhere."""
        options = self.options
        if self.kind == "recorded" and isinstance(options.get("file"), str):
            options["file"] = str(folder / options["file"])
        weights = options.get("weights")
        if isinstance(weights, str) and (folder / split_bits(weights)[0]).exists():
            options["weights"] = str(folder / weights)
        return options


class ContextPart(Part):
    """What is done with a record that is too long for the model: `refuse`, or `truncate` the notes (or the text of
    that name) and `keep` what is worth most. See docs/judging/context-windows.md."""

    truncate: str | None = None
    keep: Literal["newest", "oldest", "both_ends"] = "newest"

    @model_validator(mode="before")
    @classmethod
    def _refuse_is_enough(cls, value: Any) -> Any:
        if value == "refuse":
            return {}
        if not isinstance(value, dict | ContextPart):
            raise ValueError("is `refuse`, or a rule such as `{truncate: notes, keep: newest}`")
        return value

    @field_validator("truncate")
    @classmethod
    def _not_what_is_judged(cls, value: str | None) -> str | None:
        if value in UNTOUCHABLE:
            raise ValueError(f"the {value} is never cut; `notes`, or the name of another text, can be")
        return value

    @property
    def truncation(self) -> Truncation | None:
        return None if self.truncate is None else Truncation(self.truncate, self.keep)


class ExamplesPart(Part):
    """Worked examples: `own` are the instrument's, `shots` are drawn from what clinicians rated, out of a `share`
    of it or the named `cases`, which are then no part of the validation: see docs/judging/examples.md."""

    own: bool = False
    shots: int = Field(default=3, ge=0, le=100)
    draw: Literal["random", "stratified", "nearest"] = "random"
    seed: int = 0
    share: float | None = Field(default=None, gt=0, le=1)
    cases: list[str] | str | None = None
    dimension: str | None = None
    clinicians: int = Field(default=2, ge=1)

    @model_validator(mode="before")
    @classmethod
    def _a_number_or_yes_is_enough(cls, value: Any) -> Any:
        if isinstance(value, bool):
            return {"own": value, "shots": 0}
        if isinstance(value, int):
            return {"shots": value}
        if not isinstance(value, dict | ExamplesPart):
            raise ValueError(
                "is a number of shots, `true` for the instrument's own, or `{shots: 3, draw: nearest}`"
            )
        return value

    @model_validator(mode="after")
    def _one_way_to_choose(self) -> ExamplesPart:
        if self.share is not None and self.cases is not None:
            raise ValueError("`share` and `cases` both say which cases may be shown; keep one of them")
        return self


class PromptPart(Part):
    """A prompt in a site's own words: `file` has places such as `{candidate}` for the texts, `reply` says where the
    grades lie in the object that it asks for, `words` which words are grades; see docs/judging/own-prompts.md."""

    file: str
    reply: dict[str, Any] = {}
    words: dict[str, dict[str, int | None]] = {}


class JudgePart(ModelPart):
    """One judge: a model and the way it judges. `strategy` is a word, or a word with its settings; what they
    are is stated by the strategy itself (see `_study/strategies.py`)."""

    name: FileName | None = None
    instrument: str | None = None  # other words on the same scale, such as a tuned prompt
    trained: str | None = None  # the folder of the training that the model comes from
    explain: bool | Literal["after"] = True
    per_dimension: bool = False
    translated: bool = False  # asked in the case's language, where the instrument has a translation
    # Which words the questions are asked in: ours (see docs/prices.md), or the site's own.
    prompt: Literal["1", "2", "3", "4"] | PromptPart | None = None
    strategy: dict[str, Any] = {"name": "single"}
    examples: ExamplesPart | None = None
    context: ContextPart = ContextPart()
    model_check: ModelCheck | None = None

    @field_validator("prompt", mode="before")
    @classmethod
    def _a_number_names_it(cls, value: Any) -> Any:
        return str(value) if type(value) is int else value

    @field_validator("strategy", mode="before")
    @classmethod
    def _a_bare_word_is_enough(cls, value: Any) -> Any:
        if isinstance(value, str):
            return {"name": value}
        if isinstance(value, dict) and not isinstance(value.get("name"), str):
            raise ValueError("needs a `name`: the way of judging")
        if not isinstance(value, dict):
            raise ValueError("is a word such as `repeats`, or a word with settings: `{name: repeats, n: 3}`")
        return value


class CriteriaDraftingPart(ModelPart):
    """The model that proposes criteria for each case, at most `per_case`, which clinicians accept, edit or drop; it
    reads their `comments` too, where there are any: see docs/panel.md."""

    per_case: int = Field(default=8, ge=1, le=50)
    comments: bool = True
    instructions: str = ""
    max_tokens: int = Field(default=2048, ge=1)


class DraftingPart(ModelPart):
    """The model that writes the answers which are then judged, what it writes them from, and of which parts they
    consist: see docs/judging/drafting.md."""

    system: FileName | None = None  # the name under which the drafts are judged; by default the model's
    notes: int = Field(default=3, ge=0, le=1000)
    minimum_characters: int = Field(default=3500, ge=0)
    specialty_first: bool = True
    kinds: list[str] = []  # only notes whose kind names one of these, such as `progress note`
    labs: int = Field(default=20, ge=0, le=10_000)
    as_of: str | None = None
    max_age_days: int | None = Field(default=None, ge=0)
    sections: list[Literal["assessment", "recommendations", "contingency", "citations"]] = Field(
        default=["assessment", "recommendations", "contingency", "citations"], min_length=1
    )
    instructions: str = ""
    question: str = "question"
    specialty: str = "specialty"
    inputs: list[str] = []
    existing: Literal["refuse", "keep"] = "refuse"
    context: ContextPart = ContextPart()
    max_tokens: int = Field(default=2048, ge=1)

    @model_validator(mode="after")
    def _an_age_needs_a_day(self) -> DraftingPart:
        if self.max_age_days is not None and self.as_of is None:
            raise ValueError("max_age_days counts back from the day of the question; name it in `as_of`")
        return self
