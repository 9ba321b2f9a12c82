"""`--set budget.calls=50`: values of a study file replaced for one run, as if the file said so."""

from __future__ import annotations

import copy
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from medjury.foundation.documents import Document, Place, parse_document
from medjury.foundation.errors import MedjuryError

# The manifest keeps what was set, and must never keep a password. The name of a variable is none.
_SECRET = re.compile(r"(headers|key|token|password|secret)(?!.*_env$)", re.IGNORECASE)


def overridden(document: Document, settings: Sequence[str]) -> Document:
    """The document with each `path=value` in place: a path has names and numbers of entries with dots between, and
    the value is YAML. What is wrong with such a value is told by its path."""
    value, stated = copy.deepcopy(document.value), dict(document.stated)
    for setting in settings:
        path, sign, text = (part.strip() for part in setting.partition("="))
        if not sign or not path:
            raise MedjuryError(f"--set {setting}: write it as PATH=VALUE, such as budget.calls=50")
        named = f"--set {path}"
        if not text:
            raise MedjuryError(
                f"{named}: there is no value after the =; {path}=null takes what the file says away"
            )
        if _SECRET.search(path) or ("@" in text and "://" in text):
            raise MedjuryError(
                f"{named}: this may hold a password, which the run's manifest would keep; write it into the study "
                "file, or name an environment variable there"
            )
        place = _place(path)
        _put(value, place, parse_document(text, named).value, named)
        stated[place] = named
    return replace(document, value=value, stated=stated)


def _place(path: str) -> Place:
    """`judges.0.model` and `judges[0].model` alike."""
    steps = re.sub(r"\[(\d+)\]", r".\1", path).split(".")
    return tuple(int(step) if step.isdecimal() else step for step in steps)


def _put(value: Any, place: Place, new: Any, named: str) -> None:
    for number, step in enumerate(place, start=1):
        here = ".".join(map(str, place[:number]))
        if isinstance(value, list):
            step = _entry(value, step, here, named)
        elif not isinstance(value, dict) or not isinstance(step, str):
            raise MedjuryError(
                f"{named}: {here} cannot be set: what is above it in the study file has no parts"
            )
        if number == len(place):
            value[step] = new
        else:
            if isinstance(value, dict) and value.get(step) is None:
                value[step] = {}
            value = value[step]


def _entry(value: list[Any], step: str | int, here: str, named: str) -> int:
    """The number of an entry that is there; nothing is appended, for a gap would be filled by guessing."""
    if not isinstance(step, int) or step >= len(value):
        entries = "one entry, number 0" if len(value) == 1 else f"{len(value)} entries, numbered from 0"
        raise MedjuryError(f"{named}: {here} cannot be set: the list has {entries}")
    return step
