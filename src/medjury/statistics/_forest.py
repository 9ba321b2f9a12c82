"""The picture of any result: one line for each row, its value and its interval."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from io import BytesIO
from typing import TYPE_CHECKING, Any

from medjury.foundation.errors import MedjuryError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_COLOUR, _SOFT = "#0072b2", "#55636f"
_MOST = 60


def measured_in(rows: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    """The columns that hold a number with both ends of its interval, in their order."""
    names = list(rows[0]) if rows else []
    return tuple(name for name in names if all(each in names for each in _ends(name)))


def forest_figure(rows: Sequence[Mapping[str, Any]], measure: str | None = None) -> Figure:
    """Rows that have this measure, the first of them on top; without one, the result's first."""
    from matplotlib.figure import Figure

    known = measured_in(rows)
    if not known:
        raise MedjuryError("there is nothing to draw: no row has a value with an interval")
    chosen = known[0] if measure is None else measure
    if chosen not in known:
        raise MedjuryError(f"there is no measure {chosen!r} with an interval; there are {', '.join(known)}")
    low, high = _ends(chosen)
    drawn = [row for row in rows if row[chosen] is not None][:_MOST]
    words = [name for name in rows[0] if any(isinstance(row[name], str) and row[name] for row in rows)]
    told = [name for name in words if len({row[name] for row in drawn}) > 1] or words[:1]
    labels = [", ".join(str(row[name]) for name in told[:4]) for row in drawn]
    wide = 4.0 + 0.09 * max(map(len, labels), default=0)
    figure = Figure(figsize=(wide, 0.9 + 0.28 * max(1, len(drawn))), layout="constrained")
    axes = figure.subplots()
    for place, row in enumerate(drawn):
        if row[low] is not None and row[high] is not None:
            axes.plot([row[low], row[high]], [place, place], color=_SOFT, linewidth=1.2)
        axes.plot([row[chosen]], [place], marker="o", markersize=4, color=_COLOUR)
    axes.set_yticks(range(len(drawn)), labels)
    axes.invert_yaxis()
    axes.set_xlabel(chosen.replace("_", " "))
    axes.spines[["top", "right"]].set_visible(False)
    return seen(figure)


def seen(figure: Figure) -> Figure:
    """The figure, which a notebook then shows by itself, whether or not pyplot is in use there."""

    def png() -> bytes:
        made = BytesIO()
        figure.savefig(made, format="png", dpi=110)
        return made.getvalue()

    figure._repr_png_ = png  # type: ignore[attr-defined]
    return figure


def _ends(name: str) -> tuple[str, str]:
    return ("low", "high") if name == "value" else (f"{name}_low", f"{name}_high")
