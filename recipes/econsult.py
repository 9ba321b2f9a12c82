"""The recipe `econsult`: drafted answers to eConsults held against the specialist's by four judges that read both
and one that checks claims, beside three physicians; truth planted.

Every verdict is planted by name: `PHYSICIANS` and `READERS` list the cases in which a rater departs from the
planted one; a draft has as many supported and contradicting sentences as `PARTS` says. They are in econsult.yaml.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from tests.loopback import Call

from recipes._econsult_pages import INSTRUMENT, PAGE, STUDY
from recipes._recording import Made

SYSTEM = "draft-assistant"
AGES = ((34, "18 to 34"), (49, "35 to 49"), (64, "50 to 64"), (999, "65 or more"))
SENTENCES = Path(__file__).with_name("econsult.yaml")
# In every draft, of those that the specialist does not address.
COMMON = (
    "This assessment rests on the chart alone, without an examination.",
    "New or worse symptoms should lead to an earlier visit.",
    "The plan should be discussed with the patient.",
)
# Of the concordant (c) and the discordant (d) cases, counted from 0 in the order of the cases.
PHYSICIANS = {
    "physician-1": "c3 d7",
    "physician-2": "c0 c5 c9 d2 d10 d15",
    "physician-3": "c2 c13 d4 d13 d18",
}
NOT_RATED = {"physician-3": "c1 c6 c11 c16 d1 d6 d11 d16"}
READERS = {
    "reader-north": "d2 d4 d7 d10 d13",
    "reader-east": "c0 c9 d2 d7 d13 d18",
    "reader-south": "c2 c5 c14 d0 d4 d8 d10 d15",
    "reader-west": "c3 c8 c13 c19 d3 d7 d12",
}
CHECKER = "claim-checker"
# What a draft makes of the specialist's five sentences: 1 agrees, 0 goes against it, - is left out.
PARTS = {
    "concordant": "11111",  # a supported share of 1
    "nearly": "11110",  # 0.80, concordant by the threshold
    "missed": "111-0",  # 0.75: concordant for physicians, not for the claims
    "discordant": "0111-",  # 0.75
    "opposed": "011-0",  # 0.50
    "overlooked": "01111",  # 0.80: one claim decides, and the share does not see it
}
MISSED, OVERLOOKED = "c3 c9 c13 c17", "d0 d2 d5 d7 d10 d13 d15 d18"
# Of the cases that a rater calls concordant, counted from 0, those in which it prefers the draft.
PREFERS_DRAFT = {
    "physician-1": lambda number: number % 3 == 0,
    "physician-2": lambda number: number % 5 != 4,
    "physician-3": lambda number: number % 8 == 0,
    "reader-north": lambda number: number % 4 != 3,
    "reader-east": lambda number: number % 3 == 0,
    "reader-south": lambda number: True,
}
FIRST_ALWAYS = "reader-west"  # prefers whatever it reads first: it has no stable preference


@dataclass(frozen=True)
class Consult:
    """One case: its place among the concordant or discordant ones (`c3`), and the sentences of both answers."""

    id: str
    place: str
    specialty: str
    age: int
    sex: str
    question: str
    specialist: tuple[str, ...]
    parts: tuple[
        tuple[str, str, str], ...
    ]  # the draft: sentence, verdict, the specialist's sentence it rests on

    @property
    def concordant(self) -> bool:
        return self.place[0] == "c"

    @property
    def reference(self) -> str:
        return " ".join(self.specialist)

    @property
    def draft(self) -> str:
        return " ".join(sentence for sentence, _, _ in self.parts)


@cache
def consults() -> tuple[Consult, ...]:
    """The forty cases: of the two patients of a question one in turn has a concordant draft."""
    made, places = [], {"c": 0, "d": 0}
    for number, scene in enumerate(yaml.safe_load(SENTENCES.read_text(encoding="utf-8"))):
        for which, (age, sex) in enumerate(scene["patients"]):
            kind = "c" if which == number % 2 else "d"
            place = f"{kind}{places[kind]}"
            places[kind] += 1
            who = f"{age}-year-old {'woman' if sex == 'female' else 'man'}"
            made.append(
                Consult(
                    f"econsult-{len(made) + 1:02d}", place, scene["specialty"], age, sex,
                    scene["question"].format(patient=who), tuple(said for said, _ in scene["agreed"]),
                    tuple(_parts(scene, place)),
                )
            )  # fmt: skip
    return tuple(made)


def _form(place: str) -> str:
    number = int(place[1:])
    if place[0] == "c":
        return "missed" if place in MISSED.split() else "nearly" if number % 6 == 4 else "concordant"
    return "overlooked" if place in OVERLOOKED.split() else "opposed" if number % 3 == 0 else "discordant"


def _parts(scene: dict[str, Any], place: str) -> Iterable[tuple[str, str, str]]:
    opposite = {0: scene["against"], 4: scene["detail"]}
    for number, sign in enumerate(PARTS[_form(place)]):
        said, agreeing = scene["agreed"][number]
        if sign == "1":
            yield agreeing, "supported", said
        elif sign == "0":
            yield opposite[number], "not_supported", said
    # Three to five sentences more, by the number of the case.
    for sentence in (*scene["extra"], *COMMON)[: 3 + int(place[1:]) % 3]:
        yield sentence, "not_addressed", ""


def verdict(rater: str, consult: Consult) -> int | None:
    """The planted verdict on concordance: None where a physician did not rate the case."""
    if rater == CHECKER:
        verdicts = [each for _, each, _ in consult.parts]
        supported, against = verdicts.count("supported"), verdicts.count("not_supported")
        return int(5 * supported >= 4 * (supported + against))
    if consult.place in NOT_RATED.get(rater, "").split():
        return None
    departs = consult.place in (PHYSICIANS | READERS)[rater].split()
    return int(consult.concordant != departs)


def preference(rater: str, consult: Consult) -> int | None:
    """1 the draft, -1 the specialist's answer, 0 neither; None where the rater does not call them concordant."""
    if not verdict(rater, consult):
        return None
    if rater == FIRST_ALWAYS:
        return 0
    called = [each.id for each in consults() if verdict(rater, each)]
    return 1 if PREFERS_DRAFT[rater](called.index(consult.id)) else -1


