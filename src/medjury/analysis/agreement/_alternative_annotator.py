"""The alternative-annotator test: does the judge stand for the group as well as one of its humans?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from medjury.analysis.agreement._differences import wilcoxon_signed_rank
from medjury.foundation.errors import MedjuryError
from medjury.statistics import Estimate, undefined

Alignment = Literal["exact", "distance"]
_ENOUGH_FOR_T = 30


@dataclass(frozen=True, slots=True)
class HumanLeftOut:
    """The judge against one human, both measured by their closeness to the other humans on the same items.

    `judge_advantage` is the share of items on which the judge is at least as close, `human_advantage` the
    share on which the human is (ties count for both); `p_value` tests judge >= human - epsilon."""

    human: str
    n: int
    judge_advantage: float
    human_advantage: float
    p_value: float
    judge_wins: bool
    test: str


@dataclass(frozen=True, slots=True)
class AlternativeAnnotator:
    """`winning_rate` is the share of humans the judge beats after the false-discovery correction; the judge
    may replace a human where it is 0.5 or more (`passed`). `advantage` is the average advantage
    probability."""

    winning_rate: Estimate
    advantage: Estimate
    passed: bool | None
    humans: tuple[HumanLeftOut, ...]


def alternative_annotator_test(
    humans: ArrayLike,
    judge: ArrayLike,
    *,
    names: Sequence[str] | None = None,
    epsilon: float = 0.2,
    false_discovery_rate: float = 0.05,
    alignment: Alignment = "distance",
) -> AlternativeAnnotator:
    """Calderon, Reichart and Dror (2025, ACL 16051-16081). `humans` is items x humans, NaN where not rated.

    For each human j and item i, S is the closeness to the other humans who rated i: the share that gave the
    same label ("exact") or minus the root mean squared difference ("distance"). With d_i = [S(human) >=
    S(judge)] - [S(judge) >= S(human)], the null mean(d) >= epsilon is tested by a one-sided t-test
    (Wilcoxon's signed-rank below 30 items, as the authors advise), and the p-values of all humans pass the
    Benjamini-Yekutieli step-up rule. `epsilon` is how much worse the judge may be for being cheaper: the
    authors propose 0.2 for experts, 0.15 for trained raters, 0.1 for crowd workers. Three humans or more;
    items are taken as independent, so give one item per patient or read the p-values with care.

    >>> humans = np.tile([[1, 1, 1], [2, 2, 2], [3, 3, 1], [4, 4, 4], [5, 5, 2]], (8, 1))
    >>> result = alternative_annotator_test(humans, humans[:, 0], alignment="exact")
    >>> result.winning_rate.value, [left.judge_wins for left in result.humans]
    (1.0, [True, True, True])
    """
    scores, judged = np.asarray(humans, dtype=float), np.asarray(judge, dtype=float)
    method = f"alternative-annotator test, epsilon {epsilon:g}, Benjamini-Yekutieli {false_discovery_rate:g}"
    if scores.ndim != 2 or judged.shape != scores.shape[:1]:
        raise MedjuryError(
            "the alternative-annotator test needs items x humans and one judge's score per item."
        )
    labels = tuple(names) if names is not None else tuple(f"human {j + 1}" for j in range(scores.shape[1]))
    items = int((~np.isnan(judged)).sum())
    tested: list[HumanLeftOut] = []
    reason = f"needs three humans or more, {scores.shape[1]} given: two cannot form a consensus"
    if scores.shape[1] >= 3:
        left_out = [_leave_out(scores, judged, j, labels[j], epsilon, alignment) for j in range(len(labels))]
        tested = [each for each in left_out if each is not None]
        reason = "no human shares two or more items with the judge and another human"
    if not tested:
        nothing = undefined(reason, items, method)
        return AlternativeAnnotator(nothing, nothing, None, ())
    rejected = benjamini_yekutieli([each.p_value for each in tested], false_discovery_rate)
    results = tuple(replace(each, judge_wins=bool(wins)) for each, wins in zip(tested, rejected, strict=True))
    rate = float(rejected.mean())
    advantage = float(np.mean([each.judge_advantage for each in results]))
    return AlternativeAnnotator(
        Estimate(rate, None, None, items, method),
        Estimate(advantage, None, None, items, "average advantage probability"),
        rate >= 0.5,
        results,
    )


def benjamini_yekutieli(p_values: Sequence[float], false_discovery_rate: float = 0.05) -> NDArray[np.bool_]:
    """Which hypotheses are rejected: step-up at i q / (m (1 + 1/2 + ... + 1/m)), valid under any dependence
    (Benjamini and Yekutieli 2001, Ann Statist 29:1165-1188).

    >>> benjamini_yekutieli([0.001, 0.018, 0.5]).tolist()
    [True, True, False]
    """
    values = np.asarray(p_values, dtype=float)
    count = len(values)
    order = np.argsort(values, kind="stable")
    steps = np.arange(1, count + 1)
    passing = np.flatnonzero(values[order] <= steps * false_discovery_rate / (count * (1 / steps).sum()))
    rejected = np.zeros(count, dtype=bool)
    if passing.size:
        rejected[order[: passing[-1] + 1]] = True
    return rejected


def _leave_out(
    scores: NDArray[np.float64],
    judge: NDArray[np.float64],
    left: int,
    name: str,
    epsilon: float,
    alignment: Alignment,
) -> HumanLeftOut | None:
    others = np.delete(scores, left, axis=1)
    usable = ~np.isnan(scores[:, left]) & ~np.isnan(judge) & ~np.isnan(others).all(axis=1)
    if usable.sum() < 2:
        return None
    rest, human, said = others[usable], scores[usable, left], judge[usable]
    of_judge, of_human = _closeness(rest, said, alignment), _closeness(rest, human, alignment)
    judge_better, human_better = of_judge >= of_human - 1e-12, of_human >= of_judge - 1e-12
    difference = human_better.astype(float) - judge_better.astype(float)
    p_value, test = _p_below(difference - epsilon)
    return HumanLeftOut(
        name, len(said), float(judge_better.mean()), float(human_better.mean()), p_value, False, test
    )


def _closeness(
    others: NDArray[np.float64], said: NDArray[np.float64], alignment: Alignment
) -> NDArray[np.float64]:
    gap = others - said[:, None]
    if alignment == "exact":
        return np.asarray((np.abs(gap) < 1e-12).sum(axis=1) / (~np.isnan(others)).sum(axis=1))
    return np.asarray(-np.sqrt(np.nanmean(gap**2, axis=1)))


def _p_below(shifted: NDArray[np.float64]) -> tuple[float, str]:
    """One-sided p-value of mean < 0."""
    n, mean, spread = len(shifted), float(shifted.mean()), float(shifted.std(ddof=1))
    if n >= _ENOUGH_FOR_T:
        if spread < 1e-12:
            return (0.0 if mean < 0 else 1.0), "t-test, no variance"
        return float(special.stdtr(n - 1, mean / (spread / np.sqrt(n)))), "one-sided t-test"
    test = wilcoxon_signed_rank(np.zeros(n), shifted, method="normal")
    p_value = 1.0 if test.z is None else float(special.ndtr(test.z))
    return p_value, f"one-sided Wilcoxon signed-rank ({n} items, fewer than {_ENOUGH_FOR_T})"
