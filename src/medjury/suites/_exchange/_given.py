"""Answers and scores as another program wrote them down, in one shape."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class GivenAnswer:
    """One answer of a model. `input` is the question itself, without examples or instructions that were put before
    it; `choices` are those shown, in their order. `failure` says why there is no answer, `finish` how it ended, in
    the program's own word. `scores` are the program's own, by the name of its metric; None where it gave none."""

    id: str
    input: str
    text: str
    choices: tuple[str, ...] = ()
    failure: str = ""
    finish: str = ""
    tokens_in: int = 0
    tokens_out: int = 0
    gold: tuple[str, ...] = ()
    scores: Mapping[str, float | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class GivenRun:
    """The answers of one model to one task. `told` is what a reader should know of the files."""

    program: str
    task: str
    model: str
    answers: tuple[GivenAnswer, ...]
    told: tuple[str, ...] = ()
