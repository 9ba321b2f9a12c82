"""Agreement with clinicians, beside the clinicians' agreement with one another."""

from __future__ import annotations

from typing import TYPE_CHECKING

from medjury.report._exhibits import CLINICIAN_COLOUR, COLOURS, JURY_COLOUR, MARKERS
from medjury.report._html import Cell, Html, bullets, element, paragraph
from medjury.report._material import PANELS, Material, Section, only_some, short
from medjury.statistics import Estimate, p_value
from medjury.validation import CONSENSUS, NAMES

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_COLUMNS = {
    "kappa_quadratic": "weighted kappa",
    "icc_2_1": "ICC(2,1)",
    "spearman": "Spearman's rho",
    "exact_match": "same grade",
    "offset": "offset",
    "rmse": "RMSE",
}
_OTHERS = {"krippendorff_alpha_ordinal": "Krippendorff's alpha", "gwet_ac2_quadratic": "Gwet's AC2"}


def section(material: Material) -> Section:
    evidence = material.evidence
    if not evidence.clinicians:
        text = (
            "No clinician rated these cases. From this run alone it cannot be known how far the scores "
            "agree with "
            "clinicians, whether the jury overlooks danger, or whether it is too kind. To find out, let two "
            "clinicians or more rate at least "
            f"{evidence.rules.minimum_cases:,} of the cases."
        )
        return Section("agreement", "Agreement with clinicians", paragraph(text, class_="note"))
    reference = CONSENSUS if len(evidence.clinicians) > 1 else evidence.clinicians[0]
    rows: list[tuple[Cell, ...]] = []
    problems = []
    for dimension in evidence.dimensions:
        numbers = material.numbers[dimension.name]
        if numbers.problem:
            problems.append(f"{dimension.label}: {numbers.problem}")
        for rater in evidence.voices:
            found = numbers.pairs.get(rater)
            if found:
                row = next(iter(found.values()))
                rows.append(
                    (
                        dimension.label,
                        rater,
                        row.counts.n,
                        row.counts.n_unscored,
                        *(numbers.pair(rater, name) for name in _COLUMNS),
                    )
                )
    table = material.exhibits.table(
        "agreement",
        ("dimension", "rater", "n", "unscored", *_COLUMNS.values()),
        rows,
        caption=f"Each rater against {reference}, on held-out cases, with 95 % intervals. Offset is rater "
        "less reference.",
        shown=60,
    )
    table = Html(table + _others(material))
    body = Html(_forest(material) + _beside(material) + table + _by_system(material) + bullets(problems))
    if not rows:
        body = Html(
            paragraph("No case has both a clinician's and a judge's score.", class_="note")
            + bullets(problems)
        )
    return Section("agreement", "Agreement with clinicians", body)


def _others(material: Material) -> Html:
    """Coefficients that correct for chance in other ways, for readers who ask for them."""
    rows: list[tuple[Cell, ...]] = [
        (dimension.label, rater, *(material.numbers[dimension.name].pair(rater, name) for name in _OTHERS))
        for dimension in material.compared
        for rater in material.numbers[dimension.name].pairs
    ]
    return material.exhibits.table(
        "agreement-other-coefficients",
        ("dimension", "rater", *_OTHERS.values()),
        rows,
        caption="Other coefficients of agreement with the clinicians",
        shown=60,
        folded=True,
    )


def _beside(material: Material) -> Html:
    rows: list[tuple[Cell, ...]] = []
    for dimension in material.evidence.dimensions:
        numbers = material.numbers[dimension.name]
        for rater, found in numbers.beside.items():
            for name, each in found.items():
                verdict = {True: "not inferior", False: "not shown", None: "no verdict"}[each.non_inferior]
                rows.append(
                    (
                        dimension.label,
                        rater,
                        NAMES[name],
                        each.judge_human.n,
                        each.judge_human,
                        each.human_human,
                        each.difference,
                        p_value(each.p_value),
                        verdict,
                    )
                )
    if not rows:
        text = (
            "One clinician only: how well clinicians agree with one another, the fair yardstick, is "
            "not known here."
        )
        return paragraph(text, class_="note") if len(material.evidence.clinicians) == 1 else Html("")
    # The gate's statistic first; the page shows that one, the CSV all of them.
    wanted = NAMES.get(material.evidence.rules.statistic, "")
    rows.sort(key=lambda row: row[2] != wanted)
    first = sum(1 for row in rows if row[2] == wanted) or len(rows)
    return material.exhibits.table(
        "human-baseline",
        (
            "dimension",
            "rater",
            "coefficient",
            "n",
            "rater with clinician",
            "clinician with clinician",
            "difference",
            "p",
            f"margin {material.evidence.rules.margin:g}",
        ),
        rows,
        caption="Mean agreement of a rater with single clinicians beside that of clinicians with one "
        "another, on the same "
        "cases. The difference has a 90 % interval: its lower end is the one-sided 95 % bound.",
        shown=min(first, 40),
    )


