"""What a closed loop leaves behind: every draft, what was said of it, and what changed from one to the next."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from medjury.cases import Case, clean_text
from medjury.instruments import Outcome, Unscored
from medjury.judging._closed_loop.gate import Checked
from medjury.judging._outcomes import outcome_record

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
                "draft": clean_text(draft),
                "changes": None if earlier is None else changes(clean_text(earlier), draft),
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


def revised_cases(cases: Iterable[Case], records: str | Path) -> Iterator[Case]:
    """The cases with the last drafts of a closed loop in place of their own texts, for clinicians or another jury
    to rate. `records` is the `records.jsonl` of the run folder; of several repeats the first counts, and cases
    whose loop failed are left out."""
    last: dict[tuple[str, str], list[tuple[str, str]]] = {}
    with Path(records).open(encoding="utf-8") as file:
        for line in file:
            each = json.loads(line)
            body = each["body"]
            if each["kind"] == "closed_loop" and each["repeat"] == 0 and body["stopped"] != "failed":
                place = each["item"], body["first_system"]
                last.setdefault(place, []).append((each["system"], body["rounds"][-1]["draft"]))
    for case in cases:
        for system, draft in last.get((case.id, case.system), ()):
            yield replace(case, candidate=draft, system=system)


def told(outcomes: Mapping[str, Outcome]) -> dict[str, dict[str, object]]:
    """Outcomes as JSON values."""
    return {name: outcome_record(each) for name, each in outcomes.items()}


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
