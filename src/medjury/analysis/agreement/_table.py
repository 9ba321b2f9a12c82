"""The result of an agreement study: rows that carry n, what was not scored, and their method."""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from medjury.analysis.agreement._non_inferiority import NonInferiority
from medjury.analysis.agreement._row import AgreementRow, Counts, reading
from medjury.analysis.agreement._severe_errors import SevereErrors
from medjury.foundation.screen import screen_columns
from medjury.statistics import Estimate, Printable, Result, counted, percent, text_table
from medjury.tables import CONSENSUS, RatingTable, Roles

if TYPE_CHECKING:
    import polars


# The agreement table as text: first what must be known, then numbers, then footnotes.

_COLUMNS = 4


def table_lines(rows: Sequence[AgreementRow], remarks: Sequence[str], notes: Sequence[str]) -> Iterator[str]:
    """Lines to print."""
    yield from remarks
    footnotes: dict[str, int] = {}
    for (dimension, reference, level, system), some_rows in groupby(_in_blocks(rows), _block):
        block = list(some_rows)
        compared = list(dict.fromkeys(row.rater for row in block))
        yield ""
        where = f"system {system}" if system else f"level {level}"
        yield f"{dimension} · reference {reference} · {where}"
        for some in _side_by_side(block, compared):
            yield from _block_lines([row for row in block if row.rater in some], some, footnotes)
    yield ""
    yield from (f"[{place}] {text}" for text, place in footnotes.items())
    yield from (f"* {note}" for note in notes)


