"""Two raters' complete scores, and which statistics they get, in the order of the table."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from medjury.analysis.agreement._chance_corrected import Coefficient, chance_statistics
from medjury.analysis.agreement._classification import (
    OVERALL,
    classification_statistics,
    rate_names,
)
from medjury.analysis.agreement._correlation import Correlation, correlation_statistics
from medjury.analysis.agreement._differences import (
    LIMITS,
    Difference,
    difference_statistics,
    limit_statistics,
)
from medjury.analysis.agreement._icc import FORMS, icc_statistics
from medjury.analysis.agreement._icc_standardised import standardised_statistics
from medjury.analysis.agreement._kappa import NAMES as KAPPAS
from medjury.analysis.agreement._kappa import WeightName, kappa_statistics
from medjury.analysis.agreement._krippendorff import alpha_statistics
from medjury.analysis.agreement._scores import Scale, read_scale
from medjury.analysis.agreement._weighting import PostStrata
from medjury.statistics import RESAMPLES, Floats, Read, Statistics, combined, sample
from medjury.tables import Grades


@dataclass(frozen=True, slots=True)
class Settings:
    """How estimates are made: how many resamples, which seed, how wide, which statistics (None: all)."""

    resamples: int = RESAMPLES
    seed: int = 0
    confidence: float = 0.95
    statistics: Collection[str] | None = None

    def wants(self, name: str) -> bool:
        return self.statistics is None or name in self.statistics

    def wants_any(self, names: Iterable[str]) -> bool:
        return self.statistics is None or any(name in self.statistics for name in names)


@dataclass(frozen=True, slots=True, eq=False)
class Pair:
    """Complete scores of two raters, reference first, with the case of every row and, where there are two
    systems or more, its system. A `metric` is on no clinical scale. `weights` are one over the probabilities with
    which the answers were drawn; None where these are all the same. `strata` are then those of all answers by the
    score of the rater who scored all, where there is one."""

    rows: Floats
    cases: NDArray[Any]
    grades: Grades | None
    systems: NDArray[Any] | None = None
    metric: bool = False
    weights: Floats | None = None
    strata: PostStrata | None = None

    @property
    def clusters(self) -> NDArray[Any] | None:
        """The cases, or None where every row is a case of its own."""
        return self.cases if len(set(self.cases.tolist())) < len(self.cases) else None

    def positive(self) -> float | None:
        """The positive value of a reference with two: on a two-grade scale, or 0 and 1 without a scale."""
        if self.grades is not None and len(self.grades.values) == 2:
            return self.grades.highest if np.isin(self.rows[:, 0], self.grades.values).all() else None
        seen = np.unique(self.rows[:, 0]).tolist()
        return 1.0 if self.grades is None and seen == [0.0, 1.0] else None


def counted(pair: Pair) -> tuple[Grades | None, str]:
    """The grades on which a pair's scores are counted, and a note for the method: those of the scale, or the whole
    numbers between the lowest and the highest score, for coefficients that grades outside that range cannot change.
    Scores between grades (a jury's mean) are rounded half up, and the note says how many."""
    rows, grades = pair.rows, pair.grades
    if pair.metric or not len(rows):
        return None, ""
    if grades is not None:
        between = int((grades.grade(rows) != rows).any(axis=1).sum())
        return grades, f"; {between} scores between grades rounded half up" if between else ""
    seen = whole_numbers(rows)
    return seen, "" if seen is None else "; no scale given, grades one apart assumed"


def whole_numbers(scores: Floats) -> Grades | None:
    """The whole numbers between the lowest and the highest score; None where scores are no whole numbers."""
    if not scores.size or (scores != np.floor(scores)).any() or np.ptp(scores) > 1000:
        return None
    low, high = int(scores.min()), int(scores.max())
    return Grades(tuple(float(level) for level in range(low, max(high, low + 1) + 1)), "whole numbers seen")


# Which statistics a pair of raters gets, in the order of the table, ready for one bootstrap.


# Orders and shapes only: what can be said of a text metric, whose numbers are on no clinical scale.
WITHOUT_SCALE = (*get_args(Correlation), "icc_3_k_z", "auc")
# Name in the table -> coefficient and weights. All but the first depend on how many grades there could be.
CHANCE: Mapping[str, tuple[Coefficient, WeightName]] = {
    "fleiss_kappa": ("fleiss", "identity"),
    "brennan_prediger": ("brennan_prediger", "identity"),
    "gwet_ac1": ("gwet", "identity"),
    "gwet_ac2_linear": ("gwet", "linear"),
    "gwet_ac2_quadratic": ("gwet", "quadratic"),
}
NEED_SCALE = tuple(CHANCE)[1:]
GAPS: tuple[Difference, ...] = tuple(name for name in get_args(Difference) if name != "exact_match")
ALPHAS = tuple(f"krippendorff_alpha_{level}" for level in ("nominal", "ordinal", "interval"))
ORDER = (
    "exact_match",
    *GAPS,
    "wilcoxon_signed_rank",
    *LIMITS,
    *get_args(Correlation),
    *KAPPAS.values(),
    *FORMS,
    "icc_3_k_z",
    *ALPHAS,
    *CHANCE,
    *OVERALL,
)
BY_SYSTEM = (
    *(f"{name}_between_systems" for name in get_args(Correlation)),
    *(
        f"{name}_{kind}"
        for kind in ("within_systems", "system_mean_baseline")
        for name in ("pearson", "spearman")
    ),
    "pearson_minus_system_baseline",
    "spearman_minus_system_baseline",
)
# Tau compares every pair of distinct rows; beyond this many products it gets fewer resamples, and says so.
TAU_PRODUCTS = 1e10
_MOST_CLASSES = 12


def two_rater_statistics(names: Iterable[str], grades: Grades | None = None) -> Statistics:
    """Coefficients of two raters by their names in the table, for the bootstrap engine; rows are (first, second).
    Kappas and whatever else counts grades see the nearest of the `grades`."""
    chosen = frozenset(names)

    def of(known: Iterable[str]) -> list[Any]:
        return [name for name in known if name in chosen]

    of_scores: list[tuple[list[Any], Callable[[list[Any]], Statistics]]] = [
        (of(get_args(Difference) if grades is None else GAPS), difference_statistics),
        (of(("pearson", "spearman")), correlation_statistics),
        (of(["kendall_tau_b"]), correlation_statistics),
        (of(FORMS), icc_statistics),
        (of(["icc_3_k_z"]), lambda _: standardised_statistics(np.arange(2))),
        (of(ALPHAS[-1:]), lambda _: alpha_statistics(["interval"])),
        (of(LIMITS), lambda _: limit_statistics),
    ]
    parts = [make(some) for some, make in of_scores if some]
    if grades is not None:
        levels = tuple(float(value) for value in grades.values)
        scale = read_scale(levels)
        of_grades: list[tuple[list[Any], Callable[[list[Any]], Statistics]]] = [
            (of(["exact_match"]), difference_statistics),
            (
                of(KAPPAS.values()),
                lambda some: kappa_statistics(scale, [w for w in KAPPAS if KAPPAS[w] in some]),
            ),
            (of(ALPHAS[:2]), lambda some: alpha_statistics([name.rpartition("_")[2] for name in some])),
            (of(CHANCE), lambda some: _chance(scale, some)),
            (of(rate_names(levels)), lambda _: classification_statistics(levels, np.asarray(levels))),
        ]
        counting = combined(*(make(some) for some, make in of_grades if some))
        parts.append(lambda rows: counting(grades.grade(rows)))
    return combined(*parts)


def _chance(scale: Scale, names: Sequence[str]) -> Statistics:
    """Coefficients corrected for chance under the table's names."""
    parts = {name: chance_statistics(scale, CHANCE[name][1], [CHANCE[name][0]]) for name in names}

    def prepare(rows: Floats) -> Read:
        reads = {name: part(rows) for name, part in parts.items()}
        return lambda weights: {name: next(iter(read(weights).values())) for name, read in reads.items()}

    return prepare


def pair_names(pair: Pair, grades: Grades | None, settings: Settings) -> list[str]:
    """What is bootstrapped for this pair, as far as it is wanted. Where every row is a case of its own, the AUC has
    an interval of its own, and tau a bootstrap of its own where it compares very many pairs of rows."""
    names = ["exact_match", *GAPS, *LIMITS, "pearson", "spearman", *FORMS, "icc_3_k_z", *ALPHAS[-1:]]
    names += [] if tau_apart(pair, settings) else ["kendall_tau_b"]
    names += ["auc"] if pair.clusters is not None and pair.positive() is not None else []
    if grades is not None:
        names += [*KAPPAS.values(), *ALPHAS[:2], *(CHANCE if pair.grades is not None else ["fleiss_kappa"])]
        if len(grades.values) <= _MOST_CLASSES:
            names += rate_names(tuple(float(value) for value in grades.values))
    # The absolute offset is read from the offset.
    asked = {name for name in names if settings.wants(name)} - {"absolute_offset"}
    asked |= {"offset"} if settings.wants("absolute_offset") else set()
    return [name for name in names if name in asked]


def tau_apart(pair: Pair, settings: Settings) -> bool:
    return settings.resamples * len(sample(pair.rows).counts) ** 2 > TAU_PRODUCTS
