"""Agreement over pairs of raters: the judge with each human, and the humans with one another."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from medjury.analysis.agreement._icc_standardised import mean_of_known
from medjury.analysis.agreement._kappa import NAMES as KAPPAS
from medjury.analysis.agreement._ranks import centred_midranks, levels_of
from medjury.analysis.agreement._scores import complete_rows
from medjury.analysis.agreement._systems import collapsed
from medjury.statistics import Floats, Read, Statistics
from medjury.tables import Grades

# Agreement of pairs of raters pooled into one number: for designs in which a pair shares few items.
#
# A coefficient of one pair that shares two items is noise, and a kappa of one item is zero by construction, so
# their mean is far too low. Here the parts of the coefficient are added up over all pairs first, and divided once:
#
#     kappa       1 − Σ v(x_i, x_j) / Σ n_ij Σ v(a, b) p_i(a) p_j(b)     p_i: shares of the grades of rater i
#     covariance  C = Σ (x_i − m_i)(x_j − m_j) / Σ n_ij (1 − 1/s_i − 1/s_j + n_ij/(s_i s_j))
#     pearson     C / √(V_1 V_2)            V: mean variance of the raters on each side, each pair by its n_ij
#     icc_3_1     2C / (V_1 + V_2)
#     icc_2_1     2C / (D + 2C)             D: mean squared difference of the shared scores
#
# with sums over the items that both raters of a pair scored (n_ij of them), and shares, means m_i and variances of
# rater i from all s_i items that he or she scored; the bracket takes out what estimating the means costs. With two
# raters and no gaps these are Cohen's kappa and the two-way ICCs. Spearman is `pearson` of mid-ranks taken over all
# scores of a side. Raters must have got their items without regard to what they would say of them. Conger (1980)
# Psychol Bull 88:322-328; Fleiss & Cohen (1973) Educ Psychol Meas 33:613-619.

POOLED = (
    "exact_match",
    *KAPPAS.values(),
    "pearson",
    "spearman",
    "icc_2_1",
    "icc_3_1",
    "icc_3_k",
    "icc_3_k_z",
)
_ON_GRADES = ("exact_match", *KAPPAS.values())
# One block of shared scores by resamples holds at most this many numbers.
_BLOCK = 1 << 21


class _Shared:
    """Every score that two raters of a pair both gave (`row`, `pair`, levels `first` and `second`), and how often
    each rater used each level: `habits` turns weights of rows into (resamples, raters, levels)."""

    def __init__(self, rows: Floats, pairs: Sequence[tuple[int, int]]) -> None:
        columns, place = np.unique(np.asarray(pairs), return_inverse=True)
        left, right = place.reshape(-1, 2).T
        scores = rows[:, columns]
        present = ~np.isnan(scores)
        levels = levels_of(scores[present])
        codes = np.zeros(scores.shape, dtype=np.int64)
        codes[present] = levels.codes
        self.row, self.pair = np.nonzero(present[:, left] & present[:, right])
        self.first, self.second = (codes[self.row, side[self.pair]] for side in (left, right))
        self.sides, self.levels, self.raters = (left, right), levels.values, len(columns)
        owner, rater = np.nonzero(present)
        size = len(levels.values)
        self.by_pair = _counter(self.row, self.pair, (len(rows), len(pairs)))
        self.by_habit = _counter(owner, rater * size + codes[owner, rater], (len(rows), len(columns) * size))

    def overlap(self, weights: Floats) -> Floats:
        return _counted(weights, self.by_pair)

    def habits(self, weights: Floats) -> Floats:
        return _counted(weights, self.by_habit).reshape(len(weights), self.raters, len(self.levels))

    def one_group(self) -> bool:
        """Whether the same raters stand on both sides of the pairs, as where clinicians are compared."""
        return bool(np.isin(self.sides[0], self.sides[1]).any())


def _grade_reader(shared: _Shared, names: Sequence[str]) -> Read:
    values = shared.levels
    gap = np.abs(values[:, np.newaxis] - values)
    together = shared.one_group()
    penalties = {"kappa": (gap > 0).astype(np.float64), "kappa_linear": gap, "kappa_quadratic": gap**2}
    left, right = shared.sides

    def per_row(penalty: Floats) -> Floats:
        paid = np.zeros(shared.by_pair.shape[1])
        np.add.at(paid, shared.row, penalty[shared.first, shared.second])
        return paid

    paid = {name: per_row(penalty) for name, penalty in penalties.items()}

    def read(weights: Floats) -> dict[str, Floats]:
        overlap, habits = shared.overlap(weights), shared.habits(weights)
        scored = habits.sum(axis=2, keepdims=True)
        shares = habits / np.where(scored > 0, scored, 1.0)
        total = overlap.sum(axis=1)
        sides = [habits[:, np.unique(side)].sum(axis=1) for side in shared.sides]
        used = [habits.sum(axis=1)] if together else sides
        varied = np.all([(each > 0).sum(axis=1) > 1 for each in used], axis=0)
        found = {}
        for name in names:
            if name == "exact_match":
                found[name] = 1.0 - (weights @ paid["kappa"]) / np.where(total > 0, total, np.nan)
                continue
            between = (shares @ penalties[name]) @ shares.transpose(0, 2, 1)
            expected = np.where(varied, (overlap * between[:, left, right]).sum(axis=1), 0.0)
            found[name] = 1.0 - (weights @ paid[name]) / np.where(expected > 0, expected, np.nan)
        return found

    return read


def _number_reader(shared: _Shared, names: Sequence[str]) -> Read:
    values = shared.levels - (shared.levels.mean() if shared.levels.size else 0.0)
    together = shared.one_group()
    apart = np.zeros(shared.by_pair.shape[1])
    np.add.at(apart, shared.row, (values[shared.first] - values[shared.second]) ** 2)

    def read(weights: Floats) -> dict[str, Floats]:
        overlap, habits = shared.overlap(weights), shared.habits(weights)
        found: dict[str, Floats] = {}
        if any(name != "spearman" for name in names):
            scores = np.broadcast_to(values, (len(weights), len(values)))
            common, spread = _moments(shared, weights, overlap, habits, (scores, scores))
            total = overlap.sum(axis=1)
            distance = (weights @ apart) / np.where(total > 0, total, np.nan)
            linear = _ratio(common, _mean_spread(spread, together))
            single = _ratio(common, (spread[0] + spread[1]) / 2.0)
            found |= {
                "pearson": linear,
                "icc_2_1": _ratio(2.0 * common, distance + 2.0 * common),
                "icc_3_1": single,
                "icc_3_k": _ratio(2.0 * single, 1.0 + single),
                "icc_3_k_z": _ratio(2.0 * linear, 1.0 + linear),
            }
        if "spearman" in names:
            sides = [habits[:, np.unique(side)].sum(axis=1) for side in shared.sides]
            used = [habits.sum(axis=1)] * 2 if together else sides
            ranks = (centred_midranks(used[0]), centred_midranks(used[1]))
            common, spread = _moments(shared, weights, overlap, habits, ranks)
            found["spearman"] = _ratio(common, _mean_spread(spread, together))
        return {name: found[name] for name in names}

    return read


def _moments(
    shared: _Shared, weights: Floats, overlap: Floats, habits: Floats, scores: tuple[Floats, Floats]
) -> tuple[Floats, tuple[Floats, Floats]]:
    """Pooled covariance of the pairs, and the mean variance on each side; levels count as `scores`, one table of
    (resamples, levels) for each side."""
    left, right = shared.sides
    size = habits.sum(axis=2)
    known = np.where(size > 0, size, np.nan)
    means, variances = [], []
    for score in scores:
        mean = np.einsum("brl,bl->br", habits, score) / known
        squares = np.einsum("brl,bl->br", habits, score**2)
        means.append(np.nan_to_num(mean))
        variances.append(
            np.maximum(squares - size * means[-1] ** 2, 0.0) / np.where(size > 1, size - 1, np.nan)
        )
    products, sums = _products(shared, weights, scores)
    first, second = means[0][:, left], means[1][:, right]
    co = products - (second * sums[0] + first * sums[1] - overlap * first * second).sum(axis=1)
    one, two = size[:, left], size[:, right]
    with np.errstate(divide="ignore", invalid="ignore"):
        room = np.nan_to_num(overlap * (1.0 - 1.0 / one - 1.0 / two + overlap / (one * two)))
    pool = room.sum(axis=1)
    common = co / np.where(pool > 1e-9, pool, np.nan)
    spread = []
    for variance, side in zip(variances, (left, right), strict=True):
        of_pair = variance[:, side]
        weight = np.where(np.isnan(of_pair), 0.0, overlap)
        total = weight.sum(axis=1)
        spread.append((weight * np.nan_to_num(of_pair)).sum(axis=1) / np.where(total > 0, total, np.nan))
    return np.asarray(common), (spread[0], spread[1])


def _products(
    shared: _Shared, weights: Floats, scores: tuple[Floats, Floats]
) -> tuple[Floats, tuple[Floats, Floats]]:
    """Σ x_i x_j over all shared scores, and for each pair Σ x_i and Σ x_j over them."""
    count, pairs = len(weights), shared.by_pair.shape[0]
    products, sums = np.empty(count), (np.empty((count, pairs)), np.empty((count, pairs)))
    inside = _counter(np.arange(len(shared.pair)), shared.pair, (len(shared.pair), pairs))
    step = max(1, _BLOCK // max(1, len(shared.row)))
    for start in range(0, count, step):
        some = slice(start, start + step)
        drawn = weights[some][:, shared.row]
        one, two = scores[0][some][:, shared.first], scores[1][some][:, shared.second]
        products[some] = np.einsum("bt,bt,bt->b", drawn, one, two)
        sums[0][some], sums[1][some] = _counted(drawn * one, inside), _counted(drawn * two, inside)
    return products, sums


def _mean_spread(spread: tuple[Floats, Floats], together: bool) -> Floats:
    """√(V_1 V_2); where both sides hold the same raters which of a pair comes first means nothing: their mean."""
    return np.asarray((spread[0] + spread[1]) / 2.0 if together else np.sqrt(spread[0] * spread[1]))


def _ratio(above: Floats, below: Floats) -> Floats:
    return np.asarray(np.clip(above / np.where(below > 1e-12, below, np.nan), -1.0, 1.0))


def _counter(rows: NDArray[np.int64], columns: NDArray[np.int64], shape: tuple[int, int]) -> Any:
    """A sparse matrix with ones at these places, given row by row; it lies on its side, ready for `_counted`."""
    from scipy.sparse import csr_array

    ends = np.append(0, np.cumsum(np.bincount(rows, minlength=shape[0])))
    return csr_array((np.ones(len(rows)), columns, ends), shape=shape).T


def _counted(weights: Floats, counter: Any) -> Floats:
    """Weights of rows, added up by column."""
    return np.asarray((counter @ weights.T).T)


# A coefficient of one pair is averaged where every pair shares this many items, or most of the few that there are.
MINIMUM_OVERLAP = 20
_MOST = 0.8
# What is blind to a rater's level takes each human's own mean out. Pooled over pairs it has an interval where a
# human rated this many items on average. With fewer, these means are so uncertain that the interval holds in more
# than 99 of 100 studies: far too wide.
_RATED = 10
_BLIND_TO_LEVELS = ("pearson", "spearman", "icc_3_1", "icc_3_k", "icc_3_k_z")


def incomplete(humans: Floats) -> bool:
    """Whether some two humans share so few items that their agreement is pooled over pairs, not averaged."""
    present = (~np.isnan(humans)).astype(np.float64)
    doubly = int((present.sum(axis=1) >= 2).sum())
    shared = shared_items(humans, list(combinations(range(humans.shape[1]), 2)))
    return bool(shared.size) and float(shared.min()) < min(MINIMUM_OVERLAP, _MOST * doubly)


def too_few_each(humans: Floats, statistic: str) -> str | None:
    """Why this coefficient, where it is pooled over pairs, has no interval; None where it may have one."""
    if not incomplete(humans):
        return None
    scored = (~np.isnan(humans)).sum(axis=0)
    each = float(scored[scored > 0].mean()) if scored.any() else 0.0
    if each >= _RATED or statistic not in _BLIND_TO_LEVELS:
        return None
    return f"no interval: each human rated {each:.1f} items on average, and {_RATED} are needed"


def shared_items(table: Floats, pairs: Sequence[tuple[int, int]]) -> Floats:
    """For each pair of columns, how many items have both scores."""
    present = (~np.isnan(table)).astype(np.float64)
    left, right = np.asarray(pairs, dtype=np.int64).reshape(-1, 2).T
    return np.asarray((present.T @ present)[left, right])


def over_pairs(
    statistics: Statistics,
    table: Floats,
    pairs: Sequence[tuple[int, int]],
    prefix: str = "",
    *,
    humans: Floats,
    grades: Grades | None = None,
) -> Statistics:
    """A two-rater statistic over pairs of columns of `table`: pooled where two of the `humans` share few items,
    else the mean of the pairs' own values. `grades` rounds what is counted as grades."""
    if incomplete(humans):
        return pooled_over_pairs(statistics, table, pairs, prefix, grades)
    return mean_over_pairs(statistics, pairs, prefix)


