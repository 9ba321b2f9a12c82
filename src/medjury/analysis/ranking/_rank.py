"""Ranking from ratings: who ranks the systems, on what, and whether the reference orders them alike."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from medjury.analysis.calibration import powered_means
from medjury.analysis.ranking._measures import MACRO, SAME, Measure, Ties, win_shares
from medjury.analysis.ranking._rank_scores import rank_scores, read_costs
from medjury.analysis.ranking._ranked import Ranked, ranked_by
from medjury.analysis.ranking._ranking import (
    Part,
    Ranking,
    RankingAgreement,
    ReferenceStanding,
    order_agreement,
)
from medjury.analysis.ranking._scores import Missing, SystemScores, benchmark_scores, score_table
from medjury.analysis.ranking._ties import in_order, separate
from medjury.foundation.errors import MedjuryError
from medjury.instruments import Composite
from medjury.statistics import Floats
from medjury.tables import UNSCORED, Names, RatingTable, rating_table

if TYPE_CHECKING:
    from medjury.analysis.calibration import CalibrationStudy


# The clinicians' ranking, estimated from those answers that they labelled and from the jury's scores of all.
#
# A jury's own ranks say what the jury thinks, however many cases it judges. Where clinicians labelled some cases,
# the mean of every system is prediction-powered, so its error is right however biased the jury is, and the ranks
# that the separations leave open are ranks by the clinicians.


def reference_ranks(
    ranked: Ranked, *, confidence: float, resamples: int, seed: int, labels_random: bool
) -> Part[ReferenceStanding]:
    """Rank systems by the reference's mean over dimensions. Ranks hold together: all pairs are looked at at once,
    by the largest difference among draws of the cases' errors (Gaussian multipliers)."""
    if ranked.composites or "benchmark" in ranked.table.rows.columns:
        raise MedjuryError("it is estimated for dimensions, not for composites or benchmarks")
    if len(ranked.raters) != 1:
        raise MedjuryError("one jury is needed, or one judge: name it (raters=RATER)")
    systems = list(ranked.table.systems)
    dimensions = list(ranked.grids)
    labels, scores, groups, cases = _answers(ranked)
    order = [_group(system, name) for system in systems for name in dimensions]
    averages, errors, labelled_cases, warnings = powered_means(
        labels,
        scores,
        groups=groups,
        order=order,
        cases=cases,
        size=len(dimensions),
        labels_random=labels_random,
        confidence=confidence,
    )
    values = np.array([each.value for each in averages], dtype=np.float64)
    draws = np.random.default_rng(seed).normal(size=(max(resamples, 200), len(errors))) @ errors
    _, apart = separate(values, values + draws, freedom=labelled_cases - 1, confidence=confidence)
    rows = tuple(
        ReferenceStanding(systems[place], rank, low, high, averages[place], letters, averages[place].n)
        for place, rank, low, high, letters in in_order(values, systems, apart, same=SAME)
    )
    whose = ", ".join(ranked.reference)
    counted = sum(each.n for each in averages)
    title = f"as {whose} would rank them: estimated from {counted:,} labels and the scores of " \
            f"{', '.join(ranked.raters)} ({ranked.scale})"  # fmt: skip
    return Part(title, rows, tuple(dict.fromkeys(warnings)))  # once, not for every mean


def _answers(ranked: Ranked) -> tuple[list[float], list[float], list[str], list[str]]:
    """Of every answer that was labelled or judged: label, jury score, group of system and dimension, case; on the
    common scale."""
    labels: list[float] = []
    scores: list[float] = []
    groups: list[str] = []
    cases: list[str] = []
    for name, grid in ranked.grids.items():
        slope, shift = ranked.lines[name]
        label = ranked.table.reference_scores(grid, ranked.reference) * slope + shift
        score = grid.scores[ranked.raters[0]] * slope + shift
        known = ~(np.isnan(label) & np.isnan(score)) | (grid.states[ranked.raters[0]] == UNSCORED)
        known &= grid.systems != ""
        labels += label[known].tolist()
        scores += score[known].tolist()
        groups += [_group(system, name) for system in grid.systems[known].tolist()]
        cases += [str(case) for case in grid.clusters[known].tolist()]
    return labels, scores, groups, cases


def _group(system: str, dimension: str) -> str:
    return f"{system}, {dimension}"


