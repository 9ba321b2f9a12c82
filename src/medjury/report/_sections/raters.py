"""Who agrees with whom: weighted kappa and Spearman's rho between every two raters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from medjury.analysis.agreement import RaterPair, cohen_kappa, rater_pairs, spearman
from medjury.report._axes import Axes
from medjury.report._exhibits import BLUES, CLINICIAN_COLOUR, COLOURS, JURY_COLOUR
from medjury.report._figure import heat
from medjury.report._html import Cell, Html, paragraph
from medjury.report._material import Material, Section, only_some, short
from medjury.report._svg import SOFT
from medjury.tables import Measured

# Who the clinicians are: panel, years, specialty, seniority, as far as their file says it.


def profiles(material: Material) -> Html:
    """A line for each rater that something is known of; nothing where nothing is."""
    table = material.evidence.table
    columns = list(dict.fromkeys(name for own in table.run.profiles.values() for name in own))
    if not columns:
        return Html("")
    stated = {name: f"stated {name}" if name in ("rater", "role") else name for name in columns}
    rows: list[dict[str, Cell]] = [
        {
            "rater": rater,
            "role": _role(material, rater),
            **{title: own.get(name) for name, title in stated.items()},
        }
        for rater, own in sorted(table.run.profiles.items())
    ]
    table_of_raters = material.exhibits.table(
        "raters", rows, caption="The clinicians, as their file describes them"
    )
    spoken = [
        f"{rater} rated in {own['rated_in']}"
        for rater, own in sorted(table.run.profiles.items())
        if "rated_in" in own
    ]
    return Html(table_of_raters + paragraph("; ".join(spoken) + ".")) if spoken else table_of_raters


def _role(material: Material, rater: str) -> str:
    table = material.evidence.table
    if rater in material.evidence.clinicians:
        return "reference"
    if rater in table.people.second_panel:
        return "second panel"
    return "adjudicator" if rater == table.people.adjudicator else "no part"


_RATERS, _DIMENSIONS = 12, 6
# Pairs that contain their own part (the jury and its judges, an adjudicator) are in the table alone.
_GROUPS = {
    "judge with judge": (JURY_COLOUR, "o"),
    "judge with human": (COLOURS[2], "^"),
    "human with human": (CLINICIAN_COLOUR, "s"),
}
_MAJORITY, _WITH_MAJORITY = "majority vote", "with the majority"
Table = np.ndarray[Any, np.dtype[np.float64]]


def who_agrees(material: Material) -> Section | None:
    evidence = material.evidence
    people = profiles(material)
    only = Section("raters", "The raters", people) if people else None
    if not evidence.roles.raters and len(evidence.clinicians) < 3:
        return only
    scaled = [each for each in evidence.table.counted if each.grades]
    if not scaled:
        return only
    found = rater_pairs(
        evidence.table,
        raters=evidence.named[0],
        reference=evidence.named[1],
        dimensions=[each.name for each in scaled],
    )
    if len(found.raters) < 3:
        return only
    pairs, raters = _and_majority(material, found.rows, found.raters, scaled)
    rows: list[dict[str, Cell]] = [
        {
            "dimension": evidence.label(row.dimension),
            "rater": row.first,
            "with": row.second,
            "who": row.group,
            "answers": row.n,
            "weighted kappa": row.kappa_quadratic,
            "Spearman's rho": row.spearman,
        }
        for row in pairs
    ]
    table = material.exhibits.table(
        "rater-kappas",
        rows,
        caption="Weighted kappa and Spearman's rho between every two raters, on the answers that both scored",
        shown=60,
        folded=True,
    )
    shown = _order(material, raters)
    chosen = scaled[:_DIMENSIONS]
    size = 1.6 + 0.34 * len(shown)
    picture = material.exhibits.panels(
        "rater-kappas",
        chosen,
        lambda axes, each: _draw(axes, each, _matrix(pairs, each.name, shown), shown),
        each=size,
        columns=2,
        wide=9.5,
        caption="Weighted kappa between every two raters, on the answers that both scored."
        + _not_independent(material, pairs)
        + _left_out(len(shown), len(raters))
        + only_some(len(chosen), len(scaled), "tables/rater-kappas.csv"),
        alt="Heat maps of weighted kappa between raters; the table below has every number.",
    )
    return Section(
        "raters",
        "Who agrees with whom",
        Html(
            people
            + paragraph("Judges and clinicians, two by two.")
            + picture
            + _rho_kappa(material, pairs, chosen)
            + table
        ),
    )


def _and_majority(
    material: Material, pairs: Sequence[RaterPair], raters: Sequence[str], dimensions: Sequence[Measured]
) -> tuple[Sequence[RaterPair], Sequence[str]]:
    """The clinicians' majority as one more rater, where it is what raters are held against."""
    evidence = material.evidence
    if evidence.table.people.consensus != "majority" or len(evidence.clinicians) < 3:
        return pairs, raters
    rows = []
    for each in dimensions:
        grid, grades = evidence.grid(each.name), each.grades
        assert grades is not None
        settled = evidence.reference(grid)
        for rater in raters:
            both = ~np.isnan(settled) & ~np.isnan(grid.scores[rater])
            sides = grid.scores[rater][both], settled[both]
            kappa = rho = None
            if both.any():
                graded = map(grades.grade, sides)
                kappa = cohen_kappa(*graded, scale=grades.values, weights="quadratic", interval="none").value
                rho = spearman(*sides, interval="none").value
            rows.append(RaterPair(each.name, rater, _MAJORITY, _WITH_MAJORITY, int(both.sum()), kappa, rho))
    return [*pairs, *rows], [*raters, _MAJORITY]


