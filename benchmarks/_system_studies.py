"""Simulated studies of six systems that a clinician and a jury score on the same cases.

Systems differ by a fifth of the spread of answers from the first to the last, as systems do that somebody compares.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from benchmarks._studies import CLINICIAN, JURY, RESAMPLES, SHARED, STRICT, Scores, Truthful, graded
from medjury.analysis.agreement._pair_statistics import Settings
from medjury.analysis.agreement._systems import (
    between_and_within,
    estimates_by_system,
    system_rows,
)
from medjury.analysis.ranking import rank
from medjury.analysis.ranking._rank import ranking_agreement
from medjury.analysis.ranking._scores import benchmark_scores
from medjury.statistics import Estimate, replicates

BETTER = np.linspace(0.6, 0.0, 6)
POPULATION = 60_000
BY_SYSTEM = (
    "spearman_within_systems",
    "pearson_within_systems",
    "spearman_between_systems",
    "pearson_between_systems",
)


def system_study(seed: list[int], cases: int, answers: int) -> dict[str, Truthful]:
    """The ranking by the jury, its order beside the clinician's, and agreement within and between systems."""
    import polars

    clinician, jury = _scored(np.random.default_rng(seed), cases)
    tables = [
        polars.DataFrame(
            {
                "system": [f"s{system}" for _ in range(cases) for system in range(len(BETTER))],
                "benchmark": "quality",
                "item": [f"c{case}" for case in range(cases) for _ in range(len(BETTER))],
                "score": side.ravel(),
            }
        )
        for side in (jury, clinician)
    ]
    ranked = rank(tables[0], resamples=RESAMPLES, seed=seed[-1])
    first, last = ranked.find(system="s0"), ranked.find(system="s5")
    apart = next(each.difference for each in ranked.pairs.rows if {each.better, each.other} == {"s0", "s5"})
    sides = [benchmark_scores(each, lower_is_better=(), scale=None, missing="refuse") for each in tables]
    found: dict[str, Estimate] = {
        "mean score of the first": first.macro_average,
        "mean score of the last": last.macro_average,
        "difference of the two": apart,
        "win rate of the first": first.win_rate,
        "kendall_tau_b of two orders": ranking_agreement(*sides).tau,
    } | _agreement(clinician, jury, seed[-1])
    turned = -1.0 if (first.macro_average.value or 0.0) < (last.macro_average.value or 0.0) else 1.0
    known = dict(system_truths()) | {
        "difference of the two": turned * system_truths()["difference of the two"]
    }
    return {name: (estimate, known[name]) for name, estimate in found.items()}


def _agreement(clinician: Scores, jury: Scores, seed: int) -> dict[str, Estimate]:
    cases = np.repeat(np.arange(len(jury)), len(BETTER))
    systems = np.tile(np.arange(len(BETTER)), len(jury))
    rows = system_rows(np.column_stack([clinician.ravel(), jury.ravel()]), systems, cases, seed)
    statistics = between_and_within(Settings(RESAMPLES, seed=seed, statistics=[*BY_SYSTEM]))
    made = replicates(rows, statistics, clusters=cases, resamples=RESAMPLES, seed=seed)
    return estimates_by_system(made, len(BETTER), 0.95)


def _scored(generator: np.random.Generator, cases: int) -> tuple[Scores, Scores]:
    of_case = generator.normal(size=(cases, 1))
    alone = generator.normal(size=(cases, len(BETTER)))
    truth = np.sqrt(SHARED) * of_case + np.sqrt(1 - SHARED) * alone + BETTER - BETTER.mean()
    return graded(generator, truth, CLINICIAN), graded(generator, truth, JURY, STRICT)


@cache
def system_truths() -> dict[str, float]:
    """Every statistic of these studies in the population."""
    from scipy.stats import spearmanr

    clinician, jury = _scored(np.random.default_rng(20_260_104), POPULATION)
    means = jury.mean(axis=0), clinician.mean(axis=0)
    within = [np.column_stack([clinician[:, place], jury[:, place]]) for place in range(len(BETTER))]
    return {
        "mean score of the first": float(means[0][0]),
        "mean score of the last": float(means[0][-1]),
        "difference of the two": float(means[0][0] - means[0][-1]),
        "win rate of the first": 1.0,
        "kendall_tau_b of two orders": 1.0,
        "spearman_within_systems": float(np.mean([spearmanr(*each.T).statistic for each in within])),
        "pearson_within_systems": float(np.mean([np.corrcoef(each.T)[0, 1] for each in within])),
        "spearman_between_systems": 1.0,
        "pearson_between_systems": float(np.corrcoef(*means)[0, 1]),
    }
