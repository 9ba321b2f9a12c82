"""What a reader of an agreement table must know of how it was made."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from medjury.analysis.agreement._design import Design
from medjury.statistics import counted
from medjury.tables import ABSENT, SCORED, Grid, RatingTable


def nothing_in_common(grids: Sequence[Grid], design: Design) -> str:
    """Why no statistic exists, with ids from both sides where they never meet."""
    first, second = (
        design.reference[0],
        next(each for each in design.roles.raters if each != design.reference[0]),
    )
    for grid in grids:
        ids = [
            sorted({str(item) for item in grid.items[grid.states[name] != ABSENT]})[:3]
            for name in (first, second)
        ]
        if ids[0] and ids[1] and not ((grid.states[first] == SCORED) & (grid.states[second] == SCORED)).any():
            shown = [", ".join(map(repr, some)) for some in ids]
            return (
                f"no statistic exists: {first!r} and {second!r} scored no common item. "
                f"Items of {first!r}: {shown[0]} …; of {second!r}: {shown[1]} …. "
                "Check that the ids, and the systems, are written alike."
            )
    return "no statistic exists for these ratings; every row says why"


def unequal_warning(table: RatingTable) -> list[str]:
    """What to know of ratings whose answers were drawn with unequal probabilities."""
    if not table.unequal:
        return []
    names = ", ".join(table.unequal)
    return [
        f"the answers that {names} rated were drawn with unequal probabilities: exact match, differences, kappas, "
        "correlations and severe errors are weighted by them and hold for all answers; other statistics are left "
        "undefined"
    ]


def notes_on(
    table: RatingTable, grids: Sequence[Grid], design: Design, apart: Sequence[str] = ()
) -> tuple[str, ...]:
    """How the numbers were made; what follows from other dimensions has no scale to ask for."""
    notes = []
    if table.left_aside:
        notes.append(f"{counted(table.left_aside, 'case')} served development and count nowhere here")
    if apart:
        notes.append(
            f"not pooled, as yes/no questions are no grades: {', '.join(apart)} (name them to pool them)"
        )
    derived = {each.name for each in table.dimensions if each.derived}
    bare = [grid.dimension for grid in grids if grid.scale is None and grid.dimension not in derived]
    if bare:
        said = "the pooled dimensions have no common scale"
        if design.by != "all":
            said = f"no scale was given for {', '.join(bare)}"
        notes.append(
            f"{said}: kappas take whole-number grades one apart, whatever "
            "their range; coefficients that depend on the number of grades, ceiling and floor are left "
            "undefined. Give the scale to have them."
        )
    named = {grid.scale.source for grid in grids if grid.scale is not None and grid.scale.source != "given"}
    notes += [f"scale taken from {source}" for source in sorted(named)]
    if len(design.reference) > 1:
        rule = "adjudicated by " + design.adjudicator if design.adjudicator else design.consensus
        notes.append(f"consensus: {rule} of {', '.join(design.reference)}")
        if design.consensus == "majority" and any(
            table.rule_on(grid.dimension, "majority") == "median" for grid in grids
        ):
            notes.append("a composite's scores are no grades, so that its consensus is the median")
    if design.roles.jurors:
        quorum = table.jury_rule.quorum
        enough = "more than half" if quorum is None else f"{quorum} or more"
        jurors = ", ".join(design.roles.jurors)
        notes.append(f"jury: {table.jury_rule.rule} of {jurors}, where {enough} of them scored")
    if any(len(np.unique(grid.systems)) > 1 for grid in grids):
        notes.append(
            "pooled rows mix systems: read the between- and within-system rows beside them. The baseline "
            "predicts each reference score by the mean of the same system's other cases, cross-fitted in "
            "five folds of cases"
        )
    notes.append(
        "icc_3_k_z is consistency on z-scores, 2r/(1+r) for two raters, blind to any offset: read it with "
        "pearson and icc_2_1. It averages the references, then standardises; icc_3_k_z_raters_first standardises "
        "every rater over all of his or her items, then averages"
    )
    return tuple(notes)
