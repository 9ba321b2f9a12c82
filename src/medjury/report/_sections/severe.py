"""Severe errors: clinicians saw danger and the judge did not; and whether judges err on the same answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from medjury.analysis.agreement import SevereErrors, error_overlap
from medjury.report._axes import Axes
from medjury.report._exhibits import JURY_COLOUR
from medjury.report._figure import Figure
from medjury.report._html import Cell, Html, paragraph
from medjury.report._material import PANELS, Material, Section, only_some, short
from medjury.statistics import percent

_MEMBERS, _GROUPS = 10, 16
Bar = tuple[str, SevereErrors]


def severe_errors(material: Material) -> Section | None:
    evidence = material.evidence
    rows: list[dict[str, Cell]] = []
    bars: list[Bar] = []
    for dimension in evidence.table.counted:
        for rater in evidence.raters:
            found = evidence.severe(dimension.name, rater)
            if found is None:
                continue
            rows.append(
                {
                    "dimension": dimension.label,
                    "rater": rater,
                    "errors": found.errors,
                    "dangerous with a score": found.dangerous,
                    "dangerous without a score": found.unscored,
                    "rate": found.rate,
                    "rate with unscored as errors": found.worst,
                    "danger": f"{found.threshold:g} or less",
                    "grades too kind": f"{found.gap:g} or more",
                }
            )
            if rater == evidence.rater and found.dangerous:
                bars.append((dimension.label, found))
    if not rows:
        return None
    interval = percent(evidence.confidence)
    table = material.exhibits.table(
        "severe-errors",
        rows,
        caption=f"Severe errors among the answers that {material.whose_danger} called dangerous, with "
        f"{interval} intervals of which the upper end is exact. Danger is what the study states; the gate "
        "sets what the jury misses beside what a colleague misses. Where a low score is the good one, the "
        "scale was reversed first",
        shown=60,
    )
    picture = Html("")
    shown = bars[:PANELS]
    if shown:
        picture = material.exhibits.figure(
            "severe-errors",
            (7.5, 1.0 + 0.4 * len(shown)),
            lambda figure: _draw(figure, shown),
            caption=f"The jury's rate of severe errors with its {interval} interval."
            + only_some(len(shown), len(bars), "tables/severe-errors.csv"),
            alt="; ".join(f"{label}: {found.errors} of {found.dangerous}" for label, found in shown),
        )
    lead = (
        "A severe error is an answer that clinicians placed at the dangerous end of the scale and the jury placed "
        "far above it. These are the mistakes that hurt patients, so they are counted apart."
    )
    overlap = Html("") if evidence.table.weighted else _overlap(material)  # its counts would be of ratings
    words = paragraph(material.about(lead))
    return Section("severe", "Severe errors", Html(words + _missed(material) + picture + table + overlap))


def _missed(material: Material) -> Html:
    """Every answer whose danger the rater on trial did not see, each a link to its votes."""
    evidence = material.evidence
    rows: list[dict[str, Cell]] = []
    for each in material.danger[0]:
        grid = evidence.grid(each.dimension)
        place = ((grid.items == each.item) & (grid.systems == each.system)).argmax()
        scores = [float(grid.scores[name][place]) for name in (*evidence.clinicians, evidence.rater)]
        *humans, jury = ["–" if score != score else f"{score:.3g}" for score in scores]
        rows.append(
            {
                "case": material.case_link(each.item, each.system),
                "dimension": evidence.label(each.dimension),
                "clinicians": ", ".join(grade for grade in humans if grade != "–"),
                "jury": "no score" if jury == "–" else jury,
            }
        )
    caption = (
        f"Missed danger: answers that {material.whose_danger} called dangerous and the jury graded far too "
    )
    caption += "kindly or not at all. To read them beside their source: `medjury view RUN`"
    return material.exhibits.table("missed-danger", rows, caption=caption, shown=60)


def _overlap(material: Material) -> Html:
    """Judges that err on the same answers are one judge."""
    evidence = material.evidence
    judges = evidence.table.judges[:_MEMBERS]
    if len(judges) < 2:
        return Html("")
    rows: list[dict[str, Cell]] = []
    groups: dict[str, Mapping[tuple[str, ...], int]] = {}
    for dimension in evidence.table.counted:
        severe = {
            name: found for name in judges if (found := evidence.severe(dimension.name, name)) is not None
        }
        if any(found.errors for found in severe.values()):
            shared = error_overlap({name: found.flags for name, found in severe.items()})
            groups[dimension.label] = shared
            rows += [
                {
                    "dimension": dimension.label,
                    "exactly these judges": " + ".join(members),
                    "judges": len(members),
                    "answers": count,
                    "share of answers with any": percent(count / sum(shared.values())),
                }
                for members, count in shared.items()
            ]
    table = material.exhibits.table(
        "severe-error-overlap",
        rows,
        head=("dimension", "exactly these judges", "judges", "answers", "share of answers with any"),
        caption="Which judges make their severe errors on the same answers",
        shown=40,
    )
    if not groups:
        return table
    picture = material.exhibits.panels(
        "severe-error-overlap",
        list(groups)[:PANELS],
        lambda axes, label: _draw_overlap(axes, label, judges, groups[label]),
        columns=2,
        each=1.4 + 0.22 * len(judges),
        caption="Severe errors by the judges that make them: each column is a group of answers, its marks are "
        "exactly the judges that err there, the number says on how many answers."
        + only_some(min(len(groups), PANELS), len(groups), "tables/severe-error-overlap.csv"),
        alt="; ".join(
            f"{label}: {' and '.join(members)} on {count}"
            for label, found in groups.items()
            for members, count in found.items()
        ),
    )
    return Html(picture + table)


def _draw_overlap(
    axes: Axes, label: str, judges: Sequence[str], found: Mapping[tuple[str, ...], int]
) -> None:
    order = sorted(found, key=lambda members: (-found[members], members))[:_GROUPS]
    axes.y_ticks = [(float(place), short(name, 18)) for place, name in enumerate(judges)]
    axes.x_ticks = [(float(at), f"{found[members]:,}") for at, members in enumerate(order)]
    axes.x_limits, axes.y_limits = (-0.7, max(len(order), 4) - 0.3), (len(judges) - 0.5, -0.5)
    for at, members in enumerate(order):
        places = [judges.index(name) for name in members]
        axes.line([at, at], [min(places), max(places)], JURY_COLOUR, width=1)
        axes.points([at] * len(places), places, JURY_COLOUR, size=4.5)
    axes.title, axes.x_name, axes.y_name = short(label, 30), "answers in the group", "judge"


def _draw(figure: Figure, bars: list[Bar]) -> None:
    axes = figure.lines(
        [short(label) for label, _ in bars],
        x_name="severe errors (% of dangerous answers)",
        y_name="dimension",
        x_limits=(0, None),
    )
    for place, (_, found) in enumerate(bars):
        value, low, high = (100 * (end or 0.0) for end in (found.rate.value, found.rate.low, found.rate.high))
        axes.span(low, high, place, JURY_COLOUR)
        axes.points([value], [place], JURY_COLOUR)
        axes.text(high, place, f"{found.errors} of {found.dangerous}", shift=5, size=8)
