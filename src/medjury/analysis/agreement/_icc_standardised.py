"""ICC(3,k) on z-scores: panels as fixed raters, after each one's own level and spread are removed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import combinations
from typing import Literal, Unpack, get_args

import numpy as np
from numpy.typing import NDArray

from medjury.analysis.agreement._correlation import correlation_statistics
from medjury.analysis.agreement._icc import NEGLIGIBLE, MeanSquares, coefficient, f_interval, from_sums
from medjury.analysis.agreement._options import Analytic, Options, estimates
from medjury.analysis.agreement._scores import Scores, read_scores
from medjury.foundation.documents import choose
from medjury.foundation.errors import MedjuryError
from medjury.statistics import (
    FEWEST_CLUSTERS,
    Estimate,
    Floats,
    Read,
    Statistics,
    counted,
    undefined,
)

# Two raters who differ from opposite ones by less than this are opposite, but for rounding.
_OPPOSITE = 2e-9
Order = Literal["average_first", "standardise_first"]
Owner = NDArray[np.int64]


def icc_3_k_z(*groups: Scores, order: Order = "average_first", **options: Unpack[Options]) -> Estimate:
    """ICC(3,k) of groups of raters after z-scoring; each group (items by raters, or a list) is one rater.

    order="average_first": a group's scores are averaged per item, then the averages are z-scored.
    order="standardise_first": every rater is z-scored over all items he or she rated, also those that nobody
    else did, then the z-scores of an item are averaged over the raters it has (the order of Bedi et al. (2026),
    MedHELM), so a rater with a wide range no longer dominates. A rater without spread (one item, or always the
    same score) has no z-score and no say. The two orders differ once a group has two raters or raters skip items.

    **This is consistency, not absolute agreement.** For two groups with averages z-scored it is exactly
    2r/(1 + r): a judge two grades too high on every item scores 1. Show Pearson's r and icc_2_1 of the raw
    scores beside it.

    With z the scores to compare, ICC(3,k) = (MS items − MS error) / MS items over the items where every group has
    a score. The bootstrap (default, BCa) standardises anew in every
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
    lost = int(np.count_nonzero(~kept))
    note = f"; {lost} of {len(table)} items not scored by every group, left out" if lost else ""
    if order == "standardise_first":
        rows, owner, silent = _who_varies(table, owner)
        kept = np.ones(len(rows), dtype=np.bool_)
        note += f"; without spread, so without a z-score: {counted(silent, 'rater')}" if silent else ""
    else:
        rows = table[kept]
        if len(rows):
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
        reason=lambda _: _reason(rows, len(table) - lost),
        note=note,
        n=len(table) - lost,
        **options,
    )["icc_3_k_z"]


def mean_icc_3_k_z(scores: Scores, **options: Unpack[Options]) -> Estimate:
    """ICC(3,2) on z-scores of every two raters of a table of items by raters, averaged over the pairs: how far
    clinicians agree with one another, as in Bedi et al. (2026), MedHELM.

    Every rater is z-scored over all of his or her items; a pair counts where it shares two items or more and its
    coefficient exists. The method says how many pairs count, and `n` how many items two raters scored.

    The interval resamples items where every pair that counts shares ten or more. Where one shares fewer, a
    resample of items would leave it one of them, or two in the opposite order, whose coefficient has no lower
    limit: the pairs themselves are then resampled, and fewer than ten pairs have no interval. With so few items
    the mean is too low (a true 0.80 gave 0.60 on average in 400 simulated studies of twelve pairs with five items
    each, 0.73 with eight), and the interval rough.

    >>> found = mean_icc_3_k_z([[1, 2, None], [2, 4, None], [3, 5, 3]], interval="none")
    >>> round(found.value, 3), "1 of 3 pairs" in found.method
    (0.991, True)
    """
    table = read_scores(scores, None, 2)
    twice = int(((~np.isnan(table)).sum(axis=1) > 1).sum())
    pairs = [
        pair
        for pair in combinations(range(table.shape[1]), 2)
        if (~np.isnan(table[:, list(pair)])).all(axis=1).sum() > 1
    ]
    whole = table.shape[1] * (table.shape[1] - 1) // 2
    if not pairs:
        return undefined("no two raters share two items", twice, f"mean over 0 of {whole} pairs of raters")
    two = np.arange(2)
    alone = [standardised_statistics(two)(table[:, pair])(np.ones((1, len(table)))) for pair in pairs]
    values = np.array([float(found["icc_3_k_z"][0]) for found in alone])
    counting = [pair for pair, value in zip(pairs, values, strict=True) if np.isfinite(value)]
    note = f"; mean over {len(counting)} of {whole} pairs of raters, those who share two items and vary"
    shared = [(~np.isnan(table[:, list(pair)])).all(axis=1).sum() for pair in counting]
    if counting and min(shared) < FEWEST_CLUSTERS:
        return _over_pairs(values[np.isfinite(values)], note, twice, options)

    def statistics(rows: Floats) -> Read:
        reads = [standardised_statistics(two)(rows[:, pair]) for pair in counting]

        def read(weights: Floats) -> dict[str, Floats]:
            if not reads:
                return {"icc_3_k_z": np.full(len(weights), np.nan)}
            return {"icc_3_k_z": mean_of_known(np.stack([each(weights)["icc_3_k_z"] for each in reads]))}

        return read

    return estimates(
        table,
        statistics,
        kept=np.ones(len(table), dtype=np.bool_),
        reason=lambda _: "no two raters who share two items both differ in their scores",
        note=note,
        n=twice,
        **options,
    )["icc_3_k_z"]


