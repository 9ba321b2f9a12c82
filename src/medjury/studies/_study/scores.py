"""Scores that exist already, in a file, as a judge of a study: `{kind: scores, name: gpt-4o, path: scores.csv}`."""

from __future__ import annotations

from collections.abc import Callable, MutableMapping
from typing import TYPE_CHECKING, Any

from pydantic import Field

from medjury.foundation.documents import Document, validate_part
from medjury.foundation.errors import MedjuryError
from medjury.foundation.fields import Part
from medjury.intake import mapping_in
from medjury.store.ratings import KnownCases
from medjury.store.runs import SCORES
from medjury.studies._file.models import JudgePart
from medjury.studies._file.study_file import StudyFile
from medjury.studies._study.setup import Setup

if TYPE_CHECKING:
    from medjury.judging import ScoresFile, ScoresJudge


_OWN = ("kind", "name")


class ScoresSettings(Part):
    """The file and how it is read; `rater` and `repeat` say whose scores are meant where it holds several."""

    path: str = Field(min_length=1)
    mapping: str | dict[str, Any] | None = None
    rater: str | None = None
    repeat: int | None = Field(default=None, ge=0)
    vendor: str | None = None


def refuse_for_scores(document: Document, settings: StudyFile) -> None:
    """What a study cannot ask of scores that exist already: each is refused with its line and what to do."""
    named = [(index, part) for index, part in enumerate(settings.judges) if part.kind == SCORES]
    if not named:
        return
    if settings.repeats > 1:
        problem = (
            "a file has one score for each answer, and no other can be asked for; take `repeats` out. "
            "Where the file has repeats, its judge says which is taken: `repeat: 0`"
        )
        raise MedjuryError(document.complaint(("repeats",), problem))
    if settings.examples is not None:
        problem = "scores from a file were shown no examples; state `examples` at the judges that are asked"
        raise MedjuryError(document.complaint(("examples",), problem))
    if settings.drafting is not None:
        problem = (
            "no file can hold scores of answers that have yet to be drafted; write them first (`medjury draft "
            "STUDY --cases FILE`) and judge that file"
        )
        raise MedjuryError(document.complaint(("drafting",), problem))
    for index, part in named:
        _refuse_settings(document, index, part)


def _refuse_settings(document: Document, index: int, part: JudgePart) -> None:
    if part.name is None:
        problem = "needs a `name`: whose scores they are, such as `name: gpt-4o`"
        raise MedjuryError(document.complaint(("judges", index), problem))
    for name in JudgePart.model_fields:
        if name in part.model_fields_set and name not in _OWN:
            problem = "has no meaning for scores from a file, because no model is asked; remove it"
            raise MedjuryError(document.complaint(("judges", index, name), problem))


def make_scores(
    document: Document,
    place: tuple[str | int, ...],
    setup: Setup,
    cases: Callable[[], KnownCases],
    files: MutableMapping[str, ScoresFile],
) -> ScoresJudge:
    """The judge of one entry. A file that several entries name is read once: `files` are those so far."""
    from medjury.judging import ScoresFile, ScoresJudge

    settings = validate_part(document, place, setup.part.options, ScoresSettings)
    mapping = mapping_in(setup.folder, settings.mapping)
    known = f"{settings.path}\0{settings.mapping!r}"
    file = files.setdefault(known, ScoresFile(setup.folder / settings.path, setup.instrument, cases, mapping))
    judge = ScoresJudge(setup.name, file, settings.rater, settings.repeat, settings.vendor)
    try:
        judge.settings_hash()  # the file is there, and so is its mapping
    except MedjuryError as error:
        raise MedjuryError(document.complaint(place, str(error))) from None
    return judge
