"""A rater's agreement with single clinicians beside theirs with one another, made a second time on the same
resamples; see `same_draws`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations

import numpy as np
import pytest
from scipy import stats
from tests.recipes.compared import amount
from tests.recipes.exact_checks import both_vary, resamples_of
from tests.recipes.rated import Grading, Rated
from tests.recipes.same_draws import Draws, equals, same_draws
from tests.recipes.second_opinion import Numbers, Statistic, icc_2_1, spearman

Pair = tuple[int, int]
Pairwise = Callable[[Numbers, Numbers], Statistic]
CAUTION = 0.6  # of the error that a one-sided bound may make
MARGIN = 0.1  # what every recipe states


def mean_of_pairs(table: Numbers, pairs: Sequence[Pair], make: Pairwise) -> Statistic:
    """The mean over pairs of columns of the coefficient of what both scored, where it exists."""
    parts = []
    for pair in pairs:
        known = ~np.isnan(table[:, list(pair)]).any(axis=1)
        parts.append((known, make(*table[known][:, list(pair)].T)))

    def read(w: Numbers) -> Numbers:
        values = np.array([each(w[:, known]) for known, each in parts])
        there = np.isfinite(values)
        return np.where(there, values, 0).sum(axis=0) / np.where(there.any(axis=0), there.sum(axis=0), np.nan)

    return read


def pooled_kappa(table: Numbers, pairs: Sequence[Pair]) -> Statistic:
    """One less the squared distance of all shared scores over that of raters who keep their habits of grading but
    say them of any answer: E(a − b)² = E a² + E b² − 2 E a E b, each from all that the rater scored."""
    one, two = np.array(pairs).T
    there = (~np.isnan(table)).astype(float)
    scores = np.nan_to_num(table)
    both = there[:, one] * there[:, two]
    apart = (both * (scores[:, one] - scores[:, two]) ** 2).sum(axis=1)
    sides = [np.unique(side) for side in (one, two)]
    if set(sides[0]) & set(sides[1]):
        sides = [np.union1d(*sides)]
    # Whether grades vary at all on a side: their greatest and least in a resample.
    levels = np.unique(table[~np.isnan(table)])

    def read(w: Numbers) -> Numbers:
        n = w @ there
        with np.errstate(all="ignore"):
            mean, square = (np.nan_to_num(w @ scores**power / n) for power in (1, 2))
        overlap = w @ both
        chance = (overlap * (square[:, one] + square[:, two] - 2 * mean[:, one] * mean[:, two])).sum(axis=1)
        varied = np.ones(len(w), dtype=bool)
        for side in sides:
            used = np.array([w @ (table[:, side] == level).any(axis=1) > 0 for level in levels])
            varied &= used.sum(axis=0) > 1
        return 1 - (w @ apart) / np.where(varied & (chance > 1e-9), chance, np.nan)

    return read


def pooled_moments(
    table: Numbers, pairs: Sequence[Pair], ranked: bool
) -> Callable[[Numbers], tuple[Numbers, Numbers, Numbers, Numbers]]:
    """Covariance pooled over pairs, the mean variance on either side, and the mean squared distance of shared
    scores. Ranks are mid-ranks among all scores of a side, those of one group among all of them."""
    one, two = np.array(pairs).T
    there = (~np.isnan(table)).astype(float)
    centre = np.nanmean(table)
    plain = np.where(there > 0, table - centre, 0.0)
    both = there[:, one] * there[:, two]
    apart = (both * (plain[:, one] - plain[:, two]) ** 2).sum(axis=1)
    sides = [np.unique(one), np.unique(two)]
    same = bool(set(sides[0]) & set(sides[1]))
    levels, code = np.unique(np.round(table, 9), return_inverse=True)
    code = code.reshape(table.shape)

    def ranks(w: Numbers, side: Numbers) -> Numbers:
        counts = np.zeros((len(w), len(levels)))
        for column in side:
            known = there[:, column] > 0
            for level in np.unique(code[known, column]):
                counts[:, level] += w @ (known & (code[:, column] == level))
        through = np.cumsum(counts, axis=1)
        return through - counts / 2 - through[:, -1:] / 2

    def some(w: Numbers) -> tuple[Numbers, Numbers, Numbers, Numbers]:
        overlap, size = w @ both, w @ there
        if ranked:
            groups = [np.union1d(*sides)] * 2 if same else sides
            tables = [ranks(w, group)[:, code] * there for group in groups]
        else:
            tables = [np.broadcast_to(plain, (len(w), *plain.shape))] * 2
        means, variances = [], []
        for values in tables:
            mean = np.nan_to_num(np.einsum("bi,bij->bj", w, values) / size)
            square = np.einsum("bi,bij->bj", w, values**2)
            means.append(mean)
            variances.append(np.maximum(square - size * mean**2, 0) / np.where(size > 1, size - 1, np.nan))
        left = (tables[0] - means[0][:, None])[:, :, one]
        right = (tables[1] - means[1][:, None])[:, :, two]
        products = np.einsum("bi,ip,bip,bip->b", w, both, left, right)
        room = overlap * (1 - 1 / size[:, one] - 1 / size[:, two] + overlap / (size[:, one] * size[:, two]))
        pool = np.nan_to_num(room).sum(axis=1)
        spreads = []
        for variance, side in zip(variances, (one, two), strict=True):
            own = variance[:, side]
            weight = np.where(np.isnan(own), 0, overlap)
            spreads.append((weight * np.nan_to_num(own)).sum(axis=1) / weight.sum(axis=1))
        return (
            products / np.where(pool > 1e-9, pool, np.nan),
            spreads[0],
            spreads[1],
            (w @ apart) / overlap.sum(axis=1),
        )

    def read(w: Numbers) -> tuple[Numbers, ...]:
        with np.errstate(all="ignore"):
            parts = [some(w[start : start + 100]) for start in range(0, len(w), 100)]
        return tuple(np.concatenate(each) for each in zip(*parts, strict=True))

    read.same = same  # type: ignore[attr-defined]
    return read  # type: ignore[return-value]


def pooled_icc(table: Numbers, pairs: Sequence[Pair]) -> Statistic:
    moments = pooled_moments(table, pairs, ranked=False)

    def read(w: Numbers) -> Numbers:
        common, _, _, apart = moments(w)
        below = apart + 2 * common
        return np.clip(2 * common / np.where(below > 1e-12, below, np.nan), -1, 1)

    return read


def pooled_spearman(table: Numbers, pairs: Sequence[Pair]) -> Statistic:
    moments = pooled_moments(table, pairs, ranked=True)

    def read(w: Numbers) -> Numbers:
        common, one, two, _ = moments(w)
        below = (one + two) / 2 if moments.same else np.sqrt(one * two)  # type: ignore[attr-defined]
        return np.clip(common / np.where(below > 1e-12, below, np.nan), -1, 1)

    return read


def few_shared(humans: Numbers) -> bool:
    """Whether some two share fewer than 20 answers and less than four fifths of those that two scored."""
    there = ~np.isnan(humans)
    shared = [int((there[:, a] & there[:, b]).sum()) for a, b in combinations(range(humans.shape[1]), 2)]
    return min(shared) < min(20, 0.8 * (there.sum(axis=1) >= 2).sum())


def over_pairs(
    coefficient: str, table: Numbers, graded: Numbers, pairs: Sequence[Pair], pool: bool
) -> Statistic:
    if coefficient == "weighted kappa":
        return pooled_kappa(graded, pairs) if pool else mean_of_pairs(graded, pairs, both_vary)
    if coefficient == "intraclass correlation":
        return pooled_icc(table, pairs) if pool else mean_of_pairs(table, pairs, icc_2_1)
    return pooled_spearman(table, pairs) if pool else mean_of_pairs(table, pairs, spearman)


def inferior_p(value: float, made: Numbers, without: Numbers, margin: float) -> float:
    """The share of resamples at a difference of −margin or less, or the jackknife's t where that is larger."""
    known, gone = made[np.isfinite(made)], without[np.isfinite(without)]
    share = (1 + np.sum(known <= -margin + 1e-12)) / (1 + len(known))
    n, apart = len(gone), gone - gone.mean()
    spread = np.mean(apart**2)
    if spread > 1e-24:
        excess = max(np.mean(apart**4) / spread**2 - 3, 0.0)
        freedom = max(2 / (2 / (n - 1) + excess / n), 2.0)
        share = max(share, stats.t.cdf(-(value + margin) / np.sqrt((n - 1) * spread), freedom))
    return float(min(1.0, max(share / CAUTION, 0.5 ** len(without))))


