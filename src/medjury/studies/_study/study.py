"""The study: the file's words turned into the things they name, all checked before the first call."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from medjury.foundation.documents import Document, nearest, read_document, validate
from medjury.foundation.errors import MedjuryError
from medjury.instruments import Instrument
from medjury.intake.cases import CaseSource, RedactedCases
from medjury.judging import Bench, Jury, Rater
from medjury.models import ChatModel, PriceList, make_model
from medjury.store.ratings import KnownCases, Store, StoredRun, is_empty_file, open_store
from medjury.store.runs import SCORES, Manifest, ManifestJudge, ManifestJury, RunFolder, files
from medjury.studies._file.models import JudgePart, ModelPart
from medjury.studies._file.study_file import JuryPart, StudyFile, overridden
from medjury.studies._study.drafts import make_drafter
from medjury.studies._study.examples import StudyExamples
from medjury.studies._study.material import load_named, named, only_some, read_material
from medjury.studies._study.metrics import MetricRaters, metric_raters
from medjury.studies._study.scores import make_scores, refuse_for_scores
from medjury.studies._study.setup import Setup
from medjury.studies._study.stated_split import StatedSplit, read_split
from medjury.studies._study.strategies import rater_of

if TYPE_CHECKING:
    from medjury.judging import Drafter, ScoresFile


# The juries of a study: who votes in which, as its file says; a warning where ways of judging would be mixed.


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
            rule=settings.rule_of(first),
            quorum=first.quorum,
            name=first.name,
            benches=None if plain else tuple(_bench(part, settings) for part in stated),
        )
    except MedjuryError as error:
        raise MedjuryError(document.complaint(place, str(error))) from None


def ways_note(jury: Jury) -> tuple[str, ...]:
    """What the reader of a plan should know where a jury of all judges averages ways of judging."""
    if jury.benches is not None:
        return ()
    judges = [ManifestJudge.model_validate({"name": each.name, **each.describe()}) for each in jury.judges]
    return Manifest(judges=tuple(judges), jury=ManifestJury(name=jury.name)).jury_warnings()


def _bench(part: JuryPart, settings: StudyFile) -> Bench:
    return Bench(part.name, tuple(part.members or ()), settings.rule_of(part), part.quorum)


def _check_quorum(document: Document, part: JuryPart, place: tuple[str | int, ...], judges: int) -> None:
    seats = judges if part.members is None else len(part.members)
    if part.quorum is not None and part.quorum > seats:
        there = "there is only 1 judge" if seats == 1 else f"there are only {seats} judges"
        problem = f"is {part.quorum}, but {there}; lower it"
        raise MedjuryError(document.complaint((*place, "quorum"), problem))


DEFAULT_CONCURRENCY = 64
_FROM_FILE = 256  # answers at once of a judge that asks nobody: so many are stored together


@dataclass(frozen=True)
class Study:
    """A study ready to be planned and run. `settings` is the file as validated; paths are resolved."""

    name: str
    file: Path
    settings: StudyFile
    instrument: Instrument
    jury: Jury
    cases: CaseSource
    output: Path
    store: str
    models: Sequence[tuple[ChatModel, ModelPart]]  # every model that may be called, with its limits and price
    drafter: Drafter | None = None  # writes the answers first, where the study asks for it
    notes: tuple[str, ...] = ()  # what a reader of the plan should know
    metrics: MetricRaters | None = None  # text metrics that rate beside the judges
    overrides: tuple[str, ...] = ()  # values that are not the file's, as `path=value`
    skip_bad_cases: bool = False

    @cached_property
    def prices(self) -> PriceList:
        """The shipped prices, with the study's own on top."""
        prices = PriceList.shipped()
        for model, part in self.models:
            if part.price is not None:
                prices = prices.with_price(model, **part.price.model_dump())
        return prices

    @cached_property
    def document(self) -> Document:
        """Its file, which knows on which line each value is: for complaints."""
        return overridden(read_document(self.file), self.overrides)

    @cached_property
    def split(self) -> StatedSplit | None:
        """The split that its file states case by case; every case is read for it, once."""
        part = self.settings.split
        if part is None:
            return None
        cases = self.cases.source if isinstance(self.cases, RedactedCases) else self.cases
        return read_split(self.document, part, cases)

    @property
    def finished(self) -> bool:
        """Whether the run folder holds a run that is complete."""
        earlier = RunFolder(self.output).earlier()
        return earlier is not None and earlier.status == "complete"

    @property
    def workers(self) -> Mapping[str, int]:
        """Units in flight per judge: four times the calls, so that storing never idles a connection, and many are
        stored at once."""
        return {
            judge.name: _FROM_FILE
            if not judge.models
            else most
            if (most := max((model.batch.size for model in judge.models if model.batch), default=0))
            else max(2, *((model.concurrency or 1) * 2 for model in judge.models))
            if all(model.host is None for model in judge.models)  # mostly one question at a time
            else max(2, (part.concurrency or DEFAULT_CONCURRENCY) * 4)
            for judge, part in zip(self.jury.judges, self.settings.judges, strict=True)
        }

    def dangerous_dimensions(self) -> list[str]:
        """Those on which the study speaks of danger. Refused are names that the instrument does not have, and a
        dangerous grade that is not a grade there."""
        part, dimensions = self.settings.gate, self.instrument.dimensions
        known, stated = [each.name for each in dimensions], part.severe_dimensions
        for name in stated or ():
            if name not in known:
                raise MedjuryError(
                    f"{self.file}: gate.severe_dimensions names {name!r}; the dimensions are {', '.join(known)}"
                )
        carrying = [each for each in dimensions if (each.safety if stated is None else each.name in stated)]
        for each in carrying:
            if part.danger >= 1 and part.danger not in each.values:
                grades = ", ".join(f"{value:g}" for value in each.values)
                raise MedjuryError(
                    f"{self.file}: gate.danger is {part.danger:g}, which is not a grade of {each.name!r} "
                    f"({grades}). State the grade from which an answer is dangerous, or a share of the scale below "
                    "1 (0.25), or name other dimensions in gate.severe_dimensions"
                )
        return [each.name for each in carrying]

    @property
    def cautions(self) -> tuple[str, ...]:
        """What a reader must know before the first call: where the study speaks of no danger."""
        if self.dangerous_dimensions():
            return ()
        return (
            "no danger is claimed: the instrument marks no dimension of this study with `safety: true`, and the "
            "gate names none (`severe_dimensions`). The verdict will not speak of dangerous answers that the jury "
            "misses",
        )

    # A judge with other words, other examples or another model: what tuning tries out

    def judge_place(self, name: str | None) -> int:
        """Which entry of the study file the judge of this name is; the only one, where none is named."""
        names = [judge.name for judge in self.jury.judges]
        if name is None:
            if len(names) > 1:
                raise MedjuryError(f"{self.file}: several judges; say which is tuned: {', '.join(names)}")
            return 0
        if name not in names:
            raise MedjuryError(f"{self.file}: there is no judge {name!r}; {nearest(name, names)}")
        return names.index(name)

    def rater_with(
        self,
        place: int,
        instrument: Instrument,
        *,
        model: dict[str, Any] | None = None,
        models: list[tuple[ChatModel, ModelPart]] | None = None,
    ) -> Rater:
        """The judge at this place, built anew with this instrument, whose own examples it shows where it has any.
        `model` puts another model in its seat; models that are made join `models`."""
        part, own = self.settings.judges[place], list(self.models) if models is None else models
        name = self.jury.judges[place].name
        if part.kind == SCORES:
            raise MedjuryError(
                f"{self.file}: the scores of {name} came from a file, so there is no prompt to tune; name the "
                "model that gave them"
            )
        if self.settings.examples_of(part).shots:
            raise MedjuryError(
                f"{self.file}: the judge draws examples from the clinicians' ratings, and tuning splits these "
                "itself; take `examples` out, or tune with `way: examples`"
            )
        if model is not None:
            part = JudgePart.model_validate({**model, "strategy": part.strategy})
            name = _judge_name(part)
        strict = (part.model_check or self.settings.model_check) == "strict"
        folder = self.file.resolve().parent
        setup = Setup(name, part, instrument, folder, bool(instrument.examples), None, strict, own)
        return rater_of(self.document, ("judges", place), setup)

    def model_of(self, settings: dict[str, Any], name: str) -> tuple[ChatModel, ModelPart]:
        """A further model of a tuning, such as the one that writes prompts."""
        part = ModelPart.model_validate(settings)
        return make_model(part.kind, name=name, **part.options_in(self.file.resolve().parent)), part


