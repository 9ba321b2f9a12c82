"""`--set budget.calls=50`: values of a study file replaced for one run, as if the file said so."""

from __future__ import annotations

import copy
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from medjury.documents import Document, Place, parse_document
from medjury.errors import MedjuryError

# The manifest keeps what was set, and must never keep a password.
_SECRET = re.compile(r"headers|key|token|password|secret", re.IGNORECASE)


def overridden(document: Document, settings: Sequence[str]) -> Document:
    """The document with each `path=value` in place: a path has names and numbers of entries with dots between, and
    the value is YAML. What is wrong with such a value is told by its path."""
    value = copy.deepcopy(document.value)
    stated = dict(document.stated)
    for setting in settings:
        path, sign, text = setting.partition("=")
        if not sign or not path.strip():
            raise MedjuryError(f"--set {setting}: write it as PATH=VALUE, such as budget.calls=50")
        place = _place(path.strip())
        named = f"--set {path.strip()}"
        if _SECRET.search(path) or ("@" in text and "://" in text):
            raise MedjuryError(
                f"{named}: this may hold a password, which the run's manifest would keep; write it into the study "
                "file, or name an environment variable there"
            )
        _put(value, place, parse_document(text, named).value, named)
        stated[place] = named
    return replace(document, value=value, stated=stated)


def _place(path: str) -> Place:
    """`judges.0.model` and `judges[0].model` alike."""
    steps = re.sub(r"\[(\d+)\]", r".\1", path).split(".")
    return tuple(int(step) if step.isdigit() else step for step in steps)


def _put(value: Any, place: Place, new: Any, named: str) -> None:
    *way, last = place
    for number, step in enumerate(way):
        here = ".".join(map(str, way[: number + 1]))
        if isinstance(value, dict) and isinstance(step, str):
            if value.get(step) is None:
                value[step] = {}
            value = value[step]
        else:
            value = value[_index(value, step, here, named)]
    if isinstance(value, dict) and isinstance(last, str):
        value[last] = new
    else:
        value[_index(value, last, ".".join(map(str, place)), named)] = new


def _index(value: Any, step: str | int, here: str, named: str) -> int:
    """The number of an entry that is there; nothing is appended, for a gap would be filled by guessing."""
    if not isinstance(value, list):
        raise MedjuryError(
            f"{named}: {here} cannot be set: what is above it in the study file has no such parts"
        )
    if not isinstance(step, int) or step >= len(value):
        raise MedjuryError(
            f"{named}: {here} cannot be set: the list has {len(value)} entries, which are numbered from 0"
        )
    return step
