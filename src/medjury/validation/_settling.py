"""How far a review has come: which lines of the colleague test are settled, and how many more ratings will settle
the others.

A 95 % interval holds at one look that was stated before. Who looks after every rating and stops when the interval
is clear of a limit is wrong far more often. The asymptotic confidence sequence of Waudby-Smith, Arbour, Sinha,
Kennedy & Ramdas (2024, Ann Stat 52:2613-2640, arXiv:2103.06476) holds at all looks together:

    θ̂ ± se · √( 2 (nρ² + 1)/(nρ²) · ln( √(nρ² + 1) / α ) ),   ρ² = (−2 ln α + ln(1 − 2 ln α)) / n*

narrowest at the planned number n* of ratings. It is one for large numbers, as the bootstrap is: it begins at the
first look, which should rest on thirty cases or more, and it does not hold for a handful of severe errors.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass

from scipy import special

from medjury.foundation.errors import MedjuryError
from medjury.statistics import Estimate, Result, Row, counted
from medjury.tables import Measured, Names
from medjury.validation._colleague import TAIL, Tested, consensus_danger
from medjury.validation._evidence import Evidence, gate_evidence
from medjury.validation._rule import Rule
from medjury.validation._sentences import RULES

# With fewer events, or fewer of the others, no interval holds at every look.
EVENTS = 10
# Nobody rates more than this; whatever needs more is as good as on its limit.
MOST = 1_000_000
# Lines that one number of answers decides, and on which side of its limit each must lie.
_ABOVE = ("agreement", "colleagues", "within_case", "within_system")


@dataclass(frozen=True, slots=True)
class SettlingRow(Row):
    """One line on one dimension: the value with the interval that holds at every look, its limit, and its state:
    `holds`, `fails`, `open`, or `at the end` where only the stated end of the review counts. `more` ratings will
    settle it, None where that is not known. `rule` is the line's id."""

    dimension: str
    rule: str
    value: float | None
    low: float | None
    high: float | None
    limit: float
    state: str
    more: int | None
    n: int

    @property
    def text(self) -> str:
        """The row in one sentence."""
        name = RULES[self.rule].name
        about = f"{self.dimension}, {name[0].lower()}{name[1:]}"
        if self.state in ("holds", "fails"):
            return f"{about}: {self.state}, whenever you look."
        if self.state == "at the end":
            return f"{about}: too few events to look early; it counts when the stated number of ratings is reached."
        if self.more is None:
            return f"{about}: too near its limit to be settled by more ratings."
        verb = "will settle it" if self.more != 1 else "settles it"
        return f"{about}: about {counted(self.more, 'more rating')} {verb}."


@dataclass(frozen=True, slots=True)
class Settling(Result[SettlingRow]):
    """The state of each line that more ratings could settle."""

    rows: tuple[SettlingRow, ...]
    warnings: tuple[str, ...]

    def text(self) -> str:
        lines = [f"! {warning}" for warning in self.warnings]
        return "\n".join([*lines, *(row.text for row in self.rows)])


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
    """How far the lines of the colleague test are settled by the ratings so far, of `planned` ones. Looking often
    costs nothing: the intervals are wider than those of the gate and hold at all looks together. The verdict itself
    is the gate's, at the end that was stated."""
    measured, evidence = gate_evidence(
        table, dimensions, raters=raters, reference=reference, confidence=confidence, resamples=resamples,
        seed=seed,
    )  # fmt: skip
    rows = tuple(row for each in measured for row in _rows(evidence, each, planned))
    return Settling(rows, (evidence.problem,) if evidence.problem else ())


def _rows(evidence: Evidence, dimension: Measured, planned: int) -> list[SettlingRow]:
    tested = evidence.tested(dimension)
    found = []
    for line in tested.lines:
        if line.state in ("does not apply", "not known") or line.limit is None or line.value is None:
            continue
        found.append(_row(tested, line, dimension.name, planned))
    return found