def _side_by_side(block: Sequence[AgreementRow], compared: Sequence[str]) -> Iterator[list[str]]:
    """Four raters beside each other, or as many as the screen has room for."""
    most, room = _COLUMNS, screen_columns()
    if room is not None:
        label = max(len("at ceiling, reference and rater"), *(len(row.statistic) for row in block))
        widest = max(len(text) for row in block for text in (row.rater, _table_text_cell(row, {})))
        most = min(most, max(1, (room - label - 2) // (widest + 2)))
    for start in range(0, len(compared), most):
        yield list(compared[start : start + most])


def _in_blocks(rows: Sequence[AgreementRow]) -> list[AgreementRow]:
    """Rows of one block together, blocks in order of first appearance."""
    first: dict[tuple[str, str, str, str], int] = {}
    for row in rows:
        first.setdefault(_block(row), len(first))
    return sorted(rows, key=lambda row: first[_block(row)])


def _block(row: AgreementRow) -> tuple[str, str, str, str]:
    return row.dimension, row.reference, row.level, row.system


def _block_lines(
    rows: Sequence[AgreementRow], compared: Sequence[str], footnotes: dict[str, int]
) -> Iterator[str]:
    cells = _facts(rows)
    for row in rows:
        cells.setdefault(row.statistic, {})[row.rater] = _table_text_cell(row, footnotes)
    left = max(map(len, cells))
    widths = [max(len(name), *(len(line.get(name, "")) for line in cells.values())) for name in compared]
    yield _table_text_line("", compared, left, widths)
    for label, line in cells.items():
        yield _table_text_line(label, [line.get(name, "") for name in compared], left, widths)
    if len(compared) == 1:
        said = {row.statistic: reading(row.statistic, row.estimate) for row in rows}
        readings = [f"{name} {words}" for name, words in said.items() if words]
        if readings:
            yield "  in words: " + "; ".join(readings)


def _facts(rows: Sequence[AgreementRow]) -> dict[str, dict[str, str]]:
    """What the columns rest on, from the first row of each."""
    facts: dict[str, dict[str, str]] = {}
    for row in rows:
        counts = row.counts
        shown = {"n": str(counts.n), "unscored": str(counts.n_unscored)}
        if row.level == "system":
            shown = {"systems": str(row.estimate.n)} | shown
        if counts.n_not_applicable:
            shown["not applicable"] = str(counts.n_not_applicable)
        if counts.n_absent:
            shown["no rating"] = str(counts.n_absent)
        if counts.coverage is not None:
            shown["coverage"] = percent(counts.coverage, 1)
        if counts.ceiling_reference is not None:
            ends = (
                ("at ceiling", counts.ceiling_reference, counts.ceiling_rater),
                ("at floor", counts.floor_reference, counts.floor_rater),
            )
            for end, reference, rater in ends:
                shown[f"{end}, reference and rater"] = f"{percent(reference)}, {percent(rater)}"
        for label, text in shown.items():
            facts.setdefault(label, {}).setdefault(row.rater, text)
    return facts


def _table_text_cell(row: AgreementRow, footnotes: dict[str, int]) -> str:
    if row.estimate.value is not None:
        return row.shown(fitted=screen_columns() is not None)
    return f"not defined [{footnotes.setdefault(row.estimate.reason, len(footnotes) + 1)}]"


def _table_text_line(label: str, texts: Sequence[str], left: int, widths: Sequence[int]) -> str:
    body = "  ".join(text.ljust(width) for text, width in zip(texts, widths, strict=True))
    return f"  {label.ljust(left)}  {body}".rstrip()


# The dozen lines that answer the question: does the jury agree with clinicians, and where is it dangerous?

Tested = Mapping[tuple[str, str], Mapping[str, NonInferiority]]
_COEFFICIENTS = ("kappa_quadratic", "icc_2_1")  # the second where the scores are no grades
_SEVERE = "severe_error_rate"
_BESIDE = ("offset", _SEVERE)


def short_lines(
    rows: Sequence[AgreementRow], remarks: Sequence[str], roles: Roles, tested: Tested
) -> Iterator[str]:
    """Those whose word counts (else every rater) beside the reference, and beside clinicians among themselves."""
    yield from remarks
    raters = [each for each in roles.on_trial if each in roles.raters] or roles.raters
    several = len(roles.reference) > 1
    reference = CONSENSUS if several else "".join(roles.reference)
    groups: dict[tuple[str, str], dict[str, AgreementRow]] = {}
    for row in rows:
        if row.rater in raters and row.reference == reference and row.level == "item" and not row.system:
            groups.setdefault((row.dimension, row.rater), {})[row.statistic] = row
    yield f"{', '.join(raters)} beside {'the consensus of ' if several else ''}{', '.join(roles.reference)}"
    yield from _table([_line(group) for group in groups.values()], raters)
    yield from _dangerous(groups, alone=len(raters) == 1)
    among = [dict(_among(tested.get(key, {}), *key, _coefficient(group))) for key, group in groups.items()]
    if any(among):
        yield ""
        yield "The same coefficient with one clinician, and of clinicians with one another"
        yield from _table([each for each in among if each], raters)
    yield ""
    shown = [row for group in groups.values() for row in _rows_shown(group)]
    reasons = dict.fromkeys(row.estimate.reason for row in shown if not row.estimate.defined)
    yield from (f"not defined: {reason}" for reason in reasons)
    yield f"--all shows all {counted(len(rows), 'row')}: every rater, reference and statistic"


def _dangerous(groups: Mapping[tuple[str, str], Mapping[str, AgreementRow]], *, alone: bool) -> Iterator[str]:
    """Of how many answers the rate of severe errors is a share: far fewer than `n`."""
    of = [
        f"{dimension if alone else f'{dimension} ({rater})'} {group[_SEVERE].estimate.n:,}"
        for (dimension, rater), group in groups.items()
        if _SEVERE in group
    ]
    if of:
        yield f"{_SEVERE} is a share of the dangerous answers alone: {', '.join(of)}"


def _table(rows: Sequence[Mapping[str, Printable]], raters: Sequence[str]) -> list[str]:
    """Without the rater where it is the only one, which is named above."""
    alone = len(raters) == 1
    return text_table([{name: row[name] for name in row if not (alone and name == "rater")} for row in rows])


def _coefficient(group: Mapping[str, AgreementRow]) -> str:
    there = [name for name in _COEFFICIENTS if name in group and group[name].estimate.defined]
    return (there or [name for name in _COEFFICIENTS if name in group] or [_COEFFICIENTS[0]])[0]


def _rows_shown(group: Mapping[str, AgreementRow]) -> list[AgreementRow]:
    return [group[name] for name in (_coefficient(group), *_BESIDE) if name in group]


def _line(group: Mapping[str, AgreementRow]) -> dict[str, Printable]:
    first = next(iter(group.values()))
    coefficient = _coefficient(group)
    found = {"agreement": coefficient, **{name: name for name in _BESIDE}}
    return {
        "dimension": first.dimension,
        "rater": first.rater,
        "coefficient": coefficient,
        **{title: _cell(group[name].estimate) if name in group else None for title, name in found.items()},
        "n": first.counts.n,
        "unscored": first.counts.n_unscored,
    }


def _among(
    tested: Mapping[str, NonInferiority], dimension: str, rater: str, coefficient: str
) -> Iterator[tuple[str, Printable]]:
    if (found := tested.get(coefficient)) is not None:
        yield "dimension", dimension
        yield "rater", rater
        yield "with a clinician", _cell(found.judge_human)
        yield "among clinicians", _cell(found.human_human)
        yield "difference", _cell(found.difference)


def _cell(estimate: Estimate) -> Printable:
    return estimate if estimate.defined else "not defined"


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
                lines.append(f"not rated by {rater}: {blank} (empty cells)")
            others = {reason: count for reason, count in reasons.items() if not blank or reason != "missing"}
            if others:
                counted = ", ".join(f"{count} {reason}" for reason, count in sorted(others.items()))
                lines.append(f"unscored ratings of {rater}: {counted}")
        return tuple(lines)

    def text(self) -> str:
        """A table for reading: a block per dimension and reference, a column per compared rater."""
        return "\n".join(table_lines(self.rows, self.remarks(), self.notes))

    def short_text(self) -> str:
        """The few lines that say whether the jury agrees with its reference."""
        return "\n".join(short_lines(self.rows, self.remarks(), self.roles, self.non_inferiority))

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
