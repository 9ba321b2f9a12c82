"""Text metrics beside the clinicians' labels: a low error rate is no proof of safety."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from medjury.foundation.errors import MedjuryError
from medjury.report._exhibits import COLOURS, MARKERS
from medjury.report._figure import Figure
from medjury.report._html import Cell, Html, paragraph
from medjury.report._material import Material, Section, short
from medjury.statistics import percent, shown

if TYPE_CHECKING:
    from medjury.texts.metrics import MetricEvaluation

_FAMILIES = ("edit distance", "n-gram overlap", "learned")
# More lines than this make no readable figure.
_LINES = 40
_NOTE = (
    "Enrichment is the mean at label 2 less that at label 0, on scores turned so that higher is better: the more "
    "negative, the better the metric sees harm. Kendall's tau-b is of the metric as it is. "
    "Harm called worse: of every pair of an answer at label 2 and one at label 0, how often the metric calls the "
    "first worse (half: as good as chance)."
)


def text_metrics(material: Material) -> Section | None:
    evidence = material.evidence
    if not evidence.clinicians or "metric" not in evidence.table.raters.values():
        return None
    from medjury.texts.metrics import metrics_beside_labels

    try:
        found = metrics_beside_labels(evidence.table, reference=evidence.clinicians)
    except MedjuryError:  # no dimension has labels of 0, 1 and 2
        return None
    rows: list[dict[str, Cell]] = [
        {
            "dimension": evidence.label(row.dimension),
            "metric": row.metric.name,
            "enrichment (2 − 0)": row.enrichment,
            "Kendall's tau-b": row.kendall_tau_b,
            "harm called worse": row.aligned,
            "answers": row.enrichment.n,
            "metric undefined": row.n_undefined,
            "clinicians differ": row.n_undecided,
        }
        for row in found.rows
    ]
    if not rows:
        return None
    table = material.exhibits.table(
        "text-metrics",
        rows,
        caption="Text metrics against the clinicians' label, where they agree on one",
        shown=60,
    )
    return Section(
        "text-metrics",
        "Which text metric sees harm",
        Html(paragraph(_NOTE, class_="note") + _picture(material, found.rows) + table),
    )


def _picture(material: Material, rows: Sequence[MetricEvaluation]) -> Html:
    """Enrichment of every metric of the first dimension, the best on top."""
    known = [row for row in rows if row.dimension == rows[0].dimension and row.enrichment.value is not None]
    drawn = sorted(known, key=lambda row: row.enrichment.value or 0.0)[:_LINES]
    if not drawn:
        return Html("")
    evidence = material.evidence
    return material.exhibits.figure(
        "text-metrics",
        _size(drawn),
        lambda figure: _draw(figure, drawn),
        caption=f"{evidence.label(rows[0].dimension)}: enrichment of each text metric with "
        f"{percent(evidence.confidence)} intervals that resample whole patients (calls); the further left, the "
        "better the metric sees harm.",
        alt=_alt(drawn),
    )


def enrichment_svg(rows: Sequence[MetricEvaluation]) -> str:
    """The figure by itself: every metric that has a value, the best on top."""
    drawn = sorted(
        (row for row in rows if row.enrichment.value is not None), key=lambda row: row.enrichment.value or 0.0
    )
    figure = Figure(_size(drawn))
    _draw(figure, drawn)
    return figure.svg(_alt(drawn))


def _size(rows: Sequence[MetricEvaluation]) -> tuple[float, float]:
    return 7.5, 1.0 + 0.22 * len(rows)


def _alt(rows: Sequence[MetricEvaluation]) -> str:
    return "; ".join(f"{row.metric.name}: {shown(row.enrichment.value)}" for row in rows)


def _draw(figure: Figure, rows: Sequence[MetricEvaluation]) -> None:
    titles = [short(row.metric.title, 26) for row in rows]
    axes = figure.lines(titles, x_name="mean score at significant impact less that at none")
    axes.rule(x=0, colour=COLOURS[6])
    for number, family in enumerate(_FAMILIES):
        for place, row in enumerate(rows):
            if row.metric.family == family:
                found, colour = row.enrichment, COLOURS[number]
                axes.estimate(found, place, colour, marker=MARKERS[number], label=family)
