"""Krippendorff's alpha: observed against expected disagreement, any number of raters, missing cells."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Literal, Unpack, get_args

import numpy as np
from numpy.typing import ArrayLike

from medjury.analysis.agreement._icc import NEGLIGIBLE
from medjury.analysis.agreement._options import Options, estimates
from medjury.analysis.agreement._ranks import centred_midranks
from medjury.analysis.agreement._scores import Level, Scores, read_scale, read_scores
from medjury.foundation.documents import choose
from medjury.foundation.errors import MedjuryError
from medjury.statistics import Estimate, Floats, Read, Statistics

AlphaLevel = Literal["nominal", "ordinal", "interval", "ratio"]


def krippendorff_alpha(
    scores: Scores,
    level: AlphaLevel = "ordinal",
    *,
    scale: Sequence[Level] | ArrayLike | None = None,
    **options: Unpack[Options],
) -> Estimate:
    """One alpha of a table of items by raters; see `krippendorff_alphas`.

    >>> table = [[1, 1], [2, 2], [3, 3], [3, 4], [None, 2], [4, 4]]
    >>> round(krippendorff_alpha(table, "ordinal", resamples=200).value, 3)
    0.895
    """
    return krippendorff_alphas(scores, [level], scale=scale, **options)[f"krippendorff_alpha_{level}"]


def krippendorff_alphas(
    scores: Scores,
    levels: Iterable[AlphaLevel] = ("nominal", "ordinal", "interval"),
    *,
    scale: Sequence[Level] | ArrayLike | None = None,
    **options: Unpack[Options],
) -> dict[str, Estimate]:
    """Alpha = 1 − D_o/D_e for several levels of measurement, from one coincidence table.

    D_o is the mean distance of two scores of one item, each item weighted by its scores, D_e that of any two
    scores. Distances: nominal [c ≠ k], ordinal the squared difference of mid-ranks among all pairable scores,
    interval (c − k)², ratio ((c − k)/(c + k))². Items with fewer than two scores hold no pair and are left
    out. Where every score is the same, D_e = 0 and alpha is undefined, not 1.

    Krippendorff (2004), Content Analysis, 2nd ed., chapter 11. irr's `kripp.alpha` 0.84.1 is wrong for
    complete data of more than two raters. The interval resamples items; `scale` is needed only for words, and
    checks numbers if given.

    >>> words = [["a", "a"], ["b", "b"], ["a", "b"]]
    >>> found = krippendorff_alphas(words, ["nominal"], scale=["a", "b"], resamples=99)
    >>> round(found["krippendorff_alpha_nominal"].value, 3)
    0.444
    """
    chosen = list(levels)
    for level in chosen:
        choose(level, get_args(AlphaLevel), "level of measurement")
    known = None if scale is None else read_scale(scale)
    table = read_scores(scores, known, 2)
    if known is not None and isinstance(known.levels[0], str) and set(chosen) - {"nominal", "ordinal"}:
        raise MedjuryError(
            "Interval and ratio alpha need numbers, and the scale has words. Ask for nominal or ordinal."
        )
    if "ratio" in chosen and table.size and np.nanmin(table, initial=0.0) < 0:
        raise MedjuryError("Ratio alpha needs scores of zero or more. Ask for interval.")
    kept = np.asarray((~np.isnan(table)).sum(axis=1) >= 2)
    # Alpha does not ask who gave a score, so sorted rows leave fewer distinct ones to resample.
    rows, lost = np.sort(table[kept], axis=1), int(np.count_nonzero(~kept))
    reason = "every score is the same" if len(rows) else "no item was scored by two raters"
    return estimates(
        rows,
        alpha_statistics(chosen),
        kept=kept,
        reason=lambda _: reason,
        note=f"; {lost} of {len(table)} items with fewer than two scores left out" if lost else "",
        **options,
    )


def alpha_statistics(levels: Iterable[AlphaLevel]) -> Statistics:
    """Alphas for the bootstrap engine; rows are items by raters, NaN where missing."""
    chosen = list(levels)

    def prepare(rows: Floats) -> Read:
        coincidences = _Coincidences(rows)
        readers = {f"krippendorff_alpha_{level}": getattr(coincidences, level)() for level in chosen}

        def read(weights: Floats) -> dict[str, Floats]:
            values = {}
            for name, reader in readers.items():
                observed, expected = reader(weights)
                values[name] = 1.0 - observed / np.where(expected > 0, expected, np.nan)
            return values

        return read

    return prepare


class _Coincidences:
    """What an item's scores add to the coincidence table; each measure reads (D_o, D_e) from weights.

    With n pairable scores, D_o = Σ o·δ²/n and D_e = Σ n_c n_k δ²/(n(n − 1)).
    """

    def __init__(self, rows: Floats) -> None:
        present = ~np.isnan(rows)
        size = present.sum(axis=1)
        self.pairable = size >= 2
        self.size = np.where(self.pairable, size, 0).astype(np.float64)
        self.per_pair = np.divide(1.0, size - 1.0, out=np.zeros(len(rows)), where=self.pairable)
        self.present = present & self.pairable[:, np.newaxis]
        self.rows = rows
        self.values, codes = np.unique(rows[self.present], return_inverse=True)
        self.codes = np.full(rows.shape, -1, dtype=np.int64)
        self.codes[self.present] = codes
        item = np.nonzero(self.present)[0]
        self.counts = _matrix(item, codes, np.ones(len(codes)), (len(rows), len(self.values)))

    def nominal(self) -> Any:
        same = np.asarray((self.counts**2).sum(axis=1)).ravel()
        apart = (self.size**2 - same) * self.per_pair

        def read(weights: Floats) -> tuple[Floats, Floats]:
            level, n = self._levels(weights)
            return weights @ apart / n, (n**2 - (level**2).sum(axis=-1)) / (n * (n - 1.0))

        return read

    def interval(self) -> Any:
        middle = self.values.mean() if self.values.size else 0.0
        scores = np.where(self.present, self.rows - middle, 0.0)
        total, square = scores.sum(axis=1), (scores**2).sum(axis=1)
        apart = 2.0 * (self.size * square - total**2) * self.per_pair
        features = np.column_stack([self.size, total, square, apart])

        def read(weights: Floats) -> tuple[Floats, Floats]:
            n, total, square, apart = (weights @ features).T
            spread = n * square - total**2
            return apart / n, 2.0 * np.where(spread > NEGLIGIBLE * n * square, spread, 0.0) / (n * (n - 1.0))

        return read

    def ratio(self) -> Any:
        total = self.values[:, np.newaxis] + self.values
        gap = self.values[:, np.newaxis] - self.values
        distance = np.divide(gap, total, out=np.zeros_like(gap), where=total > 0) ** 2
        apart = np.zeros(len(self.rows))
        for first in range(self.rows.shape[1]):
            for second in range(first):
                both = self.present[:, first] & self.present[:, second]
                pair = distance[self.codes[both, first], self.codes[both, second]]
                apart[both] += 2.0 * pair * self.per_pair[both]

        def read(weights: Floats) -> tuple[Floats, Floats]:
            level, n = self._levels(weights)
            expected = ((level @ distance) * level).sum(axis=-1) / (n * (n - 1.0))
            return weights @ apart / n, expected

        return read

    def ordinal(self) -> Any:
        """Interval alpha of the mid-ranks, which every resample makes anew from its own level counts."""
        items, pairs, shares = [], [], []
        size = len(self.values)
        for first in range(self.rows.shape[1]):
            for second in range(first):
                both = np.flatnonzero(self.present[:, first] & self.present[:, second])
                low = np.minimum(self.codes[both, first], self.codes[both, second])
                high = np.maximum(self.codes[both, first], self.codes[both, second])
                items.append(both)
                pairs.append(low * size + high)
                shares.append(2.0 * self.per_pair[both])
        cells, place = np.unique(np.concatenate([*pairs, np.empty(0, np.int64)]), return_inverse=True)
        low, high = np.divmod(cells, max(size, 1))
        apart = low != high
        table = _matrix(
            np.concatenate([*items, np.empty(0, np.int64)]),
            place,
            np.concatenate([*shares, np.empty(0)]),
            (len(self.rows), len(cells)),
        )[:, apart]
        low, high = low[apart], high[apart]

        def read(weights: Floats) -> tuple[Floats, Floats]:
            level, n = self._levels(weights)
            ranks = centred_midranks(level)
            observed = np.einsum("bp,bp->b", weights @ table, (ranks[:, low] - ranks[:, high]) ** 2)
            return observed / n, 2.0 * np.einsum("bl,bl,bl->b", level, ranks, ranks) / (n - 1.0)

        return read

    def _levels(self, weights: Floats) -> tuple[Floats, Floats]:
        level = np.asarray(weights @ self.counts)
        return level, level.sum(axis=-1)


def _matrix(row: Any, column: Any, value: Floats, shape: tuple[int, int]) -> Any:
    """A matrix with repeated cells summed: dense while narrow, sparse where there are many levels."""
    if shape[1] <= 128:
        dense = np.zeros(shape)
        np.add.at(dense, (row, column), value)
        return dense
    from scipy.sparse import coo_array

    return coo_array((value, (row, column)), shape=shape).tocsr()
