"""From a study to lessons: what is learned from, as files that anybody may read before anything is trained."""

from __future__ import annotations

import hashlib
import json
import random
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from medjury.foundation.errors import MedjuryError
from medjury.foundation.files import private_folder, write_whole
from medjury.instruments import Instrument
from medjury.intake.cases import Case, Redactor, make_redactor
from medjury.judging import Family, consensus_of, deal_families, families_of
from medjury.store.ratings import Rating, open_store
from medjury.store.runs import files as run_files
from medjury.studies import Humans, StatedSplit, Study, read_rules
from medjury.tuning.training._questions import (
    Question,
    Rejection,
    plain_judge,
    preferences,
    questions,
)

# The sides of a training: what is learned from, what is looked at while learning, and what is never touched.
#
# What belongs together (the answers to one item, the items of one patient, items that share a record) stays
# together.

HELD_OUT = 0.2  # 40 of 200, as in Croxford et al. (2025)
# Of the training side: the paper speaks of evaluation losses, not of how many cases they take.
DEVELOPMENT = 0.1


def split_sides(
    cases: Iterable[Case],
    rated: Collection[tuple[str, str]],
    instrument: Instrument,
    *,
    held_out: float = HELD_OUT,
    development: float = DEVELOPMENT,
    named: Collection[str] = (),
    seed: int = 0,
) -> StatedSplit:
    """Shares of the rated answers, or, from 1 on, numbers of them. Where the study names development cases, these
    alone are learned from and all others held out, but for what belongs to one of them."""
    families, there = families_of(cases, instrument, rated)
    answers = Counter(item for item, _ in there)
    own = {item for each in families for item in each.items}
    if named:
        own &= set(named)
        apart = [each for each in families if each.items.isdisjoint(own)]
        kept = Counter({item: count for item, count in answers.items() if item in own})
        looked_at, learned = deal_families(families, kept, [development], seed=seed)
    else:
        apart, looked_at, learned = deal_families(families, answers, [held_out, development], seed=seed)
    if not learned:
        where = "the study's development cases" if named else f"{held_out:g} held out"
        raise MedjuryError(
            f"nothing is left to learn from: {len(there):,} rated answers in {len(families):,} groups that belong "
            f"together, with {where} and {development:g} for development; ask for less of both, or name more cases"
        )
    return StatedSplit(_items(learned) & own, _items(looked_at) & own, _items(apart), "patient")


def _as_stated(split: StatedSplit, rated: Collection[str]) -> StatedSplit:
    """The split that the study file states, of the cases that clinicians rated."""
    train, validation, held_out = (
        part.intersection(rated) for part in (split.train, split.validation, split.held_out)
    )
    if not train:
        raise MedjuryError(
            "nothing is left to learn from: no clinician rated a case of the part `train` of the study's `split`"
        )
    return StatedSplit(train, validation, held_out, split.group)


def _items(families: Iterable[Family]) -> frozenset[str]:
    return frozenset(item for each in families for item in each.items)


# Lessons for supervised training: one completion for every clinician who rated an answer (Croxford et al. 2025).
#
# No rater dominates: each has as many completions as the one who has most, some of them shown again.

INCOMPLETE = "a clinician did not grade every dimension, or gave what the instrument does not allow"


def completions(asked: Iterable[Question], left_out: Counter[str]) -> list[dict[str, Any]]:
    """One completion per clinician and question. Who rated an answer twice is heard once, by the median."""
    made = []
    for question in asked:
        by_rater: dict[str, list[Rating]] = {}
        for row in question.ratings:
            by_rater.setdefault(row.rater, []).append(row)
        for rater, rows in sorted(by_rater.items()):
            said = consensus_of(question.instrument, rows, 1)
            if isinstance(said, str):
                left_out[INCOMPLETE] += 1
                continue
            made.append(question.lesson(rater, completion=said))
    return made


