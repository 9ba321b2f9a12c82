"""What a study rates and with what: its instrument and its cases, read alike for judges and for clinicians."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from medjury.foundation.documents import Document, nearest
from medjury.foundation.errors import MedjuryError
from medjury.instruments import Instrument, load_instrument
from medjury.intake.cases import CaseReader, CaseSource, RedactedCases, Redactor, make_redactor, read_cases
from medjury.studies._file import CasesPart, StudyFile

Made = TypeVar("Made")


@dataclass(frozen=True)
class Material:
    """The instrument, the cases as they lie in the file, and what redacts them."""

    instrument: Instrument
    source: CaseReader
    redactor: Redactor | None

    @property
    def cases(self) -> CaseSource:
        return self.redacted(self.source)

    def redacted(self, source: CaseReader) -> CaseSource:
        """Any cases of the study as everybody sees them."""
        return source if self.redactor is None else RedactedCases(source, self.redactor)


def read_material(document: Document, settings: StudyFile, *, skip_bad_cases: bool = False) -> Material:
    """The instrument with the dimensions that the study names, and its cases."""
    folder = Path(document.file).resolve().parent
    instrument = named(document, ("instrument",), lambda: load_named(settings.instrument, folder))
    if settings.dimensions is not None:
        names = settings.dimensions
        instrument = named(document, ("dimensions",), lambda: only_some(instrument, names))
    named(document, ("report", "rank_by"), lambda: _can_rank_by(instrument, settings.report.rank_by or []))
    source = named(
        document, ("cases",), lambda: read_case_file(settings.cases, folder, skip_bad_cases=skip_bad_cases)
    )
    redactor = None
    if stated := settings.redact:
        redactor = named(document, ("redact",), lambda: make_redactor(stated, folder=folder))
    return Material(instrument, source, redactor)


def read_case_file(part: CasesPart, folder: Path, *, skip_bad_cases: bool = False) -> CaseReader:
    return read_cases(folder / part.path, mapping=part.mapping, on_bad="skip" if skip_bad_cases else "refuse")


def named(document: Document, place: tuple[str | int, ...], build: Callable[[], Made]) -> Made:
    """Run one step of the set-up; what goes wrong in it is told with the line of the file that asked for it."""
    try:
        return build()
    except MedjuryError as error:
        raise MedjuryError(document.complaint(place, str(error))) from None


def load_named(name: str, folder: Path) -> Instrument:
    return load_instrument(folder / name if name.endswith((".yaml", ".yml")) else name)


def only_some(instrument: Instrument, names: list[str]) -> Instrument:
    """The instrument with some of its dimensions, and only what still follows from them."""
    known = [dimension.name for dimension in instrument.dimensions]
    for name in names:
        if name not in known:
            raise MedjuryError(f"{instrument.name} has no dimension {name!r}; {nearest(name, known)}")
    dimensions = tuple(each for each in instrument.dimensions if each.name in names)
    for each in dimensions:
        if each.skip and each.skip.dimension not in names:
            raise MedjuryError(f"{each.name!r} depends on {each.skip.dimension!r}; add it to the list")
    reversed_ = tuple(each for each in instrument.reversed if each.of in names)
    there = {*names, *(each.name for each in reversed_)}
    composites = tuple(each for each in instrument.composites if set(each.weights) <= there)
    return replace(instrument, dimensions=dimensions, reversed=reversed_, composites=composites)


def _can_rank_by(instrument: Instrument, names: list[str]) -> None:
    known = [each.name for each in instrument.dimensions]
    known += [each.name for each in instrument.reversed] + [each.name for each in instrument.composites]
    for name in names:
        if name not in known:
            raise MedjuryError(
                f"{instrument.name} has no dimension or composite {name!r}; {nearest(name, known)}"
            )
