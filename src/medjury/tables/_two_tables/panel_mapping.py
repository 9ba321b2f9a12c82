"""What a mapping says of one of two tables: names for its columns, or a form that the import of ratings reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from medjury.foundation.documents import nearest
from medjury.foundation.errors import MedjuryError
from medjury.store.ratings import Reading, read_table, shown_of

if TYPE_CHECKING:
    import polars

# One column each, under our own name.
COLUMNS = ("item", "system", "patient", "rater", "dimension", "score", "repeat")
# Said of a table here, and not in the mapping of an import.
_HERE = ("patient", "raters", "scores", "rescale", "reversed")


def needs_import(mapping: Mapping[str, Any]) -> bool:
    """True where names of columns are not enough: JSON in cells, patterns of names, forms of REDCap."""
    return bool(mapping.keys() - {*COLUMNS, *_HERE, "dimensions"})


def wide_columns(
    mapping: Mapping[str, Any],
) -> tuple[tuple[str, ...], Literal["raters", "dimensions"] | None] | None:
    """The columns that hold scores, and what they are; None for a mapping that lists none."""
    for name, meaning in (("raters", "raters"), ("dimensions", "dimensions"), ("scores", None)):
        if mapping.get(name):
            return tuple(map(str, mapping[name])), meaning  # type: ignore[return-value]
    return None


def names_of(title: str, columns: Sequence[str], mapping: Mapping[str, Any]) -> dict[str, str]:
    """By our own name, the column that the mapping gives it; one that is not there is refused."""
    found = {ours: str(mapping[ours]) for ours in COLUMNS if mapping.get(ours)}
    for key in ("raters", "dimensions"):
        given = mapping.get(key) or {}
        found |= {str(n): str(c) for n, c in given.items()} if isinstance(given, Mapping) else {}
    listed = [name for key in ("raters", "dimensions", "scores") for name in _listed(mapping.get(key))]
    for column in (*found.values(), *listed):
        if column not in columns:
            raise MedjuryError(
                f"{title}: the mapping names the column {column!r}, which is not there; "
                f"{nearest(column, list(columns))}"
            )
    return found


def _listed(given: Any) -> list[str]:
    return [] if isinstance(given, Mapping) else [str(each) for each in given or ()]


def imported_frame(
    place: Path, role: Literal["clinician", "judge"], mapping: Mapping[str, Any]
) -> tuple[polars.DataFrame, tuple[str, ...]]:
    """The rows of a table that the import of ratings reads, with the patients that it names, and what is told.
    Who is not named is the clinician, or the judge."""
    import polars as pl

    from medjury.store.ratings import rating_frame, read_ratings

    settings = {name: value for name, value in mapping.items() if name not in _HERE}
    fixed = dict(settings.get("fixed") or {})
    pattern = str(settings.get("columns") or "")
    if not (settings.get("rater") or fixed.get("rater") or "{rater}" in pattern):
        fixed["rater"] = role
    if not (
        settings.get("dimension")
        or settings.get("dimensions")
        or fixed.get("dimension")
        or "{dimension}" in pattern
    ):
        fixed["dimension"] = "score"
    settings["fixed"] = fixed
    settings.setdefault("rater_kind", role)
    imported = read_ratings(place, mapping=settings, on_bad="unscored")
    text = imported.report.text()
    notes = [line.strip() for line in text.splitlines() if not line.startswith("warning:")]
    frame = rating_frame(imported.ratings)
    if patient := mapping.get("patient"):
        whose = _patients(place, mapping, str(patient))
        frame = frame.with_columns(pl.col("item").replace_strict(whose, default=None).alias("patient"))
        notes.append(f"patient is the column {patient!r}")
    return frame, tuple(notes)


def _patients(place: Path, mapping: Mapping[str, Any], column: str) -> dict[str, str]:
    table = read_table(place, Reading(rows=mapping.get("rows")))
    item = str(mapping.get("item", "item"))
    if item not in table.header or column not in table.header:
        raise MedjuryError(f"{place.name}: patients need the columns {item!r} and {column!r} in one table")
    found: dict[str, str] = {}
    at, whose = table.header.index(item), table.header.index(column)
    for number, cells in table.rows:
        name, patient = shown_of(cells[at]), shown_of(cells[whose])
        if name and patient and found.setdefault(name, patient) != patient:
            raise MedjuryError(
                f"{place.name}, row {number}: item {name!r} has two patients; it belongs to one"
            )
    return found
