"""The face of every result: rows that a script, a terminal and a notebook read in the same way."""

from __future__ import annotations

import html
import json
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from medjury.statistics._estimate import Estimate
from medjury.statistics._printing.printing import Printable, shown
from medjury.statistics._printing.text_table import text_table

if TYPE_CHECKING:
    import polars
    from matplotlib.figure import Figure


class Row(Protocol):
    """One line of a result. A dataclass that inherits from it is written by its fields."""

    __slots__ = ()

    def as_dict(self) -> Mapping[str, Any]:
        """Flat names and values, as `--json` prints them."""
        return flat(self)


def flat(row: Any, *names: str) -> dict[str, Any]:
    """The fields of a dataclass, or those that are named, as flat values: an estimate as its value and its ends, a
    number that does not exist as None."""
    found: dict[str, Any] = {}
    for name in names or [field.name for field in fields(row)]:
        value = getattr(row, name)
        if isinstance(value, Estimate):
            found |= {name: value.value, f"{name}_low": value.low, f"{name}_high": value.high}
        else:
            found[name] = None if isinstance(value, float) and value != value else value
    return found


RowType = TypeVar("RowType", bound=Row)


class Result(Generic[RowType]):
    """A result with `rows`, and with `warnings` that must be read before them."""

    __slots__ = ()

    rows: tuple[RowType, ...]
    warnings: tuple[str, ...]

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        # A dataclass would print all that it holds, which fills a screen; it keeps a `__repr__` that is there.
        cls.__repr__ = Result._short  # type: ignore[method-assign,assignment]

    def _short(self) -> str:
        said = f", {len(self.warnings)} warnings" if self.warnings else ""
        return f"<{type(self).__name__}: {len(self.rows):,} rows{said}; text(), frame(), to_json(), plot()>"

    def frame(self) -> polars.DataFrame:
        """One polars row for each row, in the columns of `to_json`."""
        import polars as pl

        return pl.DataFrame([dict(row.as_dict()) for row in self.rows], infer_schema_length=None)

    def to_dicts(self) -> list[dict[str, Any]]:
        """One dictionary for each row, in the columns of `to_json`."""
        return [dict(row.as_dict()) for row in self.rows]

    def to_pandas(self) -> Any:
        """The same as a pandas frame, where pandas is installed."""
        from medjury.foundation.frames import as_pandas

        return as_pandas(self.to_dicts())

    def plot(self) -> Any:
        """The result as a picture; where it has none of its own, `forest()`."""
        return self.forest()

    def forest(self, measure: str | None = None) -> Figure:
        """A line for each row with its value and interval, of this measure or of the first that has one."""
        from medjury.statistics._forest import forest_figure

        return forest_figure(self.to_dicts(), measure)

    def to_json(self) -> str:
        """The rows as a JSON list; what does not exist is null, never NaN."""
        content = [dict(row.as_dict()) for row in self.rows]
        return json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False)

    def find(self, **where: object) -> RowType:
        """The one row with these values; an error where there is none, or more than one."""
        fits = [row for row in self.rows if all(getattr(row, name) == value for name, value in where.items())]
        if len(fits) != 1:
            raise LookupError(f"{len(fits)} rows have {where or 'any values'}")
        return fits[0]

    def text(self) -> str:
        """The result for a terminal: what must be read first, then the rows."""
        return "\n".join([*(f"! {warning}" for warning in self.warnings), *text_table(self.shown_rows())])

    def shown_rows(self) -> Sequence[Mapping[str, Printable]]:
        """The rows as a reader sees them; a result with long rows shows fewer columns."""
        return [row.as_dict() for row in self.rows]

    def _repr_html_(self) -> str:
        said = "".join(f"<p>{html.escape(warning)}</p>" for warning in self.warnings)
        return said + html_table(self.shown_rows())


def html_table(rows: Sequence[Mapping[str, Printable]]) -> str:
    """Rows as a small HTML table for a notebook; everything is escaped."""
    names = list(rows[0]) if rows else []
    head = "".join(f"<th>{html.escape(name)}</th>" for name in names)
    body = "".join(
        "<tr>" + "".join(f"<td>{html.escape(shown(row[name]))}</td>" for name in names) + "</tr>"
        for row in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def ends(estimate: Estimate, prefix: str = "value") -> dict[str, float | None]:
    """`prefix`, its low and its high end as flat values; null where there is nothing."""
    low, high = ("low", "high") if prefix == "value" else (f"{prefix}_low", f"{prefix}_high")
    return {prefix: estimate.value, low: estimate.low, high: estimate.high}
