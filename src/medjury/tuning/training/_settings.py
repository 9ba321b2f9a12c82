"""How a model is trained: every number, its default, and the settings of published work by name."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from medjury.foundation.documents import nearest
from medjury.foundation.errors import MedjuryError
from medjury.tuning.training._lessons import Method


@dataclass(frozen=True, slots=True)
class TrainSettings:
    """Low-rank adaptation (`rank`, `alpha`, `dropout`) of all linear layers. `batch` lessons make one step, and
    `at_once` of them are in memory together. `four_bit` asks for 4-bit weights, where they are possible. A lesson
    of more than `longest` tokens is left out, never cut. `steps` ends the training early."""

    method: Method = "sft"
    rank: int = 8
    alpha: int = 8
    dropout: float = 0.1
    batch: int = 16
    at_once: int = 1
    rate: float = 1e-4
    beta: float = 0.1
    epochs: float = 3
    four_bit: bool = True
    longest: int | None = None
    steps: int | None = None
    save_steps: int = 50
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("rank", "alpha", "batch", "at_once", "rate", "beta", "epochs", "save_steps"):
            if not getattr(self, name) > 0:
                raise MedjuryError(f"{name} must be more than 0, and is {getattr(self, name)}")
        if not 0 <= self.dropout < 1:
            raise MedjuryError(f"dropout is a share from 0 to below 1, and is {self.dropout}")
        if self.steps is not None and self.steps < 1:
            raise MedjuryError(f"steps must be 1 or more, and is {self.steps}")

    @classmethod
    def chosen(
        cls, method: Method, preset: str | None = None, words: Sequence[str] = (), seed: int = 0
    ) -> TrainSettings:
        """Those of a preset, or the usual ones, with what NAME=VALUE words change."""
        settings = train_preset(preset, method) if preset else cls(method)
        return settings.changed({"seed": seed, **read_settings(words)})

    @property
    def accumulation(self) -> int:
        """How many rounds make one step: the fewest that make up the batch with at most `at_once` lessons."""
        return next(
            n for n in range(1, self.batch + 1) if not self.batch % n and self.batch // n <= self.at_once
        )

    def changed(self, settings: Mapping[str, Any]) -> TrainSettings:
        """The same with other values; an unknown name is refused."""
        known = [each.name for each in fields(self)]
        for name in settings:
            if name not in known:
                raise MedjuryError(f"there is no training setting {name!r}; {nearest(name, known)}")
        return replace(self, **settings)


def _paper(
    method: Method, rank: int, alpha: int, dropout: float, batch: int, rate: float, beta: float
) -> Any:
    epochs = 50 if method == "sft" else 15
    return TrainSettings(method, rank, alpha, dropout, batch, rate=rate, beta=beta, epochs=epochs)


# Croxford et al. (2025), tables 5 and 6; the beta of supervised training is of no use.
TRAIN_PRESETS: Mapping[str, TrainSettings] = {
    "paper-004-mixtral-sft": _paper("sft", 8, 8, 0.1, 16, 1e-7, 0.1),
    "paper-004-mixtral-dpo": _paper("dpo", 8, 8, 0.1, 1, 1e-7, 0.7),
    "paper-004-llama-sft": _paper("sft", 64, 256, 0.0, 32, 1e-4, 0.1),
    "paper-004-llama-dpo": _paper("dpo", 8, 8, 0.1, 1, 1e-7, 0.5),
}


def _asked(temperature: float, top_p: float, max_tokens: int, shots: int, bits: int | None) -> dict[str, Any]:
    """The lines of a judge's entry in a study file, and the bits of its served weights, which are said to the
    server."""
    asked: dict[str, Any] = {
        "temperature": temperature, "top_p": top_p, "max_tokens": max_tokens, "explain": False
    }  # fmt: skip
    return asked | ({"examples": {"shots": shots}} if shots else {}) | {"bits": bits}


# How a judge is asked. The same paper, table 4.
ASKING_PRESETS: Mapping[str, dict[str, Any]] = {
    "paper-004-gpt-4o": _asked(0.01, 0.95, 400, 5, None),
    "paper-004-gpt-o3-mini": _asked(0.01, 0.95, 400, 5, None),
    "paper-004-deepseek-r1": _asked(0.01, 0.95, 400, 0, None),
    "paper-004-deepseek-qwen-32b": _asked(0.7, 1.0, 1000, 0, 8),
    "paper-004-deepseek-llama-8b": _asked(0.7, 1.0, 1000, 0, 8),
    "paper-004-mixtral": _asked(1.0, 1.0, 512, 1, 4),
    "paper-004-llama": _asked(1.0, 1.0, 512, 1, 4),
    "paper-004-phi": _asked(1.0, 1.0, 1000, 0, 4),
}


def train_preset(name: str, method: Method) -> TrainSettings:
    """The settings of that name; those of the other method are refused."""
    if name not in TRAIN_PRESETS:
        raise MedjuryError(f"there is no preset {name!r}; {nearest(name, list(TRAIN_PRESETS))}")
    found = TRAIN_PRESETS[name]
    if found.method != method:
        raise MedjuryError(f"the preset {name} is for {found.method}; take one for {method}")
    return found


def read_settings(pairs: Sequence[str]) -> dict[str, Any]:
    """Settings from NAME=VALUE words; a value is a number, true, false or null."""
    found = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        try:
            found[name] = json.loads(value)
        except ValueError:
            equals = ""
        if not equals:
            raise MedjuryError(
                f"{pair!r} is not a setting; write NAME=VALUE with a number, true, false or null"
            )
    return found


def presets_content() -> dict[str, dict[str, Any]]:
    """Every preset by its name: of a training, and of how a judge is asked."""
    return {
        "training": {name: asdict(own) for name, own in TRAIN_PRESETS.items()},
        "asking": dict(ASKING_PRESETS),
    }


def presets_text() -> str:
    """Every preset in a line."""
    lines = ["settings of a training (--preset NAME):"]
    for name, own in TRAIN_PRESETS.items():
        beta = f", beta {own.beta:g}" if own.method == "dpo" else ""
        lines.append(
            f"  {name}: rank {own.rank}, alpha {own.alpha}, dropout {own.dropout:g}, batch {own.batch}, rate "
            f"{own.rate:g}{beta}, {own.epochs:g} epochs, 4-bit weights"
        )
    lines.append("how a judge is asked (for its entry in a study file):")
    for name, asked in ASKING_PRESETS.items():
        entry = {key: value for key, value in asked.items() if key != "bits"}
        bits = f"  # served with {asked['bits']}-bit weights" if asked["bits"] else ""
        lines.append(f"  {name}: {json.dumps(entry)}{bits}")
    return "\n".join(lines)