def _row(tested: Tested, line: Rule, dimension: str, planned: int) -> SettlingRow:
    """One line. The estimate's own interval leaves twice the one-sided error."""
    n = int(tested.beside.asked.sum()) if line.id == "offset" else tested.doubly
    value, low, high, limit, share = line.value or 0.0, line.low, line.high, line.limit or 0.0, 1.0
    if line.id in ("missed_danger", "consensus_danger"):
        events = consensus_danger(tested.beside)
        row = SettlingRow(dimension, line.id, value, None, None, limit, "at the end", None, events.clusters)
        if min(events.with_miss, events.clusters - events.with_miss) < EVENTS or low is None:
            return row
        share = events.clusters / max(1, tested.clusters)
        n, planned = events.clusters, max(1, round(planned * share))
    if line.id == "offset" and low is not None and high is not None:
        sign = 1.0 if value >= 0 else -1.0
        low, high = sorted((sign * low, sign * high))
        value = abs(value)
    estimate = Estimate(value, low, high, n, "colleague test")
    seen = look(estimate, limit, planned=planned, confidence=1 - 2 * TAIL)
    if seen is None:
        return SettlingRow(dimension, line.id, value, None, None, limit, "open", None, n)
    low, high, side, more = seen
    good = "above" if line.id in _ABOVE else "below"
    state = "open" if side == "open" else "holds" if side == good else "fails"
    if more and share < 1:
        more = round(more / share)
    return SettlingRow(dimension, line.id, value, low, high, limit, state, more, n)


def look(
    estimate: Estimate, limit: float, *, planned: int, confidence: float = 0.95
) -> tuple[float, float, str, int | None] | None:
    """The ends of the interval that holds at every look, on which side of the limit it lies (`above`, `below`,
    `open`), and how many more ratings will put it on one (0: none are needed; None: more than anybody will give).
    None without an interval. `confidence` is that of the estimate's own interval, and `planned` the number of
    ratings at which the sequence is to be narrowest.

    >>> low, high, side, more = look(Estimate(0.60, 0.50, 0.70, 150, "any"), 0.4, planned=200)
    >>> side, more, round(low, 2)
    ('above', 0, 0.44)
    """
    if planned < 1:
        raise MedjuryError(f"a review is planned for at least one rating, not {planned}.")
    if estimate.value is None or estimate.low is None or estimate.high is None or not estimate.n:
        return None
    n, alpha = estimate.n, 1.0 - confidence
    z = float(special.ndtri(1.0 - alpha / 2.0))
    # Intervals need not lie evenly about their estimate: each end has an error of its own.
    below, above = (estimate.value - estimate.low) / z, (estimate.high - estimate.value) / z
    wide = _multiplier(n, planned, alpha)
    low, high = estimate.value - wide * below, estimate.value + wide * above
    side = "above" if low > limit else "below" if high < limit else "open"
    toward = below if estimate.value > limit else above
    more = 0 if side != "open" else _more(n, planned, alpha, toward, abs(estimate.value - limit))
    return low, high, side, more


def _multiplier(n: int, planned: int, alpha: float) -> float:
    """How many standard errors the sequence reaches to each side."""
    rho = (-2.0 * math.log(alpha) + math.log(1.0 - 2.0 * math.log(alpha))) / planned
    scaled = n * rho
    return math.sqrt(2.0 * (scaled + 1.0) / scaled * math.log(math.sqrt(scaled + 1.0) / alpha))


def _more(n: int, planned: int, alpha: float, error: float, distance: float) -> int | None:
    """The fewest ratings beside n at which the sequence reaches less far than `distance`."""

    def clear(total: int) -> bool:
        return _multiplier(total, planned, alpha) * error * math.sqrt(n / total) < distance

    return (
        bisect_left(range(1, MOST - n), True, key=lambda more: clear(n + more)) + 1 if clear(MOST) else None
    )
