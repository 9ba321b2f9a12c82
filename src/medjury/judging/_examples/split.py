"""The training side of a study: cases that clinicians graded and that judges may be shown as examples.

A split never parts what belongs together: the answers of all systems to one item, all items of one patient,
and items that share a record or a note. What is on the training side is never counted in a validation.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches

from medjury.foundation.errors import MedjuryError
from medjury.instruments import Instrument, Unscored
from medjury.intake.cases import Case, Redactor
from medjury.judging._examples.consensus import Consensus, consensus_of
from medjury.judging._examples.sketch import sketch_of
from medjury.judging._prompt import question_text
from medjury.store.ratings import Rating

# Two items that share a note, or all that is known beside the answer, of at least this many characters are taken
# for the same patient's. Shorter texts (a specialty, a standing instruction) are shared by cases that have nothing
# to do with each other; the whole of a record is less often so than one note.
_TELLING_NOTE, _TELLING_RECORD = 400, 100
_MOST_COMPARED = 1_000
_ITEM = "item "


@dataclass(frozen=True, slots=True)
class WorkedExample:
    """An answer that clinicians graded: the question as a judge gets it, and what they said. `kin` are the marks
    of everything that belongs to it (see `kin_of`): no case that bears one of them may be shown it, nor one whose
    record is nearly the same by its `sketch`."""

    item: str
    system: str
    question: str
    scores: Mapping[str, int | None]
    explanations: Mapping[str, str]
    kin: frozenset[str]
    sketch: frozenset[int] = frozenset()


@dataclass(frozen=True)
class TrainingSplit:
    """What may be shown, and all that is held apart for it. `rated` counts the answers that any clinician rated,
    `left_out` those that cannot be shown, by reason; `held_out` the rated items that remain for validation."""

    examples: tuple[WorkedExample, ...]
    development: tuple[str, ...]
    rated: int
    left_out: Mapping[str, int]
    held_out: int

    def fingerprint(self) -> str:
        """SHA-256 of every example and of every item on the training side."""
        content = [
            list(self.development),
            [
                [each.item, each.system, each.question, dict(each.scores), dict(each.explanations),
                 sorted(each.kin)]
                for each in self.examples
            ],
        ]  # fmt: skip
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def kin_of(case: Case, instrument: Instrument) -> frozenset[str]:
    """The marks by which a case is known to belong to another: its item, its patient and, hashed, the whole of its
    record and each note of it, where they are long enough to be nobody else's."""
    marks = [f"{_ITEM}{case.id}"]
    if case.patient:
        marks.append(f"patient {case.patient}")
    # A note tells whose case it is, whether or not the instrument shows it.
    marks += [mark for note in case.notes if (mark := _mark("note", note.text, _TELLING_NOTE))]
    whole = _mark("record", record_of(case, instrument), _TELLING_RECORD)
    return frozenset([*marks, whole] if whole else marks)


def record_of(case: Case, instrument: Instrument) -> str:
    """All that the instrument shows of a case but the answer under judgement."""
    record: list[str] = []
    for wanted in instrument.inputs:
        value = None if wanted.name == "candidate" else case.input(wanted.name)
        record += [value] if isinstance(value, str) else [note.text for note in value or ()]
    return " ".join(record)


def record_sketch(case: Case, instrument: Instrument) -> frozenset[int]:
    """The sketch of a record; empty where it is too short to tell."""
    record = record_of(case, instrument)
    return sketch_of(record) if len(record) >= _TELLING_RECORD else frozenset()


def _mark(kind: str, text: str, least: int) -> str:
    if len(text) < least:
        return ""
    plain = " ".join(text.casefold().split()).encode("utf-8", "surrogatepass")
    return f"{kind} {hashlib.sha256(plain).hexdigest()[:16]}"


def split_training(
    cases: Iterable[Case],
    ratings: Iterable[Rating],
    instrument: Instrument,
    *,
    share: float = 0.3,
    items: Collection[str] | None = None,
    seed: int = 0,
    clinicians: int = 2,
    redactor: Redactor | None = None,
) -> TrainingSplit:
    """Set a `share` of the answers that clinicians graded apart, or the named `items` with all that belongs to
    them. The cases are read two or three times and only the texts of those set apart are kept; with a `redactor`
    these, and the clinicians' comments on them, are redacted before they are kept.

    An answer can be shown where `clinicians` or more rated every dimension of it (see `consensus_of`).
    """
    if iter(cases) is cases:
        raise MedjuryError(
            "the cases are read more than once, and these can be read only once; give a list or a reader"
        )
    agreed, left_out, rated = _agreed(ratings, instrument, clinicians)
    families, there = families_of(cases, instrument, rated)
    left_out["there is no such case"] += len(agreed.keys() - there)
    agreed = {answer: said for answer, said in agreed.items() if answer in there}
    chosen = _drawn(families, agreed, share, seed) if items is None else _named(families, items)
    training = {item for family in chosen for item in family.items}
    shown = training if items is None else set(items)
    kin = {item: family.marks for family in chosen for item in family.items}
    examples = []
    for case in cases:
        if case.id not in shown or (case.id, case.system) not in agreed:
            continue
        made = _work(case, agreed[case.id, case.system], kin[case.id], instrument, redactor)
        if made is None:
            left_out["the case lacks an input that the instrument needs"] += 1
        else:
            examples.append(made)
    everyone = {item for family in families for item in family.items}
    return TrainingSplit(
        tuple(examples), tuple(sorted(training)), len(rated), dict(+left_out), len(everyone - training)
    )


