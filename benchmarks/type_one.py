"""How often does a line of the colleague test pass a jury that lies exactly at its limit (type I error: at most
6.5 %; below 2 % it is too careful), how often is a good jury passed by all lines (power by the number of cases),
and does the scope of a good jury stay whole? Studies are drawn and judged in memory, by the test itself.

`TYPE_ONE_STUDIES` sets another number of studies, `TYPE_ONE` names some of the lines, "power", "beyond" or "scope".
`WRITE_TABLES=1` writes the tables to docs/tables/type-one.md. `OPENBLAS_NUM_THREADS=1` makes it
three times as fast."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks._planted import Floats, World, world
from medjury.store.runs import GateRules
from medjury.tables import Grades
from medjury.validation._colleague import Beside, colleague_test, consensus_danger, read, sums_of
from medjury.validation._scope import Part, tested_parts

STUDIES = int(os.environ.get("TYPE_ONE_STUDIES", "1000"))
SIZES = (100, 300, 1000)
MOST, CAREFUL = 0.065, 0.02
LARGE, DRAWS, RESAMPLES = 120_000, 16, 600  # answers of a very large draw; how many; resamples of each study
COLLEAGUE = 0.4  # the clinicians' noise: a jury of the same is one more of them
TABLES = Path(__file__).parents[1] / "docs" / "tables"
NAME = "type-one.md"
ON_REQUEST = True
RULES, GRADES = GateRules(), Grades((1.0, 2.0, 3.0, 4.0, 5.0))
Draw = np.random.Generator
Jury = Callable[[World, Draw, float], Floats]

WORLDS: Mapping[str, Mapping[str, Any]] = {
    "plain": {"systems": (0.0,)},
    "three systems": {"systems": (-0.15, 0.0, 0.15)},
    "patients of three cases": {"systems": (-0.15, 0.0, 0.15), "patient_of": 3},
    "six clinicians, two to a case": {
        "systems": (-0.15, 0.0, 0.15),
        "clinicians": 6,
        "strictness": (-0.25, -0.15, -0.05, 0.05, 0.15, 0.25),
    },
    "5 % danger": {"systems": (0.0,), "danger": 0.035},
}


def _error(made: World, draw: Draw) -> Floats:
    """A rater's error of variance 1; where patients have several cases, half of it is the same for all of them."""
    own = draw.normal(size=made.size)
    if made.patient is None:
        return own
    return np.asarray(np.sqrt(0.5) * (own + draw.normal(size=made.size)[made.patient]))


def noisy(made: World, draw: Draw, noise: float) -> Floats:
    return made.scale(made.truth + noise * _error(made, draw))


def kinder(made: World, draw: Draw, offset: float) -> Floats:
    return made.scale(made.truth + offset + 0.5 * _error(made, draw))


def missing(made: World, draw: Draw, share: float) -> Floats:
    """A share of the bad answers is graded 4 or better."""
    said = made.scale(made.truth + 0.6 * _error(made, draw))
    return np.where((draw.random(made.size) < share) & (made.truth < 2.3), np.maximum(said, 4.0), said)


