"""Which system is better, and which cannot be told apart."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from medjury.errors import MedjuryError
from medjury.ranking import Ranking, rank, read_scores
from medjury.report._exhibits import COLOURS, JURY_COLOUR
from medjury.report._html import Cell, Html, bullets, element, paragraph
from medjury.report._material import Material, Section, short
from medjury.validation import oriented

_BUMP = 24


def section(material: Material) -> Section | None:
    if len(material.evidence.systems) < 2 or not material.evidence.jury:
        return None
    title = "Ranking of the systems"
    try:
        found = ranking(material)
    except MedjuryError as error:
        return Section("ranking", title, paragraph(str(error), class_="note"))
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
        for each in found.standings
    ]
    table = material.exhibits.table(
        "ranking",
        (
            "system",
            "rank",
            "ranks left open",
            "tie groups",
            "mean score (share of the scale)",
            "win rate",
            "answers",
            "unscored",
        ),
        rows,
        caption="By the jury's mean score over all dimensions, each turned so that 1 is best. Systems "
        "that share a letter are "
        "not told apart by these data",
        digits=3,
    )
    count = len(found.standings)
    picture = material.exhibits.figure(
        "ranking",
        (7.5, 1.1 + 0.3 * count),
        lambda figure: _draw(figure, found),
        caption=f"Mean score with 95 % interval and tie groups; intervals resample whole {found.unit}.",
        alt="; ".join(
            f"{each.rank}. {each.system} {each.macro_average.value or 0:.3f} ({each.tie_group})"
            for each in found.standings
        ),
    )
    lead = (
        "The ranking is the jury's. It can be trusted no further than the jury: read the verdict first."
        if any(verdict.word != "VALIDATED" for verdict in material.verdicts)
        else "The ranking is the jury's."
    )
    return Section(
        "ranking", title, Html(paragraph(lead) + picture + table + _bump(material) + bullets(found.warnings))
    )


def ranking(material: Material) -> Ranking:
    """The systems by the jury's scores, every dimension brought to 0 (worst) to 1 (best)."""
    evidence = material.evidence
    parts = []
    for dimension in evidence.gated:
        if dimension.grades is None:
            continue
        grid = evidence.grids[dimension.name]
        said = grid.scores[evidence.jury]
        known = ~np.isnan(said) & (grid.systems != "")
        low, high = dimension.grades[0], dimension.grades[-1]
        parts.append(
            pl.DataFrame(
                {
                    "item": grid.items[known],
                    "system": grid.systems[known],
                    "rater": [evidence.jury] * int(known.sum()),
                    "rater_kind": ["jury"] * int(known.sum()),
                    "dimension": [dimension.name] * int(known.sum()),
                    "score": (oriented(said, dimension)[known] - low) / (high - low),
                }
            )
        )
    if not parts:
        raise MedjuryError("a ranking needs dimensions with a known scale.")
    scores = read_scores(pl.concat(parts), raters=[evidence.jury], missing="common")
    resamples = 1000 if len(evidence.systems) <= 20 else 400
    return rank(scores, resamples=min(evidence.settings.resamples, resamples), seed=evidence.settings.seed)


def _draw(figure: Figure, found: Ranking) -> None:
    axes = figure.subplots()
    for place, each in enumerate(found.standings):
        value = each.macro_average
        low = value.low if value.low is not None else value.value or 0.0
        high = value.high if value.high is not None else value.value or 0.0
        axes.plot([low, high], [place, place], color=JURY_COLOUR, linewidth=1.6)
        axes.plot([value.value or 0.0], [place], marker="o", color=JURY_COLOUR, markersize=5)
        axes.annotate(
            f"{each.tie_group}  n = {each.n:,}",
            (high, place),
            (5, 0),
            textcoords="offset points",
            va="center",
            fontsize=7.5,
        )
    axes.set_yticks(range(len(found.standings)), [short(each.system) for each in found.standings])
    axes.set_ylim(len(found.standings) - 0.5, -0.5)
    axes.margins(x=0.15)
    axes.set_xlabel("mean score (share of the scale, 1 is best)")
    axes.set_ylabel("system")


