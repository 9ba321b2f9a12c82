"""Tables from Parquet, a slice at a time, so that a file larger than memory can be read."""

from __future__ import annotations

from pathlib import Path

from medjury.foundation import limits
from medjury.intake._files.reading import FileError, Reading, Row, Rows

_FIRST_SLICE = 256
_SLICE_BYTES = 32_000_000
_LONGEST_SLICE = 65_536


def read_parquet(path: Path, reading: Reading) -> Rows:
    """The names of the columns and the rows. Read by row, they come in slices of about 32 MB of text: memory holds
    one slice and one row group as stored."""
    import polars

    try:
        if not reading.by_row:
            whole = limits.read_parquet(path)
            yield Row(0, list(whole.columns))
            yield from (Row(number, list(row)) for number, row in enumerate(whole.iter_rows(), 1))
            return
        limits.check_parquet(path)
        scan = polars.scan_parquet(path, glob=False)
        yield Row(0, scan.collect_schema().names())
    except (polars.exceptions.PolarsError, OSError, limits.UnreadableParquetError):
        raise FileError(f"{path.name}: is not a Parquet file, or it is damaged") from None
    offset, length, text = 0, _FIRST_SLICE, 0
    while True:
        try:
            frame = scan.slice(offset, length).collect()
        except (polars.exceptions.PolarsError, OSError):
            raise FileError(f"{path.name}: cannot be read beyond row {offset}; the file is damaged") from None
        text = limits.check_texts(path, frame, limits.most(limits.STREAMED), text)
        for number, row in enumerate(frame.iter_rows(), offset + 1):
            yield Row(number, list(row))
        if frame.height < length:
            return
        offset += frame.height
        per_row = max(1, int(frame.estimated_size()) // frame.height)
        length = max(1, min(_LONGEST_SLICE, _SLICE_BYTES // per_row))