@dataclass(frozen=True)
class Line:
    """How a jury is brought to the limit of a line: the parameter of a family, sought between two ends (the first
    on the good side). `of_clinicians`: it is the clinicians' noise."""

    name: str
    limit: float
    jury: Jury
    ends: tuple[float, float]
    resampled: bool = True
    of_clinicians: bool = False

    def applies(self, where: str) -> bool:
        several = len(WORLDS[where]["systems"]) > 1
        return several or self.name not in ("within_case", "within_system")

    def study(self, where: str, seed: object, cases: int, parameter: float) -> Beside:
        options = dict(WORLDS[where])
        if self.of_clinicians:
            options["noise"] = parameter
        return drawn(options, seed, cases, partial(self.jury_of, parameter))

    def jury_of(self, parameter: float, made: World, draw: Draw) -> Floats:
        return self.jury(made, draw, 0.6 if self.of_clinicians else parameter)

    def value(self, beside: Beside) -> float:
        if self.name == "consensus_danger":
            found = consensus_danger(beside)
            return found.share
        sums = sums_of(beside)
        return float(read(sums, sums.cells.sum(axis=0), beside.statistic)[self.name])

    def at(self, where: str, limit: float) -> float:
        """The parameter that brings the jury to the limit: on one very large draw halved five times, then on the
        straight line between the last two ends, moved along it by what many such draws leave on average."""
        cases = LARGE // len(WORLDS[where]["systems"])
        ends = [(end, self.value(self.study(where, 1, cases, end)) - limit) for end in self.ends]
        for _ in range(5):
            middle = (ends[0][0] + ends[1][0]) / 2
            found = middle, self.value(self.study(where, 1, cases, middle)) - limit
            ends[0 if found[1] * ends[0][1] > 0 else 1] = found
        (one, above), (other, below) = ends
        slope = (below - above) / (other - one)
        found = one - above / slope
        left = [self.value(self.study(where, seed, cases, found)) - limit for seed in range(2, 2 + DRAWS)]
        return found - float(np.mean(left)) / slope


LINES = (
    Line("agreement", -RULES.margin, noisy, (0.5, 2.0)),
    Line("within_case", -RULES.margin, noisy, (0.5, 2.0)),
    Line("within_system", -RULES.margin, noisy, (0.5, 2.0)),
    Line("colleagues", RULES.floor, noisy, (0.4, 3.0), of_clinicians=True),
    Line("offset", RULES.offset_limit * 4, kinder, (0.0, 2.0), resampled=False),
    Line("missed_danger", RULES.missed_margin, missing, (0.0, 0.4), resampled=False),
    Line("consensus_danger", RULES.severe_limit, missing, (0.0, 0.5), resampled=False),
)


def drawn(
    options: Mapping[str, Any], seed: object, cases: int, jury: Callable[[World, Draw], Floats]
) -> Beside:
    """One study, ready for the test."""
    made = world(seed, cases=cases, described=False, **options)  # type: ignore[arg-type]
    said = jury(made, np.random.default_rng([28, *np.atleast_1d(seed)]))
    cluster = made.case if made.patient is None else made.patient
    return Beside(
        made.humans, said, np.isnan(said), made.case, made.system, cluster, GRADES, danger=(2.0, 2.0)
    )


@dataclass
class Tables:
    """The rows of each table, in Markdown."""

    error: list[tuple[str, str, str]] = field(default_factory=list)
    beyond: list[str] = field(default_factory=list)
    power: list[tuple[str, str, str]] = field(default_factory=list)
    scope: list[str] = field(default_factory=list)


def run() -> Iterator[dict[str, Any]]:
    """One row for each cell: name, ours, peer, ratio, target, holds."""
    asked = [word for each in os.environ.get("TYPE_ONE", "").split(";") if (word := each.strip())]
    tables = Tables()
    print(f"{STUDIES} studies a cell (a third of that with 1,000 cases where the bound is resampled)")
    for line in LINES:
        if not asked or line.name in asked:
            yield from _errors(line, tables)
    if not asked or "beyond" in asked:
        yield from _beyond(tables)
    if not asked or "power" in asked:
        yield from _power(tables)
    if not asked or "scope" in asked:
        yield from _scope(tables)
    if os.environ.get("WRITE_TABLES"):
        TABLES.mkdir(parents=True, exist_ok=True)
        (TABLES / NAME).write_text(_page(tables), encoding="utf-8")


def _errors(line: Line, tables: Tables) -> Iterator[dict[str, Any]]:
    for where in WORLDS:
        if not line.applies(where):
            continue
        parameter, shares = line.at(where, line.limit), []
        for cases in SIZES:
            studies = _studies(line, cases)
            passed = sum(
                _state(line, line.study(where, [seed, cases], cases, parameter)) == "holds"
                for seed in range(studies)
            )
            share = passed / studies
            shares.append(f"{100 * share:.1f}{'*' * (share < CAREFUL)}")
            yield _row(
                f"{line.name}, {where}, {cases:,} cases",
                f"{passed} of {studies}",
                "too careful" if share < CAREFUL else "",
                share,
                "<= 6.5 %",
                # Beyond the target by more than the luck of so few studies.
                share <= MOST + 2 * (MOST * (1 - MOST) / studies) ** 0.5 * (studies < STUDIES),
            )
        tables.error.append((f"`{line.name}`", where, ", ".join(shares)))


