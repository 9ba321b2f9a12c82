"""The recipe `criteria`: answers of two health assistants, each marked by the criteria of its own question.

What an answer meets is planted: it has the sentence that meets the criterion, or not. One judge overlooks harm, the
answers of one to one question cannot be read, and one criterion has the wrong sign.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from tests.loopback import Call

from recipes._criteria_texts import ALWAYS, CASES, QUESTION, Line
from recipes._recording import ANSWERS, Made, chance

# How likely each assistant meets a criterion with positive points, and one with negative ones.
SYSTEMS = {"assistant-brief": (0.55, 0.15), "assistant-long": (0.8, 0.4)}
# How likely a mark is wrong where the criterion has points, and how likely harm is overlooked.
JUDGES = {"juror-north": (0.05, 0.05), "juror-east": (0.05, 0.6), "juror-south": (0.1, 0.1)}
CLINICIANS = {"clinician-01": 0.04, "clinician-02": 0.06}
UNREADABLE = ("juror-south", "mole")  # what this judge answers here is no answer
LEFT_OUT = ("clinician-02", "sleep", "assistant-brief", 1)  # a criterion that a clinician did not mark
WRONG_SIGN = "Does not say what to do if it gets worse."  # has positive points, as nobody meant it
_FILLER = "Take your time to read this, and write again with further questions. "
STUDY = f"""\
# What is an answer worth by the criteria of its own question? All data are made up.
study: criteria
cases: cases.jsonl
instrument: criteria                    # each criterion met, not met, or not applicable
judges:
  # Recorded answers: nobody is asked. To ask a model of yours, write instead for example
  #   - {{kind: openai, name: juror-north, url: "http://127.0.0.1:8000/v1", model: MODEL}}
  - {{kind: recorded, file: {ANSWERS}, name: juror-north, model: example-north-1}}
  - {{kind: recorded, file: {ANSWERS}, name: juror-east, model: example-east-1}}
  - {{kind: recorded, file: {ANSWERS}, name: juror-south, model: example-south-1}}
jury: {{aggregate: majority}}
max_unscored: 0.1
humans:
  path: clinicians.csv                  # item, system, rater, dimension (the criterion), score (met, not met)
  keep_names: true                      # these names are made up; leave it out for real ones
  illustrative: true                    # made up: never validates anything. Take it out for real ratings
"""
PAGE = """\
# criteria

Three models and two clinicians mark the criteria of each case; scores by HealthBench's rule; all data made up.

```
medjury cases check cases.jsonl       # is the list of criteria sound? One has the wrong sign
medjury run study.yaml
medjury criteria scores runs/criteria --tags      # what the answers of each assistant are worth, by every rater
medjury criteria scores runs/criteria --answers   # answer by answer, with intervals where a mark is missing
medjury agreement runs/criteria       # criterion by criterion, clustered by case
```

Nobody is asked: the answers are in `answers.jsonl.gz`. Each run writes a folder under `runs/` with `report.html`.

What to look at:

- juror-east overlooks harm: see *missed danger* of `harm`, the criteria with negative points.
- juror-south has no score for the question `mole`: its marks could not be read, and are not counted as not met.
- The long answers meet more of everything: compare *score* with *at equal length*.

What each number means: `docs/judging/criteria.md` in the source; what is planted: `docs/recipes/criteria.md`.
"""


def lines(item: str) -> list[Line]:
    """The criteria of a question, the general ones last."""
    more: list[Line] = [*CASES[item][1], *ALWAYS]
    if item == "cough":
        more.append((4, "communication", WRONG_SIGN, ""))
    return more


def met(item: str, system: str, place: int) -> bool:
    """Whether the answer meets the criterion: planted."""
    points, _, criterion, _ = lines(item)[place]
    if criterion == WRONG_SIGN:
        return system == "assistant-brief"
    good, harm = SYSTEMS[system]
    return chance(item, system, place) < (good if points > 0 else harm)


def text(item: str, system: str) -> str:
    """The sentences of what is met, in the order of the criteria; with more around them in the long assistant's."""
    there = [line[3] for place, line in enumerate(lines(item)) if line[3] and met(item, system, place)]
    words = " ".join(there) or "I cannot say anything about this."
    more = int(4 * chance("filler", item, system)) - (system == "assistant-brief")
    return f"{words} {_FILLER * max(0, more)}".strip()


def mark(rater: str, item: str, system: str, place: int) -> bool:
    """What a rater says of a criterion."""
    truth = met(item, system, place)
    if rater in CLINICIANS:
        wrong = CLINICIANS[rater]
    else:
        error, overlooked = JUDGES[rater]
        wrong = overlooked if truth and lines(item)[place][0] < 0 else error
    return truth != (chance("mark", rater, item, system, place) < wrong)


def answer(call: Call) -> str:
    judge = f"juror-{call.json['model'].split('-')[1]}"
    *_, question, candidate = re.findall(r"<<<begin [^\n]+>>>\n(.*?)\n<<<end ", call.prompt, re.DOTALL)
    item = next(name for name, (asked, _) in CASES.items() if asked == question)
    system = next(each for each in SYSTEMS if text(item, each) == candidate)
    if (judge, item) == UNREADABLE:
        return "All of these seem fine to me."
    names = [name for name in (call.schema or {})["properties"] if name != "token"]
    marks = {
        name: {
            "explanation": "Planted." if mark(judge, item, system, place) else "It is not there.",
            "score": int(mark(judge, item, system, place)),
        }
        for place, name in enumerate(names)
    }
    return json.dumps(marks)


def make() -> Made:
    files = {"study.yaml": STUDY, "README.md": PAGE, "cases.jsonl": _cases(), "clinicians.csv": _clinicians()}
    return Made(files, answer)


def _cases() -> str:
    return "".join(
        json.dumps(
            {
                "id": item,
                "system": system,
                "candidate": text(item, system),
                "texts": {QUESTION: question},
                "criteria": [
                    {"text": criterion, "points": points, "tags": [f"axis:{tag}"]}
                    for points, tag, criterion, _ in lines(item)
                ],
            }
        )
        + "\n"
        for item, (question, _) in CASES.items()
        for system in SYSTEMS
    )


def _clinicians() -> str:
    def rows() -> Iterator[str]:
        yield "item,system,rater,dimension,score"
        for rater in CLINICIANS:
            for item in CASES:
                for system in SYSTEMS:
                    for place, line in enumerate(lines(item)):
                        if (rater, item, system, place) != LEFT_OUT:
                            word = "met" if mark(rater, item, system, place) else "not met"
                            yield f'{item},{system},{rater},"{line[2]}",{word}'

    return "\n".join(rows()) + "\n"
