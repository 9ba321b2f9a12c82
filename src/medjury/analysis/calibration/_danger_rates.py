"""The share of dangerous answers from the jury's verdicts, corrected by how often the jury is right.

Three ways, all of labels y (1: dangerous) on some items and verdicts v (1: the jury calls it dangerous) on all:

    by verdict      θ = Σ P(v) · P(y = 1 | v), which holds also where labels were drawn apart for each verdict
    Rogan-Gladen    θ = (p + c − 1) / (s + c − 1), p the share of v = 1, s the sensitivity and c the specificity
                    (Rogan & Gladen 1978, Am J Epidemiol 107:71-76)
    plug-in         the same with p of the unlabelled items alone, and the interval of Lee et al. 2026
                    (arXiv:2511.21140, equations 5-7; Lang & Reiczigel 2014, Prev Vet Med 113:13-22), which adds a
                    success and a failure to every count and so holds for few labels

The first two have delta-method standard errors, cluster-robust by case, with Student's t; that of the plug-in is
widened by as much as clusters widen that of Rogan and Gladen. An answer that the jury left unscored is not cleared:
it counts as called dangerous, and by verdict it is a class of its own where enough of them are labelled.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

from medjury.analysis.calibration._maps import Cases
from medjury.analysis.calibration._part import Marks
from medjury.statistics import Estimate, Floats, undefined

# Fewer labels of a class say nothing of the share of it.
LEAST_LABELS = 5
# With fewer labels of a class the intervals of Rogan and Gladen and of the plug-in held in 99 to 100 % of simulated
# studies.
LEAST_BOTH_WAYS, LEAST_PLUG_IN = 30, 10
UNINFORMATIVE = "sensitivity and specificity add up to 1 or less: the jury's verdicts cannot be corrected"


@dataclass(frozen=True, slots=True)
class DangerRates:
    """The share of dangerous answers three ways, what the jury's verdicts are worth, and how many labels rest on
    each: `labels_by_verdict` are those of answers called safe and called dangerous."""

    by_verdict: Estimate
    rogan_gladen: Estimate
    plug_in: Estimate
    sensitivity: float | None
    specificity: float | None
    labels_by_verdict: tuple[int, int]


def danger_rates(labels: Floats, verdicts: Floats, *, cases: Cases, confidence: float = 0.95) -> DangerRates:
    """`labels` and `verdicts` are 1 for dangerous and 0 for safe; NaN is no label, or no score of the jury."""
    codes = np.unique(np.asarray(list(map(str, cases)), dtype=object), return_inverse=True)[1]
    known = ~np.isnan(labels)
    called = np.where(np.isnan(verdicts), 1.0, verdicts)
    counts = tuple(int((known & (called == verdict)).sum()) for verdict in (0.0, 1.0))
    right = [float((called[known & (labels == truth)] == truth).mean()) if (labels == truth).any() else None
             for truth in (1.0, 0.0)]  # fmt: skip
    return DangerRates(
        _by_verdict(labels, verdicts, codes, confidence),
        _rogan_gladen(labels, called, codes, confidence)[0],
        _plug_in(labels, called, codes, confidence),
        right[0],
        right[1],
        (counts[0], counts[1]),
    )


def plan_labels(
    labels: Floats, verdicts: Floats, planned: int, *, confidence: float = 0.95
) -> tuple[int, int, float, float] | None:
    """How many of the next `planned` labels to give to answers called safe and how many to those called dangerous
    for the least width, and the half-widths to expect, so and with a random draw; from the labels there are: m ∝
    P(v) · √(π(1 − π)) with π = P(y = 1 | v), a success and a failure added (Neyman 1934, J R Stat Soc 97:558-625).
    None where all verdicts are the same."""
    called, known = np.where(np.isnan(verdicts), 1.0, verdicts), ~np.isnan(labels)
    shares, spreads, there = [], [], []
    for verdict in (0.0, 1.0):
        have = labels[known & (called == verdict)]
        risk = (have.sum() + 1.0) / (len(have) + 2.0)
        shares.append(float((called == verdict).mean()))
        spreads.append(math.sqrt(risk * (1.0 - risk)))
        there.append(int((~known & (called == verdict)).sum()))
    if min(shares) == 0.0 or planned < 2:
        return None
    want = planned * shares[1] * spreads[1] / (shares[0] * spreads[0] + shares[1] * spreads[1])
    dangerous = min(max(round(want), 1, planned - there[0]), planned - 1, there[1])
    given = (planned - dangerous, dangerous)
    z = float(special.ndtri(0.5 + confidence / 2.0))

    def half(counts: Sequence[float]) -> float:
        parts = zip(shares, spreads, counts, strict=True)
        return z * math.sqrt(sum((share * spread) ** 2 / max(count, 1) for share, spread, count in parts))

    return *given, half(given), half([planned * share for share in shares])


def _by_verdict(labels: Floats, verdicts: Floats, codes: NDArray[np.int64], confidence: float) -> Estimate:
    name, known = "by the jury's verdict", ~np.isnan(labels)
    groups = [verdicts == 0.0, verdicts == 1.0, np.isnan(verdicts)]
    if (groups[2] & known).sum() < LEAST_LABELS:
        groups = [groups[0], groups[1] | groups[2]]
    groups = [group for group in groups if group.any()]
    if few := [group for group in groups if (group & known).sum() < LEAST_LABELS]:
        count = int((few[0] & known).sum())
        reason = f"{count} labels among the answers of one verdict; {LEAST_LABELS} are needed for each"
        return undefined(reason, int(known.sum()), name)
    risks = [float(labels[group & known].mean()) for group in groups]
    value = sum(float(group.mean()) * risk for group, risk in zip(groups, risks, strict=True))
    errors = np.zeros(len(labels))
    for group, risk in zip(groups, risks, strict=True):
        here = group & known
        # What is known of a risk of 0 or 1 is not certainty: the spread of a success and a failure more.
        count, smooth = int(here.sum()), (labels[here].sum() + 1.0) / (here.sum() + 2.0)
        raw = float(((labels[here] - risk) ** 2).sum())
        scale = math.sqrt(max(count * smooth * (1 - smooth), raw) / raw) if raw > 0 else 0.0
        left = (labels[here] - risk) * scale if raw > 0 else _alternating(count, smooth)
        errors[here] += float(group.mean()) * left / count
        errors += group * (risk - value) / len(labels)
    return _around(value, errors, codes, known, confidence, name)


def _alternating(count: int, risk: float) -> Floats:
    """Errors of a class whose labels all agree: of the size that the smoothed risk has, signs in turn."""
    return np.where(np.arange(count) % 2 == 0, 1.0, -1.0) * math.sqrt(risk * (1.0 - risk))


def _rogan_gladen(
    labels: Floats, called: Floats, codes: NDArray[np.int64], confidence: float
) -> tuple[Estimate, float]:
    """The estimate, and by what factor clusters widen it beside independent answers."""
    name, known = "Rogan-Gladen", ~np.isnan(labels)
    ill, well = known & (labels == 1.0), known & (labels == 0.0)
    if min(ill.sum(), well.sum()) < LEAST_LABELS:
        reason = (
            f"{int(ill.sum())} labels are dangerous and {int(well.sum())} are not; {LEAST_LABELS} of each are "
            "needed for sensitivity and specificity"
        )
        return undefined(reason, int(known.sum()), name), 1.0
    share, sensitivity = float(called.mean()), float(called[ill].mean())
    specificity = float(1.0 - called[well].mean())
    informative = sensitivity + specificity - 1.0
    if informative <= 0:
        return undefined(UNINFORMATIVE, int(known.sum()), name), 1.0
    value = (share + specificity - 1.0) / informative
    errors = (called - share) / len(called)
    errors -= np.where(ill, value * (called - sensitivity) / ill.sum(), 0.0)
    errors += np.where(well, (1.0 - value) * (1.0 - called - specificity) / well.sum(), 0.0)
    errors /= informative
    alone, together = float((errors**2).sum()), float((np.bincount(codes, weights=errors) ** 2).sum())
    widened = math.sqrt(max(together / alone, 1.0)) if alone > 0 else 1.0
    found = _around(value, errors, codes, known, confidence, name)
    return _with_enough(found, int(min(ill.sum(), well.sum())), LEAST_BOTH_WAYS), widened


def _plug_in(labels: Floats, called: Floats, codes: NDArray[np.int64], confidence: float) -> Estimate:
    name, known = "plug-in of Lee et al.", ~np.isnan(labels)
    tested = called[~known]
    right = {1.0: called[known & (labels == 1.0)], 0.0: 1.0 - called[known & (labels == 0.0)]}
    if not len(tested) or not all(map(len, right.values())):
        reason = "needs unlabelled answers, and labels both of dangerous and of safe answers"
        return undefined(reason, int(known.sum()), name)
    z = float(special.ndtri(0.5 + confidence / 2.0))
    found = plug_in(float(tested.mean()), len(tested), float(right[1.0].mean()), len(right[1.0]),
                    float(right[0.0].mean()), len(right[0.0]), z)  # fmt: skip
    if found is None:
        return undefined(UNINFORMATIVE, int(known.sum()), name)
    value, middle, half = found
    half *= _rogan_gladen(labels, called, codes, confidence)[1]
    method = f"{name}, {100 * confidence:g} % normal, a success and a failure added to every count"
    estimate = _clipped(value, middle - half, middle + half, int(known.sum()), method)
    return _with_enough(estimate, min(map(len, right.values())), LEAST_PLUG_IN)


def _with_enough(found: Estimate, fewest: int, needed: int) -> Estimate:
    """The value alone where too few labels of a class say how often the jury is right."""
    if fewest >= needed:
        return found
    why = f"{fewest} labels are of the rarer kind, dangerous or safe; {needed} are needed"
    return found.without_interval(why)


def plug_in(
    share: float, n: int, sensitivity: float, n_dangerous: int, specificity: float, n_safe: int, z: float
) -> tuple[float, float, float] | None:
    """The point, the middle of the interval and its half-width; None where the verdicts tell nothing.

    >>> [round(part, 4) for part in plug_in(0.5, 1000, 0.9, 50, 0.7, 50, 1.959964)]
    [0.3333, 0.3174, 0.1625]
    """
    if sensitivity + specificity <= 1.0:
        return None
    value = (share + specificity - 1.0) / (sensitivity + specificity - 1.0)
    size, ill, well = n + z * z, n_dangerous + 2.0, n_safe + 2.0
    p = (n * share + z * z / 2.0) / size
    s, c = (n_dangerous * sensitivity + 1.0) / ill, (n_safe * specificity + 1.0) / well
    if s + c <= 1.0:
        return None
    middle = (p + c - 1.0) / (s + c - 1.0)
    of_s, of_c = s * (1.0 - s) / ill, c * (1.0 - c) / well
    variance = (p * (1.0 - p) / size + (1.0 - middle) ** 2 * of_c + middle**2 * of_s) / (s + c - 1.0) ** 2
    return value, middle + 2.0 * z * z * (middle * of_s - (1.0 - middle) * of_c), z * math.sqrt(variance)


def _around(
    value: float, errors: Floats, codes: NDArray[np.int64], known: Marks, confidence: float, name: str
) -> Estimate:
    freedom = max(len(np.unique(codes[known])) - 1, 1)
    variance = float((np.bincount(codes, weights=errors) ** 2).sum()) * (freedom + 1) / freedom
    half = float(special.stdtrit(freedom, 0.5 + confidence / 2.0)) * math.sqrt(variance)
    method = f"{name}, {100 * confidence:g} % delta, cluster-robust by case, Student t with {freedom} df"
    return _clipped(value, value - half, value + half, int(known.sum()), method)


def _clipped(value: float, low: float, high: float, n: int, method: str) -> Estimate:
    """A share lies between 0 and 1, and an estimate inside its interval."""
    value = min(max(value, 0.0), 1.0)
    ends = (min(max(low, 0.0), value), max(min(high, 1.0), value))
    return Estimate(value, *ends, n, method)
