"""Concordance and preference: how often answers agree with the specialist's, which are preferred, and whether the
order in which they were shown decided it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from medjury.statistics import counted_share, undefined

if TYPE_CHECKING:
    from medjury.judging import RecordedOrder

from collections.abc import Iterable

import polars as pl

from medjury.report._figure import Figure
from medjury.report._html import Cell, Html, bullets, paragraph, sentence
from medjury.report._material import Material, Section, short
from medjury.report._svg import INK
from medjury.statistics import Estimate, percent, shown

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
