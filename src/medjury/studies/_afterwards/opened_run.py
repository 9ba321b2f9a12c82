"""A run that is there: its ratings, its verdict, its report and its cases, for a script or a notebook."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from medjury.foundation.documents import read_document, validate
from medjury.foundation.errors import MedjuryError
from medjury.intake.cases import Case, CaseSource, PairedCases, RedactedCases, make_redactor, read_cases
from medjury.store.runs import Manifest, files
from medjury.studies._file.study_file import StudyFile, overridden
from medjury.studies._study.drafts import DraftedCases, Drafts, make_drafter
from medjury.studies._study.material import HashedCases, read_case_file
from medjury.studies._study.study import store_address
from medjury.tables import RatingTable
from medjury.tables import open_run as rating_table_of

if TYPE_CHECKING:
    import polars

    from medjury.validation import Validation, Word


@dataclass(frozen=True, eq=False, repr=False)
class Run:
    """Every analysis takes it in the place of its `table`: `medjury.agreement(medjury.open_run(folder))`."""

    table: RatingTable

    @property
    def folder(self) -> Path:
        assert self.table.run.folder is not None
        return self.table.run.folder

    @property
    def manifest(self) -> Manifest:
        assert self.table.run.manifest is not None
        return self.table.run.manifest

    @property
    def ratings(self) -> polars.DataFrame:
        """Every rating, one row each; those of development cases too."""
        return self.table.everything

    @staticmethod
    def cases_of(folder: str | Path, manifest: Manifest, file: str | Path | None = None) -> HashedCases:
        """The cases that a run judged: those of its study file, or those in `file`; redacted where the run redacted
        them, with the drafts where it wrote them. After the last of them `hash` is that of them all: where it is
        not the manifest's `data_hash`, these are not the texts that were judged."""
        place = Path(folder)
        study = _study_file(place, manifest)
        if study is None:
            if file is None:
                raise MedjuryError(
                    f"the study file of this run ({manifest.study_file or 'not named'}) is not there; name the "
                    "cases that were judged (--cases FILE)"
                )
            return HashedCases(read_cases(file, on_bad="skip" if manifest.cases_skipped else "refuse"))
        settings, around = study
        part = settings.cases
        if file is not None:
            part = part.model_copy(update={"path": str(Path(file).absolute()), "answers": None})
        skip = bool(manifest.cases_skipped)
        read = read_case_file(part, around, skip_bad_cases=skip, unit=settings.unit)
        source: CaseSource = PairedCases(read) if settings.design == "pairs" else read
        redactor = make_redactor(settings.redact, folder=around) if settings.redact else None
        if redactor is not None:
            source = RedactedCases(source, redactor)
        if settings.drafting is not None and (place / files.DRAFTS).is_file():
            drafter, _ = make_drafter(settings.drafting, around)
            source = DraftedCases(source, drafter, Drafts.read(place / files.DRAFTS))
        return HashedCases(source)

    @staticmethod
    def store_of(folder: str | Path, manifest: Manifest) -> str:
        """Where the ratings of a run are while it goes on: the store that its study file names, or its own."""
        place = Path(folder)
        study = _study_file(place, manifest)
        if study is None:
            return str(place / files.STORE)
        settings, around = study
        return store_address(settings.store, around, place)

    @cached_property
    def cases(self) -> tuple[Case, ...]:
        """The cases that were judged, from the study's own file; redacted where the run redacted them."""
        return tuple(self.cases_of(self.folder, self.manifest))

    @cached_property
    def validation(self) -> Validation:
        """What every rule of the gate found."""
        from medjury.validation import validate

        return validate(self.table)

    @property
    def verdict(self) -> Word:
        """What the gate says of the first-named jury: its worst word over the dimensions."""
        return self.validation.worst(first=True)

    @property
    def report(self) -> Path:
        """The page; it is written where it is not there yet."""
        from medjury.report import write_page

        page = self.folder / files.REPORT
        return page if page.exists() else write_page(self.folder)

    def __repr__(self) -> str:
        table = self.table
        return (
            f"Run({str(self.folder)!r}: {self.manifest.status}, {table.everything.height:,} ratings, "
            f"{len(table.clinicians)} clinicians, {len(table.judges)} judges)"
        )

    def _repr_html_(self) -> str:
        return f"<p><strong>{escape(self.verdict)}</strong> {escape(repr(self))}</p>{self.validation._repr_html_()}"


def _study_file(folder: Path, manifest: Manifest) -> tuple[StudyFile, Path] | None:
    """The study file of a run, with the folder that its paths are relative to; None where it is not there."""
    file = folder / manifest.study_file
    if not manifest.study_file or not file.is_file():
        return None
    document = overridden(read_document(file), manifest.overrides)
    return validate(document, StudyFile), file.resolve().parent


def open_run(folder: str | os.PathLike[str], **settings: Any) -> Run:
    """The run in a folder; `settings` replace what the study file says under `report:`."""
    return Run(rating_table_of(folder, **settings))
