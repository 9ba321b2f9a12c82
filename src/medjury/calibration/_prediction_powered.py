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

All of it rests on one thing that no data can show: that the labelled items were drawn at random.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from medjury.calibration._calibrator import Floats, check_confidence
from medjury.calibration._folds import Cases
from medjury.errors import MedjuryError
from medjury.statistics import Estimate

LABELLED_CASES = 5
UNLABELLED_CASES = 5
FEW_CASES = 30
# So many unscored labelled items before anything is read from their labels.
FEWEST_UNSCORED = 5


@dataclass(frozen=True, slots=True)
class PredictionPowered:
    """The same quantity four ways. `power_tuned` is the one to report; `naive` trusts the jury blindly and
    its interval does not cover the clinicians' mean when the jury is biased.

    `weights` is λ, one per system; `effective_labels` how many labels the classical estimate would need for
    the same precision. `n_unscored` counts items that the jury gave no score: where they are labelled, their labels
    count like all others, since a jury that fails on bad answers would else make the mean too good.
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
    effective_labels: float | None
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Failed:
    """Labelled items that the jury left unscored: how many, how far their labels' mean lies from that of the
    others, and the p-value of no difference (Welch's t of the cases' means)."""

    n: int
    difference: float
    p_value: float | None


@dataclass(frozen=True, slots=True, eq=False)
class _Part:
    """One system's means, and what each case adds to their errors: `label` + λ · (`jury` + `rest`), `jury`
    through the labelled items and `rest` through the others. Both are zero where the others are too few."""

    labels: float
    jury_labelled: float
    jury_unlabelled: float
    jury_all: float
    label: Floats
    jury: Floats
    rest: Floats
    naive: Floats
    n_labelled: int
    n_unlabelled: int
    n_unscored: int
    failed: Failed | None
    n_rest_cases: int
    labelled_cases: NDArray[np.bool_]
    scored_cases: NDArray[np.bool_]

    @property
    def powered(self) -> bool:
        """Whether enough cases are unlabelled for the jury's mean over them to have a standard error."""
        return self.n_rest_cases >= UNLABELLED_CASES

    @property
    def borrowed(self) -> float:
        """What the error of the jury's mean over few unlabelled cases lacks beside the variance pooled with
        the labelled cases; both are draws from the same cases."""
        if not self.powered or self.n_rest_cases >= FEW_CASES:
            return 0.0
        cases = int(self.labelled_cases.sum())
        own, other = float((self.rest**2).sum()), float((self.jury**2).sum()) * cases / self.n_rest_cases
        pooled = np.average([own, other], weights=[self.n_rest_cases - 1, cases - 1])
        return math.sqrt(max(float(pooled) - own, 0.0))

    @property
    def imbalance(self) -> float:
        """How many standard errors the jury's mean on labelled items lies from that on the others."""
        error = (float(((self.jury + self.rest) ** 2).sum()) + self.borrowed**2) ** 0.5
        return (self.jury_labelled - self.jury_unlabelled) / error if error > 0 else 0.0


def estimate_mean(
    labels: ArrayLike,
    predictions: ArrayLike,
    *,
    cases: Cases,
    labels_random: bool = False,
    confidence: float = 0.95,
) -> PredictionPowered:
    """The clinicians' mean score over all items, though they labelled only some (NaN: no label).

    `labels_random` is your word that the labelled items are a random draw; without it the result warns.

    >>> labels = [4, 3, 5, 4, 2, 4] + [float("nan")] * 6
    >>> jury = [3, 2, 4, 3, 2, 3, 3, 4, 2, 3, 4, 3]
    >>> found = estimate_mean(labels, jury, cases=range(12), labels_random=True)
    >>> round(found.power_tuned.value, 2), round(found.classical.value, 2), round(found.naive.value, 2)
    (3.88, 3.67, 3.0)
    """
    codes, size = _codes(cases)
    part = _part(
        np.asarray(labels, dtype=float), np.asarray(predictions, dtype=float), codes, size, "these items"
    )
    return _combine([part], labels_random, confidence, "")


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
    given, wanted = np.asarray(predictions, dtype=float), np.asarray(labels, dtype=float)
    names = np.asarray(systems, dtype=object)
    codes, size = _codes(cases)
    if first == second:
        raise MedjuryError(f"a difference needs two systems, not {first!r} twice.")
    parts = []
    for system in (first, second):
        here = names == system
        if not here.any():
            known = ", ".join(sorted(set(map(str, names))))
            raise MedjuryError(f"there is no system {system!r}; the ratings have {known}.")
        parts.append(_part(wanted[here], given[here], codes[here], size, f"system {system!r}"))
    return _combine(parts, labels_random, confidence, f"{first} − {second}, ")


