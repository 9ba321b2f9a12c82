"""Ranking from ratings: who ranks the systems, on what, and whether the reference orders them alike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

from medjury.analysis.ranking._agreement import RankingAgreement, ranking_agreement
from medjury.analysis.ranking._benchmark_scores import benchmark_scores, score_table
from medjury.analysis.ranking._drawn import MACRO, Measure
from medjury.analysis.ranking._rank_scores import rank_scores
from medjury.analysis.ranking._ranked import Ranked, ranked_by
from medjury.analysis.ranking._ranking import Part, Ranking
from medjury.analysis.ranking._reference_ranks import reference_ranks
from medjury.analysis.ranking._scores import Missing
from medjury.analysis.ranking._win_rate import Ties
from medjury.foundation.errors import MedjuryError
from medjury.instruments import Composite
from medjury.tables import Names, RatingTable, rating_table

if TYPE_CHECKING:
    from medjury.analysis.calibration import CalibrationStudy

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
    costs: Mapping[str, float] | None = None,
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
    system, `reference_ranks` estimates the reference's own ranking from these labels and the jury's scores;
    `labels_random` is your word that the labelled cases are a random draw.
    """
    settings: dict[str, Any] = {"by": by, "ties": ties, "confidence": confidence}
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
        dimensions = table.settings.rank_by
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
    """Of `rank` with isotonic calibration and nothing else said, the rows on the orders after it alone; from the
    study of the whole table, unless what is ranked rests on other dimensions than it calibrated."""
    table = rating_table(table)
    before = ranked_by(table, None, None, table.settings.rank_by, (), (), "refuse")
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
