"""Calibration: where the jury says 4, what do clinicians say, and what would a calibration change? And the jury
beside others: its best judge, and a second panel of clinicians."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from medjury.analysis.agreement import JuryWorthRow, jury_worth
from medjury.foundation.errors import MedjuryError
from medjury.report._axes import Axes
from medjury.report._exhibits import CLINICIAN_COLOUR, COLOURS, JURY_COLOUR, MARKERS
from medjury.report._html import Cell, Html, bullets, element, paragraph
from medjury.report._material import PANELS, Material, Section, only_some, short
from medjury.report._svg import SOFT
from medjury.statistics import counted, percent, shown
from medjury.tables import Measured
from medjury.validation import STATISTICS, PanelComparison, against_panel

if TYPE_CHECKING:
    from medjury.analysis.calibration import CalibrationStudy, CurvePoint, Reliability


# Calibration curves: what each rater's score becomes, by the final map and by every fold's, composites too.

FINAL = "final"


def calibration_maps(material: Material, study: CalibrationStudy) -> Html:
    evidence = material.evidence
    curves = study.curve_points()
    if not curves:
        return Html("")
    rows: list[dict[str, Cell]] = [
        {
            "dimension": evidence.label(each.dimension),
            "rater": each.rater,
            "map": each.map,
            "score": each.score,
            "calibrated": each.calibrated,
            "answers": each.n,
        }
        for each in curves
    ]
    table = material.exhibits.table(
        "calibration-curves",
        rows,
        caption="Calibration curves: what each score becomes, by the map of all labelled cases and without each "
        "fold; of composites, the mean of the calibrated composite by the composite as scored",
        digits={"score": 2, "calibrated": 2},
        shown=60,
        folded=True,
    )
    names = list(dict.fromkeys(each.dimension for each in curves))
    shown = names[:PANELS]
    raters = list(dict.fromkeys(each.rater for each in curves))
    picture = material.exhibits.panels(
        "calibration-curves",
        shown,
        lambda axes, name: _calibration_maps_draw(
            axes, evidence.label(name), [each for each in curves if each.dimension == name], raters
        ),
        caption="What a score becomes by calibration, rater by rater: the map of all labelled cases (thick) and "
        "the maps that leave out one fold (thin). Thin lines that lie together say that the map is stable. Below "
        "the dotted line a rater's scores are too high, above it too low."
        + only_some(len(shown), len(names), "tables/calibration-curves.csv"),
        alt=f"Calibration curves of {counted(len(raters), 'rater')} on {counted(len(names), 'dimension')}; the "
        "table below has every number.",
    )
    return Html(element("h3", "Calibration curves, rater by rater") + picture + table)


def _calibration_maps_draw(axes: Axes, label: str, curves: list[CurvePoint], raters: list[str]) -> None:
    ends = [min(each.score for each in curves), max(each.score for each in curves)]
    axes.line(ends, ends, SOFT, width=0.8, dash=":")
    for place, rater in enumerate(raters):
        colour, marker = COLOURS[place % len(COLOURS)], MARKERS[place % len(MARKERS)]
        own = [each for each in curves if each.rater == rater]
        for name in dict.fromkeys(each.map for each in own):
            points = [each for each in own if each.map == name]
            final = name == FINAL
            axes.line(
                [each.score for each in points],
                [each.calibrated for each in points],
                colour,
                marker=marker if final else "",
                width=1.6 if final else 0.4,
                label=short(rater, 18) if final else "",
            )
    axes.title = short(label, 28)
    axes.x_name, axes.y_name = "score as given", "calibrated score"


METRICS = {
    "offset": "offset",
    "rmse": "RMSE",
    "spearman": "Spearman's rho",
    "kappa_quadratic": "weighted kappa",
}
_TITLE = "Calibration"
Curves = tuple[Measured, "Reliability", "Reliability"]


def calibration(material: Material) -> Section | None:
    evidence = material.evidence
    if not any(each.grades for each in material.compared) or not evidence.rater:
        return None
    try:
        whole = material.calibration
    except MedjuryError as error:
        return Section("calibration", _TITLE, paragraph(str(error), class_="note"))
    lead = (
        "The gate judges the scores as they were given. This section shows what a calibration to the clinicians "
        "would change: each answer is calibrated by a map that was fitted on other cases. Calibration corrects "
        "offset and size of error; it may lower kappa, because it draws scores to the middle."
    )
    own, others = _body(material, whole), material.folded(lambda other: _body(other, whole))
    refused = bullets(
        f"{evidence.label(each.dimension)}: {each.reason}" for each in whole.only(evidence.rater).refused
    )
    maps = calibration_maps(material, whole)
    return Section("calibration", _TITLE, Html(paragraph(lead) + own + others + maps + refused))


def _body(material: Material, whole: CalibrationStudy) -> Html:
    """Before and after, of one rater."""
    evidence, table = material.evidence, material.evidence.table
    study = whole.only(evidence.rater)
    rows: list[dict[str, Cell]] = [
        {
            "dimension": evidence.label(row.dimension),
            "statistic": METRICS[row.statistic],
            "n": row.n,
            "as scored": row.before,
            "calibrated": row.after,
            "change": row.change,
        }
        for row in study.rows
        if row.statistic in METRICS
    ]
    shown_rows = material.exhibits.table(
        "calibration",
        rows,
        caption=f"The jury against {evidence.reference_words}, on the answers that both scored and that could be "
        "calibrated, before and after isotonic calibration, out of fold, with "
        f"{percent(study.confidence)} intervals",
        shown=60,
    )
    curves: list[Curves] = [
        (table.dimension(each.dimension), *study.reliability(each.rater, each.dimension))
        for each in study.calibrations[:PANELS]
    ]
    picture = _figure(material, curves, len(study.calibrations)) if curves else Html("")
    return Html(picture + shown_rows)


def _figure(material: Material, curves: list[Curves], whole: int) -> Html:
    return material.exhibits.panels(
        "calibration",
        curves,
        _draw,
        caption="Clinicians' mean score by the jury's score, with intervals: as scored (circles) and calibrated on "
        "other cases (squares). A jury that means what it says lies on the dotted line."
        + only_some(len(curves), whole, "tables/calibration.csv"),
        alt="; ".join(
            f"{dimension.label}: mean distance from the line {shown(before.error)} as scored, "
            f"{shown(after.error)} calibrated"
            for dimension, before, after in curves
        ),
    )


def _draw(axes: Axes, found: Curves) -> None:
    dimension, before, after = found
    if dimension.grades is not None:
        ends = [dimension.grades.lowest, dimension.grades.highest]
        axes.line(ends, ends, SOFT, width=0.8, dash=":")
    for curve, colour, marker, label in (
        (before, JURY_COLOUR, "o", "as scored"),
        (after, CLINICIAN_COLOUR, "s", "calibrated"),
    ):
        points = [point for point in curve.points if point.label.value is not None]
        for point in points:
            axes.span(point.label.low, point.label.high, point.score, colour, upright=True, width=0.9)
        axes.line([point.score for point in points], [point.label.value or 0.0 for point in points], colour,
                  marker=marker, width=0.8, label=label)  # fmt: skip
    axes.title = f"{short(dimension.label, 24)} (n = {before.n:,})"
    axes.x_name, axes.y_name = "jury's score", "clinicians' mean score"


_TITLE_BEST_JUDGE = "Is the jury worth more than its best judge?"
_WORDS = {True: "the jury", False: "the best judge", None: "not known"}


def best_judge(material: Material) -> Section | None:
    """Nothing where no clinician rated, or no jury has two or more judges."""
    evidence = material.evidence
    if not evidence.clinicians or not evidence.table.juries:
        return None
    try:
        found = jury_worth(
            evidence.table,
            raters=evidence.named[0],
            reference=evidence.named[1],
            **evidence.how,
        )
    except MedjuryError:
        return None
    several = len({row.jury for row in found.rows}) > 1
    rows: list[dict[str, Cell]] = [
        {
            "dimension": evidence.label(row.dimension),
            **({"jury's name": row.jury} if several else {}),
            "answers": row.n,
            "judges": len(row.jurors),
            "effective votes": row.votes,
            "jury": row.jury_agreement,
            "best judge": row.best,
            "its agreement": row.best_agreement,
            "difference": row.difference,
            "agrees more": _WORDS[row.better],
        }
        for row in found.rows
    ]
    statistics = ", ".join(dict.fromkeys(STATISTICS[row.statistic] for row in found.rows))
    table = material.exhibits.table(
        "jury-worth",
        rows,
        caption=f"Agreement ({statistics}) is with {evidence.reference_words}, on the answers that the jury and "
        f"all of its judges scored, with {percent(evidence.confidence)} intervals. The best judge is the one that "
        "agrees most on these very answers, which flatters it; the interval of the difference allows for that",
        shown=40,
    )
    return Section(
        "jury-worth",
        _TITLE_BEST_JUDGE,
        Html(
            paragraph(_lead(found.rows))
            + bullets(map(material.of_marks, _words(material, found.rows)))
            + table
        ),
    )


def _lead(rows: Sequence[JuryWorthRow]) -> str:
    text = (
        "Judges that make the same errors are one vote, however many they are. Effective votes are how many judges "
        "with unrelated errors would do as well as this jury. A judge's error is its score less the clinicians' "
        "mean. "
    )
    if all(row.corrected for row in rows):
        return text + "The clinicians' own noise, which is in every judge's error, is taken out."
    return text + (
        "Where one clinician rated, the clinician's own noise is in every judge's error and makes the judges look "
        "alike: there the number of votes is too low."
    )


def _words(material: Material, rows: Sequence[JuryWorthRow]) -> list[str]:
    """What the table says, a sentence for each dimension; and who is a copy of whom."""
    several = len({row.jury for row in rows}) > 1
    lines = [
        f"{material.evidence.label(row.dimension)}{f' ({row.jury})' if several else ''}: {_sentence(row)}"
        for row in rows[:12]
    ]
    groups = dict.fromkeys(group for row in rows for group in row.copies)
    for group in groups:
        where = [material.evidence.label(row.dimension) for row in rows if group in row.copies]
        lines.append(
            f"{' and '.join(group)} are in effect copies of one another on {', '.join(dict.fromkeys(where))}: they "
            "give the same score, or make the same errors, nearly always. Together they are one vote."
        )
    return lines


def _sentence(row: JuryWorthRow) -> str:
    votes = (
        f"the votes of its {len(row.jurors)} judges cannot be counted ({row.votes.reason})"
        if row.votes.value is None
        else f"its {len(row.jurors)} judges count as {shown(row.votes, 1)}"
        f" {'vote' if shown(row.votes.value, 1) == '1.0' else 'votes'}"
    )
    if row.difference.value is None:
        return f"{votes}; its agreement cannot be compared with that of its best judge."
    jury, best = shown(row.jury_agreement.value), shown(row.best_agreement.value)
    beside = f"the jury agrees {jury}, its best judge ({row.best}) {best}"
    words = {
        True: "the jury agrees more than any of its judges",
        False: "the best judge alone agrees more than the jury",
        None: "it is not shown that the jury agrees more than its best judge",
    }[row.better]
    return f"{votes}; {beside}: {words}, on {counted(row.n, 'answer')}."


_TITLE_SECOND_PANEL = "Beside the second panel"


def beside_second_panel(material: Material) -> Section | None:
    """Is the jury nearer to the reference than other clinicians are, before and after calibration?"""
    evidence = material.evidence
    panel = evidence.table.people.second_panel
    reference = tuple(name for name in evidence.clinicians if name not in panel)
    if not panel or not reference or not evidence.rater:
        return None
    try:
        found = against_panel(
            evidence.table,
            raters=evidence.named[0],
            reference=reference,
            **evidence.how,
        )
    except MedjuryError as error:
        return Section("second-panel", _TITLE_SECOND_PANEL, paragraph(str(error), class_="note"))
    if not found.rows:
        text = "No answer was scored by the reference, the second panel and a judge."
        return Section("second-panel", _TITLE_SECOND_PANEL, paragraph(text, class_="note"))
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
    return Section("second-panel", _TITLE_SECOND_PANEL, Html(body))


def _before_after(material: Material, found: PanelComparison) -> Html:
    """The rater on trial, before and after, in one line a metric; all others are in the table that follows."""
    evidence = material.evidence
    sides = {(row.dimension, row.metric, row.stage): row for row in found.rows if row.rater == evidence.rater}
    rows: list[dict[str, Cell]] = []
    for dimension, metric in dict.fromkeys((row.dimension, row.metric) for row in found.rows):
        before, after = (sides.get((dimension, metric, stage)) for stage in ("as scored", "calibrated"))
        if before is not None:
            rows.append(
                {
                    "dimension": evidence.label(dimension),
                    "metric": METRICS[metric],
                    "n": before.n,
                    "win rate as scored (%)": _percentage(before.win_rate),
                    "how much nearer": before.delta,
                    "calibrated (%)": None if after is None else _percentage(after.win_rate),
                    "calibrated: how much nearer": None if after is None else after.delta,
                }
            )
    return material.exhibits.table(
        "second-panel-before-after",
        rows,
        caption=f"How {evidence.rater} compares with the second panel, before and after calibration (out of fold), "
        f"with {percent(evidence.confidence)} intervals; above 50 % it is nearer to the reference",
        digits={"win rate as scored (%)": 1, "calibrated (%)": 1},
        shown=48,
    )


def _percentage(share: float | None) -> float | None:
    return None if share is None else 100 * share


def _wins(material: Material, found: PanelComparison) -> Html:
    rows: list[dict[str, Cell]] = [
        {
            "dimension": material.evidence.label(row.dimension),
            "rater": row.rater,
            "scores": row.stage,
            "metric": METRICS[row.metric],
            "n": row.n,
            "win rate (%)": _percentage(row.win_rate),
            "how much nearer": row.delta,
        }
        for row in found.rows
    ]
    return material.exhibits.table(
        "second-panel",
        rows,
        caption="Every rater beside the second panel. Win rates as scored and calibrated (out of fold), with "
        f"{percent(material.evidence.confidence)} intervals",
        digits={"win rate (%)": 1},
        shown=80,
        folded=True,
    )


def _safety(material: Material, found: PanelComparison) -> Html:
    rows: list[dict[str, Cell]] = [
        {
            "dimension": material.evidence.label(row.dimension),
            "rater": row.rater,
            "errors": f"{row.errors} of {row.dangerous}",
            "rate": row.rate,
            "panel's errors": f"{row.panel_errors} of {row.panel_dangerous}",
            "panel's rate": row.panel_rate,
            "P(rater's is lower)": f"{shown(row.lower_flat)} ({shown(row.lower_jeffreys)})",
            "scored by both": row.both,
            "P on these alone": f"{shown(row.lower_paired_flat)} ({shown(row.lower_paired_jeffreys)})",
        }
        for row in found.safety
    ]
    if not rows:
        return Html("")
    table = material.exhibits.table(
        "second-panel-severe-errors",
        rows,
        caption="Severe errors of each rater and of the second panel, and the posterior probability that the "
        "rater's rate is lower under a flat prior (in brackets: Jeffreys's). Where the two priors differ, the "
        "result comes from the prior and not from the data",
        shown=40,
    )
    return Html(element("h3", "Severe errors beside the second panel's") + table)