def upsampled(rows: Sequence[dict[str, Any]], seed: int) -> list[dict[str, Any]]:
    """The same rows and copies of them, so that every rater has as many as the one with most: first all rows of a
    rater again, then a seeded draw of them, none twice, for what still lacks."""
    by_rater: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        by_rater.setdefault(row["rater"], []).append(row)
    most = max((len(own) for own in by_rater.values()), default=0)
    even: list[dict[str, Any]] = []
    for rater, own in sorted(by_rater.items()):
        times, rest = divmod(most, len(own))
        drawn = random.Random(f"{seed} {rater}").sample(range(len(own)), rest)
        even += own * times + [own[index] for index in sorted(drawn)]
    return even


Method = Literal["sft", "dpo"]
DATA, TRAIN, DEVELOPMENT_FILE = "data.json", "train.jsonl", "development.jsonl"


@dataclass(frozen=True, slots=True)
class Lessons:
    """Rows in the form that trainers take, the cases they touch, and `facts`: how they came about."""

    train: tuple[Mapping[str, Any], ...]
    development: tuple[Mapping[str, Any], ...]
    case_hashes: tuple[str, ...]
    items: tuple[str, ...]
    marks: tuple[str, ...]
    facts: Mapping[str, Any]

    def text(self) -> str:
        """What is learned from, what is not, and why, in a few lines."""
        facts = self.facts
        sides = {name: len(items) for name, items in facts["sides"].items()}
        lines = [
            f"{facts['lessons']:,} lessons from {sides['training']:,} cases, {facts['development']:,} to look at "
            f"from {sides['development']:,}; {sides['held_out']:,} cases are held out"
        ]
        lines += [f"left out: {count:,} ({why})" for why, count in facts["left_out"].items()]
        return "\n".join([*lines, *facts["notes"]])

    def write(self, folder: Path) -> None:
        """The rows, what they are, and the cases that no later validation may count."""
        private_folder(folder)
        files = {TRAIN: _lines(self.train), DEVELOPMENT_FILE: _lines(self.development)}
        for name, text in files.items():
            write_whole(folder / name, text)
        hashes = {name: hashlib.sha256(text.encode()).hexdigest() for name, text in files.items()}
        touched = {name: list(getattr(self, name)) for name in ("case_hashes", "items", "marks")}
        touched["study"] = self.facts["study"]
        write_whole(folder / run_files.TOUCHED, json.dumps(touched, indent=1) + "\n")
        write_whole(
            folder / DATA, json.dumps({**self.facts, "files": hashes}, indent=1, ensure_ascii=False) + "\n"
        )


def read_lessons(folder: Path) -> Lessons:
    """The lessons that `write` wrote; a file that was changed since is refused."""
    if not (folder / DATA).is_file():
        raise MedjuryError(
            f"{folder} has no {DATA}; make the lessons first: medjury train sft|dpo STUDY --data-only"
        )
    facts = json.loads((folder / DATA).read_text(encoding="utf-8"))
    for name, stated in facts.pop("files").items():
        if hashlib.sha256((folder / name).read_bytes()).hexdigest() != stated:
            raise MedjuryError(
                f"{folder / name} is not what {DATA} says; make the lessons again from the study"
            )
    touched = json.loads((folder / run_files.TOUCHED).read_text(encoding="utf-8"))
    rows = [
        tuple(json.loads(line) for line in (folder / name).read_text(encoding="utf-8").splitlines())
        for name in (TRAIN, DEVELOPMENT_FILE)
    ]
    hashes, items, marks = (tuple(touched[name]) for name in ("case_hashes", "items", "marks"))
    return Lessons(rows[0], rows[1], hashes, items, marks, facts)


