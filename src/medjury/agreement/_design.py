"""The design of an agreement study: who is the reference, who is compared, and what is asked."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal

from medjury.agreement._pairs.pair import Settings
from medjury.documents import nearest
from medjury.errors import MedjuryError
from medjury.tables import ConsensusRule, known_rater

By = Literal["dimension", "system", "all"]
Level = Literal["item", "system", "both"]
JuryRule = Literal["mean", "median", "majority"]
CONSENSUS, JURY = "consensus", "jury"


def without(name: str) -> str:
    """What the consensus of all references but one is called."""
    return f"{CONSENSUS} without {name}"


@dataclass(frozen=True, slots=True)
class Design:
    """What `agreement` was asked for, with names checked against the ratings."""

    reference: tuple[str, ...]
    compare: tuple[str, ...]
    metrics: frozenset[str]
    clinicians: frozenset[str]
    by: By
    level: Level
    consensus: ConsensusRule
    adjudicator: str | None
    jury: JuryRule | None
    panel: str | None
    severe: tuple[str, ...]
    threshold: float
    gap: float
    margin: float | None
    settings: Settings

    @property
    def judges(self) -> tuple[str, ...]:
        """The compared raters that make a jury: no metric, no clinician, no reference, no second panel."""
        no_judges = {*self.metrics, *self.clinicians, *self.reference, self.panel}
        return tuple(name for name in self.compare if name not in no_judges)

    def check(self, raters: Sequence[str], dimensions: Sequence[str]) -> None:
        """Refuse what cannot be meant, given the raters and dimensions there are."""
        if not self.reference or not self.compare:
            raise MedjuryError("name at least one rater as reference and one to compare.")
        named = [*((name, "reference") for name in self.reference), (self.adjudicator, "adjudicator")]
        named += [(self.panel, "second panel"), *((name, "compared rater") for name in self.compare)]
        for name, role in named:
            if name is not None:
                known_rater(name, raters, role)
        for name, needed in ((CONSENSUS, len(self.reference) > 1), (JURY, self.jury is not None)):
            if needed and name in raters:
                raise MedjuryError(f"a rater is called {name!r}, the name of the group made here; rename it.")
        for name in self.severe:
            if name not in dimensions:
                raise MedjuryError(f"severe errors are asked for {name!r}; {nearest(name, dimensions)}")
        for names, role in ((self.reference, "reference"), (self.compare, "compare")):
            if len(set(names)) != len(names):
                raise MedjuryError(f"a rater stands twice in {role}: {', '.join(names)}.")
        if set(self.reference) >= set(self.compare) and len(self.reference) == 1:
            raise MedjuryError(f"{self.reference[0]!r} cannot be compared with itself alone.")
        _choice("by", self.by, ("dimension", "system", "all"))
        _choice("level", self.level, ("item", "system", "both"))
        _choice("consensus", self.consensus, ("mean", "median", "majority", "adjudicated"))
        if self.jury is not None:
            _choice("jury", self.jury, ("mean", "median", "majority"))
            if len(self.judges) < 2:
                raise MedjuryError("a jury needs two or more compared raters that are judges.")
        if (self.consensus == "adjudicated") != (self.adjudicator is not None):
            raise MedjuryError("an adjudicated consensus and the adjudicator's name go together; give both.")
        if self.margin is not None and len(self.reference) < 2:
            raise MedjuryError("a non-inferiority margin needs two or more references to compare with.")
        if self.margin is not None and not self.margin > 0:
            raise MedjuryError(f"a non-inferiority margin is a positive number, not {self.margin:g}.")
        if self.severe and self.by == "all":
            raise MedjuryError(
                "severe errors are counted on single dimensions; leave out by='all' (--by all)."
            )
        if self.settings.seed < 0:
            raise MedjuryError(f"a seed is a whole number from 0 on, not {self.settings.seed}.")
        if self.settings.resamples < 0:
            raise MedjuryError(
                f"the number of resamples cannot be {self.settings.resamples}; 0 means no intervals."
            )


def _choice(name: str, value: str, known: Collection[str]) -> None:
    if value not in known:
        raise MedjuryError(f"{name} cannot be {value!r}; use {', '.join(known)}.")
