"""The clinicians among themselves made a second time: Fleiss' kappa, and the intraclass correlation of all, by
analysis of variance where everybody rated everything and else by the mixed model of answers and clinicians."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np
import pytest
from scipy import stats
from tests.recipes.compared import amount
from tests.recipes.exact_checks import resamples_of
from tests.recipes.rated import Grading, Rated
from tests.recipes.same_draws import equals, same_draws
from tests.recipes.second_opinion import Numbers, Statistic

GROUPS = 30


def of_people(rated: Rated, name: str, people: Sequence[str]) -> tuple[Numbers, list[str]]:
    """Scores of everybody on the answers that somebody scored, and whose they are."""
    said = [rated.scores.get((who, name), {}) for who in people]
    answers = sorted(set().union(*said))
    table = np.array([[side.get(each, np.nan) for side in said] for each in answers])
    return table, [rated.patients[item] for item, _ in answers]


def fleiss(table: Numbers, grades: Sequence[float]) -> Statistic:
    """Matches of two who rated the same answer over those of two who draw from everybody's grades; an answer counts
    once, however many rated it."""
    counts = np.array([(table == grade).sum(axis=1) for grade in grades], dtype=float).T
    many = counts.sum(axis=1)
    twice = many > 1
    with np.errstate(all="ignore"):
        match = np.where(twice, (counts * (counts - 1)).sum(axis=1) / (many * (many - 1)), 0.0)
    share = counts / many[:, None]

    def read(w: Numbers) -> Numbers:
        seen = w @ match / (w @ twice)
        chance = ((w @ share / w.sum(axis=1, keepdims=True)) ** 2).sum(axis=1)
        return (seen - chance) / np.where(1 - chance > 1e-12, 1 - chance, np.nan)

    return read


def fleiss_is_right(
    rated: Rated, labels: Mapping[str, str], grades: Mapping[str, Sequence[float]], people: Sequence[str]
) -> int:
    """The table `classes-clinicians`; the ends of how often all say the same follow from two counts."""
    names, compared = {label: name for name, label in labels.items()}, 0
    rows = rated.table("classes-clinicians")
    for row in rows:
        name = names[row["dimension"]]
        table, whose = of_people(rated, name, people)
        many = (~np.isnan(table)).sum(axis=1)
        assert amount(row["clinicians"]) == len(people)
        assert amount(row["rated by two"]) == (many > 1).sum()
        whole = table[many == len(people)]
        assert amount(row["rated by all"]) == len(whole)
        if len(whole):
            same = np.mean(whole.min(axis=1) == whole.max(axis=1))
            assert amount(row["all say the same"]) == pytest.approx(same, abs=1e-9), row
        # Who gave a grade does not matter, so rows are told apart by the grades alone.
        draws = same_draws(np.sort(table, axis=1), whose, resamples_of(rows))
        kappa = fleiss(table, grades[name])
        # With some answers rated by two and some by three it can fall below −1, where artanh ends.
        scale = "coefficient" if np.nanmin(kappa(draws.resampled)) >= -1 else "as it is"
        compared += equals(row, "Fleiss' kappa", kappa, draws, scale)
    return compared


def crossed_are_right(
    rated: Rated, labels: Mapping[str, str], grading: Grading, people: Sequence[str]
) -> None:
    """The table `classes-crossed`: every two clinicians who share an answer, on each dimension that is listed."""
    names, pairs = {label: name for name, label in labels.items()}, set()
    for row in rated.table("classes-crossed"):
        name = names[row["dimension"]]
        pairs.add((name, row["clinician"], row["with"]))
        one, two = (rated.scores[row[who], name] for who in ("clinician", "with"))
        both = sorted(one.keys() & two.keys())
        sides = [grading(name)(np.array([side[each] for each in both])) for side in (one, two)]
        here = (sides[0] == float(row["grade"])) & (sides[1] == float(row["their grade"]))
        assert amount(row["answers"]) == here.sum(), row
    listed = {names[row["dimension"]] for row in rated.table("classes-clinicians")}
    assert pairs == {
        (name, *pair)
        for name in listed
        for pair in combinations(people, 2)
        if rated.scores[pair[0], name].keys() & rated.scores[pair[1], name].keys()
    }


def icc_of_all(table: Numbers) -> Statistic:
    """ICC(2,1) of a whole table: mean squares between answers, between raters and of the rest."""
    k = table.shape[1]
    level, centred = table.mean(axis=1), table - table.mean()

    def read(w: Numbers) -> Numbers:
        n = w.sum(axis=1)
        middle = w @ centred / n[:, None]
        grand = middle.mean(axis=1)
        between = k * (w @ (level - table.mean()) ** 2 - n * grand**2)
        raters = n * ((middle - grand[:, None]) ** 2).sum(axis=1)
        total = w @ (centred**2).sum(axis=1) - n * k * grand**2
        rest = (total - between - raters) / ((n - 1) * (k - 1))
        between, raters = between / (n - 1), raters / (k - 1)
        return (between - rest) / (between + (k - 1) * rest + k * (raters - rest) / n)

    return read


class Crossed:
    """score = answer + rater + error: the restricted likelihood of the ratios of variances, answers summed out one
    by one, so that many weightings of the answers are read at once."""

    def __init__(self, table: Numbers) -> None:
        there = ~np.isnan(table)
        self.many = there.sum(axis=1)
        y = np.where(there, table - np.nanmean(table), 0.0)
        n, k = table.shape
        # Of each answer the cross products of (1, raters, score), and the sums that its own effect takes away.
        self.cross, self.sums = np.zeros((n, k + 2, k + 2)), np.zeros((n, k + 2))
        for place in range(n):
            rows = np.column_stack(
                [np.ones(self.many[place]), np.eye(k)[there[place]], y[place, there[place]]]
            )
            self.cross[place], self.sums[place] = rows.T @ rows, rows.sum(axis=0)

    def minus_log_likelihood(
        self, w: Numbers, log_answer: Numbers, log_rater: Numbers
    ) -> tuple[Numbers, Numbers]:
        """Twice it, profiled over the error's variance, and that variance; a line for each weighting."""
        answer, rater = np.exp(log_answer), np.exp(log_rater)
        shrink = w * answer[:, None] / (1 + answer[:, None] * self.many)
        whole = np.tensordot(w, self.cross, 1) - np.einsum("bi,ij,ik->bjk", shrink, self.sums, self.sums)
        k = whole.shape[1] - 2
        inner = np.eye(k) / rater[:, None, None] + whole[:, 1:-1, 1:-1]
        ends = whole[:, [0, -1]][:, :, 1:-1]
        outer = whole[:, [0, -1]][:, :, [0, -1]] - ends @ np.linalg.solve(inner, ends.transpose(0, 2, 1))
        left = outer[:, 1, 1] - outer[:, 0, 1] ** 2 / outer[:, 0, 0]
        n = w @ self.many
        logs = np.linalg.slogdet(inner)[1] + k * log_rater + np.log(outer[:, 0, 0])
        logs += (w * np.log1p(answer[:, None] * self.many)).sum(axis=1)
        return logs + (n - 1) * np.log(left), left / (n - 1)

    def fitted(self, w: Numbers, start: Numbers | None = None) -> Numbers:
        """The logarithms of both ratios, by Newton's steps on differences."""
        at = np.zeros((len(w), 2)) if start is None else np.tile(start, (len(w), 1))
        h = 1e-3
        for _ in range(60):
            f = {}
            for a in (-1, 0, 1):
                for b in (-1, 0, 1):
                    f[a, b] = self.minus_log_likelihood(w, at[:, 0] + a * h, at[:, 1] + b * h)[0]
            slope = np.column_stack([f[1, 0] - f[-1, 0], f[0, 1] - f[0, -1]]) / (2 * h)
            bend = np.empty((len(w), 2, 2))
            bend[:, 0, 0] = (f[1, 0] - 2 * f[0, 0] + f[-1, 0]) / h**2
            bend[:, 1, 1] = (f[0, 1] - 2 * f[0, 0] + f[0, -1]) / h**2
            bend[:, 0, 1] = bend[:, 1, 0] = (f[1, 1] - f[1, -1] - f[-1, 1] + f[-1, -1]) / (4 * h**2)
            values, axes = np.linalg.eigh(bend)
            along = np.einsum("bji,bj->bi", axes, slope) / np.maximum(np.abs(values), 1e-6)
            step = np.clip(np.einsum("bij,bj->bi", axes, along), -1.5, 1.5)
            at = np.clip(at - step, -20, 8)
            if np.abs(np.where(at <= -20, 0, step)).max() < 1e-9:
                break
        return at


