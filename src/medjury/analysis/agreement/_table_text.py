"""The agreement table as text: first what must be known, then numbers, then footnotes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from medjury.analysis.agreement._row import AgreementRow, reading
from medjury.foundation.screen import screen_columns
from medjury.statistics import percent

_COLUMNS = 4


def table_lines(rows: Sequence[AgreementRow], remarks: Sequence[str], notes: Sequence[str]) -> Iterator[str]:
    """Lines to print."""
    yield from remarks
    footnotes: dict[str, int] = {}
    blocks: dict[tuple[str, str, str, str], list[AgreementRow]] = {}
    for row in rows:
        blocks.setdefault((row.dimension, row.reference, row.level, row.system), []).append(row)
    for (dimension, reference, level, system), block in blocks.items():
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
