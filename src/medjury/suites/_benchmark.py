"""A benchmark, one question of it, what a loader makes of its files, and the mark of an answer."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, StrictBool, StrictInt

from medjury.foundation.errors import MedjuryError
from medjury.foundation.fields import Name, Optional, Part, Text
from medjury.instruments import Reason

# What a benchmark may be marked by.
METRICS = (
    "exact_match", "code_f1", "medcalc", "error_flag", "error_sentence", "sql_execution", "yes_no_maybe", "rouge_l",
    "bertscore", "embedding", "jury",
)  # fmt: skip


def _file_name(value: str) -> str:
    if not re.fullmatch(r"[\w][\w.() -]*", value) or value.endswith((".", " ")):
        raise ValueError("must be the name of a file, without folders")
    return value


def checked_sha256(value: str) -> str:
    if value and not re.fullmatch(r"[0-9a-f]{64}", value):
        raise ValueError("must be 64 digits of 0-9 and a-f, as `sha256sum` prints them")
    return value


def checked_address(value: str) -> str:
    if value and not re.match(r"https?://[^\s@]+$", value):
        raise ValueError("must be an address that begins with https://, without user and password")
    return value


class SourceFile(Part):
    """A file of the source: its checksum where it is fixed, and where it can be fetched."""

    name: Annotated[Optional, AfterValidator(_file_name)]
    sha256: Annotated[Optional, AfterValidator(checked_sha256)] = ""
    address: Annotated[Optional, AfterValidator(checked_address)] = ""


class Sampling(Part):
    """How many items are asked, drawn with which seed, of which split."""

    most: Annotated[StrictInt, Field(ge=1)] | None = None
    seed: StrictInt = 0
    split: Optional = ""


class Helm(Part):
    """A benchmark in HELM: its name there, the rule of `HELM_RULES` that scores it (`jury` where none does), what
    HELM's prompt asks for in place of the words that ours asks for, and which of its items and what of its prompt
    are not ours. `shows` names the inputs by which an answer to HELM is known where its prompt words others anew:
    the first is a line of it."""

    name: Text
    rule: Literal["letter", "error_flag", "codes", "calculation", "rows", "jury"]
    shows: tuple[Name, ...] = ()
    words: dict[str, str] = {}
    split: Optional = ""
    prompt: Optional = ""


class Benchmark(Part):
    """One YAML file of the library, or a site's own. `metrics` names how answers are marked, the one that ranks
    first; `open` says that answers are free text, which a jury grades with `instrument`."""

    name: Name
    title: Text
    version: Text
    category: Text
    subcategory: Optional = ""
    description: Text
    context: Text  # what a model is given
    prompt: Text  # with {name} for the inputs of an item
    metrics: tuple[Text, ...] = Field(min_length=1)
    open: StrictBool
    gold: Optional = ""  # what the gold standard is, in words; empty where there is none
    access: Literal["public", "gated", "private"]
    curation: Literal["existing", "reformulated", "new"]
    loader: Name  # the name of a source's format
    source: Text  # where the data are, or whom to ask
    licence: Text
    citation: Optional = ""
    tasks: tuple[Text, ...] = ()
    files: tuple[SourceFile, ...] = ()
    instrument: Text | None = None
    most_tokens: Annotated[StrictInt, Field(ge=1, le=1_000_000)] = 1024  # of an answer
    sampling: Sampling = Sampling()
    options: dict[str, Any] = {}  # what loader and metrics are told beyond this
    suite: Optional = ""  # the collection it belongs to, such as medhelm
    data: Optional = ""  # the file with the items of a site's own benchmark
    notes: Optional = ""
    helm: Helm | None = None  # how HELM scores it; None where HELM does not have it

    @property
    def fetched(self) -> tuple[SourceFile, ...]:
        """The files that have an address."""
        return tuple(each for each in self.files if each.address)

    def listed(self) -> dict[str, Any]:
        """What a list of benchmarks says of it, as data."""
        same = ("name", "title", "suite", "category", "subcategory", "access", "curation", "open")
        return {
            **{name: getattr(self, name) for name in same},
            "fetched": bool(self.fetched),
            "metric": self.metrics[0],
            "helm": self.helm.rule if self.helm else None,
        }


# One question of a benchmark, ready to be asked, and what a loader made of a source's file.


@dataclass(frozen=True, slots=True)
class Item:
    """`inputs` are the texts that fill the prompt's `{name}`s. `gold` holds every answer that counts as right, the
    one to show first; it is empty where the benchmark has no gold standard."""

    id: str
    inputs: Mapping[str, str]
    gold: tuple[str, ...] = ()
    choices: Mapping[str, str] = field(default_factory=dict)  # letter -> text, where one is to be chosen
    patient: str = ""
    # What a metric needs beyond the gold answer: limits, the type of an output, the sentences of a text.
    facts: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Loaded:
    """Every item of a source, in its order. Nothing is dropped in silence: `left_out` counts each row that is no
    item by its reason, `problems` names each that should have been one and cannot be."""

    items: tuple[Item, ...]
    left_out: Mapping[str, int] = field(default_factory=dict)
    problems: tuple[str, ...] = ()
    database: Path | None = None  # what SQL answers are run on
    read: tuple[Path, ...] = ()  # the files that were read
    unread: tuple[str, ...] = ()  # the other files of the folder, by name
    known: bool = False  # every file is one that the benchmark was described from, by its checksum
    remarks: tuple[str, ...] = ()  # what whoever uses the items should know of the files they came from


# What a metric says of one answer: a score from 0 to 1, or none and why.


@dataclass(frozen=True, slots=True)
class Mark:
    """`read` is what was read out of the answer, so that a person can check the reading. An answer in which nothing
    could be read has a reason and no score: how it counts is decided, and told, by the leaderboard."""

    score: float | None
    reason: Reason | None = None
    read: str = ""
    note: str = ""

    def __post_init__(self) -> None:
        if (self.score is None) == (self.reason is None):
            raise ValueError("a mark has either a score or the reason why there is none")
        if self.score is not None and not 0 <= self.score <= 1:
            raise ValueError(f"a mark lies between 0 and 1, not {self.score}")


# The prompt of a benchmark with an item's texts in their places.


CHOICES = "choices"
_PLACE = re.compile(r"\{([a-z][a-z0-9_]*)\}")


def inputs_of(prompt: str) -> tuple[str, ...]:
    """The names of the inputs that a prompt asks for, in their order."""
    return tuple(dict.fromkeys(name for name in _PLACE.findall(prompt) if name != CHOICES))


def prompt_of(benchmark: Benchmark, item: Item) -> str:
    """What a candidate is asked. Texts are put in once, so that braces inside them mean nothing; choices follow the
    prompt where it has no `{choices}`."""
    choices = "\n".join(f"{letter}. {text}" for letter, text in item.choices.items())

    def put(place: re.Match[str]) -> str:
        name = place[1]
        if name == CHOICES:
            return choices
        if name not in item.inputs:
            raise MedjuryError(
                f"benchmark {benchmark.name}: item {item.id} has no {name!r}, which its prompt asks for"
            )
        return item.inputs[name]

    text = _PLACE.sub(put, benchmark.prompt)
    return f"{text.rstrip()}\n\n{choices}" if choices and f"{{{CHOICES}}}" not in benchmark.prompt else text
