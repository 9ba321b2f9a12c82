"""Agreement pooled, between systems and within them, made a second time on the same resamples; see `same_draws`."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from tests.recipes.exact_checks import pair_rows, resamples_of
from tests.recipes.rated import Rated
from tests.recipes.same_draws import equals, has_no_ends, same_draws
from tests.recipes.second_opinion import Numbers, Statistic, spearman

COLUMNS = ("all answers", "between systems", "within a system", "knowing only the system")


def rank_rows(values: Numbers, counts: Numbers) -> Numbers:
    """Mid-ranks along each line, where a value stands for so many answers; what differs by rounding is tied."""
    less = values[:, None, :] < values[:, :, None] - 1e-12
    level = np.abs(values[:, None, :] - values[:, :, None]) <= 1e-12
    return np.einsum("bij,bj->bi", less + level / 2, counts)


def correlation(w: Numbers, a: Numbers, b: Numbers) -> Numbers:
    """Pearson's of two tables, line by line."""
    n = w.sum(axis=1)

    def moment(one: Numbers, two: Numbers) -> Numbers:
        return (w * one * two).sum(axis=1) - (w * one).sum(axis=1) * (w * two).sum(axis=1) / n

    spread = [moment(a, a), moment(b, b)]
    exists = (spread[0] > 1e-9) & (spread[1] > 1e-9)
    return np.clip(moment(a, b) / np.sqrt(np.where(exists, spread[0] * spread[1], np.nan)), -1, 1)


def between(x: Numbers, y: Numbers, system: Numbers) -> Statistic:
    """Spearman's rho of the systems' means; without an answer of some system there is none."""
    inside = (system[:, None] == np.unique(system)).astype(float)

    def read(w: Numbers) -> Numbers:
        n = w @ inside
        ones = np.ones_like(n)
        sides = [rank_rows(w @ (inside * side[:, None]) / n, ones) for side in (x, y)]
        return np.where((n > 0).all(axis=1), correlation(ones, *sides), np.nan)

    return read


def within(x: Numbers, y: Numbers, system: Numbers) -> Statistic:
    """The mean over systems of Spearman's rho, each by its answers; one in which a rater is constant is out."""
    parts = [np.flatnonzero(system == each) for each in np.unique(system)]
    reads = [spearman(x[part], y[part]) for part in parts]

    def read(w: Numbers) -> Numbers:
        sizes = np.array([w[:, part].sum(axis=1) for part in parts])
        values = np.array(
            [
                np.where(varied(x[part], w[:, part]) & varied(y[part], w[:, part]), each(w[:, part]), np.nan)
                for part, each in zip(parts, reads, strict=True)
            ]
        )
        weight = np.where(np.isfinite(values), sizes, 0.0)
        total = weight.sum(axis=0)
        return (np.nan_to_num(values) * weight).sum(axis=0) / np.where(total > 0, total, np.nan)

    return read


def varied(values: Numbers, w: Numbers) -> Numbers:
    """Whether a resample holds two different scores."""
    held = w > 0
    most = np.where(held, values, -np.inf).max(axis=1, initial=-np.inf)
    return most - np.where(held, values, np.inf).min(axis=1, initial=np.inf) > 1e-9


def only_the_system(x: Numbers, system: Numbers, fold: Numbers) -> Statistic:
    """Spearman's rho of the clinicians' score with the mean of the same system's answers in the other folds."""
    groups, place = np.unique(np.column_stack([system, fold]), axis=0, return_inverse=True)
    place = place.ravel()
    inside = (place[:, None] == np.arange(len(groups))).astype(float)
    others = (groups[:, None, 0] == groups[:, 0]) & (groups[:, None, 1] != groups[:, 1])
    level = np.unique(np.round(x, 9), return_inverse=True)[1]
    of_level = (level[:, None] == np.arange(level.max() + 1)).astype(float)

    def some(w: Numbers) -> Numbers:
        n, sums = w @ inside, w @ (inside * (x - x.mean())[:, None])
        guess = (sums @ others.T) / (n @ others.T)
        lost = (np.isnan(guess) & (n > 0)).any(axis=1)
        ranks = rank_rows(np.where(n > 0, guess, np.inf), n)[:, place]
        counts = w @ of_level
        own = (np.cumsum(counts, axis=1) - counts / 2)[:, level]
        ranks, own = (np.where(np.isfinite(each), each, 0.0) for each in (ranks, own))
        return np.where(lost, np.nan, correlation(w, own, ranks))

    def read(w: Numbers) -> Numbers:
        with np.errstate(all="ignore"):
            return np.concatenate([some(w[start : start + 250]) for start in range(0, len(w), 250)])

    return read


def by_system_is_right(rated: Rated, labels: Mapping[str, str]) -> int:
    """The table `agreement-by-system`; tells how many intervals there were."""
    names, compared = {label: name for name, label in labels.items()}, 0
    rows_of = rated.table("agreement-by-system")
    times = resamples_of(rows_of)
    for row in rows_of:
        rows, whose = pair_rows(rated, row["rater"], names[row["dimension"]])
        x, y, system, fold = rows.T
        draws = same_draws(rows, whose, times)
        made = (spearman(x, y), between(x, y, system), within(x, y, system), only_the_system(x, system, fold))
        for column, statistic in zip(COLUMNS, made, strict=True):
            if column == "between systems":
                with np.errstate(all="ignore"):
                    has_no_ends(row, column, float(statistic(np.ones((1, len(x))))[0]))
            else:
                compared += equals(row, column, statistic, draws, "coefficient")
    return compared
