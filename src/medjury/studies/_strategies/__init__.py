"""The ways of judging that a study file can name: one file each, with its settings and how it is built."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from medjury.documents import Document, nearest, validate_part
from medjury.errors import MedjuryError
from medjury.judging import ModelChecked, Rater
from medjury.studies._planning.context import with_window_rule
from medjury.studies._strategies import (
    adaptive,
    claims,
    closed_loop,
    concordance,
    deliberation,
    repeats,
    single,
)
from medjury.studies._strategies._setup import Settings, Setup


class Strategy(NamedTuple):
    """The settings a strategy takes in a study file, and the rater they make. `without` names settings of the
    judge's entry that have no meaning for it: stated all the same, they are refused."""

    settings: type[Settings]
    build: Callable[[Any, Setup], Rater]
    without: tuple[str, ...] = ()


STRATEGIES: Mapping[str, Strategy] = {
    "adaptive": Strategy(adaptive.AdaptiveSettings, adaptive.build),
    "claims": Strategy(claims.ClaimsSettings, claims.build, ("explain", "per_dimension", "prompt")),
    "closed_loop": Strategy(closed_loop.ClosedLoopSettings, closed_loop.build),
    "concordance": Strategy(concordance.ConcordanceSettings, concordance.build, ("prompt",)),
    "deliberation": Strategy(deliberation.DeliberationSettings, deliberation.build, ("explain", "prompt")),
    "repeats": Strategy(repeats.RepeatsSettings, repeats.build),
    "single": Strategy(single.SingleSettings, single.build),
}


def make_rater(document: Document, place: tuple[str | int, ...], setup: Setup) -> Rater:
    """The rater of one judge's entry; what is wrong with it is told with its line of the file."""
    named = setup.part.strategy
    strategy = STRATEGIES.get(named["name"])
    if strategy is None:
        hint = nearest(named["name"], list(STRATEGIES))
        problem = f"there is no way of judging called {named['name']!r}; {hint}"
        raise MedjuryError(document.complaint((*place, "strategy"), problem))
    for name in strategy.without:
        if name in setup.part.model_fields_set:
            problem = f"has no meaning for the strategy `{named['name']}`; remove it"
            raise MedjuryError(document.complaint((*place, name), problem))
    settings = validate_part(document, (*place, "strategy"), named, strategy.settings)
    try:
        rater = with_window_rule(strategy.build(settings, setup), setup.part, setup.models)
    except MedjuryError as error:
        raise MedjuryError(document.complaint(place, str(error))) from None
    return ModelChecked(rater) if setup.strict else rater


__all__ = ["STRATEGIES", "Settings", "Setup", "Strategy", "make_rater"]
