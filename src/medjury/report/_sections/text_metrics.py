"""Text metrics beside the clinicians' labels: a low error rate is no proof of safety."""

from __future__ import annotations

from medjury.errors import MedjuryError
from medjury.metrics import metrics_beside_labels
from medjury.report._html import Cell, Html, paragraph
from medjury.report._material import Material, Section

_NOTE = (
    "Enrichment is the mean at label 2 less that at label 0, on scores turned so that higher is better: the more "
    "negative, the better the metric sees harm. Kendall's tau-b is of the metric as it is."
)


def section(material: Material) -> Section | None:
    evidence = material.evidence
    if not evidence.clinicians or "metric" not in evidence.table.raters.values():
        return None
    try:
        found = metrics_beside_labels(evidence.table, reference=evidence.clinicians)
    except MedjuryError:  # no dimension has labels of 0, 1 and 2
        return None
    rows: list[tuple[Cell, ...]] = [
        (
            evidence.label(row.dimension),
            row.metric,
            row.evaluation.enrichment,
            row.evaluation.kendall_tau_b,
            row.evaluation.enrichment.n,
            row.evaluation.n_undefined,
            row.n_undecided,
        )
        for row in found.rows
    ]
    if not rows:
        return None
    table = material.exhibits.table(
        "text-metrics",
        (
            "dimension",
            "metric",
            "enrichment (2 − 0)",
            "Kendall's tau-b",
            "answers",
            "metric undefined",
            "clinicians differ",
        ),
        rows,
        caption="Text metrics against the clinicians' label, where they agree on one",
        shown=60,
    )
    return Section(
        "text-metrics", "Which text metric sees harm", Html(paragraph(_NOTE, class_="note") + table)
    )
