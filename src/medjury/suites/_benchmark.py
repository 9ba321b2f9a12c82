"""A benchmark: what is asked, from which source, under which licence, and how an answer is marked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Access = Literal["public", "gated", "private"]
Curation = Literal["existing", "reformulated", "new"]


@dataclass(frozen=True, slots=True)
class Benchmark:
    """One YAML file of the library, or a site's own. `metrics` names how answers are marked, the one that ranks
    first; `open` says that answers are free text, which a jury grades with `instrument`."""

    name: str
    title: str
    version: str
    category: str
    subcategory: str
    description: str
    context: str  # what a model is given
    prompt: str  # with {name} for the inputs of an item
    metrics: tuple[str, ...]
    open: bool
    gold: str  # what the gold standard is, in words; empty where there is none
    access: Access
    curation: Curation
    loader: str  # the name of a source's format
    source: str  # where the data are, or whom to ask
    licence: str
    citation: str
    tasks: tuple[str, ...] = ()
    files: Mapping[str, str] = field(default_factory=dict)  # file -> sha256, where the source is fixed
    instrument: str | None = None
    most_tokens: int = 1024  # of an answer
    sampling: Mapping[str, Any] = field(default_factory=dict)  # how many items, drawn with which seed
    options: Mapping[str, Any] = field(default_factory=dict)  # what loader and metrics are told beyond this
    suite: str = ""  # the collection it belongs to, such as medhelm
    addresses: Mapping[str, str] = field(default_factory=dict)  # file -> where it can be fetched
    data: str = ""  # the file with the items of a site's own benchmark
    notes: str = ""
