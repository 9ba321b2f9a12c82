"""What a study can show, before a call is made: its own rules, its cases, and the clinicians it has."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from statistics import fmean

import numpy as np

from medjury.analysis.agreement import Expected
from medjury.statistics import counted
from medjury.store.ratings import Rating
from medjury.store.runs import GateRules
from medjury.studies._plan.clinicians import Humans
from medjury.studies._plan.gate import stated_gate
from medjury.studies._plan.plan import RunPlan
from medjury.studies._plan.registering import registered_protocol
from medjury.studies._study.study import Study
from medjury.tables import HARM, MET, Measured, consensus_of, danger_reference, of_instrument, rating_table
from medjury.validation import GatePlan, plan_gate

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
) -> GatePlan:
    """The chance that each line of the study's colleague test holds: with the clinicians' ratings that it names,
    or, where it names none, as if as many clinicians as the rules ask for rated every case."""
    rules = stated_gate(study)
    development = set(rules.development_cases)
    humans = plan.humans or Humans.read(study, rehearse=True)
    dangerous, text, systems = None, "", len(plan.systems)
    notes = [] if registered_protocol(study, plan) else [_UNREGISTERED]
    if humans is None:
        together = len(plan.patients) - len({*plan.patients.values()})
        cases = max(plan.systems.values(), default=plan.cases) - len(development) - together
        doubly, clinicians = None, rules.minimum_clinicians
        notes.append(
            f"No clinician has rated yet: the plan is for {clinicians} clinicians who rate every case."
        )
    else:
        together_by = plan.patients
        if study.instrument.by_case:
            marks, together_by = _pooled(humans.ratings, plan, development)
            humans = replace(humans, ratings=marks)
        rated = tuple(each for each in humans.ratings if each.rater in humans.reference)
        held_out = [each for each in rated if each.score is not None and each.item not in development]
        cases, doubly, clinicians = _rated(held_out, together_by)
        again = _scored_again(humans, held_out)
        settled = _settled(humans) if humans.summary.consensus == "adjudicated" else None
        by_dimension = _by_dimension(held_out, study, rules, settled, together_by)
        text = f"{_told(by_dimension)}{again}"
        shares = [danger / count for _, count, _, danger in by_dimension if danger is not None]
        # Clinicians may read some of the answers to a case: the plan is for as many as they did.
        systems = max(1, round(len({(each.item, each.system) for each in held_out}) / max(1, cases)))
        dangerous = 1 - (1 - min(shares)) ** (1 / systems) if shares else None
    if expected is None and (grades := {len(each.values) for each in study.instrument.dimensions}) != {5}:
        expected = Expected(shares=(1 / max(grades),) * max(grades))
    if dangerous is not None and (expected is None or expected.dangerous is None):
        expected = replace(expected or Expected(), dangerous=dangerous)
    planned = plan_gate(
        rules,
        cases=max(1, cases),
        doubly=doubly,
        clinicians=clinicians,
        expected=expected,
        systems=systems,
        power=power,
        danger=any(each.carries_danger(rules) for each in of_instrument(study.instrument)),
        notes=notes,
    )
    return replace(planned, rated=text)


def _scored_again(humans: Humans, rated: Sequence[Rating]) -> str:
    """How many of the reference's answers the second panel scored too, in words."""
    panel = humans.summary.second_panel
    if panel is None:
        return ""
    own = {(each.item, each.system) for each in rated}
    again = {
        (each.item, each.system)
        for each in humans.ratings
        if each.rater in panel.members and each.score is not None
    }
    return f" The second panel scored {len(own & again):,} of the {counted(len(own), 'answer')} again."


Together = Mapping[str, int]  # the patient of a case, or the conversation of a turn, where it has others