def make_lessons(
    study: Study,
    method: Method,
    *,
    judge: str | None = None,
    rejection: Rejection = Rejection(),  # noqa: B008 - frozen
    clinicians: int = 2,
    held_out: float = HELD_OUT,
    development: float = DEVELOPMENT,
    even: bool = True,
    seed: int = 0,
) -> Lessons:
    """The lessons of a study's clinicians for one of its judges. `even` shows some completions of raters with few
    again, so that no rater dominates."""
    asking = plain_judge(_named(study, judge))
    rated = _clinicians(study)
    named: Collection[str] = ()
    if study.split is not None:
        sides = _as_stated(study.split, {row.item for row in rated})
    else:
        named = read_rules(study.file)[0].development_cases
        sides = split_sides(
            study.cases, {(row.item, row.system) for row in rated}, asking.instrument,
            held_out=held_out, development=development, named=named, seed=seed,
        )  # fmt: skip
    left_out: Counter[str] = Counter()
    asked = questions(asking, study.cases, (row for row in rated if row.item in sides.learned), left_out)
    notes: tuple[str, ...] = ()
    if method == "sft":
        lessons = completions(asked, left_out)
    else:
        judged = _judged(study) if rejection.rule == "worst_judge" else ()
        lessons, notes = preferences(asked, rejection, left_out, clinicians=clinicians, judged=judged)
    learned = [row for row in lessons if row["item"] in sides.train]
    if method == "sft" and even:
        before = len(learned)
        learned = upsampled(learned, seed)
        notes = (f"{len(learned) - before:,} completions are shown again, so that no rater dominates",)
    looked_at = [row for row in lessons if row["item"] in sides.validation]
    if not learned:
        why = "; ".join(f"{reason}: {count:,}" for reason, count in left_out.items())
        raise MedjuryError(
            f"there is nothing to learn from: {why or 'no clinician rated a case of the study'}"
        )
    if study.split is not None:
        notes = (
            *notes,
            "the sides are those of the study's `split`; --held-out and --development change nothing",
        )
    if named:
        notes = (*notes, "learned from the study's own development cases; all other cases are held out")
    facts = {
        "method": method,
        "study": study.name,
        "study_hash": hashlib.sha256(study.file.read_bytes()).hexdigest(),
        "instrument": f"{asking.instrument.name} {asking.instrument.version}",
        "instrument_hash": asking.instrument.fingerprint(),
        "judge": asking.name,
        "judge_settings_hash": asking.settings_hash(),
        "lessons": len(learned),
        "development": len(looked_at),
        "left_out": dict(left_out),
        "notes": list(notes),
        "seed": seed,
        "sides": {
            "training": sorted(sides.train),
            "development": sorted(sides.validation),
            "held_out": sorted(sides.held_out),
        },
        "rejected": None if method == "sft" else {"rule": rejection.rule, "binary": rejection.binary},
    }
    return Lessons(
        tuple(learned),
        tuple(looked_at),
        tuple(sorted({each.case_hash for each in asked})),
        tuple(sorted({each.item for each in asked})),
        tuple(sorted({mark for each in asked for mark in each.marks})),
        facts,
    )


def _named(study: Study, name: str | None) -> Any:
    judges = {each.name: each for each in study.jury.judges}
    if study.drafter is not None:
        raise MedjuryError(
            "this study has yet to draft what is judged; write the drafts first (`medjury draft STUDY --cases "
            "FILE`) and train on a study of that file"
        )
    if name is None:
        return next(iter(judges.values()))
    if name not in judges:
        raise MedjuryError(f"the study has no judge {name!r}; it has {', '.join(judges)}")
    return judges[name]


def _clinicians(study: Study) -> list[Rating]:
    """What the clinicians of the reference said; comments are redacted where the study redacts."""
    humans = Humans.read(study)
    if humans is None:
        raise MedjuryError(
            "a judge learns from clinicians, and the study names no ratings of theirs; add `humans`"
        )
    rows = [row for row in humans.ratings if row.rater in humans.reference]
    redactor = None
    if study.settings.redact:
        redactor = make_redactor(study.settings.redact, folder=study.file.resolve().parent)
    if redactor is None:
        return rows
    return [replace(row, explanation=_redacted(row.explanation, redactor)) for row in rows]


def _redacted(words: str, redactor: Redactor) -> str:
    return redactor.redact(Case("", texts={"said": words})).case.texts["said"] if words else ""


def _judged(study: Study) -> Iterable[Rating]:
    """What the judges of the study said, from its store."""
    if "://" not in study.store and not Path(study.store).is_file():
        raise MedjuryError(
            "the rule worst_judge needs judges' own answers, and the study was not run yet; run it first"
        )
    with open_store(study.store) as store:
        yield from store.ratings()


def _lines(rows: Iterable[Mapping[str, Any]]) -> str:
    return "".join(json.dumps(row, ensure_ascii=True) + "\n" for row in rows)
