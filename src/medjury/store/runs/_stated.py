"""What a study file states before the run: the rules of the gate, and what the report shows."""

from __future__ import annotations

import hashlib
import json
from typing import Literal

from medjury.store.runs._part import RunPart

DangerBy = Literal["any", "mean", "majority"]


class GateRules(RunPart):
    """The limits of the colleague test. The defaults are the loosest that may be called VALIDATED: a study may
    state stricter ones; with looser ones its best word is AUXILIARY.

    `statistic` is the coefficient of agreement. The jury may agree with a clinician by `margin` less than a
    colleague does, on the whole, within cases and within systems; it may miss `missed_margin` more of what a
    clinician calls dangerous; its mean may lie within `offset_limit` of the scale; of what all clinicians call
    dangerous it may miss `severe_limit`; and clinicians' own agreement must reach `floor`. `danger` says which
    grades are dangerous: below 1 it is a share of the scale (on grades 1 to 5, 0.25 makes 2 or lower dangerous),
    from 1 on it is the grade itself. `gap` is the share of the scale that makes a miss: 0.5 is two grades of 1 to
    5. `severe_dimensions` carry danger; None means those that the instrument marks.

    `minimum_doubly_rated` counts answers that two clinicians rated, `minimum_cases` the patients or cases behind
    them. `copy_limit` is the share of identical scores from which a jury that is closer to one clinician than that
    clinician's colleagues are counts as a copy. `parts` names columns that must be known; None means every column
    with few values. `danger_by` says whose word counts in tables of severe errors; no verdict rests on it.
    `development_cases` served to write prompts, choose examples, tune or calibrate: they are never counted.
    """

    statistic: str = "kappa_quadratic"
    margin: float = 0.1
    missed_margin: float = 0.05
    offset_limit: float = 0.125
    severe_limit: float = 0.1
    floor: float = 0.4
    coverage: float = 0.95
    copy_limit: float = 0.95
    minimum_cases: int = 30
    minimum_clinicians: int = 2
    minimum_doubly_rated: int = 50
    danger: float = 0.25
    danger_by: DangerBy = "any"
    gap: float = 0.5
    parts: tuple[str, ...] | None = None
    severe_dimensions: tuple[str, ...] | None = None
    development_cases: tuple[str, ...] = ()

    def hash(self) -> str:
        """The hash of all rules that are not the default: one that a later version adds changes no earlier hash."""
        known = GateRules(**{name: getattr(self, name) for name in GateRules.model_fields})
        stated = known.model_dump(mode="json", exclude_defaults=True)
        return hashlib.sha256(json.dumps(stated, sort_keys=True).encode()).hexdigest()

    def loosened(self) -> tuple[tuple[str, float, float], ...]:
        """(limit, stated, loosest for VALIDATED) where the stated one is looser."""
        ours = GateRules()
        wider = [(name, 1) for name in _MOST] + [(name, -1) for name in _LEAST]
        return tuple(
            (name, getattr(self, name), getattr(ours, name))
            for name, sign in wider
            if sign * (getattr(self, name) - getattr(ours, name)) > 1e-9
        )


# Limits that are looser the larger they are, and those that are looser the smaller they are.
_MOST = ("margin", "missed_margin", "offset_limit", "severe_limit", "gap", "copy_limit")
_LEAST = ("floor", "coverage", "minimum_cases", "minimum_clinicians", "minimum_doubly_rated")


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
    saves the figures as pixels too, beside SVG. `note` is what everybody who reads the first page must know.
    `product`, `owner`, `decision` and `review_by` (a day) fill the board memo; what is "" is a line there to fill
    by hand."""

    note: str = ""
    product: str = ""
    owner: str = ""
    decision: str = ""
    review_by: str = ""
    clinician_cost_per_hour: float | None = None
    clinician_minutes_per_case: float | None = None
    system_vendors: dict[str, str] | None = None
    rank_by: tuple[str, ...] | None = None
    cases_shown: int = 20
    hide_texts: bool = False
    png: bool = False
    resamples: int = 2000
    seed: int = 0
