"""A jury that orders answers well and is a grade too strict, or too kind, still says the wrong thing."""

from __future__ import annotations

import numpy as np

from medjury.statistics import percent, shown
from medjury.tables import Measured
from medjury.validation._clustered import clustered_contrast
from medjury.validation._evidence import Evidence
from medjury.validation._rules.found import Lines, RuleFound, found

LINES = Lines(
    "The jury is, on the whole, neither stricter nor kinder than clinicians.",
    "Mean of rater minus clinicians' mean within ± the limit: two one-sided t-tests on clustered differences.",
    "Correct the level of the scores on development cases: `medjury calibrate fit`.",
)
DOUBT = LINES.asking("Have clinicians rate more cases: the interval is too wide to be sure.")


def offset(evidence: Evidence, dimension: Measured) -> tuple[RuleFound, ...]:
    trial, share = evidence.trial(dimension), evidence.rules.offset_limit
    name, doubt = "The jury is neither stricter nor kinder", "and is neither beyond doubt"
    if trial.span is None or not trial.compared.any():
        why = (
            "Without a scale nobody knows how large a difference of scores is."
            if trial.compared.any()
            else "There is no answer with a clinician's and the jury's score to compare."
        )
        asked = f"within {percent(share, 1)} of the scale"
        return (found(name, asked, "not known", None, essential=False, why=why, lines=LINES),)
    limit = share * trial.span
    apart = (trial.said - trial.reference)[trial.compared]
    level = 2 * evidence.confidence - 1
    mean, _ = clustered_contrast(
        apart,
        np.ones(len(apart), dtype=np.int64),
        trial.grid.clusters[trial.compared],
        confidence=level,
        span=trial.span,
        weights=trial.of(trial.compared),
    )
    value = float(np.average(apart, weights=trial.of(trial.compared)))
    inside = None if mean.low is None or mean.high is None else mean.low >= -limit and mean.high <= limit
    way = "higher" if value > 0 else "lower"
    return (
        found(
            name,
            f"mean difference from clinicians within ±{limit:g} ({percent(share, 1)} of the scale)",
            shown(value),
            abs(value) <= limit,
            essential=True,
            why=f"On average the jury's scores are {shown(abs(value))} {way} than the clinicians'; {limit:g} is "
            "allowed.",
            numbers=f"{shown(abs(value))} {way}, {limit:g} allowed",
            lines=LINES,
        ),
        found(
            doubt,
            f"the whole {percent(level)} interval within ±{limit:g}",
            "no interval" if inside is None else f"{shown(mean.low)} to {shown(mean.high)}",
            inside,
            essential=False,
            why=f"The jury's scores could truly differ from the clinicians' by more than {limit:g} on average "
            f"({shown(mean.low)} to {shown(mean.high)})."
            if abs(value) <= limit
            else "",
            numbers=f"difference {shown(mean.low)} to {shown(mean.high)}, {limit:g} allowed",
            lines=DOUBT,
        ),
    )
