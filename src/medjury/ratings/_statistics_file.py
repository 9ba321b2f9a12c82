"""Tables of SPSS and Stata, through pyreadstat, which is an extra."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from medjury.ratings._problems import RatingsError
from medjury.ratings._reading import Reading, Rows

_READERS = {".sav": "read_sav", ".zsav": "read_sav", ".por": "read_por", ".dta": "read_dta"}


def read_statistics_file(path: Path, reading: Reading) -> Rows:
    """The values as they are stored: codes are not replaced by their labels, and codes that the file declares as
    missing stay codes, to be named under `na` or `blank`, so that none is lost unseen."""
    try:
        import pyreadstat
    except ModuleNotFoundError:
        raise RatingsError(
            f'{path}: SPSS and Stata files need pyreadstat; install it with: pip install "medjury[spss]", or save '
            "the file as CSV"
        ) from None
    kind = path.suffix.lower()
    settings: dict[str, Any] = {} if kind == ".por" else {"user_missing": True}
    try:
        columns, meta = getattr(pyreadstat, _READERS[kind])(str(path), output_format="dict", **settings)
    except (pyreadstat.ReadstatError, pyreadstat.PyreadstatError, OSError, ValueError):
        raise RatingsError(f"{path}: not an SPSS or Stata file that can be read") from None
    if labelled := [name for name in columns if name in meta.variable_value_labels]:
        reading.told.append(f"{path.name}: read as codes, not as their labels: {', '.join(labelled)}")
    yield 1, list(columns)
    plain = [values.tolist() if hasattr(values, "tolist") else values for values in columns.values()]
    for number, row in enumerate(zip(*plain, strict=True), start=2):
        yield number, [_plain(cell) for cell in row]


def _plain(cell: Any) -> Any:
    if isinstance(cell, float):
        if cell != cell:  # a gap
            return None
        return int(cell) if cell.is_integer() and abs(cell) < 2**53 else cell
    return cell
