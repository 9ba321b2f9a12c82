"""Which scores were given, and whether the dimensions measure different things."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np

from medjury.analysis.agreement import cronbach_alpha, spearman
from medjury.report._axes import Axes
from medjury.report._exhibits import BLUE_TO_RED, COLOURS, MARKERS
from medjury.report._figure import Figure, heat
from medjury.report._html import Cell, Html, element, paragraph
from medjury.report._material import PANELS, Material, Section, only_some, short
from medjury.statistics import percent, shown
from medjury.tables import SCORED, Measured

_LINES = 8


def distributions(material: Material) -> Section | None:
    """By whom which grade was given: a judge that always says 4 agrees with a clinician who always says 4."""
    evidence = material.evidence
    raters = (*material.graders, *evidence.clinicians)
    rows: list[dict[str, Cell]] = []
    for dimension in evidence.table.dimensions:
        grid = evidence.grid(dimension.name)
        for rater in raters:
            scores = grid.scores[rater][grid.states[rater] == SCORED]
            if not len(scores):
                continue
            lowest, highest = _ends(scores, dimension)
            rows.append(
                {
                    "dimension": dimension.label,
                    "rater": rater,
                    "n": len(scores),
                    "mean": float(scores.mean()),
                    "SD": float(scores.std(ddof=1)) if len(scores) > 1 else None,
                    "median": float(np.median(scores)),
                    "% at lowest grade": lowest,
                    "% at highest grade": highest,
                }
            )
    if not rows:
        return None
    table = material.exhibits.table(
        "distributions",
        rows,
        caption="Scores by dimension and rater, on held-out cases",
        shown=80,
        folded=len(rows) > 12,
    )
    scaled = [each for each in evidence.table.dimensions if each.grades]
    chosen = scaled[:PANELS]
    picture = Html("")
    if chosen:
        picture = material.exhibits.panels(
            "distributions",
            chosen,
            lambda axes, each: _draw(axes, material, each),
            each=2.5,
            extra=0.5,
            caption="Share of each grade by rater (a jury's mean counts for its nearest grade), on held-out cases. "
            "Where nearly all scores are at one end, agreement says little. In brackets: scores of the jury."
            + (
                f" The first {_LINES} of {len(raters)} raters; the table has all."
                if len(raters) > _LINES
                else ""
            )
            + only_some(len(chosen), len(scaled), "tables/distributions.csv"),
            alt="Lines of the share of each grade, one line per rater and one panel per dimension; the table has "
            "the means, standard deviations and shares at both ends.",
        )
    return Section("distributions", "Score distributions", Html(picture + table + _ceilings(material)))


def _draw(axes: Axes, material: Material, dimension: Measured) -> None:
    evidence, grid = material.evidence, material.evidence.grid(dimension.name)
    assert dimension.grades is not None
    grades = np.asarray(dimension.grades.values)
    jury = int((grid.states[evidence.rater] == SCORED).sum()) if evidence.rater else 0
    for place, rater in enumerate((*material.graders, *evidence.clinicians)[:_LINES]):
        scores = grid.scores[rater][grid.states[rater] == SCORED]
        if not len(scores):
            continue
        nearest = dimension.grades.grade(scores)
        share = [100 * float((nearest == grade).mean()) for grade in grades]
        axes.line(
            grades.tolist(),
            share,
            COLOURS[place % len(COLOURS)],
            marker=MARKERS[place % len(MARKERS)],
            dash="--" if rater in evidence.clinicians else "",
            width=1.8 if rater == evidence.rater else 1.0,
            label=short(rater, 24),
        )
    axes.title = f"{short(dimension.label, 34)} (n = {jury:,})"
    axes.x_ticks = [(grade, f"{grade:g}") for grade in grades.tolist()]
    axes.y_limits = (0, None)
    axes.x_name, axes.y_name = "grade", "share of scores (%)"


def _ends(
    scores: np.ndarray[tuple[int, ...], np.dtype[np.float64]], dimension: Measured
) -> tuple[float | None, float | None]:
    if not dimension.grades:
        return None, None
    low, high = dimension.grades.lowest, dimension.grades.highest
    return 100 * float((scores <= low + 1e-9).mean()), 100 * float((scores >= high - 1e-9).mean())


def _ceilings(material: Material) -> Html:
    """Both sides near one end make a coefficient meaningless, whichever way it turns out."""
    crowded = []
    for dimension in material.compared:
        row = material.evidence.row(dimension.name, material.evidence.rater, "offset")
        if row is None:
            continue
        shares = (
            row.counts.ceiling_reference,
            row.counts.ceiling_rater,
            row.counts.floor_reference,
            row.counts.floor_rater,
        )
        if min(shares[0] or 0, shares[1] or 0) > 0.8 or min(shares[2] or 0, shares[3] or 0) > 0.8:
            crowded.append(dimension.label)
    if not crowded:
        return Html("")
    return paragraph(
        f"On {', '.join(crowded)}, clinicians and jury both give the same extreme grade to more than 80 % of the "
        "answers: coefficients of agreement say little there.",
        class_="note",
    )


# Dimensions in a picture; fewest that make a scale.
_MOST, _PARTS = 16, 3


def dimensions(material: Material) -> Section | None:
    """Correlations between dimensions: a judge that gives one impression seven names measures one thing."""
    evidence = material.evidence
    names = [each.name for each in evidence.table.counted]
    if len(names) < 2 or not evidence.rater:
        return None
    jury, counts = _matrix(material, evidence.rater)
    sides = [("jury", jury)]
    if evidence.clinicians:
        humans, _ = _matrix(material, "")
        sides.append(("clinicians", humans))
    rows: list[dict[str, Cell]] = []
    for one, two in combinations(range(len(names)), 2):
        found = {name: float(each[one, two]) for name, each in sides}
        rows.append(
            {
                "dimension": evidence.label(names[one]),
                "with": evidence.label(names[two]),
                "answers": int(counts[one, two]),
                **{name: None if np.isnan(value) else value for name, value in found.items()},
            }
        )
    table = material.exhibits.table(
        "dimension-correlations",
        rows,
        caption="Spearman's rho between dimensions",
        shown=30,
    )
    kept = min(len(names), _MOST)
    labels = [short(evidence.label(name), 16) for name in names[:kept]]
    picture = material.exhibits.figure(
        "dimension-correlations",
        (1.4 + 4.4 * len(sides), 1.2 + min(4.0, 0.5 * kept + 1.2)),
        lambda figure: _draw_of_dimensions(
            figure, [(name, each[:kept, :kept]) for name, each in sides], labels
        ),
        caption="Spearman's rho between dimensions, over all held-out answers with both scores. If the jury's are "
        "much higher than the clinicians', the jury gives one impression under several names.",
        alt="; ".join(
            f"{row['dimension']} with {row['with']}: " + ", ".join(shown(row[name]) for name, _ in sides)
            for row in rows[:20]
        ),
    )
    lead = paragraph("Do the dimensions measure different things?")
    body = Html(lead + picture + table + _of_every_rater(material, names, labels) + _consistency(material))
    return Section("dimensions", "Correlations between dimensions", body)


def _of_every_rater(material: Material, names: list[str], labels: list[str]) -> Html:
    """The same of each judge and each clinician by itself, for the reader who opens it."""
    evidence = material.evidence
    found = {name: _matrix(material, name) for name in (*material.graders, *evidence.clinicians)}
    rows: list[dict[str, Cell]] = [
        {
            "dimension": evidence.label(names[one]),
            "with": evidence.label(names[two]),
            "rater": rater,
            "answers": int(counts[one, two]),
            "Spearman's rho": None if np.isnan(rhos[one, two]) else float(rhos[one, two]),
        }
        for rater, (rhos, counts) in found.items()
        for one, two in combinations(range(len(names)), 2)
    ]
    table = material.exhibits.table(
        "dimension-correlations-by-rater", rows, caption="The same, rater by rater", shown=60
    )
    drawn, kept = list(found)[:PANELS], len(labels)
    picture = material.exhibits.figure(
        "dimension-correlations-by-rater",
        (10, (0.8 + min(3.0, 0.4 * kept + 1)) * -(-len(drawn) // 3)),
        lambda figure: _draw_of_dimensions(
            figure, [(short(name, 18), found[name][0][:kept, :kept]) for name in drawn], labels, columns=3
        ),
        caption=f"Spearman's rho between dimensions, rater by rater: {len(drawn)} of {len(found)} raters.",
        alt="Heat maps of Spearman's rho between dimensions, one for each rater; the table has every number.",
    )
    return element("details", element("summary", "The same of every rater by itself"), picture, table)


def _consistency(material: Material) -> Html:
    """Cronbach's alpha of the graded dimensions: how far they rise and fall together, as parts of one scale do."""
    evidence = material.evidence
    graded = [each for each in evidence.table.counted if each.grades and len(each.grades.values) > 2]
    if len(graded) < _PARTS:
        return Html("")
    rows: list[dict[str, Cell]] = []
    for rater in (*material.graders, *evidence.clinicians):
        scores, clusters = _by_answer(material, rater, graded)
        whole = ~np.isnan(scores).any(axis=1)
        if whole.sum() < 2:
            continue
        turned = np.column_stack([each.oriented(scores[whole, at]) for at, each in enumerate(graded)])
        alpha = cronbach_alpha(
            turned,
            clusters=clusters[whole].tolist(),
            **evidence.how,
        )
        rows.append({"rater": rater, "answers": int(whole.sum()), "Cronbach's alpha": alpha})
    return material.exhibits.table(
        "internal-consistency",
        rows,
        caption=f"Cronbach's alpha of {len(graded)} dimensions ({', '.join(each.label for each in graded)}), on "
        f"the answers with all of them, with {percent(evidence.confidence)} intervals. Where it is high they "
        "measure much the same",
        shown=40,
        head=("rater", "answers", "Cronbach's alpha"),
    )


