"""The figure of a simulated jury: agreement lost against what is spent, as SVG."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from math import isfinite

from medjury.analysis.calibration._jury_simulation.result import JuryCurvePoint, SimulatedJury

_WIDTH, _HEIGHT, _LEFT, _TOP, _BOTTOM, _LEGEND = 560, 330, 64, 34, 52, 178
_RULE, _RANDOM, _FIXED = "#4c78a8", "#9a9a9a", "#f58518"


class Picture(str):
    """An SVG that a notebook shows."""

    def _repr_svg_(self) -> str:
        return str(self)


def jury_figure(found: SimulatedJury) -> Picture:
    """Curve of the rule with its interval, random escalation, every fixed jury, and the full jury at zero."""
    priced = found.adaptive.cost is not None
    curve = sorted(found.curve, key=lambda point: _spent(point))
    shown = [each for each in curve if each.loss.value is not None and isfinite(each.random_loss)]
    chosen = found.adaptive.calls if found.adaptive.cost is None else found.adaptive.cost
    ends = [
        end
        for each in shown
        for end in (each.loss.low, each.loss.high, each.loss.value, each.random_loss)
        if end is not None
    ]
    # A poor fixed jury would flatten the curve; it is drawn at the edge, with its number in its title.
    low, high = (
        min([*ends, *(loss for _, _, loss in found.fixed), -found.wanted_loss]),
        max([*ends, found.wanted_loss]),
    )
    step = _step(high - low)
    low, high = step * _floor(low / step), step * -_floor(-high / step)

    def x(share: float) -> float:
        return _LEFT + share * _WIDTH

    def y(loss: float) -> float:
        return _TOP + (min(max(loss, low), high) - low) / (high - low) * _HEIGHT

    parts = [
        '<svg xmlns="http://www.w3.org/2000/svg" '
        f'viewBox="0 0 {_LEFT + _WIDTH + _LEGEND} {_TOP + _HEIGHT + _BOTTOM}" '
        'font-family="sans-serif" font-size="12" fill="#222" color="#222" style="background:#fff" role="img">',
        "<title>Agreement with the clinicians lost by asking fewer jurors</title>",
        f'<text x="{_LEFT}" y="18">Spearman lost against the full jury (up is better), on cases that no rule was '
        "found on</text>",
        *_axes(x, y, low, high, step, "cost" if priced else "calls"),
    ]
    band = [each for each in shown if each.loss.low is not None and each.loss.high is not None]
    if len(band) > 1:
        edge = [(_spent(each), each.loss.low or 0.0) for each in band]
        edge += [(_spent(each), each.loss.high or 0.0) for each in reversed(band)]
        parts.append(f'<path d="{_line(edge, x, y)}Z" fill="{_RULE}" fill-opacity="0.18" stroke="none"/>')
    parts.append(
        f'<path d="{_line([(_spent(each), each.random_loss) for each in shown], x, y)}" fill="none" '
        f'stroke="{_RANDOM}" stroke-width="2" stroke-dasharray="5 4"/>'
    )
    parts.append(
        f'<path d="{_line([(_spent(each), each.loss.value or 0.0) for each in shown], x, y)}" fill="none" '
        f'stroke="{_RULE}" stroke-width="2"/>'
    )
    for jurors, spent, loss in found.fixed:
        parts.append(
            f'<circle cx="{x(spent):.1f}" cy="{y(loss):.1f}" r="4" fill="{_FIXED}">'
            f"<title>{escape(' + '.join(jurors))}: {loss:+.3f}</title></circle>"
        )
    if found.adaptive.loss.value is not None:
        parts.append(
            f'<circle cx="{x(chosen):.1f}" cy="{y(found.adaptive.loss.value):.1f}" r="6" fill="none" '
            f'stroke="{_RULE}" stroke-width="2.5"><title>the rule: {found.adaptive.loss.value:+.3f}</title>'
            "</circle>"
        )
    parts.append(f'<circle cx="{x(1.0):.1f}" cy="{y(0.0):.1f}" r="5"><title>full jury</title></circle>')
    return Picture("\n".join([*parts, *_legend(), "</svg>\n"]))


def _spent(point: JuryCurvePoint) -> float:
    return point.calls if point.cost is None else point.cost


def _line(
    points: Sequence[tuple[float, float]], x: Callable[[float], float], y: Callable[[float], float]
) -> str:
    return "M" + "L".join(f"{x(across):.1f} {y(down):.1f}" for across, down in points)


def _axes(
    x: Callable[[float], float], y: Callable[[float], float], low: float, high: float, step: float, what: str
) -> list[str]:
    bottom = _TOP + _HEIGHT
    parts = []
    for place in range(round((high - low) / step) + 1):
        value = low + place * step
        strong = abs(value) < step / 2
        parts.append(
            f'<path d="M{_LEFT} {y(value):.1f}H{_LEFT + _WIDTH}" stroke="#222" '
            f'stroke-opacity="{0.7 if strong else 0.15}"/>'
        )
        parts.append(f'<text x="{_LEFT - 8}" y="{y(value) + 4:.1f}" text-anchor="end">{value:+.2f}</text>')
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        parts.append(f'<path d="M{x(share):.1f} {bottom}v5" stroke="#222"/>')
        parts.append(f'<text x="{x(share):.1f}" y="{bottom + 20}" text-anchor="middle">{share:.0%}</text>')
    parts.append(
        f'<text x="{_LEFT + _WIDTH / 2}" y="{bottom + 42}" text-anchor="middle">{what}, as a share of what the '
        "full jury takes</text>"
    )
    return parts


def _legend() -> list[str]:
    left = _LEFT + _WIDTH + 18
    entries = (
        (f'<path d="M{left} {{y}}h22" stroke="{_RULE}" stroke-width="2"/>', "the rule, 95 % interval"),
        (
            f'<path d="M{left} {{y}}h22" stroke="{_RANDOM}" stroke-width="2" stroke-dasharray="5 4"/>',
            "calls at random",
        ),
        (f'<circle cx="{left + 11}" cy="{{y}}" r="4" fill="{_FIXED}"/>', "fixed juries"),
        (
            f'<circle cx="{left + 11}" cy="{{y}}" r="6" fill="none" stroke="{_RULE}" stroke-width="2.5"/>',
            "the chosen rule",
        ),
        (f'<circle cx="{left + 11}" cy="{{y}}" r="5"/>', "full jury"),
    )
    parts = []
    for place, (mark, words) in enumerate(entries):
        down = _TOP + 12 + 22 * place
        parts.append(mark.format(y=down))
        parts.append(f'<text x="{left + 30}" y="{down + 4}">{words}</text>')
    return parts


def _step(span: float) -> float:
    return next((step for step in (0.005, 0.01, 0.02, 0.05, 0.1, 0.2) if span / step <= 9), 0.5)


def _floor(value: float) -> int:
    return int(value // 1)
