"""The suite: its file, and the benchmarks with their items that it names, all read before anything is asked."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, ValidationInfo, field_validator, model_validator

from medjury.foundation.documents import Document, read_document, validate, yaml_text
from medjury.foundation.errors import MedjuryError
from medjury.foundation.fields import FileName, Part
from medjury.foundation.files import private_folder, write_whole
from medjury.intake.cases import Case
from medjury.studies import ModelPart
from medjury.suites._benchmark import Benchmark, Item, Loaded, prompt_of
from medjury.suites._exchange._as_ratings import is_given, record_given, speaker_of
from medjury.suites._exchange._others_answers import read_published
from medjury.suites._leaderboard._names import slugs
from medjury.suites._library import load_benchmark, sample_file
from medjury.suites._loaders._load import draw_items, load_items


def _in_full(listed: list[Any], word: str) -> list[Any]:
    return [{word: each} if isinstance(each, str) else each for each in listed]


class BenchmarkPart(Part):
    """A benchmark by its name, or a site's own by its file. Without `data` its made-up rows are used, and the page
    says so. `items` is how many are asked at most, `clinicians` their ratings of the answers, as in a study."""

    name: str = Field(min_length=1)
    data: str | None = None
    items: int | None = Field(default=None, ge=1)
    clinicians: dict[str, Any] | str | None = None


class CandidatePart(ModelPart):
    """A model under test, as judges are named in a study file."""

    name: FileName | None = None

    @property
    def called(self) -> str:
        """The name on the leaderboard."""
        return self.name or str(self.options.get("model") or self.kind)


class JuryPart(Part):
    """How open answers are judged: a preset, its judges or others, and how their votes become one."""

    preset: Literal["medhelm"] = "medhelm"
    judges: list[dict[str, Any]] = []
    llama_url: str | None = None
    aggregate: Literal["mean", "median", "majority"] = "mean"
    quorum: int | None = Field(default=None, ge=1)


class BudgetPart(Part):
    """The run stops asking at either cap and is then INCOMPLETE."""

    money: float | None = Field(default=None, gt=0)
    calls: int | None = Field(default=None, ge=1)


class SuiteFile(Part):
    """The whole file."""

    suite: FileName = "benchmarks"
    benchmarks: list[BenchmarkPart] = Field(min_length=1)
    candidates: list[CandidatePart] = Field(min_length=1)
    jury: JuryPart | None = None
    metrics: list[str | dict[str, str]] = []  # text metrics beside the jury: see docs/text-metrics.md
    marks: Literal["helm"] | None = None  # HELM's marks too, beside ours
    published: str | None = None  # MedHELM's published results, beside HELM's marks
    budget: BudgetPart = BudgetPart()
    allow_hosts: list[str] = []
    store: str | None = None
    output: str | None = None

    @field_validator("benchmarks", "candidates", mode="before")
    @classmethod
    def _a_word_is_enough(cls, value: Any, info: ValidationInfo) -> Any:
        """A benchmark by its name, a candidate by its kind."""
        word = "name" if info.field_name == "benchmarks" else "kind"
        return _in_full(value, word) if isinstance(value, list) else value

    @field_validator("jury", mode="before")
    @classmethod
    def _one_line_is_enough(cls, value: Any) -> Any:
        """`jury: medhelm`, or the judges as a list."""
        if isinstance(value, str):
            return {"preset": value}
        if isinstance(value, list):
            return {"judges": _in_full(value, "kind")}
        return value

    @model_validator(mode="after")
    def _names_are_told_apart(self) -> SuiteFile:
        called = [each.called for each in self.candidates]
        for name in called:
            if called.count(name) > 1:
                raise ValueError(f"two candidates are called {name!r}; give each its own `name`")
        for part in self.benchmarks:
            if [each.name for each in self.benchmarks].count(part.name) > 1:
                raise ValueError(f"the benchmark {part.name!r} appears twice; keep one of them")
        return self


# The suite: the file's words turned into benchmarks with their items, all read before anything is asked.


@dataclass(frozen=True)
class Chosen:
    """A benchmark of a suite with the items that are asked. `sample`: these are its made-up rows."""

    benchmark: Benchmark
    part: BenchmarkPart
    loaded: Loaded
    items: tuple[Item, ...]
    sample: bool

    @property
    def name(self) -> str:
        return self.benchmark.name

    def cases(self) -> list[Case]:
        """Each item as a case whose prompt is asked as it stands."""
        return [
            Case(
                f"{self.name}/{item.id}",
                texts={"prompt": prompt_of(self.benchmark, item)},
                patient=f"{self.name}/{item.patient}" if item.patient else None,
                metadata={"most_tokens": self.benchmark.most_tokens},
            )
            for item in self.items
        ]


@dataclass(frozen=True)
class Suite:
    """A suite ready to be planned and run; paths are resolved."""

    name: str
    file: Path
    settings: SuiteFile
    benchmarks: tuple[Chosen, ...]
    output: Path
    store: str
    given: tuple[str, ...] = ()  # what is to be known of answers that another program asked for
    # Candidates whom HELM asked, and by case what they answered there where that is put in our words.
    asked_by_helm: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    published: Mapping[str, Mapping[str, float]] = field(default_factory=dict)

    @property
    def folder(self) -> Path:
        return self.file.resolve().parent

    def cases(self) -> list[Case]:
        return [case for each in self.benchmarks for case in each.cases()]

    def notes(self) -> tuple[str, ...]:
        """What a reader must know before any number."""
        told = [*self.given, *(remark for each in self.benchmarks for remark in each.loaded.remarks)]
        samples = [each.name for each in self.benchmarks if each.sample]
        if samples:
            told.append(
                f"MADE-UP ROWS, no data: {', '.join(samples)}. Their scores measure nothing; name the data of a "
                "benchmark with `data`"
            )
        told += [
            f"{each.name}: {len(each.loaded.problems):,} rows cannot be items and are left out"
            for each in self.benchmarks
            if each.loaded.problems
        ]
        told += [
            f"{each.name}: {len(each.items):,} of {len(each.loaded.items):,} items are asked"
            for each in self.benchmarks
            if len(each.items) < len(each.loaded.items)
        ]
        unjudged = [each.name for each in self.benchmarks if each.benchmark.open]
        if unjudged and self.settings.jury is None:
            told.append(
                f"no jury is named, so the answers to open benchmarks ({', '.join(unjudged)}) are asked for "
                "and not judged; name one with `jury`"
            )
        return tuple(told)


def load_suite(path: str | os.PathLike[str], settings: Mapping[str, Any] | None = None) -> Suite:
    """Read a suite file; every problem is reported with its line and what to do about it. `settings` are
    written into the file first, for a suite that is stated in another way: by it that suite can be run
    again."""
    file = Path(path)
    if settings is not None:
        private_folder(file.parent)
        write_whole(file, yaml_text({**settings, "output": "."}))
    document = read_document(file)
    stated = validate(document, SuiteFile)
    folder = file.resolve().parent
    output = folder / (stated.output or f"suites/{stated.suite}")
    chosen = []
    for number, part in enumerate(stated.benchmarks):
        try:
            chosen.append(_chosen(part, folder))
        except MedjuryError as error:
            raise MedjuryError(document.complaint(("benchmarks", number), str(error))) from None
    names = [each.name for each in chosen]
    for number, name in enumerate(names):
        if name in names[:number]:
            problem = f"{name!r} is the name of another benchmark of this suite; give this one another"
            raise MedjuryError(document.complaint(("benchmarks", number), problem))
    try:
        store = _store(stated.store, folder, output)
    except MedjuryError as error:
        raise MedjuryError(document.complaint(("store",), str(error))) from None
    stated, given, asked_by_helm = _with_given_answers(stated, chosen, folder, output)
    published = _published(document, stated, chosen, folder)
    return Suite(stated.suite, file, stated, tuple(chosen), output, store, given, asked_by_helm, published)


def _published(
    document: Document, settings: SuiteFile, chosen: Sequence[Chosen], folder: Path
) -> dict[str, dict[str, float]]:
    """What MedHELM published of the suite's benchmarks, those that a jury scores there left out."""
    if settings.published is None:
        return {}
    if settings.marks != "helm":
        raise MedjuryError(
            document.complaint(("published",), "is set beside HELM's marks; write `marks: helm` too")
        )
    try:
        return read_published(folder / settings.published, [each.benchmark for each in chosen])
    except MedjuryError as error:
        raise MedjuryError(document.complaint(("published",), str(error))) from None


