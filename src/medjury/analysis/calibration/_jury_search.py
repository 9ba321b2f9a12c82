"""The search for a rule: which jurors, in which order, by which signal, with which tolerance.

All of it happens on one half of the cases. A rule is worth the larger of two losses, that of the agreement pooled
over systems and that of the agreement inside them: one that only tells good systems from bad ones keeps the first
and loses the second. Orders that the costs do not settle are grown greedily, one from each juror, so that the
number of rules tried (and with it the luck of the best one) stays small.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from medjury.analysis.agreement import two_rater_statistics
from medjury.analysis.calibration._jury_votes import (
    Calls,
    JurySignal,
    JuryTable,
    Order,
    WidthFitter,
    calls_made,
    doubts,
    fixed_scores,
    scores_after,
)
from medjury.analysis.calibration._part import Marks
from medjury.statistics import Floats, Replicates, replicates

if TYPE_CHECKING:
    from medjury.judging import AdaptiveRule


# Agreement of several policies with the clinicians on the same resamples of whole cases.

_Read = Callable[[Floats], Floats]
Groups = NDArray[np.int64]
WITHIN = " within systems"
LOST = " lost"


def mean_spearman(scores: Floats, labels: Floats) -> float:
    """Spearman's correlation with the labels, dimension by dimension, averaged; NaN where one does not exist."""
    return _Ranked(labels, np.zeros(len(labels), dtype=np.int64), 1).pooled(scores)


def loss_against(full: Floats, scores: Floats, labels: Floats) -> float:
    """What scores lose against the full jury's on the answers that both score."""
    full, scores = on_the_same(full, scores)
    return mean_spearman(full, labels) - mean_spearman(scores, labels)


def on_the_same(full: Floats, scores: Floats) -> tuple[Floats, Floats]:
    """Both, with nothing where one has nothing: else leaving out hard answers would look like agreement."""
    either = np.isnan(full) | np.isnan(scores)
    return np.where(either, np.nan, full), np.where(either, np.nan, scores)


class Losses:
    """What scores lose against the full jury's, fast and without intervals: for searching."""

    def __init__(self, table: JuryTable) -> None:
        names, system = np.unique(table.systems, return_inverse=True)
        self._size = np.bincount(system, minlength=len(names)).astype(float)
        self._pooled = _Ranked(table.labels, np.zeros(len(system), dtype=np.int64), 1)
        self._within = _Ranked(table.labels, system, len(names))
        self._full = fixed_scores(table, table.everybody)
        self._known = self._both(self._full)
        # With one system the pooled agreement is the one inside it.
        self.inside = len(names) > 1 and bool(np.isfinite(self._known[1]))

    def worst(self, scores: Floats) -> float:
        """The larger of the losses pooled and inside systems; infinite where one does not exist."""
        full, given = on_the_same(self._full, scores)
        same = np.array_equal(np.isnan(full), np.isnan(self._full))
        lost = np.subtract(self._known if same else self._both(full), self._both(given))
        found = lost if self.inside else lost[:1]
        return float(found.max()) if np.isfinite(found).all() else float("inf")

    def _both(self, scores: Floats) -> tuple[float, float]:
        return self._pooled.pooled(scores), self._inside(scores)

    def _inside(self, scores: Floats) -> float:
        """As `agreement_replicates` has it: systems weigh by their units."""
        found = (self._within.correlations(column, given) for column, given in enumerate(scores.T))
        size = self._size[np.newaxis]
        return float(
            np.mean([_weighted(rho[np.newaxis], differ[np.newaxis], size)[0] for rho, differ in found])
        )


class _Ranked:
    """Spearman's correlation of scores with labels in each group; the ranks of the same labels are taken once."""

    def __init__(self, labels: Floats, group: Groups, groups: int) -> None:
        self._labels, self._group, self._groups = labels, group, groups
        self._there = ~np.isnan(labels)
        self._ranks: dict[tuple[int, bytes], Floats] = {}

    def pooled(self, scores: Floats) -> float:
        """In the first group, averaged over dimensions."""
        return float(
            np.mean([self.correlations(column, given)[0][0] for column, given in enumerate(scores.T)])
        )

    def correlations(self, column: int, given: Floats) -> tuple[Floats, NDArray[np.bool_]]:
        """Of one dimension, NaN where a side is constant; and whether the labels differ there."""
        known = ~np.isnan(given) & self._there[:, column]
        of, key = self._group[known], (column, known.tobytes())
        if key not in self._ranks:
            self._ranks[key] = _centred_ranks(self._labels[known, column], of, self._groups)
        first, second = _centred_ranks(given[known], of, self._groups), self._ranks[key]
        together, *spread = (
            np.bincount(of, weights=product, minlength=self._groups)
            for product in (first * second, first * first, second * second)
        )
        both = np.sqrt(spread[0] * spread[1])
        rho = np.divide(together, both, out=np.full(self._groups, np.nan), where=both > 0)
        return rho, spread[1] > 0


