"""Simulated studies of the audits: a judge asked three times, texts and groups that it pays for, pairs shown in
both orders, dimensions that hang together, and vendors who judge their own systems."""

from __future__ import annotations

from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np

from benchmarks._studies import (
    CLINICIAN,
    JURY,
    POPULATION,
    RESAMPLES,
    STRICT,
    Scores,
    Truthful,
    graded,
    quality,
)
from medjury.analysis.agreement import cronbach_alpha
from medjury.analysis.audits import position
from medjury.analysis.audits._consistency import _correlations as correlations
from medjury.analysis.audits._groups import welch
from medjury.analysis.audits._same_vendor_model import Vendors, model_findings
from medjury.analysis.audits._self_preference import contrast_findings
from medjury.analysis.audits._stability import repeats_needed, steadiness, sums_of
from medjury.analysis.audits._text_effects import slopes
from medjury.statistics import fit_mixed_model, replicates
from medjury.tables import SCORED, Grid

REPEATS, UNSTEADY = 3, 0.35
# What a doubling of the length and the smaller group are worth to the clinician and, beyond that, to the judge.
LONGER, PAID, SMALLER, OTHERS, KINDER = 0.15, 0.1, 0.3, 0.2, 0.15
CLINICIANS = 3
WIDTH, SMALLEST_GROUP = 0.5, 10
JUDGES, SYSTEMS, LIKING, OWN = 4, 12, 0.15, 0.3
FIRST_PLACE = 0.15
PLACES = ("first_place_bias", "consistent", "reversed", "first_place_share")
SLOPES = ("slope", "slope_given_reference", "slope_beyond_reference")


def stability_study(seed: list[int], cases: int, answers: int) -> dict[str, Truthful]:
    """A judge asked three times for the same answers."""
    import polars

    generator = np.random.default_rng(seed)
    truth, whose = quality(generator, cases, answers)
    scores = np.sort(_asked_again(generator, truth), axis=1)
    times = np.array([[(row == each).sum() for each in np.unique(row)] for row in scores], dtype=object)
    part = polars.DataFrame(
        {
            "repeats": np.full(len(scores), REPEATS),
            "sd": scores.std(axis=1, ddof=1),
            "mean": scores.mean(axis=1),
            "alike": [sum(count * (count - 1) for count in each) for each in times],
            "levels": [len(each) for each in times],
            "cluster": whose,
        }
    )
    sums, statistics = sums_of(part)
    drawn = replicates(sums, statistics, clusters=range(len(sums)), resamples=RESAMPLES, seed=seed[-1])
    found = steadiness(part, drawn, 0.95)
    found |= repeats_needed(found["within_sd"], part["sd"].to_numpy(), WIDTH, 0.95)
    return {name: (found[name], true) for name, true in _stability_truths().items()}


def text_study(seed: list[int], cases: int, answers: int) -> dict[str, Truthful]:
    """Longer answers are a little better, and the judge pays for their length beyond that."""
    generator = np.random.default_rng(seed)
    truth, whose = quality(generator, cases, answers)
    length, clinician, judge = _by_length(generator, truth)
    sums, statistics = slopes(
        judge, length[:, np.newaxis], ["length"], reference=clinician, systems=None, clusters=whose.tolist()
    )
    drawn = replicates(sums, statistics, clusters=range(len(sums)), resamples=RESAMPLES, seed=seed[-1])
    return {name: (drawn.estimate(f"{name} length"), true) for name, true in _text_truths().items()}


def group_study(seed: list[int], cases: int, answers: int) -> dict[str, Truthful]:
    """Three cases in ten are of a group that is worse, and the judge is kinder to it."""
    generator = np.random.default_rng(seed)
    truth, whose = quality(generator, cases, answers)
    inside = generator.random(cases)[whose] < SMALLER
    clinician, judge = _by_group(generator, truth, inside)
    return {
        name: (
            welch(
                values[inside],
                whose[inside].tolist(),
                values[~inside],
                whose[~inside].tolist(),
                smallest=SMALLEST_GROUP,
            )[0],
            true,
        )
        for (name, true), values in zip(_group_truths().items(), (judge, judge - clinician), strict=True)
    }


def error_study(seed: list[int], cases: int, answers: int) -> dict[str, Truthful]:
    """The joint model of the judge's error: the group, the length, and three clinicians of two dimensions."""
    generator = np.random.default_rng(seed)
    of_case, ward = generator.normal(size=cases), generator.random(cases) < SMALLER
    length = generator.normal(size=cases)
    errors, physician, component = [], [], []
    for dimension in range(2):
        truth = (of_case + generator.normal(size=cases)) / np.sqrt(2)
        judge, words = _erring(generator, truth, ward, length)
        for place, word in enumerate(words):
            errors.append(judge - word)
            physician += [place] * cases
            component += [dimension] * cases
    times = len(errors)
    fitted = fit_mixed_model(
        np.concatenate(errors),
        np.column_stack(
            [np.ones(times * cases), np.tile(ward, times), np.tile(length - length.mean(), times)]
        ),
        [*_error_truths()],
        {"physician": physician, "component": component},
        clusters=np.tile(np.arange(cases), times),
    )
    return {name: (fitted.estimate(name), true) for name, true in _error_truths().items()}


