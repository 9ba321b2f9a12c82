"""The tuned instrument as a file: an ordinary instrument, with what its tuning says of itself in its parameters."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from medjury.foundation.errors import MedjuryError
from medjury.foundation.files import whole_file
from medjury.instruments import Instrument, load_instrument
from medjury.studies import TUNED

_HEAD = """\
# Tuned by medjury. Use it as any instrument: `instrument: {name}` in a study file, or in the entry of one judge.
# `parameters.tuning.touched` are hashes of the cases it was tuned on: no study may validate it on them. Leave them.
"""


def with_facts(instrument: Instrument, facts: Mapping[str, Any], touched: Iterable[str]) -> Instrument:
    """The instrument with what its tuning says of itself."""
    stated = {**facts, "touched": " ".join(sorted(touched))}
    return replace(instrument, parameters={**instrument.parameters, TUNED: stated})


def write_instrument(instrument: Instrument, file: Path) -> None:
    """Write the file, read it back, and refuse to leave one that says anything else than what was tuned."""
    import yaml

    class Dumper(yaml.SafeDumper):
        pass

    def text(dumper: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
        style = "|" if "\n" in value else None
        return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)

    Dumper.add_representer(str, text)
    content = yaml.dump(
        instrument_content(instrument), Dumper=Dumper, sort_keys=False, allow_unicode=True, width=110
    )
    with whole_file(file) as opened:
        opened.write(_HEAD.format(name=file.name) + content)
    if load_instrument(file).fingerprint() != instrument.fingerprint():
        raise MedjuryError(f"{file}: the file does not say what was tuned; tell the authors of medjury")


def instrument_content(instrument: Instrument) -> dict[str, Any]:
    """An instrument as its file has it; what is as by default is left out."""
    content: dict[str, Any] = {
        "name": instrument.name,
        "version": instrument.version,
        "title": instrument.title,
        "citation": instrument.citation,
        "licence": instrument.licence,
        "notes": instrument.notes,
        "instructions": instrument.instructions,
        "inputs": [
            _stated({"name": each.name, "label": each.label, "description": each.description})
            | ({} if each.required else {"required": False})
            for each in instrument.inputs
        ],
        "dimensions": [
            {
                "name": each.name,
                "label": each.label,
                "definition": each.definition,
                "grades": dict(each.grades),
            }
            | ({} if each.higher_is_better else {"higher_is_better": False})
            | ({"may_be_not_applicable": True} if each.may_be_not_applicable and each.skip is None else {})
            | (
                {"skip": {"dimension": each.skip.dimension, "equals": each.skip.equals}}
                if each.skip is not None
                else {}
            )
            for each in instrument.dimensions
        ],
        "reversed": [
            _stated({"name": each.name, "of": each.of, "label": each.label}) for each in instrument.reversed
        ],
        "composites": [
            _stated({"name": each.name, "weights": dict(each.weights), "label": each.label})
            | ({"needs_every_part": True} if each.needs_every_part else {})
            for each in instrument.composites
        ],
        "examples": [
            {"inputs": dict(each.inputs), "scores": dict(each.scores)}
            | _stated({"explanation": each.explanation})
            for each in instrument.examples
        ],
        "parameters": dict(instrument.parameters),
    }
    return _stated(content)


def _stated(content: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in content.items() if value not in ("", [], {})}
