"""Simulated studies of what a jury is used for: a mean from few labels, a comparison with a second panel, sets of
grades that hold a clinician's."""

from __future__ import annotations

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
from medjury.agreement import win_rates
from medjury.calibration._conformal.sets import GradeSets, measure_sets
from medjury.calibration._estimates.prediction_powered import estimate_mean

# For each label so many answers have the jury's score alone.
UNLABELLED = 9
NEARER = ("absolute_offset", "rmse", "spearman", "kappa_quadratic")


def estimated_study(seed: list[int], cases: int, answers: int) -> dict[str, Truthful]:
    """The clinicians' mean of all answers, where they labelled n cases of ten times as many."""
    generator = np.random.default_rng(seed)
    truth, whose = quality(generator, cases * (1 + UNLABELLED), answers)
    labels, jury = graded(generator, truth, CLINICIAN), graded(generator, truth, JURY, STRICT)
    labels[whose >= cases] = np.nan
    found = estimate_mean(labels, jury, cases=whose.tolist(), labels_random=True)
    made = {"mean, by labels and jury": found.power_tuned, "mean, by labels": found.classical}
    return {name: (estimate, jury_truths()[name]) for name, estimate in made.items()}


def panel_study(seed: list[int], cases: int, answers: int) -> dict[str, Truthful]:
    """How much nearer the jury is to a clinician than a second panel is."""
    generator = np.random.default_rng(seed)
    truth, whose = quality(generator, cases, answers)
    found = win_rates(
        *_beside(generator, truth), scale=SCALE, clusters=whose, resamples=RESAMPLES, seed=seed[-1]
    )
    return {
        f"{name}, nearer": (getattr(found[name], "delta", found[name]), jury_truths()[f"{name}, nearer"])
        for name in NEARER
    }


def set_study(seed: list[int], cases: int, answers: int) -> dict[str, Truthful]:
    """How often sets of the jury's grade and its neighbours hold the clinician's grade, and how wide they are."""
    generator = np.random.default_rng(seed)
    truth, whose = quality(generator, cases, answers)
    labels, jury = graded(generator, truth, CLINICIAN), graded(generator, truth, JURY, STRICT)
    found = measure_sets(
        _around(jury), labels, cases=whose.astype(object), resamples=RESAMPLES, seed=seed[-1]
    )
    return {
        "coverage of sets": (found.coverage, jury_truths()["coverage of sets"]),
        "width of sets": (found.mean_width, jury_truths()["width of sets"]),
    }


def _beside(generator: np.random.Generator, truth: Scores) -> tuple[Scores, Scores, Scores]:
    clinician = graded(generator, truth, CLINICIAN)
    return clinician, graded(generator, truth, JURY, STRICT), graded(generator, truth, 1.1, 2 * STRICT)


def _around(jury: Scores) -> GradeSets:
    low, high = np.maximum(jury - 1, SCALE[0]), np.minimum(jury + 1, SCALE[-1])
    grades = np.array(SCALE)
    return GradeSets(SCALE, (grades >= low[:, None]) & (grades <= high[:, None]), low, high)


@cache
def jury_truths() -> dict[str, float]:
    """Every statistic of these studies in the population."""
    generator = np.random.default_rng(20_260_105)
    truth = generator.normal(size=POPULATION)
    clinician, jury, panel = _beside(generator, truth)
    found = win_rates(clinician, jury, panel, scale=SCALE, resamples=1, seed=1)
    sets = _around(jury)
    nearer = {f"{name}, nearer": found[name].delta.value for name in NEARER}  # type: ignore[union-attr]
    mean = float(clinician.mean())
    return {name: float(value or 0.0) for name, value in nearer.items()} | {
        "mean, by labels and jury": mean,
        "mean, by labels": mean,
        "coverage of sets": float(sets.covers(clinician).mean()),
        "width of sets": float(sets.width.mean()),
    }
