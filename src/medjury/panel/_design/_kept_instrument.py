"""An instrument as a round keeps it: what raters were asked is known even when the file has changed since."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from medjury.instruments import Dimension, Example, Input, Instrument, SkipRule


def instrument_to_row(instrument: Instrument) -> dict[str, Any]:
    """What a form and its guidance need; the fingerprint names the whole."""
    names = ("name", "version", "title", "instructions")
    kept: dict[str, Any] = {name: getattr(instrument, name) for name in names}
    kept["inputs"] = [asdict(each) for each in instrument.inputs]
    kept["dimensions"] = [
        {**asdict(each), "grades": [[grade, each.grades[grade]] for grade in each.values]}
        for each in instrument.dimensions
    ]
    kept["examples"] = [
        {"inputs": dict(e.inputs), "scores": dict(e.scores), "explanation": e.explanation}
        for e in instrument.examples
    ]
    kept["fingerprint"] = instrument.fingerprint()
    return kept


def instrument_from_row(row: Mapping[str, Any]) -> Instrument:
    return Instrument(
        row["name"],
        row["version"],
        row["title"],
        row["instructions"],
        tuple(Input(**each) for each in row["inputs"]),
        tuple(_dimension(each) for each in row["dimensions"]),
        examples=tuple(Example(**each) for each in row["examples"]),
    )


def _dimension(row: Mapping[str, Any]) -> Dimension:
    skip = row["skip"]
    grades = {int(grade): str(words) for grade, words in row["grades"]}
    return Dimension(**{**row, "grades": grades, "skip": None if skip is None else SkipRule(**skip)})
