"""A study file whose models are swapped for recorded ones, so that it runs without endpoints and keys."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from medjury.foundation.documents import read_document
from medjury.foundation.errors import MedjuryError
from medjury.models import KINDS
from medjury.store.runs import SCORES

# What is said of a model beside where it is reached: which one it is, and how it is asked.
_KEPT = frozenset({"model", "vendor", "context_window", "top_p", "top_k", "sampling"})
_REACHED = {option for kind in KINDS.values() for option in kind.options} - _KEPT
_PACE = {"requests_per_minute", "tokens_per_minute"}
_OF_THE_RUN = ("allow_hosts", "store", "output", "budget", "protocol")


def replayed_study(study: Path, answers: Path, replay: Path) -> str:
    """The study file with every model answering from `answers`: where models are reached and where the run is kept
    is left out, the replay has a run folder of its own, and everything else is as it was."""
    import yaml

    if replay.resolve().parent != study.resolve().parent:
        raise MedjuryError(f"{replay}: write it beside {study}, whose paths it keeps")
    if replay.resolve() == study.resolve():
        raise MedjuryError(f"{replay}: is the study file itself; give another name")
    settings = {name: value for name, value in read_document(study).value.items() if name not in _OF_THE_RUN}
    settings["output"] = f"runs/{settings['study']}-replay"  # beside the run, not over it
    file = Path(os.path.relpath(answers.resolve(), replay.resolve().parent)).as_posix()
    judges = [{"kind": each} if isinstance(each, str) else each for each in settings["judges"]]
    settings["judges"] = [_named(_swapped(each, file), each, "name") for each in judges]
    if "drafting" in settings:
        settings["drafting"] = _named(_swapped(settings["drafting"], file), settings["drafting"], "system")
    top = f"# Written by `medjury record`: the models answer from {file}.\n"
    return top + yaml.safe_dump(settings, sort_keys=False, allow_unicode=True)


def _swapped(value: Any, file: str) -> Any:
    """Every model in a part of the file, however deep."""
    if isinstance(value, list):
        return [_swapped(each, file) for each in value]
    if not isinstance(value, dict) or value.get("kind") == SCORES:
        return value
    away = _REACHED | _PACE if "kind" in value else _PACE | {"url", "api_key_env"}
    kept = {name: _swapped(each, file) for name, each in value.items() if name not in away}
    return kept | {"kind": "recorded", "file": file} if "kind" in value else kept


def _named(swapped: dict[str, Any], before: dict[str, Any], name: str) -> dict[str, Any]:
    """A model without a name is called by its kind, and keeps that name."""
    if before.get(name) or before.get("model"):
        return swapped
    return {name: before["kind"]} | swapped
