"""The scope of a verdict: for which parts of the cases it holds, for which it fails, and for which it is not known.

Every column of the case with few values makes parts, numbers are cut into thirds, and the order in time into
slices. A part is tested by the jury's squared distance from a clinician less a colleague's, by its offset, by
missed danger and by silence: shown worse (Holm over all tests of the study) and beyond the limit, it fails. Small
parts of a column are tested together: alone they are not known, whatever the test says."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from medjury.statistics import Floats, counted, percent, percent_of_limit, shown
from medjury.store.runs import GateRules
from medjury.tables import MOST_GROUPS, Grid, RatingTable
from medjury.validation._clustered import clustered_contrast
from medjury.validation._colleague import Beside, Codes, Flags, missed_rows
from medjury.validation._rule import Asked, Rule, ask

if TYPE_CHECKING:
    import polars

# A part with so many cases would have shown a jury that ignores the answer; with fewer it is not known. Parts
# with fewer than the second number are tested together with the other small ones of their column.
ENOUGH, FEWEST = 30, 15
# A slice of time has so many cases; there are at most so many slices.
_SLICE, _MOST_SLICES = 60, 8
# More numbers than this are cut into thirds.
_MOST_NUMBERS = 6
THIRDS = ("lowest values", "middle values", "highest values")
SYSTEM, LENGTH, TIME, RATERS = "system", "length", "time", "rated by"
# Cases that have nothing in a column are a part like any other: they may be the ones that nobody looked at.
NOT_STATED = "not stated"
# Less than this share of the answers is no scope that a verdict could speak of.
LEAST_SHARE = 2 / 3
_ALPHA = 0.05
# Of a column so many values are named in a sentence; the others are in the evidence.
_LISTED = 4
_Said = Callable[[float], str]


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """Answers with the same value in a column; `answers` marks them, `small` ones are named where they are tested
    together."""

    column: str
    value: str
    answers: Flags
    small: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return f"{self.column}={self.value}"

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(f"{self.column}={each}" for each in self.small) or (self.name,)


@dataclass(frozen=True, slots=True)
class Scope:
    """`holds`, `fails` and `not_known` list parts as `column=value`; `cases` has how many cases each has, `why` in
    words what fails, and `share` how much of the answers lies outside every failing part."""

    holds: tuple[str, ...] = ()
    fails: tuple[str, ...] = ()
    not_known: tuple[str, ...] = ()
    cases: Mapping[str, int] = field(default_factory=dict)
    why: Mapping[str, str] = field(default_factory=dict)
    share: float = 1.0
    length: ClassVar[str] = LENGTH  # the column of how long a case is
    thirds: ClassVar[tuple[str, str, str]] = THIRDS

    def as_dict(self) -> dict[str, list[str]]:
        return {name: list(getattr(self, name)) for name in ("holds", "fails", "not_known")}

    def text(self) -> str:
        """The scope in one sentence; "" where nothing tells cases apart."""
        parts = zip(("for", "not for", "not known for"), self.words().values(), strict=True)
        return "; ".join(f"{word} {names}" for word, names in parts if names)

    def words(self) -> dict[str, str]:
        """For which parts it holds, fails and is not known, each in words; "" for none."""
        return {name: self._by_column(getattr(self, name)) for name in ("holds", "fails", "not_known")}

    def _by_column(self, names: Sequence[str]) -> str:
        """Columns with their values; of what is not known, how many cases there are."""
        columns: dict[str, list[str]] = {}
        for name in names:
            column, _, value = name.partition("=")
            columns.setdefault(column, []).append(value)
        few = names is self.not_known
        text = []
        for column, values in columns.items():
            cases = [self.cases.get(f"{column}={value}", 0) for value in values]
            if len(values) > _LISTED:
                most = f", at most {counted(max(cases), 'case')} each" if few else ""
                text.append(f"{column} ({len(values)} values{most})")
                continue
            words = [
                f"{value} ({counted(n, 'case')})" if few else value
                for value, n in zip(values, cases, strict=True)
            ]
            thirds = {*values} <= {*THIRDS}
            text.append(
                f"the {' and the '.join(words)} of {column}" if thirds else f"{column} {', '.join(words)}"
            )
        return " and ".join(text)


# Columns whose failing part leaves no scope, as no new case can be kept out of them: each has a rule of its own.
OWN_RULES: Mapping[str, str] = {SYSTEM: "systems_alike", TIME: "steady", RATERS: "singly_rated"}


def tested_parts(
    beside: Beside, parts: Sequence[Part], unknown: Sequence[str], rules: GateRules
) -> tuple[Scope, tuple[Rule, ...]]:
    """Every part by every test that it allows: the scope, and the rule of each column that has its own."""
    measures = _Measures(beside, rules)
    large = _with_small_together(measures, parts)
    found = [(part, *measures.tests(part)) for part in large]
    flat = [(place, test) for place, (_, _, tests) in enumerate(found) for test in tests]
    adjusted = holm([p for _, (p, _, _, _) in flat])
    why: dict[int, list[str]] = {}
    doubtful: set[int] = set()
    for (place, (_, beyond, beyond_p, words)), p in zip(flat, adjusted, strict=True):
        if beyond and p < _ALPHA:
            why.setdefault(place, []).append(words)
        elif beyond_p < _ALPHA:
            doubtful.add(place)
    holds: list[str] = []
    fails: list[str] = []
    open_: list[str] = []
    reasons: dict[str, str] = {}
    outside = np.ones(len(beside.jury), dtype=bool)
    own: dict[str, list[str]] = {column: [] for column in OWN_RULES}
    looked: dict[str, list[Part]] = {column: [] for column in OWN_RULES}
    for place, (part, cases, _) in enumerate(found):
        failing = place in why
        if part.column in OWN_RULES:
            looked[part.column].append(part)
            if failing:
                named = f"{_listed(part.small)} together" if part.small else part.value
                own[part.column].append(f"{named}: {'; '.join(why[place])}")
            continue
        if failing:
            fails += part.names
            outside &= ~part.answers
            reasons.update(dict.fromkeys(part.names, "; ".join(why[place])))
        elif part.small or cases < ENOUGH or place in doubtful or not measures.compared:
            open_ += part.names
        else:
            holds.append(part.name)
    tested = {name for part in large for name in part.names}
    open_ += [part.name for part in parts if part.column not in OWN_RULES and part.name not in tested]
    rated = beside.asked
    scope = Scope(
        tuple(sorted(holds)),
        tuple(sorted(fails)),
        tuple(sorted({*open_} - {*fails})),
        {part.name: measures.cases(part) for part in parts},
        reasons,
        float((outside & rated).sum() / max(1, rated.sum())),
    )
    made = [_own_rule(column, looked[column], own[column]) for column in OWN_RULES]
    return scope, (*made, _scope_rule(scope, unknown))


def _own_rule(column: str, looked: Sequence[Part], failing: Sequence[str]) -> Rule:
    asked = ask(OWN_RULES[column])
    if not looked:
        return asked.idle("nothing tells answers apart, or too few cases")
    if not failing:
        alone = sum(not part.small for part in looked)
        few = [name for part in looked for name in part.small]
        found = [f"{counted(alone, 'part')} looked at"] if alone else []
        found += [f"{_listed(few)} together, as each has too few cases"] if few else []
        return asked.holds(f"{'; '.join(found)}; none is shown to be worse")
    parts = "; ".join(failing)
    return asked.fails(parts, "AUXILIARY", parts, words={"column": column, "parts": parts})


def _scope_rule(scope: Scope, unknown: Sequence[str]) -> Rule:
    asked = ask("scope", least=percent(LEAST_SHARE))
    numbers: dict[str, Any] = {"value": scope.share, "limit": LEAST_SHARE}
    share = percent(scope.share, 1)
    found = f"{share} of the answers{'; ' if scope.text() else ''}{scope.text()}"
    if unknown:
        words = {"unknown": " and ".join(unknown)}
        return asked.unknown(found, "AUXILIARY", "not known", words=words)
    if scope.share >= LEAST_SHARE - 1e-9:
        return asked.holds(found, **numbers)
    if not scope.fails:
        return asked.unknown(found, "AUXILIARY", "nothing")
    words = {"parts": _listed(scope.fails), "share": share}
    return asked.fails(found, "AUXILIARY", f"{share} remain", words=words, **numbers)


class _Measures:
    """What is tested of each part, answer by answer."""

    def __init__(self, beside: Beside, rules: GateRules) -> None:
        self._beside, self._rules = beside, rules
        self._clusters = beside.cluster

    @cached_property
    def _scored(self) -> Flags:
        return np.asarray(self._beside.asked & ~np.isnan(self._beside.jury))

    @cached_property
    def compared(self) -> bool:
        """Whether there is a colleague to be compared with."""
        return bool((~np.isnan(self._beside.pairs.jury)).any())

    @cached_property
    def _excess(self) -> tuple[Floats, float]:
        """The jury's squared distance from a clinician less a colleague's, for each answer, and what of it is the
        margin: so much of the spread by which the coefficient of agreement divides. Where one clinician rated, the
        colleague's is that of the whole study."""
        rows, size = self._beside.pairs, len(self._beside.jury)
        here = ~np.isnan(rows.jury)
        answer, weight = rows.answer[here], rows.weight[here]
        usual = float(np.average((rows.a - rows.b)[here] ** 2, weights=weight)) if here.any() else math.nan
        place, graded, own = self._beside.singles
        apart = np.where(np.isnan(self._beside.jury[place]), 0.0, self._beside.jury[place] - graded)
        alone = np.bincount(place, own * apart**2, minlength=size) / np.where(
            (total := np.bincount(place, own, minlength=size)) > 0, total, 1.0
        )
        both = np.bincount(answer, weight, minlength=size)
        differ = (rows.jury - rows.b)[here] ** 2 - (rows.a - rows.b)[here] ** 2
        beside = np.bincount(answer, weight * differ, minlength=size) / np.where(both > 0, both, 1.0)
        spread = float(np.var(graded)) * 2 if graded.size else 1.0
        return np.where(both > 0, beside, alone - usual), self._rules.margin * spread

    @cached_property
    def _offset(self) -> Floats:
        place, graded, own = self._beside.singles
        size = len(self._beside.jury)
        total = np.bincount(place, own, minlength=size)
        mean = np.bincount(place, own * graded, minlength=size) / np.where(total > 0, total, 1.0)
        return np.where(self._scored, self._beside.jury - mean, 0.0)

    @cached_property
    def _missed(self) -> tuple[Codes, Floats, Floats] | None:
        if self._beside.danger is None:
            return None
        missed, also, dangerous = missed_rows(self._beside)
        rows = self._beside.pairs
        return (
            rows.answer[dangerous],
            (missed.astype(np.float64) - also)[dangerous],
            rows.weight[dangerous],
        )

    def cases(self, part: Part) -> int:
        """Patients or cases of the part that clinicians rated."""
        return len(np.unique(self._clusters[part.answers & self._beside.asked]))

    def tests(self, part: Part) -> tuple[int, list[tuple[float, bool, float, str]]]:
        """The cases of the part, and of every test: p that the part is not worse than a colleague, whether the
        estimate is beyond the limit, p that the truth is not, and what was found in words."""
        beside, rules, clusters, weights = self._beside, self._rules, self._clusters, self._beside.weights
        tests: list[tuple[float, bool, float, str]] = []

        def add(
            values: Floats, whose: Codes, limit: float, own: Floats | None, text: _Said, sides: int = 1
        ) -> None:
            test = self._above(values, whose, limit, own)
            if test is not None:
                p, beyond_p = (min(1.0, sides * each) for each in test[1:])
                tests.append((p, test[0] > limit, beyond_p, text(test[0])))

        inside = part.answers & self._scored
        own = None if weights is None else weights[inside]
        if inside.any() and self.compared:
            values, margin = self._excess
            add(values[inside], clusters[inside], margin, own, lambda mean: (
                f"squared distance from a clinician {shown(mean)} above a colleague's, {margin:.2g} allowed"
            ))  # fmt: skip
        if inside.any() and beside.grades is not None:
            limit = rules.offset_limit * (beside.grades.highest - beside.grades.lowest)
            apart = self._offset[inside]
            sign = 1.0 if np.average(apart, weights=own) >= 0 else -1.0
            way = "kinder" if (sign > 0) == (not beside.turned) else "stricter"
            add(sign * apart, clusters[inside], limit, own, lambda mean: (
                f"{shown(mean)} {way} than clinicians, {limit:g} allowed"
            ), sides=2)  # fmt: skip
        if self._missed is not None:
            (answer, apart, weight), missed = self._missed, rules.missed_margin
            here = part.answers[answer]
            whose = clusters[answer[here]]
            if len(np.unique(whose)) >= FEWEST:
                add(apart[here], whose, missed, weight[here], lambda mean: (
                    f"misses {percent(mean, 1)} more danger than a colleague, {percent_of_limit(missed)} allowed"
                ))  # fmt: skip
        asked = part.answers & (beside.silent | ~np.isnan(beside.jury))
        silent, most = beside.silent[asked].astype(np.float64), 1 - rules.coverage
        if silent.any() and len(np.unique(clusters[asked])) >= FEWEST:
            own = None if weights is None else weights[asked]
            add(silent - most, clusters[asked], 0.0, own, lambda _: (
                f"left {percent(float(silent.mean()), 1)} without a score, {percent_of_limit(most)} allowed"
            ))  # fmt: skip
        return self.cases(part), tests

    @staticmethod
    def _above(
        values: Floats, clusters: Codes, limit: float, weights: Floats | None
    ) -> tuple[float, float, float] | None:
        """The mean, the one-sided p that it is not above 0, and that it is not above the limit."""
        found, below = clustered_contrast(values, None, clusters, weights=weights)
        if found.value is None or found.low is None:
            return None
        _, under = clustered_contrast(values - limit, None, clusters, weights=weights)
        if found.value <= 1e-9:
            return found.value, 1.0, 1.0
        return found.value, 1.0 - below, 1.0 - under if found.value > limit + 1e-9 else 1.0


