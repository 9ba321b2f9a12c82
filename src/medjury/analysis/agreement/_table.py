"""The result of an agreement study: rows that carry n, what was not scored, and their method; on one screen the
jury, jurors and the clinicians' own agreement side by side, of clinicians alone every pair."""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from medjury.analysis.agreement._among_humans import AMONG, EACH, OTHERS
from medjury.analysis.agreement._non_inferiority import NonInferiority
from medjury.analysis.agreement._row import AgreementRow, Counts, reading
from medjury.analysis.agreement._severe_errors import SevereErrors, severe_errors
from medjury.analysis.agreement._table_text import table_lines
from medjury.foundation.screen import screen_columns
from medjury.statistics import (
    Estimate,
    Printable,
    Result,
    panels_figure,
    percent,
    shown,
    supported,
    text_table,
)
from medjury.tables import ABSENT, CONSENSUS, RatingTable, Roles

if TYPE_CHECKING:
    import polars
    from matplotlib.figure import Figure

# With more dimensions than this each has one line; with more jurors, or pairs, their lowest and highest are shown.
_DIMENSIONS, _JURORS, _PAIRS = 6, 4, 10
COLLEAGUES = "colleagues"
_MISSED = "missed danger"
_ALWAYS = ("icc_2_1", "exact_match", "offset")  # beside the study's coefficient
Index = Mapping[tuple[str, str, str, str], AgreementRow]


@dataclass(frozen=True, slots=True, eq=False)
class AgreementTable(Result[AgreementRow]):
    """All rows, the warnings a reader must see first, notes on how things were done, and what was not scored:
    `unscored[rater][reason]` counts ratings.

    `table` and `roles` are the ratings and who is who in them. Behind the rows stand
    `non_inferiority[dimension, rater][statistic]`, the rater among the references, where there are two or more,
    and `severe[dimension, rater]`, the severe errors against the only reference or their consensus."""

    rows: tuple[AgreementRow, ...]
    warnings: tuple[str, ...]
    notes: tuple[str, ...]
    unscored: Mapping[str, Mapping[str, int]]
    table: RatingTable
    roles: Roles
    non_inferiority: Mapping[tuple[str, str], Mapping[str, NonInferiority]]
    severe: Mapping[tuple[str, str], SevereErrors]
    confidence: float

    def find(self, statistic: str | None = None, /, **where: object) -> AgreementRow:
        """The one row with this statistic and these fields; an error where there is none, or more than one."""
        named = {} if statistic is None else {"statistic": statistic}
        return Result.find(self, **named, **where)

    def frame(self) -> polars.DataFrame:
        """One polars row per statistic, in the columns of `--json`."""
        import polars as pl

        names = list(AgreementRow("", "", "", "", Estimate(0, None, None, 0, ""), Counts()).as_dict())
        numbers = {"value", "low", "high", "p_value", "coverage"}
        schema = {
            name: pl.Int64
            if name == "n" or name.startswith("n_")
            else pl.Float64
            if name in numbers or name.startswith(("ceiling", "floor"))
            else pl.String
            for name in names
        }
        return pl.DataFrame([row.as_dict() for row in self.rows], schema=schema)

    def remarks(self) -> tuple[str, ...]:
        """What must be read before the numbers: warnings, and what was not scored."""
        lines = [f"! {warning}" for warning in self.warnings]
        for rater, reasons in sorted(self.unscored.items()):
            # A clinician's empty cell is an answer that was not rated, and no failure.
            blank = reasons.get("missing", 0) if self.table.raters.get(rater) == "clinician" else 0
            if blank:
                lines.append(f"not rated by {rater}: {blank} (empty, NA or n/a)")
            others = {reason: count for reason, count in reasons.items() if not blank or reason != "missing"}
            if others:
                counted = ", ".join(f"{count} {reason}" for reason, count in sorted(others.items()))
                lines.append(f"unscored ratings of {rater}: {counted}")
        return tuple(lines)

    def text(self) -> str:
        """A table for reading: a block per dimension and reference, a column per compared rater."""
        return "\n".join(table_lines(self.rows, self.remarks(), self.notes))

    def short_text(self) -> str:
        """One screen: the jury, its jurors and the clinicians' own agreement; of clinicians alone every pair."""
        return "\n".join(summary_lines(self))

    def plot(self) -> Figure:
        """The study's coefficient by rater, with intervals, a panel for each dimension."""
        return panels_figure(panels(self))

    def shown_rows(self) -> Sequence[Mapping[str, Printable]]:
        return [
            {
                "dimension": row.dimension,
                "reference": row.reference,
                "rater": row.rater,
                "level": row.system or row.level,
                "statistic": row.statistic,
                "estimate": row.shown(),
                "n": row.estimate.n,
                "unscored": row.counts.n_unscored,
                "reading": reading(row.statistic, row.estimate),
                "method": row.estimate.method,
            }
            for row in self.rows
        ]

    def _repr_html_(self) -> str:
        notes = "".join(f"<p>{html.escape(note)}</p>" for note in self.notes)
        return Result._repr_html_(self) + notes