def _bump(material: Material) -> Html:
    """The jury's order beside the clinicians', on the held-out answers that both scored."""
    evidence = material.evidence
    if not evidence.clinicians:
        return Html("")
    means = _both_means(material)
    if len(means) < 2:
        return Html("")
    ordered = sorted(means, key=lambda system: -means[system][0])
    jury = {system: place + 1 for place, system in enumerate(ordered)}
    humans = {
        system: place + 1 for place, system in enumerate(sorted(means, key=lambda name: -means[name][1]))
    }
    rows: list[tuple[Cell, ...]] = [
        (system, jury[system], humans[system], means[system][0], means[system][1], means[system][2])
        for system in ordered
    ]
    table = material.exhibits.table(
        "ranking-beside-clinicians",
        ("system", "jury's rank", "clinicians' rank", "jury's mean", "clinicians' mean", "scores"),
        rows,
        caption="The order of the systems by jury and by clinicians, on the answers that both scored, "
        "cases used for development left out (share of the scale)",
        digits=3,
    )
    if len(ordered) > _BUMP:
        return Html(element("h3", "Beside the clinicians' order") + table)
    picture = material.exhibits.figure(
        "ranking-bump",
        (6, 1.0 + 0.32 * len(ordered)),
        lambda figure: _draw_bump(figure, ordered, jury, humans, means),
        caption="The systems' order by jury and by clinicians on the same answers. Lines that cross are "
        "systems on which they "
        "disagree. The number is the mean score as a share of the scale.",
        alt="; ".join(
            f"{system}: {jury[system]} by the jury, {humans[system]} by clinicians" for system in ordered
        ),
    )
    return Html(element("h3", "Beside the clinicians' order") + picture + table)


def _both_means(material: Material) -> dict[str, tuple[float, float, int]]:
    evidence = material.evidence
    sums: dict[str, list[tuple[float, float, int]]] = {}
    for dimension in evidence.gated:
        if dimension.grades is None:
            continue
        grid = evidence.held_out(evidence.grids[dimension.name])
        low, span = dimension.grades[0], dimension.grades[-1] - dimension.grades[0]
        said, wanted = (
            (oriented(scores, dimension) - low) / span
            for scores in (grid.scores[evidence.jury], evidence.reference(grid))
        )
        both = ~np.isnan(said) & ~np.isnan(wanted)
        for system in evidence.systems:
            here = both & (grid.systems == system)
            if here.any():
                sums.setdefault(system, []).append(
                    (float(said[here].mean()), float(wanted[here].mean()), int(here.sum()))
                )
    return {
        system: (
            float(np.mean([each[0] for each in found])),
            float(np.mean([each[1] for each in found])),
            sum(each[2] for each in found),
        )
        for system, found in sums.items()
    }


def _draw_bump(
    figure: Figure, ordered: list[str], jury: dict[str, int], humans: dict[str, int], means: dict[str, Any]
) -> None:
    axes = figure.subplots()
    for place, system in enumerate(ordered):
        colour = COLOURS[place % len(COLOURS)]
        axes.plot([0, 1], [jury[system], humans[system]], color=colour, marker="o", linewidth=1.5)
        beside: dict[str, Any] = {"textcoords": "offset points", "va": "center", "fontsize": 8}
        left, right = (f"{means[system][side]:.2f}" for side in (0, 1))
        axes.annotate(f"{short(system, 18)} {left}", (0, jury[system]), (-6, 0), ha="right", **beside)
        axes.annotate(f"{right} {short(system, 18)}", (1, humans[system]), (6, 0), ha="left", **beside)
    axes.set_xlim(-0.9, 1.9)
    axes.set_ylim(len(ordered) + 0.5, 0.5)
    axes.set_xticks([0, 1], ["jury", "clinicians"])
    axes.set_yticks(range(1, len(ordered) + 1))
    axes.set_ylabel("rank")
    axes.set_xlabel("ranked by")
    axes.grid(visible=False)
