"""Prediction-powered estimates: few clinicians' labels, many jury scores, one valid interval.

The jury's mean over unlabelled items is corrected by what the labels show the jury to be wrong by:

    θ(λ) = mean of labels + λ · (mean jury score of unlabelled items − mean jury score of labelled items)

λ = 0 is the classical estimate, λ = 1 the first proposal (Angelopoulos et al. 2023, Science 382:669-674), and
the λ with the least variance (PPI++, Angelopoulos, Duchi & Zrnic 2023, arXiv:2311.01453) is never worse than
either, up to the noise of estimating it. Standard errors are cluster-robust by case, with Student's t on the
number of labelled cases less one and less one for every λ that was estimated, and on fewer where a mean over
few unlabelled cases adds to the variance (Satterthwaite 1946, Biometrics Bull 2:110-114). Fewer than thirty
unlabelled cases borrow the jury's spread on labelled ones where their own is smaller, lest λ be largest where
that spread is underestimated; with fewer than five λ is 0 and the labels speak alone.

A jury that gives no score says something too, for it may fail on bad answers. Every label counts, with or without
a jury score. An unscored item counts as scored at the jury's mean, and where enough of them are labelled "the jury
gave no score" is a second prediction with a λ of its own, by least squares: that is the same as estimating the
unscored items apart, by their labels alone.

All of it rests on one thing that no data can show: that the labelled items were drawn at random.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from medjury.analysis.calibration._maps import Cases, check_confidence
from medjury.analysis.calibration._prediction_powered_part import (
    FEW_CASES,
    LABELLED_CASES,
    UNLABELLED_CASES,
    Part,
    codes_of,
    part_of,
)
from medjury.foundation.errors import MedjuryError
from medjury.statistics import Estimate, Floats, counted, percent, undefined

# What to know before a prediction-powered estimate is believed: how labels were drawn, and what has no score.


def warnings_of(parts: list[Part], labels_random: bool, cases: int, variance: float) -> tuple[str, ...]:
    found = []
    if not labels_random:
        found.append(
            "the labelled items were not stated to be a random draw; if they were chosen in any other "
            "way (the difficult ones, the first ones), no estimate here is valid"
        )
    found += [
        f"the jury scores labelled items differently from unlabelled ones (z = {part.imbalance:.1f}): "
        "they do not look like a random draw"
        for part in parts
        if abs(part.imbalance) > 3
    ]
    found += [
        f"too few {which} cases ({count}, at least {least} are needed): the jury is not used, only the labels "
        "are"
        for part in parts
        for which, count, least in (
            ("unlabelled", part.n_scored_cases[1], UNLABELLED_CASES),
            ("labelled and scored", part.n_scored_cases[0], LABELLED_CASES),
        )
        if count < least
    ]
    found += [text for part in parts for text in _about_unscored(part)]
    if cases < FEW_CASES:
        found.append(f"only {cases} labelled cases: read the interval with care below {FEW_CASES}")
    if variance <= 1e-20:
        found.append("all labelled items agree, so the interval has no width and says nothing")
    return tuple(found)


def _about_unscored(part: Part) -> list[str]:
    """Answers without a jury score: how many, whether clinicians think less of them, whether they were labelled."""
    if not part.n_unscored:
        return []
    one = part.n_unscored_labelled == 1
    found = [
        f"{part.whose}: {counted(part.n_unscored, 'answer')} without a jury score, {part.n_unscored_labelled} of "
        f"them with a label{', which counts' if one else ', which count' if part.n_unscored_labelled else ''}"
    ]
    if part.unscored_apart is not None and abs(part.unscored_apart[0]) > 2.0 * part.unscored_apart[1]:
        lower = part.unscored_apart[0] < 0
        found.append(
            f"{part.whose}: the clinicians' mean of answers that the jury left unscored is "
            f"{abs(part.unscored_apart[0]):.2f} {'lower' if lower else 'higher'} than of the others: what is "
            "missing depends on quality, and the jury's own mean leaves it out"
        )
    labelled, rest = part.missing
    error = (rest * (1.0 - rest) / max(int(part.labelled_cases.sum()), 1)) ** 0.5
    if error > 0 and rest - labelled > 3.0 * error:
        found.append(
            f"{part.whose}: {percent(labelled, 1)} of labelled and {percent(rest, 1)} of unlabelled answers have "
            "no jury score: the labelled ones do not look like a random draw, and no estimate holds for the "
            "unscored"
        )
    return found


@dataclass(frozen=True, slots=True)
class PredictionPowered:
    """The same quantity four ways. `power_tuned` is the one to report; `naive` trusts the jury blindly and
    its interval does not cover the clinicians' mean when the jury is biased.

    `weights` is λ, one per system; `effective_labels` how many labels the classical estimate would need for
    the same precision; `n_unlabelled` counts items with a jury score alone, `n_unscored` all without one, of which
    `n_unscored_labelled` have a label.
    """

    power_tuned: Estimate
    fixed: Estimate
    classical: Estimate
    naive: Estimate
    weights: tuple[float, ...]
    n_labelled: int
    n_unlabelled: int
    n_labelled_cases: int
    n_unscored: int
    n_unscored_labelled: int
    effective_labels: float | None
    warnings: tuple[str, ...]


def estimate_mean(
    labels: ArrayLike,
    predictions: ArrayLike,
    *,
    cases: Cases,
    labels_random: bool = False,
    confidence: float = 0.95,
) -> PredictionPowered:
    """The clinicians' mean score over all items, though they labelled only some (NaN: no label).

    By `labels_random` you assert that the labelled items are a random draw; without it the result warns.

    >>> labels = [4, 3, 5, 4, 2, 4] + [float("nan")] * 6
    >>> jury = [3, 2, 4, 3, 2, 3, 3, 4, 2, 3, 4, 3]
    >>> found = estimate_mean(labels, jury, cases=range(12), labels_random=True)
    >>> round(found.power_tuned.value, 2), round(found.classical.value, 2), round(found.naive.value, 2)
    (3.88, 3.67, 3.0)
    """
    codes, size = codes_of(cases)
    part = part_of(
        np.asarray(labels, dtype=float), np.asarray(predictions, dtype=float), codes, size, "these items"
    )
    return _combine([part], [1.0], labels_random, confidence, "")


def estimate_difference(
    labels: ArrayLike,
    predictions: ArrayLike,
    *,
    systems: Sequence[str],
    first: str,
    second: str,
    cases: Cases,
    labels_random: bool = False,
    confidence: float = 0.95,
) -> PredictionPowered:
    """The difference of two systems' means, first − second. Each system has its own λ.

    Where both systems answered the same cases, what they share cancels: errors are added up case by case,
    so a pair counts as a pair, and an item labelled for one system alone still counts.
    """
    if first == second:
        raise MedjuryError(f"a difference needs two systems, not {first!r} twice.")
    for system in (first, second):
        if system not in systems:
            known = ", ".join(sorted(set(map(str, systems))))
            raise MedjuryError(f"there is no system {system!r}; the ratings have {known}.")
    whose = {system: f"system {system!r}" for system in (first, second)}
    parts = _parts(labels, predictions, systems, cases, whose)
    return _combine(parts, [1.0, -1.0], labels_random, confidence, f"{first} − {second}, ")


def estimate_mixture(
    labels: ArrayLike,
    predictions: ArrayLike,
    *,
    strata: Sequence[str],
    shares: Mapping[str, float],
    cases: Cases,
    labels_random: bool = False,
    confidence: float = 0.95,
) -> PredictionPowered:
    """The mean in a population that holds the strata in these `shares`, whatever the shares of the sample are:
    Σ share · mean of the stratum. Each stratum has its own λ, and labels need be random within strata only."""
    used = {name: share for name, share in shares.items() if share > 0}
    parts = _parts(labels, predictions, strata, cases, {name: f"stratum {name!r}" for name in used})
    found = _combine(parts, list(used.values()), labels_random, confidence, "weighted to the target, ")
    if found.n_labelled_cases >= FEW_CASES:
        return found
    why = f"{found.n_labelled_cases} labelled cases are too few, at least {FEW_CASES} are needed"
    return replace(
        found,
        power_tuned=found.power_tuned.without_interval(why),
        fixed=found.fixed.without_interval(why),
        classical=found.classical.without_interval(why),
    )


def powered_means(
    labels: ArrayLike,
    predictions: ArrayLike,
    *,
    groups: Sequence[str],
    order: Sequence[str],
    cases: Cases,
    size: int,
    labels_random: bool = False,
    confidence: float = 0.95,
) -> tuple[list[Estimate], Floats, int, tuple[str, ...]]:
    """The clinicians' mean of every group in `order`, each with its own λ (see `estimate_mean`), and of these the
    average of every `size` in their order, with Student's t by case, on fewer degrees of freedom where few cases
    decide the error. With it what each case adds to the error of each average, so that errors of differences are
    sums over cases; how many cases are labelled, at the fewest of a group; and warnings."""
    parts = _parts(labels, predictions, groups, cases, {name: name for name in order})
    every = len(parts[0].label)
    values, errors = np.empty(len(parts)), np.zeros((every + len(parts), len(parts)))
    for place, part in enumerate(parts):
        both = np.vstack([part.jury + part.rest, [part.borrowed, 0.0]])
        weights = _best_weights(np.append(part.label, 0.0), both, np.array([True, False]))
        estimated = int(0 < weights[0] < 1) + int(weights[1] != 0)
        count = int(part.labelled_cases.sum())
        widened = ((count - 1) / max(count - 1 - estimated, 1)) ** 0.5
        values[place] = part.labels + float(part.gap @ weights)
        errors[:every, place] = (part.label + both[:-1] @ weights) * widened
        errors[every + place, place] = part.borrowed * float(weights[0]) * widened
    fewest = min(int(part.labelled_cases.sum()) for part in parts)
    cautions = warnings_of(parts, labels_random or not any(part.n_unlabelled for part in parts), fewest, 1.0)
    values = values.reshape(-1, size).mean(axis=1)
    errors = errors.reshape(len(errors), -1, size).mean(axis=2)
    counts = np.array([part.n_labelled for part in parts]).reshape(-1, size).sum(axis=1)
    found = []
    for value, own, labels_of in zip(values.tolist(), errors.T, counts.tolist(), strict=True):
        freedom = _with_tails(fewest - 1, own)
        half = float(special.stdtrit(freedom, 0.5 + confidence / 2.0)) * float((own**2).sum()) ** 0.5
        method = (
            f"PPI++, {100 * confidence:g} % cluster-robust by case, Student t with {freedom:.1f} df"
        ).replace(".0 df", " df")
        found.append(Estimate(value, value - half, value + half, labels_of, method))
    return found, errors, fewest, cautions


def _parts(
    labels: ArrayLike, predictions: ArrayLike, groups: Sequence[str], cases: Cases, whose: Mapping[str, str]
) -> list[Part]:
    """A part for each of these groups, by what messages call it."""
    given, wanted = np.asarray(predictions, dtype=float), np.asarray(labels, dtype=float)
    names = np.asarray(groups, dtype=object)
    codes, size = codes_of(cases)
    return [
        part_of(wanted[names == name], given[names == name], codes[names == name], size, what)
        for name, what in whose.items()
    ]


def _combine(
    parts: list[Part], signs: list[float], labels_random: bool, confidence: float, what: str
) -> PredictionPowered:
    """Σ sign · mean of the part."""
    check_confidence(confidence)
    label = np.sum([sign * part.label for sign, part in zip(signs, parts, strict=True)], axis=0)
    jury = np.column_stack([sign * part.jury for sign, part in zip(signs, parts, strict=True)])
    rest = np.column_stack([sign * part.rest for sign, part in zip(signs, parts, strict=True)])
    gap = np.concatenate([sign * part.gap for sign, part in zip(signs, parts, strict=True)])
    of_jury = np.arange(len(gap)) % 2 == 0
    # What is borrowed belongs to no case: a row of its own for every system.
    label = np.concatenate([label, np.zeros(len(parts))])
    jury = np.vstack([jury, np.zeros((len(parts), len(gap)))])
    rest = np.vstack([rest, np.kron(np.diag([part.borrowed for part in parts]), [1.0, 0.0])])
    labelled_cases = int(np.any([part.labelled_cases for part in parts], axis=0).sum())
    all_cases = int(np.any([part.scored_cases for part in parts], axis=0).sum())
    n, m = sum(part.n_labelled for part in parts), sum(part.n_unlabelled for part in parts)

    def around(value: float, variance: float, freedom: float, n: int, name: str) -> Estimate:
        half = float(special.stdtrit(freedom, 0.5 + confidence / 2)) * variance**0.5
        df = f"{freedom:.1f}".removesuffix(".0")
        method = f"{name}, {what}{100 * confidence:g} % cluster-robust by case, Student t with {df} df"
        return Estimate(value, value - half, value + half, n, method)

    def weighted(name: str, weights: Floats, estimated: int = 0) -> tuple[Estimate, float]:
        value = sum(sign * part.labels for sign, part in zip(signs, parts, strict=True)) + float(
            gap @ weights
        )
        through_labels, through_rest = label + jury @ weights, rest @ weights
        variance = float(((through_labels + through_rest) ** 2).sum())
        if len(parts) > 1 and min(signs) > 0:
            widened, least = _of_strata(parts, signs, weights)
            return around(value, variance * widened, least, n, name), variance * widened
        freedom = labelled_cases - 1 - estimated
        variance *= (labelled_cases - 1) / freedom
        used = [part.n_rest_cases for part, weight in zip(parts, weights[of_jury], strict=True) if weight > 0]
        least = _freedom(through_labels, freedom, through_rest, min(used, default=labelled_cases) - 1)
        return around(value, variance, _with_tails(least, through_labels), n, name), variance

    weights = _best_weights(label, jury + rest, of_jury)
    inside = np.where(of_jury, (weights > 0) & (weights < 1), weights != 0)
    classical, classical_variance = weighted("labels alone", np.zeros(len(gap)))
    tuned, variance = weighted("PPI++", weights, int(inside.sum()))
    fixed, _ = weighted("PPI with full weight on the jury", np.where(of_jury, 1.0, 0.0))
    spread = np.sum([sign * part.naive for sign, part in zip(signs, parts, strict=True)], axis=0)
    alone = "jury scores alone, not corrected for bias"
    scored = sum(int(part.n_labelled - part.n_unscored_labelled) for part in parts) + m
    silent = [part.whose for part in parts if not part.scored_cases.any()]
    if silent:
        naive = undefined(f"the jury gave no score to {silent[0]}", 0, alone)
    else:
        value = sum(sign * part.jury_all for sign, part in zip(signs, parts, strict=True))
        naive = around(value, float((spread**2).sum()), max(all_cases - 1, 1), scored, alone)
    return PredictionPowered(
        power_tuned=tuned,
        fixed=fixed,
        classical=classical,
        naive=naive,
        weights=tuple(float(weight) for weight in weights[of_jury]),
        n_labelled=n,
        n_unlabelled=m,
        n_labelled_cases=labelled_cases,
        n_unscored=sum(part.n_unscored for part in parts),
        n_unscored_labelled=sum(part.n_unscored_labelled for part in parts),
        effective_labels=n * classical_variance / variance if variance > 0 else None,
        warnings=warnings_of(parts, labels_random, labelled_cases, variance),
    )


def _of_strata(parts: list[Part], signs: list[float], weights: Floats) -> tuple[float, float]:
    """By what the λ that each stratum estimates widen the variance, and Satterthwaite's degrees of freedom: a
    stratum with few labels and a large share leaves few."""
    raw, wide, squares = 0.0, 0.0, 0.0
    for place, (part, sign) in enumerate(zip(parts, signs, strict=True)):
        own = weights[2 * place : 2 * place + 2]
        estimated = int(0 < own[0] < 1) + int(own[1] != 0)
        cases = int(part.labelled_cases.sum())
        freedom = max(cases - 1 - estimated, 1)
        errors = float(((part.label + (part.jury + part.rest) @ own) ** 2).sum())
        variance = sign**2 * (errors + (own[0] * part.borrowed) ** 2)
        raw += variance
        wide += variance * (cases - 1) / freedom
        squares += (variance * (cases - 1) / freedom) ** 2 / freedom
    return (wide / raw, wide**2 / squares) if squares > 0 else (1.0, 1.0)


def _best_weights(label: Floats, jury: Floats, of_jury: NDArray[np.bool_]) -> Floats:
    """λ with the least variance: least squares of the labels' errors on the predictions'. That of a jury's score
    lies between 0 and 1; a column of zeros has none."""
    size = np.abs(jury).max(axis=0, initial=0.0)
    used = size > 0
    weights = np.zeros(len(size))
    if used.tolist() == [True, False]:
        best = -float(label @ jury[:, 0]) / float(jury[:, 0] @ jury[:, 0])
        return np.array([min(max(best, 0.0), 1.0), 0.0])
    if not used.any():
        return weights
    from scipy.optimize import lsq_linear

    # Scaled, so that the solver's tolerances do not depend on the number of items.
    largest, scored = size.max(), of_jury[used]
    bounds = (np.where(scored, 0.0, -np.inf), np.where(scored, 1.0, np.inf))
    found = lsq_linear(jury[:, used] / largest, -label / largest, bounds=bounds, tol=1e-14).x
    rounded = np.where(found < 1e-9, 0.0, np.where(found > 1 - 1e-9, 1.0, found))
    weights[used] = np.where(scored, rounded, found)
    return weights


def _with_tails(freedom: float, errors: Floats) -> float:
    """Degrees of freedom of a spread that few cases decide, as where most grades are the best: 2 / (2/df + κ/n),
    where κ is the excess kurtosis of what n cases add to the error (see the default interval)."""
    own = errors[errors != 0]
    square = float((own**2).sum())
    if len(own) < 2 or square <= 0:
        return freedom
    excess = max(float(len(own) * (own**4).sum()) / square**2 - 3.0, 0.0)
    return 2.0 / (2.0 / freedom + excess / len(own))


def _freedom(labels: Floats, of_labels: int, rest: Floats, of_rest: int) -> float:
    """Satterthwaite's degrees of freedom of a variance in two parts, never more than the labels' own."""
    first, second = float((labels**2).sum()), float((rest**2).sum())
    if second == 0 or of_rest >= of_labels:
        return of_labels
    return min(of_labels, (first + second) ** 2 / (first**2 / of_labels + second**2 / of_rest))
