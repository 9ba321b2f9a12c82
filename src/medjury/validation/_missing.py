"""What the answers without a score could hide, in one plain sentence."""

from __future__ import annotations

from medjury.statistics import shown
from medjury.tables import Measured
from medjury.validation._evidence import Evidence
from medjury.validation._rules.agreement_floor import bounds
from medjury.validation._words import STATISTICS


def missing_warning(evidence: Evidence, dimension: Measured) -> str:
    """The worst and the best that the silence of the rater on trial could mean; "" where it left nothing out that
    clinicians rated."""
    trial = evidence.trial(dimension)
    silent, rated = int(trial.silent.sum()), int((trial.both | trial.silent).sum())
    if not silent or not evidence.rater:
        return ""
    title = STATISTICS.get(trial.statistic, trial.statistic)
    worst, best = ("not known" if end is None else shown(end) for end in bounds(trial))
    said = (
        f"{dimension.label}: {evidence.rater} left {silent:,} of the {rated:,} answers that clinicians rated "
        f"without a score. Nobody knows what it would have said: its agreement ({title}) is {worst} if it had been "
        f"wrong on all of them and {best} if right"
    )
    dangers = evidence.dangers(dimension)
    errors = None if dangers is None else dangers[evidence.rules.danger_by]
    if errors is None or not errors.unscored:
        return f"{said}."
    total = errors.dangerous + errors.unscored
    return (
        f"{said}. Clinicians called {errors.unscored:,} of them dangerous: between {errors.errors:,} and "
        f"{errors.errors + errors.unscored:,} severe errors among {total:,} dangerous answers."
    )
