"""Triage of a rating table: one dimension, its judges, and what the clinicians said where they did."""

from __future__ import annotations

from typing import Any

from medjury.analysis.calibration._conformal.sets import measure_sets
from medjury.analysis.calibration._maps.calibrator import check_confidence
from medjury.analysis.calibration._maps.folds import FOLDS
from medjury.analysis.calibration._part import judging_roles, jurors_of, jury_of
from medjury.analysis.calibration._triage.automatic import Decide, automatic_decisions
from medjury.analysis.calibration._triage.label_triage import label_triage
from medjury.analysis.calibration._triage.oriented import one_dimension, oriented_part
from medjury.analysis.calibration._triage.review_order import review_order
from medjury.analysis.calibration._triage.triage_result import Asked, Triage
from medjury.foundation.errors import MedjuryError
from medjury.tables import Names, rating_table


def triage(
    table: object,
    *,
    raters: Names | None = None,
    reference: Names | None = None,
    dimensions: Names | None = None,
    confidence: float = 0.95,
    resamples: int | None = None,
    seed: int | None = None,
    high_is_dangerous: bool | None = None,
    threshold: float | None = None,
    gap: float | None = None,
    boundary: float | None = None,
    level: float = 0.9,
    catch: float = 0.8,
    decide_at: float | None = None,
    decide: Decide = "both",
    error: float = 0.05,
    folds: int = FOLDS,
) -> Triage:
    """Rank the units of a rating table for review on one dimension.

    A dangerous answer is one that the reference scored `threshold` or less, by default the table's own rule of
    danger; with `gap`, only severe errors count: those that the jury in addition scored `gap` or more higher.
    Scores of a dimension on which lower is better (the table says so, or `high_is_dangerous`) are read the
    other way round first; `threshold`, `boundary` and `decide_at` are then on the reversed scale, low
    being dangerous. `decide_at` asks which units can be decided automatically at that score. `labels` of the result
    tells, for each label that the run's cases have, how well the jury's score finds the labelled cases.
    """
    table = rating_table(table)
    check_confidence(confidence)
    roles = judging_roles(table, raters, reference, need_reference=False)
    part, turned = oriented_part(table, roles, one_dimension(table, dimensions), high_is_dangerous)
    jury, judges = jury_of(roles), jurors_of(table, roles)
    danger = part.measured.danger(table.rules)
    assert danger is not None
    cut = danger[0] if threshold is None else threshold
    asked = Asked(cut, gap, catch, level, decide_at, error, confidence, folds)
    effort: dict[str, Any] = {
        "resamples": table.resamples(resamples),
        "seed": table.seed(seed),
        "confidence": confidence,
    }
    word = table.danger_word(part.grid, part.measured, roles.reference)
    found = review_order(
        part.scores(jury),
        {name: part.scores(name) for name in judges},
        cases=part.drawn_as,
        grades=part.grades,
        labels=part.labels if roles.reference else None,
        danger=word if roles.reference else None,
        threshold=asked.threshold,
        gap=gap,
        boundary=boundary,
        level=level,
        catch=catch,
        folds=folds,
        **effort,
    )
    sets, automatic = None, None
    if found.sets is not None:
        sets = measure_sets(found.sets, part.labels, cases=part.drawn_as, **effort)
    if decide_at is not None:
        if not roles.reference:
            raise MedjuryError(
                "automatic decisions need a reference: without labels no error can be counted."
            )
        automatic = automatic_decisions(
            part.scores(jury),
            part.labels,
            cases=part.drawn_as,
            scale=part.scale,
            threshold=decide_at,
            error=error,
            decide=decide,
            **effort,
        )
    labels = label_triage(part, jury, table.labels, catch=catch, **effort)
    rule = next((each for each in table.juries if each.name == jury), table.jury_rule)
    return Triage(
        part,
        jury,
        judges,
        asked,
        found,
        sets,
        automatic,
        turned,
        table.warnings,
        labels,
        roles.reference,
        rule,
        word,
    )
