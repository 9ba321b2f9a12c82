"""Concordance and preference: how often answers agree with the specialist's, which are preferred, and whether the
order in which they were shown decided it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl

from medjury.report._html import Cell, Html, bullets, paragraph
from medjury.report._material import Material, Section
from medjury.statistics import Estimate, bootstrap, percent, proportion, undefined
from medjury.validation import patients

_CONCORDANT, _PREFERENCE = "concordant", "preference"
_TITLE = "Concordance and preference"


def section(material: Material) -> Section | None:
    evidence = material.evidence
    grades = {each.name: each.grades for each in evidence.dimensions}
    if grades.get(_CONCORDANT) != (0.0, 1.0):
        return None
    compared = grades.get(_PREFERENCE) == (-1.0, 0.0, 1.0)
    body = paragraph(_lead(compared)) + _shares(material, compared)
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
    rows = evidence.ratings.filter(
        pl.col("dimension").is_in(named), pl.col("rater_kind").is_in(["judge", "clinician"])
    ).with_columns(pl.col("system").fill_null(""))
    several = len(evidence.systems) > 1
    head = ["rater", *(["system"] if several else []), "kind", "pairs", "no verdict", "concordant"]
    head += (
        ["compared", "answer preferred", "specialist preferred", "neither", "not known"] if compared else []
    )
    lines: list[tuple[Cell, ...]] = []
    by = ["rater_kind", "rater", *(["system"] if several else [])]
    for keys, part in rows.group_by(*by):
        kind, rater, *system = (str(key) for key in keys)
        lines.append((rater, *system, kind, *_line(material, part, compared)))
    lines.sort(key=lambda line: (line[2 if several else 1] != "clinician", str(line[0]), str(line[1])))
    return material.exhibits.table(
        "preference",
        tuple(head),
        lines,
        caption="Concordance and, of concordant pairs, the preferred answer, with 95 % intervals",
        shown=60,
    )


def _line(material: Material, part: pl.DataFrame, compared: bool) -> tuple[Cell, ...]:
    verdicts = part.filter(pl.col("dimension") == _CONCORDANT)
    known = verdicts.filter(pl.col("score").is_not_null())
    concordant = _share_where(material, known, pl.col("score") == 1)
    first: tuple[Cell, ...] = (verdicts.height, verdicts.height - known.height, concordant)
    if not compared:
        return first
    wanted = part.filter(pl.col("dimension") == _PREFERENCE)
    said = wanted.filter(pl.col("score").is_not_null())
    return (
        *first,
        said.height,
        _share_where(material, said, pl.col("score") == 1),
        _share_where(material, said, pl.col("score") == -1),
        said.filter(pl.col("score") == 0).height,
        wanted.filter(pl.col("status") == "unscored").height,
    )


def _share_where(material: Material, rows: pl.DataFrame, condition: pl.Expr) -> Estimate:
    hits = rows.select(condition.alias("hit"))["hit"].to_list()
    return clustered_share(material, hits, rows["item"].to_list())


def clustered_share(material: Material, hits: Sequence[bool], items: Sequence[object]) -> Estimate:
    """A share with Wilson's interval; where a patient stands more than once (cases, systems, repeats), with one
    that resamples patients, as rows of one patient are not independent. Where all rows agree there is nothing to
    resample, and each patient counts once. An item without a patient stands for itself."""
    whose = patients(material.evidence)
    clusters = [whose.get(str(item), str(item)) for item in items]
    distinct = len(set(clusters))
    if distinct == len(hits):
        return proportion(sum(hits), len(hits), interval="wilson")
    if len(set(hits)) == 1:
        return proportion(distinct if hits[0] else 0, distinct, interval="wilson")

    def statistics(table: Any) -> Callable[[Any], dict[str, Any]]:
        return lambda weights: {"share": (weights @ table[:, 0]) / weights.sum(axis=-1)}

    return bootstrap(
        np.asarray(hits, dtype=np.float64),
        statistics,
        clusters=clusters,
        resamples=material.evidence.resamples(len(hits)),
        seed=material.evidence.settings.seed,
    )["share"]


@dataclass
class _Orders:
    """What one judge said in both orders of its pairs."""

    items: list[str] = field(default_factory=list)
    changed: list[bool] = field(default_factory=list)
    lean: Counter[str] = field(
        default_factory=Counter
    )  # verdicts for the first place less those for the second
    first: int = 0
    decided: int = 0
    both_first: int = 0
    both_second: int = 0
    failed: int = 0

    def add(self, item: str, whose: str, orders: Sequence[dict[str, Any]]) -> None:
        places = [order.get("place") for order in orders]
        if len(places) < 2 or None in places:
            self.failed += 1
            return
        self.items.append(item)
        self.changed.append(len({order.get("prefers") for order in orders}) > 1)
        first, second = places.count(1), places.count(2)
        self.lean[whose] += first - second
        self.first += first
        self.decided += first + second
        self.both_first += places == [1, 1]
        self.both_second += places == [2, 2]

    def bias(self) -> Estimate:
        """Of the cases (a patient's together) whose verdicts lean to one place, the share that lean to the first:
        half, where the order does not matter. An exact interval, so that two cases prove nothing."""
        leaning = [lean for lean in self.lean.values() if lean]
        if not leaning:
            return undefined("no case leans to a place", 0, "Clopper-Pearson exact")
        return proportion(sum(lean > 0 for lean in leaning), len(leaning))


def _orders(material: Material) -> Html:
    judges: dict[str, _Orders] = {}
    whose = patients(material.evidence)
    for record in material.records.of("concordance"):
        orders = record.body.get("orders") or []
        if orders:
            judges.setdefault(record.rater, _Orders()).add(
                record.item, whose.get(record.item, record.item), orders
            )
    if not judges:
        return paragraph(
            "No judge was asked in both orders, so it cannot be known whether the order decided its preference. "
            "Use `strategy: concordance`.",
            class_="note",
        )
    lines: list[tuple[Cell, ...]] = []
    words: list[str] = []
    for judge, each in sorted(judges.items()):
        flips, bias = clustered_share(material, each.changed, each.items), each.bias()
        lines.append(
            (
                judge,
                len(each.items),
                each.failed,
                flips,
                each.both_first,
                each.both_second,
                f"{each.first:,} of {each.decided:,}",
                bias,
                _found(bias),
            )
        )
        words += list(_words(judge, each, flips, bias))
    table = material.exhibits.table(
        "preference-orders",
        (
            "judge",
            "pairs",
            "failed",
            "changed",
            "first twice",
            "second twice",
            "won by first",
            "lean to first",
            "order bias",
        ),
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


def _words(judge: str, each: _Orders, flips: Estimate, bias: Estimate) -> Iterable[str]:
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
