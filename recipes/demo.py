"""The demonstration: what a good jury looks like, on synthetic discharge summaries with planted errors.

Fifteen reasons for a stay, four patients each, two summarisers: the first is nearly always right, the second often
wrong. Every summary has planted faults, and so a planted grade on each axis. Clinicians and jurors see them with
errors of their own. The first four patients' summaries are also judged live, by the embedded model.
"""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import NamedTuple

from tests.loopback import Call

from recipes._recording import ANSWERS, Made, chance

AXES = ("accuracy", "completeness", "clarity")
JURORS = {"juror-north": -0.6, "juror-east": -0.35, "juror-south": 0.0}  # how far each is off, in grades
CLINICIANS = {"made-up-clinician-1": -0.05, "made-up-clinician-2": 0.05}
SYSTEMS = ("summariser-a", "summariser-b")
PATIENTS = 4  # of each reason
LIVE = 4  # patients whose summaries the embedded model reads too
# A fault, what it costs in accuracy, completeness and clarity, and how often each summariser makes it.
FAULTS = {
    "wrong dose": ((3, 0, 0), (0.03, 0.30)),
    "wrong side": ((3, 0, 0), (0.00, 0.25)),
    "invented procedure": ((3, 0, 0), (0.02, 0.20)),
    "allergy left out": ((0, 2, 0), (0.06, 0.35)),
    "follow-up left out": ((0, 1, 0), (0.12, 0.40)),
    "says things twice": ((0, 0, 2), (0.10, 0.35)),
}
OVERLOOKED = (13,)  # a patient with a wrong dose in the second summary that no juror sees


class Stay(NamedTuple):
    """One reason for a stay, and the facts that a summary must keep."""

    problem: str
    specialty: str
    finding: str
    drug: str
    dose: str
    up: str
    unit: str
    wrong: str
    allergy: str
    side: str
    test: str
    clinic: str
    invented: str


with (Path(__file__).parent / "_demo_stays.csv").open(encoding="utf-8", newline="") as _file:
    STAYS = tuple(Stay(**row) for row in csv.DictReader(_file))
NUMBERS = range(PATIENTS * len(STAYS))


def stay(number: int) -> Stay:
    return STAYS[number % len(STAYS)]


def name_of(number: int) -> str:
    return f"{stay(number).problem.replace(' ', '-')}-{number // len(STAYS) + 1}"


def source(number: int) -> str:
    one, age = stay(number), 35 + int(50 * chance("age", number))
    side = f"{one.side} side, " if one.side else ""
    day = 1 + int(20 * chance("day", number))
    return (
        f"Note N1 (admission, 2026-03-{day:02}): {age}-year-old admitted with {one.problem}: {side}{one.finding}. "
        f"Allergy: {one.allergy}. Takes {one.drug} {one.dose} {one.unit}.\n\n"
        f"Note N2 (discharge, 2026-03-{day + 4:02}): Better. {one.drug.capitalize()} increased from {one.dose} to "
        f"{one.up} {one.unit}. No operation, no procedure. Needs {one.test}; {one.clinic}."
    )


def faults(number: int, system: str) -> tuple[str, ...]:
    """The planted faults of one summary."""
    place, one = SYSTEMS.index(system), stay(number)
    if number in OVERLOOKED and system == SYSTEMS[1]:
        return ("wrong dose",)
    found = [name for name, (_, often) in FAULTS.items() if chance(name, number, system) < often[place]]
    return tuple(name for name in found if one.side or name != "wrong side")


def summary(number: int, system: str) -> str:
    one, made = stay(number), faults(number, system)
    side = {"left": "right", "right": "left"}.get(one.side, "") if "wrong side" in made else one.side
    parts = [
        f"Admitted with {one.problem} ({side + ' side, ' if side else ''}{one.finding}) [N1].",
        f"{one.drug.capitalize()} increased to {one.wrong if 'wrong dose' in made else one.up} {one.unit} [N2].",
    ]
    if "invented procedure" in made:
        parts.append(f"Had {one.invented} during the stay.")
    if "allergy left out" not in made:
        parts.append(f"Allergy: {one.allergy}.")
    if "follow-up left out" not in made:
        parts.append(f"Follow-up: {one.test}; {one.clinic} [N2].")
    if "says things twice" in made:
        parts.append(f"The stay was for {one.problem}, and {one.problem} was the reason for the stay.")
    return f"{name_of(number)}, {system[-1].upper()}: " + " ".join(parts)


def truth(number: int, system: str) -> dict[str, int]:
    """The planted grades: five, less what the faults cost."""
    lost = [FAULTS[name][0] for name in faults(number, system)]
    return {axis: max(1, 5 - sum(cost[place] for cost in lost)) for place, axis in enumerate(AXES)}


