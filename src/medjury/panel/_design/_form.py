"""The form that an instrument becomes: one question for each dimension, with the words of every grade."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from medjury.instruments import Dimension, Instrument

NOT_APPLICABLE = "na"
CANNOT_JUDGE = "cannot"


@dataclass(frozen=True)
class Choice:
    """One answer that can be chosen: its value in the form, the key that chooses it, and its words."""

    value: str
    key: str
    words: str
    shows_grade: bool = True


@dataclass(frozen=True)
class SkipWords:
    """When a question is left out: the other question, its answer, and the sentence that says so."""

    dimension: str
    value: str
    sentence: str


@dataclass(frozen=True)
class Question:
    """One dimension as a rater is asked about it."""

    name: str
    label: str
    definition: str
    grades: tuple[Choice, ...]
    others: tuple[Choice, ...]
    justification: str
    skip: SkipWords | None = None

    @property
    def choices(self) -> tuple[Choice, ...]:
        return (*self.grades, *self.others)


def form_of_instrument(
    instrument: Instrument, justification: str | Mapping[str, str] = "optional"
) -> tuple[Question, ...]:
    """Every dimension as a question. `justification` is one word for all, or a word for each that is named."""
    return tuple(_question(instrument, each, justification) for each in instrument.dimensions)


def _question(
    instrument: Instrument, dimension: Dimension, justification: str | Mapping[str, str]
) -> Question:
    others = []
    if dimension.may_be_not_applicable:
        others.append(Choice(NOT_APPLICABLE, "n", "Not applicable", shows_grade=False))
    others.append(Choice(CANNOT_JUDGE, "c", "I can't judge this", shows_grade=False))
    asked = justification if isinstance(justification, str) else justification.get(dimension.name, "optional")
    return Question(
        dimension.name,
        dimension.label or dimension.name,
        dimension.definition,
        _grades(dimension),
        tuple(others),
        asked,
        _skip(instrument, dimension),
    )


def _grades(dimension: Dimension) -> tuple[Choice, ...]:
    """A grade of one digit is chosen by its own key; where one is not, all are counted from 1."""
    own = all(0 <= grade <= 9 for grade in dimension.values)
    return tuple(
        Choice(
            str(grade),
            str(grade if own else place) if own or place <= 9 else "",
            dimension.grades[grade],
            own,
        )
        for place, grade in enumerate(dimension.values, start=1)
    )


def _skip(instrument: Instrument, dimension: Dimension) -> SkipWords | None:
    rule = dimension.skip
    if rule is None:
        return None
    other = instrument.dimension(rule.dimension)
    words = other.grades.get(rule.equals, "")
    short = words.split(":")[0].rstrip(".")
    sentence = f"Leave this out if you answered {rule.equals} ({short}) to “{other.label}”."
    return SkipWords(rule.dimension, str(rule.equals), sentence)
