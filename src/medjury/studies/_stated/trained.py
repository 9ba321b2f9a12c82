"""Judges that were trained: what their training says of itself, and the cases that it saw.

A judge names its training's folder (`trained: FOLDER`); a GGUF file that was exported into such a folder names it
by lying there. What a preference training started from is counted with it: its hours, its cost, its labels.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from medjury.foundation.errors import MedjuryError
from medjury.store.runs import files
from medjury.studies._file import JudgePart, ModelPart
from medjury.studies._study import Study

_TRAINING, _DATA, _LESSONS = "training.json", "data.json", ("train.jsonl", "development.jsonl")


def training_folder(study: Study, part: ModelPart) -> Path | None:
    """The folder of the training that a judge comes from; None where it comes from none, or is no judge."""
    if not isinstance(part, JudgePart):
        return None
    home = study.file.resolve().parent
    if part.trained is not None:
        folder = home / part.trained
        if not (folder / _TRAINING).is_file():
            raise MedjuryError(
                f"{study.file}: judge {part.name or part.kind}: {folder} has no {_TRAINING}; name the folder of a "
                "finished training in `trained`"
            )
        return folder
    weights = part.options.get("weights")
    beside = Path(weights).expanduser().parent if isinstance(weights, str) else None
    return beside if beside is not None and (beside / _TRAINING).is_file() else None


def training_folders(study: Study) -> Iterator[Path]:
    """Every training that a judge of the study comes from, and what it started from, each once."""
    seen: dict[Path, None] = {}
    for part in study.settings.judges:
        folder = training_folder(study, part)
        seen |= dict.fromkeys(() if folder is None else _chain(folder))
    yield from seen


def trained_facts(study: Study, part: ModelPart) -> dict[str, Any]:
    """What the report tells of a trained judge; empty where nobody trained it."""
    folder = training_folder(study, part)
    if folder is None:
        return {}
    chain = [(_read(each / _TRAINING), _read(each / _DATA), each) for each in _chain(folder)]
    cases = {name: set[str]() for name in ("training", "development")}
    for _, data, _ in chain:
        for name, known in cases.items():
            known |= set(data.get("sides", {}).get(name, ()))
    costs = [facts.get("cost") for facts, _, _ in chain]
    labels = {label for *_, each in chain for label in _labels(each)}
    return {
        "way": " after ".join(str(facts["method"]).upper() for facts, _, _ in chain),
        "training": len(cases["training"]),
        "validation": len(cases["development"] - cases["training"]),
        "labels": len(labels) or None,
        "calls": None,
        "cost": None if None in costs else sum(costs),
        "hours": sum(facts["hours"] * max(facts["gpus"], 1) for facts, _, _ in chain),
        "device": chain[0][0]["device"],
    }


def marks_of(folder: Path) -> list[str]:
    """The marks of the cases that a training saw."""
    return list(_read(folder / files.TOUCHED).get("marks", ()))


def _chain(folder: Path) -> Iterator[Path]:
    """The training, then the one whose merged weights it started from, and so on."""
    while (folder / _TRAINING).is_file():
        yield folder
        folder = Path(str(_read(folder / _TRAINING).get("base", ""))).parent


def _labels(folder: Path) -> Iterator[tuple[str, str, str]]:
    """Whose grades of which answer were learned from; completions that are shown again count once."""
    for name in _LESSONS:
        lines = (folder / name).read_text(encoding="utf-8").splitlines() if (folder / name).is_file() else []
        for row in map(json.loads, lines):
            if row.get("rater"):
                yield row["item"], row["system"], row["rater"]


def _read(file: Path) -> dict[str, Any]:
    return dict(json.loads(file.read_text(encoding="utf-8"))) if file.is_file() else {}
