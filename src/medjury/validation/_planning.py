"""What a study can show: the chance that each line of the colleague test holds at its size, and the size it needs.

One large study is drawn as it is expected. How much its numbers vary from case to case says how wide their bounds
are in a study of any size."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from medjury.analysis.agreement import Expected
from medjury.foundation.errors import MedjuryError
from medjury.statistics import Printable, Result, Row, percent, percent_of_limit, shown, text_table
from medjury.store.runs import GateRules
from medjury.tables import Grades
from medjury.validation._colleague import (
    TAIL,
    Beside,
    consensus_danger,
    paired_difference_bounds,
    read,
    sums_of,
)
from medjury.validation._sentences import LINE_IDS, RULES

Power = Callable[[int], float]
_DRAWN, _MOST = 12_000, 200_000
_REACH = float(special.ndtri(1 - TAIL))


@dataclass(frozen=True, slots=True)
class RulePower(Row):
    """One rule: what it asks, what is expected to be found, the chance to meet it with the cases of the study, and
    the cases it needs for the wanted chance (None: no number is enough). `doubly` where cases are meant that two
    clinicians rate."""

    rule: str
    asked: str
    expected: str
    power: float
    cases_needed: int | None
    doubly: bool = False


@dataclass(frozen=True, slots=True)
class GatePlan(Result[RulePower]):
    """The rules of a gate, and all of them together. `cases` are rated by a clinician, `doubly` of them by two."""

    rows: tuple[RulePower, ...]
    warnings: tuple[str, ...]
    cases: int
    doubly: int
    clinicians: int
    dangerous: float
    power: float
    together: float
    cases_needed: int | None
    doubly_needed: int | None
    notes: tuple[str, ...] = ()
    rated: str = ""  # what clinicians have rated already, in words

    @property
    def dangerous_cases(self) -> float:
        """How many dangerous cases are to be expected."""
        return self.dangerous * self.cases

    def text(self) -> str:
        lines = [
            f"What this study can show: {self.cases:,} cases rated, {self.doubly:,} of them by two clinicians or "
            f"more; cases that every clinician calls dangerous to expect: about "
            f"{self.dangerous_cases:.0f} ({percent(self.dangerous, 1)})."
        ]
        lines += [self.rated] if self.rated else []
        lines += [f"! {each}" for each in self.warnings]
        lines += text_table(self.shown_rows())
        if self.cases_needed is None:
            alone = not self.doubly and all(each.cases_needed is not None for each in self.rows)
            why = (
                "no case is rated by two clinicians" if alone else "what is expected does not meet the rules"
            )
            needed = f"No number of cases is enough: {why}."
        else:
            needed = (
                f"For a chance of {percent(self.power)} to meet them all: {self.cases_needed:,} cases, "
                f"{self.doubly_needed:,} of them rated by two clinicians."
            )
        lines.append(f"The chance to meet all of them together is about {percent(self.together)}. {needed}")
        return "\n".join([*lines, *self.notes])

    def shown_rows(self) -> list[dict[str, Printable]]:
        return [
            {
                "rule": RULES[each.rule].name if each.rule in LINE_IDS else each.rule.replace("_", " "),
                "asked": each.asked,
                "expected": each.expected,
                "chance": percent(each.power),
                f"for {percent(self.power)}": "never"
                if each.cases_needed is None
                else "any"
                if each.cases_needed <= 3
                else f"{each.cases_needed:,} cases{' by two' if each.doubly else ''}",
            }
            for each in self.rows
        ]

    def as_dict(self) -> dict[str, Any]:
        """All of it, for `--json`."""
        own = ("cases", "doubly", "clinicians", "dangerous_cases", "power", "together", "cases_needed")
        return {
            **{name: getattr(self, name) for name in (*own, "doubly_needed")},
            "rules": [each.as_dict() for each in self.rows],
            "warnings": list(self.warnings),
            "notes": [*([self.rated] if self.rated else []), *self.notes],
        }


def plan_gate(
    rules: GateRules | None = None,
    *,
    cases: int = 100,
    doubly: int | None = None,
    clinicians: int = 2,
    expected: Expected | None = None,
    systems: int = 1,
    danger: bool = True,
    power: float = 0.8,
    seed: int = 0,
    notes: Sequence[str] = (),
) -> GatePlan:
    """The chance that each line holds with `cases` rated cases, `doubly` of them (by default all) rated by two
    clinicians or more, if clinicians and jury are as `expected`; and the cases that each line, and all together,
    need. All together is their product, as if lines held independently of one another. Lines about `danger` are
    left out where no danger is claimed.

    >>> found = plan_gate(cases=100)
    >>> found.find(rule="consensus_danger").power < 0.2 < found.find(rule="agreement").power
    True
    """
    stated, world = rules or GateRules(), expected or Expected()
    if cases < 1 or clinicians < 1 or not 0 < power < 1:
        raise MedjuryError("a plan needs one case and one clinician or more, and a power between 0 and 1.")
    twice = 0 if clinicians < 2 else cases if doubly is None else min(doubly, cases)
    claimed = danger and stated.severe_dimensions != ()
    beside = _drawn(world, stated, max(2, clinicians), systems, np.random.default_rng(seed), danger=claimed)
    listed = _lines(beside, stated, world, systems, claimed=claimed)
    share = twice / cases

    def chance(line: _Line, number: int) -> float:
        return line.power(round(number * share) if line.doubly else number)

    def together(number: int) -> float:
        return math.prod(chance(line, number) for line in listed)

    found = tuple(
        RulePower(
            each.id, each.asked, each.expected, chance(each, cases), _needed(each.power, power), each.doubly
        )
        for each in listed
    )
    needed = _needed(together, power)
    dangerous = _share_dangerous(beside) if claimed else 0.0
    return GatePlan(
        found,
        _warnings(beside, stated, cases) if claimed else (),
        cases,
        twice,
        clinicians,
        dangerous,
        power,
        together(cases),
        needed,
        None if needed is None else round(needed * share),
        (*_assumed(world, clinicians), *notes),
    )


@dataclass(frozen=True, slots=True)
class _Line:
    id: str
    asked: str
    expected: str
    power: Power
    doubly: bool = True


def _drawn(
    expected: Expected,
    rules: GateRules,
    clinicians: int,
    systems: int,
    draw: np.random.Generator,
    *,
    danger: bool,
) -> Beside:
    """A large study as it is expected, grades from 1, with the stated share of dangerous answers and of those the
    jury scores far too kindly."""
    top = len(expected.shares) - 1
    cases = _DRAWN // max(1, systems)
    answers = cases * systems
    humans, jury = expected.draw(4 * answers, clinicians, draw)
    worst = rules.danger * top if rules.danger < 1 else rules.danger - 1  # grades from 0 here
    risky = humans.min(axis=1) <= worst + 1e-9
    share = float(risky.mean()) if expected.dangerous is None else expected.dangerous
    wanted = draw.random(answers) < share
    safe, unsafe = np.flatnonzero(~risky), np.flatnonzero(risky)
    # Where no drawn answer is dangerous, or each one is, there are no others to take.
    safe, unsafe = (safe if safe.size else unsafe), (unsafe if unsafe.size else safe)
    place = np.arange(answers)
    chosen = np.where(wanted, unsafe[place % len(unsafe)], safe[place % len(safe)])
    humans, jury = humans[chosen], jury[chosen]
    gap = max(1.0, rules.gap * top)
    kindest = humans.max(axis=1)
    agreed = kindest <= worst + 1e-9
    too_kind = np.ceil(kindest + gap - 1e-9)
    kind = draw.random(answers) < expected.errors
    jury = np.clip(np.where(agreed, np.where(kind, too_kind, np.minimum(jury, too_kind - 1)), jury), 0, top)
    jury = np.where(draw.random(answers) < expected.coverage, jury, np.nan)
    case = np.repeat(np.arange(cases), systems)
    grades = Grades(tuple(float(each) for each in range(1, top + 2)))
    return Beside(
        humans + 1,
        jury + 1,
        np.isnan(jury),
        case,
        np.tile(np.arange(systems), cases),
        case,
        grades,
        rules.statistic,
        (worst + 1, gap) if danger else None,
    )


def _lines(
    beside: Beside, rules: GateRules, expected: Expected, systems: int, *, claimed: bool
) -> list[_Line]:
    sums = sums_of(beside)
    clusters = len(sums.cells)
    values = {
        name: float(each) for name, each in read(sums, sums.cells.sum(axis=0), beside.statistic).items()
    }
    left = read(sums, sums.without_each(), beside.statistic)
    # The standard deviation of one case: that of a study of n cases is so much / √n.
    spread = {
        name: max(float(np.nanstd(left[name])) * (clusters - 1), 1e-9)
        for name, value in values.items()
        if math.isfinite(value)
    }

    def above(name: str, limit: float) -> Power:
        """Nothing is shown of a line whose value is not known, nor by one case."""
        return lambda n: (
            _chance((values[name] - limit) / spread[name] * math.sqrt(n) - _REACH)
            if n > 1 and name in spread
            else 0.0
        )

    def line(name: str, limit: float, asked: str) -> _Line:
        return _Line(name, asked, shown(values[name]), above(name, limit))

    margin, grades = rules.margin, len(expected.shares) - 1
    limit, offset = rules.offset_limit * grades, values["offset"]

    def level(n: int) -> float:
        error = spread.get("offset", math.inf) / math.sqrt(max(n, 1))
        ends = (_chance((limit - offset) / error - _REACH), _chance((limit + offset) / error - _REACH))
        return max(0.0, sum(ends) - 1)

    found = [
        _Line("doubly_rated", f"{max(50, rules.minimum_doubly_rated):,} answers", f"{systems} to a case",
              lambda n: float(n * systems >= max(50, rules.minimum_doubly_rated))),
        _Line("distinct_cases", f"{rules.minimum_cases:,}", "", lambda n: float(n >= rules.minimum_cases)),
        _Line("coverage", f"{percent_of_limit(rules.coverage)} or more", percent(expected.coverage, 1),
              lambda n: _covered(n * systems, expected.coverage, rules.coverage), doubly=False),
        line("agreement", -margin, f"at worst above {-margin:g}"),
        _Line("offset", f"within {limit:g}", shown(offset), level, doubly=False),
        line("colleagues", rules.floor, f"at worst {rules.floor:g}"),
    ]  # fmt: skip
    if systems > 1:
        found += [
            line(name, -margin, f"at worst above {-margin:g}") for name in ("within_case", "within_system")
        ]
    if claimed:
        found += [_missed(beside, values, rules), _consensus(beside, rules)]
    return found


def _missed(beside: Beside, values: dict[str, float], rules: GateRules) -> _Line:
    sums = sums_of(beside)
    weight, _, _, only_jury, only_colleague = sums.cells[:, sums.at["missed"]].T
    total = float(weight.sum())
    share = float((weight > 0).mean())  # of cases with a dangerous answer
    ways = float(only_jury.sum()) / max(total, 1e-9), float(only_colleague.sum()) / max(total, 1e-9)
    value, limit = values["missed_danger"], rules.missed_margin

    def power(n: int) -> float:
        pairs = n * share
        if pairs < 2 or not math.isfinite(value):
            return 0.0
        _, high = paired_difference_bounds(ways[0] * pairs, ways[1] * pairs, pairs, _REACH)
        return _chance(((limit - value) / max(high - value, 1e-9) - 1) * _REACH)

    return _Line("missed_danger", f"at worst {percent_of_limit(limit)} more", percent(value, 1), power)


def _consensus(beside: Beside, rules: GateRules) -> _Line:
    found = consensus_danger(beside)
    cases = len(np.unique(beside.cluster))
    share, missed = found.clusters / cases, found.missed / max(1, found.answers)
    limit = rules.severe_limit

    def power(n: int) -> float:
        most = min(n, int(n * share + 8 * math.sqrt(n * share) + 20))
        numbers = np.arange(1, most + 1)
        chance = special.bdtr(numbers, n, share) - special.bdtr(numbers - 1, n, share)
        allowed = _allowed(numbers, limit)
        met = np.where(allowed < 0, 0.0, special.bdtr(np.maximum(allowed, 0), numbers, missed))
        return float(np.clip((chance * met).sum(), 0.0, 1.0))

    text = f"{percent(missed, 1)} of {percent(share, 1)} of the cases"
    return _Line("consensus_danger", f"at worst {percent_of_limit(limit)}", text, power)


def _allowed(numbers: NDArray[np.int64], limit: float) -> NDArray[np.int64]:
    """The most misses of so many with which the exact bound is within the limit; -1 where none is few enough. The
    bound of k misses is within it exactly where P(X ≤ k) at the limit is at most the tail."""
    none = special.bdtr(0, numbers, limit) > TAIL
    most = np.floor(special.bdtrik(TAIL, numbers, limit) + 1e-9)
    return np.where(none, -1, np.nan_to_num(most, nan=-1.0)).astype(np.int64)


def _covered(answers: int, expected: float, wanted: float) -> float:
    if not answers:
        return 0.0
    return float(special.bdtr(math.floor((1 - wanted) * answers + 1e-9), answers, 1 - expected))


def _chance(z: float) -> float:
    return float(special.ndtr(z))


def _needed(power: Power, wanted: float) -> int | None:
    """The smallest number of cases with this chance; None where even very many do not have it."""
    low, high = 0, 16
    while power(high) < wanted:
        low, high = high, high * 2
        if high > _MOST:
            return None
    while high - low > max(1, low // 100):
        middle = (low + high) // 2
        low, high = (middle, high) if power(middle) < wanted else (low, middle)
    return high


def _share_dangerous(beside: Beside) -> float:
    found = consensus_danger(beside)
    return found.clusters / max(1, len(np.unique(beside.cluster)))


def _warnings(beside: Beside, rules: GateRules, cases: int) -> tuple[str, ...]:
    numbers = np.arange(1, 2000)
    enough = numbers[_allowed(numbers, rules.severe_limit) >= 0]
    there = _share_dangerous(beside) * cases
    if not enough.size:
        return ()
    least = int(enough[0])
    asks = f"{least} cases that every clinician calls dangerous are needed, even if the jury misses none"
    return (f"{asks}; to be expected are about {there:.0f}.",) if there < 2 * least else ()


def _assumed(expected: Expected, clinicians: int) -> tuple[str, ...]:
    shares = ", ".join(percent(share) for share in expected.shares)
    return (
        f"Expected: grades from the worst to the best {shares}; kappa of jury and clinician "
        f"{expected.agreement:.3g}, of clinicians {expected.among:.3g}; {clinicians} "
        f"clinician{'s' if clinicians > 1 else ''}; offset {expected.offset:.2g}; "
        f"{percent(expected.coverage, 1)} scored; {percent(expected.errors, 1)} of the dangerous answers scored "
        "far too kindly. `medjury plan gate --help` names other values, and --pilot.",
    )