def pooled_over_pairs(
    statistics: Statistics,
    table: Floats,
    pairs: Sequence[tuple[int, int]],
    prefix: str = "",
    grades: Grades | None = None,
) -> Statistics:
    """A two-rater statistic with its parts added up over pairs of columns; one that cannot be pooled is left
    undefined."""
    shared = next((pair for pair in pairs if complete_rows(table[:, list(pair)]).any()), None)
    if shared is None:
        return lambda rows: lambda weights: {}
    two = table[:, list(shared)]
    with np.errstate(divide="ignore", invalid="ignore"):
        names = list(statistics(two[complete_rows(two)][:1])(np.ones((1, 1))))
    counted = [name for name in names if name in _ON_GRADES]
    measured = [name for name in names if name in POOLED and name not in _ON_GRADES]

    def prepare(rows: Floats) -> Read:
        graded = rows if grades is None else grades.grade(rows)
        reads = [_grade_reader(_Shared(graded, pairs), counted)] if counted else []
        reads += [_number_reader(_Shared(rows, pairs), measured)] if measured else []

        def read(weights: Floats) -> dict[str, Floats]:
            nothing = np.full(len(weights), np.nan)
            found = {name: each for reader in reads for name, each in reader(weights).items()}
            return {prefix + name: found.get(name, nothing) for name in names}

        return read

    return prepare