def _with_given_answers(
    settings: SuiteFile, chosen: Sequence[Chosen], folder: Path, output: Path
) -> tuple[SuiteFile, tuple[str, ...], dict[str, Mapping[str, str]]]:
    """The settings with every recorded candidate whose `file` is another program's (a run folder of HELM, a log of
    Inspect) turned into one whose file is ours, what is to be known of it, and who of them answered HELM."""
    parts, told = [], []
    asked_by_helm: dict[str, Mapping[str, str]] = {}
    for part in settings.candidates:
        named = part.options.get("file")
        if part.kind == "recorded" and isinstance(named, str) and is_given(folder / named):
            questions = [(each.benchmark, each.items, each.cases()) for each in chosen]
            place = output / "given" / f"{slugs([part.called])[part.called]}.jsonl.gz"
            private_folder(place.parent)
            speaker = speaker_of(part.temperature, part.seed, part.max_tokens)
            own = part.max_tokens if "max_tokens" in part.model_fields_set else None
            model = part.options.get("model")
            known, helms = record_given(folder / named, questions, speaker, own, part.called, model, place)
            told += known
            if helms is not None:
                asked_by_helm[part.called] = helms
            stated = part.model_dump(exclude_unset=True, exclude={"model"})
            part = CandidatePart.model_validate({**stated, "name": part.called, "file": str(place)})
        parts.append(part)
    return settings.model_copy(update={"candidates": parts}), tuple(told), asked_by_helm


def _chosen(part: BenchmarkPart, folder: Path) -> Chosen:
    own = part.name.endswith((".yaml", ".yml"))
    benchmark = load_benchmark(str(folder / part.name) if own else part.name)
    data = sample_file(benchmark) if part.data is None else folder / part.data
    loaded = load_items(benchmark, data)
    if not loaded.items:
        raise MedjuryError(f"{data}: no row is an item of {benchmark.name}; first: {loaded.problems[0]}")
    items = draw_items(benchmark, loaded, most=part.items)
    made_up = part.data is None and not benchmark.data  # a site's own file may name its table
    return Chosen(benchmark, part, loaded, items, made_up)


def _store(store: str | None, folder: Path, output: Path) -> str:
    if store is None:
        return str(output / "store.sqlite")
    if store.startswith("env:"):
        name = store.removeprefix("env:")
        if not os.environ.get(name):
            raise MedjuryError(f"the environment variable {name} is not set; it must hold the store's URL")
        store = os.environ[name]
    return store if "://" in store else str(folder / store)
