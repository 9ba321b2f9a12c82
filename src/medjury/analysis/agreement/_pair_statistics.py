"""Two raters' complete scores, and which statistics they get, in the order of the table."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar, get_args

import numpy as np
from numpy.typing import NDArray

from medjury.analysis.agreement._chance_corrected import Coefficient, chance_statistics
from medjury.analysis.agreement._classification import (
    OVERALL,
    classification_statistics,
    no_rate_reason,
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
from medjury.analysis.agreement._krippendorff import AlphaLevel, alpha_statistics
from medjury.analysis.agreement._roc import area_statistics
from medjury.analysis.agreement._scores import read_scale
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


@dataclass(frozen=True, slots=True)
class Counted:
    """The grades a pair's scores are counted on: `given`, or the whole numbers between the lowest and the
    highest score seen, for coefficients that grades outside that range cannot change; `note` joins their
    method."""

    grades: Grades | None
    given: bool = False
    note: str = ""


def counted(pair: Pair) -> Counted:
    """Scores between grades (a jury's mean) are rounded half up, and the note says how many."""
    rows, grades = pair.rows, pair.grades
    if pair.metric or not len(rows):
        return Counted(None)
    if grades is not None:
        between = int((grades.grade(rows) != rows).any(axis=1).sum())
        return Counted(grades, True, f"; {between} scores between grades rounded half up" if between else "")
    seen = whole_numbers(rows)
    return Counted(seen, False, "" if seen is None else "; no scale given, grades one apart assumed")


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
Name = TypeVar("Name", bound=str)
# Some statistics and the names that they give.
_Named = tuple[Sequence[str], Statistics]


@dataclass(frozen=True, slots=True)
class PairStatistics:
    """Statistics of rows `[reference, compare]`; `of_grades` names those that count grades, `reasons` tells
    why one may not exist, `thin` that Kendall's tau needs a bootstrap of its own."""

    statistics: Statistics
    names: frozenset[str]
    of_grades: frozenset[str]
    reasons: Mapping[str, str]
    thin: bool


def pair_statistics(pair: Pair, on: Counted, settings: Settings) -> PairStatistics:
    """What is bootstrapped for this pair. Where every row is a case of its own, the AUC has an interval of its own
    and is left out here."""
    clustered = pair.clusters is not None
    # The absolute offset is read from the offset.
    gaps = [
        name
        for name in GAPS
        if settings.wants_any((name, *(["absolute_offset"] if name == "offset" else [])))
    ]
    exact: list[Difference] = [] if on.grades is not None else ["exact_match"]
    correlations: tuple[Correlation, ...] = ("pearson", "spearman")
    orders, forms = _wanted(settings, correlations), _wanted(settings, FORMS)
    scores: list[_Named] = [
        ([*gaps, *exact], difference_statistics([*gaps, *exact])),
        (orders, correlation_statistics(orders)),
        (["icc_3_k_z"], standardised_statistics(np.arange(2))),
        (ALPHAS[-1:], alpha_statistics(["interval"])),
        (forms, icc_statistics(forms)),
        (LIMITS, limit_statistics),
    ]
    grades: list[_Named] = []
    reasons: dict[str, str] = {}
    thin = settings.resamples * len(sample(pair.rows).counts) ** 2 > TAU_PRODUCTS
    if not thin:
        scores.append((["kendall_tau_b"], correlation_statistics(["kendall_tau_b"])))
    if clustered:
        positive = pair.positive()
        if positive is not None:
            scores.append((["auc"], area_statistics(positive)))
    if on.grades is not None:
        of_grade = _wanted(settings, ("exact_match", *KAPPAS.values()))
        grades += [(of_grade, grade_statistics(on.grades, of_grade))] if of_grade else []
        levels_of_alpha: tuple[AlphaLevel, ...] = ("nominal", "ordinal")
        alphas = [each for each in levels_of_alpha if settings.wants(f"krippendorff_alpha_{each}")]
        names = [f"krippendorff_alpha_{each}" for each in alphas]
        grades.append((names, on_grades(on.grades, alpha_statistics(alphas))))
        chance = _wanted(settings, CHANCE if on.given else ("fleiss_kappa",))
        grades.append((chance, _chance(on.grades, chance)))
        if len(on.grades.values) <= _MOST_CLASSES:
            levels = tuple(float(value) for value in on.grades.values)
            rates = rate_names(levels)
            reasons = {name: no_rate_reason(name) for name in rates}
            of_classes = classification_statistics(levels, np.asarray(levels))
            grades.append((rates, on_grades(on.grades, of_classes)))
    wanted = [[each for each in some if settings.wants_any(each[0])] for some in (scores, grades)]
    of_scores, of_grades = (frozenset(name for names, _ in some for name in names) for some in wanted)
    return PairStatistics(
        combined(*(each for some in wanted for _, each in some)),
        of_scores | of_grades,
        of_grades,
        reasons,
        thin,
    )


def grade_statistics(
    grades: Grades, names: Collection[str] = ("exact_match", *KAPPAS.values())
) -> Statistics:
    """Exact match and the three kappas of the nearest grades, or some of them."""
    weights = [weight for weight, name in KAPPAS.items() if name in names]
    parts = [difference_statistics(["exact_match"])] if "exact_match" in names else []
    parts += [kappa_statistics(read_scale(grades.values), weights)] if weights else []
    return on_grades(grades, combined(*parts))


def on_grades(grades: Grades, statistics: Statistics) -> Statistics:
    """The statistic of the nearest grades."""
    return lambda rows: statistics(grades.grade(rows))


def _chance(grades: Grades, chosen: Sequence[str] | Mapping[str, object]) -> Statistics:
    """Coefficients corrected for chance under the table's names."""
    scale = read_scale(grades.values)
    parts = {name: chance_statistics(scale, CHANCE[name][1], [CHANCE[name][0]]) for name in chosen}

    def prepare(rows: Floats) -> Read:
        reads = {name: part(rows) for name, part in parts.items()}
        return lambda weights: {name: next(iter(read(weights).values())) for name, read in reads.items()}

    return on_grades(grades, prepare)


def _wanted(settings: Settings, names: Iterable[Name]) -> list[Name]:
    return [name for name in names if settings.wants(name)]
