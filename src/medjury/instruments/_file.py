"""The shape of an instrument's YAML file, checked by pydantic before it becomes an `Instrument`."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictFloat, StrictInt, StringConstraints

from medjury.instruments._instrument import (
    Composite,
    Dimension,
    Example,
    Input,
    Instrument,
    Reversed,
    SkipRule,
)

Name = Annotated[str, StringConstraints(strict=True, pattern=r"^[a-z][a-z0-9_]*$")]
Text = Annotated[str, StringConstraints(strict=True, strip_whitespace=True, min_length=1)]
Optional = Annotated[str, StringConstraints(strict=True, strip_whitespace=True)]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class InputPart(_Part):
    name: Name
    label: Text
    description: Optional = ""
    required: StrictBool = True


class SkipPart(_Part):
    dimension: Name
    equals: StrictInt


class DimensionPart(_Part):
    name: Name
    label: Text
    definition: Text
    grades: dict[StrictInt, Text] = Field(min_length=2)
    higher_is_better: StrictBool = True
    may_be_not_applicable: StrictBool = False
    skip: SkipPart | None = None


class ReversedPart(_Part):
    name: Name
    of: Name
    label: Optional = ""


class CompositePart(_Part):
    name: Name
    weights: dict[Name, StrictInt | StrictFloat] | list[Name] = Field(min_length=1)
    label: Optional = ""


class ExamplePart(_Part):
    inputs: dict[Name, Text] = Field(min_length=1)
    scores: dict[Name, StrictInt | None] = Field(min_length=1)
    explanation: Optional = ""


class InstrumentFile(_Part):
    name: Name
    version: Text
    title: Text
    instructions: Text
    inputs: list[InputPart] = Field(min_length=1)
    dimensions: list[DimensionPart] = Field(min_length=1)
    reversed: list[ReversedPart] = []
    composites: list[CompositePart] = []
    examples: list[ExamplePart] = []
    licence: Optional = ""
    citation: Optional = ""
    notes: Optional = ""
    parameters: dict[str, Any] = {}


class ExamplesFile(_Part):
    examples: list[ExamplePart]


def to_instrument(file: InstrumentFile, more_examples: list[ExamplePart]) -> Instrument:
    """The checked file as the frozen data the rest of the program uses."""
    return Instrument(
        name=file.name,
        version=file.version,
        title=file.title,
        instructions=file.instructions,
        inputs=tuple(Input(each.name, each.label, each.description, each.required) for each in file.inputs),
        dimensions=tuple(_dimension(each) for each in file.dimensions),
        reversed=tuple(Reversed(each.name, each.of, each.label) for each in file.reversed),
        composites=tuple(_composite(each) for each in file.composites),
        examples=tuple(
            Example(each.inputs, each.scores, each.explanation) for each in [*file.examples, *more_examples]
        ),
        licence=file.licence,
        citation=file.citation,
        notes=file.notes,
        parameters=file.parameters,
    )


def _dimension(part: DimensionPart) -> Dimension:
    skip = None if part.skip is None else SkipRule(part.skip.dimension, part.skip.equals)
    return Dimension(
        name=part.name,
        label=part.label,
        definition=part.definition,
        grades=dict(sorted(part.grades.items())),
        higher_is_better=part.higher_is_better,
        may_be_not_applicable=part.may_be_not_applicable or skip is not None,
        skip=skip,
    )


def _composite(part: CompositePart) -> Composite:
    """A list of names means equal weights; rounding in written weights (0.333) is taken out here."""
    weights = part.weights if isinstance(part.weights, dict) else dict.fromkeys(part.weights, 1.0)
    total = sum(weights.values()) or 1.0
    return Composite(part.name, {name: weight / total for name, weight in weights.items()}, part.label)
