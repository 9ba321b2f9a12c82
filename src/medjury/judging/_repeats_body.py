"""The record of repeats: every draw of one judge, and how far the draws lie apart."""

from __future__ import annotations

from medjury.store.runs import Body, RecordedOutcome, RunPart


class RecordedDraw(RunPart):
    """One draw: its number from 1, the seed it was asked with, and what it said of each dimension."""

    draw: int
    seed: int | None = None
    outcomes: dict[str, RecordedOutcome]


class Spread(RunPart):
    scores: tuple[float, ...]
    mean: float
    median: float
    standard_deviation: float


class RepeatsBody(Body):
    """The record: every draw, and the spread of each dimension that has two scores or more."""

    kind: str = "repeats"
    n: int
    rule: str = ""
    draws: tuple[RecordedDraw, ...]
    spread: dict[str, Spread] = {}