def baseline_is_right(
    rated: Rated,
    labels: Mapping[str, str],
    grading: Grading,
    people: Sequence[str],
    coefficients: Sequence[str],
) -> int:
    """The table `human-baseline`; tells how many intervals there were."""
    order = rater_order(rated).index
    names, rows_of, compared = (
        {label: name for name, label in labels.items()},
        rated.table("human-baseline"),
        0,
    )
    times = resamples_of(rows_of)
    groups: dict[tuple[str, frozenset[tuple[str, str]]], list[str]] = defaultdict(list)
    of_row = {}
    for row in rows_of:
        name = names[row["dimension"]]
        said = [rated.scores.get((who, name), {}) for who in people]
        own = rated.scores.get((row["rater"], name), {})
        usable = frozenset(each for each in own if sum(each in side for side in said) >= 2)
        of_row[id(row)] = key = (name, usable)
        if str(row["rater"]) not in groups[key]:
            groups[key].append(str(row["rater"]))
    made: dict[object, tuple[Numbers, Draws]] = {}
    among: dict[object, Statistic] = {}
    for row in rows_of:
        if row["coefficient"] not in coefficients:
            continue
        key = name, usable = of_row[id(row)]
        if key not in made:
            answers = sorted(usable)
            groups[key].sort(key=order)
            who = [*people, *groups[key]]
            scores = [[rated.scores.get((each, name), {}).get(a, np.nan) for each in who] for a in answers]
            table = np.array(scores)
            made[key] = table, same_draws(table, [rated.patients[item] for item, _ in answers], times)
        table, draws = made[key]
        width, place = len(people), len(people) + groups[key].index(str(row["rater"]))
        pool, graded = few_shared(table[:, :width]), grading(name)(table)
        coefficient = str(row["coefficient"])
        mine = over_pairs(coefficient, table, graded, [(each, place) for each in range(width)], pool)
        if (key, coefficient) not in among:
            own_pairs = [*combinations(range(width), 2)]
            among[key, coefficient] = once(over_pairs(coefficient, table, graded, own_pairs, pool))
        theirs, mine = among[key, coefficient], once(mine)
        assert amount(row["n"]) == len(table)
        there = (~np.isnan(table[:, :width])).sum(axis=0)
        unranked = pool and coefficient == "rank correlation" and there[there > 0].mean() < 10
        for column, side in (("rater with clinician", mine), ("clinician with clinician", theirs)):
            if unranked:
                refused(row, column, side, len(table))
            else:
                compared += equals(row, column, side, draws, "coefficient")

        def gap(w: Numbers, mine: Statistic = mine, theirs: Statistic = theirs) -> Numbers:
            return mine(w) - theirs(w)

        if unranked:
            refused(row, "difference", gap, len(table))
            assert not row["p"].strip("-–—"), row
        elif equals(row, "difference", gap, draws, "as it is"):
            compared += 1
            p = inferior_p(float(row["difference"]), gap(draws.resampled), gap(draws.left_out), MARGIN)
            assert row["p"] == ("< 0.001" if p < 0.001 else f"{p:.3f}"), (p, row)
    return compared


def refused(row: Mapping[str, str], column: str, statistic: Statistic, answers: int) -> None:
    """A value without ends, because clinicians rated too few answers each."""
    assert "10 are needed" in row[f"{column} method"] and not row[f"{column} low"], row
    assert amount(row[column]) == pytest.approx(statistic(np.ones((1, answers)))[0], abs=1e-9), row


def once(statistic: Statistic) -> Statistic:
    """What was read is kept: both means are read alone and in their difference."""
    kept: dict[int, tuple[Numbers, Numbers]] = {}

    def read(w: Numbers) -> Numbers:
        if id(w) not in kept:
            kept[id(w)] = w, statistic(w)
        return kept[id(w)][1]

    return read


def rater_order(rated: Rated) -> list[str]:
    """Raters by name."""
    return sorted({who for who, _ in rated.scores})