@dataclass(slots=True)
class Family:
    """Items that belong together, and every mark that any of their cases bears."""

    items: set[str]
    marks: frozenset[str]


Answers = Mapping[tuple[str, str], Consensus]


def _agreed(
    ratings: Iterable[Rating], instrument: Instrument, clinicians: int
) -> tuple[dict[tuple[str, str], Consensus], Counter[str], set[tuple[str, str]]]:
    """The consensus on every answer that has one; why the others have none; and all that were rated."""
    rows: dict[tuple[str, str], list[Rating]] = {}
    for row in ratings:
        if row.rater_kind == "clinician":
            rows.setdefault((row.item, row.system), []).append(row)
    agreed: dict[tuple[str, str], Consensus] = {}
    left_out: Counter[str] = Counter()
    for answer, given in rows.items():
        found = consensus_of(instrument, given, clinicians)
        if isinstance(found, str):
            left_out[found] += 1
        else:
            agreed[answer] = found
    return agreed, left_out, set(rows)


def families_of(
    cases: Iterable[Case], instrument: Instrument, rated: Collection[tuple[str, str]]
) -> tuple[list[Family], set[tuple[str, str]]]:
    """The rated items, grouped so that any two that share a mark, at whatever remove, are together; and the
    rated answers that are really there."""
    items = {item for item, _ in rated}
    parent: dict[str, str] = {}

    def head(mark: str) -> str:
        while parent[mark] != mark:
            parent[mark] = mark = parent[parent[mark]]
        return mark

    found: set[tuple[str, str]] = set()
    others_there = False
    for case in cases:
        if case.id not in items:
            others_there = True
            continue
        if (case.id, case.system) in rated:
            found.add((case.id, case.system))
        first, *others = kin_of(case, instrument)
        parent.setdefault(first, first)
        for mark in others:
            parent.setdefault(mark, mark)
            parent[head(mark)] = head(first)
    if others_there:  # a case that nobody rated may tell that two rated ones are of one patient
        for case in cases:
            if case.id not in items:
                known = [mark for mark in kin_of(case, instrument) if mark in parent]
                for mark in known[1:]:
                    parent[head(mark)] = head(known[0])
    together: dict[str, set[str]] = {}
    for mark in parent:
        together.setdefault(head(mark), set()).add(mark)
    families = [
        Family({mark.removeprefix(_ITEM) for mark in marks if mark.startswith(_ITEM)}, frozenset(marks))
        for marks in together.values()
    ]
    return sorted(families, key=lambda family: min(family.items)), found


def _drawn(families: Iterable[Family], agreed: Answers, share: float, seed: int) -> list[Family]:
    """Families in an order that the seed alone decides, until the share of the answers is reached. A family's
    place does not depend on what else is in the study."""
    answers: Counter[str] = Counter(item for item, _ in agreed)
    able = [family for family in families if any(answers[item] for item in family.items)]
    wanted = math.ceil(share * len(agreed) - 1e-9)  # 0.3 of 10 is 3
    chosen: list[Family] = []
    taken = 0
    for family in sorted(able, key=lambda each: chance(seed, min(each.items))):
        if taken >= wanted:
            break
        taken += sum(answers[item] for item in family.items)
        chosen.append(family)
    return chosen


def _named(families: Iterable[Family], items: Collection[str]) -> list[Family]:
    known = {item: family for family in families for item in family.items}
    for item in items:
        if item not in known:
            close = get_close_matches(item, list(known)[:_MOST_COMPARED], n=1)
            hint = f"did you mean {close[0]!r}?" if close else "name one that is in the ratings"
            raise MedjuryError(f"{item!r} is no case that a clinician rated; {hint}")
    found = {id(known[item]): known[item] for item in items}
    return list(found.values())


def _work(
    case: Case, said: Consensus, kin: frozenset[str], instrument: Instrument, redactor: Redactor | None
) -> WorkedExample | None:
    explanations = said.explanations
    if redactor is not None:
        case = redactor.redact(case).case
        explanations = redactor.redact(Case(case.id, texts=explanations)).case.texts
        kin = kin | kin_of(case, instrument)  # a case is met again with its redacted record
    question = question_text(instrument, case)
    if isinstance(question, Unscored):
        return None
    return WorkedExample(
        case.id, case.system, question, said.scores, dict(explanations), kin, record_sketch(case, instrument)
    )


def chance(seed: int, *words: str) -> str:
    """A place in an order that is random, the same on every machine, and independent of the other places."""
    return hashlib.sha256("\0".join([str(seed), *words]).encode("utf-8", "surrogatepass")).hexdigest()