# Two rankings of the same systems: does the jury order them as the clinicians do?


def ranking_agreement(
    first: SystemScores,
    second: SystemScores,
    *,
    by: Measure = MACRO,
    ties: Ties = "half",
) -> RankingAgreement:
    """Kendall's tau-b between two rankings of the same systems, such as a jury's and the clinicians'.

    It has no interval. An order is a step: systems that lie close change places with the smallest change of a mean.
    Resampling adds noise to noise, so resampled orders are more alike by chance than the systems are. Quantiles of
    resampled taus held the true one in 99 to 100 % of simulated studies of three systems, in 64 to 100 % with five,
    and in none with eight. Read it beside the tie groups, which show which systems are separated.
    """
    if set(first.systems) != set(second.systems):
        odd = sorted(set(first.systems) ^ set(second.systems))
        raise MedjuryError(f"the rankings must hold the same systems; only one of them has {odd[0]!r}.")
    cases = {name for each in (first, second) for block in each.blocks for name in block.clusters}
    one, two = (_measure(each.means, by, ties) for each in (first, second))
    return order_agreement(first.systems, one, two, n=len(cases) or len(first.benchmarks))


def _measure(means: Floats, by: Measure, ties: Ties) -> Floats:
    """From `(systems, benchmarks)` to what ranks the systems."""
    return np.asarray((means if by == MACRO else win_shares(means, ties)).mean(axis=1))


_UNPAIRED = (
    "the reference scored different cases of each system, so the two orders are of the answers that it scored, "
    "unpaired: a system whose cases were easier looks better in both"
)
Calibration = Literal["isotonic", "offset", "linear", "ordinal"]


def rank(
    table: object,
    *,
    raters: Names | None = None,
    reference: Names | None = None,
    dimensions: Names | None = None,
    confidence: float = 0.95,
    resamples: int | None = None,
    seed: int | None = None,
    by: Measure = MACRO,
    ties: Ties = "half",
    missing: Missing = "refuse",
    composites: Sequence[Composite | str] = (),
    lower_is_better: Sequence[str] = (),
    calibration: Calibration | None = None,
    costs: Mapping[str, float] | str | os.PathLike[str] | None = None,
    alpha: float = 0.05,
    power: float = 0.8,
    scale: Sequence[float] | None = None,
    labels_random: bool = False,
) -> Ranking:
    """Rank systems by ratings, or by a table of benchmark scores (`system, benchmark, score`, one row each or one
    per `item`; its `scale` turns `lower_is_better` benchmarks around).

    The jury ranks, its own rows or formed of the judges; without one, those who are named or are left. Every
    dimension that raters gave themselves is a benchmark, unless the study says what to `rank_by`. What follows from
    others is none, unless it is named or is one of the `composites`, which are then ranked alone. Where lower is
    better the score is turned around. Where all dimensions share a scale, means are in its grades, else in shares
    of each scale (`Ranking.scale`).

    `by` is what orders and separates the systems: the macro average (the mean over benchmarks, each weighing the
    same) or the win rate, which needs no common scale but sees only who is ahead, not by how much. Intervals
    resample whole cases (patients where one has several), or benchmarks where there is nothing else: `unit` says
    which. Resampling benchmarks answers "would another set of benchmarks rank them so?", resampling cases "would
    other cases of these benchmarks?". With `calibration` the systems are ranked by scores calibrated to the
    reference, each by a map that never saw its case.

    A jury's ranks are ranks as this jury sees them. Where the reference labelled at least five cases of every
    system, `reference_ranks` estimates the reference's own ranking from these labels and the jury's scores; by
    `labels_random` you assert that the labelled cases are a random draw. `costs` are by system, or a table with the
    columns system and cost.
    """
    settings: dict[str, Any] = {"by": by, "ties": ties, "confidence": confidence}
    if isinstance(costs, str | os.PathLike):
        costs = read_costs(costs)
    others: dict[str, Any] = {"costs": costs, "alpha": alpha, "power": power}
    benchmarks = score_table(table)
    if benchmarks is not None:
        if calibration and not reference:
            raise MedjuryError("--calibrate needs --reference: the clinicians to calibrate to")
        if raters or reference or composites or dimensions:
            raise MedjuryError(
                "raters, reference, dimensions and composites belong to a table of ratings; this one holds "
                "benchmark scores."
            )
        scores = benchmark_scores(benchmarks, lower_is_better=lower_is_better, scale=scale, missing=missing)
        return rank_scores(scores, resamples=resamples, seed=seed, **settings, **others)
    table = rating_table(table, scale=scale)
    if dimensions is None and not composites:
        dimensions = table.rank_by
    settings |= {"resamples": table.resamples(resamples), "seed": table.seed(seed)}
    before = ranked_by(table, raters, reference, dimensions, composites, lower_is_better, missing)
    stages = {"": before}
    notes: list[str] = []
    if calibration is not None:
        after, notes = _calibrated(table, before, calibration, settings["seed"], raters, reference)
        stages = {"before": before, "after": after}
    scores = list(stages.values())[-1].scores(before.raters)
    agreement = None
    try:
        agreement = _agreement(before, stages, by, ties)
    except MedjuryError as error:
        if reference is not None:
            raise
        notes.append(f"not compared with the ranking by {', '.join(before.reference)}: {error}")
    estimated = None
    if before.reference:
        how = {name: settings[name] for name in ("confidence", "resamples", "seed")}
        try:
            estimated = reference_ranks(before, labels_random=labels_random, **how)
        except MedjuryError as error:
            notes.append(f"the ranking by {', '.join(before.reference)} is not estimated: {error}")
    machines = [
        kind for name in before.raters if (kind := table.raters.get(name, "jury")) in ("judge", "jury")
    ]
    seen_by = f", as this {machines[0]} sees it" if len(machines) == 1 else ", as these judges see it"
    return rank_scores(
        replace(scores, warnings=(*table.warnings, *notes, *scores.warnings)),
        agreement=agreement,
        reference_ranks=estimated,
        seen_by=seen_by if machines else "",
        **settings,
        **others,
    )


