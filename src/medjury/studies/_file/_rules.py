"""Budget, rules of the gate, and report, as a study file states them."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field, field_validator

from medjury.foundation.fields import Part
from medjury.store.runs import DangerBy, GateRules, ReportSettings

_RULES, _SHOWN = GateRules(), ReportSettings()


class BudgetPart(Part):
    """The run stops asking at either cap and is then INCOMPLETE."""

    money: float | None = Field(default=None, gt=0)
    calls: int | None = Field(default=None, ge=1)


class GatePart(Part):
    """What must be shown before the jury may be trusted: see docs/report.md. State it before the run."""

    statistic: Literal["kappa_quadratic", "icc_2_1", "spearman"] = "kappa_quadratic"
    margin: float = Field(default=_RULES.margin, gt=0, le=2)
    missed_margin: float = Field(default=_RULES.missed_margin, gt=0, le=1)
    floor: float = Field(default=_RULES.floor, ge=-1, le=1)
    minimum_cases: int = Field(default=_RULES.minimum_cases, ge=1)
    minimum_clinicians: int = Field(default=_RULES.minimum_clinicians, ge=1)
    minimum_doubly_rated: int = Field(default=_RULES.minimum_doubly_rated, ge=0)
    offset_limit: float = Field(default=_RULES.offset_limit, gt=0, le=1)
    severe_limit: float = Field(default=_RULES.severe_limit, ge=0, le=1)
    danger: float = Field(default=_RULES.danger, ge=0)
    danger_by: DangerBy = _RULES.danger_by
    gap: float = Field(default=_RULES.gap, gt=0, le=1)
    coverage: float = Field(default=_RULES.coverage, ge=0, le=1)
    copy_limit: float = Field(default=_RULES.copy_limit, gt=0, le=1)
    parts: list[str] | None = None
    severe_dimensions: list[str] | None = None
    development_cases: list[str] | str = []


class InjectionPart(Part):
    """So many cases are judged again with instructions planted in the judged text: see docs/auditing.md."""

    cases: int = Field(default=30, ge=5, le=1000)


class AuditsPart(Part):
    """Audits that ask the judges more questions than the study itself does."""

    injection: InjectionPart | None = None


class ReportPart(Part):
    """What the report shows: see docs/report.md."""

    note: str = Field(default="", max_length=300)
    clinician_cost_per_hour: float | None = Field(default=None, ge=0)
    clinician_minutes_per_case: float | None = Field(default=None, gt=0)
    system_vendors: dict[str, str] | None = None
    rank_by: list[str] | None = Field(default=None, min_length=1)
    cases_shown: int = Field(default=_SHOWN.cases_shown, ge=0, le=500)
    hide_texts: bool = False
    png: bool = False
    resamples: int = Field(default=_SHOWN.resamples, ge=200, le=100_000)
    seed: int = 0

    @field_validator("rank_by", mode="before")
    @classmethod
    def _one_name_is_enough(cls, value: Any) -> Any:
        return [value] if isinstance(value, str) else value
