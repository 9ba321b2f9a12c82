"""Cases from a polars frame."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from medjury.cases._case import Origin
from medjury.cases._mapping import parse_mapping
from medjury.cases._read import CaseReader, OnBad
from medjury.cases._row import RawRow

if TYPE_CHECKING:
    import polars


def cases_from_frame(
    frame: polars.DataFrame, *, mapping: Mapping[str, Any] | None = None, on_bad: OnBad = "refuse"
) -> CaseReader:
    """The cases of a frame, by the rules of `read_cases`; problems name the row of the frame, from 1."""
    columns = parse_mapping(mapping)
    columns.check_header(frame.columns, "frame")

    def rows() -> Iterator[RawRow]:
        for number, row in enumerate(frame.iter_rows(named=True), 1):
            yield RawRow(Origin("frame", number), row)

    return CaseReader("frame", rows, columns, on_bad)
