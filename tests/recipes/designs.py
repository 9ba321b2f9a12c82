"""How each of the recipes' nine reports was made: its recipe, who is the reference, and the dimensions' labels and
grades."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from recipes._transcript_calls import impacts
from tests.recipes import test_diagnosis_jury as diagnosis
from tests.recipes import test_econsult, test_medhelm_jury, test_pdsqi9, test_transcripts
from tests.recipes.rated import most_votes, whole_grades

from medjury.instruments import load_instrument
from recipes import econsult, medhelm_jury, pdsqi9, transcripts

FIVE = (1.0, 2.0, 3.0, 4.0, 5.0)
RUNS = {
    "diagnosis-jury": "diagnosis-jury",
    "stability": "diagnosis-jury",
    "ward-reference": "diagnosis-jury",
    "econsult": "econsult",
    "medhelm-jury": "medhelm-jury",
    "medhelm-notes": "medhelm-jury",
    "medhelm-replies": "medhelm-jury",
    "pdsqi9": "pdsqi9",
    "transcripts": "transcripts",
}


@dataclass(frozen=True)
class Design:
    """Who is the reference and how their scores become one; labels and grades of the dimensions."""

    people: tuple[str, ...]
    consensus: Callable[[list[float]], float]
    labels: Mapping[str, str]
    grades: Mapping[str, Sequence[float]]
    first: str
    aside: frozenset[str] = frozenset()
    cases_shown: int = 20


@cache
def design(run: str) -> Design:
    if RUNS[run] == "diagnosis-jury":
        panel = ("primary panel",)
        return Design(
            panel, lambda votes: votes[0], diagnosis.LABELS, dict.fromkeys(diagnosis.GRADED, FIVE), "jury"
        )
    if RUNS[run] == "medhelm-jury":
        labels = test_medhelm_jury.LABELS | {"overall": test_medhelm_jury.OVERALL}
        people = tuple(name for name, *_ in medhelm_jury.CLINICIANS)
        axes = dict.fromkeys(test_medhelm_jury.LABELS, FIVE)
        return Design(people, lambda votes: float(np.mean(votes)), labels, axes, "jury")
    if run == "econsult":
        first = next(iter(econsult.READERS))
        people = tuple(econsult.PHYSICIANS)
        return Design(people, most_votes, test_econsult.LABELS, test_econsult.SCALES, first, cases_shown=10)
    if run == "pdsqi9":
        instrument = load_instrument("pdsqi9")
        labels = test_pdsqi9.LABELS | {each.name: each.label for each in instrument.composites}
        grades = {each.name: tuple(map(float, each.grades)) for each in instrument.dimensions}
        aside = frozenset(map(pdsqi9.item, filter(pdsqi9.is_development, range(pdsqi9.CASES))))
        first = next(iter(pdsqi9.JUDGES))
        people = tuple(pdsqi9.PHYSICIANS)
        return Design(people, lambda votes: float(np.median(votes)), labels, grades, first, aside, 6)
    aside = frozenset(name for name in impacts() if name not in test_transcripts.HELD_OUT)
    label, first = {"impact": "Clinical impact"}, next(iter(transcripts.JUDGES))
    people = (transcripts.ADJUDICATOR,)
    return Design(people, lambda votes: votes[0], label, {"impact": (0.0, 1.0, 2.0)}, first, aside, 10)


def grading(run: str) -> Callable[[str], Callable[[np.ndarray], np.ndarray]]:
    ends = [grade for grades in design(run).grades.values() for grade in grades]
    return whole_grades(min(ends), max(ends))


def people(run: str) -> tuple[str, ...]:
    """Those who are compared with one another; of the transcripts, without the adjudicator."""
    return tuple(sorted(transcripts.CLINICIANS)) if run == "transcripts" else design(run).people


# Dimensions on which lower is better.
TURNED = ("risk", "stigmatizing_summary", "stigmatizing_notes", "impact")
# What composites are made of; a weight of −1 turns a grade of 1 to 5.
COMPOSITES: dict[str, dict[str, dict[str, float]]] = {
    "diagnosis-jury": {
        "safety": {"risk": -1.0},
        "quality": {"diagnosis": 0.4, "differential": 0.2, "safety": 0.4},
        "quality_with_reasoning": {"diagnosis": 0.3, "differential": 0.1, "reasoning": 0.3, "safety": 0.3},
    },
    "medhelm-jury": {"overall": {"accuracy": 1.0, "completeness": 1.0, "clarity": 1.0}},
    "pdsqi9": {"mean_quality": dict.fromkeys(pdsqi9.GRADED[:8], 1.0)},
}


def own_dimensions(run: str) -> list[str]:
    """Those that raters gave themselves."""
    return [name for name in design(run).grades if name not in COMPOSITES.get(RUNS[run], {})]


def ranked(run: str) -> list[str]:
    """What systems are ranked by: a composite in one study, else every dimension."""
    return ["quality"] if run == "diagnosis-jury" else own_dimensions(run)


def ends_of_scale(run: str) -> dict[str, tuple[float, float]]:
    return {name: (min(grades), max(grades)) for name, grades in design(run).grades.items()}
