"""Simulated studies with a known truth, graded as real answers are.

45 % of the grades are 5, 35 % 4, 12 % 3, 5 % 2 and 3 % 1. A clinician and a jury see the quality of an answer, each
with an error of their own; the jury's is larger, and it is a little strict. Several answers to one case share half
of their quality. The truth of a statistic is its value in a population of 400,000 answers.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from medjury.analysis.agreement import mixed_model_icc, non_inferiority, severe_errors
from medjury.analysis.agreement._correlation import correlation_statistics
from medjury.analysis.agreement._icc import icc_statistics
from medjury.analysis.agreement._kappa import kappa_statistics
from medjury.analysis.agreement._pair_estimates import pair_estimates
from medjury.analysis.agreement._pair_statistics import Pair, Settings
from medjury.analysis.audits import drift
from medjury.report._sections.closed_loop import gain_estimates
from medjury.statistics import Estimate, combined
from medjury.tables import Grades

if TYPE_CHECKING:
    import polars

Scores = NDArray[np.float64]
# An estimate, and the truth where each study has its own.
Truthful = tuple[Estimate, float]
RESAMPLES = 599
SCALE = (1.0, 2.0, 3.0, 4.0, 5.0)
CUTS = np.array([-1.881, -1.405, -0.842, 0.126])
CLINICIAN, JURY, STRICT, SHARED = 0.55, 0.8, 0.15, 0.5
RATERS, MARGIN = 15, 0.1
SEVERE_RATE, SEVERE_TOGETHER = 0.1, 0.4
BETTER, PLEASED = 0.2, 0.3
GAINS = ("gain, loop judge", "gain, final juror", "gain, loop less final")
DRIFT = ("shift", "changed_share", "noise_share", "excess_change")
POPULATION = 400_000


def quality(generator: np.random.Generator, cases: int, answers: int) -> tuple[Scores, NDArray[np.int64]]:
    """The quality of every answer, and the case it belongs to."""
    of_case = np.repeat(generator.normal(size=cases), answers)
    alone = generator.normal(size=cases * answers)
    whose = np.repeat(np.arange(cases), answers)
    return (np.sqrt(SHARED) * of_case + np.sqrt(1 - SHARED) * alone) if answers > 1 else alone, whose


def graded(
    generator: np.random.Generator, truth: Scores, noise: float, strict: float | Scores = 0.0
) -> Scores:
    """What a rater with this error says of answers of this quality."""
    seen = (truth + noise * generator.normal(size=truth.shape)) / np.sqrt(1 + noise**2) - strict
    return np.searchsorted(CUTS, seen) + 1.0


def pair_study(seed: list[int], cases: int, answers: int) -> dict[str, Estimate]:
    """Everything that the agreement table says of a clinician and a jury, with its default intervals."""
    generator = np.random.default_rng(seed)
    truth, whose = quality(generator, cases, answers)
    rows = np.column_stack([graded(generator, truth, CLINICIAN), graded(generator, truth, JURY, STRICT)])
    return _pair(rows, whose, RESAMPLES, Grades(SCALE, "given"))


def binary_study(seed: list[int], cases: int, answers: int) -> dict[str, Estimate]:
    """The same with two grades, of which the lower four of five are the positive one."""
    generator = np.random.default_rng(seed)
    truth, whose = quality(generator, cases, answers)
    return _pair(_two_grades(generator, truth), whose, RESAMPLES, Grades((0.0, 1.0), "given"))


def incomplete_study(seed: list[int], cases: int, answers: int) -> dict[str, Estimate]:
    """Fifteen clinicians, two of them for each answer, drawn at random: their own agreement, and the jury's with
    them."""
    generator = np.random.default_rng(seed)
    truth, whose = quality(generator, cases, answers)
    humans = _two_each(generator, truth)
    judge = graded(generator, truth, JURY, STRICT)
    found = non_inferiority(
        humans,
        judge,
        averaged(),
        margin=MARGIN,
        clusters=_clusters(whose),
        resamples=RESAMPLES,
        seed=seed[-1],
    )
    parts = {f"{name}, clinicians": each.human_human for name, each in found.items()}
    parts |= {f"{name}, jury": each.judge_human for name, each in found.items()}
    mixed = mixed_model_icc(humans, ["icc_2_1", "icc_2_k"], clusters=_clusters(whose), seed=seed[-1])
    return parts | {f"{name}, mixed model": each for name, each in mixed.items()}


def loop_study(seed: list[int], cases: int, answers: int) -> dict[str, Estimate]:
    """What a closed loop gained: drafts that the loop judge graded below 4 are revised."""
    generator = np.random.default_rng(seed)
    gains = revised(generator, 8 * cases)[:cases]
    found = gain_estimates(gains, np.arange(len(gains)), span=4.0, resamples=RESAMPLES, seed=seed[-1])
    return dict(zip(GAINS, found, strict=True))


def revised(generator: np.random.Generator, drafts: int) -> Scores:
    """The gains of drafts by the judge who chose them and by a final juror, where the writer truly gets better by
    less than the judge believes."""
    truth = generator.normal(size=drafts)
    after = truth + BETTER + 0.3 * generator.normal(size=drafts)
    judge = [graded(generator, each, CLINICIAN) for each in (truth, after + PLEASED)]
    juror = [graded(generator, each, JURY) for each in (truth, after)]
    return np.column_stack([judge[1] - judge[0], juror[1] - juror[0]])[judge[0] < 4]


def anchor_study(seed: list[int], cases: int, answers: int) -> dict[str, Estimate]:
    """The same cases judged twice before and twice after; the later judge is a little strict."""
    generator = np.random.default_rng(seed)
    truth, _ = quality(generator, cases, answers)
    earlier, later = (_anchors(generator, truth, strict) for strict in (0.0, STRICT))
    found = drift(earlier, later, resamples=RESAMPLES, seed=seed[-1])
    return {name: found.find(statistic=name).estimate for name in DRIFT}


def _anchors(generator: np.random.Generator, truth: Scores, strict: float) -> polars.DataFrame:
    import polars

    rows = [
        (f"c{case}", "judge", "risk", repeat, float(score))
        for repeat in range(2)
        for case, score in enumerate(graded(generator, truth, CLINICIAN, strict))
    ]
    names = ["item", "rater", "dimension", "repeat", "score"]
    return polars.DataFrame(rows, schema=names, orient="row")


def severe_study(seed: list[int], cases: int, answers: int) -> dict[str, Estimate]:
    """Severe errors on dangerous answers; those of one case go together."""
    generator = np.random.default_rng(seed)
    room = 1 / SEVERE_TOGETHER - 1
    of_case = generator.beta(SEVERE_RATE * room, (1 - SEVERE_RATE) * room, cases)
    whose = np.repeat(np.arange(cases), answers)
    missed = generator.random(len(whose)) < of_case[whose]
    rate = severe_errors(np.ones(len(whose)), np.where(missed, 5.0, 1.0), clusters=whose).rate
    return {"severe_error_rate": rate}


def weighted_severe_study(seed: list[int], cases: int, answers: int) -> dict[str, Estimate]:
    """The same where half of the answers had a quarter of the others' chance to be drawn, and err less often."""
    generator = np.random.default_rng(seed)
    rare = generator.random(cases) < 0.5
    # Of all answers four in five are like the rare ones.
    missed = generator.random(cases) < SEVERE_RATE * np.where(rare, 5 / 7, 15 / 7)
    weights = np.where(rare, 4.0, 1.0)
    rate = severe_errors(
        np.ones(cases), np.where(missed, 5.0, 1.0), clusters=np.arange(cases), weights=weights
    ).rate
    return {"severe_error_rate": rate}


