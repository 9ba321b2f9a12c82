"""Preferences: how often answers agree with the specialist's, which are preferred, and whether the order in which
they were shown decided it; and of pairs, which system is preferred, and whether clinicians order systems alike."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import polars as pl

from medjury.foundation.errors import MedjuryError
from medjury.report._exhibits import JURY_COLOUR
from medjury.report._figure import Figure
from medjury.report._html import Cell, Html, bullets, element, paragraph, sentence, table_of
from medjury.report._material import Material, Section, short
from medjury.report._sections.ranking import place_of
from medjury.report._svg import INK
from medjury.statistics import Estimate, counted_share, percent, shown, undefined

if TYPE_CHECKING:
    from medjury.analysis.ranking import PairStanding
    from medjury.judging import RecordedOrder


_CONCORDANT, _PREFERENCE = "concordant", "preference"
_TITLE = "Concordance and preference"
# Bars of a figure; a judge's and a clinician's.
_LINES, _SHADES, _KINDS = 24, ("#9ecae1", "#fdae6b"), ("judge", "clinician")


@dataclass
class OrderTally:
    """What one judge said in both orders of its pairs; `lean` counts, by patient, the verdicts for the first place
    less those for the second."""

    items: list[str] = field(default_factory=list)
    changed: list[bool] = field(default_factory=list)
    lean: Counter[str] = field(default_factory=Counter)
    first: int = 0
    decided: int = 0
    both_first: int = 0
    both_second: int = 0
    failed: int = 0

    def note(self, item: str, patient: str, orders: Sequence[RecordedOrder]) -> None:
        """Count one pair; one of whose orders has no verdict tells nothing."""
        places = [order.place for order in orders]
        if len(places) < 2 or None in places:
            self.failed += 1
            return
        self.items.append(item)
        self.changed.append(len({order.prefers for order in orders}) > 1)
        first, second = places.count(1), places.count(2)
        self.lean[patient] += first - second
        self.first += first
        self.decided += first + second
        self.both_first += places == [1, 1]
        self.both_second += places == [2, 2]

    def bias(self, confidence: float = 0.95) -> Estimate:
        """Of the cases (a patient's together) whose verdicts lean to one place, the share that lean to the first:
        half, where the order does not matter. Where all lean to one place the interval is exact, so that two cases
        prove nothing."""
        leaning = [lean for lean in self.lean.values() if lean]
        if not leaning:
            return undefined("no case leans to a place", 0, "Wilson score")
        return counted_share([lean > 0 for lean in leaning], confidence=confidence)


def preference(material: Material) -> Section | None:
    evidence = material.evidence
    grades = {each.name: each.grades and each.grades.values for each in evidence.table.dimensions}
    if grades.get(_CONCORDANT) != (0.0, 1.0):
        return None
    compared = grades.get(_PREFERENCE) == (-1.0, 0.0, 1.0)
    body = paragraph(sentence(_lead(compared))) + _shares(material, compared)
    if compared:
        body = Html(body + _orders(material))
    return Section("preference", _TITLE, Html(body))


def _lead(compared: bool) -> str:
    text = "How often an answer was found concordant with the specialist's."
    if not compared:
        return text
    return (
        f"{text} Of the concordant pairs alone, each rater says which answer it would rather have; raters find "
        "different pairs concordant, so their shares have different denominators. By `strategy: concordance` a "
        "judge is asked blind and in both orders, and its preference counts where both agree."
    )


def _shares(material: Material, compared: bool) -> Html:
    evidence = material.evidence
    named = [_CONCORDANT, _PREFERENCE] if compared else [_CONCORDANT]
    rows = evidence.table.rows.filter(
        pl.col("dimension").is_in(named), pl.col("rater_kind").is_in(["judge", "clinician"])
    )
    several = len(evidence.table.systems) > 1
    lines: list[dict[str, Cell]] = []
    by = ["rater_kind", "rater", *(["system"] if several else [])]
    for keys, part in rows.group_by(*by):
        kind, rater, *system = (str(key) for key in keys)
        who: dict[str, Cell] = {"rater": rater, **({"system": system[0]} if several else {}), "kind": kind}
        lines.append(who | _line(material, part, compared))
    lines.sort(key=lambda line: (line["kind"] != "clinician", *map(str, list(line.values())[:2])))
    words = f"with {percent(evidence.confidence)} intervals"
    table = material.exhibits.table(
        "preference",
        lines,
        caption=f"Concordance and, of concordant pairs, the preferred answer, {words}",
        shown=60,
    )
    drawn = [line for line in lines if compared and line["compared"]][:_LINES]
    if not drawn:
        return table
    names = [" · ".join(str(line[key]) for key in ("rater", "system") if key in line) for line in drawn]
    picture = material.exhibits.figure(
        "preference",
        (7.5, 1.1 + 0.3 * len(drawn)),
        lambda figure: _draw(figure, drawn, names),
        caption="Of the concordant pairs that each rater compared, the share in which it prefers the answer to the "
        f"specialist's, {words}.",
        alt="; ".join(
            f"{name}: {shown(line['answer preferred'])}" for name, line in zip(names, drawn, strict=True)
        ),
    )
    return Html(picture + table)


def _draw(figure: Figure, lines: Sequence[Mapping[str, Cell]], names: Sequence[str]) -> None:
    axes = figure.lines([short(name) for name in names], x_name="answer preferred", x_limits=(0, 1))
    axes.rule(x=0.5)
    for place, line in enumerate(lines):
        human, found = line["kind"] == "clinician", line["answer preferred"]
        assert isinstance(found, Estimate)
        axes.box((0, found.value or 0.0), (place - 0.3, place + 0.3), _SHADES[human], label=_KINDS[human])
        axes.span(found.low, found.high, place, INK, width=1)
        axes.text(1, place, f"n = {line['compared']}", shift=5)


def _line(material: Material, part: pl.DataFrame, compared: bool) -> dict[str, Cell]:
    verdicts = part.filter(pl.col("dimension") == _CONCORDANT)
    known = verdicts.filter(pl.col("score").is_not_null())
    found: dict[str, Cell] = {
        "pairs": verdicts.height,
        "no verdict": verdicts.height - known.height,
        "concordant": _share_where(material, known, pl.col("score") == 1),
    }
    if not compared:
        return found
    wanted = part.filter(pl.col("dimension") == _PREFERENCE)
    given = wanted.filter(pl.col("score").is_not_null())
    return found | {
        "compared": given.height,
        "answer preferred": _share_where(material, given, pl.col("score") == 1),
        "specialist preferred": _share_where(material, given, pl.col("score") == -1),
        "neither": given.filter(pl.col("score") == 0).height,
        "not known": wanted.filter(pl.col("status") == "unscored").height,
    }


def _share_where(material: Material, rows: pl.DataFrame, condition: pl.Expr) -> Estimate:
    hits = rows.select(condition.alias("hit"))["hit"].to_list()
    return material.evidence.share(hits, rows["item"].to_list())


def _orders(material: Material) -> Html:
    from medjury.judging import ConcordanceBody

    evidence = material.evidence
    judges: dict[str, OrderTally] = {}
    aside = set(evidence.rules.development_cases)
    for record in material.records.of(ConcordanceBody):
        if record.body.orders and record.item not in aside:
            patient = evidence.patients.get(record.item, record.item)
            judges.setdefault(record.rater, OrderTally()).note(record.item, patient, record.body.orders)
    if not judges:
        return paragraph(
            "No judge was asked in both orders, so it cannot be known whether the order decided its preference. "
            "Use `strategy: concordance`.",
            class_="note",
        )
    lines: list[dict[str, Cell]] = []
    words: list[str] = []
    for judge, each in sorted(judges.items()):
        flips = evidence.share(each.changed, each.items)
        bias = each.bias(evidence.confidence)
        lines.append(
            {
                "judge": judge,
                "pairs": len(each.items),
                "failed": each.failed,
                "changed": flips,
                "first twice": each.both_first,
                "second twice": each.both_second,
                "won by first": f"{each.first:,} of {each.decided:,}",
                "lean to first": bias,
                "order bias": _found(bias),
            }
        )
        words += list(_words(judge, each, flips, bias))
    table = material.exhibits.table(
        "preference-orders",
        lines,
        caption="The same pairs in both orders: in how many an order failed, the share whose verdict changed with "
        "the order, how often one place won both times, the verdicts that the first place won, and of the cases "
        "that lean to a place those that lean to the first (half, where the order does not matter)",
        shown=40,
    )
    return Html(table + bullets(words))


def _found(bias: Estimate) -> str:
    if bias.low is not None and bias.low > 0.5:
        return "favours the answer shown first"
    if bias.high is not None and bias.high < 0.5:
        return "favours the answer shown second"
    return "none shown"


def _words(judge: str, each: OrderTally, flips: Estimate, bias: Estimate) -> Iterable[str]:
    if flips.value:
        yield (
            f"{judge} changed its verdict with the order on {percent(flips.value)} of {len(each.items):,} pairs; "
            "there it has no stable preference, and none is counted."
        )
    if _found(bias) != "none shown":
        yield (
            f"{judge} {_found(bias)}: the first place won {each.first:,} of the {each.decided:,} verdicts that "
            "chose a place."
        )


_TITLE_PAIRS = "Which system is preferred"


def preferred_systems(material: Material) -> Section | None:
    """The systems in order by preferences, each rater's verdicts, and the clinicians' own order."""
    if not material.evidence.table.pairs:
        return None
    try:
        found = material.preferred
    except MedjuryError as error:
        return Section("pairs", _TITLE_PAIRS, paragraph(str(error), class_="note"))
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
            lambda figure: _draw_pairs(figure, material),
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
    return Section("pairs", _TITLE_PAIRS, Html("".join(parts)))


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


def _draw_pairs(figure: Figure, material: Material) -> None:
    rows = [row for row in material.preferred.rows if row.expected_share.value is not None]
    axes = figure.lines([short(row.system) for row in rows], x_name="expected share of wins", y_name="system")
    for place, row in enumerate(rows):
        axes.estimate(row.expected_share, place, JURY_COLOUR, words=row.tie_group)
