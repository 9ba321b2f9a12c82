"""The suite file as it is written: which benchmarks, which candidates, which jury, and what it may cost."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field, field_validator, model_validator

from medjury.foundation.fields import FileName, Part
from medjury.studies import ModelPart


class BenchmarkPart(Part):
    """A benchmark by its name, or a site's own by its file. Without `data` its made-up rows are used, and the page
    says so. `items` is how many are asked at most, `clinicians` their ratings of the answers, as in a study."""

    name: str = Field(min_length=1)
    data: str | None = None
    items: int | None = Field(default=None, ge=1)
    clinicians: dict[str, Any] | str | None = None


class CandidatePart(ModelPart):
    """A model under test, as judges are named in a study file."""

    name: FileName | None = None

    @property
    def called(self) -> str:
        """The name on the leaderboard."""
        return self.name or str(self.options.get("model") or self.kind)


class JuryPart(Part):
    """How open answers are judged: a preset, its judges or others, and how their votes become one."""

    preset: Literal["medhelm"] = "medhelm"
    judges: list[dict[str, Any]] = []
    llama_url: str | None = None
    aggregate: Literal["mean", "median", "majority"] = "mean"
    quorum: int | None = Field(default=None, ge=1)


class BudgetPart(Part):
    """The run stops asking at either cap and is then INCOMPLETE."""

    money: float | None = Field(default=None, gt=0)
    calls: int | None = Field(default=None, ge=1)


class SuiteFile(Part):
    """The whole file."""

    suite: FileName = "benchmarks"
    benchmarks: list[BenchmarkPart] = Field(min_length=1)
    candidates: list[CandidatePart] = Field(min_length=1)
    jury: JuryPart | None = None
    metrics: list[str | dict[str, str]] = []  # text metrics beside the jury: see docs/text-metrics.md
    budget: BudgetPart = BudgetPart()
    allow_hosts: list[str] = []
    store: str | None = None
    output: str | None = None

    @field_validator("benchmarks", mode="before")
    @classmethod
    def _a_name_is_enough(cls, value: Any) -> Any:
        return (
            [{"name": each} if isinstance(each, str) else each for each in value]
            if isinstance(value, list)
            else value
        )

    @field_validator("candidates", mode="before")
    @classmethod
    def _a_kind_is_enough(cls, value: Any) -> Any:
        return (
            [{"kind": each} if isinstance(each, str) else each for each in value]
            if isinstance(value, list)
            else value
        )

    @field_validator("jury", mode="before")
    @classmethod
    def _one_line_is_enough(cls, value: Any) -> Any:
        """`jury: medhelm`, or the judges as a list."""
        if isinstance(value, str):
            return {"preset": value}
        if isinstance(value, list):
            return {"judges": [{"kind": each} if isinstance(each, str) else each for each in value]}
        return value

    @model_validator(mode="after")
    def _names_are_told_apart(self) -> SuiteFile:
        called = [each.called for each in self.candidates]
        for name in called:
            if called.count(name) > 1:
                raise ValueError(f"two candidates are called {name!r}; give each its own `name`")
        for part in self.benchmarks:
            if [each.name for each in self.benchmarks].count(part.name) > 1:
                raise ValueError(f"the benchmark {part.name!r} appears twice; keep one of them")
        return self
