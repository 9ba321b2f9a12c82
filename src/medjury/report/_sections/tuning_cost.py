"""What tuning and training took beside what they gained: calls, money, clinicians' hours for the labels, hours of
machines, and the learning curve."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from medjury.report._html import Cell, Html, bullets, element
from medjury.report._material import Material
from medjury.statistics import Estimate, shown
from medjury.validation import Ways


def tuning_cost(material: Material, ways: Ways) -> Html:
    """A table of the tuned and trained judges; nothing where there are none."""
    tuned = {
        judge.name: facts
        for judge in material.evidence.manifest.judges
        if isinstance(facts := judge.others.get("tuned"), dict)
    }
    if not tuned:
        return Html("")
    minutes = material.evidence.manifest.report.clinician_minutes_per_case
    gains = {each.rater: each.difference for each in ways.rows}
    trained = any(facts.get("hours") is not None for facts in tuned.values())
    rows: list[dict[str, Cell]] = [
        {
            "rater": name,
            "tuned by": str(facts.get("way", "")),
            "gain on held-out cases": gains.get(name),
            "labelled cases": _number(facts.get("training", 0)) + _number(facts.get("validation", 0)),
            "labels": facts.get("labels"),
            "clinicians' hours": None
            if minutes is None or not facts.get("labels")
            else _number(facts["labels"]) * minutes / 60,
            "calls": facts.get("calls"),
            **({"machine hours": facts.get("hours")} if trained else {}),
            "cost": facts.get("cost"),
        }
        for name, facts in tuned.items()
    ]
    words = "; machine hours are those of the training, times its GPUs" if trained else ""
    table = material.exhibits.table(
        "tuning",
        rows,
        caption=f"What tuning took. The gain is over {ways.yardstick}, on cases that no tuning has seen; hours are "
        f"the labels at the study's minutes per case{words}",
        digits={
            "labelled cases": 0,
            "labels": 0,
            "clinicians' hours": 1,
            "calls": 0,
            "machine hours": 2,
            "cost": 4,
        },
    )
    return Html(
        element("h3", "What tuning took")
        + table
        + bullets(line for name, facts in tuned.items() for line in _curve(name, facts))
        + bullets(_by_size(tuned, gains))
    )


def _by_size(tuned: Mapping[str, Mapping[str, Any]], gains: Mapping[str, Estimate | None]) -> list[str]:
    """The learning curve of judges that were trained alike on more and more cases, on this study's own answers."""
    points: dict[str, dict[float, Estimate]] = {}
    for name, facts in tuned.items():
        gain = gains.get(name)
        if facts.get("hours") is not None and gain is not None and gain.value is not None:
            size = _number(facts.get("training")) + _number(facts.get("validation"))
            points.setdefault(str(facts.get("way", "")), {})[size] = gain
    lines = []
    for way, found in points.items():
        if len(found) < 2:
            continue
        words = "; ".join(f"{size:,.0f} labelled cases: {shown(found[size])}" for size in sorted(found))
        lines.append(f"{way}, gain by labelled cases: {words}: {_beat(found, 'judge')}.")
    return lines


def _beat(gains: Mapping[float, Estimate], plain: str) -> str:
    """From how many labelled cases on the gain is shown, at every larger number too."""
    short = [size for size, gain in gains.items() if (gain.low or 0.0) <= 0]
    better = [size for size in gains if size > max(short, default=-1.0)]
    if len(short) == len(gains):
        return f"it was not shown to beat the plain {plain}"
    if not better:
        return f"it beat the plain {plain} with fewer labelled cases, and not with the most"
    return f"it beat the plain {plain} from {min(better):,.0f} labelled cases on"


def _curve(name: str, facts: Mapping[str, Any]) -> list[str]:
    """How many labels until tuning beat the plain prompt, as its own learning curve has it."""
    points = facts.get("curve")
    if not isinstance(points, list) or not points:
        return []
    words = "; ".join(
        f"{_number(each.get('labels')):,.0f} labelled cases: {shown(_estimate(each))}" for each in points
    )
    gains = {_number(each.get("labels")): _estimate(each) for each in points}
    return [f"{name}, gain by labelled cases: {words}: {_beat(gains, 'prompt')}."]


def _estimate(point: Mapping[str, Any]) -> Estimate:
    return Estimate(point.get("gain"), point.get("gain_low"), point.get("gain_high"), 0, "of the tuning")


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) else 0.0