def _not_independent(material: Material, pairs: Sequence[RaterPair]) -> str:
    groups = {row.group for row in pairs}
    text = ""
    if "with the jury" in groups:
        text = " The jury contains its judges, which raises its agreement with them."
    if "with the adjudicator" in groups:
        text += f" {material.evidence.table.people.adjudicator} settled after reading what the clinicians had said."
    if _WITH_MAJORITY in groups:
        text += " A clinician's own vote is in the majority, which raises the agreement with it."
    return text


def _order(material: Material, raters: Sequence[str]) -> list[str]:
    """Clinicians first, then the rater on trial and the others. Where these are too many for a picture, clinicians
    are left out before judges, down to half of the picture."""
    evidence = material.evidence
    judges = [name for name in raters if name in evidence.raters]
    judges.sort(key=lambda name: name != evidence.rater)
    people = [name for name in raters if name not in evidence.raters]
    kept = people[: max(_RATERS - len(judges), _RATERS // 2)]
    return [*kept, *judges[: _RATERS - len(kept)]]


def _left_out(drawn: int, raters: int) -> str:
    return (
        f" {drawn} of {raters} raters are drawn; all are in tables/rater-kappas.csv."
        if drawn < raters
        else ""
    )


def _matrix(pairs: Sequence[RaterPair], dimension: str, raters: list[str]) -> Table:
    place = {name: number for number, name in enumerate(raters)}
    kappas = np.full((len(raters), len(raters)), np.nan)
    for row in pairs:
        if (
            row.dimension == dimension
            and row.kappa_quadratic is not None
            and {row.first, row.second} <= {*place}
        ):
            one, two = place[row.first], place[row.second]
            kappas[one, two] = kappas[two, one] = row.kappa_quadratic
    return kappas


def _rho_kappa(material: Material, found: Sequence[RaterPair], dimensions: list[Measured]) -> Html:
    """Order against absolute agreement, pair by pair."""
    pairs = {
        each.name: [
            row
            for row in found
            if row.dimension == each.name
            and row.group in _GROUPS
            and row.kappa_quadratic is not None
            and row.spearman is not None
        ]
        for each in dimensions
    }
    drawn = [each for each in dimensions if pairs[each.name]]
    if not drawn:
        return Html("")
    means = [_means(pairs[each.name]) for each in drawn]
    return material.exhibits.panels(
        "rater-pairs",
        drawn,
        lambda axes, each: _draw_pairs(axes, each, pairs[each.name]),
        caption="Each point is a pair of raters: Spearman's rho (same order) against weighted kappa (same grade). "
        "Points far below the dotted line keep the order of the answers at another level, which a calibration "
        "can change."
        + only_some(len(drawn), sum(1 for each in dimensions if each.grades), "tables/rater-kappas.csv"),
        alt="; ".join(f"{each.label}: {text}" for each, text in zip(drawn, means, strict=True)),
    )


def _means(pairs: list[RaterPair]) -> str:
    text = []
    for group in _GROUPS:
        here = [row for row in pairs if row.group == group]
        if here:
            kappa = np.mean([row.kappa_quadratic for row in here if row.kappa_quadratic is not None])
            text.append(f"{group}, {len(here)} pairs, mean kappa {kappa:.2f}")
    return ", ".join(text)


def _draw_pairs(axes: Axes, dimension: Measured, pairs: list[RaterPair]) -> None:
    low = min(min(row.kappa_quadratic or 0.0, row.spearman or 0.0) for row in pairs)
    low = min(0.9, np.floor(10 * low) / 10)
    axes.line([low, 1], [low, 1], SOFT, width=0.8, dash=":")
    for group, (colour, marker) in _GROUPS.items():
        here = [row for row in pairs if row.group == group]
        if here:
            rho, kappa = [row.spearman or 0.0 for row in here], [row.kappa_quadratic or 0.0 for row in here]
            axes.points(rho, kappa, colour, marker=marker, label=group, opacity=0.85)
    axes.title = f"{short(dimension.label, 24)} ({len(pairs)} pairs)"
    axes.x_name, axes.y_name = "Spearman's rho", "weighted kappa"
    axes.x_limits = axes.y_limits = (low - 0.02, 1.02)


def _draw(axes: Axes, dimension: Measured, kappas: Table, raters: list[str]) -> None:
    heat(axes, kappas, BLUES, 0, light=lambda value: value > 0.6)
    names = [short(rater, 14) for rater in raters]
    axes.x_ticks = axes.y_ticks = list(enumerate(names))
    axes.tilted, axes.title = True, short(dimension.label, 30)
    axes.x_name = axes.y_name = "rater"
