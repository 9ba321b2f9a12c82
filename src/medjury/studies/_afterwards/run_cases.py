"""The cases of a run, read once more for those who read its evidence: the texts that were judged, or none."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from medjury.foundation.documents import read_document, validate
from medjury.foundation.errors import MedjuryError
from medjury.intake.cases import CaseSource, RedactedCases, make_redactor, read_cases
from medjury.store.runs import Manifest, files
from medjury.studies._drafts.cases import DraftedCases, Drafts
from medjury.studies._drafts.drafter import make_drafter
from medjury.studies._file import StudyFile
from medjury.studies._material.hashed import HashedCases
from medjury.studies._overrides import overridden
from medjury.studies._study import store_address


def run_cases(folder: str | Path, manifest: Manifest, file: str | Path | None = None) -> HashedCases:
    """The cases that a run judged: those of its study file, or those in `file`; redacted where the run redacted
    them, with the drafts where it wrote them. After the last of them `hash` is that of them all: where it is not
    the manifest's `data_hash`, these are not the texts that were judged."""
    place = Path(folder)
    study = place / manifest.study_file
    on_bad: Literal["skip", "refuse"] = "skip" if manifest.cases_skipped else "refuse"
    if not manifest.study_file or not study.is_file():
        if file is None:
            raise MedjuryError(
                f"the study file of this run ({manifest.study_file or 'not named'}) is not there; name the cases "
                "that were judged (--cases FILE)"
            )
        return HashedCases(read_cases(file, on_bad=on_bad))
    document = overridden(read_document(study), manifest.overrides)
    settings = validate(document, StudyFile)
    around = study.resolve().parent
    source: CaseSource = read_cases(
        around / settings.cases.path if file is None else file,
        mapping=settings.cases.mapping,
        on_bad=on_bad,
    )
    redactor = make_redactor(settings.redact, folder=around) if settings.redact else None
    if redactor is not None:
        source = RedactedCases(source, redactor)
    if settings.drafting is not None and (place / files.DRAFTS).is_file():
        drafter, _ = make_drafter(settings.drafting, around)
        source = DraftedCases(source, drafter, Drafts.read(place / files.DRAFTS))
    return HashedCases(source)


def run_store(folder: str | Path, manifest: Manifest) -> str:
    """Where the ratings of a run are while it goes on: the store that its study file names, or its own."""
    place = Path(folder)
    study = place / manifest.study_file
    if not manifest.study_file or not study.is_file():
        return str(place / files.STORE)
    settings = validate(overridden(read_document(study), manifest.overrides), StudyFile)
    return store_address(settings.store, study.resolve().parent, place)
