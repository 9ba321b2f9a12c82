"""How far a review has come: which rules of the gate are settled, and how many more ratings will settle the
others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from medjury.records import dataclass
from medjury.statistics import Estimate, Look, Result, counted, look
from medjury.tables import Measured, Names, rating_table
from medjury.validation._clustered import clustered_contrast
from medjury.validation._evidence import Evidence, evidence_of, gate_statistic

# With fewer events, or fewer of the others, no interval holds at every look.
EVENTS = 10
AGREEMENT, OFFSET, SEVERE = (
    "agreement reaches the floor",
    "neither stricter nor kinder",
    "severe errors are rare",
)


@dataclass(frozen=True, slots=True)
class SettlingRow:
    """One rule on one dimension: the value with the interval that holds at every look, its limit, and how it
    stands: `met`, `not met`, `open`, or `at the end` where only the stated end of the review counts. `more` ratings
    will settle it, None where that cannot be told."""

    dimension: str
    rule: str
    value: float | None
    low: float | None
    high: float | None
    limit: float
    state: str
    more: int | None
    n: int

    def as_dict(self) -> Mapping[str, Any]:
        return {name: getattr(self, name) for name in self.__slots__}

    @property
    def said(self) -> str:
        """The row in one sentence."""
        about = f"{self.dimension}, {self.rule}"
        if self.state in ("met", "not met"):
            return f"{about}: {self.state}, whenever one looks."
        if self.state == "at the end":
            return f"{about}: too few events to look early; it counts when the stated number of ratings is reached."
        if self.more is None:
            return f"{about}: too near its limit to be settled by more ratings."
        verb = "will settle it" if self.more != 1 else "settles it"
        return f"{about}: about {counted(self.more, 'more rating')} {verb}."


@dataclass(frozen=True, slots=True)
class Settling(Result[SettlingRow]):
    """How each rule stands that more ratings could settle."""

    rows: tuple[SettlingRow, ...]
    warnings: tuple[str, ...]

    def text(self) -> str:
        lines = [f"! {warning}" for warning in self.warnings]
        return "\n".join([*lines, *(row.said for row in self.rows)])


def settling(
    table: object,
    *,
    planned: int,
    raters: Names | None = None,
    reference: Names | None = None,
    dimensions: Names | None = None,
    confidence: float = 0.95,
    resamples: int | None = None,
    seed: int | None = None,
) -> Settling:
    """How far the gate's rules on agreement, offset and severe errors are settled by the ratings so far, of
    `planned` ones. Looking often costs nothing: the intervals are wider than those of the gate and hold at all
    looks together. The verdict itself is the gate's, at the end that was stated."""
    ready = rating_table(table).with_weights
    measured = ready.chosen(dimensions, derived=False)
    evidence = evidence_of(
        ready, raters=raters, reference=reference, dimensions=[each.name for each in measured],
        statistics=sorted({gate_statistic(ready.rules, each) for each in measured}), confidence=confidence,
        resamples=resamples, seed=seed,
    )  # fmt: skip
    rows = tuple(row for each in measured for row in _rows(evidence, each, planned))
    return Settling(rows, (evidence.problem,) if evidence.problem else ())


def _rows(evidence: Evidence, dimension: Measured, planned: int) -> list[SettlingRow]:
    trial, rules = evidence.trial(dimension), evidence.rules
    rows = []
    _, agreed, _ = evidence.agreed(dimension)
    if agreed is not None:
        seen = look(agreed, rules.floor, planned=planned, confidence=evidence.confidence)
        rows.append(_row(dimension.name, AGREEMENT, agreed, seen, rules.floor, above=True))
    if trial.span is not None and trial.compared.any():
        limit = rules.offset_limit * trial.span
        apart = (trial.said - trial.reference)[trial.compared]
        mean, _ = clustered_contrast(
            apart, np.ones(len(apart), dtype=np.int64), trial.grid.clusters[trial.compared],
            confidence=evidence.confidence, weights=trial.of(trial.compared),
        )  # fmt: skip
        rows.append(
            _row(dimension.name, OFFSET, mean, _nearer(mean, limit, planned, evidence), limit, above=False)
        )
    every = evidence.dangers(dimension) if evidence.clinicians else None
    if every is not None:
        errors = every[rules.danger_by]
        total = errors.dangerous + errors.unscored
        bad = errors.errors + errors.unscored
        row = _row(dimension.name, SEVERE, errors.worst, None, rules.severe_limit, above=False)
        if min(bad, total - bad) >= EVENTS:
            share = total / max(int(trial.both.sum()), 1)
            seen = look(
                errors.worst,
                rules.severe_limit,
                planned=max(round(planned * share), 1),
                confidence=evidence.confidence,
            )
            row = _row(dimension.name, SEVERE, errors.worst, seen, rules.severe_limit, above=False)
            if row.more:
                # Only a share of the ratings is of dangerous answers.
                row = _with_more(row, round(row.more / share))
        elif row.value is not None:
            row = _with_state(row, "at the end")
        rows.append(row)
    return rows


def _nearer(mean: Estimate, limit: float, planned: int, evidence: Evidence) -> Look | None:
    """The look at the end of ±limit that the difference is nearer to, in terms of its size."""
    if mean.value is None or mean.low is None or mean.high is None:
        return None
    sign = 1.0 if mean.value >= 0 else -1.0
    ends = sorted((sign * mean.low, sign * mean.high))
    size = Estimate(abs(mean.value), ends[0], ends[1], mean.n, mean.method)
    return look(size, limit, planned=planned, confidence=evidence.confidence)


def _row(
    dimension: str, rule: str, found: Estimate, seen: Look | None, limit: float, *, above: bool
) -> SettlingRow:
    if seen is None:
        return SettlingRow(dimension, rule, found.value, None, None, limit, "open", None, found.n)
    good = "above" if above else "below"
    state = "open" if seen.side == "open" else "met" if seen.side == good else "not met"
    return SettlingRow(dimension, rule, seen.value, seen.low, seen.high, limit, state, seen.more, seen.n)


def _with_more(row: SettlingRow, more: int) -> SettlingRow:
    return SettlingRow(
        row.dimension, row.rule, row.value, row.low, row.high, row.limit, row.state, more, row.n
    )


def _with_state(row: SettlingRow, state: str) -> SettlingRow:
    return SettlingRow(
        row.dimension, row.rule, row.value, row.low, row.high, row.limit, state, row.more, row.n
    )