def agreement_after(table: object, study: CalibrationStudy) -> Part[RankingAgreement] | None:
    """Of `rank` with isotonic calibration and nothing else, the rows on the orders after it alone; from the
    study of the whole table, unless what is ranked rests on other dimensions than it calibrated."""
    table = rating_table(table)
    before = ranked_by(table, None, None, table.rank_by, (), (), "refuse")
    known = {each.dimension for each in study.calibrations} | {each.dimension for each in study.refused}
    if known == set(before.calibrated_by):
        after = before.calibrated(study)
    else:
        after, _ = _calibrated(table, before, "isotonic", table.seed(None))
    return _agreement(before, {"after": after})


def _calibrated(
    table: RatingTable,
    before: Ranked,
    method: Calibration,
    seed: int,
    raters: Names | None = None,
    reference: Names | None = None,
) -> tuple[Ranked, list[str]]:
    """The same with scores calibrated to the reference, and what could not be."""
    from medjury.analysis.calibration import calibrate

    if not before.reference:
        raise MedjuryError("--calibrate needs --reference: the clinicians to calibrate to")
    study = calibrate(
        table,
        raters=raters,
        reference=reference,
        dimensions=before.calibrated_by,
        method=method,
        seed=seed,
        composites=False,
    )
    return before.calibrated(study), [str(each) for each in study.refused]


def _agreement(
    before: Ranked, stages: Mapping[str, Ranked], by: Measure = MACRO, ties: Ties = "half"
) -> Part[RankingAgreement] | None:
    """The order of each judge alone, then of those who rank, beside that of the reference, in every stage: before
    calibration and after it, where there is one."""
    if not before.reference:
        return None
    whose = ", ".join(before.reference)
    read, notes = Ranked.scores, tuple[str, ...]()
    try:
        truth = read(before, before.reference)
    except MedjuryError as not_paired:
        read, notes = Ranked.on_labelled, (_UNPAIRED,)
        try:
            truth = read(before, before.reference)
        except MedjuryError:
            raise not_paired from None
    compared = [
        (stage, raters, read(ranked, raters))
        for stage, ranked in stages.items()
        for raters in (*((judge,) for judge in before.judges), before.raters)
    ]
    rows = [
        replace(ranking_agreement(one, truth, by=by, ties=ties), rater=", ".join(raters), calibration=stage)
        for stage, raters, one in compared
    ]
    notes = notes or tuple(f"the ranking by {whose}: {warning}" for warning in truth.warnings)
    return Part(f"Kendall's tau-b with the ranking by {whose}", tuple(rows), notes)