def _part(labels: Floats, jury: Floats, codes: NDArray[np.int64], size: int, whose: str) -> _Part:
    if labels.shape != jury.shape or labels.ndim != 1 or len(codes) != len(labels):
        raise MedjuryError("give one label (or NaN), one jury score and one case per item.")
    if np.isinf(labels).any() or np.isinf(jury).any():
        raise MedjuryError(f"{whose}: a score is infinite; leave it out where there is none.")
    scored, labelled = ~np.isnan(jury), ~np.isnan(labels)
    rest = ~labelled
    failed = _failed_on(labels, scored, codes)
    said, jury = jury, _filled(labels, jury)
    label_cases, rest_cases = _present(codes[labelled], size), _present(codes[rest], size)
    n, m = int(labelled.sum()), int(rest.sum())
    if label_cases.sum() < LABELLED_CASES:
        raise MedjuryError(
            f"{whose}: {int(label_cases.sum())} cases have a clinician's label; at least {LABELLED_CASES} are "
            f"needed, and {FEW_CASES} for an interval to lean on. Label more cases."
        )
    own, other = _stretch(int(label_cases.sum())), _stretch(int(rest_cases.sum()))
    on_labelled = on_rest = np.zeros(len(jury))
    jury_labelled = jury_rest = float(jury[labelled].mean())
    if rest_cases.sum() >= UNLABELLED_CASES:
        jury_rest = float(jury[rest].mean())
        on_labelled = np.where(labelled, jury - jury_labelled, 0.0) * (-own / n)
        on_rest = np.where(rest, jury - jury_rest, 0.0) * (other / m)
    label = np.where(labelled, labels - labels[labelled].mean(), 0.0) * (own / n)
    scored_cases = _present(codes[scored], size)
    everything = _stretch(int(scored_cases.sum()))
    naive = np.where(scored, jury - said[scored].mean(), 0.0) * (everything / int(scored.sum()))
    return _Part(
        labels=float(labels[labelled].mean()),
        jury_labelled=jury_labelled,
        jury_unlabelled=jury_rest,
        jury_all=float(said[scored].mean()),
        label=_sums(codes, label, size),
        jury=_sums(codes, on_labelled, size),
        rest=_sums(codes, on_rest, size),
        naive=_sums(codes, naive, size),
        n_labelled=n,
        n_unlabelled=m,
        n_unscored=int((~scored).sum()),
        failed=failed,
        n_rest_cases=int(rest_cases.sum()),
        labelled_cases=label_cases,
        scored_cases=scored_cases,
    )


