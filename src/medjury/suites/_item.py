"""One question of a benchmark, ready to be asked, and what a loader made of a source's file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


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
    known: bool = False  # every file is one that the benchmark was described from, by its checksum
    remarks: tuple[str, ...] = ()  # what whoever uses the items should know of the files they came from
