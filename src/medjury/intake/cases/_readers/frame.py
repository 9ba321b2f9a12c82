"""Cases from a table in memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from medjury.foundation.errors import MedjuryError
from medjury.foundation.frames import FORMS, as_polars
from medjury.intake.cases._case import Origin
from medjury.intake.cases._mapping import parse_mapping
from medjury.intake.cases._read import CaseReader, OnBad
from medjury.intake.cases._row import RawRow


def cases_from_frame(
    frame: object, *, mapping: Mapping[str, Any] | None = None, on_bad: OnBad = "refuse"
) -> CaseReader:
    """The cases of a polars, pandas or Arrow table or of a list of dictionaries, by the rules of `read_cases`;
    problems name the row of the table, from 1."""
    made = as_polars(frame)
    if made is None:
        raise MedjuryError(f"cases come from {FORMS}, not {type(frame).__name__}")
    columns = parse_mapping(mapping)
    columns.check_header(made.columns, "frame")

    def rows() -> Iterator[RawRow]:
        for number, row in enumerate(made.iter_rows(named=True), 1):
            yield RawRow(Origin("frame", number), row)

    return CaseReader("frame", rows, columns, on_bad)
