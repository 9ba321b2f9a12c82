"""The recipe `pairs`: which of three systems writes the better reply, judged two replies at a time.

Replies to patients of the recipe `medhelm-jury`, with their planted grades: who wrote the better one is known. One
of the three judges leans to the answer that it is shown first. To two patients two systems wrote the same.
"""

from __future__ import annotations

import json
import re
from itertools import combinations

from tests.loopback import Call

from recipes._medhelm_texts import ITEMS, REPLIES, name_of, source
from recipes._recording import ANSWERS, Made, chance
from recipes.medhelm_jury import TEXTS, truth

GREETINGS = {"atlas": "Hello. ", "borea": "Thank you for your message. ", "cirrus": "Good morning. "}
SYSTEMS = tuple(GREETINGS)
# How far each judge leans to the first place, in planted grades, and how much it errs.
JUDGES = {"juror-north": (0.0, 6.0), "juror-east": (1.6, 6.0), "juror-south": (0.2, 8.0)}
CLINICIANS = {"clinician-01": 5.0, "clinician-02": 6.0}
TIE = 0.7  # closer than this is a tie
SAME = ("reply-03", "reply-11")  # where borea wrote what atlas wrote
STUDY = f"""\
# Which of three systems writes the better reply to a patient? Two replies at a time. All data are made up.
# Judges see each of 75 pairs in both orders, clinicians in one: by turns the one system is first, or the other.
study: pairs
design: pairs
cases: cases.jsonl
instrument: pairs                       # A is better, B is better, or neither; `pairs_graded` asks by how much
judges:
  # Recorded answers: nobody is asked. To ask a model of yours, write instead for example
  #   - {{kind: openai, name: juror-north, url: "http://127.0.0.1:8000/v1", model: MODEL}}
  - {{kind: recorded, file: {ANSWERS}, name: juror-north, model: example-north-1}}
  - {{kind: recorded, file: {ANSWERS}, name: juror-east, model: example-east-1}}
  - {{kind: recorded, file: {ANSWERS}, name: juror-south, model: example-south-1}}
humans:
  path: clinicians.csv                  # item, first, second, preferred, rater
  keep_names: true                      # these names are made up; leave it out for real ones
  illustrative: true                    # made up: never validates anything. Take it out for real ratings
"""
PAGE = """\
# pairs

Three models compare the replies of three systems, two at a time, beside two clinicians; all data made up.

```
medjury run study.yaml --dry-run      # what the study can show, before anything is spent
medjury run study.yaml                # every pair in both orders
medjury rank runs/pairs               # the systems in order, and what the first place is worth to each rater
medjury rank runs/pairs --beside grades.csv   # do direct grades of the same replies order the systems alike?
medjury audit runs/pairs              # is it the place that decides?
```

Nobody is asked: the answers are in `answers.jsonl.gz`. Each run writes a folder under `runs/` with `report.html`.

What to look at in the report:

- *Which system is preferred*: the order of the systems by the jury, and by the clinicians beside it.
- *Does the place decide?*: juror-east prefers the answer that it is shown first. As every pair was shown in both
  orders, that makes no system stronger.
- Where two systems wrote the same a tie is right: who preferred one of two equal texts is named.

What each number means: `docs/judging/pairs.md` in the source; what is planted: `docs/recipes/pairs.md`.
"""


def numbers() -> list[int]:
    """The items that are replies."""
    return [number for number, (benchmark, _) in enumerate(ITEMS) if benchmark == REPLIES]


def reply(number: int, system: str) -> str:
    """Its text, with a greeting for the system's name that it begins with: nobody is to know who wrote it."""
    writer = "atlas" if system == "borea" and name_of(number) in SAME else system
    return GREETINGS[writer] + TEXTS[number, writer].partition(". ")[2]


def worth(number: int, text: str) -> float:
    """The sum of the planted grades of a reply: equal texts are worth the same."""
    return float(
        max(sum(truth(number, system).values()) for system in SYSTEMS if reply(number, system) == text)
    )


def verdict(who: str, number: int, first: str, second: str, *, lean: float, error: float) -> int:
    """-1 for the first text, 1 for the second, 0 where they are too close. The error is that of the two texts, in
    whatever order they are shown; the lean is to the first."""
    noise = (
        error * (chance(who, number, *sorted((first, second))) - 0.5) * ((first < second) - (second < first))
    )
    difference = worth(number, second) - worth(number, first) - lean + noise
    return 0 if abs(difference) < TIE else (1 if difference > 0 else -1)


def judged(judge: str, number: int, first: str, second: str) -> int:
    lean, error = JUDGES[judge]
    return verdict(judge, number, first, second, lean=lean, error=error)


def answer(call: Call) -> str:
    judge = f"juror-{call.json['model'].split('-')[1]}"
    *others, first, second = re.findall(r"<<<begin [^\n]+>>>\n(.*?)\n<<<end ", call.prompt, re.DOTALL)
    number = next(each for each in numbers() if all(text in others for text in source(each).values()))
    return json.dumps(
        {"preference": {"score": judged(judge, number, first, second), "explanation": "Planted."}}
    )


def make() -> Made:
    files = {"study.yaml": STUDY, "README.md": PAGE, "cases.jsonl": _cases(), "clinicians.csv": _clinicians()}
    return Made({**files, "grades.csv": _grades()}, answer)


def _cases() -> str:
    return "".join(
        json.dumps(
            {
                "id": name_of(number),
                "system": system,
                "candidate": reply(number, system),
                "texts": source(number),
            }
        )
        + "\n"
        for number in numbers()
        for system in SYSTEMS
    )


def _clinicians() -> str:
    made = ["item,first,second,preferred,rater"]
    for name, error in CLINICIANS.items():
        for place, number in enumerate(numbers()):
            for turn, (one, other) in enumerate(combinations(SYSTEMS, 2)):
                first, second = (one, other) if (place + turn) % 2 else (other, one)
                texts = (reply(number, first), reply(number, second))
                chosen = ("first", "tie", "second")[1 + verdict(name, number, *texts, lean=0.0, error=error)]
                made.append(f"{name_of(number)},{first},{second},{chosen},{name}")
    return "\n".join(made) + "\n"


def _grades() -> str:
    """Direct grades of the same replies, by one clinician."""
    made = ["item,system,rater,dimension,score"]
    for number in numbers():
        for system in SYSTEMS:
            grade = worth(number, reply(number, system)) / 3 + 2.0 * (chance("direct", number, system) - 0.5)
            made.append(f"{name_of(number)},{system},clinician-01,overall,{min(5, max(1, round(grade)))}")
    return "\n".join(made) + "\n"
