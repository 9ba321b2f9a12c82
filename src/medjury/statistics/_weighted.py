"""Shares and means of answers that were drawn with unequal probabilities, each weighted by one over its own.

A weighted mean θ = Σ wᵢyᵢ / Σ wᵢ with w = 1/π is Hájek's (1971, in Foundations of Statistical Inference, 236);
its error is that of its influence wᵢ(yᵢ − θ) / Σ w, summed over whole cases (Särndal, Swensson & Wretman 1992,
Model Assisted Survey Sampling, §5.7). All intervals are for answers like these, not for these alone: the cases
themselves count as a sample.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from medjury.foundation.errors import MedjuryError
from medjury.statistics._bootstrap import Clusters
from medjury.statistics._estimate import Estimate, undefined
from medjury.statistics._resample import Floats, Integers, cluster_codes
from medjury.statistics._shares import EVENTS_NEEDED, clustered_proportion

# From how much evidence on both sides, in heaviest cases, a share is no longer taken for one near its edge.
_HEAVY = 2.0
# Read answers that stand for more than there are, by so many standard errors, were not drawn from these.
_TOO_MANY = 4.0


def effective_n(weights: ArrayLike) -> float:
    """How many answers drawn with equal probabilities would know a mean as well: (Σw)² / Σw² (Kish 1965).

    >>> effective_n([1, 1, 1, 1]), round(effective_n([1, 1, 1, 10]), 2)
    (4.0, 1.64)
    """
    given = np.asarray(weights, dtype=np.float64)
    return float(given.sum() ** 2 / (given**2).sum()) if given.size else 0.0


def weighted_mean(
    values: ArrayLike, weights: ArrayLike, clusters: Clusters = None, *, confidence: float = 0.95
) -> Estimate:
    """Hájek's mean with Student's t on as many degrees of freedom as the weights leave of the clusters.

    >>> found = weighted_mean([1.0, 3.0, 2.0, 4.0], [1, 1, 2, 2])
    >>> round(found.value, 4), round(found.low, 2), round(found.high, 2)
    (2.6667, 0.37, 4.96)
    """
    y, w, codes = _given(values, weights, clusters)
    if not y.size:
        return undefined("there is no answer to count", 0, "weighted by 1/probability")
    value = float(np.average(y, weights=w))
    sums = np.bincount(codes, w * (y - value) / w.sum()).astype(np.float64)
    return _around(value, sums, codes, w, confidence, "weighted by 1/probability")


def difference_mean(
    labels: ArrayLike,
    weights: ArrayLike,
    predictions: ArrayLike,
    clusters: Clusters = None,
    *,
    confidence: float = 0.95,
    trust: float | None = None,
) -> tuple[Estimate, float]:
    """The mean of everybody by the predictions of all and the weighted labels of some (NaN: not labelled), and how
    far the predictions are trusted, λ:

        θ = λ · mean of all predictions + Σ w (y − λ f) / Σ w

    the difference estimator (Särndal, Swensson & Wretman 1992, ch. 6), which is prediction-powered inference for
    unequal probabilities (Zrnic & Candès 2024, ICML, arXiv:2403.03208). λ between 0 and 1 has the least variance,
    unless `trust` states it; the error is that of the sum of both parts over whole cases. A missing prediction
    counts as the mean of all.
    """
    y, f = np.asarray(labels, dtype=np.float64), np.asarray(predictions, dtype=np.float64)
    known = ~np.isnan(y)
    w = np.where(known, np.asarray(weights, dtype=np.float64), 0.0)
    codes = cluster_codes(clusters, len(y))
    if not known.any():
        return undefined("no answer is labelled", 0, "difference estimator"), 0.0
    centred = np.where(np.isnan(f), 0.0, f - (np.nanmean(f) if (~np.isnan(f)).any() else 0.0))
    label = float(np.average(y[known], weights=w[known]))
    on_labelled = float(np.average(centred[known], weights=w[known]))
    share = w / w.sum()
    own = np.bincount(codes, share * np.where(known, y - label, 0.0))
    jury = np.bincount(codes, centred / len(y) - share * (centred - on_labelled))
    spread = float(jury @ jury)
    estimated = 0
    if trust is None:
        trust = min(max(-float(own @ jury) / spread, 0.0), 1.0) if spread > 0 else 0.0
        estimated = int(0.0 < trust < 1.0)
    value = label - trust * on_labelled
    name = "difference estimator, weighted by 1/probability"
    sums = own + trust * jury
    return _around(value, sums, codes[known], w[known], confidence, name, estimated=estimated), trust


def weighted_proportion(
    hits: ArrayLike, weights: ArrayLike, clusters: Clusters = None, *, confidence: float = 0.95
) -> Estimate:
    """The weighted share of `hits`, with an interval that stays honest near 0 and 1.

    Nothing seen is not nothing there: a case that was drawn with probability 1/20 stands for twenty. So each end is
    that of the beta distribution with the mean and the variance of the share after one more piece of evidence
    against it, a hit for the upper end, none for the lower. Where no case has one, or one case only, its weight is
    that of the heaviest case: with equal weights that is Clopper and Pearson's bound, and with no hit that of Σw /
    max w answers (so the gamma interval of Fay & Feuer 1997, Stat Med 16:791-801, for rates). With hits that weigh
    as much as e of the heaviest cases it comes down, as 1/e², to half of a case of the size that weighs most in the
    mean, Σw² / Σw: mid-P, which covers 95 % and not 97 (Fay & Kim 2017, Biom J 59:377-387). Hits are counted by
    weight, because those among cases that are always read tell nothing of the cases that stand for many. The end
    towards the nearer edge, which no rule about danger reads, would hold too often: with evidence on both sides
    that weighs as much as two of the heaviest cases or more it goes over, as 1/e² again, to that of the score
    interval for as many answers as the variance tells (Wilson 1927; Dean & Pagano 2015, J Surv Stat Methodol
    3:484-503). The variance is that of whole clusters (K/(K − 1), Student's t), never taken below what hits that
    all go with their cluster would have while three clusters or fewer have one.

    >>> found = weighted_proportion([False] * 40, [1.0] * 20 + [10.0] * 20)
    >>> found.value, round(found.high, 3)
    (0.0, 0.16)
    """
    x, w, codes = _given(np.asarray(hits, dtype=np.float64), weights, clusters)
    n, total = len(x), float(w.sum())
    share = f"{100 * confidence:g} %"
    if not n:
        return undefined("there is no answer to count", 0, f"{share} beta, weighted")
    value = float(np.average(x, weights=w))
    sizes = np.bincount(codes, w) / total
    used = sizes > 0
    count = int(used.sum())
    events = np.bincount(codes, w * x) / total
    with_hit = int((events[used] > 1e-12).sum())
    with_none = int((sizes[used] - events[used] > 1e-12).sum())
    seen = count / max(count - 1.0, 1.0) * float(((events - value * sizes) ** 2).sum())
    least = (
        value
        * (1.0 - value)
        * float((sizes**2).sum())
        * min(1.0, EVENTS_NEEDED / max(min(with_hit, with_none), 1))
    )
    tail = (1.0 - confidence) / 2.0
    student = (
        float(special.stdtrit(max(_freedom(sizes[used]), 1.0), 1.0 - tail) / special.ndtri(1.0 - tail)) ** 2
    )
    variance = max(seen, least) * student
    high = _end(value, variance, _one_more(sizes, value), 1.0 - tail)
    low = 1.0 - _end(1.0 - value, variance, _one_more(sizes, 1.0 - value), 1.0 - tail)
    # Of both ends the one towards the nearer edge is wider than promised; see above.
    heavy = (
        min(1.0, (_HEAVY * float(sizes.max()) / near) ** 2)
        if (near := min(value, 1.0 - value)) > 0.0
        else 1.0
    )
    score = _score_end(near, variance, float(special.ndtri(1.0 - tail))) if heavy < 1.0 else 0.0
    if value <= 0.5:
        low += (1.0 - heavy) * (score - low)
    else:
        high += (1.0 - heavy) * (1.0 - score - high)
    worth = effective_n(sizes[used])
    method = f"{share} beta, weighted by 1/probability; {n} answers of {count} clusters are worth {worth:.1f}"
    return Estimate(value, max(0.0, min(low, value)), min(1.0, max(high, value)), n, method)


def _around(
    value: float,
    sums: Floats,
    codes: Integers,
    weights: Floats,
    confidence: float,
    name: str,
    *,
    estimated: int = 0,
) -> Estimate:
    """The value with a t interval, from what each cluster adds to its error; of the answers that were read, `codes`
    are the clusters. The degrees of freedom are those that the weights and the `estimated` parameters leave, fewer
    where few clusters decide the error (their excess kurtosis, as in the default interval)."""
    n = len(weights)
    sizes = np.bincount(codes, weights).astype(np.float64)
    sizes = sizes[sizes > 0]
    if len(sizes) < 2:
        return Estimate(value, None, None, n, "no interval: all ratings belong to one case")
    left = max(_freedom(sizes), 1.0)
    freedom = max(left - estimated, 1.0)
    square = float((sums**2).sum())
    error = math.sqrt(len(sizes) / (len(sizes) - 1.0) * square * left / freedom)
    if square > 0.0:
        excess = max(len(sizes) * float((sums**4).sum()) / square**2 - 3.0, 0.0)
        freedom = max(2.0 / (2.0 / freedom + excess / len(sizes)), 1.0)
    half = float(special.stdtrit(freedom, 0.5 + confidence / 2.0)) * error
    method = (
        f"{name}, {100 * confidence:g} % cluster-robust by case, Student t with {freedom:.1f} df; {n} ratings are "
        f"worth {effective_n(weights):.1f}"
    )
    return Estimate(value, value - half, value + half, n, method)


def _one_more(sizes: Floats, seen: float) -> float:
    """The weight of one more piece of evidence, of which a share `seen` of all weight has shown some."""
    usual, heaviest = 0.5 * float((sizes**2).sum() / sizes.sum()), float(sizes.max())
    return usual + (heaviest - usual) / max(seen / heaviest, 1.0) ** 2


def _freedom(sizes: Floats) -> float:
    """Degrees of freedom that the weights of the clusters leave: as many equal ones as they are worth, less one."""
    return effective_n(sizes) - 1.0


def _score_end(value: float, variance: float, z: float) -> float:
    """The lower end of the score interval of a share with this variance."""
    square = z**2 * variance / (value * (1.0 - value))
    root = z * math.sqrt(variance + square**2 / (4.0 * z**2))
    return (value + square / 2.0 - root) / (1.0 + square)


def _end(value: float, variance: float, more: float, at: float) -> float:
    """The upper end after one more hit of the weight `more`."""
    if more >= 1.0:
        return 1.0
    mean = (value + more) / (1.0 + more)
    spread = (variance + (more * (1.0 - value)) ** 2) / (1.0 + more) ** 2
    if mean >= 1.0 or spread <= 0.0:
        return 1.0
    # No beta distribution has a larger variance than that of a coin with its mean.
    count = max(mean * (1.0 - mean) / spread - 1.0, 1e-3)
    return float(special.betaincinv(count * mean, count * (1.0 - mean), at))


def _given(values: ArrayLike, weights: ArrayLike, clusters: Clusters) -> tuple[Floats, Floats, Integers]:
    y, w = np.asarray(values, dtype=np.float64), np.asarray(weights, dtype=np.float64)
    if y.shape != w.shape or y.ndim != 1:
        raise MedjuryError(f"give one weight per answer: {y.size} answers, {w.size} weights.")
    if not (np.isfinite(w).all() and (w > 0).all()):
        raise MedjuryError("a weight is one over a probability, a finite number above 0.")
    return y, w, cluster_codes(clusters, len(y))


# A rate of errors, of which the upper end is the promise: that end is exact, the other close to its 2.5 %.


def error_rate(
    errors: ArrayLike,
    clusters: Clusters = None,
    *,
    weights: ArrayLike | None = None,
    confidence: float = 0.95,
) -> Estimate:
    """The share of `errors` among answers, where "at most" is what is asked for.

    The upper end is that of `clustered_proportion` (of `weighted_proportion` where `weights` are given), which is
    exact or wider. Held exactly too, the lower end would make the interval hold in 99 % of small studies. It is
    Jeffreys' instead (Brown, Cai & DasGupta 2001, Stat Sci 16:101-133), for m = min(n, n/(n − 1) · p(1 − p)/V)
    answers, where V is the variance of the share p between clusters as it was seen:

        low = the 2.5 % quantile of Beta(p·m + 1/2, (1 − p)·m + 1/2), and 0 where there is no error

    So "too many, beyond doubt" is said a little sooner, and "few, beyond doubt" exactly as late as before. Not for
    a rate that is to be high, as coverage is: there the lower end is the promise.

    >>> found = error_rate([True] * 2 + [False] * 18)
    >>> found.value, round(found.low, 3), round(found.high, 3)
    (0.1, 0.021, 0.317)
    """
    flags = np.asarray(errors, dtype=np.float64)
    n = len(flags)
    if weights is None:
        usual, own = clustered_proportion(flags, clusters, confidence=confidence), np.ones(n)
    else:
        usual = weighted_proportion(flags, weights, clusters, confidence=confidence)
        own = np.asarray(weights, dtype=np.float64)
    share = usual.value
    if share is None or usual.low is None:
        return usual
    codes = cluster_codes(clusters, n)
    sizes = np.bincount(codes, own) / own.sum()
    if 0.0 < share < 1.0 and len(sizes) < 2:
        return usual
    low, tail = 0.0, (1.0 - confidence) / 2.0
    if share > 0.0:
        worth = effective_n(sizes)
        if share < 1.0:
            gaps = np.bincount(codes, own * (flags - share)) / own.sum()
            between = len(sizes) / (len(sizes) - 1.0) * float((gaps**2).sum())
            most = n / (n - 1.0) * share * (1.0 - share)
            worth = float(n) if between * n <= most else most / between
        low = float(special.betaincinv(share * worth + 0.5, (1.0 - share) * worth + 0.5, tail))
    kind, _, rest = usual.method.removeprefix(f"{100 * confidence:g} % ").partition("; ")
    upper = "exact (Clopper-Pearson)" if weights is None else kind
    said = f"{100 * confidence:g} %: lower end Jeffreys', upper end {upper}"
    return replace(usual, low=min(low, share), method=f"{said}: {rest}" if rest else said)


def drawn_from(weights: Floats) -> bool:
    """Whether these can be all the answers of a draw (0: not read). Read answers that stand for many more than are
    here were drawn from others too, who were left out; fewer are those of a review that stopped early."""
    spread = math.sqrt(float((weights * (weights - 1.0)).clip(0.0).sum()))
    return float(weights.sum()) <= len(weights) + _TOO_MANY * spread
