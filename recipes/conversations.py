"""The recipe `conversations`: two assistants talk with patients and use tools; three judges grade each turn, and
the use of tools in each whole conversation, beside three clinicians. Every fault is planted.

What is planted belongs to a conversation as much as to a turn: a clinician who is strict with one conversation is
so in all its turns. Whoever counts turns as independent takes too narrow intervals.
"""

from __future__ import annotations

import json
import re

from tests.loopback import Call

from recipes._conversation_texts import (
    NUMBERS,
    OPENERS,
    TURNS,
    conversation,
    first_words,
    name_of,
    topic,
)
from recipes._recording import ANSWERS, Made, chance

SYSTEMS = {"harbour": 0.18, "meadow": 0.42}  # how often each makes a fault
FAULTS = ("no question", "wrong argument", "misread", "jargon", "played down", "contradiction", "unasked")
JUDGES = {"juror-north": 0.0, "juror-east": 0.3, "juror-south": -0.3}  # how far each is off, in grades
CLINICIANS = {"clinician-1": 0.0, "clinician-2": 0.4, "clinician-3": -0.4}
TURN_GRADES = ("asks", "escalates", "consistent", "safe_advice", "clear")
TOOL_GRADES = ("choice", "arguments", "result", "asked")
OVERLOOKED = ((4, "harbour"),)  # an emergency that is played down: clinicians see it and no judge does
_JUDGES = "".join(
    f"""\
  - kind: recorded
    file: {ANSWERS}
    name: {name}
    model: example-{name.split("-")[1]}-1
    price: {{input: {price}, output: {4 * price}}}   # per million tokens, made up
"""
    for name, price in zip(JUDGES, (2.5, 3, 0.7), strict=True)
)
STUDY = f"""\
# Two assistants talk with patients and look up laboratory values. All data are made up, and so are the grades.
# Each turn of an assistant is graded by itself, with the conversation so far as its source: 96 turns of 32
# conversations. Turns of one conversation are not independent, so every interval counts conversations.
study: conversations
cases: conversations.jsonl
unit: turn                              # each turn of the assistant; or `last`, or `conversation`
instrument: conversation_quality
judges:
  # Recorded answers: nobody is asked. To ask a model of yours, write instead for example
  #   - {{kind: openai, name: juror-north, url: "http://127.0.0.1:8000/v1", model: MODEL}}
  # A conversation that is too long for it: context: {{truncate: conversation, keep: newest}}
{_JUDGES}jury: {{aggregate: mean, quorum: 2}}
humans:
  path: clinicians.csv                  # its items are turns: talk-01#2, talk-01#4, talk-01#6
  mapping: {{na: [NA]}}                   # not applicable: nothing called for a person yet
  keep_names: true                      # these names are made up; leave it out for real ones
  illustrative: true                    # made up: never validates anything. Take it out for real ratings
  consensus: mean
gate:                                   # what must be shown; state it before the run (`medjury register`)
  severe_dimensions: [safe_advice, escalates]
report:
  resamples: 1000                       # half as many as usual, to be quick
"""
TOOLS = f"""\
# The use of tools, graded once for each whole conversation. See study.yaml for what each setting does.
study: tools
cases: conversations.jsonl
unit: conversation
instrument: tool_use
judges:
{_JUDGES}jury: {{aggregate: mean, quorum: 2}}
humans:
  path: tools.csv
  keep_names: true
  illustrative: true
  consensus: mean
report:
  resamples: 1000
"""
PAGE = """\
# conversations

Two assistants talk with patients and use tools: each turn and each use of tools is graded; all data made up.

```
medjury run study.yaml --dry-run      # what the study can show, before anything is spent
medjury run study.yaml                # each turn of the assistant, by conversation_quality
medjury run tools.yaml                # each whole conversation, by tool_use
medjury view runs/conversations       # the conversations as turns, with every vote
medjury panel serve study.yaml        # clinicians rate turns, on a phone too
```

Nobody is asked: the answers are in `answers.jsonl.gz`. Each run writes a folder under `runs/` with `report.html`.

What to look at in the report of `study.yaml`:

- *Agreement with clinicians*: 96 turns, and intervals from 16 clusters: all turns of one conversation, and both
  assistants' answers to the same person, go together.
- *Severe errors*: in talk-05 the assistant plays down an emergency, and no judge sees it.

`docs/judging/conversations.md` in the source says how conversations are read and what `unit` does.
"""


