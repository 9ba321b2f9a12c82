"""The recipe `diagnosis-jury`: diagnostic opinions graded by three judges and two clinicians, truth planted.

A first, small version: eight synthetic cases, each with one opinion of a routine service and one of a system.
"""

from __future__ import annotations

import json

from tests.loopback import Call

from recipes._recording import ANSWERS, Made, chance

DIMENSIONS = ("diagnosis", "differential", "reasoning", "risk")
# Presentation, right diagnosis, what must not be missed, and a wrong diagnosis that looks like it.
CASES = (
    (
        "fever and cough for five days",
        "community-acquired pneumonia",
        "pulmonary embolism",
        "acute bronchitis",
    ),
    ("chest pain on effort for two weeks", "unstable angina", "aortic dissection", "musculoskeletal pain"),
    ("sudden severe headache", "subarachnoid haemorrhage", "meningitis", "migraine"),
    ("right lower abdominal pain since yesterday", "appendicitis", "ectopic pregnancy", "gastroenteritis"),
    ("weight loss, thirst and tiredness", "type 1 diabetes", "hyperthyroidism", "depression"),
    ("swollen painful calf after a flight", "deep vein thrombosis", "cellulitis", "muscle strain"),
    ("palpitations and tremor", "hyperthyroidism", "atrial fibrillation", "panic disorder"),
    ("burning on passing urine", "urinary tract infection", "pyelonephritis", "vaginitis"),
)
JUDGES = {"juror-north": 0.0, "juror-east": 0.3, "juror-south": -0.3}  # how far each is off, in grades
STUDY = f"""\
# Three judges and their jury grade diagnostic opinions against a panel's reference. All data are made up.
study: diagnosis-jury
cases: cases.jsonl
instrument: diagnosis
judges:
  - {{kind: recorded, file: {ANSWERS}, name: juror-north, model: example-north-1, vendor: Example North}}
  - {{kind: recorded, file: {ANSWERS}, name: juror-east, model: example-east-1, vendor: Example East}}
  - {{kind: recorded, file: {ANSWERS}, name: juror-south, model: example-south-1, vendor: Example South}}
jury: {{aggregate: mean, quorum: 2}}
humans: {{path: clinicians.csv, keep_names: true, illustrative: true}}
"""
PAGE = """\
# diagnosis-jury

Three judges grade diagnostic opinions on four dimensions, beside two clinicians; data and answers are made up.

Run it: `medjury run study.yaml`. Nobody is asked: the answers are in `answers.jsonl.gz`.
"""


def truth(number: int, system: str) -> dict[str, int]:
    """The planted grades of one opinion: the system errs in every fourth case, the routine in every second."""
    wrong = number % (4 if system == "assistant" else 2) == 1
    return {"diagnosis": 2 if wrong else 5, "differential": 3 if wrong else 4, "reasoning": 2 if wrong else 4,
            "risk": 4 if wrong else 1}  # fmt: skip


def opinion(number: int, system: str) -> str:
    complaint, right, other, mistaken = CASES[number]
    named = right if truth(number, system)["diagnosis"] == 5 else mistaken
    return (
        f"Case {number + 1}, {system}. Primary diagnosis: {named}. Differential: {other}. "
        f"Reasoning: the history of {complaint} fits {named}."
    )


def graded(rater: str, offset: float, number: int, system: str) -> dict[str, int]:
    """What a rater says: the planted grade, moved by its offset and by a little chance."""
    found = {}
    for name, grade in truth(number, system).items():
        moved = grade + offset + 1.2 * (chance(rater, number, system, name) - 0.5)
        found[name] = min(5, max(1, round(moved)))
    return found


def answer(call: Call) -> str:
    """The grades of the judge that is asked, of the case and system that the question shows."""
    judge = f"juror-{call.json['model'].split('-')[1]}"
    number, system = next(
        (n, s) for n in range(len(CASES)) for s in ("assistant", "routine") if opinion(n, s) in call.prompt
    )
    grades = graded(judge, JUDGES[judge], number, system)
    return json.dumps(
        {name: {"explanation": f"Planted {name}.", "score": grades[name]} for name in DIMENSIONS}
    )


def make() -> Made:
    rows, ratings = [], ["item,system,rater,dimension,score"]
    for number, (complaint, right, other, _) in enumerate(CASES):
        for system in ("assistant", "routine"):
            reference = f"Panel: {right}; consider {other}. Reasoning: {complaint} with typical findings."
            case = {"id": f"case-{number + 1}", "patient": f"patient-{number + 1}", "system": system}
            rows.append(case | {"candidate": opinion(number, system), "reference": reference})
            for rater in ("clinician-1", "clinician-2"):
                for name, grade in graded(rater, 0.0, number, system).items():
                    ratings.append(f"case-{number + 1},{system},{rater},{name},{grade}")
    cases = "".join(json.dumps(row) + "\n" for row in rows)
    return Made(
        {
            "study.yaml": STUDY,
            "README.md": PAGE,
            "cases.jsonl": cases,
            "clinicians.csv": "\n".join(ratings) + "\n",
        },
        answer,
    )
