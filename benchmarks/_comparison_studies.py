"""Simulated studies of comparisons: two runs on the same answers, systems over benchmarks, a metric beside labels
of harm, and raters of a round who change over time."""

from __future__ import annotations

from functools import cache
from typing import Any

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
from medjury.analysis.agreement import area_under_curve, kendall_tau_b, krippendorff_alpha
from medjury.analysis.agreement._differences import difference_statistics
from medjury.analysis.agreement._icc import icc_statistics
from medjury.analysis.agreement._kappa import kappa_statistics
from medjury.analysis.agreement._roc import area_statistics
from medjury.analysis.ranking import rank
from medjury.panel._live._pages import _change as change_of_rater
from medjury.statistics import bootstrap, replicates, undefined
from medjury.suites._baselines import above_baseline
from medjury.texts.metrics._impact import rates
from medjury.texts.metrics._meta_evaluation import enrichment_of
from medjury.validation._clustered import clustered_contrast
from medjury.validation._run_changes import Drawing, _both, _means

SYSTEMS, BETTER = 6, np.linspace(0.6, 0.0, 6)


def run_study(seed: list[int], cases: int, answers: int) -> dict[str, Truthful]:
    """What changes from a noisier, stricter run to a better one, on the same answers."""
    generator = np.random.default_rng(seed)
    truth, whose = quality(generator, cases, answers)
    rows = _two_runs(generator, truth)
    drawing = Drawing(RESAMPLES, seed[-1], 0.95, ())
    plain = _both(difference_statistics(["offset", "rmse"]), icc_statistics(["icc_2_1"]))
    made = drawing(rows, plain, whose)
    graded_ = drawing(rows, _both(kappa_statistics(SCALE, ["quadratic"])), whose)
    found = {
        "mean score": drawing.change(drawing(rows[:, :2], _means, whose), "", "", "mean").difference,
        "offset": drawing.change(made, "", "", "offset").difference,
        "size of the offset": drawing.size_of_offset(made, "").difference,
        "rmse": drawing.change(made, "", "", "rmse").difference,
        "icc_2_1": drawing.change(made, "", "", "icc_2_1").difference,
        "kappa_quadratic": drawing.change(graded_, "", "", "kappa_quadratic").difference,
    }
    return {f"{name}, second less first": (found[name], true) for name, true in _run_truths().items()}


def contrast_study(seed: list[int], cases: int, answers: int) -> dict[str, Truthful]:
    """The offset by Student's t, as the gate and the page on settling have it."""
    generator = np.random.default_rng(seed)
    truth, whose = quality(generator, cases, answers)
    rows = _two_runs(generator, truth)
    gap = rows[:, 1] - rows[:, 2]
    found = clustered_contrast(gap, np.ones(len(gap), dtype=np.int64), whose, span=4.0)[0]
    return {"offset of the gate": (found, _contrast_truth())}


def benchmark_study(seed: list[int], cases: int, answers: int) -> dict[str, Truthful]:
    """Six systems on n benchmarks, of which one number each is known: would other benchmarks say the same?"""
    import polars

    scores = _on_benchmarks(np.random.default_rng(seed), cases)
    table = polars.DataFrame(
        {
            "system": np.repeat([f"s{place}" for place in range(SYSTEMS)], cases),
            "benchmark": np.tile([f"b{place}" for place in range(cases)], SYSTEMS),
            "score": scores.ravel(),
        }
    )
    found = rank(table, resamples=RESAMPLES, seed=seed[-1])
    made = {
        f"{what} of the {who}, over benchmarks": getattr(found.find(system=name), field)
        for what, field in (("win rate", "win_rate"), ("mean score", "macro_average"))
        for who, name in (("first", "s0"), ("third", "s2"), ("last", "s5"))
    }
    return {name: (made[name], true) for name, true in _benchmark_truths().items()}