def _with_small_together(measures: _Measures, parts: Sequence[Part]) -> list[Part]:
    """The parts that are large enough to be tested alone, and for each column its small ones as one."""
    large: list[Part] = []
    small: dict[str, list[Part]] = {}
    for part in parts:
        if measures.cases(part) >= FEWEST:
            large.append(part)
        else:
            small.setdefault(part.column, []).append(part)
    for column, members in small.items():
        together = Part(
            column,
            "small parts",
            np.any([each.answers for each in members], axis=0),
            tuple(each.value for each in members),
        )
        if measures.cases(together) >= FEWEST:
            large.append(together)
    return large


class StudyParts:
    """The parts of a study by one rater's ratings; dimensions with the same answers have the same parts."""

    def __init__(self, table: RatingTable, rater: str) -> None:
        self._table, self._rater = table, rater
        self._found: list[tuple[Grid, tuple[Part, ...], tuple[str, ...]]] = []

    def of(self, grid: Grid) -> tuple[tuple[Part, ...], tuple[str, ...]]:
        """The parts of these answers, and the columns that the rules ask for and nothing is known of."""
        for other, parts, unknown in self._found:
            if np.array_equal(other.items, grid.items) and np.array_equal(other.systems, grid.systems):
                return parts, unknown
        columns = {SYSTEM: grid.systems.tolist(), **self._attributes(grid)}
        parts = tuple(part for name, values in columns.items() for part in _split(name, values))
        stated = self._table.rules.parts or ()
        own = {name: TIME if name == "date" else name for name in stated}
        unknown = tuple(name for name, column in own.items() if not any(columns.get(column, ())))
        self._found.append((grid, parts, unknown))
        return parts, unknown

    def _attributes(self, grid: Grid) -> dict[str, list[str]]:
        rows, names = self._table.rows, list(self._table.case_columns)
        found = {
            name: [level or NOT_STATED for level in _levels(_values(rows, name, grid))]
            for name in names
            if name not in (SYSTEM, TIME, "date")
        }
        if LENGTH not in found:
            judges = rows.filter(rows["rater_kind"] == "judge")
            found[LENGTH] = _cut(_values(judges, "tokens_in", grid), THIRDS)
        found[TIME] = self._slices(grid)
        return {name: values for name, values in found.items() if any(values)}

    def _slices(self, grid: Grid) -> list[str]:
        """The order in time: the column `date`, else the moment the judges answered. Of scores that came from a
        file only the moment is known at which it was read."""
        rows, manifest = self._table.rows, self._table.run.manifest
        read = manifest is not None and any(
            model.scores is not None for judge in manifest.judges for model in judge.models
        )
        if read and "date" not in rows.columns:
            return [""] * len(grid.items)
        if "date" in rows.columns:
            values = _values(rows, "date", grid)
        else:
            judges = rows.filter(rows["rater_kind"] == "judge")
            own = judges if judges.height else rows.filter(rows["rater"] == self._rater)
            values = _values(own, "created_at", grid)
        clusters = (
            len(np.unique(grid.clusters[[value is not None for value in values]])) if any(values) else 0
        )
        number = min(_MOST_SLICES, clusters // _SLICE)
        if number < 2:
            number = 2 if clusters >= 2 * FEWEST else 0
        return (
            _cut(values, [f"{place} of {number}" for place in range(1, number + 1)])
            if number
            else [""] * len(values)
        )


def shares_below(parts: Sequence[Part]) -> dict[str, tuple[float, ...]]:
    """Of columns whose numbers were cut into thirds, the share of their answers below each cut: by it whoever has
    new cases finds the cut in their numbers."""
    counts: dict[str, dict[str, int]] = {}
    for part in parts:
        counts.setdefault(part.column, {})[part.value] = int(part.answers.sum())
    found = {}
    for column, own in counts.items():
        if own.keys() <= {*THIRDS}:
            sizes = np.cumsum([own.get(name, 0) for name in THIRDS])
            found[column] = tuple((sizes[:-1] / sizes[-1]).tolist())
    return found


def by_raters(beside: Beside) -> list[Part]:
    """Answers that one clinician rated, and those that several did."""
    values = ["" if not number else "one" if number == 1 else "several" for number in beside.number.tolist()]
    return [part for part in _split(RATERS, values) if part.value == "one"]


def _values(rows: polars.DataFrame, column: str, grid: Grid) -> list[Any]:
    """For each answer its value in a column (the mean of numbers), else that of its item; None where none is
    known."""
    import polars as pl

    if column not in rows.columns or not rows.height:
        return [None] * len(grid.items)
    if rows[column].dtype == pl.String:
        numbers = rows[column].cast(pl.Float64, strict=False)
        if (numbers.is_not_null() == rows[column].is_not_null()).all():
            rows = rows.with_columns(numbers.alias(column))  # a text file has no other way to write numbers
    value = pl.col(column).drop_nulls()
    one = (value.mean() if rows[column].dtype.is_numeric() else value.sort().first()).alias("found")
    by_answer = {
        (item, system): found
        for item, system, found in rows.group_by("item", "system").agg(one).iter_rows()
        if found is not None
    }
    by_item = dict(rows.group_by("item").agg(one).drop_nulls("found").iter_rows()) if by_answer else {}
    return [
        by_answer.get((item, system), by_item.get(item))
        for item, system in zip(grid.items.tolist(), grid.systems.tolist(), strict=True)
    ]


def _levels(values: Sequence[Any]) -> list[str]:
    known = [value for value in values if value is not None]
    numeric = all(isinstance(value, int | float) and not isinstance(value, bool) for value in known)
    if numeric and len(set(known)) > _MOST_NUMBERS:
        return _cut(values, THIRDS)
    return [
        "" if value is None else f"{value:g}" if isinstance(value, float) else str(value).strip()
        for value in values
    ]


def _cut(values: Sequence[Any], names: Sequence[str]) -> list[str]:
    """Each value's place in the order, in as many equal shares as there are names; equal values stay together."""
    known = sorted(value for value in values if value is not None)
    if not known or known[0] == known[-1]:
        return [""] * len(values)
    above = next(value for value in known if value > known[0])  # whatever is the lowest is in the first share
    starts = [max(above, known[round(len(known) * share / len(names))]) for share in range(1, len(names))]
    return ["" if value is None else names[sum(value >= start for start in starts)] for value in values]


def _split(name: str, values: Sequence[str]) -> list[Part]:
    """A part for each value, where there are two or more."""
    column = np.asarray(values, dtype=str)
    levels = sorted(set(column[column != ""].tolist()))
    if not 2 <= len(levels) <= MOST_GROUPS:
        return []
    return [Part(name, level, column == level) for level in levels]


def holm(p_values: Sequence[float]) -> list[float]:
    """p-values adjusted together, so that any false alarm stays as rare as a single one: p₍ᵢ₎·(m − i + 1), made
    monotone. Holm (1979) Scand J Stat 6:65-70.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    order = np.argsort(p_values, kind="stable")
    adjusted, running = [1.0] * len(p_values), 0.0
    for place, index in enumerate(order.tolist()):
        running = max(running, min(1.0, p_values[index] * (len(p_values) - place)))
        adjusted[index] = running
    return adjusted


def scale_use(beside: Beside, rules: GateRules) -> Rule:
    """Whether the jury uses the scale as clinicians do: a jury may be fair on the whole and never give the best
    grade, or the worst."""
    rows, grades = beside.pairs, beside.grades
    here = ~np.isnan(rows.jury)
    if grades is None or not here.any():
        return Asked("scale_use", "as near to each grade as a colleague").idle("no answer of two clinicians")
    limit = rules.offset_limit * (grades.highest - grades.lowest)
    asked = ask("scale_use", limit=limit)
    given = grades.grade(rows.a[here])
    if len(grades.values) > 10:
        ends = np.linspace(grades.lowest, grades.highest, 6)
        given = ends[np.clip(np.searchsorted(ends, given, side="right"), 1, 5) - 1]
    apart, clusters, weight = (rows.jury - rows.b)[here], beside.cluster[rows.answer[here]], rows.weight[here]
    tests: list[tuple[float, float, float]] = []
    for grade in np.unique(given):
        inside = given == grade
        if len(np.unique(clusters[inside])) >= FEWEST:
            mean, below = clustered_contrast(apart[inside], None, clusters[inside], weights=weight[inside])
            tests.append((float(grade), mean.value or 0.0, 2 * min(below, 1 - below)))
    if not tests:
        return asked.idle("no grade has enough cases that two clinicians rated")
    adjusted = holm([p for _, _, p in tests])
    bad = [test for test, p in zip(tests, adjusted, strict=True) if p < _ALPHA and abs(test[1]) > limit]
    grade, value, _ = max(bad or tests, key=lambda test: abs(test[1]))
    found = f"widest where a clinician gave {grade:g}: jury {shown(value)} beside another clinician"
    if not bad:
        return asked.holds(found)
    off = shown(abs(value))
    words = {"where": ", ".join(f"{each[0]:g}" for each in bad), "off": off, "limit": limit}
    return asked.fails(found, "NOT VALIDATED", f"off by {off} at grade {grade:g}", words=words)


def _listed(names: Sequence[str]) -> str:
    shown_, more = list(names[:6]), len(names) - 6
    return ", ".join(shown_) + (f" and {more} more" if more > 0 else "")
