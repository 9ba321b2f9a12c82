"""One panel of a figure: marks on two scales, with ticks, a title and names for both."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from medjury.report import _svg
from medjury.report._svg import GRID, INK, SOFT, number
from medjury.statistics import Estimate

Limits = tuple[float | None, float | None]
Tick = tuple[float, str]
Place = Callable[[float], float]
DASHES = {"": "", "-": "", "--": "5 3", ":": "1.5 2.5"}
_TEXT, _TITLE = 8.0, 9.5
# Bold letters are so much wider.
_BOLD = 1.12


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of a legend."""

    label: str
    colour: str
    dash: str = ""
    marker: str = ""
    hatch: bool = False
    area: bool = False


@dataclass(eq=False)
class Axes:
    """Collects marks in the units of the data; `draw` places them once the size is known. Limits that are None fit
    the marks; ticks that are not given are round numbers."""

    title: str = ""
    x_name: str = ""
    y_name: str = ""
    x_limits: Limits = (None, None)
    y_limits: Limits = (None, None)
    x_ticks: Sequence[Tick] | None = None
    y_ticks: Sequence[Tick] | None = None
    x_log: bool = False
    grid: str = "xy"
    tilted: bool = False
    room: float = 0.05
    entries: list[Entry] = field(default_factory=list)
    _marks: list[Callable[[Place, Place], str]] = field(default_factory=list)
    _seen: tuple[list[float], list[float]] = field(default_factory=lambda: ([], []))
    _beside: list[tuple[float, float]] = field(default_factory=list)

    def line(
        self,
        x: Sequence[float],
        y: Sequence[float],
        colour: str,
        *,
        width: float = 1.2,
        dash: str = "",
        marker: str = "",
        size: float = 2.2,
        label: str = "",
    ) -> None:
        points = list(zip(map(float, x), map(float, y), strict=True))
        self._note(points)
        self._name(Entry(label, colour, dash, marker))

        def made(across: Place, up: Place) -> str:
            placed = [(across(one), up(two)) for one, two in points]
            drawn = _svg.path(placed, stroke=colour, width=width, dash=DASHES[dash])
            return drawn + "".join(_svg.marker(*each, marker, size, colour) for each in placed if marker)

        self._marks.append(made)

    def points(
        self,
        x: Sequence[float],
        y: Sequence[float],
        colour: str,
        *,
        marker: str = "o",
        size: float | Sequence[float] = 3,
        hollow: bool = False,
        opacity: float = 1,
        label: str = "",
    ) -> None:
        points = list(zip(map(float, x), map(float, y), strict=True))
        sizes = [float(size)] * len(points) if isinstance(size, int | float) else list(size)
        self._note(points)
        self._name(Entry(label, colour, "none", marker))
        self._marks.append(
            lambda across, up: "".join(
                _svg.marker(across(one), up(two), marker, radius, colour, hollow=hollow, opacity=opacity)
                for (one, two), radius in zip(points, sizes, strict=True)
            )
        )

    def span(self, low: float | None, high: float | None, at: float, colour: str, *, upright: bool = False,
             width: float = 1.6) -> None:  # fmt: skip
        """An interval as a line, level or upright; nothing where an end is not known."""
        if low is not None and high is not None:
            ends, level = [low, high], [at, at]
            self.line(*((level, ends) if upright else (ends, level)), colour, width=width)

    def estimate(self, found: Estimate | None, at: float, colour: str, *, marker: str = "o", label: str = "",
                 words: str = "", width: float = 1.6, size: float = 7.5) -> None:  # fmt: skip
        """An estimate as a mark with its interval, level with `at`, and words beside it; nothing where there is
        none."""
        if found is None or found.value is None:
            return
        self.span(found.low, found.high, at, colour, width=width)
        self.points([found.value], [at], colour, marker=marker, label=label)
        if words:
            end = found.value if found.high is None else found.high
            self.text(end, at, words, shift=5, size=size)

    def area(self, x: Sequence[float], low: Sequence[float], high: Sequence[float], colour: str) -> None:
        """A band between two lines."""
        outline = [*zip(x, low, strict=True), *reversed(list(zip(x, high, strict=True)))]
        self._note(outline)
        self._marks.append(
            lambda across, up: _svg.path(
                [(across(one), up(two)) for one, two in outline], fill=colour, opacity=0.18
            )
        )

    def box(self, x: tuple[float, float], y: tuple[float, float], fill: str, *, hatch: bool = False,
            label: str = "") -> None:  # fmt: skip
        """A filled rectangle, as bars and heat maps are made of."""
        self._note([(x[0], y[0]), (x[1], y[1])])
        self._name(Entry(label, fill, hatch=hatch, area=True))

        def made(across: Place, up: Place) -> str:
            left, right = sorted((across(x[0]), across(x[1])))
            top, bottom = sorted((up(y[0]), up(y[1])))
            drawn = _svg.rectangle(left, top, right - left, bottom - top, fill)
            return drawn + (_hatched(left, top, right, bottom) if hatch else "")

        self._marks.append(made)

    def text(self, x: float, y: float, words: str, *, shift: float = 0, anchor: str = "start", size: float = 7.5,
             colour: str = INK) -> None:  # fmt: skip
        """Words at a point of the data, `shift` to its right; what reaches out to the right is given room."""
        if anchor == "start":
            self._beside.append((x, shift + _svg.width_of(words, size)))
        self._marks.append(
            lambda across, up: _svg.text(
                across(x) + shift, up(y) + 0.35 * size, words, size=size, anchor=anchor, colour=colour
            )
        )

    def rule(self, *, x: float | None = None, y: float | None = None, colour: str = SOFT, dash: str = "--",
             width: float = 1) -> None:  # fmt: skip
        """A line across the whole panel."""
        self._note([(math.nan if x is None else x, math.nan if y is None else y)])

        def made(across: Place, up: Place) -> str:
            ends = [
                (across(each), up(y)) if y is not None else (across(x or 0.0), up(each))
                for each in self.ends("y" if y is None else "x")
            ]
            return _svg.path(ends, stroke=colour, width=width, dash=DASHES[dash])

        self._marks.append(made)

    def ends(self, which: str) -> tuple[float, float]:
        """The first and the last value of a scale; y may run downwards."""
        given, seen = (self.x_limits, self._seen[0]) if which == "x" else (self.y_limits, self._seen[1])
        known = [value for value in seen if math.isfinite(value)] or [0.0, 1.0]
        low, high = min(known), max(known)
        extra = self.room * (high - low) or 0.5
        first, last = given
        if which == "x" and self.x_log:
            return low / 1.3 if first is None else first, high * 1.3 if last is None else last
        return low - extra if first is None else first, high + extra if last is None else last

    def ticks(self, which: str, most: int) -> list[Tick]:
        given = self.x_ticks if which == "x" else self.y_ticks
        if given is not None:
            return list(given)
        first, last = sorted(self.ends(which))
        if which == "x" and self.x_log:
            powers = range(math.ceil(math.log10(first)), math.floor(math.log10(last)) + 1)
            return [(10.0**power, f"{10.0**power:g}") for power in powers] or [(first, f"{first:.2g}")]
        return round_ticks(first, last, most)

    def margins(self, height: float) -> tuple[float, float, float, float]:
        """Room that titles and tick labels need: left, top, right, bottom."""
        labels = [_svg.width_of(label, _TEXT) for _, label in self.ticks("y", _count(height))]
        across = [_svg.width_of(label, _TEXT) for _, label in self.ticks("x", 6)]
        low = 0.64 * max(across, default=0) + 8 if self.tilted else 12
        left = max(labels, default=0) + 8 + (14 if self.y_name else 0)
        return left, (18 if self.title else 6), 8, low + (14 if self.x_name else 4)

    def draw(self, left: float, top: float, right: float, bottom: float) -> str:
        """The panel inside these edges of the plot itself."""
        (start, end), (low, high) = map(self._along, self.ends("x")), self.ends("y")
        width = right - left
        # Words beside the marks may stand out: the scale is made longer until they fit.
        for at, wide in self._beside:
            place = self._along(at) - start
            if 0 < wide < width and place * width > (end - start) * (width - wide):
                end = start + place * width / (width - wide)
        self.x_limits = (10**start, 10**end) if self.x_log else (start, end)

        def across(value: float) -> float:
            return left + width * (self._along(value) - start) / ((end - start) or 1)

        def up(value: float) -> float:
            return bottom - (bottom - top) * (value - low) / ((high - low) or 1)

        marks = "".join(made(across, up) for made in self._marks)
        return self._frame(left, top, right, bottom, across, up) + marks

    def _frame(self, left: float, top: float, right: float, bottom: float, across: Place, up: Place) -> str:
        parts = []
        for value, label in self.ticks("x", 6):
            x = across(value)
            if left - 1 <= x <= right + 1:
                if "x" in self.grid:
                    parts.append(_svg.path([(x, top), (x, bottom)], stroke=GRID, width=0.6))
                parts.append(_svg.text(x, bottom + (9 if self.tilted else 11), label, size=_TEXT,
                                       anchor="end" if self.tilted else "middle",
                                       turn=-40 if self.tilted else 0))  # fmt: skip
        for value, label in self.ticks("y", _count(bottom - top)):
            y = up(value)
            if top - 1 <= y <= bottom + 1:
                if "y" in self.grid:
                    parts.append(_svg.path([(left, y), (right, y)], stroke=GRID, width=0.6))
                parts.append(_svg.text(left - 5, y + 2.8, label, size=_TEXT, anchor="end"))
        parts.append(_svg.path([(left, top), (left, bottom), (right, bottom)], stroke=SOFT, width=0.8))
        if self.title:
            # A title that is wider than its panel is set smaller, so that nothing of it is cut or covered.
            size = min(_TITLE, _TITLE * (right - left) / (_BOLD * _svg.width_of(self.title, _TITLE)))
            parts.append(_svg.text(left, top - 6, self.title, size=round(size, 1), bold=True))
        down = self.margins(bottom - top)[3]
        if self.x_name:
            parts.append(
                _svg.text(
                    (left + right) / 2, bottom + down - 3, self.x_name, size=_TEXT + 0.5, anchor="middle"
                )
            )
        if self.y_name:
            x, y = left - self.margins(bottom - top)[0] + 9, (top + bottom) / 2
            parts.append(_svg.text(x, y, self.y_name, size=_TEXT + 0.5, anchor="middle", turn=-90))
        return "".join(parts)

    def _along(self, value: float) -> float:
        return math.log10(value) if self.x_log and value > 0 else value

    def _note(self, points: Sequence[tuple[float, float]]) -> None:
        self._seen[0].extend(point[0] for point in points)
        self._seen[1].extend(point[1] for point in points)

    def _name(self, entry: Entry) -> None:
        if entry.label and entry.label not in [each.label for each in self.entries]:
            self.entries.append(entry)