# One screen: what a reader asks first.


def summary_lines(found: AgreementTable) -> Iterator[str]:
    """What a reader asks first, and how to see the rest."""
    yield from found.remarks()
    index = _index(found)
    dimensions = list(dict.fromkeys(row.dimension for row in found.rows))
    used: list[AgreementRow] = []  # what is shown, for the reasons why some of it does not exist
    if found.roles.raters:
        yield from _beside_clinicians(found, index, dimensions, used)
        more = "every rater, reference and statistic"
    else:
        yield from _alone(found, index, dimensions, used)
        more = "every pair and statistic"
    reasons = dict.fromkeys(row.estimate.reason for row in used if not row.estimate.defined)
    yield from (f"not defined: {reason}" for reason in reasons)
    bare = [each.name for each in found.table.counted if each.grades is None and each.name in dimensions]
    if bare and found.table.rules.statistic == "kappa_quadratic":
        yield f"no scale is known for {', '.join(bare)}: with one there is weighted kappa (--scale LOW HIGH)"
    yield f"--all shows {more}"


def _index(found: AgreementTable) -> Index:
    return {
        (row.dimension, row.reference, row.rater, row.statistic): row
        for row in found.rows
        if row.level == "item" and not row.system
    }


def shown_statistics(table: RatingTable) -> frozenset[str]:
    """What `summary_lines` reads, on any dimension."""
    return frozenset((table.rules.statistic, *_ALWAYS))


def coefficient_of(found: AgreementTable, dimension: str) -> str:
    """The study's coefficient; without a scale there is no kappa, and the ICC takes its place."""
    grades = next((each.grades for each in found.table.dimensions if each.name == dimension), None)
    asked = found.table.rules.statistic
    return "icc_2_1" if asked == "kappa_quadratic" and grades is None else asked


def main_reference(found: AgreementTable) -> str:
    return CONSENSUS if len(found.roles.reference) > 1 else "".join(found.roles.reference)


def compared(found: AgreementTable) -> tuple[list[str], list[str]]:
    """Those whose word counts, and their jurors and other raters; text metrics are on no scale and take no part."""
    kinds, roles = found.table.raters, found.roles
    there = [name for name in roles.raters if kinds.get(name) != "metric" and name not in roles.reference]
    first = [name for name in roles.on_trial if name in there]
    return (first, [name for name in there if name not in first]) if first else (there, [])


def with_one_clinician(
    found: AgreementTable, index: Index, dimension: str, rater: str, statistic: str
) -> AgreementRow | None:
    """A rater's mean agreement with single clinicians, or theirs with one another; where there is no such mean of
    theirs (one clinician, weighted answers), the agreement with the reference."""
    if any(key[:3] == (dimension, EACH, OTHERS) for key in index):
        return index.get((dimension, EACH, rater, statistic))
    return index.get((dimension, main_reference(found), rater, statistic))


