"""Judgements of pairs as clinicians' files have them: who was shown first, who second, and who is preferred."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from medjury.intake import Row, Table, shown_of
from medjury.intake.cases import PAIR_COLUMNS, PREFERENCE, holds_pairs, pair_name, read_preference
from medjury.store.ratings._import.cell import refused


def of_pairs(table: Table) -> Table:
    """The table as one of scores where it holds judgements of pairs; any other as it is. What is no preference
    is refused by its row: a 1 would be a score, and may have meant the first."""
    if not holds_pairs(table.header):
        return table
    places = [table.header.index(name) for name in PAIR_COLUMNS[1:]]
    kept = [at for at in range(len(table.header)) if at not in places]

    def rows() -> Iterator[Row]:
        for row in table.rows:
            first, second, preferred = (shown_of(row.cells[at]).strip() for at in places)
            score: object
            try:
                score = read_preference(first, second, preferred)
            except ValueError as error:
                empty = not (first or second or preferred)
                score = None if empty else refused(preferred, f"is no preference: {error}")
            yield row._replace(
                cells=[*(row.cells[at] for at in kept), pair_name(first, second), PREFERENCE, score]
            )

    header = [*(table.header[at] for at in kept), "system", "dimension", "score"]
    return replace(table, header=header, rows=rows())
