"""A study as clinicians rate it: cases, instrument and rounds. No model is made, and none need be reachable."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from medjury.analysis.calibration import QueueRow
from medjury.foundation.documents import Document, nearest, read_document, validate
from medjury.foundation.errors import MedjuryError
from medjury.instruments import Instrument, Unscored, read_grade
from medjury.intake.cases import CaseReader, CaseSource, PairedCases
from medjury.studies._file.panel import PanelPart, RoundPart
from medjury.studies._file.study_file import RatedStudyFile
from medjury.studies._study.material import (
    Material,
    case_ids,
    named,
    read_case_file,
    read_material,
    refuse_lost_criteria,
)

# The queue of a review as `medjury plan review --out FILE` wrote it, read back whole or not at all.


def read_queue(path: str | Path) -> tuple[QueueRow, ...]:
    """Every answer of the queue. A file in which a row was changed, added, left out or moved is refused: its
    probabilities are those of the draw, or nothing that is weighted by them is true."""
    file = Path(path)
    try:
        with file.open(encoding="utf-8-sig", newline="") as opened:
            rows = [_row(each) for each in csv.DictReader(opened)]
    except OSError as error:
        raise MedjuryError(f"{file} cannot be read ({error.strerror}); {_MADE}") from None
    except (KeyError, TypeError, ValueError, csv.Error):
        raise MedjuryError(f"{file} is not a queue of a review; {_MADE}") from None
    if not rows:
        raise MedjuryError(f"{file} has no answer; {_MADE}")
    if tuple(rows) != QueueRow.sealed(rows):
        raise MedjuryError(
            f"{file} was changed after it was drawn; take the file as it was written, or draw again "
            "(`medjury plan review`) before anyone rates"
        )
    return tuple(rows)


_MADE = "`medjury plan review RUN --out FILE` writes one"


def _row(given: Mapping[str, str]) -> QueueRow:
    drawn = {"true": True, "false": False}[given["drawn"]]
    return QueueRow(
        given["item"],
        given["system"],
        drawn,
        int(given["place"]) if drawn else None,
        float(given["probability"]),
        given["reason"],
        int(given["seed"]),
        given["rule"],
        given["data"],
        given["digest"],
    )


ANSWER = "answer"  # what a panel calls the candidate


@dataclass(frozen=True)
class RatedRound:
    """One round: its settings, and its cases. `only` are ids; `without` are left to other rounds. `queue` has every
    answer that could be drawn for it, where one was drawn. `once` names the pairs in the one order in which raters
    see them; None where single answers are rated."""

    settings: RoundPart
    cases: CaseSource
    once: frozenset[tuple[str, str]] | None = None
    only: frozenset[str] | None = None
    without: frozenset[str] = frozenset()
    queue: tuple[QueueRow, ...] | None = None

    @property
    def name(self) -> str:
        return self.settings.name


@dataclass(frozen=True)
class RatedStudy:
    """A study ready to be rated in the browser."""

    name: str
    file: Path
    settings: RatedStudyFile
    instrument: Instrument
    cases: CaseSource
    rounds: Sequence[RatedRound]

    @property
    def panel(self) -> PanelPart:
        return self.settings.panel


def load_rated_study(path: str | Path) -> RatedStudy:
    """Read a study file for its clinicians; every problem is reported with its line and what to do about it."""
    document = read_document(path)
    settings = validate(document, RatedStudyFile)
    if settings.drafting is not None:
        problem = (
            "clinicians rate answers that exist, and this study has yet to draft them; write them first "
            "(`medjury draft STUDY --cases FILE`) and name that file as the cases"
        )
        raise MedjuryError(document.complaint(("drafting",), problem))
    refuse_lost_criteria(Path(document.file), settings)
    material = read_material(document, settings)
    _check(document, settings.panel, material.instrument)
    folder = Path(document.file).resolve().parent
    rounds = _rounds(document, settings.panel, material, folder)
    return RatedStudy(
        settings.study, Path(document.file), settings, material.instrument, material.cases, rounds
    )


def _rounds(document: Document, panel: PanelPart, material: Material, folder: Path) -> list[RatedRound]:
    ids = [_ids(document, index, part, folder) for index, part in enumerate(panel.rounds)]
    pairs = list(zip(panel.rounds, ids, strict=True))
    practice = [found for part, found in pairs if found and part.kind in ("training", "calibration")]
    used = frozenset[str]().union(*practice)
    rounds = []
    for index, (part, only) in enumerate(pairs):
        source = _source(document, index, part, material, folder)
        queue = _queue(document, index, part, folder, used)
        own = only is not None or part.file is not None or queue is not None
        without = frozenset[str]() if own else used
        once = source.once if isinstance(source, PairedCases) else None
        rounds.append(RatedRound(part, material.redacted(source), once, only, without, queue))
    return rounds


def _queue(
    document: Document, index: int, part: RoundPart, folder: Path, practised: frozenset[str]
) -> tuple[QueueRow, ...] | None:
    if part.draw is None:
        return None
    file, place = folder / part.draw, ("panel", "rounds", index, "draw")
    rows = named(document, place, lambda: read_queue(file))
    if known := sorted(practised & {row.item for row in rows}):
        problem = (
            f"raters practise on the case {known[0]!r}, which could be drawn; give the practice round cases of its "
            "own (`file`)"
        )
        raise MedjuryError(document.complaint(place, problem))
    return rows


def _ids(document: Document, index: int, part: RoundPart, folder: Path) -> frozenset[str] | None:
    stated = part.cases
    if stated is None:
        return None
    return frozenset(named(document, ("panel", "rounds", index, "cases"), lambda: case_ids(stated, folder)))


def _source(
    document: Document, index: int, part: RoundPart, material: Material, folder: Path
) -> CaseReader | PairedCases:
    file = part.file
    if file is None:
        return material.source
    unit = material.unit
    found = named(
        document, ("panel", "rounds", index, "file"), lambda: read_case_file(file, folder, unit=unit)
    )
    return PairedCases(found) if isinstance(material.source, PairedCases) else found


def _check(document: Document, panel: PanelPart, instrument: Instrument) -> None:
    """Dimensions, inputs and grades that the panel's part names are the instrument's. Where each case has its own
    criteria, nothing can follow from a grade that all cases have, and a key is checked with its case."""
    if instrument.by_case:
        for part_name, stated in (
            ("justification", isinstance(panel.justification, dict)),
            ("questions", panel.questions),
            ("references", panel.references is not None),
        ):
            if stated:
                problem = (
                    "needs questions that are the same for all cases, and here each case has its own criteria"
                )
                raise MedjuryError(document.complaint(("panel", part_name), problem))
    if isinstance(panel.justification, dict):
        for name in panel.justification:
            _known(document, ("panel", "justification", name), name, [d.name for d in instrument.dimensions])
    _check_questions(document, panel, instrument)
    for index, part in enumerate(panel.rounds):
        place = ("panel", "rounds", index)
        for at, name in enumerate(part.show or []):
            inputs = [ANSWER if each.name == "candidate" else each.name for each in instrument.inputs]
            _known(document, (*place, "show", at), name, inputs)
        for at, key in enumerate([] if instrument.by_case else part.key):
            for name, grade in key.grades.items():
                there = (*place, "key", at, "grades", name)
                _known(document, there, name, [d.name for d in instrument.dimensions])
                read = read_grade(instrument.dimension(name), grade)
                if isinstance(read, Unscored):
                    raise MedjuryError(document.complaint(there, read.message))


def _check_questions(document: Document, panel: PanelPart, instrument: Instrument) -> None:
    """A further question follows a grade of the instrument, and compares texts that the rater has read."""
    inputs = [ANSWER if each.name == "candidate" else each.name for each in instrument.inputs]
    for index, question in enumerate(panel.questions):
        place = ("panel", "questions", index)
        name = question.when.dimension
        _known(document, (*place, "when", "dimension"), name, [d.name for d in instrument.dimensions])
        if question.when.equals not in instrument.dimension(name).values:
            problem = f"{question.when.equals} is not a grade of {name!r}, so no rater would ever be asked"
            raise MedjuryError(document.complaint((*place, "when", "is"), problem))
        for at, text in enumerate(question.between or ()):
            _known(document, (*place, "between", at), text, inputs)
            for part in panel.rounds:
                if part.kind in ("rating", "rescore") and part.show is not None and text not in part.show:
                    problem = f"raters of {part.name!r} do not see {text!r}; add it to `show` of that round"
                    raise MedjuryError(document.complaint((*place, "between", at), problem))


def _known(document: Document, place: tuple[str | int, ...], name: str, known: Sequence[str]) -> None:
    if name not in known:
        raise MedjuryError(
            document.complaint(place, f"{name!r} is not in the instrument; {nearest(name, known)}")
        )