def _combine(parts: list[_Part], labels_random: bool, confidence: float, what: str) -> PredictionPowered:
    from scipy.special import stdtrit

    check_confidence(confidence)
    signs = [1.0, -1.0][: len(parts)]
    label = np.sum([sign * part.label for sign, part in zip(signs, parts, strict=True)], axis=0)
    jury = np.column_stack([sign * part.jury for sign, part in zip(signs, parts, strict=True)])
    rest = np.column_stack([sign * part.rest for sign, part in zip(signs, parts, strict=True)])
    # What is borrowed belongs to no case: a row of its own for every system.
    label = np.concatenate([label, np.zeros(len(parts))])
    jury = np.vstack([jury, np.zeros((len(parts), len(parts)))])
    rest = np.vstack([rest, np.diag([part.borrowed for part in parts])])
    labelled_cases = int(np.any([part.labelled_cases for part in parts], axis=0).sum())
    all_cases = int(np.any([part.scored_cases for part in parts], axis=0).sum())
    n, m = sum(part.n_labelled for part in parts), sum(part.n_unlabelled for part in parts)

    def around(value: float, variance: float, freedom: float, n: int, name: str) -> Estimate:
        half = float(stdtrit(freedom, 0.5 + confidence / 2)) * variance**0.5
        df = f"{freedom:.1f}".removesuffix(".0")
        method = f"{name}, {what}{100 * confidence:g} % cluster-robust by case, Student t with {df} df"
        return Estimate(value, value - half, value + half, n, method)

    def weighted(name: str, weights: Floats, estimated: int = 0) -> tuple[Estimate, float]:
        value = sum(
            sign * (part.labels + weight * (part.jury_unlabelled - part.jury_labelled))
            for sign, part, weight in zip(signs, parts, weights.tolist(), strict=True)
        )
        freedom = labelled_cases - 1 - estimated
        through_labels, through_rest = label + jury @ weights, rest @ weights
        variance = float(((through_labels + through_rest) ** 2).sum()) * (labelled_cases - 1) / freedom
        used = [part.n_rest_cases for part, weight in zip(parts, weights, strict=True) if weight > 0]
        least = _freedom(through_labels, freedom, through_rest, min(used, default=labelled_cases) - 1)
        return around(value, variance, least, n, name), variance

    weights = _best_weights(label, jury + rest)
    classical, classical_variance = weighted("labels alone", np.zeros(len(parts)))
    tuned, variance = weighted("PPI++", weights, int(((weights > 0) & (weights < 1)).sum()))
    fixed, _ = weighted("PPI with full weight on the jury", np.ones(len(parts)))
    spread = np.sum([sign * part.naive for sign, part in zip(signs, parts, strict=True)], axis=0)
    naive = around(
        sum(sign * part.jury_all for sign, part in zip(signs, parts, strict=True)),
        float((spread**2).sum()),
        all_cases - 1,
        n + m - sum(part.n_unscored for part in parts),
        "jury scores alone, not corrected for bias",
    )
    return PredictionPowered(
        power_tuned=tuned,
        fixed=fixed,
        classical=classical,
        naive=naive,
        weights=tuple(float(weight) for weight in weights),
        n_labelled=n,
        n_unlabelled=m,
        n_labelled_cases=labelled_cases,
        n_unscored=sum(part.n_unscored for part in parts),
        effective_labels=n * classical_variance / variance if variance > 0 else None,
        warnings=_warnings(parts, labels_random, labelled_cases, variance),
    )


def _filled(labels: Floats, jury: Floats) -> Floats:
    """The jury's scores with one number where it gave none. Any number is right, since labelled and unlabelled
    items get the same one and the labels correct it; the nearest guess costs least: the jury's mean on labelled
    items, and how far the labels of unscored items lie from the others."""
    scored, labelled = ~np.isnan(jury), ~np.isnan(labels)
    if scored.all() or not scored.any():
        return np.where(scored, jury, 0.0)
    both, lost = scored & labelled, labelled & ~scored
    guess = float(jury[both if both.any() else scored].mean())
    if both.any() and lost.sum() >= FEWEST_UNSCORED:
        guess += float(labels[lost].mean() - labels[both].mean())
    return np.where(scored, jury, guess)


