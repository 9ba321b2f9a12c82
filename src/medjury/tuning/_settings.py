"""How a study is tuned: the part `tuning:` of its file, and the presets that fill it."""

from __future__ import annotations

import math
from typing import Any, Literal

from pydantic import Field, model_validator

from medjury.foundation.fields import Part
from medjury.tuning._objective import ObjectiveName

Way = Literal["gepa", "examples"]
# Candidate prompts that each budget is meant for; see `rollouts`.
_CANDIDATES = {"light": 6, "medium": 12, "heavy": 18}
PRESETS: dict[str, dict[str, Any]] = {
    "paper-002": {
        "way": "gepa",
        "split": [218, 30, 50],
        "group": "none",
        "minibatch": 3,
        "budget": "medium",
        "selection": "pareto",
        "skip_perfect": True,
        "candidates": 3,
        "texts": ["instructions"],
        "objective": "cost_matrix",
        "resamples": 1000,
        "runs": 5,
    },
    "paper-004": {
        "way": "examples",
        "shots": [0, 1, 3, 5],
        "split": [160, 20, 20],
        "objective": "quadratic_kappa",
    },
}


class TuningPart(Part):
    """The part `tuning:` of a study file; see docs/tuning.md. `reflector` and `models` are written as judges are.

    `group` is patient (the default), case, none, or a column that every case has, such as the call. `budget` is how
    many judgements of cases the search may take: a number, or light, medium, heavy. `candidates` prompts are
    written in answer to each batch of misses. `evaluate: false` leaves the held-out cases unopened, for a
    registered study."""

    preset: str | None = None
    way: Way = "gepa"
    judge: str | None = None
    dimensions: list[str] | None = None
    objective: ObjectiveName | None = None
    cost_matrix: list[list[float]] | None = None
    split: list[float] = [0.6, 0.2, 0.2]
    group: str = "patient"
    seed: int = 0
    texts: list[str] | None = None
    minibatch: int = Field(default=3, ge=1, le=100)
    budget: int | Literal["light", "medium", "heavy"] = "light"
    candidates: int = Field(default=1, ge=1, le=20)
    selection: Literal["pareto", "current_best"] = "pareto"
    skip_perfect: bool = True
    may_quote: bool = False
    reflector: dict[str, Any] | None = None
    shots: list[int] = [0, 1, 3, 5]
    trials: int = Field(default=20, ge=1, le=1000)
    shortlist: int = Field(default=12, ge=1, le=200)
    evaluate: bool = True
    resamples: int = Field(default=2000, ge=200, le=100_000)
    models: list[dict[str, Any]] = []
    runs: int = Field(default=1, ge=1, le=100)
    learning_curve: list[int] = []
    output: str | None = None

    @model_validator(mode="before")
    @classmethod
    def _preset_first(cls, value: Any) -> Any:
        """What is stated goes before what the preset says."""
        if not isinstance(value, dict) or value.get("preset") is None:
            return value
        name = value["preset"]
        if name not in PRESETS:
            raise ValueError(f"there is no preset {name!r}; there are {', '.join(PRESETS)}")
        return {**PRESETS[name], **value}

    @model_validator(mode="after")
    def _three_sides(self) -> TuningPart:
        if len(self.split) != 3 or min(self.split) < 0 or not self.split[0] or not self.split[1]:
            raise ValueError(
                "split has three sizes: training, validation and held-out; without validation cases the "
                "prompt that fits the training cases best would be chosen"
            )
        if self.models and self.runs < 2:
            raise ValueError(
                "models are each asked several times, to see how far they differ; say `runs: 5` too"
            )
        if not self.split[2] and self.evaluate:
            raise ValueError("split leaves no case held out; give the third size, or say `evaluate: false`")
        return self

    def described(self) -> dict[str, Any]:
        """Everything that determines the way of the search, for the manifest and its hash. How far it goes and what
        is looked at in the end does not: a tuning can be gone on with under a larger budget."""
        later = {"output", "resamples", "budget", "evaluate", "models", "runs", "learning_curve"}
        return self.model_dump(exclude=later)


def rollouts(budget: int | str, texts: int, validation: int) -> int:
    """How many judgements a budget allows: a number as it is; a word as DSPy's GEPA counts it, from the number of
    candidates it is meant for, the texts to tune and the validation cases."""
    if isinstance(budget, int):
        return budget
    candidates = _CANDIDATES[budget]
    trials = int(max(4 * texts * math.log2(candidates), 1.5 * candidates))
    batch, between = 35, 5
    full = (trials + 1) // between + 1 + (1 if trials < between else 0)
    return validation + 5 * candidates + trials * batch + full * validation
