"""Agreement with clinicians, beside the clinicians' agreement with one another."""

from __future__ import annotations

from itertools import product

from medjury.report._exhibits import CLINICIAN_COLOUR, COLOURS, JURY_COLOUR, MARKERS
from medjury.report._figure import Figure
from medjury.report._html import Cell, Html, bullets, paragraph
from medjury.report._material import PANELS, Material, Section, only_some, short
from medjury.report._sections.by_system import by_system
from medjury.report._sections.human_baseline import human_baseline
from medjury.report._sections.standardised import standardised
from medjury.statistics import Estimate, percent, shown
from medjury.validation import STATISTICS

_COLUMNS = {
    "kappa_quadratic": "weighted kappa",
    "icc_2_1": "ICC(2,1)",
    "spearman": "Spearman's rho",
    "exact_match": "same grade",
    "offset": "offset",
    "rmse": "RMSE",
}
_OTHERS = {"krippendorff_alpha_ordinal": "Krippendorff's alpha", "gwet_ac2_quadratic": "Gwet's AC2"}
_TITLE = "Agreement with clinicians"
Line = tuple[str, Estimate, Estimate | None]


def section(material: Material) -> Section:
    evidence = material.evidence
    if not evidence.clinicians:
        text = (
            "No clinician rated these cases. From this run alone it cannot be known how far the scores agree with "
            "clinicians, whether the jury overlooks danger, or whether it is too kind. To find out, let two "
            f"clinicians or more rate at least {evidence.rules.minimum_cases:,} of the cases."
        )
        return Section("agreement", _TITLE, paragraph(text, class_="note"))
    problems = bullets([evidence.problem] if evidence.problem else [])
    if not material.compared:
        nothing = paragraph("No case has both a clinician's and a judge's score.", class_="note")
        return Section("agreement", _TITLE, Html(nothing + problems))
    body = (
        _forest(material)
        + human_baseline(material)
        + _tables(material)
        + standardised(material)
        + by_system(material)
        + problems
    )
    return Section("agreement", _TITLE, Html(body))


def _tables(material: Material) -> Html:
    """What is read most, then coefficients that correct for chance in other ways, for readers who ask for them."""
    evidence = material.evidence
    rows: list[tuple[Cell, ...]] = []
    others: list[tuple[Cell, ...]] = []
    for dimension in material.compared:
        for rater in evidence.raters:
            # A text metric is on no clinical scale: it has an order, and no offset.
            row = evidence.row(dimension.name, rater, "offset") or evidence.row(
                dimension.name, rater, "spearman"
            )
            if row is None or (row.statistic == "spearman" and not row.counts.n):
                continue
            found = {name: evidence.estimate(dimension.name, rater, name) for name in (*_COLUMNS, *_OTHERS)}
            counts = (row.counts.n, row.counts.n_unscored)
            rows.append((dimension.label, rater, *counts, *(found[name] for name in _COLUMNS)))
            if evidence.table.raters.get(rater) != "metric":
                others.append((dimension.label, rater, *(found[name] for name in _OTHERS)))
    reference = evidence.reference_words
    table = material.exhibits.table(
        "agreement",
        ("dimension", "rater", "n", "unscored", *_COLUMNS.values()),
        rows,
        caption=f"Each rater against {reference}, on the held-out answers that both scored, with "
        f"{percent(evidence.confidence)} intervals. Offset is rater less reference."
        + (
            " Several clinicians together have less noise than one, so this agreement is usually higher than that "
            "with single clinicians."
            if len(evidence.clinicians) > 1
            else ""
        )
        + (
            " A text metric is on no clinical scale: only its order can be compared."
            if _metrics(material)
            else ""
        ),
        shown=60,
    )
    return Html(
        table
        + material.exhibits.table(
            "agreement-other-coefficients",
            ("dimension", "rater", *_OTHERS.values()),
            others,
            caption=f"Other coefficients of agreement with {reference}, on the answers that both scored",
            shown=60,
            folded=True,
        )
    )


def _metrics(material: Material) -> bool:
    evidence = material.evidence
    return any(evidence.table.raters.get(rater) == "metric" for rater in evidence.raters)


def _forest(material: Material) -> Html:
    evidence = material.evidence
    lines: list[Line] = []
    raters = tuple(material.tried)  # each whose word counts; one jury needs no name
    who, whose = ("jury", "the jury") if len(raters) == 1 else ("rater", "each rater")
    dimensions = material.compared[: max(1, PANELS // len(raters))]
    for dimension, rater in product(dimensions, raters):
        name = evidence.rules.statistic if dimension.grades else "icc_2_1"
        title = f"{short(dimension.label)} ({STATISTICS[name]})"
        if len(raters) > 1:
            title = f"{short(dimension.label, 18)}: {short(rater, 16)}"
        beside = evidence.beside(dimension.name, rater).get(name)
        alone = evidence.estimate(dimension.name, rater, name)
        if beside is not None:
            lines.append((title, beside.judge_human, beside.human_human))
        elif alone is not None:
            lines.append((title, alone, None))
    if not lines:
        return Html("")
    floor = evidence.rules.floor
    return material.exhibits.figure(
        "agreement",
        (7.5, 1.2 + 0.45 * len(lines)),
        lambda figure: _draw(figure, lines, floor, who),
        caption=f"Agreement of {whose} with single clinicians{_where(lines)}, with "
        f"{percent(evidence.confidence)} intervals; the dashed line is the floor of the gate ({floor:g})."
        + only_some(len(dimensions), len(material.compared), "tables/agreement.csv"),
        alt="; ".join(
            f"{label}: {who} {_spoken(jury)}, clinicians {_spoken(human)}" for label, jury, human in lines
        ),
    )


def _where(lines: list[Line]) -> str:
    """On which answers: those that two clinicians scored, where there are any."""
    if any(line[2] is not None for line in lines):
        return (
            ", beside that of clinicians with one another, on the answers that two or more clinicians scored"
        )
    return ", on the answers that both scored"


def _draw(figure: Figure, lines: list[Line], floor: float, who: str) -> None:
    axes = figure.axes(
        x_name="agreement (1 is perfect, 0 is chance)",
        y_name="dimension",
        y_ticks=[(place, line[0]) for place, line in enumerate(lines)],
        x_limits=(None, 1.02),
        y_limits=(len(lines) - 0.5, -0.5),
        grid="x",
    )
    axes.rule(x=floor, colour=COLOURS[6])
    for side, (shift, colour, marker, label) in enumerate(
        (
            (-0.14, JURY_COLOUR, MARKERS[0], f"{who} with clinician"),
            (0.14, CLINICIAN_COLOUR, MARKERS[1], "clinician with clinician"),
        )
    ):
        for place, line in enumerate(lines):
            found = line[1 + side]
            if isinstance(found, Estimate) and found.value is not None:
                axes.span(found.low, found.high, place + shift, colour)
                axes.points([found.value], [place + shift], colour, marker=marker, label=label)
                end = found.value if found.high is None else found.high
                axes.text(end, place + shift, f"n = {found.n:,}", shift=5, size=7)


def _spoken(found: Estimate | None) -> str:
    return "not known" if found is None or found.value is None else shown(found.value)
