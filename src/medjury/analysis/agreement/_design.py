"""The design of an agreement study: who is the reference, who is compared, and what is asked."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from medjury.analysis.agreement._pair_statistics import Settings
from medjury.foundation.documents import nearest
from medjury.foundation.errors import MedjuryError
from medjury.store.runs import ConsensusRule, DangerBy
from medjury.tables import CONSENSUS, Measured, Names, RatingTable, Roles, named

By = Literal["dimension", "system", "all"]
AveragingLevel = Literal["item", "system", "both"]


def without(name: str) -> str:
    """What the consensus of all references but one is called."""
    return f"{CONSENSUS} without {name}"


@dataclass(frozen=True, slots=True)
class Danger:
    """With scores turned so that low is dangerous: the reference sees danger at `threshold` or less, and a rater
    who scores it `gap` or more higher makes a severe error. `by` says which of several references count."""

    dimension: Measured
    threshold: float
    gap: float
    by: DangerBy


@dataclass(frozen=True, slots=True)
class Design:
    """What `agreement` was asked for, with names checked against the ratings. `danger` has the dimensions on which
    severe errors are counted."""

    roles: Roles
    kinds: Mapping[str, str]
    by: By
    level: AveragingLevel
    consensus: ConsensusRule
    adjudicator: str | None
    panel: str | None
    danger: Mapping[str, Danger]
    margin: float | None
    settings: Settings

    @property
    def reference(self) -> tuple[str, ...]:
        return self.roles.reference

    @property
    def main_reference(self) -> str:
        """The references' consensus, or the only one."""
        return CONSENSUS if len(self.reference) > 1 else self.reference[0]

    @property
    def judges(self) -> tuple[str, ...]:
        """The single judges among the compared: no metric, no clinician, no reference, no second panel, no jury."""
        return tuple(
            name
            for name in self.roles.raters
            if self.kinds.get(name, "jury") in ("judge", "") and name not in (*self.reference, self.panel)
        )

    @property
    def beside_humans(self) -> tuple[str, ...]:
        """Those who can be put beside the references: on the same scale, and none of them."""
        return tuple(
            name for name in self.roles.raters if name not in self.reference and not self.is_metric(name)
        )

    def is_person(self, name: str) -> bool:
        """Whether a rater is a clinician or a panel: an answer that a person did not rate was not asked for."""
        return self.kinds.get(name) in ("clinician", "panel") or name == self.panel

    def is_metric(self, name: str) -> bool:
        return self.kinds.get(name) == "metric"


def make_design(
    table: RatingTable,
    dimensions: Sequence[Measured],
    *,
    raters: Names | None,
    reference: Names | None,
    by: By,
    level: AveragingLevel,
    consensus: ConsensusRule | None,
    adjudicator: str | None,
    panel: str | None,
    severe: Names | None,
    threshold: float | None,
    gap: float | None,
    margin: float | None,
    settings: Settings,
) -> Design:
    """The design, or a refusal of what cannot be meant."""
    _choice("by", by, ("dimension", "system", "all"))
    _choice("level", level, ("item", "system", "both"))
    if consensus is None and adjudicator is None:
        consensus, adjudicator = table.people.consensus, table.people.adjudicator or None
    consensus = consensus or "mean"
    _choice("consensus", consensus, ("mean", "median", "majority", "adjudicated"))
    if consensus == "adjudicated" and adjudicator is None:
        adjudicator = table.people.adjudicator or None
    if (consensus == "adjudicated") != (adjudicator is not None):
        raise MedjuryError("an adjudicated consensus and the adjudicator's name go together; give both.")
    for name, part in ((adjudicator, "adjudicator"), (panel, "second panel")):
        if name is not None:
            named(name, table.raters, part)
    aside = [name for name in (adjudicator, panel) if name]
    roles = table.roles(raters, reference, aside=aside, themselves=panel is None)
    if len(roles.reference) < 2:
        consensus, adjudicator = "mean", None  # one rater's scores are nobody's consensus
    if panel is None:
        panel = next(
            (name for name in (table.people.panel, *table.people.second_panel) if name in roles.raters), None
        )
    elif panel not in roles.raters:
        roles = replace(roles, raters=(*roles.raters, panel))
    if len(roles.reference) > 1 and CONSENSUS in table.raters:
        raise MedjuryError(f"a rater is called {CONSENSUS!r}, the name of the group made here; rename it.")
    if set(roles.reference) >= set(roles.raters) and len(roles.reference) == 1:
        raise MedjuryError(f"{roles.reference[0]!r} cannot be compared with itself alone.")
    if margin is None and table.run.manifest is not None and len(roles.reference) > 1:
        margin = table.rules.margin
    if margin is not None and len(roles.reference) < 2:
        raise MedjuryError("a non-inferiority margin needs two or more references to compare with.")
    if margin is not None and not margin > 0:
        raise MedjuryError(f"a non-inferiority margin is a positive number, not {margin:g}.")
    if severe and by == "all":
        raise MedjuryError("severe errors are counted on single dimensions; leave out by='all' (--by all).")
    danger = {} if by == "all" else _danger(table, dimensions, severe, threshold, gap)
    return Design(
        roles, table.raters, by, level, consensus, adjudicator, panel, danger, margin, _checked(settings)
    )


