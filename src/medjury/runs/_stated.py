"""What a study file states before the run: the rules of the gate, and what the report shows."""

from __future__ import annotations

from medjury.runs._part import RunPart


class GateRules(RunPart):
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


class StatedGate(GateRules):
    """The rules as a run recorded them: when they were stated, and the `earlier` ones they replaced there."""

    stated_at: str | None = None
    earlier: tuple[StatedGate, ...] = ()

    def says(self, rules: GateRules) -> bool:
        """Whether these are the very rules."""
        return all(getattr(self, name) == getattr(rules, name) for name in GateRules.model_fields)


class ReportSettings(RunPart):
    """What the report shows. A clinician's minutes per case come from the ratings where the panel measured them;
    money is in the currency of the price list. `system_vendors` says who made each system, for the audit of
    self-preference. `png` saves the figures as pixels too, beside SVG."""

    clinician_cost_per_hour: float | None = None
    clinician_minutes_per_case: float | None = None
    system_vendors: dict[str, str] | None = None
    cases_shown: int = 20
    hide_texts: bool = False
    png: bool = False
    resamples: int = 2000
    seed: int = 0
