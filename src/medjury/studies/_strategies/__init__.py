"""The ways of judging that a study file can name: one file each, with its settings and how it is built. A study
loads the files of those that it names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from medjury.foundation.documents import Document, nearest, validate_part
from medjury.foundation.errors import MedjuryError
from medjury.judging import ModelChecked, Rater
from medjury.studies._planning.context import with_window_rule
from medjury.studies._strategies._setup import Settings, Setup


class Strategy(NamedTuple):
    """The settings a strategy takes in a study file, and the rater they make. `without` names settings of the
    judge's entry that have no meaning for it: stated all the same, they are refused."""

    settings: type[Settings]
    build: Callable[[Any, Setup], Rater]
    without: tuple[str, ...] = ()


def _adaptive() -> Strategy:
    from medjury.studies._strategies.adaptive import AdaptiveSettings, build

    return Strategy(AdaptiveSettings, build)


def _claims() -> Strategy:
    from medjury.studies._strategies.claims import ClaimsSettings, build

    return Strategy(ClaimsSettings, build, ("explain", "per_dimension"))


def _closed_loop() -> Strategy:
    from medjury.studies._strategies.closed_loop import ClosedLoopSettings, build

    return Strategy(ClosedLoopSettings, build)


def _concordance() -> Strategy:
    from medjury.studies._strategies.concordance import ConcordanceSettings, build

    return Strategy(ConcordanceSettings, build)


def _deliberation() -> Strategy:
    from medjury.studies._strategies.deliberation import DeliberationSettings, build

    return Strategy(DeliberationSettings, build, ("explain",))


def _repeats() -> Strategy:
    from medjury.studies._strategies.repeats import RepeatsSettings, build

    return Strategy(RepeatsSettings, build)


def _single() -> Strategy:
    from medjury.studies._strategies.single import SingleSettings, build

    return Strategy(SingleSettings, build)


STRATEGIES: Mapping[str, Callable[[], Strategy]] = {
    "adaptive": _adaptive,
    "claims": _claims,
    "closed_loop": _closed_loop,
    "concordance": _concordance,
    "deliberation": _deliberation,
    "repeats": _repeats,
    "single": _single,
}


def make_rater(document: Document, place: tuple[str | int, ...], setup: Setup) -> Rater:
    """The rater of one judge's entry; what is wrong with it is told with its line of the file."""
    named = setup.part.strategy
    found = STRATEGIES.get(named["name"])
    if found is None:
        hint = nearest(named["name"], list(STRATEGIES))
        problem = f"there is no way of judging called {named['name']!r}; {hint}"
        raise MedjuryError(document.complaint((*place, "strategy"), problem))
    strategy = found()
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