def round_ticks(first: float, last: float, most: int) -> list[Tick]:
    """Round numbers from first to last, `most` of them at most.

    >>> [label for _, label in round_ticks(0.38, 1.02, 5)]
    ['0.4', '0.6', '0.8', '1']
    """
    span = last - first
    power = 10.0 ** math.floor(math.log10(span / most)) if span > 0 else 1.0
    step = next(factor * power for factor in (1, 2, 2.5, 5, 10, 20) if span / (factor * power) <= most)
    values = [
        round(place * step, 10)
        for place in range(math.ceil(first / step - 1e-9), math.floor(last / step + 1e-9) + 1)
    ]
    return [(value, f"{value:g}".replace("-", "−")) for value in values]


def _count(height: float) -> int:
    return max(3, min(7, int(height / 24)))


def _hatched(left: float, top: float, right: float, bottom: float) -> str:
    """Slanted lines over an area, for those who do not see its colour."""
    step, height = 5.0, bottom - top
    lines = []
    place = left - height
    while place < right:
        x0, x1 = max(place, left), min(place + height, right)
        if x1 > x0:
            lines.append(
                f"M{number(x0)} {number(bottom - (x0 - place))}L{number(x1)} {number(bottom - (x1 - place))}"
            )
        place += step
    return f'<path d="{"".join(lines)}" stroke="white" stroke-width="0.8"/>'
