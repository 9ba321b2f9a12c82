"""What a section gets and what it gives: one file per section, each a function from material to HTML."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from medjury.report._exhibits import INK, Exhibits
from medjury.report._html import Html, without_controls
from medjury.runs import Records
from medjury.validation import Evidence, Measured, Numbers, Verdict

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# More panels than this make no readable figure; the tables beside it have every dimension.
PANELS = 12
Thing = TypeVar("Thing")


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the page with a heading of its own."""

    id: str
    title: str
    body: Html


@dataclass(frozen=True, eq=False)
class Material:
    """The evidence, its numbers and the verdicts; figures and tables are made through `exhibits`."""

    evidence: Evidence
    numbers: Mapping[str, Numbers]
    verdicts: tuple[Verdict, ...]
    exhibits: Exhibits

    @property
    def compared(self) -> tuple[Measured, ...]:
        """The dimensions on which the jury can be compared with clinicians."""
        return tuple(each for each in self.evidence.dimensions if self.numbers[each.name].pairs)

    @property
    def records(self) -> Records:
        """How ratings of several steps came about: `records.of(kind)` gives one at a time."""
        return self.evidence.records


SectionMaker = Callable[[Material], Section | None]


def panels(
    figure: Figure, things: Sequence[Thing], columns: int, draw: Callable[[Axes, Thing], None]
) -> None:
    """Small multiples: one set of axes for each thing, row by row."""
    columns = min(columns, len(things))
    rows = -(-len(things) // columns)
    axes = figure.subplots(rows, columns, squeeze=False)
    for place, one in enumerate(axes.flat):
        if place < len(things):
            draw(one, things[place])
        else:
            one.set_axis_off()


def heat(
    axes: Axes, table: Any, colours: str, lowest: float, *, texts: Any = None, light: Callable[[float], bool]
) -> None:
    """Cells in colour with their numbers, drawn as shapes: a picture inside the picture would not be text."""
    import numpy as np

    rows, columns = table.shape
    shade = np.ma.masked_invalid(table)
    across, down = np.arange(columns + 1) - 0.5, np.arange(rows + 1) - 0.5
    axes.pcolormesh(across, down, shade, cmap=colours, vmin=lowest, vmax=1, edgecolors="white", linewidth=0.5)
    axes.invert_yaxis()
    small = max(rows, columns) > 8
    for row in range(rows):
        for column in range(columns):
            value = table[row, column]
            words = f"{value:.2f}" if texts is None else texts[row][column]
            if words and not np.isnan(value):
                axes.text(column, row, words, ha="center", va="center", fontsize=5.5 if small else 7.5,
                          color="white" if light(value) else INK)  # fmt: skip
    axes.grid(visible=False)


def height(things: int, columns: int, each: float, extra: float = 0.3) -> float:
    """Inches of a figure of small multiples."""
    return extra + each * -(-things // min(columns, max(things, 1)))


def only_some(shown: int, all_of_them: int, where: str) -> str:
    """A sentence where a figure shows a part."""
    return (
        f" The first {shown} of {all_of_them} dimensions; the others are in {where}."
        if shown < all_of_them
        else ""
    )


def short(name: str, most: int = 22) -> str:
    """A name that fits beside an axis."""
    clean = without_controls(name)
    return clean if len(clean) <= most else f"{clean[: most - 1]}…"
