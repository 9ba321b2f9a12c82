"""Calibration: where the jury says 4, what do clinicians say, and what would a calibration change?"""

from __future__ import annotations

import numpy as np

from medjury.calibration import Change, Reliability, before_after, cross_fit, reliability
from medjury.errors import MedjuryError
from medjury.report._exhibits import CLINICIAN_COLOUR, JURY_COLOUR, SOFT
from medjury.report._html import Cell, Html, bullets, paragraph
from medjury.report._material import PANELS, Material, Section, height, only_some, panels, short
from medjury.validation import Measured

_SHOWN = {
    "offset": "offset",
    "rmse": "RMSE",
    "spearman": "Spearman's rho",
    "kappa_quadratic": "weighted kappa",
}
Found = tuple[Measured, Reliability, Reliability, dict[str, Change]]


def section(material: Material) -> Section | None:
    chosen = [each for each in material.compared if each.grades and not each.derived]
    made: list[Found] = []
    refused = []
    for dimension in chosen:
        try:
            made.append(_calibrated(material, dimension))
        except MedjuryError as error:
            refused.append(f"{dimension.label}: {error}")
    if not made and not refused:
        return None
    rows: list[tuple[Cell, ...]] = [
        (
            dimension.label,
            title,
            changes[name].before.n,
            changes[name].before,
            changes[name].after,
            changes[name].change,
        )
        for dimension, _, _, changes in made
        for name, title in _SHOWN.items()
    ]
    table = material.exhibits.table(
        "calibration",
        ("dimension", "statistic", "n", "as scored", "calibrated", "change"),
        rows,
        caption="The jury against the clinicians before and after isotonic calibration, out of fold, with "
        "95 % intervals",
        shown=60,
    )
    picture = Html("")
    if made:
        shown = made[:PANELS]
        picture = material.exhibits.figure(
            "calibration",
            (9, height(len(shown), 3, 2.8)),
            lambda figure: panels(figure, shown, 3, _draw),
            caption="Clinicians' mean score by the jury's score, with 95 % intervals: as scored (circles) "
            "and calibrated on "
            "other cases (squares). A jury that means what it says lies on the dotted line."
            + only_some(len(shown), len(made), "tables/calibration.csv"),
            alt="; ".join(
                f"{each[0].label}: mean distance from the line {each[1].error:.2f} as scored, "
                f"{each[2].error:.2f} calibrated"
                for each in shown
            ),
        )
    lead = (
        "The gate judges the scores as they were given. This section shows what a calibration to the "
        "clinicians would "
        "change: each answer is calibrated by a map that was fitted on other cases. Calibration mends "
        "offset and size of "
        "error; it may lower kappa, because it draws scores to the middle."
    )
    return Section("calibration", "Calibration", Html(paragraph(lead) + picture + table + bullets(refused)))


def _calibrated(material: Material, dimension: Measured) -> Found:
    evidence, numbers = material.evidence, material.numbers[dimension.name]
    grades = dimension.grades or ()
    fitted = cross_fit(
        numbers.grid.scores[evidence.jury],
        numbers.reference,
        cases=numbers.grid.clusters.tolist(),
        scale=(grades[0], grades[-1]),
        seed=evidence.settings.seed,
        judge=evidence.jury,
    )
    pairs = fitted.out_of_fold
    resamples = min(500, evidence.resamples(len(numbers.reference)))
    before, after = (
        reliability(
            scores, pairs.labels, cases=pairs.cases.tolist(), resamples=resamples, seed=evidence.settings.seed
        )
        for scores in (pairs.scores, np.where(pairs.known, pairs.calibrated, np.nan))
    )
    changes = before_after(pairs, grades=grades, resamples=resamples, seed=evidence.settings.seed)
    return dimension, before, after, changes


def _draw(axes: Axes, found: Found) -> None:
    dimension, before, after, _ = found
    ends = [(dimension.grades or (0.0,))[0], (dimension.grades or (1.0,))[-1]]
    axes.plot(ends, ends, color=SOFT, linewidth=0.8, linestyle=":")
    for curve, colour, marker, label in (
        (before, JURY_COLOUR, "o", "as scored"),
        (after, CLINICIAN_COLOUR, "s", "calibrated"),
    ):
        points = [point for point in curve.points if point.label.value is not None]
        for point in points:
            if point.label.low is not None and point.label.high is not None:
                axes.plot([point.score] * 2, [point.label.low, point.label.high], color=colour, linewidth=0.9)
        axes.plot([point.score for point in points], [point.label.value or 0.0 for point in points], marker=marker,
                  markersize=4, linewidth=0.8, color=colour, label=label)  # fmt: skip
    axes.set_title(f"{short(dimension.label, 24)} (n = {before.n:,})")
    axes.set_xlabel("jury's score")
    axes.set_ylabel("clinicians' mean score")
    axes.legend(fontsize=7)
