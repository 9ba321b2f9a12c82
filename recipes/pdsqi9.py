"""The recipe `pdsqi9`: summaries of several notes, graded by physicians and by judges in five ways, truth planted.

The design is that of Croxford et al. (npj Digit Med 2025): zero-shot, five-shot and deliberating judges side by
side against the median of seven physicians. All records, summaries and grades are made up.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache

from tests.loopback import Call

from medjury.models import Reply
from recipes._pdsqi9_study import MAPPING, PAGE, STUDY
from recipes._pdsqi9_texts import COURSES, facts, note_count, notes, stigmatized, summary
from recipes._recording import Made, chance

Grades = dict[str, int | None]
GRADED = (
    "citation",
    "accurate",
    "thorough",
    "useful",
    "organized",
    "comprehensible",
    "succinct",
    "synthesized",
)
DIMENSIONS = (*GRADED[:7], "abstraction", "synthesized", "stigmatizing_summary", "stigmatizing_notes")
SYSTEMS = {"aster-writer": 4.1, "birch-writer": 3.1, "cedar-writer": 2.4}  # how good each is, in grades
CASES, DRAWS, LOT = 48, 7, "lot 19"
# Of each physician: how far off in grades, specialty, years in practice, seniority.
PHYSICIANS = {
    "physician-1": (0.2, "internal medicine", 18, "senior"),
    "physician-2": (-0.2, "family medicine", 22, "senior"),
    "physician-3": (0.0, "surgery", 12, "senior"),
    "physician-4": (0.3, "emergency medicine", 4, "junior"),
    "physician-5": (-0.3, "neurology", 9, "senior"),
    "physician-6": (0.1, "paediatrics", 3, "junior"),
    "physician-7": (-0.1, "gynaecology", 2, "junior"),
}
# Of each judge: how often it is a grade too kind, how often a grade too severe.
JUDGES = {
    "reasoner-zero-shot": (0.18, 0.04),
    "reasoner-five-shot": (0.12, 0.04),
    "general-zero-shot": (0.22, 0.05),
    "small-zero-shot": (0.0, 0.0),  # knows the ends of the scale only
    "agents": (0.18, 0.18),
}
HARD_FOR_GENERAL = ("citation", "organized", "synthesized")  # here it is too kind in 6 of 10
KIND_TO = "surgery"  # on summaries for surgeons reasoner-zero-shot is too kind in 7 of 10
SECONDS = {"example-reasoner": 3.0, "example-general": 1.5, "example-small": 4.0}  # of each call
_CANDIDATE = re.compile(r"<<<begin candidate ([0-9a-f]+)>>>\n(.*?)\n<<<end candidate \1>>>", re.DOTALL)


def item(number: int) -> str:
    return f"summary-{number + 1:02}"


def is_development(number: int) -> bool:
    """One patient of each course of illness is there to draw examples from."""
    return number // len(COURSES) == number % len(COURSES) % 4


def system(number: int) -> str:
    """One writer a patient, drawn by lot, the first more often."""
    drawn = chance("writer", number)
    return "aster-writer" if drawn < 0.44 else "birch-writer" if drawn < 0.74 else "cedar-writer"


def clipped(grade: float) -> int:
    return min(5, max(1, round(grade)))


@cache
def truth(number: int) -> Mapping[str, int | None]:
    """The planted grades of a summary. Where nothing has to be brought together, `synthesized` does not apply."""
    level = SYSTEMS[system(number)] + 1.6 * (chance("level", number) - 0.5)
    grades: Grades = {name: clipped(level + 2.6 * (chance("truth", number, name) - 0.5)) for name in GRADED}
    grades["abstraction"] = int(chance("abstraction", number) < 0.75)
    if not grades["abstraction"]:
        grades["synthesized"] = None
    grades["stigmatizing_summary"] = int(stigmatized(number) and chance("repeated", number) < 0.7)
    grades["stigmatizing_notes"] = int(stigmatized(number))
    return grades


def physicians_of(number: int) -> list[str]:
    """All seven rated what is held out; three each what examples are drawn from."""
    names = list(PHYSICIANS)
    return [names[(3 * number + step) % 7] for step in range(3)] if is_development(number) else names


def physician_grades(name: str, number: int) -> Grades:
    """What a physician says: the planted grade, moved by habit and by a little chance."""
    said = dict(truth(number))
    for each in GRADED:
        if (grade := said[each]) is not None:
            said[each] = clipped(grade + PHYSICIANS[name][0] + 2.2 * (chance(name, number, each) - 0.5))
    if name == "physician-7" and not is_development(number):  # sees what calls for abstraction less often
        _answer_yes_or_no(said, "abstraction", chance(name, number, "abstraction") < 0.15, only=1)
    for each in ("stigmatizing_summary", "stigmatizing_notes"):
        _answer_yes_or_no(said, each, chance(name, number, each) < 0.04)
    return said


def _answer_yes_or_no(said: Grades, dimension: str, otherwise: bool, only: int | None = None) -> None:
    """Change an answer. Who sees no need of abstraction grades none, as the instrument has it."""
    if not otherwise or (only is not None and said[dimension] != only):
        return
    said[dimension] = 1 - (said[dimension] or 0)
    if dimension == "abstraction":
        said["synthesized"] = 3 if said[dimension] else None


def judge_grades(judge: str, number: int) -> Grades:
    """The grades that a judge comes to: of its seven draws the median, of the deliberation the decision."""
    said = dict(truth(number))
    for each in GRADED:
        if (grade := said[each]) is None:
            continue
        kind, severe = JUDGES[judge]
        if judge == "general-zero-shot" and each in HARD_FOR_GENERAL:
            kind = 0.6
        if judge == "reasoner-zero-shot" and COURSES[number % len(COURSES)][0] == KIND_TO:
            kind = 0.7
        drawn = chance(judge, number, each, LOT)
        moved = grade + (1 if drawn < kind else -1 if drawn > 1 - severe else 0)
        if judge == "small-zero-shot":
            moved = 5 if (grade >= 3) != (drawn < 0.15) else 1
        said[each] = clipped(moved)
    for each in ("abstraction", "stigmatizing_summary", "stigmatizing_notes"):
        _answer_yes_or_no(
            said, each, chance(judge, number, each) < (0.2 if judge == "small-zero-shot" else 0.12)
        )
    return said


def drawn_grades(judge: str, number: int, draw: int) -> Grades:
    """One of seven draws: in each dimension at most three are a grade off, so that the median is as planted."""
    said = judge_grades(judge, number)
    for each in GRADED:
        if (grade := said[each]) is not None:
            off = int(chance(judge, number, each, "off") * 4)
            first = int(chance(judge, number, each, "first") * DRAWS)
            if (draw - first) % DRAWS < off:
                said[each] = clipped(grade + (1 if chance(judge, number, each, "side") < 0.5 else -1))
    return said


def agrees_at_once(number: int) -> bool:
    return number % 3 == 0


def agent_grades(persona: str, number: int) -> Grades:
    """The first grading of an agent: the moderator holds what will be decided, the others lean in two."""
    said = judge_grades("agents", number)
    step = {"high_scorer": 1, "low_scorer": -1, "moderator": 0}[persona]
    for each in () if agrees_at_once(number) else ("accurate", "organized"):
        said[each] = clipped((said[each] or 1) + step)
    return said


def answer(call: Call) -> str:
    """What is asked, answered from the planted truth: a draw of a single judge, or a step of the deliberation."""
    last = call.json["messages"][-1]["content"]
    found = _CANDIDATE.search(last)
    assert found is not None, "a question without a summary"
    number = int(found[2].split()[1].rstrip(".")) - 1
    if "# Your part now" in last:
        return _deliberated(number, last, set(call.schema["properties"]) if call.schema else set())
    model = call.json["model"].removeprefix("example-")
    judge = f"{model}-{'five-shot' if len(call.json['messages']) > 2 else 'zero-shot'}"
    return json.dumps(drawn_grades(judge, number, call.json["seed"]))


def _deliberated(number: int, question: str, wanted: set[str]) -> str:
    if "speaker" in wanted:
        ended = "Turn 1," in question
        choice: dict[str, object] = {
            "assessment": "The severe reading was taken back."
            if ended
            else "Two readers see faults differently.",
            "speaker": "nobody" if ended else "low_scorer",
            "about": "all",
            "question": "" if ended else "Which sentence of the notes speaks against the summary?",
        }
        return json.dumps(choice | ({"progress": True} if "progress" in wanted else {}))
    if "statement" in wanted:
        settled = judge_grades("agents", number)
        open_ones = [
            name for name in ("accurate", "organized") if f'"{name}": ' in question.split("grades")[-1]
        ]
        words = f"The notes bear the summary out: {facts(number)[0]} I take my first grading back."
        return json.dumps({"statement": words, "grades": {name: settled[name] for name in open_ones}})
    persona = re.search(r"You are (\w+), one of", question)
    grades = agent_grades(persona[1], number) if persona else judge_grades("agents", number)
    why = f"Read against note n1: {facts(number)[0]}"
    return json.dumps({name: {"explanation": why, "score": grades[name]} for name in DIMENSIONS})


def words(text: str) -> int:
    return len(re.findall(r"\w+", text))


def case(number: int) -> dict[str, object]:
    record, written = notes(number), summary(number, truth(number))
    known = {"specialty": COURSES[number % len(COURSES)][0], "notes_read": f"{note_count(number)} notes"}
    lengths = {"length": words(written), "note_length": sum(words(note["text"]) for note in record)}
    return {"id": item(number), "patient": f"patient-{number + 1:02}", "system": system(number),
            "candidate": written, "notes": record, "metadata": known | lengths}  # fmt: skip


def make() -> Made:
    rows = [",".join(("summary", "physician", "physician_specialty", "years", "seniority", *DIMENSIONS))]
    for number in range(CASES):
        for name in physicians_of(number):
            said = physician_grades(name, number)
            scores = ("" if said[each] is None else str(said[each]) for each in DIMENSIONS)
            rows.append(",".join((item(number), name, *map(str, PHYSICIANS[name][1:]), *scores)))
    development = [item(number) for number in range(CASES) if is_development(number)]
    files = {
        "study.yaml": STUDY,
        "README.md": PAGE,
        "cases.jsonl": "".join(json.dumps(case(number)) + "\n" for number in range(CASES)),
        "physicians.csv": "\n".join(rows) + "\n",
        "physicians.yaml": MAPPING,
        "development.txt": "\n".join(development) + "\n",
    }
    return Made(files, answer, seconds)


def seconds(reply: Reply) -> float:
    return SECONDS[reply.model or ""]
