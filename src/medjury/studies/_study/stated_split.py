"""A split that the study file states case by case: what is learned from, what chooses, what is held out. It is one
for all: tuning, training and examples learn from its cases, and the gate counts those that are held out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from medjury.foundation.documents import Document, validate
from medjury.foundation.errors import MedjuryError
from medjury.intake.cases import Case
from medjury.statistics import counted
from medjury.studies._file.study_file import RatedStudyFile, SplitPart
from medjury.studies._study.material import case_ids, read_case_file
from medjury.studies._study.patient_groups import PatientGroups

_MOST_COMPARED = 1_000
PARTS = ("train", "validation", "held_out")


@dataclass(frozen=True)
class StatedSplit:
    """The ids of each part: whole cases, with the answers of all systems. `kin` are held-out cases that belong to
    one of the others: none, unless the study says `group: none`."""

    train: frozenset[str]
    validation: frozenset[str]
    held_out: frozenset[str]
    group: str
    kin: frozenset[str] = frozenset()

    @property
    def learned(self) -> frozenset[str]:
        """All that something learns from or is chosen by: no validation counts it."""
        return self.train | self.validation

    def note(self) -> str:
        """What a reader of a plan should know."""
        text = (
            f"split: {counted(len(self.train), 'case')} to learn from, {len(self.validation):,} to choose by, "
            f"{len(self.held_out):,} held out; only these count in the validation"
        )
        if self.kin:
            text += (
                f". {len(self.kin):,} of them are of patients, or have texts, that are learned from too (`group: "
                "none`): what they show may be learned by heart"
            )
        return text


def read_split(document: Document, part: SplitPart, cases: Iterable[Case]) -> StatedSplit:
    """The split of these cases, or a refusal with the line of the study file that states it."""
    folder = Path(document.file).resolve().parent
    groups, there = PatientGroups(), dict[str, str]()
    for case in cases:
        groups.add(case)
        stated = "" if part.column is None else str(case.metadata.get(part.column, "")).strip()
        if there.setdefault(case.id, stated) != stated:
            raise _wrong(document, f"the answers to case {case.id!r} are in two parts; a case is in one")
    if part.column is not None:
        parts = _by_column(document, part.column, there)
    else:
        parts = _by_lists(document, part, folder, there)
    train, validation, held_out = (frozenset(parts[name]) for name in PARTS)
    split = StatedSplit(train, validation, held_out, part.group)
    if not split.train or not split.held_out:
        empty = "train" if not split.train else "held_out"
        raise _wrong(
            document, f"`{empty}` is empty; a split has cases to learn from and cases that are held out"
        )
    return _apart(document, split, groups.shared())


def split_of_file(document: Document) -> StatedSplit:
    """The same where a study file is read for its rules alone."""
    settings = validate(document, RatedStudyFile)
    assert settings.split is not None
    cases = read_case_file(settings.cases, Path(document.file).resolve().parent, unit=settings.unit)
    return read_split(document, settings.split, cases)


def _by_column(document: Document, column: str, there: Mapping[str, str]) -> dict[str, set[str]]:
    parts: dict[str, set[str]] = {name: set() for name in PARTS}
    for name, stated in there.items():
        word = stated.casefold().replace("-", "_").replace(" ", "_")
        if word not in parts:
            what = f"says {stated!r}" if stated else "says nothing"
            raise _wrong(
                document,
                f"the column {column!r} {what} of case {name!r}; it says {', '.join(PARTS)} of every case",
            )
        parts[word].add(name)
    return parts


def _by_lists(
    document: Document, part: SplitPart, folder: Path, there: Mapping[str, str]
) -> dict[str, set[str]]:
    parts: dict[str, set[str]] = {}
    for name in PARTS:
        stated = getattr(part, name)
        if stated is None:  # held out is all that is in no other part
            parts[name] = set(there) - parts["train"] - parts["validation"]
            continue
        try:
            listed = case_ids(stated, folder)
        except MedjuryError as error:
            raise _wrong(document, str(error), name) from None
        if unknown := [each for each in listed if each not in there]:
            close = get_close_matches(unknown[0], list(there)[:_MOST_COMPARED], n=1)
            raise _wrong(
                document,
                f"{len(unknown):,} of {counted(len(listed), 'id')} of no case of this study, such as {unknown[0]!r}"
                + (f"; did you mean {close[0]!r}?" if close else "; give ids as in the cases"),
                name,
            )
        for other, known in parts.items():
            if twice := sorted(known.intersection(listed)):
                problem = f"{counted(len(twice), 'case')} in two parts, `{other}` and `{name}`, such as"
                raise _wrong(document, f"{problem} {twice[0]!r}; leave each in one", name)
        parts[name] = set(listed)
    if left := sorted(set(there) - set().union(*parts.values())):
        raise _wrong(
            document,
            f"{counted(len(left), 'case')} in no part, such as {left[0]!r}; put them into one, or leave `held_out` "
            "out: then all others are held out",
        )
    return parts


def _apart(document: Document, split: StatedSplit, groups: Mapping[str, int]) -> StatedSplit:
    """Refused where one patient, or one text, is in two parts: who learns from one visit of a patient and is tested
    on the next has tested nothing."""
    part_of = {each: name for name in PARTS for each in getattr(split, name)}
    first: dict[tuple[int, str], str] = {}
    for name, number in sorted(groups.items()):
        first.setdefault((number, part_of[name]), name)
    kin = frozenset(
        name
        for name, number in groups.items()
        if name in split.held_out and ((number, "train") in first or (number, "validation") in first)
    )
    if split.group == "none":
        return StatedSplit(split.train, split.validation, split.held_out, split.group, kin)
    for (number, name), case in first.items():
        for other in PARTS:
            twin = first.get((number, other))
            if other != name and twin is not None:
                raise _wrong(
                    document,
                    f"{case!r} is in `{name}` and {twin!r} in `{other}`, and the two have the same patient or the "
                    "same text: what is learned from one is tested on the other. Put all of a patient into one "
                    "part; to keep a published split as it is, add `group: none`, and the report counts such cases",
                )
    return split


def _wrong(document: Document, problem: str, name: str = "") -> MedjuryError:
    return MedjuryError(document.complaint(("split", name) if name else ("split",), problem))
