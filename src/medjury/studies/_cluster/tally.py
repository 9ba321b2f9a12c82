"""Counts of units of work as workers tell them, put together for the one who looks on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping
from typing import Any

from medjury.instruments import Reason
from medjury.judging import JudgeProgress, Progress

_NUMBERS = ("found", "judged", "scored", "not_applicable")
Counts = Mapping[str, Any]


def counts_of(progress: Progress) -> Counts:
    """The counts as plain values, which any process can read."""
    return {
        **{name: getattr(progress, name) for name in _NUMBERS},
        "unscored": {reason.value: count for reason, count in progress.unscored.items()},
        "judges": {
            name: (each.found, each.judged, {reason.value: count for reason, count in each.unscored.items()})
            for name, each in progress.judges.items()
        },
    }


class Tallies:
    """What shares that are done came to, and how far those are that workers are at. A share that dies with its
    worker counts from its start again: what it had stored is then found."""

    def __init__(self, shown: Progress) -> None:
        self._shown = shown
        self._done = Progress()
        self._running: dict[Hashable, Counts] = {}

    def running(self, share: Hashable, counts: Counts) -> None:
        self._running[share] = counts

    def forget(self, share: Hashable) -> None:
        self._running.pop(share, None)

    def done(self, share: Hashable, counts: Counts) -> None:
        self.forget(share)
        _add(self._done, counts)

    def show(self) -> int:
        """Put the sum before the eyes of whoever looks on; how many units that is."""
        whole = Progress()
        for counts in (counts_of(self._done), *self._running.values()):
            _add(whole, counts)
        for name in (*_NUMBERS, "unscored"):
            setattr(self._shown, name, getattr(whole, name))
        for name, each in whole.judges.items():
            one = self._shown.judges.setdefault(name, JudgeProgress())
            one.found, one.judged, one.unscored = each.found, each.judged, each.unscored
        return whole.found + whole.judged


def _add(progress: Progress, counts: Counts) -> None:
    for name in _NUMBERS:
        setattr(progress, name, getattr(progress, name) + counts[name])
    progress.unscored.update(_reasons(counts["unscored"]))
    for name, (found, judged, unscored) in counts["judges"].items():
        one = progress.judges.setdefault(name, JudgeProgress())
        one.found += found
        one.judged += judged
        one.unscored.update(_reasons(unscored))


def _reasons(counts: Mapping[str, int]) -> Counter[Reason]:
    return Counter({Reason(reason): count for reason, count in counts.items()})
