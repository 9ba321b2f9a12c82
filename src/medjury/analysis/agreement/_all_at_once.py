"""Every coefficient at once: of two raters' scores of the same items, and of one table of items by many raters."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Unpack, get_args

import numpy as np
from numpy.typing import ArrayLike

from medjury.analysis.agreement._chance_corrected import (
    brennan_prediger,
    conger_kappa,
    fleiss_kappa,
    gwet_ac,
)
from medjury.analysis.agreement._correlation import Correlation, correlations
from medjury.analysis.agreement._differences import Difference, differences
from medjury.analysis.agreement._icc import (
    FORMS,
    MeanSquares,
    coefficient,
    f_interval,
    intraclass_correlations,
    mean_squares,
    undefined_reason,
)
from medjury.analysis.agreement._icc_standardised import icc_3_k_z, standardised_mean_squares
from medjury.analysis.agreement._kappa import NAMES as KAPPAS
from medjury.analysis.agreement._kappa import kappas
from medjury.analysis.agreement._krippendorff import AlphaLevel, krippendorff_alphas
from medjury.analysis.agreement._options import Options, estimates
from medjury.analysis.agreement._ranks import centred_midranks, levels_of
from medjury.analysis.agreement._scores import (
    Level,
    Scores,
    complete_rows,
    read_complete,
    read_pairs,
    read_scale,
    read_scores,
)
from medjury.foundation.errors import MedjuryError
from medjury.statistics import Estimate, Floats, Read, Statistics, undefined


def kendall_w(scores: Scores, *, ties_corrected: bool = True, **options: Unpack[Options]) -> Estimate:
    """W = 12 S/(m²(n³ − n) − m Σ(t³ − t)): S the spread of the items' rank sums, m raters, n items, t ties.

    0 is no common order, 1 the same order. Kendall & Babington Smith (1939) Ann Math Stat 10:275-287. Items
    that some rater did not score are left out. Without the correction for ties W is too low on a scale,
    and more so in resamples, so it comes without an interval.

    >>> round(kendall_w([[1, 2], [2, 1], [3, 3], [4, 4]]).value, 3)
    0.9
    """
    rows, kept, note = read_complete(scores)
    if not ties_corrected:
        options = {"interval": "none"}
    return estimates(
        rows,
        concordance_statistics(ties_corrected=ties_corrected),
        kept=kept,
        reason=lambda _: _reason(rows),
        note=note,
        **options,
    )["kendall_w"]


def concordance_statistics(*, ties_corrected: bool = True) -> Statistics:
    """Kendall's W for the bootstrap engine; rows are items by raters, incomplete ones do not count."""

    def prepare(rows: Floats) -> Read:
        complete = complete_rows(rows)
        columns = [levels_of(column) for column in rows[complete].T]
        raters = len(columns)

        def read(weights: Floats) -> dict[str, Floats]:
            drawn = weights[:, complete]
            n = drawn.sum(axis=-1)
            rank_sums = np.zeros_like(drawn)
            ties = np.zeros_like(n)
            for column in columns:
                level = column.weights(drawn)
                rank_sums += centred_midranks(level)[:, column.codes]
                ties += (level**3 - level).sum(axis=-1)
            spread = np.einsum("bq,bq,bq->b", drawn, rank_sums, rank_sums)
            most = raters**2 * (n**3 - n) - (raters * ties if ties_corrected else 0.0)
            exists = (most > 0) & (raters > 1)
            return {"kendall_w": 12.0 * spread / np.where(exists, most, np.nan)}

        return read

    return prepare


def _reason(rows: Floats) -> str:
    if rows.ndim < 2 or rows.shape[1] < 2:
        return "there are fewer than two raters"
    if len(rows) < 2:
        return "fewer than two items were scored by every rater"
    return "no rater orders the items: each gave all the same score"


# Cronbach's alpha: how consistent the mean of the raters (or of a questionnaire's parts) is.


def cronbach_alpha(scores: Scores, *, standardised: bool = False, **options: Unpack[Options]) -> Estimate:
    """α = k/(k − 1) · (1 − Σ variance of each column / variance of the sum), which is ICC(3,k).

    `standardised` takes columns of equal variance: k r̄/(1 + (k − 1) r̄) with the mean correlation r̄. Cronbach
    (1951) Psychometrika 16:297-334; the analytic interval is Feldt's (1965) Psychometrika 30:357-370, which
    takes standard deviations as known where `standardised`. Rows with a missing cell are left out.

    >>> round(cronbach_alpha([[1, 2, 2], [2, 3, 2], [3, 3, 4], [4, 5, 5]]).value, 3)
    0.962
    """
    rows, kept, note = read_complete(scores)

    def squares_of(distinct: Floats) -> Callable[[Floats], MeanSquares]:
        columns = np.arange(distinct.shape[1])
        return standardised_mean_squares(distinct, columns) if standardised else mean_squares(distinct)

    def statistics(distinct: Floats) -> Read:
        squares = squares_of(distinct)
        return lambda weights: {"cronbach_alpha": coefficient(squares(weights), "icc_3_k")}

    def feldt(value: float, confidence: float) -> tuple[float, float, str] | None:
        ends = f_interval(squares_of(rows)(np.ones((1, len(rows)))), "icc_3_k")(value, confidence)
        return None if ends is None else (ends[0], ends[1], "F interval (Feldt 1965)")

    return estimates(
        rows,
        statistics,
        kept=kept,
        analytic=lambda: {"cronbach_alpha": feldt},
        reason=lambda _: undefined_reason(rows, int((~kept).sum())),
        note=note,
        **options,
    )["cronbach_alpha"]