def pooled_together(dimensions: Sequence[Measured]) -> tuple[tuple[Measured, ...], tuple[str, ...]]:
    """The dimensions that are pooled, and the names of those that are not: a yes/no question beside two graded
    dimensions or more is no grade of the same kind, and whoever says 0 there and 4 elsewhere would agree with
    everybody for that alone. So Croxford et al. (2025) pool their eight graded attributes and not the ninth."""
    graded = tuple(each for each in dimensions if each.grades is not None and len(each.grades.values) > 2)
    yes_or_no = [each for each in dimensions if each.grades is not None and len(each.grades.values) == 2]
    if len(graded) < 2:
        return tuple(dimensions), ()
    kept = tuple(each for each in dimensions if each not in yes_or_no)
    return kept, tuple(each.name for each in yes_or_no)


def _danger(
    table: RatingTable,
    dimensions: Sequence[Measured],
    severe: Names | None,
    threshold: float | None,
    gap: float | None,
) -> dict[str, Danger]:
    """Where severe errors are counted: where it is asked for; in a run folder, unless others are named, on the
    dimensions that carry danger."""
    known = {each.name: each for each in dimensions}
    if severe is None:
        claimed = [each.name for each in table.counted if each.claimed_danger(table.rules) is not None]
        wanted = [name for name in known if name in claimed] if table.run.manifest is not None else []
    else:
        wanted = [severe] if isinstance(severe, str) else list(severe)
    found = {}
    for name in wanted:
        if name not in known:
            raise MedjuryError(f"severe errors are asked for {name!r}; {nearest(name, list(known))}")
        limits = known[name].danger(table.rules) or (threshold, gap)
        at, by_how_much = (
            own if own is not None else stated_for
            for own, stated_for in zip((threshold, gap), limits, strict=True)
        )
        if at is None or by_how_much is None:
            raise MedjuryError(
                f"severe errors on {name!r} need its scale (--scale), or else both a threshold and a gap "
                "(--threshold, --gap)."
            )
        found[name] = Danger(known[name], at, by_how_much, table.rules.danger_by)
    return found


def _checked(settings: Settings) -> Settings:
    if settings.seed < 0:
        raise MedjuryError(f"a seed is a whole number from 0 on, not {settings.seed}.")
    if settings.resamples < 0:
        raise MedjuryError(f"the number of resamples cannot be {settings.resamples}; 0 means no intervals.")
    if not 0.5 < settings.confidence < 1:
        raise MedjuryError(
            f"the confidence of an interval lies between 0.5 and 1, such as 0.95, not {settings.confidence:g}."
        )
    return settings


def _choice(name: str, value: str, known: Collection[str]) -> None:
    if value not in known:
        raise MedjuryError(f"{name} cannot be {value!r}; use {', '.join(known)}.")