def together_is_right(rated: Rated, labels: Mapping[str, str], people: Sequence[str]) -> int:
    """The table `clinicians-together`. Of the mixed model both sides climb to the top of a likelihood and meet
    there to a millionth; with a group left out the report stops at a ten-thousandth, so ends meet to that."""
    names, compared = {label: name for name, label in labels.items()}, 0
    rows = rated.table("clinicians-together")
    for row in rows:
        table, whose = of_people(rated, names[row["dimension"]], people)
        assert amount(row["rated by two"]) == ((~np.isnan(table)).sum(axis=1) > 1).sum()
        column = "all clinicians"
        if not np.isnan(table).any():
            draws = same_draws(table, whose, resamples_of(rows))
            compared += equals(row, column, icc_of_all(table), draws, "coefficient")
            continue
        model = Crossed(table)
        best = model.fitted(np.ones((1, len(table))))
        if best[0, 0] < -15:
            assert not row[column] and "do not differ" in row[f"{column} method"]
            continue
        cases = np.unique(whose, return_inverse=True)[1]
        order = np.unique(cases)
        np.random.default_rng(0).shuffle(order)
        parts = np.array_split(order, min(GROUPS, len(order)))
        without = np.array([~np.isin(cases, part) for part in parts], dtype=float)
        ratios = np.exp(np.concatenate([best, model.fitted(without, best[0])]))
        value, *left = np.arctanh(ratios[:, 0] / (1 + ratios.sum(axis=1)))
        size = len(parts)
        error = np.sqrt((size - 1) / size * np.sum((np.array(left) - np.mean(left)) ** 2))
        reach = stats.t.ppf(0.975, size - 1) * error
        wanted = [np.tanh(value), max(np.tanh(value - reach), 0.0), np.tanh(value + reach)]
        assert amount(row[column]) == pytest.approx(wanted[0], abs=1e-6), (wanted, row)
        shown = [amount(row[f"{column} {end}"]) for end in ("low", "high")]
        assert shown == pytest.approx(wanted[1:], abs=2e-4), (wanted, row)
        compared += 1
    return compared