def said_of_pairs(table: Floats, pairs: Sequence[tuple[int, int]], *, pool: bool) -> str:
    """How many pairs a number over pairs rests on, for its method."""
    shared = shared_items(table, pairs)
    counting = int(np.count_nonzero(shared))
    of_all = f"{counting} pairs of raters"
    if counting < len(pairs):
        of_all = f"the {counting} of {len(pairs)} pairs of raters who share an item"
    if not pool:
        return f"mean over {of_all}"
    return f"pooled over {of_all}, {int(shared.sum()):,} shared scores"


def mean_over_pairs(statistics: Statistics, pairs: Sequence[tuple[int, int]], prefix: str = "") -> Statistics:
    """A two-rater statistic averaged over pairs of columns of wider rows; a pair for which it does not
    exist (no common items, a constant rater) is left out of the mean."""

    def prepare(rows: Floats) -> Read:
        reads = []
        for pair in pairs:
            complete = complete_rows(rows[:, list(pair)])
            # A pair without common items has nothing to prepare.
            if complete.any():
                reads.append((complete, collapsed(statistics, pair)(rows[complete])))

        def read(weights: Floats) -> dict[str, Floats]:
            found = [each(weights if complete.all() else weights[:, complete]) for complete, each in reads]
            names = found[0] if found else {}
            return {
                prefix + name: mean_of_known(np.stack([values[name] for values in found])) for name in names
            }

        return read

    return prepare
