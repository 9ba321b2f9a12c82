"""What tuning took beside what it gained: calls, money, clinicians' hours for the labels, and the "
"learning curve."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from medjury.report._html import Cell, Html, bullets, element
from medjury.report._material import Material
from medjury.statistics import Estimate, shown
from medjury.validation import Ways


def tuning_cost(material: Material, ways: Ways) -> Html:
    """A table of the tuned judges; nothing where none was tuned."""
    tuned = {
        judge.name: facts
        for judge in material.evidence.manifest.judges
        if isinstance(facts := judge.others.get("tuned"), dict)
    }
    if not tuned:
        return Html("")
    minutes = material.evidence.manifest.report.clinician_minutes_per_case
    gains = {each.rater: each.difference for each in ways.rows}
    rows: list[tuple[Cell, ...]] = [
        (
            name,
            str(facts.get("way", "")),
            gains.get(name),
            _number(facts.get("training", 0)) + _number(facts.get("validation", 0)),
            facts.get("labels"),
            None if minutes is None else _number(facts.get("labels")) * minutes / 60,
            facts.get("calls"),
            facts.get("cost"),
        )
        for name, facts in tuned.items()
    ]
    head = (
        "rater",
        "tuned by",
        "gain on held-out cases",
        "labelled cases",
        "labels",
        "clinicians' hours",
        "calls",
        "cost",
    )
    table = material.exhibits.table(
        "tuning",
        head,
        rows,
        caption=f"What tuning took. The gain is over {ways.yardstick}, on cases that no tuning has seen; hours are "
        "the labels at the study's minutes per case",
        digits=[3, 3, 3, 0, 0, 1, 0, 4],
    )
    return Html(
        element("h3", "What tuning took")
        + table
        + bullets(line for name, facts in tuned.items() for line in _curve(name, facts))
    )


def _curve(name: str, facts: Mapping[str, Any]) -> list[str]:
    """How many labels until tuning beat the plain prompt, as its own learning curve has it."""
    points = facts.get("curve")
    if not isinstance(points, list) or not points:
        return []
    told = "; ".join(
        f"{_number(each.get('labels')):,.0f} labelled cases: {shown(_estimate(each))}" for each in points
    )
    beats = [each for each in points if (_estimate(each).low or 0.0) > 0]
    fewest = min((_number(each.get("labels")) for each in beats), default=None)
    word = (
        "it was not shown to beat the plain prompt"
        if fewest is None
        else f"it beat the plain prompt from {fewest:,.0f} labelled cases on"
    )
    return [f"{name}, gain by labelled cases: {told}: {word}."]


def _estimate(point: Mapping[str, Any]) -> Estimate:
    return Estimate(point.get("gain"), point.get("gain_low"), point.get("gain_high"), 0, "of the tuning")


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) else 0.0
