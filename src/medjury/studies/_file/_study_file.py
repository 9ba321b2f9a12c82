"""The whole file."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field, field_validator, model_validator

from medjury.foundation.fields import FileName, Part
from medjury.studies._file._cases import CasesPart
from medjury.studies._file._models import DraftingPart, ExamplesPart, JudgePart, ModelCheck
from medjury.studies._file._panel import PanelPart
from medjury.studies._file._people import HumansPart, JuryPart, NamedJuryPart
from medjury.studies._file._rules import AuditsPart, BudgetPart, GatePart, ReportPart


class StudyFile(Part):
    """The whole file."""

    study: FileName
    cases: CasesPart
    instrument: str
    dimensions: list[str] | None = Field(default=None, min_length=1)
    judges: list[JudgePart] = Field(min_length=1)
    jury: JuryPart | None = JuryPart()  # None: the judges stand side by side
    juries: list[NamedJuryPart] | None = Field(default=None, min_length=1)
    repeats: int = Field(default=1, ge=1, le=1000)
    # Text metrics that rate beside the judges (docs/text-metrics.md), and what a worker of a cluster needs for one.
    metrics: list[str | dict[str, str | float | None]] = []
    drafting: DraftingPart | None = None
    humans: HumansPart | None = None
    output: str | None = None
    share: Literal["group"] | None = None  # who else may read the run folder
    store: str | None = None
    store_reconnect_seconds: float = Field(
        default=120.0, ge=0, le=86_400
    )  # how long a run waits for its server
    allow_hosts: list[str] = []
    redact: dict[str, Any] | bool | None = None
    budget: BudgetPart = BudgetPart()
    max_unscored: float = Field(default=0.05, ge=0, le=1)
    model_check: ModelCheck = "tell"  # whether another model's answer is told, or is no answer
    examples: ExamplesPart | None = None
    gate: GatePart = GatePart()
    audits: AuditsPart = AuditsPart()
    protocol: str | None = None  # the file that `medjury register` wrote; by default the one beside the study
    report: ReportPart = ReportPart()
    panel: PanelPart = PanelPart()
    tuning: dict[str, Any] | None = None  # how a judge is improved on labelled cases: see docs/tuning.md
    watch: dict[str, Any] | None = None  # how its jury is watched in use: see docs/watch.md

    @field_validator("jury", mode="before")
    @classmethod
    def _none_is_a_word(cls, value: Any) -> Any:
        if value == "none":
            return None
        if not isinstance(value, dict | JuryPart):
            raise ValueError("is `none`, or how votes become one: `{aggregate: mean, quorum: 2}`")
        return value

    @model_validator(mode="after")
    def _one_way_to_name_juries(self) -> StudyFile:
        if self.juries is not None and "jury" in self.model_fields_set:
            raise ValueError("`jury` and `juries` both say how votes become one; keep one of them")
        return self

    @field_validator("cases", "humans", mode="before")
    @classmethod
    def _a_bare_path_is_enough(cls, value: Any) -> Any:
        return {"path": value} if isinstance(value, str) else value

    @field_validator("judges", mode="before")
    @classmethod
    def _a_bare_kind_is_enough(cls, value: Any) -> Any:
        if isinstance(value, list):
            return [{"kind": each} if isinstance(each, str) else each for each in value]
        return value


class RatedStudyFile(StudyFile):
    """The same for a study that clinicians rate: it needs no judge."""

    judges: list[JudgePart] = []
