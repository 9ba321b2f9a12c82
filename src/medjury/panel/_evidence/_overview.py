"""The first page: what the run holds, and the ways into it that are worth a reader's first ten minutes."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from medjury.panel._evidence._choice import Choice
from medjury.panel._evidence._run import EvidenceRun, State
from medjury.statistics import counted
from medjury.tables import JURY


def overview(run: EvidenceRun, state: State) -> dict[str, Any]:
    """The values of `overview.html`."""
    snapshot = state.snapshot
    choice = Choice()
    systems = Counter(system for _, system in snapshot.keys)
    return {
        "facts": _facts(state),
        "ways": [each for each in _ways(state) if each["count"] or each["title"] == "Every answer"],
        "severe": _severe(state),
        "whose_danger": snapshot.table.whose_danger(snapshot.evidence.clinicians),
        "reasons": [
            (reason, count, choice.address(show="unscored", reason=reason))
            for reason, count in snapshot.reasons.items()
        ],
        "systems": [(name, count, choice.address(system=name)) for name, count in sorted(systems.items())],
        "memory": _memory(state),
    }


def the(rater: str) -> str:
    """`the jury`, or a rater by name."""
    return "the jury" if rater == JURY else rater


def standing(state: State) -> str:
    """The run in a few words, for the head of every page."""
    manifest = state.snapshot.manifest
    when = manifest.finished_at[:16].replace("T", " ")
    return f"{manifest.status}{f', {when} UTC' if when else ''}"


def so_far(state: State) -> str:
    """How far a run that goes on has come."""
    snapshot = state.snapshot
    return f"{snapshot.judged:,} of {snapshot.manifest.cases:,} answers judged so far"


def _facts(state: State) -> str:
    snapshot = state.snapshot
    table = snapshot.table
    parts = [
        f"{counted(len(snapshot.keys), 'answer')} to {counted(len(snapshot.items), 'case')}",
        counted(len(table.judges), "judge"),
        counted(len(snapshot.evidence.clinicians), "clinician"),
        f"instrument {snapshot.manifest.instrument.name or 'not known'}",
        counted(snapshot.rows.height, "rating"),
    ]
    if served := int(snapshot.development.sum()):
        parts.append(f"{counted(served, 'answer')} served development and count in no number")
    return " · ".join(parts)


def _ways(state: State) -> list[dict[str, Any]]:
    snapshot = state.snapshot
    choice = Choice()
    differs = snapshot.difference()
    queue = next(iter(snapshot.queues), "")
    label = {each.name: each.label for each in snapshot.dimensions}
    ways: list[tuple[str, str, int, str]] = [
        (
            "Dangerous, and missed",
            f"clinicians saw danger and {the(snapshot.rater)} did not",
            int(snapshot.missed().sum()),
            choice.address(show="missed"),
        ),
        (
            "Largest differences",
            f"{snapshot.difference_words}, the largest first",
            int((np.nan_to_num(np.abs(differs)) > 0).sum()),
            choice.address(sort="difference"),
        ),
        (
            "Triage queue",
            f"what a clinician should read first, by {label.get(queue, '')}",
            int((~snapshot.development).sum()) if queue else 0,
            choice.address(show="queue", dimension=queue),
        ),
        (
            "Without a score",
            "a failure is missing data, never a number",
            int(snapshot.with_status("unscored").sum()),
            choice.address(show="unscored"),
        ),
        (
            "Judges furthest apart",
            "where the jury agrees least",
            int((np.nan_to_num(snapshot.apart()) > 0).sum()),
            choice.address(sort="apart"),
        ),
        ("Every answer", "in the order of their names", len(snapshot.keys), choice.address()),
    ]
    return [
        {"title": title, "words": words, "count": f"{count:,}" if count else "", "address": address}
        for title, words, count, address in ways
    ]


def _severe(state: State) -> list[dict[str, Any]]:
    """The report's table of severe errors, each count with its list."""
    snapshot = state.snapshot
    choice = Choice()
    return [
        {
            "label": dimension.label,
            "rater": rater,
            "found": found,
            "missed": choice.address(show="missed", dimension=dimension.name, rater=rater),
            "danger": choice.address(show="dangerous", dimension=dimension.name, rater=rater),
            "lost": choice.address(show="lost", dimension=dimension.name, rater=rater),
        }
        for dimension in snapshot.table.counted
        for rater in snapshot.evidence.raters
        if (found := snapshot.severe(dimension.name, rater)) is not None
    ]


def _memory(state: State) -> str:
    if not len(state.texts):
        return ""
    size = state.texts.size / 1e6
    return (
        f"The texts of {len(state.texts):,} answers are held in memory ({size:,.1f} MB, compressed), "
        "and written to no file."
    )