# The jury beside its clinicians.


def _beside_clinicians(
    found: AgreementTable, index: Index, dimensions: Sequence[str], used: list[AgreementRow]
) -> Iterator[str]:
    reference = found.roles.reference
    first, others = compared(found)
    tables = [_Cells(found, index, each, first, others, used) for each in dimensions]
    colleagues = any(each.colleagues for each in tables)
    whom = ", ".join(reference)
    yield (
        f"Agreement with one clinician, the mean over {whom}; colleagues: these clinicians with one another"
        if colleagues
        else f"Agreement with {'the consensus of ' if len(reference) > 1 else ''}{whom}"
    )
    if len(tables) > _DIMENSIONS:
        yield ""
        yield from text_table([each.line() for each in tables])
    else:
        for each in tables:
            yield ""
            yield from text_table(each.block())
    yield ""
    yield from (note for note in found.notes if note.startswith("jury: "))
    if colleagues:
        yield "offset: rater minus the clinicians' consensus"
    of = [
        f"{each.dimension} {known[0].n:,}"
        for each in tables
        if (known := [one for one in each.missed.values() if one is not None])
    ]
    if of:
        yield (
            f"{_MISSED}: of what single clinicians called dangerous (answers: {', '.join(of)}; each counts once, "
            "shared among its clinicians), the share scored far too kindly or not at all"
        )


class _Cells:
    """The numbers of one dimension: for each statistic one of each rater and of colleagues."""

    def __init__(
        self,
        found: AgreementTable,
        index: Index,
        dimension: str,
        first: Sequence[str],
        others: Sequence[str],
        used: list[AgreementRow],
    ) -> None:
        self.found, self.index, self.dimension = found, index, dimension
        self.first, self.others, self.used = first, others, used
        self.coefficient, self.reference = coefficient_of(found, dimension), main_reference(found)
        self.colleagues = (dimension, EACH, OTHERS, self.coefficient) in index
        self.missed = {
            name: missed_danger(found, dimension, name)
            for name in (*first, *others, *([OTHERS] if self.colleagues else []))
            if (dimension, name) in found.severe or (name == OTHERS and self._severe is not None)
        }

    @property
    def _severe(self) -> SevereErrors | None:
        return next((each for (name, _), each in self.found.severe.items() if name == self.dimension), None)

    def estimate(self, rater: str, statistic: str) -> Estimate | None:
        if statistic == _MISSED:
            return self.missed.get(rater)
        if statistic == "offset":
            row = self.index.get((self.dimension, self.reference, rater, statistic))
        else:
            row = with_one_clinician(self.found, self.index, self.dimension, rater, statistic)
        if row is not None:
            self.used.append(row)
        return None if row is None else row.estimate

    def counts(self, rater: str) -> str:
        """On how many answers the numbers rest, and how many were left without a score."""
        reference = EACH if rater == OTHERS else self.reference
        row = next(
            (row for key, row in self.index.items() if key[:3] == (self.dimension, reference, rater)), None
        )
        if row is None:
            return ""
        lost = row.counts.n_unscored if rater != OTHERS else 0
        return f"{row.counts.n:,}, {lost:,} without both scores" if lost else f"{row.counts.n:,}"

    @property
    def statistics(self) -> list[str]:
        names = dict.fromkeys((self.coefficient, *_ALWAYS))
        there = {
            key[3] for key in self.index if key[0] == self.dimension and key[1] in (EACH, self.reference)
        }
        return [*(name for name in names if name in there), *([_MISSED] if self.missed else [])]

    def block(self) -> list[dict[str, Printable]]:
        """A row for each statistic; jurors without their intervals, which `--all` shows."""
        few, many = len(self.others) <= _JURORS, f"{len(self.others)} other raters"
        whole = {name: name for name in self.first} | ({COLLEAGUES: OTHERS} if self.colleagues else {})
        rows: list[dict[str, Printable]] = []
        for statistic in self.statistics:
            share = statistic == _MISSED
            row: dict[str, Printable] = {self.dimension: statistic}
            row |= {
                title: _cell(self.estimate(name, statistic), share=share) for title, name in whole.items()
            }
            jurors = {name: self.estimate(name, statistic) for name in self.others}
            if few:
                row |= {name: _cell(each, share=share, ends=False) for name, each in jurors.items()}
            else:
                row[many] = _range(jurors, share=share)
            if any(list(row.values())[1:]):
                rows.append(row)
        counts: dict[str, Printable] = {self.dimension: "n"}
        counts |= {title: self.counts(name) for title, name in whole.items()}
        counts |= {name: self.counts(name) for name in self.others} if few else {many: ""}
        return [*rows, counts]

    def line(self) -> dict[str, Printable]:
        """One line, of those whose word counts and of colleagues."""
        line: dict[str, Printable] = {"dimension": self.dimension, "coefficient": self.coefficient}
        alone = len(self.first) == 1
        for name in self.first:
            line[name] = _cell(self.estimate(name, self.coefficient))
        line[COLLEAGUES] = _cell(self.estimate(OTHERS, self.coefficient)) if self.colleagues else None
        for name in self.first:
            of = "" if alone else f", {name}"
            line[f"offset{of}"] = _cell(self.estimate(name, "offset"), ends=False)
            line[f"{_MISSED}{of}"] = _cell(self.missed.get(name), share=True, ends=False)
        return line | {"n": self.counts(self.first[0]) if self.first else ""}


