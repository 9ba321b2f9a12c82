"""A rater whose dimensions are the criteria of each case: made anew for every case, with that case's instrument."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from medjury.foundation.errors import MedjuryError
from medjury.instruments import Instrument, Unscored, instrument_for
from medjury.intake.cases import Case
from medjury.judging._around import Around
from medjury.judging._quotations import Source, locate
from medjury.judging._rater import Beginnings, Expected, Rated, Rater, Unit
from medjury.models import Gate
from medjury.store.ratings import Rating

# What is added to the evidence of a mark whose quotation we did not find.
NOT_FOUND = "[The quotation is not in the answer.]"
_QUOTES = re.compile(r"[\"“„«]([^\"“”„«»]+)[\"”“»]")
_FEWEST_WORDS = 3  # fewer are a name or a term


def with_checked_quotation(rating: Rating, source: Source) -> Rating:
    """A mark that calls a criterion met by words that the answer does not have keeps its score, and says so. Where
    a criterion is not met, a quotation is often of what is lacking."""
    quotes = [each for each in _QUOTES.findall(rating.explanation) if len(each.split()) >= _FEWEST_WORDS]
    if rating.score != 1 or not quotes or any(locate(each, source) for each in quotes):
        return rating
    return replace(rating, explanation=f"{rating.explanation} {NOT_FOUND}")


class _Quoted(Around):
    """Looks up, in the answer, what a judge quotes as its evidence."""

    async def rate(self, unit: Unit, gate: Gate) -> Rated:
        rated = await self.rater.rate(unit, gate)
        if not unit.case.candidate:
            return rated
        source = Source("answer", unit.case.candidate)
        return replace(rated, ratings=[with_checked_quotation(each, source) for each in rated.ratings])


class ByCase(Around):
    """A way of judging by the criteria of each case. `make` builds it with an instrument: question, schema, token
    and key are then those of the case, and nothing else differs from any other rater. Its name, models and settings
    are those of the rater made with the form that all criteria share."""

    def __init__(self, instrument: Instrument, make: Callable[[Instrument], Rater]) -> None:
        super().__init__(make(instrument))
        self._form = instrument
        self._make = make
        self._last: tuple[Case, Rater] | None = None

    @property
    def instrument(self) -> Instrument:
        return self._form

    def of(self, case: Case) -> Rater:
        """The rater of one case; units of a case follow each other."""
        if self._last is None or self._last[0].criteria != case.criteria:
            if not case.criteria:
                raise MedjuryError(
                    f"case {case.id!r} has no criteria to be marked by; give it some (`criteria`), or leave it out"
                )
            self._last = case, _Quoted(self._make(instrument_for(self._form, case)))
        return self._last[1]

    def units(self, case: Case, repeat: int) -> list[Unit]:
        return list(self.of(case).units(case, repeat))

    def expected(self, unit: Unit) -> Expected | Unscored:
        return self.of(unit.case).expected(unit)

    def shared(self, unit: Unit) -> Beginnings:
        return self.of(unit.case).shared(unit)

    async def rate(self, unit: Unit, gate: Gate) -> Rated:
        return await self.of(unit.case).rate(unit, gate)