def _over_pairs(values: Floats, note: str, items: int, options: Options) -> Estimate:
    """The mean of the pairs' coefficients with an interval that resamples the pairs; of `items` items in all."""
    own = options.copy()
    own.pop("clusters", None)

    def statistics(rows: Floats) -> Read:
        return lambda weights: {"mean": weights @ rows[:, 0] / weights.sum(axis=-1)}

    found = estimates(values[:, np.newaxis], statistics, reason=lambda _: "", note=note, **own)["mean"]
    method = found.method.replace(f"{len(values)} items", f"{len(values)} pairs of raters")
    # A mean of a few skewed coefficients is widened evenly on both sides; none of them can pass 1.
    return replace(found, n=items, method=method, high=None if found.high is None else min(found.high, 1.0))


def mean_of_known(values: Floats) -> Floats:
    """The mean over the first axis of what is there; NaN where nothing is."""
    known = np.isfinite(values)
    there = known.sum(axis=0)
    return np.asarray(np.where(known, values, 0.0).sum(axis=0) / np.where(there > 0, there, np.nan))


def _who_varies(table: Floats, owner: Owner) -> tuple[Floats, Owner, int]:
    """The table without raters who never vary, and how many those are; a group of none but such keeps them, so
    that there is no value rather than a value of somebody else."""
    varies = [len(np.unique(column[~np.isnan(column)])) > 1 for column in table.T]
    groups = owner.tolist()
    heard = {group for group, varied in zip(groups, varies, strict=True) if varied}
    used = np.array(
        [v or group not in heard for v, group in zip(varies, groups, strict=True)], dtype=np.bool_
    )
    return table[:, used], owner[used], int((~used).sum())


def standardised_statistics(owner: Owner) -> Statistics:
    """ICC(3,k) on z-scores for the bootstrap engine; `owner` tells each column's group."""

    def prepare(rows: Floats) -> Read:
        if rows.shape[1] == 2 and owner[0] != owner[1] and not np.isnan(rows).any():
            return _of_two(rows)
        squares = standardised_mean_squares(rows, owner)
        return lambda weights: {"icc_3_k_z": coefficient(squares(weights), "icc_3_k")}

    return prepare


def _of_two(rows: Floats) -> Read:
    """Of two raters who scored the same items it is Pearson's r, stepped up."""
    correlation = correlation_statistics(["pearson"])(rows)

    def read(weights: Floats) -> dict[str, Floats]:
        r = correlation(weights)["pearson"]
        return {"icc_3_k_z": stepped_up(r)}

    return read


def stepped_up(r: Floats) -> Floats:
    """2r/(1 + r), Spearman and Brown's step from one rater to the mean of two; NaN where raters are opposite."""
    return np.asarray(2.0 * r / np.where(1.0 + r > _OPPOSITE, 1.0 + r, np.nan))