def called_non_inferior(seed: list[int], cases: int, answers: int, raters: int) -> dict[str, bool]:
    """Whether a jury that is exactly the margin below the clinicians is called non-inferior: an error."""
    generator = np.random.default_rng(seed)
    truth, whose = quality(generator, cases, answers)
    if raters == RATERS:
        humans = _two_each(generator, truth)
    else:
        humans = np.column_stack([graded(generator, truth, CLINICIAN) for _ in range(raters)])
    judge = graded(generator, truth, worse_by_the_margin())
    found = non_inferiority(
        humans,
        judge,
        kappa_statistics(SCALE, ["quadratic"]),
        margin=MARGIN,
        clusters=_clusters(whose),
        resamples=RESAMPLES,
        seed=seed[-1],
    )["kappa_quadratic"]
    return {"kappa_quadratic": bool(found.non_inferior)}


def averaged() -> Any:
    """Two-rater coefficients that are pooled over pairs of clinicians."""
    return combined(
        kappa_statistics(SCALE, ["none", "linear", "quadratic"]),
        correlation_statistics(["pearson", "spearman"]),
        icc_statistics(["icc_2_1", "icc_3_1"]),
    )


@cache
def truths() -> Mapping[str, float]:
    """Every statistic in the population."""
    generator = np.random.default_rng(20_260_101)
    truth, whose = quality(generator, POPULATION, 1)
    # One case with two answers, so that no formula for independent answers is worked out on 400,000 of them.
    whose[-1] = whose[0]
    one, two = (graded(generator, truth, CLINICIAN) for _ in range(2))
    jury = graded(generator, truth, JURY, STRICT)
    pairs = {"": np.column_stack([one, jury]), "clinicians": np.column_stack([one, two])}
    found = {name: _values(rows, whose, Grades(SCALE, "given")) for name, rows in pairs.items()}
    known = dict(found[""])
    known |= {f"{name}, jury": value for name, value in found[""].items()}
    known |= {f"{name}, clinicians": value for name, value in found["clinicians"].items()}
    known |= {f"icc_2_{end}, mixed model": found["clinicians"][f"icc_2_{end}"] for end in ("1", "k")}
    two_grades = _values(_two_grades(generator, truth), whose, Grades((0.0, 1.0), "given"))
    known |= {f"{name}, two grades": value for name, value in two_grades.items()}
    known |= dict(zip(GAINS, _means_of(revised(generator, POPULATION)), strict=True))
    known |= dict(zip(DRIFT, _drift_of(generator, truth), strict=True))
    return known | {"severe_error_rate": SEVERE_RATE}


