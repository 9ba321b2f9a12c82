"""The face of every result: rows that a script, a terminal and a notebook read in the same way."""

from __future__ import annotations

import html
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from io import BytesIO
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from medjury.foundation.errors import MedjuryError
from medjury.statistics._estimate import Estimate
from medjury.statistics._printing import Printable, shown
from medjury.statistics._text_table import text_table

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

        return pl.DataFrame(self.to_dicts(), infer_schema_length=None)

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
        return forest_figure(self.to_dicts(), measure)

    def to_json(self) -> str:
        """The rows as a JSON list; what does not exist is null, never NaN."""
        return json.dumps(self.to_dicts(), indent=1, ensure_ascii=False, allow_nan=False)

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


@dataclass(frozen=True, slots=True)
class Rows(Result[RowType]):
    """A result that is its rows, and no more."""

    rows: tuple[RowType, ...]
    warnings: tuple[str, ...] = ()


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
    low, high = _end_names(prefix)
    return {prefix: estimate.value, low: estimate.low, high: estimate.high}


# The picture of any result: one line for each row, its value and its interval.


_COLOUR, _SOFT, _LIMIT = "#0072b2", "#55636f", "#b3261e"
_MOST = 60


def forest_figure(rows: Sequence[Mapping[str, Any]], measure: str | None = None) -> Figure:
    """Rows that have this measure, the first of them on top; without one, the result's first."""
    names = list(rows[0]) if rows else []
    known = [name for name in names if all(each in names for each in _end_names(name))]
    if not known:
        raise MedjuryError("there is nothing to draw: no row has a value with an interval")
    chosen = known[0] if measure is None else measure
    if chosen not in known:
        raise MedjuryError(f"there is no measure {chosen!r} with an interval; there are {', '.join(known)}")
    low, high = _end_names(chosen)
    drawn = [row for row in rows if row[chosen] is not None][:_MOST]
    words = [name for name in rows[0] if any(isinstance(row[name], str) and row[name] for row in rows)]
    told = [name for name in words if len({row[name] for row in drawn}) > 1] or words[:1]
    labels = [", ".join(str(row[name]) for name in told[:4]) for row in drawn]
    wide = 4.0 + 0.09 * max(map(len, labels), default=0)
    figure = new_figure(wide, 0.9 + 0.28 * max(1, len(drawn)))
    axes = figure.subplots()
    for place, row in enumerate(drawn):
        if row[low] is not None and row[high] is not None:
            axes.plot([row[low], row[high]], [place, place], color=_SOFT, linewidth=1.2)
        axes.plot([row[chosen]], [place], marker="o", markersize=4, color=_COLOUR)
    axes.set_yticks(range(len(drawn)), labels)
    axes.invert_yaxis()
    axes.set_xlabel(chosen.replace("_", " "))
    axes.spines[["top", "right"]].set_visible(False)
    return figure


def new_figure(width: float, height: float) -> Figure:
    """An empty figure of so many inches, which a notebook shows by itself, whether or not pyplot is in use."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MedjuryError(
            'pictures need matplotlib; install it with: pip install "medjury[report]"'
        ) from None
    figure = Figure(figsize=(width, height), layout="constrained")

    def png() -> bytes:
        made = BytesIO()
        figure.savefig(made, format="png", dpi=110)
        return made.getvalue()

    figure._repr_png_ = png  # type: ignore[attr-defined]
    return figure


Lines = Sequence[tuple[str, Estimate, Sequence[float]]]


def panels_figure(panels: Sequence[tuple[str, str, Lines]], *, columns: int = 3) -> Figure:
    """Values with their intervals, the first line of each panel on top, its limits as red marks. A panel has its
    title, the name of its axis, and for each line a name, a value with its ends, and the limits it is held to."""
    if not panels:
        raise MedjuryError("there is nothing to draw: no row has a value with an interval")
    columns = min(columns, len(panels))
    rows = -(-len(panels) // columns)
    longest = max(len(label) for _, _, lines in panels for label, _, _ in lines)
    tallest = max(len(lines) for _, _, lines in panels)
    figure = new_figure(columns * (2.5 + 0.07 * longest), rows * (0.95 + 0.27 * tallest))
    grid = figure.subplots(rows, columns, squeeze=False)
    for axes, (title, measured, lines) in zip(grid.flat, panels, strict=False):
        for place, (_, estimate, limits) in enumerate(lines):
            for limit in limits:
                axes.plot([limit, limit], [place - 0.35, place + 0.35], color=_LIMIT, linewidth=1.4)
            ends = [each for each in (estimate.low, estimate.value, estimate.high) if each is not None]
            axes.plot([ends[0], ends[-1]], [place, place], color=_SOFT, linewidth=1.2)
            axes.plot([estimate.value], [place], marker="o", markersize=4, color=_COLOUR)
        axes.set_yticks(range(len(lines)), [label for label, _, _ in lines])
        axes.set_ylim(len(lines) - 0.5, -0.5)
        axes.set_title(title, fontsize=9)
        axes.set_xlabel(measured, fontsize=8)
        axes.tick_params(labelsize=8)
        axes.spines[["top", "right"]].set_visible(False)
    for name in {measured for _, measured, _ in panels}:  # what is measured alike is drawn alike
        alike = [axes for axes, panel in zip(grid.flat, panels, strict=False) if panel[1] == name]
        ends = [end for axes in alike for end in axes.get_xlim()]
        for axes in alike:
            axes.set_xlim(min(ends), max(ends))
    for axes in list(grid.flat)[len(panels) :]:
        axes.set_axis_off()
    return figure


def _end_names(name: str) -> tuple[str, str]:
    return ("low", "high") if name == "value" else (f"{name}_low", f"{name}_high")
