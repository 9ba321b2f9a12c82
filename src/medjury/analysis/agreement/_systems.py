"""Agreement between systems, inside them, and the simple baseline that knows the system alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from medjury.analysis.agreement._correlation import Correlation, correlation_statistics
from medjury.analysis.agreement._icc import FORMS, coefficient, from_sums
from medjury.analysis.agreement._icc_standardised import stepped_up
from medjury.analysis.agreement._pair_statistics import Settings
from medjury.analysis.agreement._ranks import GroupRanks, Groups
from medjury.statistics import Estimate, Floats, Read, Replicates, Statistics, sample, undefined

Codes = NDArray[np.int64]
Wanted = Callable[[str], bool]
FOLDS = 5
# Up to this many groups an indicator is a plain matrix.
FEW_GROUPS = 64
# Up to this many systems are ranked by comparing every two.
FEW_SYSTEMS = 6


def system_statistics(rows: Floats, wanted: Wanted = lambda name: True) -> Read:
    """Statistics of rows `[reference, compare, system, fold]` (see `medjury.statistics._bootstrap`).

    - `…_between_systems` (Pearson, Spearman, Kendall's tau-b): of the system means.
    - `…_within_systems` (Pearson, Spearman): inside each system, averaged by its number of items; a system in
      which a rater is constant says nothing and is left out.
    - `…_system_mean_baseline` (Pearson, Spearman): of the reference with a prediction that knows only the
      system, namely the mean reference score of the same system's answers in the other folds. Folds are
      made of cases, so the baseline never sees the score it predicts. (Leaving out single items instead
      would make the baseline rank each system's items exactly backwards.)

    Those that are not `wanted` are not computed.
    """
    made = [
        make(rows, kinds, suffix)
        for make, suffix, known in (
            (_between, "_between_systems", ("pearson", "spearman", "kendall_tau_b")),
            (_within, "_within_systems", ("pearson", "spearman")),
            (_baseline, "_system_mean_baseline", ("pearson", "spearman")),
        )
        if (kinds := [kind for kind in known if wanted(kind + suffix)])
    ]
    return lambda weights: {name: values for read in made for name, values in read(weights).items()}


def system_means(rows: Floats) -> Any:
    """From rows `[reference, compare, system]`, a function of weights that gives both raters' system means,
    each `(resamples, systems)`; NaN where a resample holds nothing of a system."""
    system = rows[:, 2].astype(np.int64)
    inside = indicator(system, int(system.max()) + 1)
    sums_of = _products([inside, inside * rows[:, :1], inside * rows[:, 1:2]])

    def read(weights: Floats) -> tuple[Floats, Floats]:
        count, first, second = sums_of(weights.T)
        return _turned(first / count), _turned(second / count)

    return read


def fold_of_clusters(clusters: NDArray[Any], seed: int) -> Codes:
    """A fold for every unit, the same for all units of a cluster, shuffled by seed."""
    names, place = np.unique(clusters, return_inverse=True)
    order = np.random.default_rng(seed).permutation(len(names))
    return np.asarray((order % min(FOLDS, len(names)))[place], dtype=np.int64)


def correlations_of_means(
    first: Floats, second: Floats, kinds: Sequence[str] = ("pearson", "spearman", "kendall_tau_b")
) -> dict[str, Floats]:
    """Correlations along the last axis of two batches `(resamples, systems)`."""
    made: dict[str, Callable[[Floats, Floats], Floats]] = {
        "pearson": _row_correlation,
        "spearman": lambda one, other: _row_correlation(_row_ranks(one), _row_ranks(other)),
        "kendall_tau_b": _row_tau,
    }
    return {kind: made[kind](first, second) for kind in kinds}


def _row_ranks(values: Floats) -> Floats:
    """Mid-ranks along the last axis, but for their mean; a few values are compared two by two, not sorted."""
    size = values.shape[1]
    if size > FEW_SYSTEMS:
        return tied_ranks(values, np.ones_like(values))
    ranks = np.where(np.isnan(values), np.nan, 0.0)
    for one, other in combinations(range(size), 2):
        ahead = _signs(values[:, one] - values[:, other]) / 2
        ranks[:, one] += ahead
        ranks[:, other] -= ahead
    return ranks


def _row_tau(first: Floats, second: Floats) -> Floats:
    left, right = np.triu_indices(first.shape[1], 1)
    signs = [_signs(each[:, left] - each[:, right]) for each in (first, second)]
    untied = [np.abs(sign).sum(axis=1) for sign in signs]
    both = np.sqrt(untied[0] * untied[1])
    # A resample without a system has no means to compare.
    both = np.where(np.isnan(first).any(axis=1) | np.isnan(second).any(axis=1), np.nan, both)
    return np.asarray((signs[0] * signs[1]).sum(axis=1) / np.where(both > 0, both, np.nan))


def tied_ranks(values: Floats, counts: Floats) -> Floats:
    """Mid-ranks along the last axis of `values`, each standing for `counts` items; near-equal values tie."""
    order = np.argsort(values, axis=1)
    order += values.shape[1] * np.arange(len(values))[:, np.newaxis]
    ordered, size = values.ravel()[order], counts.ravel()[order]
    through = np.cumsum(size, axis=1)
    new = np.empty(values.shape, dtype=bool)
    new[:, :1] = ~np.isnan(ordered[:, :1])
    new[:, 1:] = ordered[:, 1:] - ordered[:, :-1] > 1e-12
    before = np.maximum.accumulate(np.where(new, through - size, 0.0), axis=1)
    last = np.ones(values.shape, dtype=bool)
    last[:, :-1] = new[:, 1:]
    after = np.minimum.accumulate(np.where(last, through, np.inf)[:, ::-1], axis=1)[:, ::-1]
    ranks = np.empty(values.size)
    ranks[order] = (before + after) / 2
    return np.where(np.isnan(values), np.nan, ranks.reshape(values.shape))


def _signs(gaps: Floats) -> Floats:
    """-1, 0 or 1; a gap that is rounding alone is 0."""
    return np.subtract(gaps > 1e-12, gaps < -1e-12, dtype=np.float64)


def indicator(codes: Codes, size: int) -> Any:
    """Rows by groups, 1 where the row is in the group; sparse where it would be large."""
    if size <= FEW_GROUPS:
        return np.eye(size)[codes]
    return Groups(codes, size).indicator.T


def _between(rows: Floats, kinds: Sequence[str], suffix: str) -> Read:
    means = system_means(rows)

    def read(weights: Floats) -> dict[str, Floats]:
        first, second = means(weights)
        found = correlations_of_means(first, second, kinds)
        return {name + suffix: values for name, values in found.items()}

    return read


def _within(rows: Floats, kinds: Sequence[str], suffix: str) -> Read:
    # Folds do not matter here: first add up the rows that differ in the fold alone.
    distinct = sample(rows[:, :3])
    cells = distinct.rows
    collapse = Groups(distinct.inverse, len(cells))
    system = cells[:, 2].astype(np.int64)
    inside = Groups(system, int(system.max()) + 1)
    sides = [GroupRanks(cells[:, column], system) for column in (0, 1)]
    x, y = cells[:, 0] - rows[:, 0].mean(), cells[:, 1] - rows[:, 1].mean()
    products = (x, y, x * x, y * y, x * y) if "pearson" in kinds else ()
    sums_of = _products([indicator(system, inside.size) * each[:, np.newaxis] for each in products])

    def read(weights: Floats) -> dict[str, Floats]:
        # A row for each system, a column for each resample.
        counts = collapse.sums(weights.T)
        n = inside.sums(counts)
        found = {}
        if "pearson" in kinds:
            sum_x, sum_y, sum_xx, sum_yy, sum_xy = sums_of(counts)
            spread = [sum_xx - sum_x**2 / n, sum_yy - sum_y**2 / n]
            found["pearson"] = _ratio(sum_xy - sum_x * sum_y / n, *spread)
        if "spearman" in kinds:
            (first, spread_first), (second, spread_second) = (side.ranks(counts) for side in sides)
            first *= second
            first *= counts
            found["spearman"] = _ratio(inside.sums(first), spread_first, spread_second)
        return {kind + suffix: _weighted_mean(values, n) for kind, values in found.items()}

    return read


def _baseline(rows: Floats, kinds: Sequence[str], suffix: str) -> Read:
    # What the judge said does not matter here: first add up the rows that differ in it alone.
    distinct = sample(rows[:, [0, 2, 3]])
    collapse = Groups(distinct.inverse, len(distinct.rows))
    reference = distinct.rows[:, 0]
    fold = distinct.rows[:, 2].astype(np.int64)
    folds = int(fold.max()) + 1
    groups = Groups(distinct.rows[:, 1].astype(np.int64) * folds + fold, int(rows[:, 2].max() + 1) * folds)
    centred = reference - rows[:, 0].mean()
    sums_of = _products([indicator(groups.codes, groups.size) * centred[:, np.newaxis]])
    ranks_of = GroupRanks(reference)

    def read(every: Floats) -> dict[str, Floats]:
        # A row for each system's fold, a column for each resample.
        counts = collapse.sums(every.T)
        n = groups.sums(counts)
        (sums,) = sums_of(counts)
        guess = _cross_fitted(sums, n, folds)
        found = {}
        if "pearson" in kinds:
            found["pearson"] = _grouped_correlation(guess, n, sums, centred**2 @ counts)
        if "spearman" in kinds:
            ranks, squares = ranks_of.ranks(counts)
            ranks *= counts
            guessed = np.ascontiguousarray(tied_ranks(_turned(guess), _turned(n)).T)
            found["spearman"] = _grouped_correlation(guessed, n, groups.sums(ranks), squares[0])
        return {kind + suffix: values for kind, values in found.items()}

    return read


def _products(indicators: Sequence[Any]) -> Callable[[Floats], list[Floats]]:
    """From counts (rows by resamples) the sums by each indicator (rows by groups), each (groups by resamples). Of
    plain matrices one product gives everything at the price of one."""
    if not all(isinstance(each, np.ndarray) for each in indicators):
        return lambda counts: [np.asarray(each.T @ counts) for each in indicators]
    together = np.hstack(indicators).T if indicators else np.empty((0, 0))
    return lambda counts: np.split(together @ counts, len(indicators))


def _cross_fitted(sums: Floats, counts: Floats, folds: int) -> Floats:
    """For each system and fold, the mean over that system's other folds."""
    shape = (-1, folds, sums.shape[1])
    by_fold, size = sums.reshape(shape), counts.reshape(shape)
    others, left = by_fold.sum(axis=1, keepdims=True) - by_fold, size.sum(axis=1, keepdims=True) - size
    return np.asarray((others / left).reshape(sums.shape))


def _grouped_correlation(guess: Floats, n: Floats, sums: Floats, squares: Floats) -> Floats:
    """Correlation of a value that is one per group with a value of which each group's sum is known."""
    # A group that a resample left empty has no guess and no weight.
    guess = np.where(n > 0, guess, 0.0)
    total = n.sum(axis=0)
    mean, other = (n * guess).sum(axis=0) / total, sums.sum(axis=0) / total
    together = (sums * guess).sum(axis=0) - total * mean * other
    spread = (n * guess * guess).sum(axis=0) - total * mean**2
    return _ratio(together, spread, squares - total * other**2)


def _row_correlation(first: Floats, second: Floats) -> Floats:
    a = first - first.mean(axis=1, keepdims=True)
    b = second - second.mean(axis=1, keepdims=True)
    return _ratio((a * b).sum(axis=1), (a * a).sum(axis=1), (b * b).sum(axis=1))


def _ratio(together: Floats, spread_first: Floats, spread_second: Floats) -> Floats:
    exists = (spread_first > 1e-9) & (spread_second > 1e-9)
    both = np.sqrt(np.where(exists, spread_first, np.nan)) * np.sqrt(np.where(exists, spread_second, np.nan))
    return np.asarray(np.clip(together / both, -1.0, 1.0))


def _weighted_mean(values: Floats, n: Floats) -> Floats:
    weight = np.where(np.isfinite(values), n, 0.0)
    total = weight.sum(axis=0)
    return np.asarray(
        (np.where(weight > 0, values, 0.0) * weight).sum(axis=0) / np.where(total > 0, total, np.nan)
    )


def _turned(values: Floats) -> Floats:
    """Resamples by groups, in that order of memory too."""
    return np.ascontiguousarray(values.T)


# What a table says about systems: agreement of their means, inside them, and the simple baseline.


_POOLED, _OF_MEANS, _BETWEEN = "pooled ", "of means ", "_between_systems"
FEWEST_SYSTEMS = 3
_NO_INTERVAL = "no interval: the means of close systems differ by chance, and resampling adds to it"
_TWO_SYSTEMS = "two systems only: the means of two always lie on a line, so three or more are needed"


def system_rows(rows: Floats, systems: NDArray[Any] | None, cases: NDArray[Any], seed: int) -> Floats:
    """Rows `[reference, compare]`, or with system and fold of the case where there are systems."""
    if systems is None:
        return rows
    codes = np.unique(systems, return_inverse=True)[1]
    return np.column_stack([rows, codes, fold_of_clusters(cases, seed)])


def collapsed(statistics: Statistics, columns: Sequence[int]) -> Statistics:
    """A statistic of some columns of wider rows: rows that agree in them are added up first, which is cheaper
    than carrying every distinct wide row through the statistic."""

    def prepare(rows: Floats) -> Read:
        narrow = rows[:, list(columns)]
        distinct = sample(narrow)
        if len(distinct.rows) == len(rows):
            return statistics(narrow)
        together = Groups(distinct.inverse, len(distinct.rows))
        read = statistics(distinct.rows)
        return lambda weights: read(together.sums(weights.T).T)

    return prepare


def between_and_within(settings: Settings) -> Statistics:
    """`system_statistics` and the pooled correlations that they are compared with, as far as they are wanted."""
    both: tuple[Correlation, ...] = ("pearson", "spearman")
    compared = [kind for kind in both if settings.wants(f"{kind}_minus_system_baseline")]

    def wanted(name: str) -> bool:
        kind = name.removesuffix("_system_mean_baseline")
        return settings.wants(name) or (kind != name and kind in compared)

    def prepare(rows: Floats) -> Read:
        # Those between systems have no interval: only the data are asked, not their resamples.
        between = system_statistics(rows, lambda name: wanted(name) and name.endswith(_BETWEEN))
        inside = system_statistics(rows, lambda name: wanted(name) and not name.endswith(_BETWEEN))
        pooled = collapsed(correlation_statistics(compared), (0, 1))(rows) if compared else None

        def read(weights: Floats) -> dict[str, Floats]:
            found = {**(between(weights) if len(weights) == 1 else {}), **inside(weights)}
            if pooled is not None:
                found |= {_POOLED + name: values for name, values in pooled(weights).items()}
            return found

        return read

    return prepare


def of_system_means(rows: Floats) -> Read:
    """The averaging level "system": each system's mean score is one point."""
    means = system_means(rows)

    def read(weights: Floats) -> dict[str, Floats]:
        return {_OF_MEANS + name: values for name, values in _of_means(*means(weights)).items()}

    return read


def estimates_by_system(made: Replicates, systems: int, confidence: float) -> dict[str, Estimate]:
    """Between- and within-system correlations, the cross-fitted baseline that knows only the system, and
    how far the judge's pooled correlation lies above that baseline. Correlations between systems have no interval:
    that of BCa-t held Pearson's in 0 to 94 % of simulated studies of three to ten systems, because the noise of
    the means counts twice in a resample."""
    found = {}
    for name in made.observed:
        if not name.endswith((_BETWEEN, "_within_systems", "_system_mean_baseline")):
            continue
        reason = "a rater does not differ within or between systems"
        if not name.endswith(_BETWEEN):
            found[name] = made.estimate(name, confidence=confidence, reason=reason)
        elif systems < FEWEST_SYSTEMS:
            found[name] = undefined(_TWO_SYSTEMS, systems, "means of systems")
        else:
            found[name] = _without_interval(made.observed[name], reason, systems, f"{systems} systems, fixed")
    for kind in ("pearson", "spearman"):
        if _POOLED + kind in made.observed:
            found[f"{kind}_minus_system_baseline"] = made.difference(
                _POOLED + kind, f"{kind}_system_mean_baseline", confidence=confidence
            )
    return found


def estimates_of_means(made: Replicates, systems: int, confidence: float) -> dict[str, Estimate]:
    """Statistics of the systems' means; n counts systems. They are taken as fixed and cases are resampled,
    so the interval of the offset says how well these systems' means are known, not what other systems would give.
    What depends on how far systems lie apart has none, as between systems."""
    found = {}
    for name in made.observed:
        if name.startswith(_OF_MEANS):
            short = name.removeprefix(_OF_MEANS)
            if systems < FEWEST_SYSTEMS and short not in ("offset", "mae", "rmse"):
                found[short] = undefined(_TWO_SYSTEMS, systems, "means of systems")
                continue
            reason, of = "the system means of a rater do not differ", f"means of {systems} systems, fixed"
            if short == "offset":
                estimate = made.estimate(name, confidence=confidence, reason=reason)
                found[short] = replace(estimate, n=systems, method=f"{estimate.method}; {of}")
            else:
                found[short] = _without_interval(made.observed[name], reason, systems, of)
    return found


def _without_interval(value: float, reason: str, systems: int, of: str) -> Estimate:
    method = f"{_NO_INTERVAL}; {of}"
    return (
        Estimate(value, None, None, systems, method)
        if np.isfinite(value)
        else undefined(reason, systems, method)
    )


def _of_means(first: Floats, second: Floats) -> dict[str, Floats]:
    gap = second - first
    offset = gap.mean(axis=1)
    if len(gap) > 1:
        # The others have no interval: resamples are not asked.
        return {"offset": offset}
    values = {
        "offset": offset,
        "mae": np.abs(gap).mean(axis=1),
        "rmse": np.sqrt((gap**2).mean(axis=1)),
        **correlations_of_means(first, second),
    }
    # Centred, so that sums of squares do not cancel.
    pair = np.stack([first, second], axis=2)
    pair = pair - pair.mean(axis=(1, 2), keepdims=True)
    squares = from_sums(
        np.full(len(pair), float(pair.shape[1])),
        (pair.sum(axis=2) ** 2).sum(axis=1),
        (pair**2).sum(axis=(1, 2)),
        pair.sum(axis=1).T,
    )
    values |= {form: coefficient(squares, form) for form in FORMS}
    values["icc_3_k_z"] = stepped_up(values["pearson"])
    return values
