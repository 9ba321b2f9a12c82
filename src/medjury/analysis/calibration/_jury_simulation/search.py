"""The search for a rule: which jurors, in which order, by which signal, with which tolerance.

All of it happens on one half of the cases. A rule is worth the larger of two losses, that of the agreement pooled
over systems and that of the agreement inside them: one that only tells good systems from bad ones keeps the first
and loses the second. Orders that the costs do not settle are grown greedily, one from each juror, so that the
number of rules tried (and with it the luck of the best one) stays small.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from medjury.analysis.calibration._jury_simulation.agreement import LOST, WITHIN, Losses, agreement_replicates
from medjury.analysis.calibration._jury_simulation.simulation import (
    Calls,
    JuryTable,
    Order,
    calls_made,
    doubts,
    fixed_scores,
    scores_after,
)
from medjury.analysis.calibration._jury_simulation.widths import JurySignal, WidthFitter
from medjury.analysis.calibration._maps.calibrator import Floats

if TYPE_CHECKING:
    from medjury.judging import AdaptiveRule

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
    """What is asked of a rule: at most this loss of agreement, at most this share of what the full jury spends."""

    loss: float
    spent: float
    prices: tuple[float, ...]
    priced: bool  # else all prices are the same, and what is spent are calls


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
    the user's word and is not searched."""
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
