"""Raters with points of view who discuss under an orchestrator: the settings in a study file."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field, field_validator

from medjury.foundation.documents import nearest
from medjury.foundation.errors import MedjuryError
from medjury.foundation.fields import Part
from medjury.judging import PERSONA_GROUPS, PERSONAS, Agent, Deliberation, Persona
from medjury.studies._file import ModelPart
from medjury.studies._strategies._setup import Settings, Setup


class PersonaPart(Part):
    """A persona: one of ours by its name, or one's own with a text; asked of its own model where one is named."""

    name: str
    text: str | None = None
    model: ModelPart | None = None


class DeliberationSettings(Settings):
    """`personas` is a group of ours (scorers, physicians) or a list; models default to the judge's own."""

    personas: list[PersonaPart] = Field(
        default=[PersonaPart(name=each) for each in PERSONA_GROUPS["scorers"]]
    )
    orchestrator: ModelPart | None = None
    max_turns: int = Field(default=6, ge=0, le=100)
    max_stalls: int = Field(default=2, ge=1, le=100)
    when_agreed: Literal["stop", "discuss"] = "stop"
    quorum: int | None = Field(default=None, ge=1)
    turns_shown: int | None = Field(default=None, ge=1)

    @field_validator("personas", mode="before")
    @classmethod
    def _a_name_is_enough(cls, value: Any) -> Any:
        if isinstance(value, str):
            if value not in PERSONA_GROUPS:
                raise ValueError(f"there is no group {value!r}; {nearest(value, list(PERSONA_GROUPS))}")
            value = list(PERSONA_GROUPS[value])
        if isinstance(value, list):
            return [{"name": each} if isinstance(each, str) else each for each in value]
        return value


def build(settings: DeliberationSettings, setup: Setup) -> Deliberation:
    return Deliberation(
        setup.name,
        setup.instrument,
        setup.speaker(settings.orchestrator, "orchestrator"),
        [Agent(_persona(each), setup.speaker(each.model, each.name)) for each in settings.personas],
        max_turns=settings.max_turns,
        max_stalls=settings.max_stalls,
        when_agreed=settings.when_agreed,
        quorum=settings.quorum,
        turns_shown=settings.turns_shown,
        per_dimension=setup.part.per_dimension,
        examples=setup.instrument.examples if setup.use_examples else (),
        drawn=setup.drawn,
    )


def _persona(part: PersonaPart) -> Persona:
    if part.text is not None:
        return Persona(part.name, part.text)
    if part.name not in PERSONAS:
        hint = nearest(part.name, list(PERSONAS))
        raise MedjuryError(f"persona {part.name!r} is none of ours ({hint}); one's own needs a `text`")
    return PERSONAS[part.name]
