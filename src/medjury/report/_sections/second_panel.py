"""The second panel: is the jury nearer to the reference than other clinicians are, before and after calibration?"""

from __future__ import annotations

from medjury.foundation.errors import MedjuryError
from medjury.report._html import Cell, Html, bullets, element, paragraph
from medjury.report._material import Material, Section
from medjury.statistics import percent, shown
from medjury.validation import PanelComparison, PanelWin, against_panel, panel_of

_METRICS = {
    "offset": "offset",
    "rmse": "RMSE",
    "spearman": "Spearman's rho",
    "kappa_quadratic": "weighted kappa",
}
_TITLE = "Beside the second panel"


def section(material: Material) -> Section | None:
    evidence = material.evidence
    panel = panel_of(evidence.table)
    reference = tuple(name for name in evidence.clinicians if name not in panel)
    if not panel or not reference or not evidence.rater:
        return None
    try:
        found = against_panel(
            evidence.table,
            raters=evidence.named[0],
            reference=reference,
            confidence=evidence.confidence,
            resamples=evidence.resamples,
            seed=evidence.seed,
        )
    except MedjuryError as error:
        return Section("second-panel", _TITLE, paragraph(str(error), class_="note"))
    if not found.rows:
        text = "No answer was scored by the reference, the second panel and a judge."
        return Section("second-panel", _TITLE, paragraph(text, class_="note"))
    lead = (
        f"Some of the same answers were scored again, by {', '.join(found.panel)}. On those, each rater and the "
        "second panel are compared with the reference. The win rate is the share of resamples of cases in which "
        "the rater is nearer, half for a tie."
    )
    warnings = [each for each in found.warnings if each not in evidence.table.warnings]
    body = (
        paragraph(lead)
        + _before_after(material, found)
        + _wins(material, found)
        + _safety(material, found)
        + bullets(warnings)
    )
    return Section("second-panel", _TITLE, Html(body))


def _before_after(material: Material, found: PanelComparison) -> Html:
    """The rater on trial, before and after, in one line a metric; all others are in the table that follows."""
    evidence = material.evidence
    sides = {(row.dimension, row.metric, row.stage): row for row in found.rows if row.rater == evidence.rater}
    rows: list[tuple[Cell, ...]] = []
    for dimension, metric in dict.fromkeys((row.dimension, row.metric) for row in found.rows):
        before, after = (sides.get((dimension, metric, stage)) for stage in ("as scored", "calibrated"))
        if before is not None:
            cells = [
                cell for row in (before, after) for cell in (_share(row), None if row is None else row.delta)
            ]
            rows.append((evidence.label(dimension), _METRICS[metric], before.n, *cells))
    return material.exhibits.table(
        "second-panel-before-after",
        (
            "dimension",
            "metric",
            "n",
            "win rate as scored (%)",
            "how much nearer",
            "calibrated (%)",
            "calibrated: how much nearer",
        ),
        rows,
        caption=f"How {evidence.rater} stands beside the second panel, before and after calibration (out of fold), "
        f"with {percent(evidence.confidence)} intervals; above 50 % it is nearer to the reference",
        digits=(3, 3, 0, 1, 3, 1, 3),
        shown=48,
    )


def _share(row: PanelWin | None) -> float | None:
    return None if row is None or row.win_rate is None else 100 * row.win_rate


def _wins(material: Material, found: PanelComparison) -> Html:
    rows: list[tuple[Cell, ...]] = [
        (
            material.evidence.label(row.dimension),
            row.rater,
            row.stage,
            _METRICS[row.metric],
            row.n,
            _share(row),
            row.delta,
        )
        for row in found.rows
    ]
    return material.exhibits.table(
        "second-panel",
        ("dimension", "rater", "scores", "metric", "n", "win rate (%)", "how much nearer"),
        rows,
        caption="Every rater beside the second panel. Win rates as scored and calibrated (out of fold), with "
        f"{percent(material.evidence.confidence)} intervals",
        digits=(3, 3, 3, 3, 0, 1, 3),
        shown=80,
        folded=True,
    )


def _safety(material: Material, found: PanelComparison) -> Html:
    rows: list[tuple[Cell, ...]] = [
        (
            material.evidence.label(row.dimension),
            row.rater,
            f"{row.errors} of {row.dangerous}",
            row.rate,
            f"{row.panel_errors} of {row.panel_dangerous}",
            row.panel_rate,
            f"{shown(row.lower_flat)} ({shown(row.lower_jeffreys)})",
            row.both,
            f"{shown(row.lower_paired_flat)} ({shown(row.lower_paired_jeffreys)})",
        )
        for row in found.safety
    ]
    if not rows:
        return Html("")
    table = material.exhibits.table(
        "second-panel-severe-errors",
        (
            "dimension",
            "rater",
            "errors",
            "rate",
            "panel's errors",
            "panel's rate",
            "P(rater's is lower)",
            "scored by both",
            "P on these alone",
        ),
        rows,
        caption="Severe errors of each rater and of the second panel, and the posterior probability that the "
        "rater's rate is lower under a flat prior (in brackets: Jeffreys's). Where the two priors differ, the "
        "prior is speaking and not the data",
        shown=40,
    )
    return Html(element("h3", "Severe errors beside the second panel's") + table)
