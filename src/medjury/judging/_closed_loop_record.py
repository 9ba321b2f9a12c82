"""What a closed loop leaves behind: its steps gathered into a record, and its last drafts as cases."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Literal, Self

from pydantic import AliasChoices, Field, model_validator

from medjury.foundation.errors import MedjuryError
from medjury.instruments import Outcome
from medjury.intake.cases import Case, clean_text
from medjury.judging._draft_gate import Checked
from medjury.store.runs import Body, RecordedFailure, RecordedOutcome, Records, RunPart

# The record of a closed loop: every draft, the verdict on it, and what changed from one to the next.

Stopped = Literal["passed", "rounds", "stalled", "failed"]
Scores = dict[str, RecordedOutcome]


class Changes(RunPart):
    """The sentences that a revision took out and those it put in, in their order."""

    removed: tuple[str, ...] = ()
    added: tuple[str, ...] = ()


class LoopRound(RunPart):
    """One draft and the loop judge's word on it. Round 0 is the draft as it came."""

    round: int = 0
    draft: str
    changes: Changes | None = None
    scores: Scores
    failing: tuple[str, ...] = ()
    passed: bool | None  # None where a score is missing


class FinalScores(RunPart):
    """The final juror's word on the first and on the last draft; None where it was not asked."""

    first: Scores | None = None
    last: Scores | None = None


class LoopFailure(RecordedFailure):
    step: str = ""


class ClosedLoopBody(Body):
    """`passing` (in the file `pass`) is the grade that each dimension must reach, `separate` whether the final
    juror is a model that was not in the loop."""

    kind: str = "closed_loop"
    first_system: str = ""
    passing: dict[str, int] = Field(
        default={}, validation_alias=AliasChoices("pass", "passing"), serialization_alias="pass"
    )
    separate: bool = False
    stopped: Stopped
    rounds: tuple[LoopRound, ...] = ()
    final: FinalScores = FinalScores()
    failure: LoopFailure | None = None

    @model_validator(mode="after")
    def _a_loop_that_ended_has_a_draft(self) -> Self:
        if self.stopped != "failed" and not self.rounds:
            raise ValueError("it has no rounds")
        return self


_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n+")


def loop_round(number: int, draft: str, earlier: str | None, checked: Checked) -> LoopRound:
    """One draft and the loop judge's word on it. Round 0 is the draft as it came."""
    return LoopRound(
        round=number,
        draft=clean_text(draft),
        changes=None if earlier is None else changes(clean_text(earlier), draft),
        scores=recorded(checked.outcomes),
        failing=checked.failing,
        passed=checked.passed,
    )


def revised_cases(cases: Iterable[Case], records: str | Path) -> Iterator[Case]:
    """The cases with the last drafts of a closed loop in place of their own texts, for clinicians or another jury
    to rate. `records` is the `records.jsonl` of the run folder; of several repeats the first counts, and cases
    whose loop failed are left out."""
    if not Path(records).is_file():
        raise MedjuryError(f"{records}: there is no such file; give the records.jsonl of a run folder")
    last: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for record in Records(records).of(ClosedLoopBody):
        body = record.body
        if record.repeat == 0 and body.stopped != "failed":
            place = record.item, body.first_system
            last.setdefault(place, []).append((record.system, body.rounds[-1].draft))
    for case in cases:
        for system, draft in last.get((case.id, case.system), ()):
            yield replace(case, candidate=draft, system=system)


def recorded(outcomes: Mapping[str, Outcome]) -> Scores:
    """Outcomes as a record has them."""
    return {name: RecordedOutcome.of(each) for name, each in outcomes.items()}


def changes(before: str, after: str) -> Changes:
    """The sentences that a revision took out and those it put in, in their order."""
    old, new = _sentences(before), _sentences(after)
    return Changes(removed=tuple(_left(old, new)), added=tuple(_left(new, old)))


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
