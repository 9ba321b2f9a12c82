"""What a study file states before the run: the rules of the gate, and what the report shows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any


@dataclass(frozen=True, slots=True)
class GateRules:
    """The gate. Defaults are starting points for a discussion between clinicians and statisticians: a site
    states its own in the study file, before it has seen a score.

    `statistic` is averaged over the jury's pairs with single clinicians, so that it can be compared with the
    clinicians' own pairs. `danger` and `gap` are shares of the scale: on grades 1 to 5, 0.25 makes 2 or less
    dangerous and 0.5 makes two grades too kind a severe error. `development_cases` names cases that served to
    write prompts, choose examples, tune or calibrate: they are never counted. `severe_dimensions` None means
    every dimension.
    """

    minimum_cases: int = 100
    minimum_clinicians: int = 2
    statistic: str = "kappa_quadratic"
    floor: float = 0.4
    margin: float = 0.1
    severe_limit: float = 0.1
    danger: float = 0.25
    gap: float = 0.5
    coverage: float = 0.95
    severe_dimensions: tuple[str, ...] | None = None
    development_cases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ReportSettings:
    """What the report shows. A clinician's minutes per case come from the ratings where the panel measured them;
    money is in the currency of the price list. `system_vendors` says who made each system, for the audit of
    self-preference. `png` saves the figures as pixels too, beside SVG."""

    clinician_cost_per_hour: float | None = None
    clinician_minutes_per_case: float | None = None
    system_vendors: Mapping[str, str] | None = None
    cases_shown: int = 20
    hide_texts: bool = False
    png: bool = False
    resamples: int = 2000
    seed: int = 0


def rules_from(stated: Mapping[str, Any] | None) -> GateRules:
    """Rules as a manifest holds them; what it does not name has its default."""
    return GateRules(**_known(GateRules, stated))


def settings_from(stated: Mapping[str, Any] | None) -> ReportSettings:
    """Settings as a manifest holds them."""
    return ReportSettings(**_known(ReportSettings, stated))


def _known(kind: type[GateRules] | type[ReportSettings], stated: Mapping[str, Any] | None) -> dict[str, Any]:
    names = {field.name for field in fields(kind)}
    values = {name: value for name, value in (stated or {}).items() if name in names}
    return {name: tuple(value) if isinstance(value, list) else value for name, value in values.items()}