def _pooled(
    ratings: Sequence[Rating], plan: RunPlan, development: Collection[str]
) -> tuple[tuple[Rating, ...], Together]:
    """Marks of criteria as rating tables have them: by whether points are negative, each criterion an item of its
    own; and which of these go together, as those of one case or patient do."""
    made, together, numbers = [], {}, dict[str, int]()
    harms = {(item, each.id) for item, own in plan.criteria.of.items() for each in own if each.points < 0}
    for each in ratings:
        if each.item not in development:
            item = f"{each.item} › {each.dimension}"
            together[item] = numbers.setdefault(_case(each.item, plan.patients), len(numbers))
            harm = (each.item, each.dimension) in harms
            made.append(replace(each, item=item, dimension=HARM if harm else MET))
    return tuple(made), together


def _rated(ratings: Sequence[Rating], together: Together) -> tuple[int, int, int]:
    """Cases that a clinician scored and that two did, on the dimension where these are the fewest, and the
    number of clinicians there. Those of one patient, and turns of one conversation, count as one."""
    by_dimension: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for each in ratings:
        by_dimension[each.dimension][_case(each.item, together)].add(each.rater)
    counts = [
        (
            len(items),
            sum(len(raters) > 1 for raters in items.values()),
            len(set().union(*items.values())),
        )
        for items in by_dimension.values()
    ]
    return min(counts, key=lambda each: each[:2], default=(0, 0, 1))


def _case(item: str, together: Together) -> str:
    return f"patient {together[item]}" if item in together else f"item {item}"


Answer = tuple[str, str, str]  # dimension, item, system


# What clinicians rated on one dimension: its name, cases, those rated by two or more, and those with a dangerous
# answer (None where severe errors are no matter of this dimension).
_Rated = tuple[str, int, int, int | None]


def _settled(humans: Humans) -> dict[Answer, float]:
    """What the adjudicator said."""
    own = (each for each in humans.ratings if each.rater == humans.summary.adjudicator)
    return {(each.dimension, each.item, each.system): each.score for each in own if each.score is not None}


def _by_dimension(
    ratings: Sequence[Rating],
    study: Study,
    rules: GateRules,
    settled: Mapping[Answer, float] | None,
    together: Together,
) -> list[_Rated]:
    """Dimension by dimension. Where an adjudicator settles, the settled score says what is dangerous; no danger is
    counted where one has still to be settled."""
    found = []
    for dimension in rating_table(list(ratings), instrument=study.instrument).counted if ratings else ():
        answers: dict[tuple[str, str], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
        items: dict[str, set[str]] = defaultdict(set)
        for each in ratings:
            if each.dimension == dimension.name and each.score is not None:
                answers[each.item, each.system][each.rater].append(each.score)
                items[_case(each.item, together)].add(each.rater)
        if not items:
            continue
        limits = dimension.claimed_danger(rules)
        dangerous = None
        if limits is not None:
            words = {
                (item, system): _word(
                    [fmean(own) for own in scores.values()],
                    dimension,
                    rules,
                    None if settled is None else settled.get((dimension.name, item, system), np.nan),
                )
                for (item, system), scores in answers.items()
            }
            if not np.isnan(list(words.values())).any():
                dangerous = len(
                    {_case(item, together) for (item, _), word in words.items() if word <= limits[0]}
                )
        twice = sum(len(raters) > 1 for raters in items.values())
        found.append((dimension.name, len(items), twice, dangerous))
    return found


def _told(rated: Sequence[_Rated]) -> str:
    given = "; ".join(
        f"{name} {counted(cases, 'case')}, {twice:,} by two clinicians or more"
        + ("" if dangerous is None else f", {dangerous:,} dangerous")
        for name, cases, twice, dangerous in rated
    )
    return f"Rated so far: {given or 'nothing'}. The plan takes the dimension with the fewest cases."


def _word(scores: list[float], dimension: Measured, rules: GateRules, settled: float | None) -> float:
    """The score by which an answer is dangerous or not, low being dangerous; NaN where nobody settled it yet.
    `settled` is the adjudicator's score, None in a study without one."""
    if settled is not None:
        return float(dimension.oriented(consensus_of([scores], "adjudicated", [settled]))[0])
    (found,) = danger_reference(dimension.oriented(np.array([scores])), rules.danger_by)
    return float(found)