def load_study(path: str | Path, *, skip_bad_cases: bool = False, overrides: Sequence[str] = ()) -> Study:
    """Read a study file; every problem is reported with its line and what to do about it. `overrides` are values
    (`budget.calls=50`) that count as if the file stated them."""
    document = overridden(read_document(path), overrides)
    settings = validate(document, StudyFile)
    refuse_for_scores(document, settings)
    folder = Path(document.file).resolve().parent
    material = read_material(document, settings, skip_bad_cases=skip_bad_cases)
    instrument, source, redactor = material.instrument, material.source, material.redactor
    if settings.drafting is not None and any(settings.examples_of(part).shots for part in settings.judges):
        problem = (
            "worked examples are drawn from answers that exist before the run, and this study has yet to draft "
            "them; write them first (`medjury draft STUDY --cases FILE`) and judge that file"
        )
        raise MedjuryError(document.complaint(("drafting",), problem))
    examples = StudyExamples(document, settings, instrument, folder, source, redactor)
    output = settings.output_in(folder)
    setups = [
        Setup(
            _judge_name(part),
            part,
            named(document, ("judges", index, "instrument"), partial(_own, instrument, part, folder)),
            folder,
            settings.examples_of(part).own,
            examples.of_judge(index),
            (part.model_check or settings.model_check) == "strict",
        )
        for index, part in enumerate(settings.judges)
    ]
    scores: dict[str, ScoresFile] = {}
    known = cache(lambda: KnownCases(material.cases, contents=True))
    judges: list[Rater] = [
        make_scores(document, ("judges", index), setup, known, scores)
        if setup.part.kind == SCORES
        else rater_of(document, ("judges", index), setup)
        for index, setup in enumerate(setups)
    ]
    drafter, drafting_models = None, []
    if settings.drafting is not None:
        from medjury.judging import AfterDrafting

        part = settings.drafting
        drafter, made = named(document, ("drafting",), lambda: make_drafter(part, folder))
        drafting_models = [made]
        judges = [AfterDrafting(judge) for judge in judges]
        if any(model.name == made[0].name for setup in setups for model, _ in setup.models):
            problem = f"{made[0].name!r} is the name of the drafting model; give the judge another"
            raise MedjuryError(document.complaint(("judges",), problem))
    jury = make_jury(document, settings, judges)
    return Study(
        settings.study,
        Path(document.file),
        settings,
        instrument,
        jury,
        material.cases,
        output,
        named(document, ("store",), lambda: store_address(settings.store, folder, output)),
        (*(made for setup in setups for made in setup.models), *drafting_models),
        drafter,
        (*examples.notes(), *ways_note(jury), *_recorded_notes(setups)),
        named(
            document,
            ("metrics",),
            lambda: metric_raters(settings.metrics, folder, [*(each.name for each in judges), jury.name]),
        ),
        tuple(overrides),
        skip_bad_cases,
    )