def standardised_mean_squares(rows: Floats, owner: Owner) -> Callable[[Floats], MeanSquares]:
    """Mean squares of the groups' mean z-scores; the result standardises anew for every row of weights."""
    groups = int(owner.max()) + 1
    present = ~np.isnan(rows)
    mask = present.astype(np.float64)
    middle = np.array(
        [column[~np.isnan(column)].mean() if (~np.isnan(column)).any() else 0.0 for column in rows.T]
    )
    cells = np.where(present, rows - middle, 0.0)
    if len(np.unique(owner)) == rows.shape[1]:
        return _single_raters(mask, cells)

    def read(weights: Floats) -> MeanSquares:
        mean, varies, per_unit = _levels_and_spreads(weights @ mask, weights @ cells, weights @ cells**2)
        own = [owner == group for group in range(groups)]
        voices = np.stack([varies[:, each].astype(np.float64) @ mask[:, each].T for each in own], axis=-1)
        standard = np.stack(
            [
                per_unit[:, each] @ cells[:, each].T - (per_unit * mean)[:, each] @ mask[:, each].T
                for each in own
            ],
            axis=-1,
        )
        heard = np.asarray((voices > 0).all(axis=-1))
        standard = np.where(heard[..., np.newaxis], standard / np.where(voices > 0, voices, 1.0), 0.0)
        counting = weights * heard
        return from_sums(
            counting.sum(axis=-1),
            np.einsum("bq,bq->b", counting, standard.sum(axis=-1) ** 2),
            np.einsum("bq,bqg->b", counting, standard**2),
            np.einsum("bq,bqg->gb", counting, standard),
        )

    return read


def _levels_and_spreads(
    n_rated: Floats, total: Floats, square: Floats
) -> tuple[Floats, NDArray[np.bool_], Floats]:
    """Of each resample and rater the mean, whether there is any spread, and one over it. Who has no spread in a
    resample has no z-score there, and no say."""
    mean = np.divide(total, n_rated, out=np.zeros_like(total), where=n_rated > 0)
    variance = (square - n_rated * mean**2) / np.where(n_rated > 1, n_rated - 1.0, np.nan)
    varies = (n_rated > 1) & (variance > NEGLIGIBLE * square)
    return mean, varies, np.where(varies, 1.0 / np.sqrt(np.where(varies, variance, 1.0)), 0.0)


def _single_raters(mask: Floats, cells: Floats) -> Callable[[Floats], MeanSquares]:
    """The same where every group is one rater: with z = (x - mean) / spread, sums of z and of products of z over
    the items that all scored follow from sums of x and of products of x, and no z-score need be written down."""
    raters = mask.shape[1]
    shared = np.asarray(mask.all(axis=1))
    scores = cells * shared[:, np.newaxis]
    first, second = np.triu_indices(raters)
    both = scores[:, first] * scores[:, second]
    # A row for each feature, a column for each resample: numpy is slow at many short rows.
    features = np.vstack([mask.T, cells.T, cells.T**2, scores.T, both.T, shared.astype(np.float64)])
    starts = range(0, 4 * raters, raters)
    often = np.where(first == second, 1.0, 2.0)  # a product of two raters stands in the square of a sum twice

    def read(weights: Floats) -> MeanSquares:
        sums = features @ weights.T
        n_rated, total, square, of_one = (sums[start : start + raters] for start in starts)
        of_two, n = sums[4 * raters : -1], sums[-1]
        mean, varies, per_unit = _levels_and_spreads(n_rated, total, square)
        products = (
            of_two
            - mean[first] * of_one[second]
            - mean[second] * of_one[first]
            + mean[first] * mean[second] * n
        ) * (per_unit[first] * per_unit[second])
        by_rater = per_unit * (of_one - mean * n)
        squares = products[first == second].sum(axis=0)
        heard = np.where(varies.all(axis=0), n, 0.0)
        return from_sums(heard, often @ products, squares, by_rater)

    return read


def _reason(rows: Floats, shared: int) -> str:
    if shared < 2:
        return "fewer than two items were scored by every group"
    if any(np.nanmax(column) == np.nanmin(column) for column in rows.T if not np.isnan(column).all()):
        return "a rater gave every item the same score (or scored one item), so the z-score does not exist"
    return "the items do not differ"