def _means_of(gains: Scores) -> tuple[float, float, float]:
    loop, final = gains.mean(axis=0).tolist()
    return loop, final, loop - final


def _drift_of(generator: np.random.Generator, truth: Scores) -> tuple[float, float, float, float]:
    before, after = (
        [graded(generator, truth, CLINICIAN, strict) for _ in range(2)] for strict in (0.0, STRICT)
    )
    changed = float((before[0] != after[0]).mean())
    noise = sum(float((side[0] != side[1]).mean()) for side in (before, after)) / 2
    return float((after[0] - before[0]).mean()), changed, noise, changed - noise


@cache
def worse_by_the_margin() -> float:
    """The error of a jury whose quadratic kappa with a clinician is the margin below that of two clinicians."""
    generator = np.random.default_rng(20_260_102)
    truth = generator.normal(size=POPULATION)
    one, two = (graded(generator, truth, CLINICIAN) for _ in range(2))
    own, noise = generator.normal(size=POPULATION), [CLINICIAN, 3.0]
    for _ in range(40):
        middle = sum(noise) / 2
        jury = np.searchsorted(CUTS, (truth + middle * own) / np.sqrt(1 + middle**2)) + 1.0
        noise[_kappa(one, jury) < _kappa(one, two) - MARGIN] = middle
    return sum(noise) / 2


def statistics_asked() -> list[str] | None:
    """The statistics of two raters that are simulated; None: all."""
    named = os.environ.get("COVERAGE_STATISTICS")
    return named.split(",") if named else None


def _pair(rows: Scores, whose: NDArray[np.int64], resamples: int, grades: Grades) -> dict[str, Estimate]:
    # Every truth is worked out, whatever is simulated.
    settings = Settings(resamples, seed=1, statistics=statistics_asked() if resamples else None)
    found = pair_estimates(Pair(rows, whose, grades), settings)[0]
    return {name: estimate for name, (estimate, _) in found.items() if name != "wilcoxon_signed_rank"}


def _values(rows: Scores, whose: NDArray[np.int64], grades: Grades) -> dict[str, float]:
    found = _pair(rows, whose, 0, grades)
    return {name: each.value for name, each in found.items() if each.value is not None}


def _two_grades(generator: np.random.Generator, truth: Scores) -> Scores:
    sides = [graded(generator, truth, CLINICIAN), graded(generator, truth, JURY, STRICT)]
    return np.column_stack([(side <= 4).astype(np.float64) for side in sides])


def _two_each(generator: np.random.Generator, truth: Scores) -> Scores:
    humans = np.full((len(truth), RATERS), np.nan)
    for answer in range(len(truth)):
        who = generator.choice(RATERS, 2, replace=False)
        humans[answer, who] = graded(generator, np.repeat(truth[answer], 2), CLINICIAN)
    return humans


def _clusters(whose: NDArray[np.int64]) -> NDArray[np.int64] | None:
    return whose if len(np.unique(whose)) < len(whose) else None


def _kappa(first: Scores, second: Scores) -> float:
    chance = first.var() + second.var() + (first.mean() - second.mean()) ** 2
    return float(1 - ((first - second) ** 2).mean() / chance)
