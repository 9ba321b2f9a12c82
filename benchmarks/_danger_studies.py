"""Simulated studies of shares of dangerous answers, of which clinicians labelled some and the jury scored all."""

from __future__ import annotations

from functools import cache

import numpy as np

from benchmarks._studies import CLINICIAN, JURY, POPULATION, SHARED, STRICT, Scores, Truthful, graded, quality
from medjury.analysis.calibration._danger_rates import danger_rates
from medjury.analysis.calibration._prediction_powered import (
    estimate_difference,
    estimate_mixture,
    powered_means,
)
from medjury.analysis.calibration._quality_asked import estimate_weighted, share_of
from medjury.foundation.errors import MedjuryError
from medjury.statistics import undefined

UNLABELLED, DANGEROUS, WORSE = 9, 3.0, 0.3


def danger_study(seed: list[int], cases: int, answers: int) -> dict[str, Truthful]:
    """n cases labelled of ten times as many: the share of dangerous answers by each way that is printed."""
    generator = np.random.default_rng(seed)
    truth, whose = quality(generator, cases * (1 + UNLABELLED), answers)
    labels, called = _called(generator, truth)
    labels[whose >= cases] = np.nan
    rates = danger_rates(labels, called, cases=whose.tolist())
    found = share_of(labels, called, cases=whose.tolist(), labels_random=True, confidence=0.95)
    made = {
        "share dangerous, by verdict": rates.by_verdict,
        "share dangerous, Rogan-Gladen": rates.rogan_gladen,
        "share dangerous, plug-in": rates.plug_in,
        "share dangerous, labels and jury": found.power_tuned,
        "share dangerous, full weight on the jury": found.fixed,
        "share dangerous, labels": found.classical,
    }
    share, called_share = _danger_truths()
    known = {name: (each, share) for name, each in made.items()}
    return known | {"share called dangerous by the jury": (found.naive, called_share)}


def powered_study(seed: list[int], cases: int, answers: int) -> dict[str, Truthful]:
    """Two systems on the same cases, their difference; and a mean in another mixture of easy and hard cases."""
    generator = np.random.default_rng(seed)
    whose = np.repeat(np.arange(cases * (1 + UNLABELLED)), answers)
    total, both = len(whose), np.tile(whose, 2).tolist()
    of_case = generator.normal(size=cases * (1 + UNLABELLED))[whose]
    hard = (generator.random(cases * (1 + UNLABELLED)) < 0.5)[whose]
    sides = [np.sqrt(SHARED) * of_case + np.sqrt(1 - SHARED) * generator.normal(size=total) - WORSE * place
             for place in range(2)]  # fmt: skip
    labels = [graded(generator, each, CLINICIAN) for each in sides]
    jury = [graded(generator, each, JURY, STRICT) for each in sides]
    known = np.tile(whose < cases, 2)
    wanted, given = np.concatenate(labels), np.concatenate(jury)
    wanted = np.where(known, wanted, np.nan)
    names = np.repeat(["a", "b"], total)
    apart = estimate_difference(
        wanted, given, systems=names.tolist(), first="a", second="b", cases=both,
        labels_random=True,
    )  # fmt: skip
    seen = sides[0] - 2 * WORSE * hard
    label, said = graded(generator, seen, CLINICIAN), graded(generator, seen, JURY, STRICT)
    label[whose >= cases] = np.nan
    try:
        mixed = estimate_mixture(
            label, said, strata=np.where(hard, "hard", "easy").tolist(), shares={"hard": 0.2, "easy": 0.8},
            cases=whose.tolist(), labels_random=True,
        ).power_tuned  # fmt: skip
    except MedjuryError as error:
        mixed = undefined(str(error), cases, "")
    ranked = powered_means(
        wanted, given, groups=names.tolist(), order=["a", "b"], cases=both,
        labels_random=True,
    ).averages(1, 0.95)  # fmt: skip
    difference, mixture, first, second = _powered_truths()
    return {
        "difference of two systems, labels and jury": (apart.power_tuned, difference),
        "difference of two systems, labels": (apart.classical, difference),
        "mean in another mixture, labels and jury": (mixed, mixture),
        "mean of the first ranked system, labels and jury": (ranked[0], first),
        "mean of the last ranked system, labels and jury": (ranked[1], second),
    }


def weighted_study(seed: list[int], cases: int, answers: int) -> dict[str, Truthful]:
    """Answers that the jury scores low are labelled four times as often as the others; n labels on average."""
    generator = np.random.default_rng(seed)
    truth, whose = quality(generator, cases * (1 + UNLABELLED) // answers, answers)
    clinician, jury = graded(generator, truth, CLINICIAN), graded(generator, truth, JURY, STRICT)
    chance = np.where(jury <= DANGEROUS, 4.0, 1.0)
    chance *= cases / chance.sum()
    drawn = generator.random(len(whose)) < chance
    labels, weights = np.where(drawn, clinician, np.nan), 1.0 / chance
    bad = np.where(drawn, clinician <= DANGEROUS, np.nan)
    said = (jury <= DANGEROUS).astype(float)
    mean = estimate_weighted(labels, jury, weights, cases=whose.tolist(), confidence=0.95, share=False)
    share = estimate_weighted(bad, said, weights, cases=whose.tolist(), confidence=0.95, share=True)
    true_mean, true_share = _weighted_truths()
    return {
        "mean, weighted labels and jury": (mean.power_tuned, true_mean),
        "mean, weighted labels": (mean.classical, true_mean),
        "share dangerous, weighted labels and jury": (share.power_tuned, true_share),
        "share dangerous, weighted labels": (share.classical, true_share),
    }


def _called(generator: np.random.Generator, truth: Scores) -> tuple[Scores, Scores]:
    labels, jury = graded(generator, truth, CLINICIAN), graded(generator, truth, JURY, STRICT)
    return (labels <= DANGEROUS).astype(float), (jury <= DANGEROUS).astype(float)


@cache
def _danger_truths() -> tuple[float, float]:
    generator = np.random.default_rng(20_260_115)
    labels, called = _called(generator, generator.normal(size=POPULATION))
    return float(labels.mean()), float(called.mean())


@cache
def _powered_truths() -> tuple[float, float, float, float]:
    generator = np.random.default_rng(20_260_116)
    truth = generator.normal(size=POPULATION)
    means = [float(graded(generator, truth - shift, CLINICIAN).mean()) for shift in (0.0, WORSE, 2 * WORSE)]
    return means[0] - means[1], 0.8 * means[0] + 0.2 * means[2], means[0], means[1]


@cache
def _weighted_truths() -> tuple[float, float]:
    generator = np.random.default_rng(20_260_117)
    clinician = graded(generator, generator.normal(size=POPULATION), CLINICIAN)
    return float(clinician.mean()), float((clinician <= DANGEROUS).mean())
