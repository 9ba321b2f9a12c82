"""One look at a file: its kind, its columns or speakers, three rows, the mapping, what is lost, what it answers."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from medjury.foundation.errors import MedjuryError
from medjury.foundation.files import whole_file
from medjury.intake.cases import is_healthbench_file, is_marks_file
from medjury.studies.inspection._grades import scale_part, usual_scale
from medjury.studies.inspection._propose import Kind, lines_of_mapping
from medjury.studies.inspection._recognise import head, recognise
from medjury.tables import CRITERION, usual_values

if TYPE_CHECKING:
    from medjury.intake.cases import CaseReader
    from medjury.store.ratings import Rating


# What a file can answer today, and what is missing for the rest.


@dataclass(frozen=True, slots=True)
class Facts:
    """What is in a file, as far as questions depend on it."""

    family: str
    readable: bool = False
    clinicians: int = 0
    judges: int = 0
    systems: int = 0
    repeats: int = 0
    shared: int = 0  # items that two raters or more have rated
    answers: int = 0  # cases with an answer to judge

    @property
    def raters(self) -> int:
        return self.clinicians + self.judges


# A question, the command that answers it, and what the file lacks ("" where it lacks nothing).
Question = tuple[str, str, Callable[[Facts], str]]


def _agreement(facts: Facts) -> str:
    if facts.raters < 2:
        return "scores of a second rater"
    return "" if facts.shared else "items that two raters have rated"


def _trust(facts: Facts) -> str:
    if not facts.judges:
        return "judges' scores of the same items (or `rater_kind: judge` in the mapping, where these are a judge's)"
    return "" if facts.clinicians else "clinicians' scores of the same items"


_OF_RATINGS = (
    ("How well do the raters agree?", "medjury agreement", _agreement),
    ("May the judges be trusted?", "medjury validate HUMANS JUDGES", _trust),
    ("Which system is better?", "medjury rank", lambda facts: "" if facts.systems > 1 else
             "scores of a second system, in a column that names it"),
    ("Does a rater give the same score twice?", "medjury audit", lambda facts: "" if facts.repeats else
             "repeated scores, in a column that numbers them (`repeat`)"),
    ("What is the mean quality by few labels and many judge scores?", "medjury estimate", _trust),
)  # fmt: skip
_OF_CASES = (
    ("How good are these answers, by a jury of models?", "medjury run", lambda facts: "" if facts.answers
             else "answers to judge (`candidate`); `medjury draft` writes some"),
    ("May that jury be trusted?", "medjury report", lambda facts: "clinicians' ratings of these cases"),
)  # fmt: skip
_OF_TRANSCRIPTS = (
    ("Which clinically important words did recognition change?", "medjury transcripts GOLD RECOGNISED",
             lambda facts: "the other transcript of the same call (what was said, or what was recognised)"),
)  # fmt: skip
_OF_RUNS = (
    ("May this jury be trusted, and for what?", "medjury report", lambda facts: ""),
    ("Is the folder as it was written?", "medjury runs verify", lambda facts: ""),
)  # fmt: skip
_QUESTIONS = {"ratings": _OF_RATINGS, "store": _OF_RATINGS, "cases": _OF_CASES, "transcript": _OF_TRANSCRIPTS,
              "run": _OF_RUNS}  # fmt: skip


def asked(facts: Facts) -> list[tuple[str, str, str]]:
    """Every question that such a file may answer, the command for it, and what is missing."""
    unread = "a mapping by which the file can be read"
    return [
        (question, command, lacks(facts) if facts.readable else unread)
        for question, command, lacks in _QUESTIONS.get(facts.family, ())
    ]


_LONGEST_CELL = 40
_ASKED = ("item", "system", "rater", "rater_kind", "dimension", "repeat")
_MOST_NAMED = 8  # raters, dimensions and grades that are listed by name


@dataclass(frozen=True, slots=True)
class Look:
    """What was found. `problem` is why the file cannot be read as it is, with the way out."""

    file: str
    kind: Kind
    facts: Facts
    columns: tuple[str, ...] = ()
    speakers: tuple[str, ...] = ()
    samples: tuple[tuple[str, ...], ...] = ()
    read: str = ""
    counts: Mapping[str, Any] = field(default_factory=dict)
    lost: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    problem: str = ""
    other: str = ""  # what reading it as the other of ratings and cases gives

    def mapping_text(self) -> str:
        """The mapping as YAML."""
        import yaml

        if not self.kind.mapping:
            return ""
        return str(yaml.safe_dump(self.kind.mapping, sort_keys=False, allow_unicode=True, width=100))

    def to_json(self) -> str:
        questions = [
            dict(zip(("question", "command", "missing"), each, strict=True)) for each in asked(self.facts)
        ]
        found = {
            "file": self.file, "family": self.kind.family, "kind": self.kind.name, "columns": self.columns,
            "speakers": self.speakers, "samples": self.samples, "mapping": self.kind.mapping, "read": self.read,
            "counts": self.counts, "guessed": [
                {"question": each.question, "default": each.suggested.words if each.suggested else "",
                 "answers": {answer.words: answer.option for answer in each.answers}}
                for each in self.kind.doubts
            ],
            "lost": dict(self.lost), "notes": self.notes, "problem": self.problem, "questions": questions,
            "other": {self.kind.other: self.other} if self.kind.other else {},
        }  # fmt: skip
        return json.dumps(found, ensure_ascii=False, indent=2)

    def text(self) -> str:
        """The look in words."""
        lines = [f"{self.file}: {self.kind.name}"]
        lines += [f"Columns: {', '.join(self.columns)}"] if self.columns else []
        lines += ["Speakers:", *(f"  {each}" for each in self.speakers)] if self.speakers else []
        lines += ["First rows:", *(f"  {' | '.join(row)}" for row in self.samples)] if self.samples else []
        if mapping := self.mapping_text():
            lines += [
                "Mapping (check every line):",
                *(f"  {each}" for each in mapping.splitlines()),
            ]
        lines += [f"Read so: {self.read}"] if self.read else []
        lines += [f"  {what}: {_listed(each)}" for what, each in self.counts.items()]
        for doubt in self.kind.doubts:
            others = [answer for answer in doubt.answers if answer is not doubt.suggested]
            default = f" Taken: {doubt.suggested.words}" if doubt.suggested else ""
            lines.append(f"Guessed: {doubt.question}{default}")
            lines += [f"  {answer.words}: {answer.option}" for answer in others or doubt.answers]
        if self.kind.other:
            counted = f" ({self.other})" if self.other else ""
            lines.append(f"It may be read as {self.kind.other} too{counted}: --as {self.kind.other}")
        lines += (
            ["Not read:", *(f"  {what}: {count:,}" for what, count in self.lost.items())] if self.lost else []
        )
        lines += [f"Note: {each}" for each in self.notes]
        lines += [f"It cannot be read yet: {self.problem}"] if self.problem else []
        for question, command, missing in asked(self.facts):
            lines.append(f"{question} " + (f"missing: {missing}" if missing else f"yes: {command}"))
        return "\n".join(lines)

    def write_mapping(self, path_of: str | Path, path: str | Path) -> str:
        """Write the mapping by which the file was read, and what it gave; how to go on, in words. What somebody
        else wrote is not replaced."""
        place, start = Path(path), "# How "
        if self.problem or not self.facts.readable or self.kind.family not in ("ratings", "cases"):
            why = self.problem or f"{self.file} is no table of ratings or cases"
            raise MedjuryError(f"no mapping was written: {why}")
        if place.exists() and not place.read_text(encoding="utf-8", errors="replace").startswith(start):
            raise MedjuryError(
                f"{place} is there already and is no mapping that `medjury look` wrote; name another file"
            )
        with whole_file(place) as file:
            file.write(f"{start}{self.file} is read: {self.read}\n" + (self.mapping_text() or "{}\n"))
        if self.kind.family == "cases":
            return f"Written to {place}. Next: medjury cases check {path_of} --mapping {place}"
        if self.facts.raters > 1 and not self.facts.judges:
            return f"Written to {place}. Next: medjury agreement {path_of} --mapping {place}"
        return f"Written to {place}. It reads the file in every command that takes ratings"


def look(
    path: str | Path,
    stated: Mapping[str, Any] | None = None,
    wanted: Literal["ratings", "cases"] | None = None,
    *,
    lines: Sequence[tuple[str, str]] = (),
) -> Look:
    """What the file is and what may be done with it. `stated` is what is known of its mapping, as it is or in
    `lines` such as `labels`, `Poor < Fair`; `wanted` is how it is to be read where it may be ratings as well as
    cases. Nothing is written."""
    place, stated = Path(path), {**lines_of_mapping(lines), **(stated or {})}
    if not stated and wanted is None:  # files with criteria are read as they are
        if is_marks_file(place):
            return replace(_run(place, _MARKS), notes=(_SCORED,))
        if is_healthbench_file(place):
            return _cases(place, _CRITERIA)
    kind = recognise(place, stated, wanted)
    try:
        if kind.missing and kind.family == "ratings":
            raise MedjuryError(kind.missing)
        found = _LOOKS.get(kind.family, _unknown)(place, kind)
        if kind.other in ("ratings", "cases") and wanted is None:
            found = replace(found, other=look(path, stated, kind.other).read)
        return found
    except MedjuryError as error:
        columns, samples = _head(place, kind)
        return Look(place.name, kind, Facts(kind.family), columns, samples=samples, problem=str(error))


def _listed(each: Any) -> str:
    if not isinstance(each, Mapping):
        return f"{each:,}"
    shown = [f"{name} ({count:,})" for name, count in list(each.items())[:_MOST_NAMED]]
    more = len(each) - _MOST_NAMED
    return ", ".join(shown) + (f" and {more:,} more" if more > 0 else "")


def _head(place: Path, kind: Kind) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    try:
        header, rows = head(place, kind.mapping)
    except MedjuryError:
        return (), ()
    return tuple(header), tuple(tuple(_short(cell) for cell in row) for row in rows)


def _short(cell: Any) -> str:
    text = "" if cell is None else " ".join(str(cell).split())
    return text if len(text) <= _LONGEST_CELL else f"{text[:_LONGEST_CELL]}…"


def _ratings(place: Path, kind: Kind) -> Look:
    from medjury.store.ratings import read_ratings

    found = read_ratings(place, mapping=kind.mapping or None, on_bad="unscored")
    if "scale" not in kind.mapping and (scales := _scales(found.ratings)):
        kind = replace(kind, mapping={**kind.mapping, "scale": scales})
        found = read_ratings(place, mapping=kind.mapping, on_bad="unscored")
    report = found.report
    facts, read = _summary(
        [[getattr(each, name) for name in _ASKED] for each in found.ratings], report.scored
    )
    lost = {"cells that hold no score on the scale": report.unscored.total(), **report.left_out}
    unused = [f"columns not used: {', '.join(names)}" for names in report.unused_columns.values()]
    columns, samples = _head(place, kind)
    notes = (*unused, *report.notes, *report.warnings)
    scores = [each for each in found.ratings if each.score is not None]
    counts = {
        "cases": len({each.item for each in scores}),
        "systems": Counter(each.system for each in scores if each.system),
        "raters": Counter(each.rater for each in scores),
        "dimensions": Counter(each.dimension for each in scores),
        "grades": Counter(f"{each.score:g}" for each in sorted(scores, key=lambda each: each.score or 0)),
        "missing": report.not_rated + report.not_applicable + report.unscored.total(),
    }
    counts = {name: each for name, each in counts.items() if each or name == "missing"}
    return Look(place.name, kind, facts, columns, (), samples, read, counts, _some(lost), notes)


def _scales(ratings: Iterable[Rating]) -> Any:
    """The usual scale of each dimension by the grades that it has, as a mapping states it."""
    values: dict[str, Counter[float]] = {}
    for each in ratings:
        if each.score is not None:
            values.setdefault(each.dimension, Counter())[each.score] += 1
    usual = usual_values(sum(values.values(), Counter[float]()))
    # Dimensions of whole grades are on one scale; those of 0 and 1, or of shares, each on their own.
    graded = max(usual, default=0) <= 10
    own = {name: (set(each) & usual or set(each)) if graded else set(each) for name, each in values.items()}
    whole = {
        name for name, each in own.items() if all(grade == int(grade) for grade in each) and each - {0, 1}
    }
    short = {grade for name in whole for grade in own[name] if grade <= 10}
    scales = {
        name: scale_part(each, usual_scale(short) if name in whole and each <= short else None)
        for name, each in own.items()
    }
    different = list(scales.values())
    return different[0] if different and all(each == different[0] for each in different) else scales


def _summary(rows: Iterable[Sequence[Any]], scored: int) -> tuple[Facts, str]:
    """What questions depend on, from these fields of every rating (`_ASKED`), and in words."""
    found = list(rows)
    kinds = {rater: kind or "clinician" for _, _, rater, kind, _, _ in found}
    raters: dict[tuple[str, str], set[str]] = {}
    repeats: dict[tuple[str, str, str, str], set[int]] = {}
    for item, system, rater, _, dimension, repeat in found:
        raters.setdefault((item, system), set()).add(rater)
        repeats.setdefault((item, system, rater, dimension), set()).add(repeat or 0)
    clinicians = sum(kind == "clinician" for kind in kinds.values())
    facts = Facts(
        "ratings", True, clinicians, len(kinds) - clinicians, len({row[1] for row in found if row[1]}),
        sum(len(each) > 1 for each in repeats.values()), sum(len(each) > 1 for each in raters.values()),
    )  # fmt: skip
    items, dimensions = len({row[0] for row in found}), len({row[4] for row in found})
    who = {0: "; all raters are read as judges", len(kinds): "; all raters are read as clinicians"}
    read = f"{scored:,} scores of {items:,} items by {len(kinds):,} raters on {dimensions:,} dimensions"
    return facts, read + who.get(clinicians, "")


def _some(counts: Mapping[str, int]) -> dict[str, int]:
    return {what: count for what, count in counts.items() if count}


def _cases(place: Path, kind: Kind) -> Look:
    from medjury.intake.cases import read_cases

    reader = read_cases(place, mapping=kind.mapping or None, on_bad="skip")
    found = reader.summary
    talks = found.inputs.get("conversation", 0) if "conversation" in kind.name else 0
    answers = max(found.inputs.get("candidate", 0), talks)
    facts = Facts("cases", found.count > 0, systems=len(found.systems), answers=answers)
    # What a row of a table is can be seen; documents and what belongs to them are shown as they were joined.
    is_table = place.is_file() and not kind.mapping and not kind.name.startswith("FHIR")
    columns, samples = _head(place, kind) if is_table else _joined(reader) if found.count else ((), ())
    read = f"{found.count:,} cases with {', '.join(found.inputs) or 'no text'}"
    problem = (
        f"{found.problems_text(3)}\n  docs/reading-cases.md says how cases are read" if found.bad else ""
    )
    lost = _some({"rows that are not a case": found.skipped, **found.left_out.parts})
    notes = (_UNIT,) if talks else ()
    return Look(place.name, kind, facts, columns, (), samples, read, {}, lost, notes, problem)


_MARKS = Kind("ratings", "marks of criteria (a grader's or physicians' rows, as HealthBench has them)")
_CRITERIA = Kind("cases", "cases with criteria of their own (HealthBench)")
_SCORED = (
    "`medjury criteria scores` gives their scores; in a study they are `humans` or a judge of `kind: scores`"
)
_UNIT = "of a conversation the study says what is judged: `unit: conversation`, `last` or `turn`"


def _joined(reader: CaseReader) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    """The first three cases as the reader gives them: the same fields for all, those first that every case has."""
    rows = [
        {"id": each.id, "patient": each.patient, "system": each.system, "candidate": each.candidate,
         "reference": each.reference, "notes": "; ".join(note.text for note in each.notes),
         **each.texts, **each.metadata}
        for each in islice(reader, 3)
    ]  # fmt: skip
    columns = tuple(dict.fromkeys(name for row in rows for name, value in row.items() if value))
    return columns, tuple(tuple(_short(row.get(name)) for name in columns) for row in rows)


def _transcript(place: Path, kind: Kind) -> Look:
    from medjury.texts.transcripts import read_transcript

    if place.is_dir():
        return Look(place.name, kind, Facts("transcript", True))
    found = read_transcript(place)
    named = Kind("transcript", f"transcript ({found.form})")
    samples = tuple((each.speaker or "", _short(each.text)) for each in found.turns[:3])
    read = f"{len(found.turns):,} turns"
    return Look(
        place.name, named, Facts("transcript", True), (), tuple(found.speakers_text()), samples, read,
        lost=found.left_out, notes=found.notes,
    )  # fmt: skip


def _run(place: Path, kind: Kind) -> Look:
    from medjury.tables import rating_table

    table = rating_table(place)
    rows = table.everything
    if CRITERION in rows.columns:  # marks, without the scores that follow from them
        rows = rows.filter(rows[CRITERION].is_not_null())
    facts, read = _summary(rows.select(_ASKED).rows(), rows["score"].drop_nulls().len())
    lost = _some({"ratings without a score": rows["score"].null_count()})
    notes = (*table.notes, *table.warnings)
    return Look(place.name, kind, replace(facts, family=kind.family), read=read, lost=lost, notes=notes)


def _unknown(place: Path, kind: Kind) -> Look:
    columns, samples = _head(place, kind) if place.is_file() else ((), ())
    way = (
        "describe it in a mapping file" if columns else "save it in one of the forms of docs/file-formats.md"
    )
    page = "docs/importing-ratings.md for ratings, docs/reading-cases.md for cases"
    problem = "" if kind.family == "study" else kind.missing or (f"{way} ({page})" if columns else way)
    return Look(place.name, kind, Facts(kind.family), columns, (), samples, problem=problem)


_LOOKS = {"ratings": _ratings, "cases": _cases, "transcript": _transcript, "run": _run, "store": _run}