def candidate_study(seed: list[int], cases: int, answers: int) -> dict[str, Truthful]:
    """A model's marks, right or wrong and in between, beside those of a trivial answer."""
    generator = np.random.default_rng(seed)
    truth, whose = quality(generator, cases, answers)
    ours, trivial = _marks(generator, truth)
    ones, names = np.ones(len(truth)), [str(each) for each in whose]
    drawn: dict[str, Any] = {"resamples": RESAMPLES, "seed": seed[-1]}
    right = (ours > 0.5).astype(float), (trivial > 0.5).astype(float)
    made = {
        "above the baseline, right or wrong": above_baseline(
            *(np.column_stack([each, ones]) for each in right), names, **drawn
        ),
        "above the baseline, marks between": above_baseline(
            *(np.column_stack([each, ones]) for each in (ours, trivial)), names, **drawn
        ),
    }
    return {name: (made[name], true) for name, true in _candidate_truths().items()}


def harm_study(seed: list[int], cases: int, answers: int) -> dict[str, Truthful]:
    """A metric beside clinicians' labels of harm (0, 1, 2), one or several pairs to a call."""
    generator = np.random.default_rng(seed)
    truth, whose = quality(generator, cases, answers)
    labels, metric, levels, shares = _harmed(generator, truth)
    drawn: dict[str, Any] = {"clusters": whose, "resamples": RESAMPLES, "seed": seed[-1]}
    found = {"enrichment": enrichment_of(labels, metric, drawn)}
    # Rates of exactly 0 or 1 have exact intervals, which promise 95 % at the least and hold in more.
    found |= {
        name: undefined("an exact interval", each.n, "") if each.value in (0.0, 1.0) else each
        for name, each in rates(labels.astype(np.int64), levels.astype(np.int64), drawn).items()
    }
    found["kendall_tau_b of a metric"] = kendall_tau_b(metric, labels, **drawn)
    harmed = (labels > 0).astype(float)
    found["auc of a share"] = (
        bootstrap(np.column_stack([harmed, shares]), area_statistics(1.0), **drawn)["auc"]
        if answers > 1
        else area_under_curve(harmed, shares)
    )
    return {name: (found[name], true) for name, true in _harm_truths().items()}


