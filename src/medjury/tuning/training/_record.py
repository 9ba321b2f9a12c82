"""What a training leaves to read: its curves as a table, its manifest, and a page of plain words."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from medjury.foundation.files import write_whole

PLAN, TRAINING, CURVES, SUMMARY = "plan.json", "training.json", "curves.csv", "summary.txt"
COLUMNS = (
    "step", "epoch", "loss", "eval_loss", "learning_rate", "rewards/margins", "eval_rewards/margins",
    "rewards/accuracies", "eval_rewards/accuracies", "rewards/chosen", "rewards/rejected", "mean_token_accuracy",
)  # fmt: skip


def _text(facts: Mapping[str, Any]) -> str:
    """A finished training in a few lines."""
    lines = [
        f"{facts['method'].upper()} of {facts['base']}: {facts['lessons']:,} lessons, {facts['steps']:,} steps",
        facts["weights"],
        f"loss: {_moved(facts['loss'])}",
    ]
    if facts["margin"]:
        lines.append(f"reward margin: {_moved(facts['margin'])}")
    if facts["development_loss"] is not None:
        lines.append(f"loss on the development cases: {facts['development_loss']:.4g}")
    if facts["development_margin"] is not None:
        lines.append(f"reward margin on the development cases: {facts['development_margin']:.4g}")
    if facts["too_long"]:
        lines.append(
            f"{facts['too_long']:,} lessons are longer than {facts['longest']:,} tokens and were left out"
        )
    lines.append(
        f"{facts['seconds_per_step']} s a step on {facts['device']}, peak memory {facts['peak_memory_gb']} GB, "
        f"{facts['hours']:.3f} hours x {max(facts['gpus'], 1)} {'GPU' if facts['gpus'] else 'CPU'}"
    )
    cost = facts["cost"]
    lines.append("cost: not known (say --price-per-hour)" if cost is None else f"cost: {cost:.2f}")
    return "\n".join(lines)


def read_trained(folder: Path) -> dict[str, Any]:
    """The facts of the manifest of a finished training."""
    return dict(json.loads((folder / TRAINING).read_text(encoding="utf-8")))


def write_trained(
    folder: Path,
    facts: Mapping[str, Any],
    logged: Sequence[Mapping[str, Any]],
    sittings: Sequence[Mapping[str, Any]],
    price_per_gpu_hour: float | None,
) -> dict[str, Any]:
    """Write curves, manifest and summary; the manifest last, for where it is the training is finished."""
    write_whole(folder / CURVES, curves(logged))
    hours = sum(each["seconds"] for each in sittings) / 3600
    last = sittings[-1]
    devices = max(max(each["gpus"] for each in sittings), 1)
    found = {
        **facts,
        "steps": max((each["step"] for each in logged), default=0),
        "loss": _ends(logged, "loss"),
        "margin": _ends(logged, "rewards/margins"),
        "development_loss": _last(logged, "eval_loss"),
        "development_margin": _last(logged, "eval_rewards/margins"),
        "seconds_per_step": last["seconds_per_step"],
        "peak_memory_gb": max(each["peak_memory_gb"] for each in sittings),
        "device": last["device"],
        "gpus": last["gpus"],
        "hours": hours,
        "sittings": len(sittings),
        "price_per_gpu_hour": price_per_gpu_hour,
        "cost": None if price_per_gpu_hour is None else price_per_gpu_hour * hours * devices,
    }
    write_whole(folder / SUMMARY, _text(found) + "\n")
    write_whole(folder / TRAINING, json.dumps(found, indent=1, ensure_ascii=False) + "\n")
    return found


def curves(logged: Sequence[Mapping[str, Any]]) -> str:
    """What was logged as a table, one row a step; training and development values of a step share its row."""
    by_step: dict[int, dict[str, Any]] = {}
    for entry in logged:
        by_step.setdefault(int(entry["step"]), {}).update(entry)
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows(by_step[step] for step in sorted(by_step))
    return text.getvalue()


def _ends(logged: Sequence[Mapping[str, Any]], name: str) -> list[float] | None:
    """The mean of the first and of the last fifth of a curve: one step alone says little."""
    values = [float(each[name]) for each in logged if name in each]
    if not values:
        return None
    part = max(1, len(values) // 5)
    return [sum(values[:part]) / part, sum(values[-part:]) / part]


def _last(logged: Sequence[Mapping[str, Any]], name: str) -> float | None:
    return next((float(each[name]) for each in reversed(logged) if name in each), None)


def _moved(ends: Sequence[float]) -> str:
    return f"{ends[0]:.4g} in the first fifth of the steps, {ends[1]:.4g} in the last"
