"""Correlation of two raters: do they order the items alike? None of these sees a constant offset."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, Unpack

import numpy as np
from scipy import special

from medjury.analysis.agreement._icc import NEGLIGIBLE
from medjury.analysis.agreement._options import Analytic, Options, estimates
from medjury.analysis.agreement._ranks import GroupRanks, Levels, centred_midranks, concordance, levels_of
from medjury.analysis.agreement._scores import Complete, Scores, complete_rows, read_pairs
from medjury.statistics import Estimate, Floats, Read, Statistics

Correlation = Literal["pearson", "spearman", "kendall_tau_b"]
# Up to this many distinct rows ranks come from products, beyond it they are cumulated row by row (measured).
_FEW_ROWS = 64


def pearson(first: Scores, second: Scores, **options: Unpack[Options]) -> Estimate:
    """Linear association: r = Σ(x − x̄)(y − ȳ) / √(Σ(x − x̄)² Σ(y − ȳ)²).

    The analytic interval is Fisher's z, atanh r ± z/√(n − 3); the default is a BCa bootstrap.

    >>> round(pearson([1, 2, 3, 4, 5], [1, 3, 2, 5, 4]).value, 3)
    0.8
    """
    return correlations(read_pairs(first, second), ["pearson"], **options)["pearson"]


def spearman(first: Scores, second: Scores, **options: Unpack[Options]) -> Estimate:
    """Association of ranks: Pearson's r of the mid-ranks, which are taken anew in every resample.

    Spearman (1904) Am J Psychol 15:72-101. The analytic interval is Fisher's z with Bonett & Wright's
    variance (1 + ρ²/2)/(n − 3), Psychometrika 65:23-28 (2000).

    >>> round(spearman([1, 2, 3, 4, 5], [1, 3, 2, 5, 4]).value, 3)
    0.8
    """
    return correlations(read_pairs(first, second), ["spearman"], **options)["spearman"]


def kendall_tau_b(first: Scores, second: Scores, **options: Unpack[Options]) -> Estimate:
    """Concordant less discordant pairs of items, corrected for ties.

    τ_b = (C − D) / √((N − T_x)(N − T_y)), N = n(n − 1)/2 pairs, T = pairs tied on one rater. Kendall (1945)
    Biometrika 33:239-251. The analytic interval is Fisher's z with variance 0.437/(n − 4), Fieller, Hartley &
    Pearson, Biometrika 44:470-481 (1957), rough where there are many ties.

    >>> round(kendall_tau_b([1, 2, 3, 4, 5], [1, 3, 2, 5, 4]).value, 3)
    0.6
    """
    return correlations(read_pairs(first, second), ["kendall_tau_b"], **options)["kendall_tau_b"]


def correlations(
    pairs: Complete, names: Iterable[Correlation], **options: Unpack[Options]
) -> dict[str, Estimate]:
    """Several correlations of the same pairs."""
    rows, kept, note = pairs
    chosen = list(names)
    return estimates(
        rows,
        correlation_statistics(chosen),
        kept=kept,
        analytic=lambda: {name: _fisher_z(name, len(rows)) for name in chosen},
        reason=lambda _: no_spread_reason(rows),
        note=note,
        **options,
    )


def correlation_statistics(names: Iterable[Correlation]) -> Statistics:
    """Correlations for the bootstrap engine; rows are (first, second), incomplete ones do not count."""
    chosen = list(names)

    def prepare(rows: Floats) -> Read:
        complete = complete_rows(rows)
        first, second = rows[complete].T
        reads: dict[str, Read] = {}
        if "pearson" in chosen:
            reads["pearson"] = _pearson(first, second)
        if "spearman" in chosen or "kendall_tau_b" in chosen:
            reads["ranks"] = _rank_correlations(first, second, chosen)
        everything = bool(complete.all())

        def read(weights: Floats) -> dict[str, Floats]:
            counts = weights if everything else weights[:, complete]
            found = {name: values for each in reads.values() for name, values in each(counts).items()}
            return {name: found[name] for name in chosen}

        return read

    return prepare


def no_spread_reason(rows: Floats) -> str:
    """Why a coefficient that needs spread in both raters does not exist."""
    if not len(rows):
        return "no item was scored by both raters"
    if len(rows) == 1:
        return "only one item was scored by both raters"
    constant = [name for name, column in zip(("first", "second"), rows.T, strict=True) if np.ptp(column) == 0]
    if len(constant) == 2:
        return "each rater gave every item the same score"
    if constant:
        return f"the {constant[0]} rater gave every item the same score"
    return "the scores have no spread"


def _pearson(first: Floats, second: Floats) -> Read:
    # Centred once on the data's own mean, so that sums of squares do not cancel.
    x = first - (first.mean() if first.size else 0.0)
    y = second - (second.mean() if second.size else 0.0)
    features = np.vstack([np.ones_like(x), x, y, x * x, y * y, x * y])

    def read(weights: Floats) -> dict[str, Floats]:
        n, sum_x, sum_y, sum_xx, sum_yy, sum_xy = features @ weights.T
        spread_x, spread_y = sum_xx - sum_x**2 / n, sum_yy - sum_y**2 / n
        exists = (spread_x > NEGLIGIBLE * sum_xx) & (spread_y > NEGLIGIBLE * sum_yy)
        r = (sum_xy - sum_x * sum_y / n) / np.sqrt(np.where(exists, spread_x * spread_y, np.nan))
        return {"pearson": np.clip(r, -1.0, 1.0)}

    return read


def _rank_correlations(first: Floats, second: Floats, names: list[Correlation]) -> Read:
    if "kendall_tau_b" not in names and len(first) > _FEW_ROWS:
        sides = GroupRanks(first), GroupRanks(second)
        return lambda weights: {"spearman": _spearman_by_row(*sides, np.ascontiguousarray(weights.T))}
    x, y = levels_of(first), levels_of(second)
    concordant = concordance(x, y) if "kendall_tau_b" in names else None

    def read(weights: Floats) -> dict[str, Floats]:
        # A row for each level, a column for each resample.
        often = [np.asarray(each.indicator.T @ weights.T) for each in (x, y)]
        values = {}
        if "spearman" in names:
            values["spearman"] = _spearman(x, y, weights.T, *often)
        if concordant is not None:
            n = weights.sum(axis=-1)
            pairs = n * (n - 1.0) / 2.0
            untied = [pairs - (each * (each - 1.0)).sum(axis=0) / 2.0 for each in often]
            both = np.sqrt(untied[0] * untied[1])
            tau = concordant(weights) / np.where(both > 0, both, np.nan)
            values["kendall_tau_b"] = np.clip(tau, -1.0, 1.0)
        return values

    return read


def _spearman(x: Levels, y: Levels, weights: Floats, weights_x: Floats, weights_y: Floats) -> Floats:
    ranks_x, ranks_y = (np.ascontiguousarray(centred_midranks(each.T).T) for each in (weights_x, weights_y))
    together = np.einsum("qb,qb,qb->b", weights, ranks_x[x.codes], ranks_y[y.codes])
    spread_x = np.einsum("lb,lb,lb->b", weights_x, ranks_x, ranks_x)
    spread_y = np.einsum("lb,lb,lb->b", weights_y, ranks_y, ranks_y)
    both = np.sqrt(spread_x * spread_y)
    return np.asarray(np.clip(together / np.where(both > 0, both, np.nan), -1.0, 1.0))


def _spearman_by_row(x: GroupRanks, y: GroupRanks, weights: Floats) -> Floats:
    """The same from weights that stand row by row."""
    (ranks_x, spread_x), (ranks_y, spread_y) = x.ranks(weights), y.ranks(weights)
    both = np.sqrt(spread_x[0] * spread_y[0])
    together = np.einsum("qb,qb,qb->b", ranks_x, ranks_y, weights)
    return np.asarray(np.clip(together / np.where(both > 0, both, np.nan), -1.0, 1.0))


def _fisher_z(name: str, n: int) -> Analytic:
    def ends(value: float, confidence: float) -> tuple[float, float, str] | None:
        room = n - 4 if name == "kendall_tau_b" else n - 3
        if room < 1 or abs(value) >= 1.0:
            return None
        variance, source = 1.0 / room, "Fisher z"
        if name == "spearman":
            variance, source = (1.0 + value**2 / 2.0) / room, "Fisher z (Bonett & Wright 2000)"
        elif name == "kendall_tau_b":
            variance, source = 0.437 / room, "Fisher z (Fieller, Hartley & Pearson 1957)"
        half = float(special.ndtri(0.5 + confidence / 2.0)) * float(np.sqrt(variance))
        return float(np.tanh(np.arctanh(value) - half)), float(np.tanh(np.arctanh(value) + half)), source

    return ends