def _centred_ranks(values: Floats, group: Groups, groups: int) -> Floats:
    """Mid-ranks within each group, less their mean."""
    order = np.lexsort((values, group))
    ordered, of = values[order], group[order]
    new = np.ones(len(order), dtype=bool)
    new[1:] = (np.diff(ordered) != 0) | (np.diff(of) != 0)
    run = np.cumsum(new) - 1
    first = np.flatnonzero(new)
    last = np.append(first[1:], len(order)) - 1
    size = np.bincount(group, minlength=groups)
    middle = np.cumsum(size) - size + (size - 1) / 2
    ranks = np.empty(len(order))
    ranks[order] = ((first + last) / 2)[run] - middle[of]
    return ranks


def agreement_replicates(
    table: JuryTable,
    policies: Mapping[str, Floats],
    *,
    resamples: int,
    seed: int,
    within: bool = False,
    by_dimension: tuple[str, ...] = (),
    jackknife: bool = True,
) -> Replicates:
    """For every policy (its scores, units × dimensions) Spearman's correlation with the labels, averaged over
    the dimensions, under the policy's name; with `within` also inside each system, averaged by its number of
    units, under the name + " within systems"; for the policies of `by_dimension` also "name | dimension".
    Each of these names + " lost" is what the policy loses against the first one on the answers that both score."""
    width = len(table.dimensions)
    codes = np.unique(table.systems, return_inverse=True)[1].astype(float)
    rows = np.column_stack([codes, table.labels, *policies.values()])

    def prepare(rows: Floats) -> Callable[[Floats], dict[str, Floats]]:
        systems = [rows[:, 0] == code for code in np.unique(rows[:, 0])]
        inside = np.column_stack(systems).astype(float)
        made = _Readers(rows[:, 1 : 1 + width], systems)
        given = dict(zip(policies, np.split(rows[:, 1 + width :], len(policies), axis=1), strict=True))
        full = next(iter(given.values()))

        def read(weights: Floats) -> dict[str, Floats]:
            found: dict[str, Floats] = {}
            size, known = weights @ inside, _Known(made, weights)
            for name, scores in given.items():
                values = known.pooled(scores)
                both = on_the_same(full, scores)
                lost = known.pooled(both[0]) - known.pooled(both[1])
                found |= {name: values.mean(axis=0), name + LOST: lost.mean(axis=0)}
                if name in by_dimension:
                    for k, dimension in enumerate(table.dimensions):
                        found |= {f"{name} | {dimension}": values[k], f"{name} | {dimension}{LOST}": lost[k]}
                if within:
                    first, second = (known.inside(each, size) for each in both)
                    found |= {name + WITHIN: known.inside(scores, size), name + WITHIN + LOST: first - second}
            return found

        return read

    return replicates(
        rows, prepare, clusters=table.cases, resamples=resamples, seed=seed, jackknife=jackknife
    )


class _Readers:
    """Spearman's correlation with the labels for any weights of the rows; made once for the same scores."""

    def __init__(self, labels: Floats, systems: list[Marks]) -> None:
        self.labels, self.systems = labels, systems
        self._made: dict[tuple[bytes, int, int], _Read] = {}

    def one(self, scores: Floats, key: tuple[bytes, int, int]) -> _Read:
        """The reader of one dimension, in one system or (−1) in all: scores, dimension and system are its key."""
        if key not in self._made:
            _, column, system = key
            pair = np.column_stack([self.labels[:, column], scores])
            self._made[key] = _spearman(pair, None if system < 0 else self.systems[system])
        return self._made[key]


class _Known:
    """What readers find with one set of weights, each read once: policies mostly score the same answers."""

    def __init__(self, readers: _Readers, weights: Floats) -> None:
        # A row for each unit: every reader adds up rows.
        self._readers, self._weights = readers, np.ascontiguousarray(weights.T)
        self._read: dict[tuple[bytes, int, int], Floats] = {}

    def pooled(self, scores: Floats) -> Floats:
        """Dimensions × resamples."""
        return np.stack([self._at(column, k, [-1])[0] for k, column in enumerate(scores.T)])

    def inside(self, scores: Floats, size: Floats) -> Floats:
        """Inside systems, averaged by their number of units and over dimensions."""
        means = []
        for k, column in enumerate(scores.T):
            wanted = np.where(np.isnan(column), np.nan, self._readers.labels[:, k])
            places = range(len(self._readers.systems))
            found, differ = (np.column_stack(self._at(each, k, places)) for each in (column, wanted))
            means.append(_weighted(found, np.isfinite(differ), size))
        return np.asarray(np.mean(means, axis=0))

    def _at(self, scores: Floats, column: int, systems: Sequence[int]) -> list[Floats]:
        """One dimension in each of the systems, or (−1) in all."""
        content = scores.tobytes()
        for key in ((content, column, system) for system in systems):
            if key not in self._read:
                self._read[key] = self._readers.one(scores, key)(self._weights)
        return [self._read[content, column, system] for system in systems]


