"""What a study can show, before a call is made: its own rules, its cases, and the clinicians it has."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from medjury.agreement import Expected, GatePlan, plan_gate
from medjury.ratings import Rating
from medjury.studies._gate import stated_gate
from medjury.studies._humans import read_humans
from medjury.studies._plan import RunPlan
from medjury.studies._protocol import registered_protocol
from medjury.studies._study import Study
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
    if expected is None and (grades := {len(each.values) for each in study.instrument.dimensions}) != {5}:
        expected = Expected(shares=_even(max(grades)))
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


def _even(grades: int) -> tuple[float, ...]:
    return tuple(1 / grades for _ in range(grades))
