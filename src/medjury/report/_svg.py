"""SVG by hand: shapes, and how wide a text is. A library draws the same figures in a hundred times the time."""

from __future__ import annotations

import html
import math
from collections.abc import Sequence

from medjury.report._html import without_controls

INK, SOFT, GRID = "#1b2733", "#55636f", "#d5dde5"
FONT = "'DejaVu Sans', Verdana, sans-serif"
_NARROW, _WIDE = frozenset("iIjl.,:;|!'()[] ftr"), frozenset("mwMWQO@%—–")
# Of a marker as large as 1, around (0, 0).
MARKER_SHAPES = {
    "s": "M-.9-.9H.9V.9H-.9Z",
    "^": "M0-1 1 .8H-1Z",
    "v": "M0 1 1-.8H-1Z",
    "D": "M0-1.2 1.2 0 0 1.2-1.2 0Z",
    "P": "M-.35-1H.35V-.35H1V.35H.35V1H-.35V.35H-1V-.35H-.35Z",
    "X": "M-1-.6-.6-1 0-.4.6-1 1-.6.4 0 1 .6.6 1 0 .4-.6 1-1 .6-.4 0Z",
    "*": "M0-1.2.35-.4 1.2-.35.5.2.75 1 0 .55-.75 1-.5.2-1.2-.35-.35-.4Z",
}


def number(value: float) -> str:
    """A coordinate: a tenth of a point is finer than anybody sees."""
    return f"{value:.1f}".removesuffix(".0")


def width_of(words: str, size: float) -> float:
    """About how wide a text is, in the units of its size."""
    return size * sum(
        0.36 if sign in _NARROW else 0.9 if sign in _WIDE else 0.62 if ord(sign) < 0x2E80 else 1.0
        for sign in words
    )


def text(
    x: float,
    y: float,
    words: str,
    *,
    size: float,
    anchor: str = "start",
    colour: str = INK,
    turn: float = 0,
    bold: bool = False,
) -> str:
    turned = f' transform="rotate({turn:g} {number(x)} {number(y)})"' if turn else ""
    kept = f' text-anchor="{anchor}"' if anchor != "start" else ""
    heavy = ' font-weight="bold"' if bold else ""
    stated = html.escape(without_controls(words))
    style = f'font-size="{size:g}" fill="{colour}"{kept}{heavy}{turned}'
    return f'<text x="{number(x)}" y="{number(y)}" {style}>{stated}</text>'


def path(
    points: Sequence[tuple[float, float]],
    *,
    stroke: str = "none",
    width: float = 1,
    dash: str = "",
    fill: str = "none",
    opacity: float = 1,
) -> str:
    """Straight lines from point to point; a point that is not a number breaks the line."""
    steps, begun = [], False
    for x, y in points:
        if math.isfinite(x) and math.isfinite(y):
            steps.append(f"{'L' if begun else 'M'}{number(x)} {number(y)}")
            begun = True
        else:
            begun = False
    dashed = f' stroke-dasharray="{dash}"' if dash else ""
    clear = f' opacity="{opacity:g}"' if opacity < 1 else ""
    closed = "Z" if fill != "none" else ""
    style = f'fill="{fill}" stroke="{stroke}" stroke-width="{width:g}"{dashed}{clear}'
    return f'<path d="{"".join(steps)}{closed}" {style}/>'


def rectangle(x: float, y: float, width: float, height: float, fill: str, stroke: str = "white") -> str:
    return (
        f'<rect x="{number(x)}" y="{number(y)}" width="{number(width)}" height="{number(height)}" fill="{fill}" '
        f'stroke="{stroke}" stroke-width="0.5"/>'
    )


def marker(
    x: float, y: float, shape: str, radius: float, colour: str, *, hollow: bool = False, opacity: float = 1
) -> str:
    clear = f' opacity="{opacity:g}"' if opacity < 1 else ""
    fill = "white" if hollow else colour
    if shape == "o":
        edge = f' stroke="{colour}" stroke-width="1.2"' if hollow else ""
        return f'<circle cx="{number(x)}" cy="{number(y)}" r="{radius:.2f}" fill="{fill}"{edge}{clear}/>'
    edge = f' stroke="{colour}" stroke-width="{1.2 / radius:.2f}"' if hollow else ""
    placed = f"translate({number(x)} {number(y)}) scale({radius:.2f})"
    return f'<path d="{MARKER_SHAPES[shape]}" transform="{placed}" fill="{fill}"{edge}{clear}/>'


def shade(value: float, stops: Sequence[str]) -> str:
    """The colour at `value` (0 to 1) between colours at equal distances."""
    place = min(max(value, 0.0), 1.0) * (len(stops) - 1)
    first = min(int(place), len(stops) - 2)
    low, high = (
        [int(stop[start : start + 2], 16) for start in (1, 3, 5)] for stop in stops[first : first + 2]
    )
    part = place - first
    return "#" + "".join(f"{round(a + (b - a) * part):02x}" for a, b in zip(low, high, strict=True))