def _by_answer(
    material: Material, rater: str, dimensions: Sequence[Measured]
) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """The scores of a rater ("": of the clinicians together), a row for each answer and a column for each
    dimension, and whose each answer is."""
    evidence = material.evidence
    units: dict[tuple[str, str], int] = {}
    clusters: dict[int, str] = {}
    columns = []
    for each in dimensions:
        grid = evidence.grid(each.name)
        scores = grid.scores[rater] if rater else evidence.reference(grid)
        answers = zip(grid.items.tolist(), grid.systems.tolist(), strict=True)
        place = [units.setdefault(answer, len(units)) for answer in answers]
        clusters |= dict(zip(place, grid.clusters.tolist(), strict=True))
        columns.append((np.asarray(place, dtype=np.int64), scores))
    table = np.full((len(units), len(columns)), np.nan)
    for number, (rows, scores) in enumerate(columns):
        table[rows, number] = scores
    return table, np.array([clusters[row] for row in range(len(units))])


def _matrix(material: Material, rater: str) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Spearman between every two dimensions, on the answers that have both scores of the rater ("": of the
    clinicians together), and how many those are."""
    table, _ = _by_answer(material, rater, material.evidence.table.counted)
    size = table.shape[1]
    found, counts = np.eye(size), np.zeros((size, size), dtype=int)
    for one, two in combinations(range(size), 2):
        both = ~np.isnan(table[:, one]) & ~np.isnan(table[:, two])
        rho = spearman(table[both, one], table[both, two], interval="none").value
        counts[one, two] = counts[two, one] = int(both.sum())
        found[one, two] = found[two, one] = np.nan if rho is None else rho  # a side does not vary
    return found, counts


def _draw_of_dimensions(
    figure: Figure, sides: list[tuple[str, np.ndarray[Any, Any]]], labels: list[str], columns: int = 2
) -> None:
    figure.columns = min(columns, len(sides))
    for name, table in sides:
        axes = figure.axes(title=name, x_name="dimension", y_name="dimension", tilted=True)
        blank = np.where(np.eye(len(table), dtype=bool), np.nan, table)
        heat(axes, blank, BLUE_TO_RED, -1, light=lambda value: abs(value) > 0.65)
        axes.x_ticks = axes.y_ticks = list(enumerate(labels))
