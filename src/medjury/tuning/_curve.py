"""The learning curve: how many labelled cases it takes until tuning beats the plain prompt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from medjury.statistics import Estimate, ends
from medjury.tuning._labelled import Labelled


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """A tuning with so many training cases, the same validation and held-out cases for all; `labels` counts both
    training and validation cases, since both were labelled for it."""

    training: int
    labels: int
    gain: Estimate

    @property
    def beats(self) -> bool:
        """Whether the interval of the gain leaves zero out, on the good side."""
        return self.gain.low is not None and self.gain.low > 0

    def as_dict(self) -> dict[str, Any]:
        return {"training": self.training, "labels": self.labels, **ends(self.gain, "gain")}


def nested(training: Sequence[Labelled], wanted: int) -> list[Labelled]:
    """The first groups of the training side, until there are so many cases: a smaller part lies within a larger."""
    found: list[Labelled] = []
    groups: dict[str, list[Labelled]] = {}
    for each in training:
        groups.setdefault(each.group, []).append(each)
    for members in groups.values():
        if len(found) >= wanted:
            break
        found += members
    return found


def labels_until_better(points: Sequence[CurvePoint]) -> int | None:
    """The fewest labels from which on every larger tuning beat the plain prompt; None where none did."""
    ordered = sorted(points, key=lambda each: each.labels)
    good = None
    for each in reversed(ordered):
        if not each.beats:
            break
        good = each.labels
    return good
