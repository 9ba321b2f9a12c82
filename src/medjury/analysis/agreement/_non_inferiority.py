"""Non-inferiority: does the judge agree with the humans at least as well as they agree with one another?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from medjury.analysis.agreement._pairs_of_humans import (
    incomplete,
    over_pairs,
    said_of_pairs,
    shared_items,
    too_few_each,
)
from medjury.analysis.agreement._scores import read_scores
from medjury.foundation.errors import MedjuryError
from medjury.statistics import (
    RESAMPLES,
    Clusters,
    Estimate,
    Floats,
    Replicates,
    Statistics,
    combined,
    proportion,
    replicates,
)
from medjury.tables import Grades

# Raters who never differ: every resample gives a coefficient of 1, and resampling has no interval to offer.


@dataclass(frozen=True, slots=True)
class NoDisagreement:
    """That nobody ever differed on so many `cases`, and how likely a guess is `right` by chance.

    A rater who guesses on a share g of the cases, and is right on the others, has a kappa, ICC or correlation of
    1 − g. What was seen bounds that share, exactly: a guessed case shows no disagreement with probability `right`
    at most, so n cases without one have a chance of (1 − g·(1 − right))ⁿ.
    """

    cases: int
    right: float

    def guessed_at_most(self, tail: float) -> float:
        """The largest share of guessed cases under which this had a chance of `tail`: the rule of three's
        1 − tail^(1/n), divided by 1 − `right`.

        >>> round(NoDisagreement(cases=40, right=0.2).guessed_at_most(0.05), 3)
        0.09
        """
        differing = proportion(0, self.cases, confidence=1 - 2 * tail).high or 0.0
        return min(1.0, differing / (1 - self.right)) if self.right < 1 else 1.0

    def chance(self, guessed: float) -> float:
        """The chance of it where this share of cases is guessed."""
        return (1 - guessed * (1 - self.right)) ** self.cases

    def ends(self, found: Estimate, tail: float) -> Estimate:
        """The estimate, a coefficient or a difference of two of these raters, with exact ends where resampling gave
        none: none of them falls by more than the share that may be guessed."""
        if found.value is None or found.low is not None:
            return found
        guessed = self.guessed_at_most(tail)
        said = (
            f"exact: nobody differed on {self.cases:,} cases, so at most {100 * guessed:.1f} % of them are guessed "
            f"(a guess is right in {100 * self.right:.0f} %)"
        )
        low, high = found.value - guessed, min(1.0, found.value + guessed)
        return replace(found, low=low, high=high, method=f"{said}; {found.method}")


def no_disagreement(
    scores: Floats, clusters: Clusters = None, *, groups: Clusters = None
) -> NoDisagreement | None:
    """Where all raters (columns) gave each answer the same score, on how many cases (clusters); None where they
    differ. A guess is one of the scores that answers got, of the same of the `groups` where these are named."""
    known = ~np.isnan(scores)
    rated = known.any(axis=1)
    lowest = np.where(known, scores, np.inf).min(axis=1)[rated]
    highest = np.where(known, scores, -np.inf).max(axis=1)[rated]
    if not rated.any() or float((highest - lowest).max()) > 1e-9:
        return None
    whose = np.arange(len(scores)) if clusters is None else np.asarray(clusters).astype(str)
    inside = np.zeros(len(scores)) if groups is None else np.asarray(groups).astype(str)
    return NoDisagreement(len(np.unique(whose[rated])), _right_by_chance(lowest, inside[rated]))


def _right_by_chance(scores: Floats, groups: NDArray[Any]) -> float:
    total = 0.0
    for group in np.unique(groups):
        _, counts = np.unique(np.round(scores[groups == group], 9), return_counts=True)
        total += float((counts**2).sum() / counts.sum())
    return total / len(scores)


_HUMAN = "human "
# The bound is read at this share of the error that is allowed. Where the judge happens to look good its agreement
# also looks surer than it is (the difference and its standard error go together, r = −0.6 in simulated studies), so
# a bound at the full 5 % errs in 6 to 7 % of studies of any size; at 0.6 of it, in 4 to 5 %.
CAUTION = 0.6


@dataclass(frozen=True, slots=True)
class NonInferiority:
    """`difference` = judge-human − human-human agreement; its lower end is the one-sided bound at `confidence`,
    with caution (see `CAUTION`). `non_inferior` where that bound lies above −`margin`; None where the difference
    does not exist, or where no margin was stated. `cases` are the clusters that the judge and two humans scored,
    `pairs` the pairs of humans who share an item there; `pooled` where such pairs share too few items to be
    averaged."""

    statistic: str
    judge_human: Estimate
    human_human: Estimate
    difference: Estimate
    margin: float | None
    confidence: float
    p_value: float | None
    non_inferior: bool | None
    cases: int = 0
    pairs: int = 0
    pooled: bool = False


def non_inferiority(
    humans: ArrayLike,
    judge: ArrayLike,
    statistics: Statistics,
    *,
    margin: float,
    names: Sequence[str] | None = None,
    clusters: Clusters = None,
    resamples: int = RESAMPLES,
    seed: int = 0,
    confidence: float = 0.95,
) -> dict[str, NonInferiority]:
    """Test judge-human against human-human agreement with a margin stated beforehand.

    `statistics` gives two-rater coefficients for which more is better, such as
    `two_rater_statistics(["spearman"])`; each is averaged over the judge's pairs with the humans and over
    the humans' own pairs, on the items that the judge and at least two humans scored, and both averages
    come from the same resamples of cases. Where humans share few items, both are pooled over pairs in the same way
    instead (see `pooled_pairs`): a mean of coefficients of two or three items is far too low. The bound is the
    lower end of the interval of the difference, read at 0.6 of the error that `confidence` allows, so that it errs
    no more often than that in simulated studies; `p_value` is that of a difference of −margin or
    less. Where judge and humans never differ, resampling tells nothing and the bound is exact (see
    `NoDisagreement`). `names` restricts the result.

    >>> from medjury.analysis.agreement import two_rater_statistics
    >>> truth = np.tile([1.0, 2, 3, 4, 5], 12)
    >>> noise = np.random.default_rng(0).normal(0, 0.7, (60, 3))
    >>> humans, judge = truth[:, None] + noise[:, :2], truth + noise[:, 2]
    >>> pearson = two_rater_statistics(["pearson"])
    >>> result = non_inferiority(humans, judge, pearson, margin=0.1, resamples=2000)
    >>> result["pearson"].non_inferior
    True
    """
    table, said = read_scores(humans, None, 2), read_scores(judge, None, 1)
    if len(said) != len(table):
        raise MedjuryError(f"{len(table)} items were rated by the humans and {len(said)} by the judge.")
    if table.shape[1] < 2:
        raise MedjuryError(
            "non-inferiority compares with human-human agreement: two humans or more are needed."
        )
    if not (~np.isnan(said) & _by_two(table)).any():
        raise MedjuryError("no item was scored by the judge and by two humans: there is nothing to compare.")
    _, beside = among_humans(
        table,
        {"judge": said},
        statistics,
        margin=margin,
        clusters=clusters,
        resamples=resamples,
        seed=seed,
        confidence=confidence,
    )
    return {name: each for name, each in beside["judge"].items() if names is None or name in names}


# The humans' agreement with one another on all items that two of them scored, by statistic; and by judge and
# statistic the judge beside it, on the items that the judge scored too.
AmongHumans = tuple[Mapping[str, Estimate], Mapping[str, Mapping[str, NonInferiority]]]


def among_humans(
    humans: Floats,
    judges: Mapping[str, Floats],
    statistics: Statistics,
    *,
    margin: float | None,
    grades: Grades | None = None,
    clusters: Clusters = None,
    resamples: int = RESAMPLES,
    seed: int = 0,
    confidence: float = 0.95,
) -> AmongHumans:
    """Every judge among the humans. Judges who scored the same items share their resamples, so that the humans'
    own agreement on those items is one number, whoever stands beside it. `grades` rounds what is counted as
    grades."""
    if margin is not None and not margin > 0:
        raise MedjuryError(f"a non-inferiority margin is a positive number stated beforehand, not {margin}.")
    if not 0.5 < confidence < 1:
        raise MedjuryError(f"the one-sided confidence lies between 0.5 and 1, not {confidence}.")
    two = _by_two(humans)
    groups: dict[bytes, list[str]] = {two.tobytes(): []}
    for name, said in judges.items():
        groups.setdefault((two & ~np.isnan(said)).tobytes(), []).append(name)
    own: Mapping[str, Estimate] = {}
    beside: dict[str, Mapping[str, NonInferiority]] = {}
    for mask, members in groups.items():
        usable = np.frombuffer(mask, dtype=np.bool_)
        if not usable.any():
            beside |= {name: {} for name in members}
            continue
        table = np.column_stack([humans, *(judges[name] for name in members)])[usable]
        width = humans.shape[1]
        pool = incomplete(table[:, :width])
        pairs = _pairs(width, len(members))
        whose = None if clusters is None else np.asarray(clusters, dtype=object)[usable]
        made = replicates(
            table,
            combined(
                *(
                    over_pairs(statistics, table, each, prefix, humans=table[:, :width], grades=grades)
                    for prefix, each in pairs.items()
                )
            ),
            clusters=whose,
            resamples=resamples,
            seed=seed,
        )
        few = {key: too_few_each(table[:, :width], key.split(" ")[-1]) for key in made.observed}
        made = replace(made, refused={key: why for key, why in few.items() if why})
        estimates: dict[str, Estimate] = {}
        for key in made.observed:
            own_pairs = next(each for prefix, each in pairs.items() if key.startswith(prefix))
            said_of = said_of_pairs(table, own_pairs, pool=pool)
            found = made.estimate(key, confidence=confidence, reason=_reason(pool))
            estimates[key] = replace(found, method=f"{said_of}; {found.method}")
        names = [key.removeprefix(_HUMAN) for key in estimates if key.startswith(_HUMAN)]
        for name in names:
            if alike := no_disagreement(_as_counted(name, table[:, :width], grades), whose):
                estimates[_HUMAN + name] = alike.ends(estimates[_HUMAN + name], (1 - confidence) / 2)
        if usable.sum() == two.sum():
            own = {name: estimates[_HUMAN + name] for name in names}
        among = int(np.count_nonzero(shared_items(table, pairs[_HUMAN])))
        for place, judge in enumerate(members):
            beside[judge] = {
                name: replace(
                    _where_nobody_differs(
                        _tested(made, estimates, name, f"{place} ", margin, confidence),
                        _as_counted(name, table[:, [*range(width), width + place]], grades),
                        whose,
                    ),
                    cases=made.units,
                    pairs=among,
                    pooled=pool,
                )
                for name in names
                if f"{place} {name}" in estimates
            }
    return own, beside


def _pairs(humans: int, judges: int) -> dict[str, list[tuple[int, int]]]:
    """By prefix of their values, the humans' own pairs of columns and each judge's pairs with them."""
    found = {_HUMAN: list(combinations(range(humans), 2))}
    return found | {
        f"{judge} ": [(human, humans + judge) for human in range(humans)] for judge in range(judges)
    }


def _reason(pool: bool) -> str:
    said = "a rater does not vary"
    return f"{said}, or this coefficient cannot be pooled over pairs that share few items" if pool else said


def _tested(
    made: Replicates,
    estimates: Mapping[str, Estimate],
    name: str,
    judge: str,
    margin: float | None,
    confidence: float,
) -> NonInferiority:
    first, second = judge + name, _HUMAN + name
    difference = made.difference(first, second, confidence=1 - 2 * CAUTION * (1 - confidence))
    p_value, verdict = None, None
    if margin is not None and difference.low is not None:
        # The least p that so few cases can give, however much they agree: two alike prove nothing.
        least = 0.5**made.units
        p_value = min(1.0, max(made.p_at_most(first, second, -margin) / CAUTION, least))
        verdict = bool(difference.low > -margin and least <= 1 - confidence)
    return NonInferiority(
        name, estimates[first], estimates[second], difference, margin, confidence, p_value, verdict
    )


def _where_nobody_differs(found: NonInferiority, scores: Floats, clusters: Clusters) -> NonInferiority:
    """The same with exact bounds where the judge, in the last column, and the humans never differ."""
    alike, tail = no_disagreement(scores, clusters), 1 - found.confidence
    if alike is None or found.difference.low is not None:
        return found
    difference = alike.ends(found.difference, tail)
    p_value, verdict = None, None
    if found.margin is not None and difference.low is not None:
        p_value, verdict = alike.chance(found.margin), bool(difference.low > -found.margin)
    judge_human = alike.ends(found.judge_human, tail / 2)
    return replace(
        found, judge_human=judge_human, difference=difference, p_value=p_value, non_inferior=verdict
    )


def _as_counted(name: str, scores: Floats, grades: Grades | None) -> Floats:
    """The scores as the statistic sees them: kappas and exact matches are of grades."""
    graded = name.startswith(("kappa", "exact_match"))
    return scores if grades is None or not graded else grades.grade(scores)


def _by_two(humans: Floats) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    return np.asarray((~np.isnan(humans)).sum(axis=1) >= 2)
