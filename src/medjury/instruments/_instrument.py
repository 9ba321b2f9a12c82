"""The instrument: named inputs, dimensions with their scales and anchors, and what follows from them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from medjury.intake.cases import Case, Criterion


@dataclass(frozen=True, slots=True)
class Input:
    """A text the rater sees: `name` finds it in the case, `label` names it in the prompt."""

    name: str
    label: str
    description: str = ""
    required: bool = True


@dataclass(frozen=True, slots=True)
class SkipRule:
    """The dimension is not applicable when another dimension was scored `equals`."""

    dimension: str
    equals: int


@dataclass(frozen=True, slots=True)
class Dimension:
    """One thing that is graded, on a closed list of whole-number grades."""

    name: str
    label: str
    definition: str
    grades: Mapping[int, str]
    higher_is_better: bool = True
    may_be_not_applicable: bool = False
    skip: SkipRule | None = None
    safety: bool = False  # whether its worst grades mean danger to the patient

    @property
    def values(self) -> tuple[int, ...]:
        """Every grade of the scale, lowest first: what kappa needs, observed or not."""
        return tuple(sorted(self.grades))

    @property
    def lowest(self) -> int:
        return min(self.grades)

    @property
    def highest(self) -> int:
        return max(self.grades)


@dataclass(frozen=True, slots=True)
class Reversed:
    """A dimension read the other way round: `lowest + highest - score` (risk becomes safety)."""

    name: str
    of: str
    label: str = ""


@dataclass(frozen=True, slots=True)
class Composite:
    """A weighted mean of dimensions and reversed dimensions; the weights sum to one.

    A part that is not applicable drops out, unless `needs_every_part`: then the composite is not applicable.
    """

    name: str
    weights: Mapping[str, float]
    label: str = ""
    needs_every_part: bool = False


@dataclass(frozen=True, slots=True)
class Example:
    """A worked example shown to the judge: inputs, the right scores (None: not applicable) and why."""

    inputs: Mapping[str, str]
    scores: Mapping[str, int | None]
    explanation: str = ""


@dataclass(frozen=True, slots=True)
class DimensionWords:
    """A dimension's words in another language; what is empty or left out is shown as the instrument has it."""

    label: str = ""
    definition: str = ""
    grades: Mapping[int, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Translation:
    """What clinicians, and judges that are `translated`, read in another language: the instructions, the labels
    of inputs, the dimensions."""

    instructions: str = ""
    inputs: Mapping[str, str] = field(default_factory=dict)
    dimensions: Mapping[str, DimensionWords] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Instrument:
    """A versioned rating instrument. Two instruments with one name and version but other words differ in
    `fingerprint`, and the fingerprint is part of every rating's key."""

    name: str
    version: str
    title: str
    instructions: str
    inputs: tuple[Input, ...]
    dimensions: tuple[Dimension, ...]
    reversed: tuple[Reversed, ...] = ()
    composites: tuple[Composite, ...] = ()
    examples: tuple[Example, ...] = ()
    licence: str = ""
    citation: str = ""
    notes: str = ""
    parameters: Mapping[str, object] = field(default_factory=dict)
    translations: Mapping[str, Translation] = field(
        default_factory=dict
    )  # for clinicians, and for judges that are asked in the case's language

    @property
    def by_case(self) -> bool:
        """Whether its dimensions are the criteria of each case (see `instrument_for`)."""
        return self.parameters.get("dimensions_from") == "criteria"

    def in_language(self, language: str) -> Instrument:
        """The same instrument in other words: names, grades and what follows from them stay."""
        words = self.translations.get(language)
        if words is None:
            return self
        return replace(
            self,
            instructions=words.instructions or self.instructions,
            inputs=tuple(
                replace(each, label=words.inputs.get(each.name, each.label)) for each in self.inputs
            ),
            dimensions=tuple(_translated(each, words.dimensions.get(each.name)) for each in self.dimensions),
        )

    def untranslated(self, language: str) -> list[str]:
        """What a translation that was begun still lacks."""
        words = self.translations[language]
        lacking = [] if words.instructions else ["instructions"]
        lacking += [f"the input {each.name}" for each in self.inputs if each.name not in words.inputs]
        for each in self.dimensions:
            own = words.dimensions.get(each.name, DimensionWords())
            parts = [name for name in ("label", "definition") if not getattr(own, name)]
            parts += [f"grade {grade}" for grade in each.values if grade not in own.grades]
            lacking += [f"{each.name} ({', '.join(parts)})"] if parts else []
        return lacking

    def dimension(self, name: str) -> Dimension:
        for dimension in self.dimensions:
            if dimension.name == name:
                return dimension
        known = ", ".join(each.name for each in self.dimensions)
        raise KeyError(f"instrument {self.name} has no dimension {name!r}; it has {known}")

    def shape(self) -> tuple[object, ...]:
        """What its scores are and what they follow from, whatever its words: two instruments of one shape can be
        compared grade by grade."""
        graded = tuple(
            (each.name, each.values, each.higher_is_better, each.may_be_not_applicable, each.skip)
            for each in self.dimensions
        )
        composites = tuple(
            (each.name, tuple(each.weights.items()), each.needs_every_part) for each in self.composites
        )
        inputs = tuple((each.name, each.required) for each in self.inputs)
        return graded, tuple((each.name, each.of) for each in self.reversed), composites, inputs

    def fingerprint(self) -> str:
        """SHA-256 of everything that may change a judge's rating; a corrected citation does not, nor what is called
        safety, nor a translation for clinicians."""
        content = asdict(self)
        for prose in ("licence", "citation", "notes", "translations"):
            del content[prose]
        for each in content["dimensions"]:
            del each["safety"]
        return hashlib.sha256(json.dumps(content, sort_keys=True, default=str).encode()).hexdigest()


def _translated(dimension: Dimension, words: DimensionWords | None) -> Dimension:
    if words is None:
        return dimension
    return replace(
        dimension,
        label=words.label or dimension.label,
        definition=words.definition or dimension.definition,
        grades={grade: words.grades.get(grade, ours) for grade, ours in dimension.grades.items()},
    )


def instrument_for(instrument: Instrument, case: Case) -> Instrument:
    """The instrument with one dimension for each criterion of the case, called by the criterion's id; as it is
    where its dimensions are the same for all cases. A case without criteria has no dimension."""
    if not instrument.by_case:
        return instrument
    good, harm = instrument.dimensions
    return replace(
        instrument,
        dimensions=tuple(
            _of_criterion(each, place, harm if each.points < 0 else good)
            for place, each in enumerate(case.criteria, 1)
        ),
        composites=(),
        parameters={},
    )


def _of_criterion(criterion: Criterion, place: int, form: Dimension) -> Dimension:
    quote = f'\nIt rests on: "{criterion.quote}"' if criterion.quote else ""
    # The label is the same for all: whether a criterion has negative points is not for a judge to know.
    return replace(form, name=criterion.id, label=f"Criterion {place}", definition=criterion.text + quote)
