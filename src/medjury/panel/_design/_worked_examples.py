"""Worked examples that raters see beside the form: the instrument's own, or those kept here for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import resources
from typing import Any


def with_worked_examples(instrument: str, own: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The instrument's examples; where it has none, those of the file that bears its name in this folder.

    They are kept apart from the instrument because they are for people alone: an example in the instrument is part
    of every judge's question.
    """
    if own:
        return [dict(each) for each in own]
    file = resources.files("medjury.panel._design").joinpath("worked_examples", f"{instrument}.yaml")
    if not file.is_file():
        return []
    import yaml

    return list(yaml.safe_load(file.read_text(encoding="utf-8")))
