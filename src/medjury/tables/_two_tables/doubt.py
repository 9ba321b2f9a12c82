"""What two tables leave open: a question that names the doubt, and every answer with the option that gives it."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

AS_THEY_ARE = "as they are"


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer: its words, and what it puts into the mapping, by dotted key (`judges.rescale`)."""

    words: str
    sets: Mapping[str, Any]

    @property
    def option(self) -> str:
        """The options of the command line that give this answer."""
        if set(self.sets) == {"humans.item", "judges.item"} and len(set(self.sets.values())) == 1:
            return f"--item {shlex.quote(str(next(iter(self.sets.values()))))}"
        return " ".join(_option(key, value) for key, value in self.sets.items())


@dataclass(frozen=True, slots=True)
class Doubt:
    """A question. `suggested` is the answer that the tables speak for, None where they speak for none. One that may
    stay open is left so where nobody can be asked; `typed` is a key whose value may be typed instead."""

    question: str
    answers: tuple[Answer, ...]
    suggested: Answer | None = None
    may_stay_open: bool = False
    typed: str = ""


def _option(key: str, value: Any) -> str:
    if key == "scale" and isinstance(value, list | tuple):
        return f"--scale {value[0]:g} {value[1]:g}"
    if key == "columns":
        return f"--columns {value}"
    text = ",".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
    return f"--map {shlex.quote(f'{key}={text}')}"
