"""The texts of the recipe `medhelm-jury`: what was said or asked, a reference, and an answer with planted faults.

Facts are in `_visits.csv` and `_questions.csv`, all made up. An answer is written from its planted grades, so that
who reads it sees why it has them: wrong facts lower accuracy, missing ones completeness, disorder clarity.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from pathlib import Path

Grades = Mapping[str, int]
Part = tuple[str, str]  # heading and words


def _read(name: str) -> list[dict[str, str]]:
    with (Path(__file__).parent / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


VISITS, QUESTIONS = _read("_visits.csv"), _read("_questions.csv")
NOTES, REPLIES = "visit-notes", "patient-replies"
# Every item in order: its benchmark and its facts.
ITEMS = tuple([(NOTES, each) for each in VISITS] + [(REPLIES, each) for each in QUESTIONS])
PERFECT = {"accuracy": 5, "completeness": 5, "clarity": 5}


def name_of(number: int) -> str:
    benchmark, _ = ITEMS[number]
    return f"note-{number + 1:02}" if benchmark == NOTES else f"reply-{number + 1 - len(VISITS):02}"


def source(number: int) -> dict[str, str]:
    """The task and what an answer is written from: a conversation, or a patient's question."""
    benchmark, facts = ITEMS[number]
    if benchmark == REPLIES:
        return {"question": "Answer the patient.", "context": f"Patient: {facts['asked']}"}
    talk = (
        f"Patient: I have had {facts['complaint']} for {facts['days']} days.",
        f"Doctor: Is there any medicine you cannot take? Patient: {facts['allergy']}.",
        f"Doctor: I find {facts['finding']}. This is {facts['diagnosis']}.",
        f"Doctor: Take {facts['medicine']}, {facts['dose']} milligrams. Then: {facts['plan']}.",
        f"Doctor: Come back at once with {facts['warning']}.",
    )
    return {"question": "Write the visit's note.", "context": "\n".join(talk)}


def reference(number: int) -> str:
    return _written(_parts(number, PERFECT), 5)


def answer_text(number: int, system: str, grades: Grades) -> str:
    """The system's answer, with the faults that its grades stand for; the title tells systems apart."""
    return f"{system.title()}. {_written(_parts(number, grades), grades['clarity'])}"


def _parts(number: int, grades: Grades) -> list[Part]:
    benchmark, facts = ITEMS[number]
    made = _of_note if benchmark == NOTES else _of_reply
    return made(facts, grades["accuracy"], grades["completeness"])


def _of_note(facts: Mapping[str, str], accuracy: int, completeness: int) -> list[Part]:
    """A dose ten times too high is worth 2, and no word of what the patient cannot take 1."""
    days = int(facts["days"]) + {5: 0, 4: 1, 3: 9}.get(accuracy, 0)
    dose = int(facts["dose"]) * (10 if accuracy < 3 else 1)
    plan = f"{facts['medicine']} {dose} mg" + (f"; {facts['plan']}" if completeness > 4 else "")
    parts = [("Complaint", f"{facts['complaint']} for {days} days")]
    if completeness > 3:
        parts.append(("Examination", facts["finding"]))
    if completeness > 2 or accuracy == 1:
        parts.append(("Cannot take", facts["allergy"] if accuracy > 1 else "nothing known"))
    parts += [("Assessment", facts["diagnosis"]), ("Plan", plan)]
    return [*parts, ("Return with", facts["warning"])] if completeness > 2 else parts


def _of_reply(facts: Mapping[str, str], accuracy: int, completeness: int) -> list[Part]:
    """The harmful advice is worth 2, and that nobody need be asked 1."""
    advice = facts["answer"] if accuracy > 2 else facts["mistaken"]
    parts = [("Answer", f"Usually: {advice}" if accuracy == 4 else advice)]
    if completeness > 3:
        parts.append(("Why", facts["reason"] if accuracy > 3 else "the reason is not known"))
    if completeness > 4:
        parts.append(("Good to know", facts["detail"]))
    if accuracy == 1:
        return [*parts, ("Seek help if", "never, there is no need")]
    return [*parts, ("Seek help if", facts["warning"])] if completeness > 2 else parts


def _written(parts: list[Part], clarity: int) -> str:
    """5: a heading a line; 4: in one go; 3: in the wrong order; 2 or less: without headings or stops as well."""
    if clarity < 4:
        parts = parts[1::2] + parts[::2]
    if clarity < 3:
        return " ".join(words for _, words in parts).lower()
    return ("\n" if clarity == 5 else " ").join(f"{heading}: {words}." for heading, words in parts)
