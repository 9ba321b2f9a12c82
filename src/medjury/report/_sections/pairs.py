"""Pairs: which system is preferred, whether the place decided, and whether clinicians order systems alike."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from medjury.foundation.errors import MedjuryError
from medjury.report._exhibits import JURY_COLOUR
from medjury.report._figure import Figure
from medjury.report._html import Cell, Html, bullets, element, paragraph, table_of
from medjury.report._material import Material, Section, short
from medjury.report._sections.ranking import place_of
from medjury.statistics import percent, shown

if TYPE_CHECKING:
    from medjury.analysis.ranking import PairStanding

_TITLE = "Which system is preferred"


def preferred_systems(material: Material) -> Section | None:
    """The systems in order by preferences, each rater's verdicts, and the clinicians' own order."""
    if not material.evidence.table.pairs:
        return None
    try:
        found = material.preferred
    except MedjuryError as error:
        return Section("pairs", _TITLE, paragraph(str(error), class_="note"))
    who = ", ".join(found.raters)
    lead = material.about(
        f"Two answers to one case were laid side by side, and {who} chose the better one. Strengths are in "
        "log-odds, the mean of all systems being 0; the expected share is that of wins against the others, a tie "
        "being half of one. What the first place is worth is estimated beside them and takes no part in the order."
    )
    caption = (
        f"By {who}: Bradley and Terry's model with ties. {percent(material.evidence.confidence)} intervals "
        "resample whole cases (patients where one has several). Systems that share a letter are not told apart"
    )
    drawn = [row for row in found.rows if row.expected_share.value is not None]
    picture = (
        material.exhibits.figure(
            "pairs",
            (7.5, 1.1 + 0.3 * len(drawn)),
            lambda figure: _draw(figure, material),
            caption=f"The expected share of wins, with its interval, and tie groups: by {who}.",
            alt="; ".join(f"{row.rank}. {row.system} {shown(row.expected_share)}" for row in drawn),
        )
        if drawn
        else Html("")
    )
    parts = [
        paragraph(lead),
        bullets(map(material.about, found.warnings)),
        picture,
        _systems(
            material,
            "pairs",
            found.rows,
            caption,
        ),
    ]
    if found.reference_ranks is not None:
        parts.append(element("h3", "Beside the clinicians' order"))
        parts.append(bullets(found.reference_ranks.warnings))
        parts.append(
            _systems(
                material,
                "pairs-reference",
                found.reference_ranks.rows,
                f"The same {found.reference_ranks.title}",
            )
        )
        if found.agreement is not None:
            tau = found.agreement.rows[0]
            parts.append(
                paragraph(
                    f"Kendall's tau-b of the two orders is {shown(tau.tau)}: {tau.concordant:,} pairs of systems "
                    f"are in the same order, {tau.discordant:,} in the other, {tau.tied:,} tied in one of them."
                )
            )
    parts += [
        element("h3", "Does the place decide?"),
        bullets(map(material.about, found.each_rater.warnings)),
        _raters(material),
    ]
    return Section("pairs", _TITLE, Html("".join(parts)))


def board_shares(material: Material, *, by_jury: bool) -> Html | None:
    """For the board: the expected share of wins of each system, by the clinicians where they were asked; None where
    there is nothing that may be shown."""
    try:
        found = material.preferred
    except MedjuryError:
        return None
    part = found.reference_ranks or (found if by_jury else None)
    if part is None:
        return None
    head = [element("th", title, scope="col") for title in ("system", "preferred to the others")]
    rows = [
        element(
            "tr",
            element("th", short(row.system, 40), scope="row"),
            element("td", shown(row.expected_share, 2)),
        )
        for row in part.rows[:6]
    ]
    whose = "Clinicians'" if found.reference_ranks is not None else material.about("The jury's")
    words = (
        f"{whose} preferences between two answers to a case: the expected share of wins, a tie being half of "
        f"one, with {percent(material.evidence.confidence)} interval."
    )
    table = table_of("How often each system is preferred", head, rows)
    return Html(table + paragraph(words, class_="soft"))


def _systems(material: Material, name: str, rows: Sequence[PairStanding], caption: str) -> Html:
    lines: list[dict[str, Cell]] = [
        {
            **place_of(row),
            "strength": row.strength,
            "expected share": row.expected_share,
            "won": row.wins,
            "tied": row.ties,
            "lost": row.losses,
        }
        for row in rows
    ]
    return material.exhibits.table(name, lines, caption=caption)


def _raters(material: Material) -> Html:
    rows = material.preferred.each_rater.rows
    equal = any(row.same_text for row in rows)
    lines: list[dict[str, Cell]] = [
        {
            "rater": row.rater,
            "verdicts": row.verdicts,
            "no verdict": row.n_unscored,
            "ties": row.ties,
            "won by the first place": row.first_place,
            "triples": row.triples,
            "in a circle": row.circular,
            **({"equal texts": row.same_text, "of these tied": row.same_text_tied} if equal else {}),
        }
        for row in rows
    ]
    return material.exhibits.table(
        "pairs-raters",
        lines,
        caption="Each rater: of decided verdicts, the share that the first place wins between equally strong "
        "systems (half, where the place does not matter); and of three systems on one case that the rater put in "
        "order, how often A is over B, B over C and C over A"
        + (". On two equal texts a tie is right" if equal else ""),
        shown=60,
    )


def _draw(figure: Figure, material: Material) -> None:
    rows = [row for row in material.preferred.rows if row.expected_share.value is not None]
    axes = figure.lines([short(row.system) for row in rows], x_name="expected share of wins", y_name="system")
    for place, row in enumerate(rows):
        axes.estimate(row.expected_share, place, JURY_COLOUR, words=row.tie_group)