def _cell(estimate: Estimate | None, *, share: bool = False, ends: bool = True) -> str:
    if estimate is None:
        return ""
    if estimate.value is None:
        return "not defined"
    if share:
        low, high = percent(estimate.low), percent(estimate.high)
        value = percent(estimate.value, 1)
        return f"{value} ({low.removesuffix(' %')} to {high})" if ends else value
    if not ends:
        return shown(estimate.value, 2)
    return supported(estimate) if screen_columns() is not None else shown(estimate)


def _range(found: Mapping[str, Estimate | None], *, share: bool) -> str:
    values = [each.value for each in found.values() if each is not None and each.value is not None]
    if not values:
        return ""
    ends = (percent(each, 1) if share else shown(each, 2) for each in (min(values), max(values)))
    return " to ".join(ends)


def missed_danger(found: AgreementTable, dimension: str, rater: str) -> Estimate | None:
    """Of the answers that a clinician called dangerous, the share that a rater scored far too kindly or left
    without a score, each answer counted once; with `OTHERS` the share that another clinician did. It is the number
    of the colleague test's line of that name, on the answers that two clinicians rated where there are several."""
    limits = next((each for (name, _), each in found.severe.items() if name == dimension), None)
    if limits is None:
        return None
    table = found.table
    grid = table.grid(dimension, found.roles)
    oriented = table.dimension(dimension).oriented
    humans = np.column_stack([oriented(grid.scores[name]) for name in found.roles.reference])
    there = ~np.isnan(humans)
    several = len(found.roles.reference) > 1
    number = there.sum(axis=1)
    drawn = table.weights(grid, found.roles.reference)
    first, second, answer, weight = [], [], [], []
    for place in range(humans.shape[1]):
        columns = [each for each in range(humans.shape[1]) if each != place] if rater == OTHERS else [-1]
        for other in columns:
            if other < 0:
                scores = oriented(grid.scores[rater])
                asked = grid.states[rater] != ABSENT if table.run.manifest is not None else there[:, place]
                used, share = there[:, place] & asked & (~several | (number > 1)), number
            else:
                scores, used = humans[:, other], there[:, place] & there[:, other]
                share = number * (number - 1)
            at = np.flatnonzero(used)
            first.append(humans[at, place])
            second.append(scores[at])
            answer.append(at)
            weight.append((1.0 if drawn is None else drawn[at]) / share[at])
    at = np.concatenate(answer)
    made = severe_errors(
        np.concatenate(first),
        np.concatenate(second),
        threshold=limits.threshold,
        gap=limits.gap,
        clusters=grid.clusters[at],
        confidence=found.confidence,
        weights=np.concatenate(weight),
    )
    return replace(made.worst, n=len(np.unique(at[made.danger]))) if made.danger.any() else None


