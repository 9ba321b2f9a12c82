"""A jury that repeats one clinician is not validated by that clinician."""

from __future__ import annotations

import numpy as np

from medjury.records import dataclass
from medjury.statistics import percent, shown
from medjury.tables import Measured
from medjury.validation._clustered import clustered_contrast
from medjury.validation._evidence import Evidence
from medjury.validation._rules.found import Lines, RuleFound, does_not_apply, found
from medjury.validation._trial import Trial
from medjury.validation._words import STATISTICS

NAME = "The jury is no copy of one clinician"
# With fewer shared answers, identical scores are luck.
FEWEST = 20
# Colleagues of the clinician must agree with him or her less than the jury by this share of answers at least.
_APART = 0.05
LINES = Lines(
    "The jury came to its scores by itself, and did not repeat one person's.",
    "Exact agreement with a single clinician at or above the limit, and above that of the other clinicians with "
    "the same one by 0.05 or more, one-sided t-test on clustered answers.",
    "Find out how the clinicians' scores reached the judges, and run the study again without them.",
)


@dataclass(frozen=True, slots=True)
class _Likeness:
    clinician: int
    with_jury: float
    with_colleagues: float
    least_apart: float


def no_copy(evidence: Evidence, dimension: Measured) -> tuple[RuleFound, ...]:
    trial, limit = evidence.trial(dimension), evidence.rules.copy_limit
    asked = (
        f"fewer than {percent(limit)} of its scores the same as one clinician's, unless colleagues come close"
    )
    alike = [
        each
        for place in range(trial.humans.shape[1])
        if (each := _likeness(trial, place, 2 * evidence.confidence - 1)) is not None
    ]
    if not alike:
        said = "no clinician shares enough answers with the jury and with a colleague"
        return (does_not_apply(NAME, asked, said, lines=LINES),)
    nearest = max(alike, key=lambda each: each.with_jury)
    who = trial.clinicians[nearest.clinician]
    copied = nearest.with_jury >= limit and nearest.least_apart > _APART
    others = _with_the_others(trial, nearest.clinician) if copied else ""
    said = (
        f"most like {who}: {percent(nearest.with_jury, 1)} the same; colleagues and {who}: "
        f"{percent(nearest.with_colleagues, 1)}"
    )
    return (
        found(
            NAME,
            asked,
            f"{said}{others}",
            not copied,
            essential=True,
            why=f"The jury gave the same score as {who} on {percent(nearest.with_jury, 1)} of the answers, where "
            f"{who}'s own colleagues did on {percent(nearest.with_colleagues, 1)}: it repeats {who}, who cannot be "
            "its yardstick. Leave that clinician out, and find out how the scores got to the jury.",
            numbers=f"{percent(nearest.with_jury, 1)} the same as {who}, under {percent(limit)} allowed",
            lines=LINES,
        ),
    )


def _likeness(trial: Trial, place: int, confidence: float) -> _Likeness | None:
    grades = trial.dimension.grades
    together = np.column_stack([trial.humans, trial.said])
    scores = together if grades is None else grades.grade(together)
    own = scores[:, place]
    matches, groups, whose, weights = [], [], [], []
    for other in range(scores.shape[1]):
        shared = ~np.isnan(own) & ~np.isnan(scores[:, other])
        if other == place or not shared.any():
            continue
        jury = other == scores.shape[1] - 1
        if jury and len(np.unique(trial.grid.clusters[shared])) < FEWEST:
            return None
        matches.append(np.abs(own - scores[:, other])[shared] < 1e-9)
        groups.append(np.full(int(shared.sum()), int(jury)))
        whose.append(trial.grid.clusters[shared])
        weights.append(np.ones(int(shared.sum())) if trial.weights is None else trial.weights[shared])
    if len(matches) < 2 or not groups[-1].all():
        return None
    same, group = np.concatenate(matches).astype(np.float64), np.concatenate(groups)
    own = np.concatenate(weights)
    apart, _ = clustered_contrast(
        same,
        group,
        np.concatenate(whose),
        confidence=confidence,
        weights=None if trial.weights is None else own,
    )
    return _Likeness(
        place,
        float(np.average(same[group == 1], weights=own[group == 1])),
        float(np.average(same[group == 0], weights=own[group == 0])),
        -1.0 if apart.low is None else apart.low,
    )


def _with_the_others(trial: Trial, place: int) -> str:
    """The jury's agreement with everybody else."""
    made = trial.without(place).agreement({"all": trial.both}, humans=False, resamples=0)
    title = STATISTICS.get(trial.statistic, trial.statistic)
    return f"; {title} with the others {shown(made.observed.get('jury all'))}"
