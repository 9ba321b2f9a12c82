"""A figure: panels side by side under one legend, as SVG that a page, a paper and a screen reader can use."""

from __future__ import annotations

import html
from collections.abc import Callable, Sequence
from typing import Any

from medjury.report import _svg
from medjury.report._axes import DASHES, Axes, Entry
from medjury.report._html import without_controls

_INCH, _GAP, _LEGEND, _LINE = 72.0, 14.0, 8.0, 13.0


class Figure:
    """`axes()` gives one more panel; `svg` draws them all, row by row."""

    def __init__(self, size: tuple[float, float]) -> None:
        self.width, self.height = (_INCH * side for side in size)
        self.columns = 1
        self.panels: list[Axes] = []

    def axes(self, **settings: Any) -> Axes:
        made = Axes(**settings)
        self.panels.append(made)
        return made

    def lines(self, labels: Sequence[str], **settings: Any) -> Axes:
        """One more panel with a level line for each label, the first on top."""
        ticks = [(float(place), label) for place, label in enumerate(labels)]
        return self.axes(y_ticks=ticks, y_limits=(len(labels) - 0.5, -0.5), grid="x", **settings)

    def panels_of(self, things: Sequence[Any], columns: int, draw: Callable[[Axes, Any], None]) -> None:
        """Small multiples: one panel for each thing, row by row."""
        self.columns = columns
        for thing in things:
            draw(self.axes(), thing)

    def svg(self, alt: str) -> str:
        """The whole picture; `alt` says in words what it shows."""
        legend, top = self._legend()
        columns = min(self.columns, len(self.panels)) or 1
        rows = -(-len(self.panels) // columns)
        wide, high = self.width / columns, (self.height - top) / rows
        margins = [each.margins(high) for each in self.panels]
        parts = [legend]
        for place, panel in enumerate(self.panels):
            row, column = divmod(place, columns)
            # Plots that stand in one row, or in one column, begin and end alike.
            left = max(margins[other][0] for other in range(column, len(self.panels), columns))
            beside = range(row * columns, min((row + 1) * columns, len(self.panels)))
            above, below = (max(margins[other][side] for other in beside) for side in (1, 3))
            parts.append(
                panel.draw(
                    column * wide + left,
                    top + row * high + above,
                    (column + 1) * wide - (_GAP if column + 1 < columns else margins[place][2]),
                    top + (row + 1) * high - below,
                )
            )
        label = html.escape(without_controls(alt), quote=True)
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width:g} {self.height:g}" role="img" '
            f'aria-label="{label}" style="max-width:{self.width * 4 / 3:.0f}px" font-family="{_svg.FONT}">'
            f"{''.join(parts)}</svg>"
        )

    def _legend(self) -> tuple[str, float]:
        """Every label once, in lines above the panels, and how much room that takes."""
        entries: dict[str, Entry] = {}
        for panel in self.panels:
            for entry in panel.entries:
                entries.setdefault(entry.label, entry)
        parts, x, y = [], 4.0, 9.0
        for entry in entries.values():
            wide = 24 + _svg.width_of(entry.label, _LEGEND) + 12
            if x > 4 and x + wide > self.width:
                x, y = 4.0, y + _LINE
            parts.append(_key(entry, x, y) + _svg.text(x + 24, y + 3, entry.label, size=_LEGEND))
            x += wide
        return "".join(parts), (y + 9 if entries else 0.0)


def heat(
    axes: Axes,
    table: Any,
    colours: Sequence[str],
    lowest: float,
    *,
    texts: Sequence[Sequence[str]] | None = None,
    light: Callable[[float], bool],
) -> None:
    """Cells in colour with their numbers, the first row on top; a cell that is not a number is left white."""
    rows, columns = table.shape
    axes.grid, axes.room = "", 0.0
    axes.x_limits, axes.y_limits = (-0.5, columns - 0.5), (rows - 0.5, -0.5)
    small = max(rows, columns) > 8
    for row in range(rows):
        for column in range(columns):
            value = float(table[row, column])
            if value != value:
                continue
            fill = _svg.shade((value - lowest) / (1 - lowest), colours)
            axes.box((column - 0.5, column + 0.5), (row - 0.5, row + 0.5), fill)
            words = f"{value:.2f}".replace("-", "−") if texts is None else texts[row][column]
            axes.text(column, row, words, anchor="middle", size=5.5 if small else 7.5,
                      colour="white" if light(value) else _svg.INK)  # fmt: skip


def _key(entry: Entry, x: float, y: float) -> str:
    if entry.area:
        made = _svg.rectangle(x, y - 5, 18, 9, entry.colour, stroke=_svg.SOFT)
        return made + (_svg.path([(x + 4, y + 4), (x + 13, y - 5)], stroke="white") if entry.hatch else "")
    made = ""
    if entry.dash != "none":
        made = _svg.path([(x, y), (x + 18, y)], stroke=entry.colour, width=1.4, dash=DASHES[entry.dash])
    return made + (_svg.marker(x + 9, y, entry.marker, 3, entry.colour) if entry.marker else "")
