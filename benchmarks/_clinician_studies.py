"""Simulated studies of three clinicians who all rate every answer: their agreement as a group, the jury beside them
and in their place, and a jury that asks fewer jurors."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from benchmarks._studies import (
    CLINICIAN,
    JURY,
    RESAMPLES,
    SCALE,
    STRICT,
    Scores,
    Truthful,
    averaged,
    graded,
    quality,
)
from medjury.analysis.agreement import judge_as_rater, many_raters, non_inferiority
from medjury.analysis.agreement._all_at_once import MANY_RATER_STATISTICS
from medjury.analysis.calibration._jury_search import LOST, agreement_replicates
from medjury.analysis.calibration._jury_votes import JuryTable
from medjury.statistics import Estimate

CLINICIANS, JURORS, POPULATION = 3, 5, 60_000


def together_study(seed: list[int], cases: int, answers: int) -> dict[str, Truthful]:
    """Every coefficient of three clinicians at once."""
    generator = np.random.default_rng(seed)
    truth, whose = quality(generator, cases, answers)
    humans = _humans(generator, truth)
    options: dict[str, Any] = {"clusters": whose} if answers > 1 else {}
    found = many_raters(humans, scale=SCALE, resamples=RESAMPLES, seed=seed[-1], **options)
    return {f"{name}, three clinicians": (found[name], true) for name, true in _together_truths().items()}


def beside_study(seed: list[int], cases: int, answers: int) -> dict[str, Truthful]:
    """The jury beside the three, and what it changes as one more or in the place of the first."""
    generator = np.random.default_rng(seed)
    truth, whose = quality(generator, cases, answers)
    humans, jury = _humans(generator, truth), graded(generator, truth, JURY, STRICT)
    clusters = whose if answers > 1 else None
    drawn: dict[str, Any] = {"clusters": clusters, "resamples": RESAMPLES, "seed": seed[-1]}
    pairs = non_inferiority(humans, jury, averaged(), margin=0.1, **drawn)
    found: dict[str, Estimate] = {
        f"{name}, each with the others": each.human_human for name, each in pairs.items()
    }
    found |= {f"{name}, jury with each": each.judge_human for name, each in pairs.items()}
    changes = judge_as_rater(humans, jury, **drawn)
    found |= {
        f"{each.form}, jury {each.kind}": each.change for each in changes if each.human in ("", "human 1")
    }
    return {name: (found[name], true) for name, true in _beside_truths().items()}


def fewer_study(seed: list[int], cases: int, answers: int) -> dict[str, Truthful]:
    """What a jury of two loses beside one of five, and the agreement of both."""
    generator = np.random.default_rng(seed)
    truth, whose = quality(generator, cases, answers)
    labels, votes = _jury(generator, truth)
    table = _table(labels, votes, whose)
    scores = {"five jurors": votes.mean(axis=1), "two jurors": votes[:, :2].mean(axis=1)}
    made = agreement_replicates(
        table,
        {name: each[:, np.newaxis] for name, each in scores.items()},
        resamples=RESAMPLES,
        seed=seed[-1],
    )
    found = {
        "spearman of five jurors": made.estimate("five jurors"),
        "spearman of two jurors": made.estimate("two jurors"),
        "lost by asking two": made.estimate("two jurors" + LOST),
    }
    return {name: (found[name], true) for name, true in _fewer_truths().items()}


def _humans(generator: np.random.Generator, truth: Scores) -> Scores:
    return np.column_stack([graded(generator, truth, CLINICIAN) for _ in range(CLINICIANS)])


def _jury(generator: np.random.Generator, truth: Scores) -> tuple[Scores, Scores]:
    votes = [graded(generator, truth, JURY, STRICT) for _ in range(JURORS)]
    return graded(generator, truth, CLINICIAN), np.column_stack(votes)


def _table(labels: Scores, votes: Scores, whose: Any) -> JuryTable:
    shape = (len(labels), JURORS, 1)
    return JuryTable(
        tuple(f"j{place}" for place in range(JURORS)), ("risk",), ((1.0, 5.0),), votes[:, :, np.newaxis],
        np.zeros(shape, dtype=bool), np.ones((len(labels), 1), dtype=bool), labels[:, np.newaxis],
        np.full(len(labels), "one"), whose.astype(object),
    )  # fmt: skip


@cache
def _together_truths() -> dict[str, float]:
    generator = np.random.default_rng(20_260_118)
    humans = _humans(generator, generator.normal(size=POPULATION))
    found = many_raters(humans, scale=SCALE, resamples=0, interval="none")
    return {name: float(found[name].value or 0.0) for name in MANY_RATER_STATISTICS}


@cache
def _beside_truths() -> dict[str, float]:
    generator = np.random.default_rng(20_260_119)
    truth = generator.normal(size=POPULATION)
    humans, jury = _humans(generator, truth), graded(generator, truth, JURY, STRICT)
    pairs = non_inferiority(humans, jury, averaged(), margin=0.1, resamples=0)
    found = {f"{name}, each with the others": each.human_human for name, each in pairs.items()}
    found |= {f"{name}, jury with each": each.judge_human for name, each in pairs.items()}
    found |= {
        f"{each.form}, jury {each.kind}": each.change
        for each in judge_as_rater(humans, jury, resamples=0)
        if each.human in ("", "human 1")
    }
    return {name: float(each.value or 0.0) for name, each in found.items()}


@cache
def _fewer_truths() -> dict[str, float]:
    from scipy.stats import spearmanr

    generator = np.random.default_rng(20_260_120)
    labels, votes = _jury(generator, generator.normal(size=POPULATION))
    five, two = (float(spearmanr(votes[:, :size].mean(axis=1), labels).statistic) for size in (JURORS, 2))
    return {"spearman of five jurors": five, "spearman of two jurors": two, "lost by asking two": five - two}
