"""Reads the run folders of HELM: `scenario_state.json` has the answers, `per_instance_stats.json` its scores."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from medjury.foundation import limits
from medjury.foundation.errors import MedjuryError
from medjury.suites._exchange._given import GivenAnswer, GivenRun

STATE, STATISTICS, SPECIFICATION = "scenario_state.json", "per_instance_stats.json", "run_spec.json"


def helm_folders(path: Path) -> list[Path]:
    """The run folders at a path: it is one itself, or holds some (a suite of HELM)."""
    if not path.is_dir():
        return []
    return [path] if (path / STATE).is_file() else sorted(each.parent for each in path.glob(f"*/{STATE}"))


def read_helm_run(folder: Path) -> GivenRun:
    """One run folder. Requests that were changed on purpose (perturbed) and all trials but the first are left out,
    and counted."""
    state = _read(folder / STATE)
    try:
        model = str(state["adapter_spec"]["model"] or state["adapter_spec"]["model_deployment"])
        whole = [each for each in state["request_states"] if not each["instance"].get("perturbation")]
        wanted = [each for each in whole if each.get("train_trial_index", 0) == 0]
        scores = _scores(folder)
        answers = tuple(_answer(each, scores) for each in wanted)
        task = _task(folder)
    except (KeyError, TypeError, AttributeError, IndexError) as error:
        raise MedjuryError(
            f"{folder}: is no run folder of HELM that can be read ({type(error).__name__}: {error})"
        ) from None
    ids = [each.id for each in answers]
    twice = next((each for each in ids if ids.count(each) > 1), None) if len(set(ids)) < len(ids) else None
    if twice is not None:
        raise MedjuryError(f"{folder / STATE}: the instance {twice!r} appears twice; run HELM again")
    told = []
    if left := len(state["request_states"]) - len(whole):
        told.append(f"{folder.name}: {left:,} perturbed requests are left out")
    if left := len(whole) - len(wanted):
        told.append(f"{folder.name}: {left:,} requests of further trials are left out")
    return GivenRun("HELM", task, model, answers, tuple(told))


def _answer(state: Mapping[str, Any], scores: Mapping[str, Mapping[str, float | None]]) -> GivenAnswer:
    instance, result = state["instance"], state.get("result") or {}
    completions = result.get("completions") or []
    failure = ""
    if not result.get("success"):
        failure = str(result.get("error") or "the request failed")[:500]
    elif not completions:
        failure = "the result has no completion"
    first = completions[0] if completions else {}
    mapping = state.get("output_mapping") or {}
    return GivenAnswer(
        str(instance["id"]),
        str(instance["input"]["text"]),
        "" if failure else str(first["text"]),
        tuple(str(mapping[letter]) for letter in sorted(mapping)),
        failure,
        str((first.get("finish_reason") or {}).get("reason", "")),
        gold=tuple(
            str(each["output"]["text"])
            for each in instance.get("references") or ()
            if "correct" in each["tags"]
        ),
        scores={} if failure else scores.get(str(instance["id"]), {}),
    )


def _scores(folder: Path) -> dict[str, dict[str, float | None]]:
    """HELM's own numbers of every instance; a statistic of nothing has none."""
    if not (folder / STATISTICS).is_file():
        return {}
    found: dict[str, dict[str, float | None]] = {}
    for each in _read(folder / STATISTICS):
        if each.get("train_trial_index", 0) or each.get("perturbation"):
            continue
        for name, mean in _means(each["stats"]):
            found.setdefault(str(each["instance_id"]), {})[name] = mean
    return found


def _means(statistics: Any) -> Iterator[tuple[str, float | None]]:
    for each in statistics:
        if each["name"].get("perturbation") is None:
            mean = each.get("mean") if each.get("count") else None
            yield str(each["name"]["name"]), None if mean is None else float(mean)


def _task(folder: Path) -> str:
    """The run's name less its model: `pubmed_qa:model=openai_gpt-4o` is `pubmed_qa`."""
    named = _read(folder / SPECIFICATION) if (folder / SPECIFICATION).is_file() else {}
    scenario, _, words = str(named.get("name") or folder.name).partition(":")
    kept = [
        each for each in words.split(",") if each and not each.startswith(("model=", "model_deployment="))
    ]
    return " ".join([scenario, *kept])


def _read(path: Path) -> Any:
    try:
        text = limits.read_bytes(path).decode("utf-8")
        limits.check_depth(path, text)
        return json.loads(text)
    except (OSError, ValueError, RecursionError) as error:
        raise MedjuryError(
            f"{path}: cannot be read as JSON ({type(error).__name__}); copy it again"
        ) from None
