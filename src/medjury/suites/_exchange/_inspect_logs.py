"""Reads logs of Inspect, packed (`.eval`) or as JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from medjury.foundation import limits
from medjury.foundation.errors import MedjuryError
from medjury.intake.cases import EvalLog, as_log, is_log, read_eval_log
from medjury.suites._exchange._given import GivenAnswer, GivenRun

# What Inspect's letters say, as it counts them itself: N is a candidate that gave no answer, which is not right.
_LETTERS = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}


def inspect_logs(path: Path) -> list[Path]:
    """The logs at a path: a file, or a folder of them."""
    if path.is_dir():
        return sorted(
            [*path.glob("*.eval"), *(each for each in path.glob("*.json") if _looks_like_one(each))]
        )
    return [path] if path.suffix == ".eval" or (path.suffix == ".json" and _looks_like_one(path)) else []


def read_inspect_log(path: Path) -> GivenRun:
    """One log. Of several epochs the first is taken, and what is left out is counted."""
    log = read_eval_log(path) if path.suffix == ".eval" else _json_log(path)
    document = log.document
    try:
        first = [each for each in document["samples"] if each.get("epoch", 1) == 1]
        answers = tuple(_answer(each) for each in first)
        task, model = str(document["eval"]["task"]), str(document["eval"]["model"])
    except (KeyError, TypeError, AttributeError, IndexError) as error:
        raise MedjuryError(
            f"{path}: is no log of Inspect that can be read ({type(error).__name__}: {error})"
        ) from None
    told = [*log.told, *(f"{path.name}: {count:,} × {what}" for what, count in log.left_out.items())]
    if left := len(document["samples"]) - len(first):
        told.append(f"{path.name}: {left:,} samples of further epochs are left out")
    return GivenRun("Inspect", task, model, answers, tuple(told))


def _json_log(path: Path) -> EvalLog:
    document = _parsed(path)
    if not is_log(document):
        raise MedjuryError(f"{path}: is no log of Inspect; write one with `inspect log dump FILE > log.json`")
    return as_log(document, path.name)


def _parsed(path: Path) -> Any:
    try:
        text = limits.read_bytes(path).decode("utf-8")
        limits.check_depth(path, text)
        return json.loads(text)
    except (OSError, ValueError, RecursionError):
        return None


def _looks_like_one(path: Path) -> bool:
    return path.is_file() and is_log(_parsed(path))


def _answer(sample: Mapping[str, Any]) -> GivenAnswer:
    output = sample.get("output") or {}
    choices = output.get("choices") or []
    error = sample.get("error") or {}
    failure = str(error.get("message", "the sample ended in an error"))[:500] if error else ""
    if not failure and not choices:
        failure = str(output.get("error") or "the sample has no output")[:500]
    usage = output.get("usage") or {}
    target = sample.get("target")
    return GivenAnswer(
        str(sample["id"]),
        _said(sample.get("input")),
        "" if failure else str(output.get("completion") or _said(choices[0]["message"]["content"])),
        tuple(map(str, sample.get("choices") or ())),
        failure,
        str(choices[0].get("stop_reason", "")) if choices else "",
        int(usage.get("input_tokens") or 0),
        int(usage.get("output_tokens") or 0),
        tuple(map(str, target if isinstance(target, list) else [target] if target else [])),
        {} if failure else dict(_scores(sample.get("scores") or {})),
    )


def _said(content: Any) -> str:
    """The text of an input or message: a text, parts of one, or messages, of which the user's are the question."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    parts = [
        str(each.get("text") or "") if "content" not in each else _said(each["content"])
        for each in content
        if each.get("role") in (None, "user")
    ]
    return "\n".join(part for part in parts if part)


def _scores(scores: Mapping[str, Any]) -> Iterator[tuple[str, float | None]]:
    for scorer, score in scores.items():
        value = score["value"]
        for part, each in value.items() if isinstance(value, dict) else [("", value)]:
            yield (f"{scorer} {part}" if part else scorer), _number(each)


def _number(value: Any) -> float | None:
    if isinstance(value, bool | int | float):
        return float(value) if math.isfinite(value) else None
    return _LETTERS.get(value) if isinstance(value, str) else None