def panels(found: AgreementTable) -> list[tuple[str, str, list[tuple[str, Estimate, Sequence[float]]]]]:
    """For each dimension the study's coefficient of every rater and of colleagues; of clinicians alone of every
    pair."""
    index, made = _index(found), []
    first, others = compared(found)
    for dimension in dict.fromkeys(row.dimension for row in found.rows):
        name = coefficient_of(found, dimension)
        lines: list[tuple[str, Estimate, Sequence[float]]] = []
        if found.roles.raters:
            for rater in (*first, *others, OTHERS):
                row = with_one_clinician(found, index, dimension, rater, name)
                if row is not None and row.estimate.defined:
                    lines.append((COLLEAGUES if rater == OTHERS else rater, row.estimate, ()))
        else:
            pairs = [
                (pair, index.get((dimension, *pair, name))) for pair in combinations(found.roles.reference, 2)
            ]
            lines = [
                (", ".join(pair), row.estimate, ())
                for pair, row in pairs
                if row is not None and row.estimate.defined
            ]
        if lines:
            made.append((dimension, f"{name} with one clinician" if found.roles.raters else name, lines))
    return made


# Clinicians alone.


def _alone(
    found: AgreementTable, index: Index, dimensions: Sequence[str], used: list[AgreementRow]
) -> Iterator[str]:
    people = found.roles.reference
    yield f"{len(people)} raters among themselves: {', '.join(people)}"
    if not any(kind == "clinician" for kind in found.table.raters.values()):
        yield (
            "The table does not say who is a clinician and who a judge (a column rater_kind, or --reference RATER "
            "does), so all are compared as equals."
        )
    for dimension in dimensions:
        names = list(dict.fromkeys((coefficient_of(found, dimension), "icc_2_1", "exact_match")))
        lines: list[_Line] = []
        for first, second in combinations(people, 2):
            pair = [index.get((dimension, first, second, name)) for name in names]
            if any(each is not None for each in pair):
                lines.append((f"{first}, {second}", pair))
        if len(lines) > _PAIRS or len(lines) * len(dimensions) > 5 * _PAIRS:
            lines = _lowest_and_highest(lines)
        if len(people) > 2:
            # All raters at once where the coefficient allows it, else the mean over pairs.
            everyone = " + ".join(people)
            whole = [
                index.get((dimension, everyone, AMONG, name)) or index.get((dimension, EACH, OTHERS, name))
                for name in names
            ]
            lines.insert(0, (f"all {len(people)} together", whole))
        used += [row for _, pair in lines for row in pair if row is not None]
        yield ""
        yield from text_table(
            [
                {
                    dimension: label,
                    **{
                        name: _cell(None if row is None else row.estimate)
                        for name, row in zip(names, pair, strict=True)
                    },
                    "n": next((row.counts.n for row in pair if row is not None), 0),
                }
                for label, pair in lines
            ]
        )
    yield ""


_Line = tuple[str, list[AgreementRow | None]]


def _lowest_and_highest(lines: Sequence[_Line]) -> list[_Line]:
    """The pairs that agree least and most."""
    known = [each for each in lines if each[1][0] is not None and each[1][0].estimate.value is not None]
    if not known:
        return list(lines[:_PAIRS])
    ordered = sorted(known, key=lambda each: each[1][0].estimate.value or 0.0)  # type: ignore[union-attr]
    ends = (("lowest", ordered[0]), ("highest", ordered[-1]))
    return [(f"{word} of {len(lines)} pairs: {label}", pair) for word, (label, pair) in ends]
