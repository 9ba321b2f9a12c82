"""Which system is better, and which cannot be told apart."""

from __future__ import annotations

from typing import TYPE_CHECKING

from medjury.foundation.errors import MedjuryError
from medjury.report._exhibits import JURY_COLOUR
from medjury.report._figure import Figure
from medjury.report._html import Cell, Html, bullets, paragraph
from medjury.report._material import Material, Section, short
from medjury.report._sections.order_of_systems import order_of_systems, ranked_by
from medjury.statistics import percent, shown

if TYPE_CHECKING:
    from medjury.analysis.ranking import Ranking

_TITLE = "Ranking of the systems"


def section(material: Material) -> Section | None:
    evidence = material.evidence
    if len(evidence.table.systems) < 2 or not evidence.rater:
        return None
    from medjury.analysis.ranking import rank

    try:
        found = rank(evidence.table)
    except MedjuryError as error:
        return Section("ranking", _TITLE, paragraph(str(error), class_="note"))
    rows: list[tuple[Cell, ...]] = [
        (
            each.system,
            each.rank,
            f"{each.rank_low} to {each.rank_high}",
            each.tie_group,
            each.macro_average,
            each.win_rate,
            each.n,
            each.n_unscored,
        )
        for each in found.rows
    ]
    named = evidence.table.settings.rank_by
    over = "all dimensions" if named is None else " and ".join(evidence.label(name) for name in named)
    scaled = any(each.grades is not None for each in ranked_by(material))
    unit = f" in {found.scale}" if scaled and found.scale else ""
    known = {each.name for each in evidence.table.dimensions}
    alike = (
        "" if known.issuperset(found.benchmarks) else f" (the {len(found.benchmarks)} benchmarks weigh alike)"
    )
    table = material.exhibits.table(
        "ranking",
        ("system", "rank", "ranks left open", "tie groups", "mean score", "win rate", "scores", "unscored"),
        rows,
        caption=f"By {', '.join(found.raters)}: the mean score over {over}{unit}, each turned so that "
        f"more is better{alike}, with {percent(evidence.confidence)} intervals that resample whole {found.unit}. "
        "Systems that share a letter are not told apart by these data",
    )
    picture = material.exhibits.figure(
        "ranking",
        (7.5, 1.1 + 0.3 * len(found.rows)),
        lambda figure: _draw(figure, found, f"mean score{unit}"),
        caption=f"Mean score with {percent(evidence.confidence)} interval and tie groups.",
        alt="; ".join(
            f"{each.rank}. {each.system} {shown(each.macro_average.value)} ({each.tie_group})"
            for each in found.rows
        ),
    )
    seen_by = material.about("the jury") if evidence.table.no_jury else "this jury"
    lead = f"The ranking is by the mean score over {over}, as {seen_by} sees it."
    if not found.paired:
        lead += " It is unpaired: every case has the answer of one system, so the systems answered different cases."
    if any(verdict.word != "VALIDATED" for verdict in material.validation.verdicts):
        lead += material.about(" It can be trusted no further than the jury: read the verdict first.")
    warnings = [each for each in found.warnings if each not in evidence.table.warnings]
    body = (
        paragraph(lead)
        + picture
        + table
        + _by_reference(material, found)
        + order_of_systems(material, found)
        + bullets(map(material.about, warnings))
    )
    return Section("ranking", _TITLE, Html(body))


def _by_reference(material: Material, found: Ranking) -> str:
    """The clinicians' ranking, where enough of them labelled answers to estimate it."""
    estimated = found.reference_ranks
    if estimated is None:
        return ""
    rows: list[tuple[Cell, ...]] = [
        (
            each.system,
            each.rank,
            f"{each.rank_low} to {each.rank_high}",
            each.tie_group,
            each.mean,
            each.labels,
        )
        for each in estimated.rows
    ]
    made = material.exhibits.table(
        "ranking-by-reference",
        ("system", "rank", "ranks left open", "tie groups", "mean score", "labels"),
        rows,
        caption=f"The same {estimated.title}. These ranks hold however biased the jury is, if the labelled cases "
        "are a random draw",
    )
    return made + bullets(map(material.about, estimated.warnings))


def _draw(figure: Figure, found: Ranking, measured: str) -> None:
    axes = figure.axes(
        x_name=measured,
        y_name="system",
        y_ticks=[(place, short(each.system)) for place, each in enumerate(found.rows)],
        y_limits=(len(found.rows) - 0.5, -0.5),
        grid="x",
    )
    for place, each in enumerate(found.rows):
        value = each.macro_average.value or 0.0
        axes.span(each.macro_average.low, each.macro_average.high, place, JURY_COLOUR)
        axes.points([value], [place], JURY_COLOUR)
        end = value if each.macro_average.high is None else each.macro_average.high
        axes.text(end, place, f"{each.tie_group}  n = {each.n:,}", shift=5)
