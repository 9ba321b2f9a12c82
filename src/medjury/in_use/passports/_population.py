"""The validated population in counts and ranges, no text, no id; and where a new case lies, inside or outside."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from medjury.in_use.passports._novelty import Novelty, NoveltyTest, novelty_of, record_word_count, word_count
from medjury.intake.cases import Case, content_marks
from medjury.store.runs import RunPart
from medjury.tables import CASE_PARTS

# What is not a group of cases but a measure of them; the distance looks at lengths.
_GROUPS = tuple(name for name in CASE_PARTS if name not in ("date", "length"))
_MOST_VALUES, _MOST_SHARE, _OLDEST = 40, 0.3, 90
NOT_STATED = "(not stated)"


class Range(RunPart):
    """A number of the validated cases from the least to the most; no `high` where it has no end."""

    low: float
    high: float | None


class Population(RunPart):
    """On whom the jury was validated. `groups` counts the cases by system and by what is known of them, `ranges`
    are numbers such as the age, `unseen` the share of new cases to be expected with a value that no validated case
    had (Good 1953: the share of values that were seen once; of a range, two in n + 1). `lengths` are quantiles of
    words: the least, the quartiles and the most. `development_marks` are hashes of cases that served
    development."""

    cases: int
    patients: int
    groups: dict[str, dict[str, int]]
    ranges: dict[str, Range]
    unseen: dict[str, float]
    lengths: dict[str, tuple[float, ...]]
    novelty: Novelty
    development_marks: tuple[str, ...] = ()


def population_of(
    cases: Sequence[Case], development: Sequence[Case] = (), *, alpha: float = 0.05, seed: int = 0
) -> Population:
    """The population of these validated cases; refused where they are too few for a test at the level `alpha`."""
    names = [case.patient or case.id for case in cases]
    patients = len(set(names))
    groups, ranges = _groups(cases, patients), _ranges(cases)
    unseen = {name: sum(n == 1 for n in found.values()) / len(cases) for name, found in groups.items()}
    return Population(
        cases=len(cases),
        patients=patients,
        groups=groups,
        ranges=ranges,
        unseen=unseen | dict.fromkeys(ranges, 2 / (patients + 1)),
        lengths={
            "answer": _quantiles([word_count(case) for case in cases]),
            "record": _quantiles([record_word_count(case) for case in cases]),
        },
        novelty=novelty_of(cases, names, alpha, seed),
        development_marks=tuple(sorted({mark for case in development for mark in content_marks(case)})),
    )


def group_value(case: Case, name: str) -> str:
    """What a case says of itself under this name."""
    value = case.system if name == "system" else case.metadata.get(name)
    return (str(value).strip() or NOT_STATED) if value is not None else NOT_STATED


def number_of(case: Case, name: str) -> float | None:
    """A number among the metadata, however it is written."""
    value = case.metadata.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        found = float(value)
    except ValueError:
        return None
    return found if np.isfinite(found) else None


def population_words(population: Population) -> list[str]:
    """The groups, ranges and lengths in words, the largest group first."""
    lines = []
    for name, counts in population.groups.items():
        ranked = sorted(counts, key=lambda value: (-counts[value], value))
        lines.append(f"{name}: " + ", ".join(f"{value} ({counts[value]:,})" for value in ranked))
    for name, own in population.ranges.items():
        lines.append(f"{name}: {own.low:g} " + ("and above" if own.high is None else f"to {own.high:g}"))
    for name, found in population.lengths.items():
        lines.append(f"words of the {name}: {found[0]:g} to {found[-1]:g}, median {found[2]:g}")
    return lines


def _groups(cases: Sequence[Case], patients: int) -> dict[str, dict[str, int]]:
    """Systems, and what the cases' metadata say; what has nearly as many values as patients is no group."""
    found = {"system": dict(Counter(group_value(case, "system") for case in cases))}
    most = min(_MOST_VALUES, _MOST_SHARE * patients)
    for name in _GROUPS:
        values = Counter(group_value(case, name) for case in cases)
        if set(values) != {NOT_STATED} and len(values) <= most and name not in _ranges(cases):
            found[name] = dict(sorted(values.items()))
    return found


def _ranges(cases: Sequence[Case]) -> dict[str, Range]:
    """Numbers that every case has; nobody's age above 90 is stated."""
    found = {}
    for name in _GROUPS:
        numbers = [number for case in cases if (number := number_of(case, name)) is not None]
        if len(numbers) == len(cases) and numbers:
            high = max(numbers)
            open_end = name.startswith("age") and high >= _OLDEST
            found[name] = Range(low=min(numbers), high=None if open_end else high)
    return found


def _quantiles(counts: Sequence[int]) -> tuple[float, ...]:
    return tuple(float(each) for each in np.quantile(counts, [0, 0.25, 0.5, 0.75, 1]))


@dataclass(frozen=True, slots=True)
class Placed:
    """A case is inside, or has reasons why it is not. `p_value` is that of its `distance`."""

    item: str
    system: str
    inside: bool
    p_value: float
    distance: float
    reasons: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        return asdict(self) | {"reasons": list(self.reasons)}


class Placing:
    """Looks at new cases one by one. Outside by rule is a case with a system, specialty, site, language or age that
    no validated case had, and one that served development; any other is outside if the novelty test says so."""

    def __init__(self, population: Population) -> None:
        self._population = population
        self._marks = frozenset(population.development_marks)
        self._test = NoveltyTest(population.novelty)

    def place(self, case: Case) -> Placed:
        """Where this case lies, with every reason why it is not inside."""
        reasons = [*self._by_rule(case)]
        if not content_marks(case).isdisjoint(self._marks):
            reasons.append("served development: nothing was validated on it")
        distance, p_value, feature = self._test.look(case)
        if p_value <= self._test.alpha + 1e-12:
            reasons.append(
                f"unlike the validated cases: p = {p_value:.3g} at the level {self._test.alpha:g}, most of all by "
                f"{feature}"
            )
        return Placed(case.id, case.system, not reasons, p_value, distance, tuple(reasons))

    def _by_rule(self, case: Case) -> Iterator[str]:
        for name, known in self._population.groups.items():
            value = group_value(case, name)
            if value not in known:
                words = f"no {name} is stated" if value == NOT_STATED else f"{name} {value!r}"
                yield f"{words}: none of the validated cases"
        for name, own in self._population.ranges.items():
            number = number_of(case, name)
            if number is None:
                yield f"no {name} is stated: none of the validated cases"
            elif number < own.low or (own.high is not None and number > own.high):
                end = " and above" if own.high is None else f" to {own.high:g}"
                yield f"{name} {number:g}: the validated cases have {own.low:g}{end}"
