"""The jury agrees with clinicians better than chance and "fair" would, and does so beyond doubt, whatever the
answers that it left without a score may hide."""

from __future__ import annotations

import numpy as np

from medjury.statistics import Floats, percent, shown
from medjury.tables import Measured
from medjury.validation._evidence import Evidence
from medjury.validation._rules.found import RUN_AGAIN, Lines, RuleFound, does_not_apply, found
from medjury.validation._trial import Trial
from medjury.validation._words import STATISTICS

LINES = Lines(
    "The jury says much the same as clinicians do.",
    "The coefficient over the rater's pairs with single clinicians on all answers both scored; cluster bootstrap.",
    "Improve prompt, judges or instrument on development cases, then test on new cases.",
)
DOUBT = LINES.asking("Have clinicians rate more cases: the interval is too wide to be sure.")
SILENCE = Lines(
    "Even if the jury had been wrong on everything it left out, it would still agree well enough.",
    "The same coefficient with each unscored answer at the end of the scale that is farther from the clinicians.",
    RUN_AGAIN,
)


def agreement_floor(evidence: Evidence, dimension: Measured) -> tuple[RuleFound, ...]:
    name, agreed, _ = evidence.agreed(dimension)
    floor, title = evidence.rules.floor, STATISTICS.get(name, name)
    value = None if agreed is None else agreed.value
    low = None if agreed is None else agreed.low
    # Where the estimate itself is below the floor, that is said already.
    doubt = low is not None and value is not None and value >= floor
    flat = value is None and evidence.trial(dimension).flat
    return (
        found(
            "Agreement with clinicians reaches the floor",
            f"{title} of {floor:g} or more",
            "nothing to compare" if agreed is None else shown(agreed),
            False if flat else None if value is None else value >= floor,
            essential=True,
            why="The jury gave every answer the same score, where clinicians did not: it sees nothing."
            if flat
            else f"The jury's agreement with clinicians ({title}) is "
            f"{'not known' if value is None else shown(value)}; the floor is {floor:g}.",
            numbers=f"agreement {'not known' if value is None else shown(value)}, {floor:g} needed",
            lines=LINES,
        ),
        found(
            "and does so beyond doubt",
            f"the lower end of its {percent(evidence.confidence)} interval is {floor:g} or more",
            "no interval" if low is None else f"lower end {shown(low)}",
            None if low is None else low >= floor,
            essential=False,
            why=f"The true agreement could be as low as {shown(low)}, below the floor of {floor:g}."
            if doubt
            else "",
            numbers=f"agreement at worst {shown(low)}, {floor:g} needed",
            lines=DOUBT,
        ),
        _whatever_is_missing(evidence.trial(dimension), floor, title),
    )


def _whatever_is_missing(trial: Trial, floor: float, title: str) -> RuleFound:
    name = "and whatever the missing answers hide"
    asked = f"{title} of {floor:g} or more even if every answer without a score had been wrong"
    missing = int(trial.silent.sum())
    if not missing:
        return does_not_apply(name, asked, "no answer is missing", lines=SILENCE)
    worst, best = bounds(trial)
    low, high = ("not known" if end is None else shown(end) for end in (worst, best))
    return found(
        name,
        asked,
        f"between {low} and {high}: {missing:,} answers without a score",
        None if worst is None else worst >= floor,
        essential=False,
        why=f"The jury left {missing:,} answers without a score. If it had been wrong on all of them, its "
        f"agreement ({title}) would be {low}; the floor is {floor:g}.",
        numbers=f"{missing:,} without a score",
        lines=SILENCE,
    )


def bounds(trial: Trial) -> tuple[float | None, float | None]:
    """The agreement if every answer without a score had got the worst score, and if it had the clinicians' own."""
    return trial.if_silence_were(_worst(trial)), trial.if_silence_were(trial.middle)


def _worst(trial: Trial) -> Floats:
    """For each answer the end of the scale (of the clinicians' scores, without a scale) that is farther away."""
    grades = trial.dimension.grades
    low, high = (
        (grades.lowest, grades.highest)
        if grades is not None
        else (np.nanmin(trial.humans), np.nanmax(trial.humans))
    )
    return np.where(trial.middle - low > high - trial.middle, float(low), float(high))