def _recorded_notes(setups: Sequence[Setup]) -> list[str]:
    names = [
        setup.name for setup in setups if setup.models and all(model.recorded for model, _ in setup.models)
    ]
    text = "recorded answers from a file: no model is asked, and costs are those of the recorded run"
    return [f"{', '.join(names)}: {text}"] if names else []


def _own(instrument: Instrument, part: JudgePart, folder: Path) -> Instrument:
    """The words that one judge grades by, where its entry names others than the study's: the same dimensions on the
    same grades, asked from the same texts, or its scores could not be compared with the others'."""
    if part.instrument is None:
        return instrument
    own = only_some(load_named(part.instrument, folder), [each.name for each in instrument.dimensions])
    if own.shape() != instrument.shape():
        raise MedjuryError(
            f"{own.name} {own.version} has other grades, skip rules or inputs than {instrument.name} "
            f"{instrument.version}; a judge's own instrument may differ in its words only"
        )
    return own


def _judge_name(part: JudgePart) -> str:
    return part.name or str(part.options.get("model") or part.kind)


def stored_runs(address: str) -> Iterator[tuple[Store, StoredRun]]:
    """The runs in a store that is there: none where it has yet to be made, or is about to be refused by the run."""
    place = address.removeprefix("sqlite:///")
    if "://" not in place and (not Path(place).is_file() or is_empty_file(address)):
        return
    with open_store(address, create=False) as store:
        yield from ((store, each) for each in store.runs())


def store_address(store: str | None, folder: Path, output: Path) -> str:
    """A path, or a database URL. `env:NAME` takes it from the environment, where a password belongs."""
    if store is None:
        return str(output / files.STORE)
    if store.startswith("env:"):
        name = store.removeprefix("env:")
        if not os.environ.get(name):
            raise MedjuryError(f"the environment variable {name} is not set; it must hold the store's URL")
        store = os.environ[name]
    return store if "://" in store else str(folder / store)