ALPHAS = {f"krippendorff_alpha_{level}": level for level in get_args(AlphaLevel)}
# Coefficients of the scale's levels, each with what it is asked.
ON_LEVELS: Mapping[str, tuple[Callable[..., Estimate], Mapping[str, Any]]] = {
    "gwet_ac1": (gwet_ac, {}),
    "gwet_ac2_linear": (gwet_ac, {"weights": "linear"}),
    "gwet_ac2_quadratic": (gwet_ac, {"weights": "quadratic"}),
    "fleiss_kappa": (fleiss_kappa, {}),
    "conger_kappa": (conger_kappa, {}),
    "brennan_prediger": (brennan_prediger, {}),
}
ON_NUMBERS = ("icc_3_k_z", "kendall_w", "cronbach_alpha")
# Ratio alpha is left to who asks for it: it needs a true zero, which a rating scale does not have.
MANY_RATER_STATISTICS: tuple[str, ...] = (*FORMS, *list(ALPHAS)[:3], *ON_LEVELS, *ON_NUMBERS)


def many_raters(
    scores: Scores,
    *,
    scale: Sequence[Level] | ArrayLike | None = None,
    statistics: Sequence[str] | None = None,
    **options: Unpack[Options],
) -> dict[str, Estimate]:
    """Every many-rater coefficient of a table of items by raters, by name.

    Coefficients of the scale's levels need `scale`, and a scale of words allows no coefficient of numbers: these
    are undefined and say so.

    >>> table = [[1, 2, 1], [2, 2, 3], [3, 3, 3], [4, 5, 4], [5, 4, 5]]
    >>> found = many_raters(table, scale=range(1, 6), resamples=500)
    >>> round(found["icc_2_1"].value, 3), round(found["gwet_ac2_quadratic"].value, 3)
    (0.872, 0.871)
    """
    wanted = list(MANY_RATER_STATISTICS if statistics is None else statistics)
    _refuse_unknown(wanted, MANY_RATER_STATISTICS, "many-rater")
    known = None if scale is None else read_scale(scale)
    table = read_scores(scores, known, 2)
    words = known is not None and isinstance(known.levels[0], str)
    found: dict[str, Estimate] = {}
    for name in wanted:
        if known is None and name in ON_LEVELS:
            found[name] = undefined("it compares levels, and no scale was given", len(table), "none")
        elif words and name not in (*ON_LEVELS, "krippendorff_alpha_nominal", "krippendorff_alpha_ordinal"):
            found[name] = undefined("it needs numbers, and the scale has words", len(table), "none")
    rest = [name for name in wanted if name not in found]
    forms = [form for form in FORMS if form in rest]
    if forms:
        found |= intraclass_correlations(table, forms, **options)
    alphas = [level for name, level in ALPHAS.items() if name in rest]
    if alphas:
        found |= krippendorff_alphas(table, alphas, **options)
    for name in rest:
        if known is not None and name in ON_LEVELS:
            function, asked = ON_LEVELS[name]
            found[name] = function(table, scale=known.positions, **asked, **options)
    if "icc_3_k_z" in rest and table.shape[1] < 2:
        found["icc_3_k_z"] = undefined("there are fewer than two raters", len(table), "none")
    elif "icc_3_k_z" in rest:
        found["icc_3_k_z"] = icc_3_k_z(*table.T, **options)
    if "kendall_w" in rest:
        found["kendall_w"] = kendall_w(table, **options)
    if "cronbach_alpha" in rest:
        found["cronbach_alpha"] = cronbach_alpha(table, **options)
    return {name: found[name] for name in wanted}


def _refuse_unknown(wanted: Sequence[str], known: Sequence[str], kind: str) -> None:
    if unknown := [name for name in wanted if name not in known]:
        raise MedjuryError(
            f"There is no {kind} statistic {', '.join(unknown)}. There are {', '.join(known)}."
        )


# Two raters: every coefficient of one pair of raters, on the same resamples.


TWO_RATER_STATISTICS: tuple[str, ...] = (
    *get_args(Difference)[:5],
    *get_args(Correlation),
    *KAPPAS.values(),
    *get_args(Difference)[5:],
)


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
    _refuse_unknown(wanted, TWO_RATER_STATISTICS, "two-rater")
    known = None if scale is None else read_scale(scale)
    pairs = rows, _, note = read_pairs(first, second, known)
    found: dict[str, Estimate] = {}
    if known is not None and isinstance(known.levels[0], str):
        reason = "it needs numbers, and the scale has words"
        numeric = set(get_args(Difference)[1:]) | set(get_args(Correlation))
        found |= {name: undefined(reason, len(rows), "none" + note) for name in wanted if name in numeric}
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
        found |= {KAPPAS[each]: undefined(reason, len(rows), "none" + note) for each in chosen}
    return {name: found[name] for name in wanted}