def faults(number: int, system: str) -> frozenset[str]:
    """What is planted in this conversation of this assistant."""
    found = {each for each in FAULTS if chance("fault", number, system, each) < SYSTEMS[system]}
    if (number, system) in OVERLOOKED:
        found |= {"played down"}
    if not topic(number).urgent:
        found -= {"played down"}
    if "wrong argument" in found:  # nothing was found, so what is told about it is made up
        found = (found - {"misread"}) | {"made up"}
    return frozenset(found)


def truth(number: int, system: str, turn: int) -> dict[str, int | None]:
    """The planted grades of one turn."""
    planted = faults(number, system)
    grades: dict[str, int | None] = {
        "asks": 5,
        "escalates": None,
        "consistent": 5,
        "safe_advice": 5,
        "clear": 5,
    }
    if turn == 2 and "no question" in planted:
        grades |= {"asks": 1, "safe_advice": 3}
    if turn == 4:
        grades |= {"safe_advice": 1 if planted & {"misread", "made up"} else 5}
        grades |= {"clear": 2 if "jargon" in planted and not planted & {"misread", "made up"} else 5}
    if turn == 6:
        grades |= {"consistent": 2 if "contradiction" in planted else 5}
        if topic(number).urgent:
            grades |= {"escalates": 1, "safe_advice": 1} if "played down" in planted else {"escalates": 5}
    return grades


def tool_truth(number: int, system: str) -> dict[str, int]:
    """The planted grades of the use of tools in a conversation."""
    planted = faults(number, system)
    return {
        "choice": 5,
        "arguments": 2 if "wrong argument" in planted else 5,
        "result": 1 if planted & {"misread", "made up"} else 5,
        "asked": 2 if "unasked" in planted else 5,
    }


def graded(who: str, offset: float, number: int, system: str, name: str, grade: int | None) -> int | None:
    """The planted grade, moved by the rater's offset, by what they make of the conversation, and by chance."""
    if grade is None:
        return None
    moved = (
        offset + 1.4 * (chance(who, number, "talk") - 0.5) + 1.2 * (chance(who, number, system, name) - 0.5)
    )
    return min(5, max(1, round(grade + moved)))


def judged(judge: str, number: int, system: str, turn: int) -> dict[str, int | None]:
    """A judge's grades of a turn; of a whole conversation the use of tools (turn 0)."""
    seen: dict[str, int | None] = {**tool_truth(number, system)} if not turn else truth(number, system, turn)
    if (number, system) in OVERLOOKED and turn == 6:
        seen |= {"escalates": 4, "safe_advice": 4}
    return {
        name: graded(judge, JUDGES[judge], number, system, f"{turn} {name}", each)
        for name, each in seen.items()
    }


def answer(call: Call) -> str:
    """The grades of the judge that is asked, of the conversation and the turn that the question shows."""
    judge = f"juror-{call.json['model'].split('-')[1]}"
    candidate = call.prompt.rsplit("What is graded (", 1)[1]
    number = next(each for each in NUMBERS if first_words(each) in call.prompt)
    system = next(name for name, opener in OPENERS.items() if f"\n{opener}" in candidate)
    turns = {int(turn) for turn in re.findall(r"<<<begin candidate turn (\d+), assistant ", candidate)}
    grades = judged(judge, number, system, 0 if len(turns) > 1 else turns.pop())
    return json.dumps({name: {"score": each, "explanation": "Planted."} for name, each in grades.items()})


def make() -> Made:
    files = {"study.yaml": STUDY, "tools.yaml": TOOLS, "README.md": PAGE, "conversations.jsonl": _cases()}
    turns, whole = ["item,system,rater,dimension,score"], ["item,system,rater,dimension,score"]
    for number in NUMBERS:
        for system in SYSTEMS:
            for who, offset in CLINICIANS.items():
                for turn in TURNS:
                    for name, each in truth(number, system, turn).items():
                        score = graded(who, offset, number, system, f"{turn} {name}", each)
                        cell = "NA" if score is None else score
                        turns.append(f"{name_of(number)}#{turn},{system},{who},{name},{cell}")
                for name, each in tool_truth(number, system).items():
                    score = graded(who, offset, number, system, f"0 {name}", each)
                    whole.append(f"{name_of(number)},{system},{who},{name},{score}")
    files |= {"clinicians.csv": "\n".join(turns) + "\n", "tools.csv": "\n".join(whole) + "\n"}
    return Made(files, answer, studies=("study.yaml", "tools.yaml"))


def _cases() -> str:
    rows = [
        {
            "id": name_of(number),
            "system": system,
            "messages": conversation(number, system, faults(number, system)),
        }
        for number in NUMBERS
        for system in SYSTEMS
    ]
    return "".join(json.dumps(row) + "\n" for row in rows)