def _spearman(pair: Floats, inside: Marks | None = None) -> _Read:
    """Spearman of two columns for weights, a row for each unit; equal rows are added up first, which is far
    cheaper."""
    from scipy.sparse import csr_array

    known = ~np.isnan(pair).any(axis=1)
    if inside is not None:
        known &= inside
    places = np.flatnonzero(known)
    if not len(places):
        return lambda weights: np.full(weights.shape[1], np.nan)
    distinct, cell = np.unique(pair[places], axis=0, return_inverse=True)
    together = csr_array((np.ones(len(places)), (cell.ravel(), places)), shape=(len(distinct), len(pair)))
    statistic = two_rater_statistics(["spearman"])(distinct)
    return lambda weights: statistic(np.asarray((together @ weights).T))["spearman"]


def _weighted(values: Floats, differ: NDArray[np.bool_], size: Floats) -> Floats:
    """The mean over systems by their number of units. A system in which the labels do not differ says nothing.
    One in which only the scores do not tells that they know nothing there: its agreement is 0, not left out, or
    scores would gain by being blind where they agree least. Blind everywhere is no agreement at all: NaN."""
    counted = np.where(differ, size, 0.0)
    total = counted.sum(axis=1)
    sums = (np.where(np.isfinite(values), values, 0.0) * counted).sum(axis=1)
    seen = (total > 0) & np.isfinite(values).any(axis=1)
    return np.asarray(sums / np.where(seen, total, np.nan))


TOLERANCES = 30
# The search only has to order rules; the resamples that count are those of the other half.
_SEARCH_RESAMPLES, _CONTENDERS = 500, 10


@dataclass(frozen=True, slots=True, eq=False)
class Candidate:
    """A rule with its jurors in order; what it spends and, at worst, loses on the half it was found on. `bound` is
    what it may spend on other cases: two standard errors over cases more."""

    order: Order
    signal: JurySignal
    rule: AdaptiveRule
    spent: float
    bound: float
    loss: float


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is asked of a rule: at most this loss of agreement, at most this share of what the full jury spends; and
    how much is drawn to prove it: resamples, draws of random escalation, the seed of both."""

    loss: float
    spent: float
    prices: tuple[float, ...]
    priced: bool  # else all prices are the same, and what is spent are calls
    resamples: int
    draws: int
    seed: int
    confidence: float


def spent_share(calls: Calls, order: Order, prices: Sequence[float]) -> float:
    """What the calls cost as a share of asking every juror about every unit; with equal prices, of calls."""
    after = np.cumsum([0.0, *(prices[juror] for juror in order)])
    return float(after[calls].mean() / sum(prices))


def _spent_error(table: JuryTable, calls: Calls, order: Order, prices: Sequence[float]) -> float:
    """The standard error of that share, whole cases being drawn."""
    after = np.cumsum([0.0, *(prices[juror] for juror in order)])
    gap = after[calls] / sum(prices)
    _, case = np.unique(table.cases.astype(str), return_inverse=True)
    sums = np.bincount(case, weights=gap - gap.mean())
    return float(np.sqrt((sums**2).sum()) / len(calls))


def orders_to_try(table: JuryTable, order: Order | None) -> list[Order]:
    """The given order, or one from each juror, always adding the juror whose vote lowers the loss most."""
    if order is not None:
        return [order]
    losses, found = Losses(table), []
    for first in table.everybody:
        grown = [first]
        while len(grown) < len(table.jurors):
            rest = [juror for juror in table.everybody if juror not in grown]
            after = [losses.worst(fixed_scores(table, [*grown, juror])) for juror in rest]
            grown.append(rest[int(np.argmin(after))])
        found.append(tuple(grown))
    return found


def candidates(
    table: JuryTable,
    orders: Sequence[Order],
    signals: Sequence[JurySignal],
    rule: AdaptiveRule,
    prices: Sequence[float],
    level: float,
) -> Iterator[Candidate]:
    """Every rule tried: for each order and signal each number of jurors at most and each tolerance. The minimum is
    the user's choice and is not searched."""
    fitter, losses = WidthFitter(table, level), Losses(table)
    for order in orders:
        for signal in signals:
            fitted = replace(rule, widths=fitter.widths(order, signal))
            doubt = doubts(table, order, fitted)
            for maximum in range(max(2, rule.minimum), len(order) + 1):
                seen = set()
                for tolerance in tolerances_of(doubt[: maximum - 1]):
                    calls = calls_made(doubt[:maximum], tolerance)
                    if calls.tobytes() in seen:  # another tolerance that changes nothing here
                        continue
                    seen.add(calls.tobytes())
                    yield Candidate(
                        order[:maximum],
                        signal,
                        replace(fitted, tolerance=tolerance, maximum=maximum),
                        spent := spent_share(calls, order, prices),
                        spent + 2.0 * _spent_error(table, calls, order, prices),
                        losses.worst(scores_after(table, order, calls, rule.minimum)),
                    )