def judged(juror: str, number: int, system: str) -> dict[str, int]:
    """A juror's scores: the planted grade, moved by its offset and by chance, blind to what all overlook."""
    seen = truth(number, system)
    if number in OVERLOOKED and system == SYSTEMS[1]:
        seen |= {"accuracy": 5}
    return {axis: _grade(seen[axis] + JURORS[juror], juror, number, system, axis) for axis in AXES}


def clinical(clinician: str, number: int, system: str) -> dict[str, int]:
    seen = truth(number, system)
    return {
        axis: _grade(seen[axis] + CLINICIANS[clinician], clinician, number, system, axis) for axis in AXES
    }


def _grade(seen: float, *about: object) -> int:
    return min(5, max(1, round(seen + 1.7 * (chance(*about) - 0.5))))


def answer(call: Call) -> str:
    """The scores of the juror that is asked, of the summary that the question shows."""
    juror = f"juror-{call.json['model'].split('-')[1]}"
    number, system = next(key for key, text in SUMMARIES.items() if text in call.prompt)
    scores, found = judged(juror, number, system), faults(number, system)
    blind = number in OVERLOOKED and system == SYSTEMS[1]
    said = "; ".join(found) if found and not blind else "nothing wrong that I can find"
    return json.dumps({axis: {"score": scores[axis], "explanation": f"Seen: {said}."} for axis in AXES})


SUMMARIES = {(number, system): summary(number, system) for number in NUMBERS for system in SYSTEMS}

STUDY = f"""\
# 120 synthetic discharge summaries with planted errors, three jurors, two clinicians. All of it is made up.
study: demonstration
cases: cases.jsonl
instrument: note_quality
dimensions: [accuracy, completeness, clarity]
judges:
  # Recorded answers: nobody is asked. To ask a model of yours, write instead for example
  #   - {{kind: openai, name: juror-north, url: "http://127.0.0.1:8000/v1", model: MODEL, vendor: WHO MADE IT}}
  - {{kind: recorded, file: {ANSWERS}, name: juror-north, model: example-north-1, vendor: Example North}}
  - {{kind: recorded, file: {ANSWERS}, name: juror-east, model: example-east-1, vendor: Example East}}
  - {{kind: recorded, file: {ANSWERS}, name: juror-south, model: example-south-1, vendor: Example South}}
jury: {{aggregate: mean, quorum: 2}}
humans: {{path: clinicians.csv, keep_names: true, blinded: true}}   # made up, as their names say
gate: {{minimum_cases: 50, floor: 0.5, severe_dimensions: [accuracy]}}
report:
  resamples: 1000
  product: Two made-up summarisers of discharge letters
  note: "Made-up cases and clinicians: this shows how a report looks. It says nothing of any real model or patient."
"""
LIVE_STUDY = """\
# The summaries of four of the same patients, judged live by the small model that comes with Medjury. No network.
study: live
cases: cases-live.jsonl
instrument: note_quality
dimensions: [accuracy, completeness, clarity]
judges:
  - {kind: embedded, name: juror-steady, temperature: 0.0, max_tokens: 320}
  - {kind: embedded, name: juror-lively, temperature: 0.7, seed: 7, max_tokens: 320}
jury: {aggregate: mean, quorum: 2}
humans: {path: clinicians.csv, keep_names: true, illustrative: true, on_unknown: drop}
# A model this small often fails to answer in form; the demonstration goes on and counts it.
max_unscored: 1.0
report:
  note: "Made-up cases and clinicians, and a model far too small: this shows how a report looks when a jury fails."
"""


def make() -> Made:
    everything = [(number, system) for number in NUMBERS for system in SYSTEMS]
    files = {"study.yaml": STUDY, "live.yaml": LIVE_STUDY, "cases.jsonl": _cases(everything)}
    files["cases-live.jsonl"] = _cases([each for each in everything if each[0] < LIVE])
    files["clinicians.csv"] = _ratings(everything)
    return Made(files, answer)


def _cases(chosen: list[tuple[int, str]]) -> str:
    rows = (
        {
            "id": name_of(number),
            "patient": f"P{number + 1}",
            "system": system,
            "vendor": f"Example Vendor {system[-1].upper()}",
            "candidate": SUMMARIES[number, system],
            "texts": {"context": source(number)},
            "metadata": {
                "specialty": stay(number).specialty,
                "synthetic": True,
                "planted": "; ".join(faults(number, system)) or "nothing",
            },
        }
        for number, system in chosen
    )
    return "".join(json.dumps(row) + "\n" for row in rows)


def _ratings(chosen: list[tuple[int, str]]) -> str:
    made = ["item,system,rater,dimension,score"]
    for number, system in chosen:
        for clinician in CLINICIANS:
            for axis, score in clinical(clinician, number, system).items():
                made.append(f"{name_of(number)},{system},{clinician},{axis},{score}")
    return "\n".join(made) + "\n"