def place_study(seed: list[int], cases: int, answers: int) -> dict[str, Truthful]:
    """A judge who is shown pairs of answers in both orders and leans to the first."""
    import polars

    generator = np.random.default_rng(seed)
    whose = np.repeat(np.arange(cases), answers)
    first, second = _both_orders(generator, len(whose), cases, answers)
    rows = []
    for pair, case in enumerate(whose.tolist()):
        systems = f"a{pair}", f"b{pair}"
        for order, wins in ((systems, first[pair]), (systems[::-1], 1 - second[pair])):
            rows.append((f"c{case}", *order, "tie" if wins == 0.5 else order[0] if wins else order[1]))
    table = polars.DataFrame(rows, schema=["item", "first", "second", "preferred"], orient="row")
    found = position(table, resamples=RESAMPLES, seed=seed[-1])
    known = _place_truths()
    return {name: (found.find(statistic=name).estimate, known[name]) for name in PLACES}


def consistency_study(seed: list[int], cases: int, answers: int) -> dict[str, Truthful]:
    """Three dimensions, which hang together more closely for the judge than for the clinician."""
    generator = np.random.default_rng(seed)
    truth, whose = quality(generator, cases, answers)
    clinician, judge = _dimensions(generator, truth)
    settings: dict[str, Any] = {"clusters": whose, "resamples": RESAMPLES, "seed": seed[-1]}
    own = replicates(judge, correlations([(0, 1), (0, 2), (1, 2)]), **settings)
    both = replicates(np.hstack([judge, clinician]), correlations([(0, 1), (3, 4)]), **settings)
    found = {
        "spearman of two dimensions": own.estimate("0 1 spearman"),
        "mean_correlation": own.estimate("mean"),
        "cronbach_alpha": cronbach_alpha(judge, **settings),
        "spearman_less_reference": both.difference("0 1 spearman", "3 4 spearman"),
    }
    return {name: (found[name], true) for name, true in _consistency_truths().items()}


def vendor_study(seed: list[int], cases: int, answers: int) -> dict[str, Truthful]:
    """Four judges of four vendors score two systems of each and four of others; a judge likes its own vendor's, and
    single systems besides."""
    generator = np.random.default_rng(seed)
    names = [f"s{place}" for place in range(SYSTEMS)]
    judges = [f"j{place}" for place in range(JUDGES)]
    owners = [f"v{place // 2}" for place in range(SYSTEMS)]
    of_case, response = generator.normal(size=(cases, 1)), generator.normal(size=(cases, SYSTEMS))
    worth = 0.3 * generator.normal(size=SYSTEMS)
    scores = {}
    for place, judge in enumerate(judges):
        own = OWN * np.array([owner == f"v{place}" for owner in owners])
        seen = 3.0 + 0.5 * (of_case + response) + worth + LIKING * generator.normal(size=SYSTEMS) + own
        scores[judge] = (seen + 0.5 * generator.normal(size=seen.shape)).ravel()
    items = np.repeat([f"c{case}" for case in range(cases)], SYSTEMS)
    scored = {judge: np.full(len(items), SCORED, dtype=np.uint8) for judge in judges}
    grid = Grid("quality", items, np.tile(names, cases), items, scores, scored, {}, None)
    vendors = Vendors(
        {judge: f"v{place}" for place, judge in enumerate(judges)}, dict(zip(names, owners, strict=True)), {}
    )
    found, _, _ = model_findings(grid, vendors, dimension="quality", confidence=0.95)
    about = SimpleNamespace(reference=(), confidence=0.95)
    paired, _ = contrast_findings(about, grid, vendors, dimension="quality")  # type: ignore[arg-type]
    made = {(each.statistic, each.rater): each.estimate for each in (*found, *paired)}
    return {
        f"{statistic}, {'one judge' if judge else 'all judges'}": (made[statistic, judge], OWN)
        for statistic in ("same_vendor", "own_vendor_contrast", "own_vendor_contrast_scaled")
        for judge in ("", "j0")
    }


def _asked_again(generator: np.random.Generator, truth: Scores) -> Scores:
    seen = truth + np.sqrt(JURY**2 - UNSTEADY**2) * generator.normal(size=truth.shape)
    return np.column_stack([graded(generator, seen / np.sqrt(1 + JURY**2 - UNSTEADY**2), UNSTEADY, STRICT)
                            for _ in range(REPEATS)])  # fmt: skip


def _by_length(generator: np.random.Generator, truth: Scores) -> tuple[Scores, Scores, Scores]:
    length = 7.0 + 0.8 * generator.normal(size=truth.shape)
    better = truth + LONGER * (length - 7.0)
    seen = better + PAID * (length - 7.0)
    return length, graded(generator, better, CLINICIAN), graded(generator, seen, JURY, STRICT)


