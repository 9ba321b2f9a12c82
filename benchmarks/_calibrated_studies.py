"""Simulated studies of calibration: n cases teach the maps, and the truth is what these maps do to all answers.

So each study has truths of its own. Three jurors score an answer, and their mean takes thirteen values; how often
each goes with which grade of a clinician is known from 400,000 answers.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np

from benchmarks._studies import (
    CLINICIAN,
    JURY,
    POPULATION,
    RESAMPLES,
    SCALE,
    STRICT,
    Scores,
    Truthful,
    graded,
    quality,
)
from medjury.analysis.calibration._before_after import before_after, nearest_grade
from medjury.analysis.calibration._cross_fit import cross_fit

JURORS = 3
# What is shown of the table of before and after: the statistic, and whether it is the change.
SHOWN = {
    "offset, calibrated": ("offset", False),
    "rmse, calibrated": ("rmse", False),
    "spearman, calibrated": ("spearman", False),
    "kappa_quadratic, calibrated": ("kappa_quadratic", False),
    "offset, change": ("offset", True),
    "rmse, change": ("rmse", True),
    "spearman, change": ("spearman", True),
    "kappa_quadratic, change": ("kappa_quadratic", True),
}


def calibrated_study(seed: list[int], cases: int, answers: int) -> dict[str, Truthful]:
    """The table of before and after, of isotonic maps that never saw the case."""
    generator = np.random.default_rng(seed)
    truth, whose = quality(generator, cases, answers)
    labels, scores = _rated(generator, truth)
    fitted = cross_fit(scores, labels, cases=whose.tolist(), scale=(SCALE[0], SCALE[-1]), minimum=2)
    found = before_after(fitted.out_of_fold, grades=SCALE, resamples=RESAMPLES, seed=seed[-1])
    values, often = _everybody()
    before = _values([values], often)
    after = _values([each.predict(values) for each in fitted.calibrators], often)
    return {
        name: (found[kind].change, after[kind] - before[kind]) if change else (found[kind].after, after[kind])
        for name, (kind, change) in SHOWN.items()
    }


def _rated(generator: np.random.Generator, truth: Scores) -> tuple[Scores, Scores]:
    jurors = [graded(generator, truth, JURY, STRICT) for _ in range(JURORS)]
    return graded(generator, truth, CLINICIAN), np.mean(jurors, axis=0)


@cache
def _everybody() -> tuple[Scores, Scores]:
    """The values of the jury's mean, and the share of answers with each of them (rows) and each grade (columns)."""
    generator = np.random.default_rng(20_260_103)
    labels, scores = _rated(generator, generator.normal(size=POPULATION))
    values, place = np.unique(np.round(scores, 9), return_inverse=True)
    often = np.zeros((len(values), len(SCALE)))
    np.add.at(often, (place, labels.astype(np.int64) - 1), 1.0 / POPULATION)
    return values, often


def _values(maps: Sequence[Scores], often: Scores) -> dict[str, float]:
    """The statistics of all answers, of which each map scores an equal part; Spearman's is the mean over maps."""
    grades = np.array(SCALE)
    share = np.concatenate([often] * len(maps)) / len(maps)
    scores = np.concatenate(maps)
    gaps = scores[:, np.newaxis] - grades
    rounded = nearest_grade(scores, SCALE)
    return {
        "offset": float((share * gaps).sum()),
        "rmse": float(np.sqrt((share * gaps**2).sum())),
        "spearman": float(np.mean([_rank_correlation(each, often) for each in maps])),
        "kappa_quadratic": _kappa(rounded, grades, share),
    }


def _kappa(rows: Scores, columns: Scores, share: Scores) -> float:
    of_rows, of_columns = share.sum(axis=1), share.sum(axis=0)
    distance = (rows[:, np.newaxis] - columns) ** 2
    return float(1 - (share * distance).sum() / (np.outer(of_rows, of_columns) * distance).sum())


def _rank_correlation(scores: Scores, share: Scores) -> float:
    first, second = _ranks(scores, share.sum(axis=1)), _ranks(np.array(SCALE), share.sum(axis=0))
    spread = [(share * (first[:, np.newaxis] ** 2)).sum(), (share * second**2).sum()]
    return float((share * np.outer(first, second)).sum() / np.sqrt(spread[0] * spread[1]))


def _ranks(values: Scores, share: Scores) -> Scores:
    """Middle ranks of all answers, less their mean; values that the map made equal are tied."""
    apart = values[:, np.newaxis] - values
    return ((apart > 1e-9) @ share + (np.abs(apart) <= 1e-9) @ share / 2) - 0.5
