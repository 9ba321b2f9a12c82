"""What a pilot says of the study to come: grades, agreement, offset, coverage and severe errors."""

from __future__ import annotations

import numpy as np

from medjury.analysis.agreement._planning.gate_world import Expected
from medjury.analysis.agreement._study import agreement
from medjury.foundation.errors import MedjuryError
from medjury.tables import SCORED, UNSCORED, rating_table

_KAPPA = "kappa_quadratic"


def expected_from(pilot: object, dimension: str | None = None) -> Expected:
    """The expectation that the ratings of a pilot give for one dimension (its only one, where none is named)."""
    table = rating_table(pilot)
    measured = table.dimension(dimension) if dimension else table.counted[0]
    if dimension is None and len(table.counted) > 1:
        names = ", ".join(each.name for each in table.counted)
        raise MedjuryError(
            f"the pilot has several dimensions ({names}): name the one to plan for (--dimension)."
        )
    if measured.grades is None:
        raise MedjuryError(f"the pilot's scale of {measured.name!r} is not known: say it (--scale LOW HIGH).")
    roles = table.roles()
    rater = roles.jury or roles.raters[0]
    found = agreement(
        table,
        dimensions=measured.name,
        statistics=[_KAPPA, "offset"],
        severe=[measured.name],
        resamples=200,
        singles=False,
    )
    beside = found.non_inferiority.get((measured.name, rater), {}).get(_KAPPA)
    if beside is None or beside.judge_human.value is None or beside.human_human.value is None:
        raise MedjuryError(
            "the pilot does not say how well clinicians agree with one another: two of them must have rated the "
            "same cases. Plan with --agreement and --among instead."
        )
    grid = table.grid(measured.name, roles)
    said = measured.oriented(grid.scores[rater])
    humans = measured.oriented(np.column_stack([grid.scores[name] for name in roles.reference]))
    values = np.asarray(measured.grades.values)
    given = humans[~np.isnan(humans)]
    counts = np.bincount(np.abs(given[:, np.newaxis] - values).argmin(axis=1), minlength=len(values)) + 0.5
    step = (values[-1] - values[0]) / (len(values) - 1)
    mean = np.nanmean(np.where(np.isnan(humans).all(axis=1, keepdims=True), np.inf, humans), axis=1)
    both = np.isfinite(mean) & ~np.isnan(said)
    states = grid.states[rater]
    asked = int(((states == SCORED) | (states == UNSCORED)).sum())
    severe = found.severe[(measured.name, rater)]
    at_risk = severe.dangerous + severe.unscored
    rated = int(np.isfinite(mean).sum())
    return Expected(
        shares=tuple(float(each) for each in counts / counts.sum()),
        agreement=float(beside.judge_human.value),
        among=float(beside.human_human.value),
        offset=float((said[both] - mean[both]).mean() / step),
        coverage=float((states == SCORED).sum() / asked) if asked else 1.0,
        errors=severe.errors / severe.dangerous if severe.dangerous else 0.0,
        dangerous=at_risk / rated if at_risk else None,
    )
