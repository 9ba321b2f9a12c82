"""Cronbach's alpha: how consistent the mean of the raters (or of a questionnaire's parts) is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Unpack

import numpy as np

from medjury.analysis.agreement._groups.icc import coefficient, f_interval, undefined_reason
from medjury.analysis.agreement._groups.icc_standardised import standardised_mean_squares
from medjury.analysis.agreement._groups.mean_squares import MeanSquares, mean_squares
from medjury.statistics import Estimate, Floats, Options, Read, Scores, complete_rows, estimates, read_scores


def cronbach_alpha(scores: Scores, *, standardised: bool = False, **options: Unpack[Options]) -> Estimate:
    """α = k/(k − 1) · (1 − Σ variance of each column / variance of the sum), which is ICC(3,k).

    `standardised` takes columns of equal variance: k r̄/(1 + (k − 1) r̄) with the mean correlation r̄. Cronbach
    (1951) Psychometrika 16:297-334; the analytic interval is Feldt's (1965) Psychometrika 30:357-370, which
    takes standard deviations as known where `standardised`. Rows with a missing cell are left out.

    >>> round(cronbach_alpha([[1, 2, 2], [2, 3, 2], [3, 3, 4], [4, 5, 5]]).value, 3)
    0.962
    """
    table = read_scores(scores, None, 2)
    kept = complete_rows(table) if table.size else np.zeros(len(table), dtype=np.bool_)
    rows, lost = table[kept], int(np.count_nonzero(~kept))

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
        reason=lambda _: undefined_reason(rows, lost),
        note=f"; {lost} of {len(table)} items with missing scores left out" if lost else "",
        **options,
    )["cronbach_alpha"]
