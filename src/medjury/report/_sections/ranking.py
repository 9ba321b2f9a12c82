"""Which system is better, and which cannot be told apart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from medjury.foundation.errors import MedjuryError
from medjury.report._exhibits import COLOURS, JURY_COLOUR
from medjury.report._figure import Figure
from medjury.report._html import Cell, Html, bullets, element, paragraph
from medjury.report._material import Material, Section, short
from medjury.statistics import percent, shown
from medjury.tables import Measured

if TYPE_CHECKING:
    from medjury.analysis.ranking import Ranking


# The jury's order of the systems beside the clinicians', on the held-out answers that both scored.

_MOST = 24
# Mean by the jury, by the clinicians and by the calibrated jury (NaN: not known), and over how many scores.
Means = dict[str, tuple[float, float, float, int]]


def order_of_systems(material: Material, found: Ranking) -> Html:
    means = _means(material)
    if len(means) < 2:
        return Html("")
    sides = (0, 1) if np.isnan([each[2] for each in means.values()]).any() else (0, 1, 2)
    ranks = [_ranks(means, side) for side in sides]
    # Systems that are tied on one side stand in the order of the other, so that no line crosses for nothing.
    orders = [sorted(means, key=lambda each: (ranks[side][each], ranks[side != 1][each])) for side in sides]
    places = [{name: place for place, name in enumerate(order, start=1)} for order in orders]
    named = ("jury's {}", "clinicians' {}", "jury's {}, calibrated")[: len(sides)]
    rows: list[dict[str, Cell]] = [
        {
            "system": system,
            **{words.format("rank"): _rank_shown(ranks[side], system) for side, words in enumerate(named)},
            **{words.format("mean"): means[system][side] for side, words in enumerate(named)},
            "scores": means[system][3],
        }
        for system in orders[0]
    ]
    table = material.exhibits.table(
        "ranking-beside-clinicians",
        rows,
        caption="The order of the systems by jury and by clinicians, on the answers that both scored, cases used "
        f"for development left out ({_unit(material)}). Systems with the same mean are tied and share a rank"
        + ("; each calibrated score is by a map that never saw its case" if len(sides) > 2 else ""),
    )
    table = Html(table + _agreement(material, found))
    title = element("h3", "Beside the clinicians' order")
    if len(means) > _MOST:
        return Html(title + table)
    picture = material.exhibits.figure(
        "ranking-bump",
        (3.5 + 2.5 * (len(sides) - 1), 1.0 + 0.32 * len(means)),
        lambda figure: _order_of_systems_draw(figure, places, ranks, means),
        caption="The systems' order by jury and by clinicians on the same answers. Lines that cross are systems on "
        f"which they disagree. Each has its rank and its mean score ({_unit(material)})."
        + (" On the right the same of the jury's calibrated scores." if len(sides) > 2 else ""),
        alt="; ".join(
            f"{system}: {_rank_shown(ranks[0], system)} by the jury, {_rank_shown(ranks[1], system)} by clinicians"
            for system in orders[0]
        ),
    )
    return Html(title + picture + table)


def _ranks(means: Means, side: int) -> dict[str, int]:
    """One more than the systems with a higher mean; means that differ in the sixteenth digit alone are equal."""
    return {
        system: 1 + sum(other[side] > own[side] + 1e-9 for other in means.values())
        for system, own in means.items()
    }


def _rank_shown(ranks: dict[str, int], system: str) -> Cell:
    rank = ranks[system]
    return f"{rank} (tied)" if list(ranks.values()).count(rank) > 1 else rank


def _agreement(material: Material, found: Ranking) -> Html:
    """How alike the orders are, as scored and, where the scores can be calibrated, after that."""
    from medjury.analysis.ranking import agreement_after

    if found.agreement is None:
        return Html("")
    made = _alike(
        material,
        "",
        found.agreement.rows,
        "How far each rater orders the systems as the clinicians do, each by every answer that it scored itself",
    )
    try:
        after = agreement_after(material.evidence.table, material.calibration)
    except MedjuryError:
        after = None
    if after is not None:
        made = Html(
            made
            + _alike(material, "-calibrated", after.rows, "The same with calibrated scores (out of fold)")
        )
    return Html(made + bullets(map(material.about, found.agreement.warnings)))


def _alike(material: Material, which: str, rows: Sequence[Any], caption: str) -> Html:
    return material.exhibits.table(
        f"ranking-agreement{which}",
        [
            {
                "rater": each.rater,
                "Kendall's tau-b": each.tau,
                "systems": len(each.systems),
                "pairs alike": each.concordant,
                "pairs against": each.discordant,
                "pairs tied": each.tied,
            }
            for each in rows
        ],
        caption=caption,
    )


def ranked_by(material: Material) -> tuple[Measured, ...]:
    """What the systems are ranked by (`RatingTable.rank_by`), else every dimension that raters gave themselves."""
    table = material.evidence.table
    return table.counted if table.rank_by is None else table.chosen(table.rank_by)


def _unit(material: Material) -> str:
    if all(each.grades is None for each in ranked_by(material)):
        return "means are as they are given"
    return "means are shares of the scale"


def _means(material: Material) -> Means:
    """Means over dimensions of the means of each, as shares of the scale (1 is best), or as given."""
    evidence = material.evidence
    found: dict[str, list[tuple[float, float, float, int]]] = {}
    calibrated = _calibrated(material)
    ranked = ranked_by(material)
    bare = all(each.grades is None for each in ranked)  # a composite: nobody can say what its scale is
    for dimension in ranked:
        if dimension.grades is None and not bare:
            continue
        grid, *sides = evidence.both(dimension.name)
        low, span = 0.0, 1.0
        if dimension.grades is not None:
            low, span = dimension.grades.lowest, dimension.grades.highest - dimension.grades.lowest
        known = calibrated.get(dimension.name, {})
        units = zip(grid.items.tolist(), grid.systems.tolist(), strict=True)
        sides.append(np.array([known.get(unit, np.nan) for unit in units]))
        human, jury, after = ((dimension.oriented(scores) - low) / span for scores in sides)
        for system in evidence.table.systems:
            here = grid.systems == system
            if here.any():
                one, two, three = (float(each[here].mean()) for each in (jury, human, after))
                found.setdefault(system, []).append((one, two, three, int(here.sum())))
    return {
        system: (
            float(np.mean([each[0] for each in parts])),
            float(np.mean([each[1] for each in parts])),
            float(np.mean([each[2] for each in parts])),
            sum(each[3] for each in parts),
        )
        for system, parts in found.items()
    }


def _calibrated(material: Material) -> dict[str, dict[tuple[str, str], float]]:
    """By dimension the calibrated score of every answer, of the rater on trial; nothing where it cannot be."""
    table, rater = material.evidence.table, material.evidence.rater
    try:
        study = material.calibration
    except MedjuryError:
        return {}
    found = {
        each.dimension: dict(
            zip(
                zip(each.part.grid.items.tolist(), each.part.grid.systems.tolist(), strict=True),
                each.pairs.calibrated.tolist(),
                strict=True,
            )
        )
        for each in study.calibrations
        if each.rater == rater
    }
    followed = study.followed_scores(table.instrument) if table.instrument and not table.criteria else {}
    return {name: scores for (who, name), scores in followed.items() if who == rater} | found


def _order_of_systems_draw(
    figure: Figure, places: list[dict[str, int]], ranks: list[dict[str, int]], means: Means
) -> None:
    last = len(places) - 1
    axes = figure.axes(
        x_name="ranked by",
        y_name="order",
        x_ticks=list(enumerate(("jury", "clinicians", "jury, calibrated")[: last + 1])),
        y_ticks=[],
        x_limits=(-0.9, last + 0.9),
        y_limits=(len(means) + 0.5, 0.5),
        grid="",
    )
    for number, system in enumerate(places[0]):
        ups = [each[system] for each in places]
        axes.line(range(last + 1), ups, COLOURS[number % len(COLOURS)], marker="o", width=1.5, size=3)
        ranked = [_rank_shown(own, system) for own in ranks]
        told = [f"{shown(mean)}, {rank}" for mean, rank in zip(means[system], ranked, strict=False)]
        axes.text(0, ups[0], f"{short(system, 18)} {told[0]}", shift=-6, anchor="end", size=8)
        if last > 1:
            axes.text(1, ups[1] - 0.3, told[1], anchor="middle", size=7)
        axes.text(last, ups[last], f"{told[last]} {short(system, 18)}", shift=6, size=8)


_TITLE = "Ranking of the systems"


def place_of(row: Any) -> dict[str, Cell]:
    """Where a ranking puts a system, and what it leaves open."""
    open_to = f"{row.rank_low} to {row.rank_high}"
    return {"system": row.system, "rank": row.rank, "ranks left open": open_to, "tie groups": row.tie_group}


def ranking(material: Material) -> Section | None:
    evidence = material.evidence
    if len(evidence.table.systems) < 2 or not evidence.rater:
        return None
    if all(each.derived for each in ranked_by(material)):
        material = material.of_answers()
    from medjury.analysis.ranking import rank

    try:
        found = rank(evidence.table)
    except MedjuryError as error:
        return Section("ranking", _TITLE, paragraph(str(error), class_="note"))
    rows: list[dict[str, Cell]] = [
        {
            **place_of(each),
            "mean score": each.macro_average,
            "win rate": each.win_rate,
            "scores": each.n,
            "unscored": each.n_unscored,
        }
        for each in found.rows
    ]
    named = evidence.table.rank_by
    over = "all dimensions" if named is None else " and ".join(evidence.label(name) for name in named)
    scaled = any(each.grades is not None for each in ranked_by(material))
    unit = f" in {found.scale}" if scaled and found.scale else ""
    known = {each.name for each in evidence.table.dimensions}
    alike = (
        "" if known.issuperset(found.benchmarks) else f" (the {len(found.benchmarks)} benchmarks weigh alike)"
    )
    table = material.exhibits.table(
        "ranking",
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
    seen_by = material.about("the jury") if not evidence.table.juries else "this jury"
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
    rows: list[dict[str, Cell]] = [
        {**place_of(each), "mean score": each.mean, "labels": each.labels} for each in estimated.rows
    ]
    made = material.exhibits.table(
        "ranking-by-reference",
        rows,
        caption=f"The same {estimated.title}. These ranks hold however biased the jury is, if the labelled cases "
        "are a random draw",
    )
    return made + bullets(map(material.about, estimated.warnings))


def _draw(figure: Figure, found: Ranking, measured: str) -> None:
    axes = figure.lines([short(each.system) for each in found.rows], x_name=measured, y_name="system")
    for place, each in enumerate(found.rows):
        axes.estimate(each.macro_average, place, JURY_COLOUR, words=f"{each.tie_group}  n = {each.n:,}")
