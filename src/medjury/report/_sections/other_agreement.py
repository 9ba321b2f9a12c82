"""Agreement in other terms: attribute by attribute, and by accuracy and F1 where there are few classes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import combinations

import numpy as np

from medjury.analysis.agreement import AgreementRow, AgreementTable, agreement, confusion_matrix
from medjury.foundation.errors import MedjuryError
from medjury.report._axes import Axes
from medjury.report._exhibits import COLOURS, MARKERS
from medjury.report._figure import Figure
from medjury.report._html import Cell, Html, bullets, element, paragraph
from medjury.report._material import PANELS, Material, Section, only_some, short
from medjury.report._sections.grades import alike, cells, draw_matrix
from medjury.statistics import Estimate, Floats, p_value, percent, shown
from medjury.tables import Measured

_MEDIANS = ("median_difference", "difference_q1", "difference_q3", "wilcoxon_signed_rank", "mae")
_POOLED = "all graded dimensions, pooled"


def attributes(material: Material) -> Section | None:
    """Attribute by attribute: consistency of averages, median difference, and whether the level differs at all."""
    evidence = material.evidence
    single = evidence.also(*_MEDIANS, intervals=False)
    if single is None or not material.compared:
        return None
    rows: list[dict[str, Cell]] = []
    notes: tuple[str, ...] = ()
    sizes = [len(each.grades.values) for each in evidence.table.counted if each.grades]
    # One graded dimension beside questions of yes and no leaves nothing of one kind to pool.
    if len(sizes) > 1 and sum(size > 2 for size in sizes) != 1:
        together = evidence.also("icc_3_k", pooled=True)
        medians = evidence.also(*_MEDIANS, pooled=True, intervals=False)
        if together is not None and medians is not None:
            rows += _rows(material, _POOLED, "all", together, medians)
            notes = tuple(note for note in together.notes if note.startswith("not pooled"))
    for dimension in material.compared:
        rows += _rows(material, dimension.label, dimension.name, evidence.agreement, single)
    if not rows:
        return None
    table = material.exhibits.table(
        "attributes",
        rows,
        caption=f"ICC(3,k) of each rater and {evidence.reference_words}, on the answers that both scored, with "
        f"{percent(evidence.confidence)} intervals; median and quartiles of rater less clinicians; the mean "
        "of the differences without their sign; Wilcoxon's signed-rank test of the differences",
        digits={"median difference": 2},
        shown=60,
        folded=len(rows) > 24,
    )
    lead = (
        "ICC(3,k) is consistency of the two averaged: a rater who is always one grade too high still reaches 1, so "
        "read the median difference beside it. A small p says that the levels differ, not that the difference "
        "matters."
    )
    body = Html(paragraph(lead) + table + _distances(material) + bullets(notes))
    return Section("attributes", "Attribute by attribute", body)


def _distances(material: Material) -> Html:
    """How far from the clinicians, whichever way: of each rater the share of answers at every distance."""
    evidence = material.evidence
    graded = [each for each in material.compared if each.grades and len(each.grades.values) > _MOST]
    if not graded:
        return Html("")
    raters = material.graders[:_DRAWN]

    def draw(axes: Axes, dimension: Measured) -> None:
        grid, grades = evidence.grid(dimension.name), dimension.grades
        assert grades is not None
        reference, steps = evidence.reference(grid), np.arange(len(grades.values))
        for place, rater in enumerate(raters):
            gaps = np.abs(grid.scores[rater] - reference)
            known = gaps[~np.isnan(gaps)]
            if not len(known):
                continue
            step = (grades.highest - grades.lowest) / steps[-1]
            nearest = np.floor(known / step + 0.5 + 1e-9)
            share = [100 * float((nearest == each).mean()) for each in steps]
            axes.line(steps.tolist(), share, COLOURS[place], marker=MARKERS[place], label=short(rater, 24))
        axes.title, axes.y_limits = short(dimension.label, 34), (0, None)
        axes.x_name, axes.y_name = "grades from the clinicians", "share of answers (%)"

    return material.exhibits.panels(
        "distances",
        graded[:PANELS],
        draw,
        each=2.5,
        extra=0.5,
        caption="How many grades each rater is from the clinicians, too high or too low alike (halves upwards): "
        f"the higher on the left, the nearer. {len(raters)} of {len(material.graders)} raters."
        + only_some(min(len(graded), PANELS), len(graded), "tables/attributes.csv"),
        alt="Lines of the share of answers at each distance from the clinicians' grade, one line for each rater "
        "and one panel for each dimension; the column `mean distance` of the table has the means.",
    )


def _rows(
    material: Material, label: str, name: str, icc: AgreementTable | None, medians: AgreementTable
) -> list[dict[str, Cell]]:
    evidence = material.evidence
    sides = (icc, medians)
    found = {
        (row.rater, row.statistic): row
        for side in sides
        if side is not None
        for row in side.rows
        if row.dimension == name and row.reference == evidence.main_reference and not row.system
    }
    rows: list[dict[str, Cell]] = []
    for rater in evidence.raters:
        middle = found.get((rater, "median_difference"))
        if middle is None or middle.estimate.value is None:
            continue
        low, high = (found[rater, end].estimate.value for end in ("difference_q1", "difference_q3"))
        consistency = found.get((rater, "icc_3_k"))
        rows.append(
            {
                "dimension": label,
                "rater": rater,
                "n": middle.estimate.n,
                "ICC(3,k)": None if consistency is None else consistency.estimate,
                "median difference": middle.estimate.value,
                "IQR": f"{shown(low, 2)} to {shown(high, 2)}",
                "mean distance": found[rater, "mae"].estimate.value,
                "signed-rank p": p_value(found[rater, "wilcoxon_signed_rank"].p_value),
            }
        )
    return rows


# With more grades than this a class is a grade, and agreement is what to ask for.
_MOST = 3
_OVERALL = {"accuracy": "accuracy", "macro_f1": "macro F1", "kappa": "Cohen's kappa"}
_OF_TWO = {name: name for name in ("sensitivity", "specificity", "precision")}
# So many raters have a colour of their own.
_DRAWN = len(COLOURS)
# More lines than this make no readable figure.
_LINES = 20
Cells = Mapping[tuple[str, str, str], AgreementRow]
Line = tuple[str, Sequence[Estimate | None]]


def classes(material: Material) -> Section | None:
    """Few classes: accuracy and F1 of every rater, class by class."""
    evidence = material.evidence
    few = [each for each in material.compared if each.grades and len(each.grades.values) <= _MOST]
    if not few:
        return None
    levels = sorted({value for each in few for value in _levels(each)})
    named = {**_OVERALL, **{f"f1_class_{level:g}": f"F1 of {level:g}" for level in levels}}
    if any(len(_levels(each)) == 2 for each in few):
        named |= _OF_TWO
    found = evidence.also(*named, dimensions=[each.name for each in few])
    if found is None:
        return None
    by_rater = _cells(found.rows, evidence.main_reference) | _people(material, few, list(named))
    rows: list[dict[str, Cell]] = []
    lines: list[Line] = []
    for dimension in few:
        for rater in (*evidence.raters, *evidence.clinicians):
            one = by_rater.get((dimension.name, rater, "accuracy"))
            if one is not None:
                found_here = [by_rater.get((dimension.name, rater, name)) for name in named]
                estimates = [None if row is None else row.estimate for row in found_here]
                rows.append(
                    {
                        "dimension": dimension.label,
                        "rater": rater,
                        "n": one.counts.n,
                        "unscored": one.counts.n_unscored,
                        **dict(zip(named.values(), estimates, strict=True)),
                    }
                )
                label = short(rater) if len(few) == 1 else f"{short(dimension.label, 14)}: {short(rater, 14)}"
                lines.append((label, estimates))
    if not rows:
        return None
    words = f"{percent(evidence.confidence)} intervals"
    table = material.exhibits.table(
        "classes",
        rows,
        caption=f"Accuracy, F1 and Cohen's kappa (unweighted) of each rater against {evidence.reference_words}, on "
        f"the answers that both scored, scores between classes rounded half up, with {words}; "
        "macro F1 is the mean over the classes that occur; of two classes the higher one is looked for "
        "(sensitivity, specificity, precision). Clinicians, where they are listed, "
        "are held against the label that an adjudicator settled, which their own labels helped to form",
        shown=60,
    )
    picture = material.exhibits.figure(
        "classes",
        (10, 1.2 + 0.42 * min(len(lines), _LINES)),
        lambda figure: _draw(figure, lines[:_LINES], levels),
        caption=f"Accuracy, F1 of each class and Cohen's kappa, with {words} where there is one.",
        alt="; ".join(
            f"{label}: "
            + ", ".join(
                f"{name} {shown(each.value)}"
                for name, each in zip(named.values(), estimates, strict=True)
                if each is not None and each.value is not None and name not in _OF_TWO
            )
            for label, estimates in lines[:_LINES]
        ),
    )
    lead = (
        "Accuracy follows the class that is most frequent; F1 tells for each class how far a rater finds its "
        "answers and no others. A class that clinicians gave only a few times has no interval."
    )
    body = Html(paragraph(lead) + picture + table + _together(material, few) + _crossed(material, few))
    return Section("classes", "Accuracy and F1", body)


def _crossed(material: Material, dimensions: list[Measured]) -> Html:
    """Which class of one clinician was which of another."""
    evidence = material.evidence
    found: list[tuple[Measured, str, str, Floats]] = []
    for each in dimensions:
        grid = evidence.grid(each.name)
        assert each.grades is not None
        for one, two in combinations(evidence.clinicians, 2):
            sides = [grid.scores[name] for name in (one, two)]
            both = ~np.isnan(sides[0]) & ~np.isnan(sides[1])
            if both.any():
                graded = (each.grades.grade(side[both]) for side in sides)
                found.append((each, one, two, confusion_matrix(*graded, scale=each.grades.values)))
    if not found:
        return Html("")
    table = material.exhibits.table(
        "classes-crossed",
        [
            {
                "dimension": each.label,
                "clinician": one,
                "grade": grade,
                "with": two,
                "their grade": other,
                "answers": count,
            }
            for each, one, two, counts in found
            for grade, other, count in cells(each, counts)
        ],
        caption="The clinicians crossed: how many answers got this grade from one and that grade from the other",
        shown=60,
    )
    drawn = found[:PANELS]
    picture = material.exhibits.panels(
        "classes-crossed",
        drawn,
        lambda axes, one: draw_matrix(
            axes, one[0], one[3], given=f"{short(one[2], 18)}'s grade", truth=f"{short(one[1], 18)}'s grade"
        ),
        each=2.9,
        caption="Answers by one clinician's grade (rows) and another's (columns)."
        + (f" The first {len(drawn)} of {len(found)}." if len(drawn) < len(found) else ""),
        alt="; ".join(
            f"{each.label}, {one} and {two}: {alike(counts)} alike" for each, one, two, counts in drawn
        ),
    )
    return element("details", element("summary", "Clinicians, two by two"), picture, table)


def _together(material: Material, dimensions: list[Measured]) -> Html:
    """All clinicians at once: Fleiss' kappa, and how often everybody said the same."""
    evidence = material.evidence
    found = evidence.also("fleiss_kappa", dimensions=[each.name for each in dimensions], groups=True)
    rows: list[dict[str, Cell]] = []
    for row in found.rows if found is not None else ():
        if row.rater != "among references":
            continue
        grid = evidence.grid(row.dimension)
        text = np.column_stack([grid.scores[name] for name in evidence.clinicians])
        whole = ~np.isnan(text).any(axis=1)
        same = (text[whole] == text[whole][:, :1]).all(axis=1)
        share = evidence.share(same.tolist(), grid.items[whole].tolist())
        rows.append(
            {
                "dimension": evidence.label(row.dimension),
                "clinicians": len(evidence.clinicians),
                "rated by two": row.counts.n,
                "Fleiss' kappa": row.estimate,
                "rated by all": int(whole.sum()),
                "all say the same": share,
            }
        )
    return material.exhibits.table(
        "classes-clinicians",
        rows,
        caption="The clinicians among themselves: Fleiss' kappa over the answers that two or more rated, and of "
        f"those that all rated the share on which nobody differs, with {percent(evidence.confidence)} intervals",
    )


