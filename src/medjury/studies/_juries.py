"""The juries of a study: who votes in which, as its file says; a warning where ways of judging would be mixed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from medjury.foundation.documents import Document
from medjury.foundation.errors import MedjuryError
from medjury.judging import Bench, Jury, Rater
from medjury.store.runs import ManifestJudge, mixed_ways
from medjury.studies._file import JuryPart, StudyFile


def make_jury(document: Document, settings: StudyFile, judges: Sequence[Rater]) -> Jury:
    """The judges, and the juries that are formed of them: one of all, those that the file names, or none."""
    stated = [] if settings.jury is None else [settings.jury]
    places: list[tuple[str | int, ...]] = [("jury",)]
    if settings.juries is not None:
        stated = list(settings.juries)
        places = [("juries", index) for index in range(len(stated))]
    for part, where in zip(stated, places, strict=False):
        _check_quorum(document, part, where, len(judges))
    first = stated[0] if stated else JuryPart()
    plain = settings.juries is None and bool(stated) and first.members is None
    place: tuple[str | int, ...] = ("judges",)
    try:
        jury = Jury(judges, settings.repeats, benches=())
        place = place if plain else (places[0][0],)
        return replace(
            jury,
            rule=first.aggregate,
            quorum=first.quorum,
            name=first.name,
            benches=None if plain else tuple(_bench(part) for part in stated),
        )
    except MedjuryError as error:
        raise MedjuryError(document.complaint(place, str(error))) from None


def ways_note(jury: Jury) -> tuple[str, ...]:
    """What the reader of a plan should know where a jury of all judges averages ways of judging."""
    if jury.benches is not None:
        return ()
    judges = [ManifestJudge.model_validate({"name": each.name, **each.describe()}) for each in jury.judges]
    said = mixed_ways(judges, jury.name)
    return (said,) if said else ()


def _bench(part: JuryPart) -> Bench:
    return Bench(part.name, tuple(part.members or ()), part.aggregate, part.quorum)


def _check_quorum(document: Document, part: JuryPart, place: tuple[str | int, ...], judges: int) -> None:
    seats = judges if part.members is None else len(part.members)
    if part.quorum is not None and part.quorum > seats:
        there = "there is only 1 judge" if seats == 1 else f"there are only {seats} judges"
        problem = f"is {part.quorum}, but {there}; lower it"
        raise MedjuryError(document.complaint((*place, "quorum"), problem))
