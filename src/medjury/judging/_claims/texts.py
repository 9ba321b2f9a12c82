"""The texts of a case as claims need them, and what claims say in a rating's explanation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from medjury.instruments import Outcome, Unscored
from medjury.intake.cases import Case
from medjury.judging._claims.steps import Listed
from medjury.judging._claims.verifying import Checked
from medjury.judging._evidence.quotation import Source


def sources_of(case: Case, name: str) -> list[Source]:
    """The texts of one input, each with its own name; none where it is absent or blank."""
    value = case.input(name)
    if not value:
        return []
    if isinstance(value, str):
        return [Source(name, value)] if value.strip() else []
    seen: Counter[str] = Counter()
    found = []
    for note in value:
        seen[note.id] += 1
        name = note.id if seen[note.id] == 1 else f"{note.id} ({seen[note.id]})"  # an id may appear twice
        if note.text.strip():
            label = ", ".join(fact for fact in (note.kind, note.date) if fact)
            found.append(Source(name, note.text, label=label))
    return found


def with_claims(outcome: Outcome, checked: Sequence[Checked], record: Listed | None) -> Outcome:
    """The explanation with the gravest claims that count against the text, so that a reader sees why, and with the
    parts of a record that gave nothing to look for."""
    against = [each for each in checked if each.verdict in ("contradicted", "not_addressed")]
    against.sort(key=lambda each: (-each.claim.importance, each.verdict != "contradicted"))
    lines = [f"{(each.verdict or '').replace('_', ' ')}: {each.claim.text}" for each in against[:3]]
    if record is not None and record.silent:
        lines.append(f"no fact was listed from {record.silent} of {record.parts} parts of the record")
    if isinstance(outcome, Unscored) or not lines:
        return outcome
    return replace(outcome, explanation=". ".join([outcome.explanation, *lines]))
