"""The figure of enrichment: one bar per metric with its interval, coloured by family, as SVG."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from medjury.texts.metrics._meta_evaluation import MetricEvaluation

COLOURS = {"edit distance": "#4c78a8", "n-gram overlap": "#f58518", "learned": "#54a24b"}
BAR, GAP, LABELS, WIDTH, TOP = 14, 6, 190, 460, 54


def enrichment_figure(evaluations: Sequence[MetricEvaluation]) -> str:
    """Bars to the left of zero: metrics that score significant errors lower than harmless ones."""
    shown = [each for each in evaluations if each.enrichment.value is not None]
    ends = [
        end
        for each in shown
        for end in (each.enrichment.value, each.enrichment.low, each.enrichment.high)
        if end is not None
    ]
    lowest, highest = min([*ends, 0.0]), max([*ends, 0.0])
    span = (highest - lowest) or 1.0
    height = TOP + len(shown) * (BAR + GAP) + 30

    def x(value: float) -> float:
        return LABELS + (value - lowest) / span * WIDTH

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {LABELS + WIDTH + 30} {height}" '
        'font-family="sans-serif" font-size="12" fill="currentColor" role="img">',
        "<title>Enrichment: mean score of significant errors minus mean score of harmless ones</title>",
        f'<text x="{LABELS}" y="16">Mean score at label 2 − mean score at label 0 (95 % interval)</text>',
    ]
    for place, (family, colour) in enumerate(COLOURS.items()):
        start = LABELS + place * 130
        parts.append(f'<rect x="{start}" y="26" width="10" height="10" fill="{colour}"/>')
        parts.append(f'<text x="{start + 14}" y="35">{family}</text>')
    for place, each in enumerate(shown):
        estimate, top = each.enrichment, TOP + place * (BAR + GAP)
        assert estimate.value is not None
        left, right = sorted((x(0.0), x(estimate.value)))
        parts.append(
            f'<text x="{LABELS - 8}" y="{top + 11}" text-anchor="end">{escape(each.metric.title)}</text>'
        )
        parts.append(
            f'<rect x="{left:.1f}" y="{top}" width="{right - left:.1f}" height="{BAR}" '
            f'fill="{COLOURS[each.metric.family]}"><title>{estimate.value:.3f}</title></rect>'
        )
        if estimate.low is not None and estimate.high is not None:
            parts.append(
                f'<path d="M{x(estimate.low):.1f} {top + BAR / 2}H{x(estimate.high):.1f}" stroke="currentColor"/>'
            )
    bottom = height - 24
    parts.append(f'<path d="M{x(0.0):.1f} {TOP - 6}V{bottom}" stroke="currentColor"/>')
    parts += [
        f'<text x="{x(value):.1f}" y="{bottom + 16}" text-anchor="middle">{value:.2f}</text>'
        for value in (lowest, 0.0, highest)
    ]
    return "\n".join([*parts, "</svg>"])