def _people(
    material: Material, dimensions: Sequence[Measured], statistics: Sequence[str]
) -> dict[tuple[str, str, str], AgreementRow]:
    """The reference's clinicians against the adjudicator, if that one labelled every answer that has a reference:
    an adjudicator of disagreements alone would make them look worse than they are."""
    evidence = material.evidence
    table, judge = evidence.table, evidence.table.people.adjudicator
    if table.people.consensus != "adjudicated" or len(evidence.clinicians) < 2 or judge not in table.raters:
        return {}
    whole = []
    for each in dimensions:
        grid = evidence.grid(each.name)
        if not (np.isnan(grid.scores[judge]) & ~np.isnan(evidence.reference(grid))).any():
            whole.append(each.name)
    with suppress(MedjuryError):
        if whole:
            found = agreement(
                table,
                raters=evidence.clinicians,
                reference=judge,
                dimensions=whole,
                **evidence.how,
                statistics=statistics,
                severe=(),
                singles=False,
                groups=False,
            )
            return _cells(found.rows, judge)
    return {}


def _cells(rows: Sequence[AgreementRow], reference: str) -> dict[tuple[str, str, str], AgreementRow]:
    return {
        (row.dimension, row.rater, row.statistic): row
        for row in rows
        if row.reference == reference and row.level == "item" and not row.system
    }


def _draw(figure: Figure, lines: Sequence[Line], levels: Sequence[float]) -> None:
    """Accuracy, F1 and kappa beside one another; of the estimates the first three are overall."""
    figure.columns = 3
    labels = [label for label, _ in lines]
    for which, name in ((0, "accuracy"), (None, "F1 of the class"), (2, "Cohen's kappa")):
        axes = figure.lines(labels, x_name=name, x_limits=(None if which == 2 else 0, 1.02))
        for place, (_, estimates) in enumerate(lines):
            if which is not None:
                axes.estimate(estimates[which], place, COLOURS[-2])
                continue
            for number, level in enumerate(levels):
                at, found = 0.24 * (number - (len(levels) - 1) / 2), estimates[len(_OVERALL) + number]
                axes.estimate(
                    found, place + at, COLOURS[number], marker=MARKERS[number], label=f"class {level:g}"
                )


def _levels(dimension: Measured) -> tuple[float, ...]:
    return () if dimension.grades is None else tuple(float(value) for value in dimension.grades.values)
