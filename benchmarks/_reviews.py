"""Simulated reviews: a world of answers, judges and clinicians, and what a review of some of the answers finds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from medjury.analysis.agreement._kappa import kappa_statistics
from medjury.analysis.agreement._weighting import by_last_column, by_strata, post_strata
from medjury.analysis.calibration._review_queue import inclusion_probabilities, influence_sizes, systematic
from medjury.statistics import Estimate, difference_mean, error_rate, replicates, weighted_mean

Floats = NDArray[np.float64]
GRADES = (1.0, 2.0, 3.0, 4.0, 5.0)
JUDGES = 3
# Of the gate: dangerous is a grade of 2 or less on 1 to 5, severe two grades too kind or more.
THRESHOLD, GAP = 2.0, 2.0
FLOOR = 0.25
RESAMPLES = 400
SYSTEMS = 2
STATISTICS = ("kappa", "kappa, labels alone", "mean", "mean, labels alone", "severe errors")


@dataclass(frozen=True, eq=False)
class World:
    """Answers of `SYSTEMS` systems to each case: the clinician's grade, and the judges' in rows."""

    cases: NDArray[np.int64]
    clinician: Floats
    judges: Floats

    @property
    def jury(self) -> Floats:
        return np.asarray(np.nanmean(self.judges, axis=0), dtype=np.float64)


def make_world(cases: int, seed: int, *, alike: bool = False) -> World:
    """Most answers are good. Some have a flaw that costs one to three grades, more of them in hard cases, and a
    judge sees it or does not. Judges who differ where they err (the usual jury) see it each on their own; judges
    who are `alike` all see it or none does, so that their disagreement tells nothing."""
    generator = np.random.default_rng([seed, 7 + alike])
    count = cases * SYSTEMS
    whose = np.repeat(np.arange(cases), SYSTEMS)
    hard = generator.random(cases) < 0.25
    flawed = generator.random(count) < np.where(hard[whose], 0.45, 0.06)
    depth = generator.choice([1.0, 2.0, 3.0], count, p=[0.35, 0.4, 0.25]) * flawed
    clinician = grade(4.7 - depth + generator.normal(0, 0.43, count))
    plain = generator.beta(2.2, 1.0, count)
    shape = (1, count) if alike else (JUDGES, count)
    seen = np.broadcast_to(generator.random(shape) < plain, (JUDGES, count))
    noise = generator.normal(0, 0.35, (JUDGES, count)) + generator.normal(0, 0.25, count)
    felt = depth * seen * generator.uniform(0.7, 1.1, (JUDGES, count))
    return World(whose, clinician, grade(4.8 - felt + noise))


def truths(world: World) -> Mapping[str, float]:
    """What a review of these answers without error would find."""
    x, y = world.clinician, grade(world.jury)
    apart = float(((x - y) ** 2).mean())
    chance = float(x.var() + y.var() + (x.mean() - y.mean()) ** 2)
    danger = x <= THRESHOLD
    severe = danger & (world.jury - x >= GAP - 1e-9)
    kappa, mean = 1.0 - apart / chance, float(x.mean())
    return {
        "kappa": kappa,
        "kappa, labels alone": kappa,
        "mean": mean,
        "mean, labels alone": mean,
        "severe errors": float(severe.sum() / danger.sum()),
    }


@dataclass(frozen=True, eq=False)
class Review:
    """Which answers were read, and with which probability every answer could have been."""

    read: NDArray[np.bool_]
    probability: Floats


def review(world: World, ratings: int, seed: int, *, random: bool) -> Review:
    """So many answers, drawn at random, or as `medjury plan review` draws them."""
    order = np.random.default_rng([seed, 11]).permutation(len(world.cases))
    start = float(np.random.default_rng([seed, 12]).random())
    if random:
        probability = np.full(len(order), ratings / len(order))
    else:
        sizes = influence_sizes(world.judges, world.jury, grades=GRADES, danger=(THRESHOLD, GAP))
        probability = inclusion_probabilities(sizes, world.jury <= THRESHOLD, ratings, floor=FLOOR)
    read = np.zeros(len(order), dtype=bool)
    read[order] = systematic(probability[order], start)
    return Review(read, probability)


def found(world: World, made: Review, seed: int, *, weighted: bool = True) -> Mapping[str, Estimate]:
    """What a review says of all answers, with the help of the jury's scores of all of them and by the clinicians'
    labels alone. Not `weighted`, it takes what was read for a random sample."""
    read, cases = made.read, world.cases[made.read]
    weights = 1.0 / made.probability if weighted else np.ones(len(made.read))
    own = weights[read] / weights[read].mean()
    x, y = world.clinician[read], world.jury[read]
    rows = np.column_stack([x, grade(y)])
    kappa = kappa_statistics(GRADES, ["quadratic"])
    alone = replicates(
        np.column_stack([rows, own]), by_last_column(kappa), clusters=cases, resamples=RESAMPLES, seed=seed
    )
    strata = post_strata(world.jury, np.where(read, weights, 0.0), world.cases)
    fitted = alone
    if weighted and strata is not None:
        fitted = replicates(
            strata.rows(rows),
            by_strata(kappa),
            clusters=world.cases,
            resamples=RESAMPLES,
            seed=seed,
            n=len(x),
        )
    labels = np.where(read, world.clinician, np.nan)
    danger = x <= THRESHOLD
    severe = (danger & (y - x >= GAP - 1e-9))[danger]
    equal = float(np.ptp(own)) < 1e-9
    return {
        "kappa": fitted.estimate("kappa_quadratic"),
        "kappa, labels alone": alone.estimate("kappa_quadratic"),
        "mean": difference_mean(labels, weights, world.jury, world.cases)[0],
        "mean, labels alone": weighted_mean(x, own, cases),
        "severe errors": error_rate(severe, cases[danger], weights=None if equal else own[danger]),
    }


def grade(scores: Floats) -> Any:
    return np.clip(np.floor(scores + 0.5), 1.0, 5.0)