def answer(call: Call) -> str:
    """What the model says that is asked, from the planted truth."""
    asked = call.json["messages"][-1]["content"]
    judge = next(name for name in (*READERS, CHECKER) if name.split("-")[1] in call.json["model"])
    consult = next(each for each in consults() if each.question in asked)
    if judge == CHECKER:
        return json.dumps(_claims(consult) if "Text to take apart" in asked else _verdicts(consult, asked))
    if "preferred" in call.schema["properties"]:
        return json.dumps(_preferred(judge, consult, asked))
    found = verdict(judge, consult)
    why = "The advice is the same in what matters." if found else "The central advice is not the same."
    return json.dumps({"concordant": {"score": found, "explanation": why}})


def _claims(consult: Consult) -> dict[str, Any]:
    weight = {"supported": 2, "not_supported": 2, "not_addressed": 1}
    return {
        "claims": [
            {"quote": sentence, "claim": sentence, "importance": 3 if number == 0 else weight[found]}
            for number, (sentence, found, _) in enumerate(consult.parts)
        ]
    }


def _verdicts(consult: Consult, asked: str) -> dict[str, Any]:
    claims = asked.partition("Claim ")[2]
    number = int(claims.partition(":")[0])
    _, found, said = next(each for each in consult.parts if each[0] in claims)
    why = "The specialist says nothing of it." if found == "not_addressed" else "The specialist speaks of it."
    told = {"number": number, "explanation": why, "verdict": found, "evidence": [said] if said else []}
    return {"verdicts": [told]}


def _preferred(judge: str, consult: Consult, asked: str) -> dict[str, Any]:
    if judge == FIRST_ALWAYS:
        return {"preferred": 1, "reason": "It reads more clearly."}
    draft_first = asked.index(consult.draft) < asked.index(consult.reference)
    wanted = draft_first == (preference(judge, consult) == 1)
    return {"preferred": 1 if wanted else 2, "reason": "It is easier to act on."}


def make() -> Made:
    cases, ratings = [], ["item,system,rater,specialty,seniority,dimension,score"]
    for each in consults():
        group = next(name for most, name in AGES if each.age <= most)
        cases.append(
            {
                "id": each.id, "patient": f"patient-{each.id[-2:]}", "system": SYSTEM,
                "texts": {"question": each.question}, "reference": each.reference, "candidate": each.draft,
                "metadata": {"specialty": each.specialty, "age_group": group, "sex": each.sex},
            }
        )  # fmt: skip
        for rater in PHYSICIANS:
            if (found := verdict(rater, each)) is None:
                continue
            about = f"{each.id},{SYSTEM},{rater},internal medicine,attending"
            ratings.append(f"{about},concordant,{found}")
            if found:
                ratings.append(f"{about},preference,{preference(rater, each)}")
    files = {
        "study.yaml": STUDY,
        "instrument.yaml": INSTRUMENT,
        "README.md": PAGE,
        "cases.jsonl": "".join(json.dumps(case) + "\n" for case in cases),
        "physicians.csv": "\n".join(ratings) + "\n",
    }
    return Made(files, answer)