def _by_group(generator: np.random.Generator, truth: Scores, inside: np.ndarray) -> tuple[Scores, Scores]:
    seen = truth - OTHERS * inside
    return graded(generator, seen, CLINICIAN), graded(generator, seen + KINDER * inside, JURY, STRICT)


def _erring(
    generator: np.random.Generator, truth: Scores, ward: np.ndarray, length: Scores
) -> tuple[Scores, list[Scores]]:
    judge = graded(generator, truth + KINDER * ward + PAID * length, JURY, STRICT)
    return judge, [graded(generator, truth, CLINICIAN) for _ in range(CLINICIANS)]


def _both_orders(
    generator: np.random.Generator, pairs: int, cases: int, answers: int
) -> tuple[Scores, Scores]:
    """Whether the first answer of each pair wins where it is shown first and where it is shown second."""
    lean = FIRST_PLACE + 0.3 * np.repeat(generator.normal(size=cases), answers)
    apart = generator.normal(size=pairs)
    return tuple(  # type: ignore[return-value]
        (apart + place * lean + 0.5 * generator.normal(size=pairs) > 0).astype(float) for place in (1, -1)
    )


def _dimensions(generator: np.random.Generator, truth: Scores) -> tuple[Scores, Scores]:
    clinician, judge = [], []
    halo = generator.normal(size=truth.shape)
    for _ in range(3):
        own = (truth + generator.normal(size=truth.shape)) / np.sqrt(2)
        clinician.append(graded(generator, own, CLINICIAN))
        seen = own + 0.5 * halo
        judge.append(graded(generator, seen / np.sqrt(1.25), CLINICIAN, STRICT))
    return np.column_stack(clinician), np.column_stack(judge)


@cache
def _stability_truths() -> dict[str, float]:
    import math

    generator = np.random.default_rng(20_260_105)
    scores = _asked_again(generator, generator.normal(size=POPULATION))
    sd = scores.std(axis=1, ddof=1)
    within = float(np.sqrt((sd**2).mean()))
    return {
        "sd": float(sd.mean()),
        "within_sd": within,
        "cv": float((sd / scores.mean(axis=1)).mean()),
        "flip_rate": float((scores[:, 0] != scores[:, 1]).mean()),
        "changed_share": float((np.ptp(scores, axis=1) > 0).mean()),
        "repeats_needed": float(math.ceil((2 * 1.959964 * within / 0.5) ** 2)),
    }


@cache
def _text_truths() -> dict[str, float]:
    generator = np.random.default_rng(20_260_107)
    length, clinician, judge = _by_length(generator, generator.normal(size=POPULATION))

    def slope(y: Scores, *others: Scores) -> float:
        return float(
            np.linalg.lstsq(np.column_stack([length, np.ones_like(length), *others]), y, rcond=None)[0][0]
        )

    return dict(zip(SLOPES, (slope(judge), slope(judge, clinician), slope(judge - clinician)), strict=True))


@cache
def _group_truths() -> dict[str, float]:
    generator = np.random.default_rng(20_260_108)
    inside = generator.random(POPULATION) < SMALLER
    clinician, judge = _by_group(generator, generator.normal(size=POPULATION), inside)

    def apart(values: Scores) -> float:
        return float(values[inside].mean() - values[~inside].mean())

    return {"group_difference": apart(judge), "group_difference_beyond_reference": apart(judge - clinician)}


@cache
def _error_truths() -> dict[str, float]:
    generator = np.random.default_rng(20_260_109)
    ward, length = generator.random(POPULATION) < SMALLER, generator.normal(size=POPULATION)
    judge, words = _erring(generator, generator.normal(size=POPULATION), ward, length)
    design = np.column_stack([np.ones(POPULATION), ward, length])
    mean, group, doubling = np.linalg.lstsq(design, judge - words[0], rcond=None)[0].tolist()
    return {"error_mean": mean, "error_effect, group": group, "error_effect, length": doubling}


@cache
def _place_truths() -> dict[str, float]:
    generator = np.random.default_rng(20_260_110)
    first, second = _both_orders(generator, POPULATION, POPULATION, 1)
    return {
        "first_place_bias": float((first - second).mean() / 2),
        "consistent": float((first == second).mean()),
        "reversed": float((first != second).mean()),
        "first_place_share": float((first.mean() + 1 - second.mean()) / 2),
    }


@cache
def _consistency_truths() -> dict[str, float]:
    from scipy.stats import spearmanr

    generator = np.random.default_rng(20_260_111)
    clinician, judge = _dimensions(generator, generator.normal(size=POPULATION))
    correlation = [spearmanr(table).statistic for table in (judge, clinician)]
    pairs = [correlation[0][place] for place in ((0, 1), (0, 2), (1, 2))]
    spread = judge.var(axis=0).sum() / judge.sum(axis=1).var()
    return {
        "spearman of two dimensions": float(correlation[0][0, 1]),
        "mean_correlation": float(np.mean(pairs)),
        "cronbach_alpha": float(1.5 * (1 - spread)),
        "spearman_less_reference": float(correlation[0][0, 1] - correlation[1][0, 1]),
    }
