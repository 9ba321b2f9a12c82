"""The search for a rule: which jurors, in which order, by which signal, with which tolerance.

All of it happens on one half of the cases. Orders that the costs do not settle are grown greedily, one from
each juror, so that the number of rules tried (and with it the luck of the best one) stays small.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from scipy.stats import rankdata

from medjury.calibration._calibrator import Floats
from medjury.calibration._jury_simulation import (
    Calls,
    JuryTable,
    Order,
    calls_made,
    doubts,
    fixed_scores,
    scores_after,
)
from medjury.calibration._jury_simulation_agreement import agreement_replicates
from medjury.calibration._jury_simulation_widths import Signal, WidthFitter
from medjury.judging import AdaptiveRule

TOLERANCES = 30
# The search only has to order rules; the resamples that count are those of the other half.
_SEARCH_RESAMPLES = 1000


@dataclass(frozen=True, slots=True, eq=False)
class Candidate:
    """A rule with its jurors in order, and what it does on the half that it was found on."""

    order: Order
    signal: Signal
    rule: AdaptiveRule
    spent: float
    agreement: float


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is asked of a rule: at most this loss of agreement, at most this share of what the full jury spends."""

    loss: float
    spent: float
    prices: tuple[float, ...]
    priced: bool  # else all prices are the same, and what is spent are calls


def mean_spearman(scores: Floats, labels: Floats) -> float:
    """Spearman's correlation with the labels, dimension by dimension, averaged; NaN where one does not exist."""
    found = []
    for given, wanted in zip(scores.T, labels.T, strict=True):
        known = ~np.isnan(given) & ~np.isnan(wanted)
        first, second = rankdata(given[known]), rankdata(wanted[known])
        first, second = first - first.mean(), second - second.mean()
        spread = np.sqrt((first @ first) * (second @ second))
        found.append(first @ second / spread if spread > 0 else np.nan)
    return float(np.mean(found))


def spent_share(calls: Calls, order: Order, prices: Sequence[float]) -> float:
    """What the calls cost as a share of asking every juror about every unit; with equal prices, of calls."""
    after = np.cumsum([0.0, *(prices[juror] for juror in order)])
    return float(after[calls].mean() / sum(prices))


def orders_to_try(table: JuryTable, order: Order | None) -> list[Order]:
    """The given order, or one from each juror, always adding the juror who makes the mean agree best."""
    if order is not None:
        return [order]
    found = []
    for first in table.everybody:
        grown = [first]
        while len(grown) < len(table.jurors):
            rest = [juror for juror in table.everybody if juror not in grown]
            grown.append(
                max(
                    rest,
                    key=lambda juror: np.nan_to_num(
                        mean_spearman(fixed_scores(table, [*grown, juror]), table.labels), nan=-2.0
                    ),
                )
            )
        found.append(tuple(grown))
    return found


def candidates(
    table: JuryTable,
    orders: Sequence[Order],
    signals: Sequence[Signal],
    rule: AdaptiveRule,
    prices: Sequence[float],
    level: float,
) -> Iterator[Candidate]:
    """Every rule tried: for each order and signal each number of jurors at most and each tolerance."""
    fitter = WidthFitter(table, level)
    for order in orders:
        for signal in signals:
            fitted = replace(rule, widths=fitter.widths(order, signal))
            doubt = doubts(table, order, fitted)
            for maximum in range(max(2, rule.minimum), len(order) + 1):
                for tolerance in tolerances_of(doubt[: maximum - 1]):
                    calls = calls_made(doubt[:maximum], tolerance)
                    yield Candidate(
                        order[:maximum],
                        signal,
                        replace(fitted, tolerance=tolerance, maximum=maximum),
                        spent_share(calls, order, prices),
                        mean_spearman(scores_after(table, order, calls), table.labels),
                    )


def tolerances_of(doubt: Floats) -> list[float]:
    """Tolerances that make a difference: 0 and doubts that occur, thinned to a few."""
    known = np.unique(np.round(doubt[np.isfinite(doubt)], 4))
    if len(known) > TOLERANCES:
        known = np.unique(np.round(np.quantile(doubt[np.isfinite(doubt)], np.linspace(0, 1, TOLERANCES)), 4))
    return sorted({0.0, *(min(float(each), 1.0) for each in known)})


def frontier(found: Sequence[Candidate]) -> list[Candidate]:
    """The rules that no rule at the same or a lower price agrees better than, cheapest first."""
    best, kept = -np.inf, []
    for each in sorted(found, key=lambda each: (each.spent, -each.agreement)):
        if each.agreement > best:
            best = each.agreement
            kept.append(each)
    return kept


def choose(table: JuryTable, found: Sequence[Candidate], wanted: Wanted, seed: int) -> tuple[Candidate, bool]:
    """The cheapest rule whose loss is shown to be within what is wanted, and True; where there is none, the rule
    that agrees best at the price that is wanted, and False.

    The bounds hold for all rules of the frontier at once (one-sided 97.5 %, from the resampled maximum of their
    studentised losses), since the cheapest of many that seem to pass is the one that luck favoured most.
    """
    known = [each for each in found if np.isfinite(each.agreement)] or list(found)
    best = frontier([each for each in known if each.spent <= wanted.spent + 1e-9]) or known[:1]
    policies = {"full": fixed_scores(table, table.everybody)}
    policies |= {str(place): scores_of(table, each) for place, each in enumerate(best)}
    made = agreement_replicates(table, policies, resamples=_SEARCH_RESAMPLES, seed=seed, jackknife=False)
    places = [str(place) for place in range(len(best))]
    loss = np.array([made.observed["full"] - made.observed[place] for place in places])
    resampled = np.stack([made.resampled["full"] - made.resampled[place] for place in places])
    if resampled.size and np.isfinite(resampled).all():
        error = np.maximum(resampled.std(axis=1), 1e-9)
        # The bootstrap's mirror: how far below the truth all estimates at once may lie.
        farthest = ((loss - resampled.T) / error).max(axis=1)
        upper = loss + np.quantile(farthest, 0.975) * error
        within = np.flatnonzero(upper <= wanted.loss)
        if within.size:
            return best[int(within[0])], True
    return best[-1], False


def scores_of(table: JuryTable, candidate: Candidate) -> Floats:
    return scores_after(table, candidate.order, calls_of(table, candidate))


def calls_of(table: JuryTable, candidate: Candidate) -> Calls:
    return calls_made(doubts(table, candidate.order, candidate.rule), candidate.rule.tolerance)


def best_fixed(table: JuryTable, size: int) -> Order:
    """The jurors of a fixed jury of this size whose mean agrees best on this table."""
    return max(
        combinations(table.everybody, size),
        key=lambda members: np.nan_to_num(
            mean_spearman(fixed_scores(table, members), table.labels), nan=-2.0
        ),
    )
