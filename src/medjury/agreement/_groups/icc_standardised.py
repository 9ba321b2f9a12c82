"""ICC(3,k) on z-scores: panels as fixed raters, after each one's own level and spread are removed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, Unpack, get_args

import numpy as np
from numpy.typing import NDArray

from medjury.agreement._groups.icc import coefficient, f_interval
from medjury.agreement._groups.mean_squares import NEGLIGIBLE, MeanSquares, from_sums
from medjury.errors import MedjuryError
from medjury.statistics import (
    Analytic,
    Estimate,
    Floats,
    Options,
    Read,
    Scores,
    Statistics,
    choose,
    estimates,
    read_scores,
)

Order = Literal["average_first", "standardise_first"]
Owner = NDArray[np.int64]


def icc_3_k_z(*groups: Scores, order: Order = "average_first", **options: Unpack[Options]) -> Estimate:
    """ICC(3,k) of groups of raters after z-scoring; each group (items by raters, or a list) is one rater.

    order="average_first": a group's scores are averaged per item, then the averages are z-scored.
    order="standardise_first": every rater is z-scored over the items he or she rated, then z-scores are
    averaged, so a rater with a wide range no longer dominates. The two differ once a group has two raters.

    **This is consistency, not absolute agreement.** For two groups with averages z-scored it is exactly
    2r/(1 + r): a judge two grades too high on every item scores 1. Show Pearson's r and icc_2_1 of the raw
    scores beside it.

    Items count where every group has a score. The bootstrap (default, BCa) standardises anew in every
    resample; the analytic F interval takes the z-scores as given.

    >>> clinicians, jury = [[1, 2], [2, 2], [3, 4], [4, 5]], [3, 4, 4, 5]
    >>> estimate = icc_3_k_z(clinicians, jury)
    >>> round(estimate.value, 3)
    0.942
    """
    choose(order, get_args(Order), "order")
    if len(groups) < 2:
        raise MedjuryError("An ICC on z-scores compares two or more groups of raters. Give at least two.")
    tables = [read_scores(group, None, 2) for group in groups]
    if len({len(table) for table in tables}) > 1:
        sizes = ", ".join(str(len(table)) for table in tables)
        raise MedjuryError(f"The groups have {sizes} items. Give every group a row for every item.")
    table = np.hstack(tables)
    owner = np.repeat(np.arange(len(tables)), [each.shape[1] for each in tables])
    scored = np.column_stack([(~np.isnan(each)).any(axis=1) for each in tables])
    kept = np.asarray(scored.all(axis=1))
    rows = table[kept]
    lost = int(np.count_nonzero(~kept))
    if order == "average_first" and len(rows):
        with np.errstate(invalid="ignore"):
            rows = np.column_stack(
                [np.nanmean(rows[:, owner == group], axis=1) for group in range(len(tables))]
            )
        owner = np.arange(len(tables))

    def analytic() -> dict[str, Analytic]:
        squares = standardised_mean_squares(rows, owner)(np.ones((1, len(rows))))
        return {"icc_3_k_z": f_interval(squares, "icc_3_k")}

    return estimates(
        rows,
        standardised_statistics(owner),
        kept=kept,
        analytic=analytic,
        reason=lambda _: _reason(rows),
        note=f"; {lost} of {len(table)} items not scored by every group, left out" if lost else "",
        **options,
    )["icc_3_k_z"]


def standardised_statistics(owner: Owner) -> Statistics:
    """ICC(3,k) on z-scores for the bootstrap engine; `owner` tells each column's group."""

    def prepare(rows: Floats) -> Read:
        squares = standardised_mean_squares(rows, owner)
        return lambda weights: {"icc_3_k_z": coefficient(squares(weights), "icc_3_k")}

    return prepare


def standardised_mean_squares(rows: Floats, owner: Owner) -> Callable[[Floats], MeanSquares]:
    """Mean squares of the groups' mean z-scores; the result standardises anew for every row of weights."""
    groups = int(owner.max()) + 1
    present = ~np.isnan(rows)
    mask = present.astype(np.float64)
    middle = np.array(
        [column[~np.isnan(column)].mean() if (~np.isnan(column)).any() else 0.0 for column in rows.T]
    )
    cells = np.where(present, rows - middle, 0.0)
    per_group = np.column_stack([mask[:, owner == group].sum(axis=1) for group in range(groups)])
    share = np.divide(mask, per_group[:, owner], out=np.zeros_like(mask), where=present)

    def read(weights: Floats) -> MeanSquares:
        n_rated, total, square = weights @ mask, weights @ cells, weights @ cells**2
        mean = np.divide(total, n_rated, out=np.zeros_like(total), where=n_rated > 0)
        variance = (square - n_rated * mean**2) / (n_rated - 1.0)
        spread = np.where((n_rated > 1) & (variance > NEGLIGIBLE * square), variance, np.nan)
        # A rater none of whose items was drawn has no say; one without spread makes the resample undefined.
        per_unit = np.where(n_rated > 0, 1.0 / np.sqrt(spread), 0.0)
        standard = np.stack(
            [
                per_unit[:, owner == group] @ (cells * share)[:, owner == group].T
                - (per_unit * mean)[:, owner == group] @ share[:, owner == group].T
                for group in range(groups)
            ],
            axis=-1,
        )
        return from_sums(
            weights.sum(axis=-1),
            np.einsum("bq,bq->b", weights, standard.sum(axis=-1) ** 2),
            np.einsum("bq,bqg->b", weights, standard**2),
            np.einsum("bq,bqg->bg", weights, standard),
            groups,
        )

    return read


def _reason(rows: Floats) -> str:
    if len(rows) < 2:
        return "fewer than two items were scored by every group"
    if any(np.nanmax(column) == np.nanmin(column) for column in rows.T if not np.isnan(column).all()):
        return "a rater gave every item the same score (or scored one item), so the z-score does not exist"
    return "the items do not differ"
