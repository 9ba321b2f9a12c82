"""Simulated studies of what a jury is and is used for: how many votes it has, a mean from few labels, a comparison
with a second panel, sets of grades that hold a clinician's."""

from __future__ import annotations

from functools import cache

import numpy as np
import polars as pl
from numpy.typing import NDArray

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
from medjury.analysis.agreement import JuryWorthRow, jury_worth, win_rates
from medjury.analysis.calibration._conformal import GradeSets, measure_sets
from medjury.analysis.calibration._prediction_powered import estimate_mean
from medjury.tables import rating_table

# For each label so many answers have the jury's score alone.
UNLABELLED = 9
# Errors of three judges: what they share, and what is each one's own.
COMMON, OWN = 0.5, (0.5, 0.7, 0.9)
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


def votes_study(seed: list[int], cases: int, answers: int) -> dict[str, Truthful]:
    """How many votes three judges have that share a part of their errors."""
    generator = np.random.default_rng(seed)
    truth, whose = quality(generator, cases, answers)
    found = _worth(generator, truth, whose, RESAMPLES, seed[-1])
    return {"effective votes": (found.votes, true_votes())}


def _worth(
    generator: np.random.Generator, truth: Scores, whose: NDArray[np.int64], resamples: int, seed: int
) -> JuryWorthRow:
    blind = truth + COMMON * generator.normal(size=truth.shape)
    columns = {f"judge {own}": graded(generator, blind, own) for own in OWN}
    columns |= {f"clinician {each}": graded(generator, truth, CLINICIAN) for each in "ab"}
    wide = pl.DataFrame(columns).with_columns(
        item=pl.int_range(len(truth)).cast(pl.String), patient=pl.Series(whose), dimension=pl.lit("quality")
    )
    long = wide.unpivot(
        list(columns), index=["item", "patient", "dimension"], variable_name="rater", value_name="score"
    )
    kinds = long["rater"].str.extract(r"^(\w+)").alias("rater_kind")
    table = rating_table(long.with_columns(kinds), scale=(1, 5))
    return jury_worth(table, resamples=resamples, seed=seed).rows[0]


@cache
def true_votes() -> float:
    """The votes in the population."""
    generator = np.random.default_rng(20_261_118)
    found = _worth(generator, generator.normal(size=POPULATION), np.arange(POPULATION), 0, 1)
    assert found.votes.value is not None
    return found.votes.value


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
