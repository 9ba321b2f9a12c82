"""A jury may be fair on the whole and never give the best grade, or the worst."""

from __future__ import annotations

import numpy as np

from medjury.statistics import Estimate, Floats, percent, shown
from medjury.tables import Grades, Measured
from medjury.validation._beyond_doubt import holm
from medjury.validation._clustered import clustered_contrast
from medjury.validation._evidence import Evidence
from medjury.validation._rules.found import Lines, RuleFound, does_not_apply, found
from medjury.validation._rules.parts import FEWEST
from medjury.validation._trial import Trial

NAME = "No grade is scored too kindly or too strictly"
# More grades than this are looked at in as many equal stretches of the scale as half of it.
_MOST_GRADES = 10
LINES = Lines(
    "Where a clinician gave the best grade, or the worst, the jury comes as near to it as another clinician does.",
    "Among answers to which one clinician gave a grade, mean of rater minus another clinician (both regress to the "
    "mean alike): two-sided clustered t-tests, Holm; fails only beyond the offset limit.",
    "Say in the instrument what each grade means, with an example, and test on new cases.",
)


def grade_offset(evidence: Evidence, dimension: Measured) -> tuple[RuleFound, ...]:
    trial, share = evidence.trial(dimension), evidence.rules.offset_limit
    asked = f"at no grade beyond doubt more than {percent(share, 1)} of the scale above or below another clinician"
    grades = dimension.grades
    tests = [] if grades is None else _tests(trial, grades)
    if trial.span is None or not tests:
        said = "no grade has enough cases that two clinicians rated"
        return (does_not_apply(NAME, asked, said, lines=LINES),)
    limit = share * trial.span
    adjusted = holm([p for _, _, p in tests])
    values = [each.value or 0.0 for _, each, _ in tests]
    bad = [
        place
        for place, p in enumerate(adjusted)
        if p < 1 - evidence.confidence and abs(values[place]) > limit
    ]
    widest = max(bad or range(len(tests)), key=lambda place: abs(values[place]))
    where = ", ".join(tests[place][0] for place in bad)
    return (
        found(
            NAME,
            asked,
            f"widest where a clinician gave {tests[widest][0]}: jury {shown(values[widest])} beside another "
            f"clinician; {limit:g} is allowed",
            not bad,
            essential=True,
            why=f"Where a clinician gave {where}, the jury's scores are far from what another clinician gave (by "
            f"{shown(abs(values[widest]))} on average; {limit:g} is allowed): it does not use the scale as "
            "clinicians do.",
            numbers=f"off by {shown(abs(values[widest]))} at grade {tests[widest][0]}, {limit:g} allowed",
            lines=LINES,
        ),
    )


def _tests(trial: Trial, grades: Grades) -> list[tuple[str, Estimate, float]]:
    """For each grade, or stretch of a long scale: its name, the jury less the other clinicians, two-sided p."""
    scores = grades.grade(trial.humans)
    several = len(grades.values) > _MOST_GRADES
    ends = np.linspace(grades.lowest, grades.highest, _MOST_GRADES // 2 + 1) if several else None
    apart, given, whose, weights = _beside_others(trial, scores)
    places = given if ends is None else np.clip(np.searchsorted(ends, given, side="right"), 1, len(ends) - 1)
    found = []
    for place in np.unique(places):
        inside = places == place
        if len(np.unique(whose[inside])) < FEWEST:
            continue
        mean, below = clustered_contrast(
            apart[inside],
            np.ones(int(inside.sum()), dtype=np.int64),
            whose[inside],
            weights=None if weights is None else weights[inside],
        )
        name = f"{place:g}" if ends is None else f"{ends[int(place) - 1]:g} to {ends[int(place)]:g}"
        found.append((name, mean, 2 * min(below, 1 - below)))
    return found


def _beside_others(trial: Trial, scores: Floats) -> tuple[Floats, Floats, Floats, Floats | None]:
    """For each answer and two clinicians: the jury less the second, the grade of the first, the cluster, and the
    weight of the answer where it has one."""
    apart, given, whose, weights = [], [], [], []
    for one in range(scores.shape[1]):
        for other in range(scores.shape[1]):
            shared = trial.both & ~np.isnan(scores[:, one]) & ~np.isnan(scores[:, other])
            if one != other and shared.any():
                apart.append((trial.said - trial.humans[:, other])[shared])
                given.append(scores[shared, one])
                whose.append(trial.grid.clusters[shared])
                weights.append(np.ones(int(shared.sum())) if trial.weights is None else trial.weights[shared])
    if not apart:
        return np.empty(0), np.empty(0), np.empty(0), None
    own = None if trial.weights is None else np.concatenate(weights)
    return np.concatenate(apart), np.concatenate(given), np.concatenate(whose), own
