"""What a closed loop leaves behind: every draft, what was said of it, and what changed from one to the next."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from medjury.instruments import Outcome, Unscored
from medjury.judging._closed_loop_gate import Checked
from medjury.judging._rows import outcome_columns

_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n+")
Stopped = Literal["passed", "rounds", "stalled", "failed"]


@dataclass
class Story:
    """Gathers the steps of one unit; `record` is what is stored."""

    least: Mapping[str, int]
    separate: bool
    first_system: str
    stopped: Stopped = "rounds"
    rounds: list[dict[str, object]] = field(default_factory=list)
    final: dict[str, object] = field(default_factory=dict)
    failure: dict[str, str] | None = None

    def add_round(self, draft: str, earlier: str | None, checked: Checked) -> None:
        """One draft and the loop judge's word on it. Round 0 is the draft as it came."""
        self.rounds.append(
            {
                "round": len(self.rounds),
                "draft": draft,
                "changes": None if earlier is None else changes(earlier, draft),
                "scores": told(checked.outcomes),
                "failing": list(checked.failing),
                "passed": checked.passed,
            }
        )

    def fail(self, step: str, failure: Unscored) -> Unscored:
        """Note the step that failed; the unit's outcome names it."""
        self.stopped = "failed"
        self.failure = {"step": step, "reason": failure.reason.value, "message": failure.message}
        return Unscored(failure.reason, f"{step}: {failure.message}")

    def record(self) -> dict[str, object]:
        return {
            "kind": "closed_loop",
            "first_system": self.first_system,
            "pass": dict(self.least),
            "separate": self.separate,
            "stopped": self.stopped,
            "rounds": self.rounds,
            "final": self.final,
            "failure": self.failure,
        }


def told(outcomes: Mapping[str, Outcome]) -> dict[str, dict[str, object]]:
    """Outcomes as JSON values."""
    columns = ("score", "status", "reason", "explanation")
    return {name: dict(zip(columns, outcome_columns(each), strict=True)) for name, each in outcomes.items()}


def changes(before: str, after: str) -> dict[str, list[str]]:
    """The sentences that a revision took out and those it put in, in their order."""
    old, new = _sentences(before), _sentences(after)
    return {"removed": _left(old, new), "added": _left(new, old)}


def _left(these: list[str], those: list[str]) -> list[str]:
    there = Counter(those)
    left = []
    for sentence in these:
        if there[sentence]:
            there[sentence] -= 1
        else:
            left.append(sentence)
    return left


def _sentences(text: str) -> list[str]:
    return [part.strip() for part in _SENTENCE_END.split(text) if part.strip()]
