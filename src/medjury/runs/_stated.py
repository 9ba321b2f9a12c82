"""What a study file states before the run: the rules of the gate, and what the report shows."""

from __future__ import annotations

from typing import Literal

from medjury.runs._part import RunPart

DangerBy = Literal["any", "mean", "majority"]


class GateRules(RunPart):
    """The gate. Defaults are starting points for a discussion between clinicians and statisticians: a site
    states its own in the study file, before it has seen a score.

    `statistic` is averaged over the jury's pairs with single clinicians, so that it can be compared with the
    clinicians' own pairs. `danger` and `gap` are shares of the scale: on grades 1 to 5, 0.25 makes 2 or less
    dangerous and 0.5 makes two grades too kind a severe error. `development_cases` names cases that served to
    write prompts, choose examples, tune or calibrate: they are never counted. `severe_dimensions` None means
    every dimension.

    `minimum_doubly_rated` counts the cases that two clinicians scored: all that is known of how well clinicians
    agree comes from them. `within_floor` is the least correlation with clinicians among answers of one system.
    `offset_limit` is a share of the scale too: on grades 1 to 5, 0.125 is half a grade. `danger_by` says whose word
    makes an answer dangerous. `copy_limit` is the share of identical scores from which a jury that is closer to one
    clinician than that clinician's colleagues are counts as a copy. `parts` names the columns whose groups of cases
    are looked at one by one; None means those that are there of the usual ones.
    """

    minimum_cases: int = 100
    minimum_clinicians: int = 2
    minimum_doubly_rated: int = 50
    statistic: str = "kappa_quadratic"
    floor: float = 0.4
    margin: float = 0.1
    within_floor: float = 0.2
    offset_limit: float = 0.125
    severe_limit: float = 0.1
    danger: float = 0.25
    danger_by: DangerBy = "any"
    gap: float = 0.5
    coverage: float = 0.95
    copy_limit: float = 0.95
    parts: tuple[str, ...] | None = None
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
    self-preference, `rank_by` on which dimensions or composites systems are ranked (None: all dimensions). `png`
    saves the figures as pixels too, beside SVG. `note` is what everybody who reads the first page must know."""

    note: str = ""
    clinician_cost_per_hour: float | None = None
    clinician_minutes_per_case: float | None = None
    system_vendors: dict[str, str] | None = None
    rank_by: tuple[str, ...] | None = None
    cases_shown: int = 20
    hide_texts: bool = False
    png: bool = False
    resamples: int = 2000
    seed: int = 0
