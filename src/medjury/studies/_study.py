"""The study: the file's words turned into the things they name, all checked before the first call."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from medjury.cases import CaseSource, RedactedCases, make_redactor, read_cases
from medjury.documents import Document, nearest, read_document, validate
from medjury.errors import MedjuryError
from medjury.instruments import Instrument, load_instrument
from medjury.judging import AfterDrafting, Drafter, Jury
from medjury.models import ChatModel
from medjury.runs import files
from medjury.studies._drafter import make_drafter
from medjury.studies._examples import StudyExamples, stated_examples
from medjury.studies._file import JudgePart, ModelPart, StudyFile
from medjury.studies._juries import make_jury, ways_note
from medjury.studies._metric_raters import MetricRaters, metric_raters
from medjury.studies._strategies import Setup, make_rater

DEFAULT_CONCURRENCY = 64


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

    @property
    def workers(self) -> Mapping[str, int]:
        """Units in flight per judge: half more than the calls, so that storing never idles a connection."""
        return {
            judge.name: 2  # a model inside this process answers one question at a time
            if all(model.host is None for model in judge.models)
            else max(2, (part.concurrency or DEFAULT_CONCURRENCY) * 3 // 2)
            for judge, part in zip(self.jury.judges, self.settings.judges, strict=True)
        }


def load_study(path: str | Path, *, skip_bad_cases: bool = False) -> Study:
    """Read a study file; every problem is reported with its line and what to do about it."""
    document = read_document(path)
    settings = validate(document, StudyFile)
    folder = Path(document.file).resolve().parent
    instrument = _named(document, ("instrument",), lambda: _load_instrument(settings.instrument, folder))
    if settings.dimensions is not None:
        instrument = _named(document, ("dimensions",), lambda: _only(instrument, settings.dimensions or []))
    _named(document, ("report", "rank_by"), lambda: _can_rank_by(instrument, settings.report.rank_by or []))
    source = _named(
        document,
        ("cases",),
        lambda: read_cases(
            folder / settings.cases.path,
            mapping=settings.cases.mapping,
            on_bad="skip" if skip_bad_cases else "refuse",
        ),
    )
    redactor = None
    if settings.redact:
        redactor = _named(document, ("redact",), lambda: make_redactor(settings.redact, folder=folder))
    if settings.drafting is not None and any(
        stated_examples(settings, part).shots for part in settings.judges
    ):
        problem = (
            "worked examples are drawn from answers that exist before the run, and this study has yet to draft "
            "them; write them first (`medjury draft STUDY --cases FILE`) and judge that file"
        )
        raise MedjuryError(document.complaint(("drafting",), problem))
    examples = StudyExamples(document, settings, instrument, folder, source, redactor)
    setups = [
        Setup(
            _judge_name(part),
            part,
            _named(
                document, ("judges", index, "instrument"), lambda part=part: _own(instrument, part, folder)
            ),
            folder,
            stated_examples(settings, part).own,
            examples.of_judge(index),
            (part.model_check or settings.model_check) == "strict",
        )
        for index, part in enumerate(settings.judges)
    ]
    judges = [make_rater(document, ("judges", index), setup) for index, setup in enumerate(setups)]
    drafter, drafting_models = None, []
    if settings.drafting is not None:
        part = settings.drafting
        drafter, made = _named(document, ("drafting",), lambda: make_drafter(part, folder))
        drafting_models = [made]
        judges = [AfterDrafting(judge) for judge in judges]
        if any(model.name == made[0].name for setup in setups for model, _ in setup.models):
            problem = f"{made[0].name!r} is the name of the drafting model; give the judge another"
            raise MedjuryError(document.complaint(("judges",), problem))
    jury = make_jury(document, settings, judges)
    output = folder / (settings.output or f"runs/{settings.study}")
    return Study(
        settings.study,
        Path(document.file),
        settings,
        instrument,
        jury,
        source if redactor is None else RedactedCases(source, redactor),
        output,
        _named(document, ("store",), lambda: _store_address(settings.store, folder, output)),
        (*(made for setup in setups for made in setup.models), *drafting_models),
        drafter,
        (*examples.notes(), *ways_note(jury), *_recorded_notes(setups)),
        _named(
            document,
            ("metrics",),
            lambda: metric_raters(settings.metrics, folder, [*(each.name for each in judges), jury.name]),
        ),
    )


def _named(document: Document, place: tuple[str | int, ...], build: Any) -> Any:
    """Run one step of the set-up; what goes wrong in it is told with the line of the file that asked for it."""
    try:
        return build()
    except MedjuryError as error:
        raise MedjuryError(document.complaint(place, str(error))) from None


def _recorded_notes(setups: Sequence[Setup]) -> list[str]:
    names = [
        setup.name for setup in setups if setup.models and all(model.recorded for model, _ in setup.models)
    ]
    told = "recorded answers from a file: nobody is asked, and costs are those of that time"
    return [f"{', '.join(names)}: {told}"] if names else []


def _load_instrument(name: str, folder: Path) -> Instrument:
    return load_instrument(folder / name if name.endswith((".yaml", ".yml")) else name)


def _own(instrument: Instrument, part: JudgePart, folder: Path) -> Instrument:
    """The words that one judge grades by, where its entry names others than the study's: the same dimensions on the
    same grades, asked from the same texts, or its scores could not stand beside the others'."""
    if part.instrument is None:
        return instrument
    own = _only(_load_instrument(part.instrument, folder), [each.name for each in instrument.dimensions])
    if own.shape() != instrument.shape():
        raise MedjuryError(
            f"{own.name} {own.version} has other grades, skip rules or inputs than {instrument.name} "
            f"{instrument.version}; a judge's own instrument may differ in its words only"
        )
    return own


def _only(instrument: Instrument, names: list[str]) -> Instrument:
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


def _judge_name(part: JudgePart) -> str:
    return part.name or str(part.options.get("model") or part.kind)


def _store_address(store: str | None, folder: Path, output: Path) -> str:
    """A path, or a database URL. `env:NAME` takes it from the environment, where a password belongs."""
    if store is None:
        return str(output / files.STORE)
    if store.startswith("env:"):
        name = store.removeprefix("env:")
        if not os.environ.get(name):
            raise MedjuryError(f"the environment variable {name} is not set; it must hold the store's URL")
        store = os.environ[name]
    return store if "://" in store else str(folder / store)
