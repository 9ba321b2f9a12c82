"""Tables of SPSS and Stata, through pyreadstat, which is an extra."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from medjury.foundation import limits
from medjury.intake._files.cells import declared_missing, shown_number
from medjury.intake._files.reading import FileError, Reading, Row, Rows

# What pyreadstat calls the reader of each form.
PYREADSTAT = {".sav": "read_sav", ".zsav": "read_sav", ".por": "read_por", ".dta": "read_dta"}


def read_statistics_file(path: Path, reading: Reading) -> Rows:
    """The values as they are stored: codes are not replaced by their labels, and codes that the file declares as
    missing are refused until they are named under `na` or `blank`, so that none is lost or scored unseen."""
    try:
        import pyreadstat
    except ModuleNotFoundError:
        raise FileError(
            f'{path}: SPSS and Stata files need pyreadstat; install it with: pip install "medjury[spss]", or save '
            "the file as CSV"
        ) from None
    kind = path.suffix.lower()
    settings: dict[str, Any] = {} if kind == ".por" else {"user_missing": True}
    limits.check_size(path)
    try:
        read = getattr(pyreadstat, PYREADSTAT[kind])
        width = len(read(str(path), metadataonly=True)[1].column_names)
        limits.check_shape(path, 1, width)
        columns, meta = read(
            str(path), output_format="dict", row_limit=limits.rows_for(width) + 1, **settings
        )  # what a packed file unpacks to is not known before
    except (pyreadstat.ReadstatError, pyreadstat.PyreadstatError, OSError, ValueError):
        raise FileError(f"{path}: not an SPSS or Stata file that can be read") from None
    limits.check_shape(path, max(map(len, columns.values()), default=0), width)
    labels = meta.variable_value_labels
    if labelled := [name for name in columns if name in labels]:
        reading.reported.append(f"{path.name}: read as codes, not as their labels: {', '.join(labelled)}")
    if kind == ".por":
        reading.reported.append(
            f"{path.name}: codes that a .por file declares as missing are read as not rated"
        )
    yield Row(1, list(columns))
    cells = [_column(name, values, meta) for name, values in columns.items()]
    for number, row in enumerate(zip(*cells, strict=True), start=2):
        yield Row(number, list(row))


def _column(name: str, values: Any, meta: Any) -> list[Any]:
    """The cells of a column, those that the file declares as missing known as such, and ids as they are shown."""
    plain = [_plain(cell) for cell in (values.tolist() if hasattr(values, "tolist") else values)]
    labels = meta.variable_value_labels.get(name, {})
    ranges = [(each["lo"], each["hi"]) for each in meta.missing_ranges.get(name, ())]
    letters = set(meta.missing_user_values.get(name, ()))
    width = re.fullmatch(r"N(\d+)", str(meta.original_variable_types.get(name, "")))

    def cell_of(cell: Any) -> Any:
        if cell is not None and (cell in letters or any(_within(cell, *each) for each in ranges)):
            return declared_missing(str(cell), str(labels.get(cell, "")))
        return shown_number(cell, str(cell).zfill(int(width[1]))) if width and type(cell) is int else cell

    return [cell_of(cell) for cell in plain]


def _within(cell: Any, low: Any, high: Any) -> bool:
    return isinstance(cell, str) == isinstance(low, str) and bool(low <= cell <= high)


def _plain(cell: Any) -> Any:
    if isinstance(cell, float):
        if cell != cell:  # a gap
            return None
        return int(cell) if cell.is_integer() and abs(cell) < 2**53 else cell
    return cell
