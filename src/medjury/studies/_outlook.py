"""What a study can show, before a call is made: its own rules, its cases, and the clinicians it has."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import Any

import numpy as np

from medjury.agreement import Expected, GatePlan, plan_gate
from medjury.instruments import Dimension
from medjury.ratings import Rating
from medjury.runs import GateRules
from medjury.studies._gate import stated_gate
from medjury.studies._humans import read_humans
from medjury.studies._plan import RunPlan
from medjury.studies._protocol import registered_protocol
from medjury.studies._study import Study
from medjury.tables import danger_reference
from medjury.validation import rehearse_gate

_UNREGISTERED = (
    "The study is not registered: its jury will be AUXILIARY at best. `medjury register STUDY` before the run "
    "freezes rules, instrument, prompts and data."
)


def gate_outlook(
    study: Study,
    plan: RunPlan,
    expected: Expected | None = None,
    *,
    power: float = 0.8,
    studies: int | None = None,
) -> GatePlan:
    """The chance to meet each rule of the study's gate: with the clinicians' ratings that it names, or, where it
    names none, as if as many clinicians as the rules ask for rated every case. By formula, or, every rule, by so
    many drawn `studies`."""
    rules = stated_gate(study)
    development = set(rules.development_cases)
    humans = read_humans(study, rehearse=True)
    dangerous = None
    notes = [] if registered_protocol(study, plan.data_hash, plan.answer_hashes) else [_UNREGISTERED]
    if humans is None:
        cases = max(plan.systems.values(), default=plan.cases) - len(development)
        doubly, clinicians = None, rules.minimum_clinicians
        notes.append(
            f"No clinician has rated yet: the plan is for {clinicians} clinicians who rate every case."
        )
    else:
        rated = tuple(each for each in humans.ratings if each.rater in humans.reference)
        cases, twice, clinicians = _rated(rated, development)
        doubly = twice
        dangerous = _dangerous(study, rated, rules)
    if expected is None and (grades := {len(each.values) for each in study.instrument.dimensions}) != {5}:
        expected = Expected(shares=_even(max(grades)))
    if dangerous is not None and (expected is None or expected.dangerous is None):
        expected = replace(expected or Expected(), dangerous=dangerous)
    asked: dict[str, Any] = {
        "cases": max(1, cases),
        "doubly": doubly,
        "clinicians": clinicians,
        "expected": expected,
        "systems": len(plan.systems),
        "power": power,
        "notes": notes,
    }
    return plan_gate(rules, **asked) if studies is None else rehearse_gate(rules, studies=studies, **asked)


def _rated(ratings: tuple[Rating, ...], development: set[str]) -> tuple[int, int, int]:
    """Held-out cases that a clinician scored and that two did, on the dimension where these are the fewest, and the
    number of clinicians there."""
    by_dimension: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for each in ratings:
        if each.score is not None and each.item not in development:
            by_dimension[each.dimension][each.item].add(each.rater)
    counts = [
        (
            len(items),
            sum(len(raters) > 1 for raters in items.values()),
            len(set().union(*items.values())),
        )
        for items in by_dimension.values()
    ]
    return min(counts, key=lambda each: each[:2], default=(0, 0, 1))


def _dangerous(study: Study, ratings: tuple[Rating, ...], rules: GateRules) -> float | None:
    """The share of the rated cases with an answer that the clinicians called dangerous, on the dimension of severe
    errors where there are the fewest; None where none was rated."""
    shares = []
    for dimension in study.instrument.dimensions:
        if rules.severe_dimensions is not None and dimension.name not in rules.severe_dimensions:
            continue
        said: dict[tuple[str, str], list[float]] = defaultdict(list)
        for each in ratings:
            here = each.dimension == dimension.name and each.item not in rules.development_cases
            if here and each.score is not None:
                said[each.item, each.system].append(each.score)
        low, high = min(dimension.values), max(dimension.values)
        dangerous = {
            item
            for (item, _), scores in said.items()
            if danger_reference(_turned(scores, dimension), rules.danger_by)[0]
            <= low + rules.danger * (high - low)
        }
        if said:
            shares.append(len(dangerous) / len({item for item, _ in said}))
    return min(shares, default=None)


def _turned(scores: list[float], dimension: Dimension) -> np.ndarray[Any, np.dtype[np.float64]]:
    """One answer's scores with low as the dangerous end."""
    found = np.array([scores], dtype=np.float64)
    return found if dimension.higher_is_better else min(dimension.values) + max(dimension.values) - found


def _even(grades: int) -> tuple[float, ...]:
    return tuple(1 / grades for _ in range(grades))
