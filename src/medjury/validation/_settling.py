"""How far a review has come: which lines of the colleague test are settled, and how many more ratings will settle
the others."""

from __future__ import annotations

from dataclasses import dataclass, replace

from medjury.statistics import Estimate, Result, Row, counted, look
from medjury.tables import Measured, Names
from medjury.validation._colleague import TAIL, Tested, consensus_danger
from medjury.validation._evidence import Evidence, gate_evidence
from medjury.validation._rule import Rule
from medjury.validation._sentences import RULES

# With fewer events, or fewer of the others, no interval holds at every look.
EVENTS = 10
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
    seen = look(
        Estimate(value, low, high, n, "colleague test"),
        limit,
        planned=planned,
        confidence=1 - 2 * TAIL,
        one_sided=False,
    )
    if seen is None:
        return SettlingRow(dimension, line.id, value, None, None, limit, "open", None, n)
    good = "above" if line.id in _ABOVE else "below"
    state = "open" if seen.side == "open" else "holds" if seen.side == good else "fails"
    row = SettlingRow(dimension, line.id, seen.value, seen.low, seen.high, limit, state, seen.more, seen.n)
    return replace(row, more=round(row.more / share)) if row.more and share < 1 else row