def _failed_on(labels: Floats, scored: NDArray[np.bool_], codes: NDArray[np.int64]) -> Failed | None:
    """Whether the jury fails on answers that clinicians grade otherwise; None where it scored all labelled ones."""
    from scipy.stats import ttest_ind

    labelled = ~np.isnan(labels)
    lost, kept = labelled & ~scored, labelled & scored
    if not lost.any() or not kept.any():
        return None
    sides = [_case_means(labels[side], codes[side]) for side in (lost, kept)]
    difference = float(labels[lost].mean() - labels[kept].mean())
    tested = min(len(side) for side in sides) >= FEWEST_UNSCORED and all(np.ptp(side) > 0 for side in sides)
    p_value = float(ttest_ind(*sides, equal_var=False).pvalue) if tested else None
    return Failed(int(lost.sum()), difference, p_value)


def _case_means(values: Floats, codes: NDArray[np.int64]) -> Floats:
    _, place, counts = np.unique(codes, return_inverse=True, return_counts=True)
    return np.asarray(np.bincount(place, values) / counts, dtype=np.float64)


def _told(failed: Failed) -> str:
    text = (
        f"the jury gave no score to {failed.n:,} labelled items; their labels count, and lie "
        f"{abs(failed.difference):.2f} {'below' if failed.difference < 0 else 'above'} those of the others"
    )
    if failed.p_value is None:
        return f"{text} (too few to tell whether it fails on other answers than it scores)"
    if failed.p_value < 0.05:
        return (
            f"{text}: it fails on other answers than it scores, so its scores alone say nothing of the mean"
        )
    return f"{text} (p = {failed.p_value:.2f})"


def _best_weights(label: Floats, jury: Floats) -> Floats:
    """λ between 0 and 1 with the least variance: least squares of the labels' errors on the jury's."""
    if jury.shape[1] == 1:
        spread = float(jury[:, 0] @ jury[:, 0])
        best = -float(label @ jury[:, 0]) / spread if spread > 0 else 0.0
        return np.clip([best], 0.0, 1.0)
    size = np.abs(jury).max()
    if size == 0:
        return np.zeros(jury.shape[1])
    from scipy.optimize import lsq_linear

    # Scaled, so that the solver's tolerances do not depend on the number of items.
    found = lsq_linear(jury / size, -label / size, bounds=(0.0, 1.0), tol=1e-14).x
    return np.where(found < 1e-9, 0.0, np.where(found > 1 - 1e-9, 1.0, found))


def _warnings(parts: list[_Part], labels_random: bool, cases: int, variance: float) -> tuple[str, ...]:
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
        f"too few unlabelled cases ({part.n_rest_cases}, at least {UNLABELLED_CASES} are needed): the jury is "
        "not used, the labels speak alone"
        for part in parts
        if not part.powered
    ]
    found += [_told(part.failed) for part in parts if part.failed is not None]
    if cases < FEW_CASES:
        found.append(f"only {cases} labelled cases: read the interval with care below {FEW_CASES}")
    if variance <= 1e-20:
        found.append("all labelled items agree, so the interval has no width and says nothing")
    return tuple(found)


def _freedom(labels: Floats, of_labels: int, rest: Floats, of_rest: int) -> float:
    """Satterthwaite's degrees of freedom of a variance in two parts, never more than the labels' own."""
    first, second = float((labels**2).sum()), float((rest**2).sum())
    if second == 0 or of_rest >= of_labels:
        return of_labels
    return min(of_labels, (first + second) ** 2 / (first**2 / of_labels + second**2 / of_rest))


def _codes(cases: Cases) -> tuple[NDArray[np.int64], int]:
    known: dict[str, int] = {}
    codes = np.array([known.setdefault(str(case), len(known)) for case in cases], dtype=np.int64)
    return codes, len(known)


def _sums(codes: NDArray[np.int64], values: Floats, size: int) -> Floats:
    return np.bincount(codes, weights=values, minlength=size).astype(np.float64)


def _present(codes: NDArray[np.int64], size: int) -> NDArray[np.bool_]:
    return np.bincount(codes, minlength=size) > 0


def _stretch(cases: int) -> float:
    """The small-sample factor √(G / (G − 1)) of cluster-robust errors."""
    return float((cases / (cases - 1)) ** 0.5) if cases > 1 else 1.0