def tolerances_of(doubt: Floats) -> list[float]:
    """Tolerances that make a difference: 0 and doubts that occur, thinned to a few."""
    finite = doubt[np.isfinite(doubt)]
    known = np.unique(np.round(finite, 4))
    if len(known) > TOLERANCES:
        known = np.unique(np.round(np.quantile(finite, np.linspace(0, 1, TOLERANCES)), 4))
    return sorted({0.0, *(min(float(each), 1.0) for each in known)})


def contenders(found: Sequence[Candidate]) -> list[Candidate]:
    """The rules worth a closer look, cheapest first: some of those that lose less than every cheaper one, and
    those that lose least."""
    least, kept = np.inf, []
    for each in sorted(found, key=lambda each: (each.spent, each.loss)):
        if each.loss < least:
            least = each.loss
            kept.append(each)
    steps = np.unique(np.linspace(0, len(kept) - 1, min(_CONTENDERS, len(kept))).round().astype(int))
    both = [kept[step] for step in steps]
    both += [each for each in sorted(found, key=lambda each: each.loss)[:_CONTENDERS] if each not in both]
    return sorted(both, key=lambda each: each.spent)


def choose(table: JuryTable, found: Sequence[Candidate], wanted: Wanted, seed: int) -> tuple[Candidate, bool]:
    """The cheapest rule whose losses are shown to be within what is wanted, and True; where there is none, the
    rule that is surest to lose little at the price that is wanted, and False.

    Both go by upper bounds of the losses, not by the losses that were seen: rules that ask few jurors vary most,
    so that among many of them one is bound to look good. The bounds hold for all contenders at once (one-sided
    97.5 %, from the resampled maximum of their studentised losses).
    """
    cheap = [each for each in found if each.bound <= wanted.spent + 1e-9]
    best = contenders(cheap) or [min(found, key=lambda each: each.spent)]
    upper = _upper_bounds(table, best, seed)
    if upper is None:
        return min(best, key=lambda each: each.loss), False
    within = np.flatnonzero(upper <= wanted.loss)
    return (best[int(within[0])], True) if within.size else (best[int(np.argmin(upper))], False)


def _upper_bounds(table: JuryTable, rules: Sequence[Candidate], seed: int) -> Floats | None:
    """How much each rule may lose at worst, all bounds at once; None where the bootstrap cannot say."""
    inside = Losses(table).inside
    policies = {"full": fixed_scores(table, table.everybody)}
    policies |= {str(place): scores_of(table, each) for place, each in enumerate(rules)}
    made = agreement_replicates(
        table, policies, resamples=_SEARCH_RESAMPLES, seed=seed, within=inside, jackknife=False
    )
    bounds, observed, drawn = ("", WITHIN) if inside else ("",), [], []
    for kind in bounds:
        for place in range(len(rules)):
            observed.append(made.observed[f"{place}{kind}{LOST}"])
            drawn.append(made.resampled[f"{place}{kind}{LOST}"])
    loss, resampled = np.array(observed), np.stack(drawn)
    if not resampled.size or not np.isfinite(resampled).all():
        return None
    error = np.maximum(resampled.std(axis=1), 1e-9)
    # The bootstrap's mirror: how far below the truth the estimates may lie, the farthest of all of them.
    farthest = ((loss - resampled.T) / error).max(axis=1)
    upper = loss + np.quantile(farthest, 0.975) * error
    return np.asarray(upper.reshape(len(bounds), len(rules)).max(axis=0))


def scores_of(table: JuryTable, candidate: Candidate) -> Floats:
    return scores_after(table, candidate.order, calls_of(table, candidate), candidate.rule.minimum)


def calls_of(table: JuryTable, candidate: Candidate) -> Calls:
    return calls_made(doubts(table, candidate.order, candidate.rule), candidate.rule.tolerance)


def best_fixed(table: JuryTable, size: int) -> Order:
    """The jurors of a fixed jury of this size that loses least on this table."""
    losses = Losses(table)
    return min(
        combinations(table.everybody, size), key=lambda members: losses.worst(fixed_scores(table, members))
    )