def _studies(line: Line, cases: int) -> int:
    return max(1, STUDIES // 3) if line.resampled and cases >= 1000 else STUDIES


def _state(line: Line, beside: Beside) -> str:
    tested = colleague_test(beside, RULES, resamples=RESAMPLES if line.resampled else 20, seed=0)
    return tested.line(line.name).state


def _beyond(tables: Tables) -> Iterator[dict[str, Any]]:
    """A jury a fifth of the margin beyond a limit, with 6,000 answers: it must not pass, and is mostly shown to
    fail."""
    studies = max(1, STUDIES // 20)
    for line in LINES:
        where = "three systems" if line.name in ("within_case", "within_system") else "plain"
        limit = line.limit * (0.9 if line.name == "colleagues" else 1.2)
        parameter = line.at(where, limit)
        cases = 6000 // len(WORLDS[where]["systems"])
        states = [_state(line, line.study(where, [seed, 6000], cases, parameter)) for seed in range(studies)]
        passed, failed = states.count("holds"), states.count("fails")
        yield _row(
            f"{line.name} at {limit:g}, 6,000 answers",
            f"{passed} of {studies} hold",
            f"{failed} fail",
            passed / studies,
            "<= 5 %",
            passed <= 0.05 * studies,
        )
        tables.beyond.append(f"| `{line.name}` | {limit:g} | {passed} | {failed} | {studies} |")


def _power(tables: Tables) -> Iterator[dict[str, Any]]:
    """How often all lines hold for a good jury."""
    studies = max(1, STUDIES // 10)
    juries: Mapping[str, Callable[[World, Draw], Floats]] = {
        "the true grade": lambda made, draw: made.scale(made.truth),
        "one more clinician": lambda made, draw: noisy(made, draw, COLLEAGUE),
        "0.2 of a grade kinder": lambda made, draw: kinder(made, draw, 0.2),
    }
    for name, jury in juries.items():
        for where in WORLDS:
            shares = []
            for cases in (100, 200, 400, 800, 1600):
                passed = sum(
                    all(
                        each.met
                        for each in colleague_test(
                            drawn(WORLDS[where], [seed, cases], cases, jury), RULES, resamples=300, seed=0
                        ).lines
                    )
                    for seed in range(studies)
                )
                shares.append(f"{100 * passed / studies:.0f}")
            yield {
                "name": f"power: {name}, {where}",
                "ours": " ".join(shares),
                "peer": "100 to 1,600 cases",
                "ratio": "",
                "target": "",
                "holds": None,
            }
            tables.power.append((name, where, ", ".join(shares)))


COLUMNS = {"specialty": 6, "site": 5, "age group": 4, "language": 3, "ward": 3}


def _scope(tables: Tables) -> Iterator[dict[str, Any]]:
    """The scope of a good jury stays whole; a part where it ignores the answer is found."""
    studies = max(1, STUDIES // 5)
    for name, noise in (("the true grade", 0.0), ("one more clinician", COLLEAGUE)):
        whole = sum(_parts_of(seed, 420, partial(_steady, noise))[0] for seed in range(studies))
        yield _row(
            f"scope: {name}, five columns, all parts hold",
            f"{whole} of {studies}",
            "",
            whole / studies,
            ">= 90 %",
            whole >= 0.9 * studies,
        )
        tables.scope.append(
            f"| {name} | five columns of 3 to 6 values, 60 cases or more each | {whole} | | | {studies} |"
        )
    for size in (15, 30, 60, 100):
        states = [_parts_of(seed, 420, partial(_blind, size), size)[1] for seed in range(studies)]
        found = [states.count(state) for state in ("holds", "fails", "not known")]
        yield _row(
            f"scope: ignores the answer in a part of {size} cases",
            f"{found[1]} of {studies} fail",
            f"{found[2]} not known",
            found[1] / studies,
            "",
            None,
        )
        tables.scope.append(
            f"| ignores the answer in one part | of {size} cases | {found[0]} | {found[1]} | {found[2]} | "
            f"{studies} |"
        )


def _steady(noise: float, made: World, draw: Draw) -> Floats:
    return noisy(made, draw, noise)


def _blind(size: int, made: World, draw: Draw) -> Floats:
    """Chance in the first so many cases."""
    return np.where(made.case < size, draw.permutation(made.scale(made.truth)), noisy(made, draw, 0.5))


def _parts_of(
    seed: int, cases: int, jury: Callable[[World, Draw], Floats], size: int = 0
) -> tuple[bool, str]:
    """Whether every part holds, and the state of the part that is the first `size` cases."""
    beside = drawn({"systems": (-0.15, 0.15)}, [seed, 29], cases, jury)
    draw = np.random.default_rng([seed, 30])
    parts = []
    for column, values in COLUMNS.items():
        codes = draw.permutation(np.arange(cases) % values)[beside.case]
        if column == "ward" and size:
            codes = np.where(beside.case < size, 0, 1 + codes % 2)
        parts += [Part(column, f"{value}", codes == value) for value in range(values)]
    parts += [Part("system", f"{value}", beside.system == value) for value in (0, 1)]
    parts += [Part("time", f"{value} of 7", beside.case * 7 // cases == value) for value in range(7)]
    found = tested_parts(beside, parts, (), RULES)
    scope = found.scope
    whole = not scope.fails and not scope.not_known and all(rule.met for rule in found.rules)
    states = {"holds": scope.holds, "fails": scope.fails, "not known": scope.not_known}
    return whole, next((state for state, names in states.items() if "ward=0" in names), "")


def _row(name: str, ours: str, peer: str, share: float, target: str, holds: bool | None) -> dict[str, Any]:
    return {
        "name": name,
        "ours": ours,
        "peer": peer,
        "ratio": f"{100 * share:.1f} %",
        "target": target,
        "holds": holds,
    }


def _crossed(first: str, cells: list[tuple[str, str, str]]) -> tuple[str, list[str]]:
    """Head and rows of a table with a column for each kind of cases and clinicians."""
    shown = {(name, where): numbers for name, where, numbers in cells}
    columns = [where for where in WORLDS if any(where == each for _, each, _ in cells)]
    rows = [
        f"| {name} | {' | '.join(shown.get((name, where), '') for where in columns)} |"
        for name in dict.fromkeys(name for name, _, _ in cells)
    ]
    return f"| {first} | {' | '.join(columns)} |", rows


def _page(tables: Tables) -> str:
    """The tables in Markdown."""
    parts = (
        (
            "A jury exactly at the limit of a line passes it in so many % of studies with 100, 300 and 1,000 "
            "cases; 5 % is meant. Below 2 % the line is too careful: these have a `*`. Where the bound is "
            "resampled, a third as many studies of 1,000 cases were drawn.",
            *_crossed("line", tables.error),
        ),
        (
            "A jury beyond a limit by a fifth of it (clinicians by a tenth), with 6,000 answers.",
            "| line | true value | holds | fails | of |",
            tables.beyond,
        ),
        (
            "In so many % of studies with 100, 200, 400, 800 and 1,600 cases all seven lines hold for a good "
            "jury. Danger decides: a quarter of the answers are dangerous, or 5 %.",
            *_crossed("jury", tables.power),
        ),
        (
            "The scope. Of a good jury every part must hold; a part in which the jury ignores the answer must not.",
            "| jury | parts | holds | fails | not known | of |",
            tables.scope,
        ),
    )
    lines = [
        "# How often is the colleague test wrong?",
        "",
        f"Made by `WRITE_TABLES=1 python -m benchmarks type_one`, up to {STUDIES:,} studies a cell.",
    ]
    for about, head, rows in parts:
        if rows:
            lines += ["", about, "", head, "|" + "---|" * (head.count("|") - 1), *rows]
    return "\n".join(lines) + "\n"
