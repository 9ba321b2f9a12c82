"""Few classes: accuracy and F1 of every rater, class by class."""

from __future__ import annotations

import numpy as np

from medjury.report._html import Cell, Html, paragraph
from medjury.report._material import Material, Section
from medjury.statistics import percent
from medjury.tables import Measured
from medjury.validation import clustered_share

# With more grades than this a class is a grade, and agreement is what to ask for.
_MOST = 3
_OVERALL = {"accuracy": "accuracy", "macro_f1": "macro F1", "kappa": "Cohen's kappa"}


def section(material: Material) -> Section | None:
    evidence = material.evidence
    few = [each for each in material.compared if each.grades and len(each.grades.values) <= _MOST]
    if not few:
        return None
    levels = sorted({value for each in few for value in _levels(each)})
    named = {**_OVERALL, **{f"f1_class_{level:g}": f"F1 of {level:g}" for level in levels}}
    found = evidence.also(*named, dimensions=[each.name for each in few])
    if found is None:
        return None
    cells = {
        (row.dimension, row.rater, row.statistic): row
        for row in found.rows
        if row.reference == evidence.main_reference and row.level == "item" and not row.system
    }
    rows: list[tuple[Cell, ...]] = []
    for dimension in few:
        for rater in evidence.raters:
            one = cells.get((dimension.name, rater, "accuracy"))
            if one is not None:
                estimates = (cells.get((dimension.name, rater, name)) for name in named)
                shown = (None if row is None else row.estimate for row in estimates)
                rows.append((dimension.label, rater, one.counts.n, one.counts.n_unscored, *shown))
    if not rows:
        return None
    table = material.exhibits.table(
        "classes",
        ("dimension", "rater", "n", "unscored", *named.values()),
        rows,
        caption="Accuracy, F1 and kappa of each rater against the clinicians, scores between classes rounded half "
        f"up, with {percent(evidence.confidence)} BCa intervals; macro F1 is the mean over the classes that occur",
        shown=60,
    )
    lead = (
        "Accuracy follows the class that is most frequent; F1 tells for each class how far a rater finds its "
        "answers and no others. A class that clinicians gave only a few times has no interval."
    )
    return Section("classes", "Accuracy and F1", Html(paragraph(lead) + table + _together(material, few)))


def _together(material: Material, dimensions: list[Measured]) -> Html:
    """All clinicians at once: Fleiss' kappa, and how often everybody said the same."""
    evidence = material.evidence
    found = evidence.also("fleiss_kappa", dimensions=[each.name for each in dimensions], groups=True)
    rows: list[tuple[Cell, ...]] = []
    for row in found.rows if found is not None else ():
        if row.rater != "among references":
            continue
        grid = evidence.grid(row.dimension)
        said = np.column_stack([grid.scores[name] for name in evidence.clinicians])
        whole = ~np.isnan(said).any(axis=1)
        same = (said[whole] == said[whole][:, :1]).all(axis=1)
        share = clustered_share(
            evidence.table, same.tolist(), grid.items[whole].tolist(), confidence=evidence.confidence
        )
        label = evidence.label(row.dimension)
        rows.append((label, len(evidence.clinicians), row.counts.n, row.estimate, int(whole.sum()), share))
    if not rows:
        return Html("")
    return material.exhibits.table(
        "classes-clinicians",
        ("dimension", "clinicians", "rated by two", "Fleiss' kappa", "rated by all", "all say the same"),
        rows,
        caption="The clinicians among themselves: Fleiss' kappa over the answers that two or more rated, and of "
        f"those that all rated the share on which nobody differs, with {percent(evidence.confidence)} intervals",
    )


def _levels(dimension: Measured) -> tuple[float, ...]:
    return () if dimension.grades is None else tuple(float(value) for value in dimension.grades.values)
