"""ICC on z-scores: jury, judges and text metrics beside the clinicians, in both orders of standardising."""

from __future__ import annotations

from collections.abc import Sequence

from medjury.report._html import Cell, Html
from medjury.report._material import Material
from medjury.statistics import Estimate, percent

_FIRST, _AVERAGED = "icc_3_k_z_raters_first", "icc_3_k_z"
_HUMANS, _PAIRS = "the other references", "each reference"


_OTHER_WAY = (
    ". A text metric that falls where the grade rises is below zero here, where the number says nothing"
)


def _other_way(rows: Sequence[tuple[Cell, ...]]) -> str:
    """A sentence where a value is below zero: the coefficient has no lower limit, and its size means nothing."""
    values = [cell.value for row in rows for cell in row if isinstance(cell, Estimate)]
    return _OTHER_WAY if any(value is not None and value < 0 for value in values) else ""


def standardised(material: Material) -> Html:
    """A text metric has no other common ground with clinicians; without one this is for whoever opens it."""
    evidence = material.evidence
    dimensions = [each for each in material.compared if each.derived] or list(material.compared)
    if len(evidence.clinicians) < 2 or not any(
        kind == "metric" for kind in map(evidence.table.raters.get, evidence.raters)
    ):
        return Html("")
    found = evidence.also(_AVERAGED, _FIRST, dimensions=[each.name for each in dimensions], groups=True)
    if found is None:
        return Html("")
    cells = {
        (row.dimension, row.rater, row.statistic): row
        for row in found.rows
        if row.level == "item"
        and not row.system
        and row.reference == (_PAIRS if row.rater == _HUMANS else evidence.main_reference)
    }
    rows: list[tuple[Cell, ...]] = []
    for dimension in dimensions:
        for rater in (*evidence.raters, _HUMANS):
            sides = [cells.get((dimension.name, rater, name)) for name in (_AVERAGED, _FIRST)]
            first = sides[1] or sides[0]
            if first is not None and first.estimate.value is not None:
                who = "clinicians with one another" if rater == _HUMANS else rater
                pairs = (
                    first.estimate.method.split("mean over ")[-1].split(",")[0] if rater == _HUMANS else ""
                )
                estimates = (None if row is None else row.estimate for row in sides)
                rows.append((dimension.label, who, first.estimate.n, *estimates, pairs))
    return material.exhibits.table(
        "standardised",
        ("dimension", "rater", "n", "averaged first", "each rater first", "pairs"),
        rows,
        caption=f"ICC(3,k) on z-scores with the clinicians, on the answers that both scored, with "
        f"{percent(evidence.confidence)} intervals: the "
        "clinicians averaged and then standardised, or each standardised over all of his or her answers and then "
        "averaged. It is blind to any offset. The clinicians' own is the mean over the pairs that share two "
        f"answers or more{_other_way(rows)}",
        shown=40,
    )