def _forest(material: Material) -> Html:
    lines: list[tuple[str, Estimate, Estimate | None]] = []
    for dimension in material.compared[:PANELS]:
        numbers = material.numbers[dimension.name]
        name = "kappa_quadratic" if dimension.grades else "icc_2_1"
        beside = numbers.beside.get(material.evidence.jury, {}).get(name)
        if beside is not None:
            lines.append(
                (f"{short(dimension.label)} ({NAMES[name]})", beside.judge_human, beside.human_human)
            )
        else:
            found = numbers.pair(material.evidence.jury, name)
            if found is not None:
                lines.append((f"{short(dimension.label)} ({NAMES[name]})", found, None))
    if not lines:
        return Html("")
    floor = material.evidence.rules.floor
    return material.exhibits.figure(
        "agreement",
        (7.5, 1.2 + 0.45 * len(lines)),
        lambda figure: _draw(figure, lines, floor),
        caption="Agreement of the jury with single clinicians, beside that of clinicians with one "
        "another, with 95 % intervals; "
        f"the dashed line is the floor of the gate ({floor:g})."
        + only_some(len(lines), len(material.compared), "tables/agreement.csv"),
        alt="; ".join(
            f"{label}: jury {_spoken(jury)}, clinicians {_spoken(human)}" for label, jury, human in lines
        ),
    )


def _draw(figure: Figure, lines: list[tuple[str, Estimate, Estimate | None]], floor: float) -> None:
    axes = figure.subplots()
    for side, (place_by, colour, marker, label) in enumerate(
        (
            (-0.12, JURY_COLOUR, MARKERS[0], "jury with clinician"),
            (0.12, CLINICIAN_COLOUR, MARKERS[1], "clinician with clinician"),
        )
    ):
        drawn = False
        for place, line in enumerate(lines):
            found = line[1 + side]
            if not isinstance(found, Estimate) or found.value is None:
                continue
            low, high = (
                found.low if found.low is not None else found.value,
                found.high if found.high is not None else found.value,
            )
            axes.plot([low, high], [place + place_by] * 2, color=colour, linewidth=1.6)
            axes.plot(
                [found.value],
                [place + place_by],
                marker=marker,
                color=colour,
                markersize=6,
                linestyle="none",
                label=None if drawn else label,
            )
            axes.annotate(
                f"n = {found.n:,}",
                (high, place + place_by),
                xytext=(4, 0),
                textcoords="offset points",
                va="center",
                fontsize=7,
            )
            drawn = True
    axes.axvline(floor, color=COLOURS[6], linestyle="--", linewidth=1)
    axes.set_yticks(range(len(lines)), [line[0] for line in lines])
    axes.set_ylim(len(lines) - 0.5, -0.5)
    axes.set_xlim(right=1.05)
    axes.set_xlabel("agreement (1 is perfect, 0 is chance)")
    axes.set_ylabel("dimension")
    figure.legend(loc="outside upper left", ncols=2)


def _by_system(material: Material) -> Html:
    """Pooled agreement is mostly good systems against bad ones: within a system it is another number."""
    rows: list[tuple[Cell, ...]] = []
    for dimension in material.compared:
        numbers = material.numbers[dimension.name]
        for rater in material.evidence.voices:
            within = numbers.pair(rater, "spearman_within_systems")
            if within is not None:
                rows.append(
                    (
                        dimension.label,
                        rater,
                        numbers.pair(rater, "spearman"),
                        numbers.pair(rater, "spearman_between_systems"),
                        within,
                        numbers.pair(rater, "spearman_system_mean_baseline"),
                    )
                )
    if not rows:
        return Html("")
    table = material.exhibits.table(
        "agreement-by-system",
        (
            "dimension",
            "rater",
            "all answers",
            "between systems",
            "within a system",
            "knowing only the system",
        ),
        rows,
        caption="Spearman's rho with the clinicians, pooled and apart",
        shown=60,
    )
    note = (
        "Agreement over all answers is partly good systems against bad ones. The last column is a "
        "baseline that knows "
        "nothing but which system answered; a judge that reads the answers should beat it, and agree "
        "within a system."
    )
    return Html(element("h3", "Between systems and within them") + paragraph(note) + table)


def _spoken(found: Estimate | None) -> str:
    return "not known" if found is None or found.value is None else f"{found.value:.2f}"
