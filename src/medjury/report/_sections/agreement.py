"""Agreement with clinicians, beside the clinicians' agreement with one another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product

from medjury.report._exhibits import CLINICIAN_COLOUR, COLOURS, JURY_COLOUR, MARKERS
from medjury.report._figure import Figure
from medjury.report._html import Cell, Html, bullets, element, paragraph
from medjury.report._material import PANELS, Material, Section, only_some, short
from medjury.statistics import Estimate, p_value, percent, shown
from medjury.validation import STATISTICS

# The fair yardstick: a rater's agreement with single clinicians beside theirs with one another.


def _difference(found: Estimate) -> Estimate:
    """Where it is not defined, in words: the two columns beside it say which is missing, and why."""
    return found if found.value is not None else replace(found, reason="one of the two is not defined")


def human_baseline(material: Material) -> Html:
    evidence = material.evidence
    rows: list[dict[str, Cell]] = []
    pooled = 0
    for dimension in evidence.table.dimensions:
        for rater in evidence.raters:
            for name, each in evidence.beside(dimension.name, rater).items():
                pooled = max(pooled, each.pairs if each.pooled else 0)
                verdict = {True: "not inferior", False: "not shown", None: "no verdict"}[each.non_inferior]
                rows.append(
                    {
                        "dimension": dimension.label,
                        "rater": rater,
                        "coefficient": STATISTICS.get(name, name),
                        "n": each.judge_human.n,
                        "rater with clinician": each.judge_human,
                        "clinician with clinician": each.human_human,
                        "difference": _difference(each.difference),
                        "p": p_value(each.p_value),
                        f"margin {evidence.rules.margin:g}": verdict,
                    }
                )
    if not rows:
        text = "One clinician only: how well clinicians agree, the fair yardstick, is not known here."
        return paragraph(text, class_="note") if len(evidence.clinicians) == 1 else Html("")
    # The gate's statistic first; the page shows that one, the CSV all of them.
    wanted = STATISTICS.get(evidence.rules.statistic, "")
    rows.sort(key=lambda row: row["coefficient"] != wanted)
    first = sum(row["coefficient"] == wanted for row in rows) or len(rows)
    bound = percent(evidence.confidence)
    baseline = material.exhibits.table(
        "human-baseline",
        rows,
        caption="Mean agreement of a rater with single clinicians, pair by pair, beside that of clinicians with "
        "one another, on the answers that the rater and two or more clinicians scored. The lower end of the "
        f"difference's interval is the one-sided {bound} bound, read with "
        "caution so that it errs no more often than that."
        + (
            f" Where most pairs of clinicians share few cases, both are pooled over pairs and not averaged, as the "
            f"row's method says ({pooled:,} pairs of clinicians share a case)."
            if pooled
            else ""
        ),
        shown=min(first, 40),
    )
    return Html(baseline + _among_themselves(material))


def _among_themselves(material: Material) -> Html:
    """All clinicians together: a mixed model of cases and clinicians where not everybody rated every case."""
    found = material.evidence.agreement
    rows: list[dict[str, Cell]] = [
        {
            "dimension": material.evidence.label(row.dimension),
            "coefficient": STATISTICS.get(row.statistic, row.statistic),
            "rated by two": row.counts.n,
            "all clinicians": row.estimate,
            "how": row.estimate.method,
        }
        for row in (found.rows if found is not None else ())
        if row.rater == "among references" and row.statistic == "icc_2_1"
    ]
    return material.exhibits.table(
        "clinicians-together",
        rows,
        caption="All clinicians together: how far one clinician's score could replace another's.",
        shown=40,
        folded=True,
    )


# ICC on z-scores: jury, judges and text metrics beside the clinicians, in both orders of standardising.

_FIRST, _AVERAGED = "icc_3_k_z_raters_first", "icc_3_k_z"
_HUMANS, _PAIRS = "the other references", "each reference"


_OTHER_WAY = (
    ". A text metric that falls where the grade rises is below zero here, where the number says nothing"
)


def _other_way(rows: Sequence[Mapping[str, Cell]]) -> str:
    """A sentence where a value is below zero: the coefficient has no lower limit, and its size means nothing."""
    values = [cell.value for row in rows for cell in row.values() if isinstance(cell, Estimate)]
    return _OTHER_WAY if any(value is not None and value < 0 for value in values) else ""


def standardised(material: Material) -> Html:
    """A text metric has no other common ground with clinicians; without one this is for whoever opens it."""
    evidence = material.evidence
    dimensions = [each for each in material.compared if each.derived] or list(material.compared)
    if len(evidence.clinicians) < 2 or not _metrics(material):
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
    rows: list[dict[str, Cell]] = []
    for dimension in dimensions:
        for rater in (*evidence.raters, _HUMANS):
            sides = [cells.get((dimension.name, rater, name)) for name in (_AVERAGED, _FIRST)]
            first = sides[1] or sides[0]
            if first is not None and first.estimate.value is not None:
                who = "clinicians with one another" if rater == _HUMANS else rater
                pairs = (
                    first.estimate.method.split("mean over ")[-1].split(",")[0] if rater == _HUMANS else ""
                )
                averaged, each = (None if row is None else row.estimate for row in sides)
                rows.append(
                    {
                        "dimension": dimension.label,
                        "rater": who,
                        "n": first.estimate.n,
                        "averaged first": averaged,
                        "each rater first": each,
                        "pairs": pairs,
                    }
                )
    return material.exhibits.table(
        "standardised",
        rows,
        caption=f"ICC(3,k) on z-scores with the clinicians, on the answers that both scored, with "
        f"{percent(evidence.confidence)} intervals: the "
        "clinicians averaged and then standardised, or each standardised over all of his or her answers and then "
        "averaged. It is blind to any offset. The clinicians' own is the mean over the pairs that share two "
        f"answers or more{_other_way(rows)}",
        shown=40,
    )


# Pooled agreement is mostly good systems against bad ones: within a system it is another number.

_BY_SYSTEM_COLUMNS = {
    "spearman": "all answers",
    "spearman_between_systems": "between systems",
    "spearman_within_systems": "within a system",
    "spearman_system_mean_baseline": "knowing only the system",
}


def by_system(material: Material) -> Html:
    evidence = material.evidence
    rows: list[dict[str, Cell]] = [
        {
            "dimension": dimension.label,
            "rater": rater,
            **{
                title: evidence.estimate(dimension.name, rater, name)
                for name, title in _BY_SYSTEM_COLUMNS.items()
            },
        }
        for dimension in material.compared
        for rater in evidence.raters
        if evidence.row(dimension.name, rater, "spearman_within_systems") is not None
    ]
    if not rows:
        return Html("")
    table = material.exhibits.table(
        "agreement-by-system",
        rows,
        caption=f"Spearman's rho with {evidence.reference_words}, on the answers that both scored, "
        "pooled and apart",
        shown=60,
    )
    note = (
        "Agreement over all answers is partly good systems against bad ones. The last column is a baseline that "
        "knows nothing but which system answered; a judge that reads the answers should beat it, and agree within "
        "a system."
    )
    return Html(element("h3", "Between systems and within them") + paragraph(note) + table)


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


def agreement(material: Material) -> Section:
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
    rows: list[dict[str, Cell]] = []
    others: list[dict[str, Cell]] = []
    for dimension in material.compared:
        for rater in evidence.raters:
            # A text metric is on no clinical scale: it has an order, and no offset.
            row = evidence.row(dimension.name, rater, "offset") or evidence.row(
                dimension.name, rater, "spearman"
            )
            if row is None or (row.statistic == "spearman" and not row.counts.n):
                continue
            found = {name: evidence.estimate(dimension.name, rater, name) for name in (*_COLUMNS, *_OTHERS)}
            who: dict[str, Cell] = {"dimension": dimension.label, "rater": rater}
            counts = {"n": row.counts.n, "unscored": row.counts.n_unscored}
            rows.append(who | counts | {title: found[name] for name, title in _COLUMNS.items()})
            if evidence.table.raters.get(rater) != "metric":
                others.append(who | {title: found[name] for name, title in _OTHERS.items()})
    reference = evidence.reference_words
    table = material.exhibits.table(
        "agreement",
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
    axes = figure.lines(
        [line[0] for line in lines],
        x_name="agreement (1 is perfect, 0 is chance)",
        y_name="dimension",
        x_limits=(None, 1.02),
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
            if isinstance(found, Estimate):
                words = f"n = {found.n:,}"
                axes.estimate(found, place + shift, colour, marker=marker, label=label, words=words, size=7)


def _spoken(found: Estimate | None) -> str:
    return "not known" if found is None or found.value is None else shown(found.value)
