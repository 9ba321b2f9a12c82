"""Cases from Parquet, a slice at a time, so that a file larger than memory can be read."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from medjury.foundation import limits
from medjury.intake.cases._case import Origin
from medjury.intake.cases._mapping import ColumnMapping
from medjury.intake.cases._report import CaseError
from medjury.intake.cases._row import RawRow

_FIRST_SLICE = 256
_SLICE_BYTES = 32_000_000
_LONGEST_SLICE = 65_536


def read_parquet(path: Path, mapping: ColumnMapping) -> Iterator[RawRow]:
    """The rows of a file, in slices of about 32 MB of text. Memory holds one slice and one row group as stored."""
    import polars

    try:
        limits.check_parquet(path)
        scan = polars.scan_parquet(path, glob=False)
        columns = scan.collect_schema().names()
    except (polars.exceptions.PolarsError, OSError, limits.UnreadableParquetError):
        raise CaseError(f"{path.name}: is not a Parquet file, or it is damaged") from None
    mapping.check_header(columns, path.name)
    offset, length, text = 0, _FIRST_SLICE, 0
    while True:
        try:
            frame = scan.slice(offset, length).collect()
        except (polars.exceptions.PolarsError, OSError):
            raise CaseError(f"{path.name}: cannot be read beyond row {offset}; the file is damaged") from None
        text = limits.check_texts(path, frame, limits.most(limits.STREAMED), text)
        for number, row in enumerate(frame.iter_rows(named=True), offset + 1):
            yield RawRow(Origin(path.name, number), row)
        if frame.height < length:
            return
        offset += frame.height
        per_row = max(1, int(frame.estimated_size()) // frame.height)
        length = max(1, min(_LONGEST_SLICE, _SLICE_BYTES // per_row))
