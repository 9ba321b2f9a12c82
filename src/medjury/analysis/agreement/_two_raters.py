"""Two raters: every coefficient of one pair of raters, on the same resamples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Unpack, get_args

import numpy as np
from numpy.typing import ArrayLike

from medjury.analysis.agreement._correlation import Correlation, correlations
from medjury.analysis.agreement._differences import Difference, differences
from medjury.analysis.agreement._kappa import NAMES as KAPPAS
from medjury.analysis.agreement._kappa import joint_table, kappas
from medjury.analysis.agreement._options import Options
from medjury.analysis.agreement._scores import Level, Scores, read_pairs, read_scale
from medjury.foundation.errors import MedjuryError
from medjury.statistics import Estimate, Floats, undefined

TWO_RATER_STATISTICS: tuple[str, ...] = (
    *get_args(Difference)[:5],
    *get_args(Correlation),
    *KAPPAS.values(),
    *get_args(Difference)[5:],
)


@dataclass(frozen=True, slots=True, eq=False)
class ConfusionMatrix:
    """Counts over the full scale: first rater's level by row, second rater's by column."""

    levels: tuple[Level, ...]
    counts: Floats
    n: int
    n_incomplete: int


def two_raters(
    first: Scores,
    second: Scores,
    *,
    scale: Sequence[Level] | ArrayLike | None = None,
    statistics: Sequence[str] | None = None,
    **options: Unpack[Options],
) -> dict[str, Estimate]:
    """Every two-rater coefficient of the same items, by name, in the order of `TWO_RATER_STATISTICS`.

    Differences are second − first, so `first` is the reference. Kappas need the full `scale`; without it they
    are undefined and say so. Scores off the scale are an error that names them.

    >>> found = two_raters([1, 2, 3, 4, 5, 3], [1, 2, 4, 4, 5, 2], scale=range(1, 6), resamples=500)
    >>> round(found["exact_match"].value, 3), round(found["kappa_quadratic"].value, 3)
    (0.667, 0.909)
    """
    wanted = list(TWO_RATER_STATISTICS if statistics is None else statistics)
    unknown = [name for name in wanted if name not in TWO_RATER_STATISTICS]
    if unknown:
        names = ", ".join(TWO_RATER_STATISTICS)
        raise MedjuryError(f"There is no two-rater statistic {', '.join(unknown)}. There are {names}.")
    known = None if scale is None else read_scale(scale)
    pairs = read_pairs(first, second, known)
    found: dict[str, Estimate] = {}
    if known is not None and isinstance(known.levels[0], str):
        reason = "it needs numbers, and the scale has words"
        numeric = set(get_args(Difference)[1:]) | set(get_args(Correlation))
        found |= {name: undefined(reason, pairs.n, "none" + pairs.note) for name in wanted if name in numeric}
    rest = [name for name in wanted if name not in found]
    gaps: list[Difference] = [name for name in get_args(Difference) if name in rest]
    if gaps:
        found |= differences(pairs, gaps, **options)
    orders: list[Correlation] = [name for name in get_args(Correlation) if name in rest]
    if orders:
        found |= correlations(pairs, orders, **options)
    chosen = [weights for weights, name in KAPPAS.items() if name in wanted]
    if known is not None:
        found |= kappas(pairs, known, chosen, **options) if chosen else {}
    else:
        reason = "kappa needs the full scale, and none was given"
        found |= {KAPPAS[each]: undefined(reason, pairs.n, "none" + pairs.note) for each in chosen}
    return {name: found[name] for name in wanted}


def confusion_matrix(first: Scores, second: Scores, *, scale: Sequence[Level] | ArrayLike) -> ConfusionMatrix:
    """How often each level of one rater met each level of the other.

    >>> confusion_matrix(["a", "b", "b"], ["a", "b", "a"], scale=["a", "b"]).counts.tolist()
    [[1.0, 0.0], [1.0, 1.0]]
    """
    known = read_scale(scale)
    pairs = read_pairs(first, second, known)
    lost = int(np.count_nonzero(~pairs.kept))
    return ConfusionMatrix(known.levels, joint_table(pairs.rows, known), pairs.n, lost)