def round_study(seed: list[int], cases: int, answers: int) -> dict[str, Truthful]:
    """A round so far: six raters, two for each answer, and one of them who gets stricter by half a grade."""
    generator = np.random.default_rng(seed)
    truth, whose = quality(generator, cases, answers)
    scores = np.full((len(truth), 6), np.nan)
    for answer in range(len(truth)):
        who = generator.choice(6, 2, replace=False)
        scores[answer, who] = graded(generator, np.repeat(truth[answer], 2), CLINICIAN)
    clusters = {"clusters": whose} if answers > 1 else {}
    alpha = krippendorff_alpha(scores, "ordinal", resamples=RESAMPLES, seed=seed[-1], **clusters)
    apart = generator.normal(size=cases) * 0.8 - np.where(np.arange(cases) < cases // 2, 0.0, 0.5)
    apart = np.round(apart * 2) / 2
    return {
        "ordinal alpha of a round": (alpha, _round_truths()[0]),
        "change of a rater": (change_of_rater(apart[: cases // 2], apart[cases // 2 :]), _round_truths()[1]),
    }


def _two_runs(generator: np.random.Generator, truth: Scores) -> Scores:
    first, second = graded(generator, truth, 1.1, 2 * STRICT), graded(generator, truth, JURY, STRICT)
    return np.column_stack([first, second, graded(generator, truth, CLINICIAN)])


@cache
def _run_truths() -> dict[str, float]:
    generator = np.random.default_rng(20_260_121)
    rows = _two_runs(generator, generator.normal(size=POPULATION))
    names = [
        icc_statistics(["icc_2_1"]),
        difference_statistics(["offset", "rmse"]),
        kappa_statistics(SCALE, ["quadratic"]),
    ]
    made = replicates(rows, _both(*names), resamples=0).observed
    found = {
        name: made[f"second {name}"] - made[f"first {name}"]
        for name in ("offset", "rmse", "icc_2_1", "kappa_quadratic")
    }
    size = abs(made["second offset"]) - abs(made["first offset"])
    return {"mean score": float(rows[:, 1].mean() - rows[:, 0].mean()), "size of the offset": size} | found


@cache
def _contrast_truth() -> float:
    generator = np.random.default_rng(20_260_122)
    rows = _two_runs(generator, generator.normal(size=POPULATION))
    return float((rows[:, 1] - rows[:, 2]).mean())


def _on_benchmarks(generator: np.random.Generator, count: int) -> Scores:
    """Systems by benchmarks; each is a mean of cases, and some systems suit some benchmarks."""
    hard, own = 0.08 * generator.normal(size=count), 0.05 * generator.normal(size=(SYSTEMS, count))
    return np.asarray(0.6 + 0.1 * BETTER[:, np.newaxis] + hard + own)


@cache
def _benchmark_truths() -> dict[str, float]:
    scores = _on_benchmarks(np.random.default_rng(20_260_123), POPULATION)
    wins = {place: float(np.mean([scores[place] > scores[other] for other in range(SYSTEMS) if other != place]))
            for place in (0, 2, 5)}  # fmt: skip
    named = {"first": 0, "third": 2, "last": 5}
    found = {f"win rate of the {who}, over benchmarks": wins[place] for who, place in named.items()}
    return found | {
        f"mean score of the {who}, over benchmarks": float(scores[place].mean())
        for who, place in named.items()
    }


def _marks(generator: np.random.Generator, truth: Scores) -> tuple[Scores, Scores]:
    ours, trivial = (
        truth + 0.8 * generator.normal(size=truth.shape) + 0.6,
        0.5 * truth + generator.normal(size=truth.shape),
    )
    return tuple(np.clip(np.round((each + 2) / 4, 1), 0.0, 1.0) for each in (ours, trivial))  # type: ignore


@cache
def _candidate_truths() -> dict[str, float]:
    generator = np.random.default_rng(20_260_124)
    ours, trivial = _marks(generator, generator.normal(size=POPULATION))
    return {
        "above the baseline, right or wrong": float((ours > 0.5).mean() - (trivial > 0.5).mean()),
        "above the baseline, marks between": float(ours.mean() - trivial.mean()),
    }


def _harmed(generator: np.random.Generator, truth: Scores) -> tuple[Scores, Scores, Scores, Scores]:
    labels = np.searchsorted([0.4, 1.1], truth).astype(float)
    metric = np.exp(0.5 * truth + 0.5 * generator.normal(size=truth.shape))
    levels = np.searchsorted([0.4, 1.1], truth + 0.6 * generator.normal(size=truth.shape)).astype(float)
    shares = np.round(np.clip(0.4 + 0.2 * truth + 0.2 * generator.normal(size=truth.shape), 0, 1), 1)
    return labels, metric, levels, shares


@cache
def _harm_truths() -> dict[str, float]:
    from scipy.stats import kendalltau, rankdata

    generator = np.random.default_rng(20_260_125)
    labels, metric, levels, shares = _harmed(generator, generator.normal(size=POPULATION))
    two = labels == 2
    ranks, harmed = rankdata(shares), labels > 0
    auc = (ranks[harmed].sum() - harmed.sum() * (harmed.sum() + 1) / 2) / (harmed.sum() * (~harmed).sum())
    return {
        "enrichment": float(metric[two].mean() - metric[labels == 0].mean()),
        "accuracy": float((labels == levels).mean()),
        "recall_2": float((levels[two] == 2).mean()),
        "precision_2": float((labels[levels == 2] == 2).mean()),
        "kendall_tau_b of a metric": float(kendalltau(metric, labels).statistic),
        "auc of a share": float(auc),
    }


@cache
def _round_truths() -> tuple[float, float]:
    generator = np.random.default_rng(20_260_126)
    truth = generator.normal(size=60_000)
    pair = np.column_stack([graded(generator, truth, CLINICIAN) for _ in range(2)])
    alpha = krippendorff_alpha(pair, "ordinal", interval="none").value
    before, after = (
        np.round((0.8 * generator.normal(size=POPULATION) - shift) * 2) / 2 for shift in (0.0, 0.5)
    )
    return float(alpha or 0.0), float(after.mean() - before.mean())
