"""The recipe `diagnosis-jury`: a jury of three models grades diagnoses against an expert panel's, truth planted.

Fifty-four invented patients (of `_vignettes`), each with the ward's diagnosis and those of six systems.
What an answer says follows from its planted grades, and so does what every rater says of it: the grade, moved by
how strict the rater is and by chance. Three studies are made of it: the jury beside two panels, the jury with the
ward's diagnosis as the reference, and the jury asked again and again.
"""

from __future__ import annotations

import csv
import io
import json
from functools import cache
from typing import NamedTuple

from tests.loopback import Call

from recipes._diagnosis_texts import TEXTS
from recipes._recording import Made, chance
from recipes._vignettes import VIGNETTES, Vignette

DIMENSIONS = ("diagnosis", "differential", "reasoning", "risk")
CASES = 54
WARD = "ward"
SYSTEMS = {  # how good each is (share of the way to a full grade), and its vendor
    "north-large": (0.95, "Example North"),
    "south-think": (0.85, "Example South"),
    "east-pro": (0.75, "Example East"),
    "west-fast": (0.55, "Example West"),
    "north-small": (0.45, "Example North"),
    "east-flash": (0.30, "Example East"),
}
TESTED = ("north-large", "east-pro", "west-fast")  # those that are held against the ward
# How strict each judge is, in grades, how far chance moves it between answers, and between repeats of one answer.
JUDGES = {
    "juror-north": (0.75, 0.9, 0.5),
    "juror-east": (1.0, 1.1, 0.9),
    "juror-south": (0.4, 0.9, 0.2),
}
PANELS = {"primary": (-0.2, 1.3), "rescore": (0.0, 4.2)}  # the same of the panels, which are asked once
# Dangerous answers in which judges see no danger, although the panel does: all of them, or one.
BLIND = {3: tuple(JUDGES), 21: tuple(JUDGES), 10: ("juror-east",)}


class Answer(NamedTuple):
    """One answer by what was planted: the case, and the true grades against the panel's diagnosis."""

    number: int
    diagnosis: int
    differential: int
    reasoning: int | None
    risk: int

    @property
    def case(self) -> str:
        return f"case-{self.number + 1:02d}"


def vignette(number: int) -> Vignette:
    return VIGNETTES[number % len(VIGNETTES)]


def routine_is_wrong(number: int) -> bool:
    """Planted: in three of ten cases the ward is wrong."""
    return number % 10 in (2, 5, 8)


def labelled(number: int, system: str) -> bool:
    """Whether the primary panel scored this answer: one system's for each case, and a fourth of the ward's."""
    if system == WARD:
        return number % 4 == number // len(SYSTEMS) % 4
    return number % len(SYSTEMS) == list(SYSTEMS).index(system)


def rescored(number: int, system: str) -> bool:
    """Whether the second panel scored it too: a third of every system's, none of the ward's."""
    return system != WARD and labelled(number, system) and number % 3 == number // len(SYSTEMS) % 3


def whole(value: float) -> int:
    return min(5, max(1, int(value + 0.5)))


def wave(*about: object) -> float:
    """Chance from -1 to 1, more often near 0."""
    return chance(*about, 1) + chance(*about, 2) - 1


@cache
def planted(number: int, system: str) -> Answer:
    """The true grades of one answer against the panel's diagnosis."""
    if system == WARD:
        diagnosis = int(chance("ward", number) * 3) + 1 if routine_is_wrong(number) else 4 + number % 2
    else:
        skill = SYSTEMS[system][0]
        diagnosis = whole(1.2 + 3.8 * skill + 2.6 * wave("diagnosis", number, system))
    if number in BLIND and labelled(number, system) and system != WARD:
        diagnosis = 1
    differential = whole(3.4 + 2.4 * wave("differential", number, system))
    reasoning = None if system == WARD else whole(diagnosis + 1.4 * wave("reasoning", number, system))
    looked_for = 1 if differential >= 4 and diagnosis < 4 and number not in BLIND else 0
    return Answer(number, diagnosis, differential, reasoning, whole(6 - diagnosis - looked_for))


def against_the_ward(answer: Answer) -> Answer:
    """The true grades where the ward's diagnosis is the reference: where the ward is wrong, who is right looks
    wrong, and who is wrong in the same way looks right."""
    ward = planted(answer.number, WARD).diagnosis
    if ward > 3:
        return answer
    seen = {5: 3, 4: 3, 3: 5, 2: 2, 1: 1} if ward == 3 else {5: 1, 4: 1, 3: 2, 2: 4, 1: 5}
    diagnosis = seen[answer.diagnosis]
    reasoning = None if answer.reasoning is None else diagnosis
    return Answer(answer.number, diagnosis, answer.differential, reasoning, 6 - diagnosis)


def opinion(answer: Answer) -> str:
    """The words of an answer, by its grades. They tell neither the system nor the case's number."""
    case = vignette(answer.number)
    named = {5: f"{case.right}; {case.second}", 4: case.right, 3: case.partly,
             2: f"{case.mistaken}; {case.second}", 1: case.mistaken}[answer.diagnosis]  # fmt: skip
    considered = {5: f"{case.danger}, {case.other}", 4: f"{case.danger}, {case.other}, {case.odd}", 3: case.danger,
                  2: f"{case.other}, {case.odd}", 1: case.odd}[answer.differential]  # fmt: skip
    first = named.split(";")[0]
    reasons = {
        5: f"{case.complaint} with {case.finding} makes {first} the cause; the alternatives were weighed.",
        4: f"{case.complaint} with {case.finding} fits {first}.",
        3: f"{case.complaint} fits {first}; the findings were not weighed.",
        2: f"{first} is common.",
        1: f"{first} fits although {case.finding} speaks against it.",
        None: "not recorded.",
    }[answer.reasoning]
    return f"Diagnoses: {named}. Differential: {considered}. Reasoning: {reasons}"


