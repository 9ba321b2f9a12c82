"""A site's own benchmark: the YAML file, and the instrument of its jury where it has a scale of its own."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from string import ascii_uppercase
from typing import Any

from medjury.foundation.errors import MedjuryError
from medjury.foundation.files import write_whole
from medjury.suites._benchmark import Benchmark
from medjury.suites._library._guess import Guess
from medjury.suites._library._read import OTHER, load_benchmark

_MOST_GRADES = 101
_JURY = ("jury", "rouge_l")


def new_benchmark(
    name: str,
    data: Path,
    guess: Guess,
    folder: Path,
    *,
    instrument: str = "",
    scale: tuple[int, int] | None = None,
    higher_is_better: bool = True,
    settings: Mapping[str, Any] | None = None,
) -> Benchmark:
    """Write `NAME.yaml`, and `NAME.instrument.yaml` where a scale is given, and read it back. Nothing is written
    over. `settings` takes the place of what would be written: category, metrics, prompt, title."""
    file = folder / f"{name}.yaml"
    content = _content(name, data, guess, folder)
    if scale is not None or instrument or not guess.gold:
        content |= _graded(guess, f"{name}.instrument.yaml" if scale else instrument or "note_quality")
    content |= {key: value for key, value in (settings or {}).items() if value}
    written = {file: content}
    if scale is not None:
        written[folder / f"{name}.instrument.yaml"] = _instrument(
            name, scale, higher_is_better, bool(guess.gold)
        )
    for each in written:
        if each.exists():
            raise MedjuryError(f"{each}: is there already; choose another name, or remove it first")
    for each, values in written.items():
        write_whole(each, _yaml(values))
    try:
        return load_benchmark(file)
    except MedjuryError:
        for each in written:  # what cannot be read back is of no use to anybody
            each.unlink(missing_ok=True)
        raise


def _content(name: str, data: Path, guess: Guess, folder: Path) -> dict[str, Any]:
    lettered = bool(guess.choices or guess.labels)
    closed = lettered and bool(guess.gold)
    columns: dict[str, Any] = {
        "id": guess.id,
        **{key: column for key, column in guess.inputs.items() if key != column},
    }
    columns |= {"gold": guess.gold} if guess.gold else {}
    columns |= {"patient": guess.patient} if guess.patient else {}
    if guess.choices:
        columns["choices"] = guess.choices[0] if len(guess.choices) == 1 else list(guess.choices)
    options: dict[str, Any] = {"columns": columns}
    if guess.labels:
        options["choices"] = dict(zip(ascii_uppercase, guess.labels, strict=False))
    content = {
        "name": name,
        "version": "1",
        "title": name.replace("_", " "),
        "category": OTHER,
        "description": f"Made from {data.name}.",
        "context": ", ".join(guess.inputs),
        "prompt": _prompt(guess, closed),
        "metrics": ["exact_match"],
        "open": False,
        "gold": f"The column {guess.gold}." if guess.gold else "",
        "access": "private",
        "curation": "new",
        "loader": "table",
        "source": data.name,
        "licence": "the site's own",
        "data": _relative(data, folder),
        "options": options,
    }
    if guess.gold and not closed:
        content |= _graded(guess, "note_quality")
    return content


def _graded(guess: Guess, instrument: str) -> dict[str, Any]:
    return {
        "metrics": list(_JURY) if guess.gold else ["jury"],
        "open": True,
        "instrument": instrument,
        "prompt": _prompt(guess, closed=False),
    }


def _prompt(guess: Guess, closed: bool) -> str:
    parts = [f"{{{name}}}" for name in guess.inputs]
    if len(parts) > 1:
        parts = [f"{name.replace('_', ' ').capitalize()}:\n{{{name}}}" for name in guess.inputs]
    if closed:
        parts += ["{choices}", "Reply with the letter of the right answer alone."]
    return "\n\n".join(parts) + "\n"


def _instrument(name: str, scale: tuple[int, int], higher_is_better: bool, gold: bool) -> dict[str, Any]:
    low, high = scale
    if not low < high or high - low >= _MOST_GRADES:
        raise MedjuryError(
            f"the scale {low} to {high} cannot be graded; give whole numbers, the lower first, such as 1-7"
        )
    worst, best = (low, high) if higher_is_better else (high, low)
    grades = {grade: f"Grade {grade} of {low} to {high}." for grade in range(low, high + 1)}
    grades |= {worst: f"The worst answer ({worst}).", best: f"The best answer ({best})."}
    inputs: list[dict[str, Any]] = [{"name": "context", "label": "What was asked"}]
    if gold:
        inputs.append({"name": "reference", "label": "Gold answer", "required": False})
    return {
        "name": name,
        "version": "1",
        "title": f"Quality of answers to {name.replace('_', ' ')}",
        "instructions": "You grade the answer to a clinical question.",
        "inputs": [*inputs, {"name": "candidate", "label": "Answer to grade"}],
        "dimensions": [
            {
                "name": "quality",
                "label": "Quality",
                "definition": "How right, complete and useful is the answer?",
                "grades": grades,
                "higher_is_better": higher_is_better,
            }
        ],
    }


def _relative(data: Path, folder: Path) -> str:
    absolute, above = data.resolve(), folder.resolve()
    return str(absolute.relative_to(above)) if absolute.is_relative_to(above) else str(absolute)


def _yaml(values: Mapping[str, Any]) -> str:
    import yaml

    class _Dumper(yaml.SafeDumper):
        """Texts of several lines as they are read."""

    def lines(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
        return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)

    _Dumper.add_representer(str, lines)
    return str(yaml.dump(dict(values), Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=110))
