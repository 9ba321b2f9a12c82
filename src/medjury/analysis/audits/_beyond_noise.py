"""Beyond noise: which single answers moved further than repeats of the same rater explain?"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from medjury.analysis.audits._audit import Finding, names
from medjury.statistics import Estimate, undefined

if TYPE_CHECKING:
    import polars

NO_REPEATS = "no answer has two repeats, so noise is unknown: rate the anchors twice or more"
NO_OVERLAP = "no answer was scored at both times"
# From fewer degrees of freedom the noise of repeats is too badly known to judge single answers by.
FEW_REPEATS = 10


def beyond_noise(scored: polars.DataFrame, confidence: float) -> Finding:
    """Answers whose mean moved further than the pooled variance of repeats explains.

    The limit is Student's, for the variance is itself estimated, with Bonferroni over answers.
    """
    name, n = "answers_beyond_noise", scored.height
    n_x, n_y = (scored[each].to_numpy().astype(np.float64) for each in ("n_x", "n_y"))
    freedom = np.maximum(n_x - 1, 0).sum() + np.maximum(n_y - 1, 0).sum()

    def none(reason: str) -> Finding:
        return Finding(name, undefined(reason, n, "repeats"))

    if not n or freedom == 0:
        return none(NO_REPEATS if n else NO_OVERLAP)
    if freedom < FEW_REPEATS:
        return none(
            f"noise is known from {freedom:g} further repeats only, of {FEW_REPEATS} needed: rate the anchors more "
            "often"
        )
    variances = (scored[f"variance_{side}"].fill_null(0.0).to_numpy() for side in "xy")
    within = (
        sum(float(v @ np.maximum(k - 1, 0)) for v, k in zip(variances, (n_x, n_y), strict=True)) / freedom
    )
    if within <= 0.0:
        return none("no two repeats differ, so there is no noise to compare with: see changed_share")
    difference = scored["mean_y"].to_numpy() - scored["mean_x"].to_numpy()
    beyond = -float(special.stdtrit(freedom, (1.0 - confidence) / (2.0 * n)))
    limit = beyond * np.sqrt(within * (1.0 / n_x + 1.0 / n_y))
    moved = np.flatnonzero(np.abs(difference) > limit + 1e-12)
    largest = sorted(moved.tolist(), key=lambda place: -abs(difference[place]))
    items, systems = scored["item"].to_list(), scored["system"].to_list()
    said = [f"{items[k]}{f' ({systems[k]})' if systems[k] else ''} {difference[k]:+.2g}" for k in largest]
    method = (
        f"no interval: change beyond {math.sqrt(within):.3g} within-answer SD ({freedom:g} degrees of freedom), "
        f"Bonferroni over {n} answers"
    )
    estimate = Estimate(float(len(moved)), None, None, n, method)
    return Finding(name, estimate, verdict=names(said), stands_out=bool(said))