def patient(number: int) -> str:
    case, old = vignette(number), chance("age", number)
    if case.child:
        return f"a {2 + int(9 * old)}-year-old {'girl' if number % 2 else 'boy'}"
    return f"a {24 + int(55 * old)}-year-old {'woman' if number % 2 else 'man'}"


def reference(number: int, *, ward: bool = False) -> str:
    """What the judges take as right: the panel's diagnoses, or the ward's."""
    case = vignette(number)
    if ward:
        return f"Ward, {patient(number)}. {opinion(planted(number, WARD))}"
    return (
        f"Panel, {patient(number)}. Diagnoses: {case.right}; {case.second}. Differential: {case.danger}, "
        f"{case.other}. Reasoning: {case.complaint} with {case.finding}; {case.mistaken} was excluded."
    )


def heard(rater: str, answer: Answer, *, ward: bool = False, seed: int = 0) -> dict[str, int | None]:
    """What a rater says of an answer: the planted grade, moved by strictness and chance. More risk is stricter."""
    true = against_the_ward(answer) if ward else answer
    strict, spread, again = (*PANELS[rater], 0.0) if rater in PANELS else JUDGES[rater]
    said: dict[str, int | None] = {}
    for name in DIMENSIONS:
        grade = getattr(true, name)
        if grade is None:
            said[name] = None
            continue
        moved = spread * wave(rater, answer, ward, name) + again * wave(rater, answer, ward, name, seed)
        if rater in JUDGES:  # judges err alike
            moved += 0.7 * wave("judges", answer, ward, name)
        said[name] = whole(grade + (moved + strict if name == "risk" else moved - strict))
    if rater in BLIND.get(answer.number, ()) and answer.diagnosis == 1 and not ward:
        said["risk"] = 2
    if rater == "primary" and answer.number in BLIND and answer.diagnosis == 1:
        said["risk"] = 5
    return said


_WHY = {
    "diagnosis": (
        "nothing agrees",
        "little agrees",
        "the main one is partly right",
        "most agree",
        "all agree",
    ),
    "differential": (
        "none is considered",
        "a danger is missing",
        "half are there",
        "most are there",
        "all are there",
    ),
    "reasoning": ("it contradicts", "most is missing", "a step is missing", "a detail is missing", "sound"),
    "risk": (
        "treatment is the same",
        "small differences",
        "a delay that matters",
        "serious harm",
        "a threat to life",
    ),
}


@cache
def _asked() -> dict[tuple[str, str], tuple[Answer, bool]]:
    """By reference and answer, as they stand in a question, what was planted."""
    return {
        (reference(number, ward=ward), opinion(planted(number, system))): (planted(number, system), ward)
        for number in range(CASES)
        for system in (*SYSTEMS, WARD)
        for ward in (False, True)
    }


def answer(call: Call) -> str:
    """The grades of the judge that is asked, of the answer and against the reference that the question shows."""
    judge = f"juror-{call.json['model'].split('-')[1]}"
    shown = [key for key in _asked() if key[0] in call.prompt and key[1] in call.prompt.replace(key[0], "")]
    found, ward = _asked()[max(shown, key=lambda key: len(key[1]))]
    grades = heard(judge, found, ward=ward, seed=call.json.get("seed") or 0)
    told = {name: {"explanation": _because(name, grade), "score": grade} for name, grade in grades.items()}
    return json.dumps(told)


def _because(name: str, grade: int | None) -> str:
    if grade is None:
        return "No reasoning was recorded."
    return f"Against the reference: {_WHY[name][grade - 1]}."


def cases(*, ward: bool = False, only_rescored: bool = False) -> str:
    """The answers, one a line; with `ward` those of some systems against the ward's diagnosis."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(("id", "patient", "system", "candidate", "reference"))
    for number in range(CASES):
        for system in TESTED if ward else (*SYSTEMS, WARD):
            if only_rescored and not rescored(number, system):
                continue
            found = planted(number, system)
            about = (found.case, f"patient-{number + 1:02d}", system)
            writer.writerow((*about, opinion(found), reference(number, ward=ward)))
    return out.getvalue()


def clinicians() -> str:
    """Both panels' grades. A panel is specialists who agree on one grade, so it is one rater."""
    lines = ["item,system,rater,panel,dimension,score,status,routine_is_wrong"]
    for number in range(CASES):
        for system in (*SYSTEMS, WARD):
            for panel in ("primary", "rescore"):
                if not (labelled(number, system) if panel == "primary" else rescored(number, system)):
                    continue
                found = planted(number, system)
                for name, grade in heard(panel, found).items():
                    score = ",not_applicable" if grade is None else f"{grade},scored"
                    who = f"{panel} panel,{panel}"
                    lines.append(f"{found.case},{system},{who},{name},{score},{routine_is_wrong(number):d}")
    return "\n".join(lines) + "\n"


def make() -> Made:
    return Made(
        {
            **TEXTS,
            "cases.csv": cases(),
            "cases-ward-reference.csv": cases(ward=True),
            "cases-rescored.csv": cases(only_rescored=True),
            "clinicians.csv": clinicians(),
        },
        answer,
        studies=("study.yaml", "ward-reference.yaml", "stability.yaml"),
    )
