"""The shape of a benchmark's YAML file, checked by pydantic before it becomes a `Benchmark`."""

from __future__ import annotations

import re
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    Field,
    StrictBool,
    StrictInt,
)

from medjury.foundation.fields import Name, Optional, Part, Text
from medjury.suites._benchmark import Access, Benchmark, Curation

METRICS = (
    "exact_match", "code_f1", "medcalc", "error_flag", "error_sentence", "sql_execution", "yes_no_maybe", "rouge_l",
    "bertscore", "embedding", "jury",
)  # fmt: skip


def _file_name(value: str) -> str:
    if not re.fullmatch(r"[\w][\w.() -]*", value) or value.endswith((".", " ")):
        raise ValueError("must be the name of a file, without folders")
    return value


def _sha256(value: str) -> str:
    if value and not re.fullmatch(r"[0-9a-f]{64}", value):
        raise ValueError("must be 64 digits of 0-9 and a-f, as `sha256sum` prints them")
    return value


def _address(value: str) -> str:
    if value and not re.match(r"https?://[^\s@]+$", value):
        raise ValueError("must be an address that begins with https://, without user and password")
    return value


FileName = Annotated[Optional, AfterValidator(_file_name)]


class FilePart(Part):
    name: FileName
    sha256: Annotated[Optional, AfterValidator(_sha256)] = ""
    address: Annotated[Optional, AfterValidator(_address)] = ""


class SamplingPart(Part):
    most: Annotated[StrictInt, Field(ge=1)] | None = None
    seed: StrictInt = 0
    split: Optional = ""


class BenchmarkFile(Part):
    name: Name
    version: Text
    title: Text
    suite: Optional = ""
    category: Text
    subcategory: Optional = ""
    tasks: list[Text] = []
    description: Text
    context: Text
    prompt: Text
    metrics: list[Text] = Field(min_length=1)
    open: StrictBool
    gold: Optional = ""
    access: Access
    curation: Curation
    loader: Name
    source: Text
    licence: Text
    citation: Optional = ""
    files: list[FilePart] = []
    instrument: Text | None = None
    most_tokens: Annotated[StrictInt, Field(ge=1, le=1_000_000)] = 1024
    sampling: SamplingPart = SamplingPart()
    options: dict[str, Any] = {}
    data: Optional = ""
    notes: Optional = ""


def to_benchmark(file: BenchmarkFile) -> Benchmark:
    """The checked file as the frozen data that the rest of the room uses."""
    values = {name: getattr(file, name) for name in type(file).model_fields}
    values |= {
        "tasks": tuple(file.tasks),
        "metrics": tuple(file.metrics),
        "files": {each.name: each.sha256 for each in file.files},
        "addresses": {each.name: each.address for each in file.files if each.address},
        "sampling": file.sampling.model_dump(),
    }
    return Benchmark(**values)
