"""Reversed dimensions and composites, from the rows on many answers at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from medjury.instruments import Instrument, derive
from medjury.judging._counting.strands import Said, Sources, Strand, Whose, across
from medjury.judging._outcomes import outcome_columns
from medjury.store.ratings import RaterKind, RatingColumns

# Of each rater, by its kind and repeat, the dimensions and the places of its rows.
Places = list[tuple[RaterKind, int, tuple[str, ...], tuple[int, ...]]]
_MOST_KNOWN = 10_000


class Derivation:
    """Reversed dimensions and composites by one instrument. Grades are few: what follows from the same grades is
    worked out once."""

    def __init__(self, instrument: Instrument) -> None:
        self._instrument = instrument
        self._label = f"{instrument.name}@{instrument.version}"
        self._worded = {each.of for each in instrument.reversed}  # the words of these are passed on
        self._names = [
            *(each.name for each in instrument.reversed),
            *(each.name for each in instrument.composites),
        ]
        self._known: dict[tuple[object, ...], list[Said]] = {}

    def following(self, strands: Sequence[Strand], raters: Places) -> Iterator[RatingColumns]:
        """What follows from the rows on answers, for every rater and repeat."""
        for kind, number, names, places in raters:
            given = [strands[place] for place in places]
            sources = Sources(given)
            for name, said in zip(self._names, zip(*self._following(names, given), strict=True), strict=True):
                yield sources.following(said, given[0].raters, kind, name, number)

    def places(self, rows: Iterable[Whose]) -> Places:
        """At which places the rows of each rater and repeat stand, by their dimensions: the same for all answers
        with rows of the same `shape`. Nowhere, where nothing follows from any."""
        if not self._names:
            return []
        raters: dict[tuple[str | int, RaterKind, int], dict[str, int]] = {}
        for place, (rater, kind, number, instrument, dimension) in enumerate(rows):
            if instrument == self._label:
                raters.setdefault((rater, kind, number), {})[dimension] = place
        return [
            (kind, number, tuple(places), tuple(places.values()))
            for (_, kind, number), places in raters.items()
        ]

    def _following(self, names: tuple[str, ...], given: Sequence[Strand]) -> Iterator[list[Said]]:
        """What follows for each answer, in the order of the names of what follows."""
        columns: list[Sequence[Any]] = [strand.votes for strand in given]
        for name, strand in zip(names, given, strict=True):
            if name in self._worded:
                columns += (strand.reasons, strand.explanations)
        for place, said in enumerate(across(columns)):
            known = names, said
            found = self._known.get(known)
            if found is None:
                if len(self._known) >= _MOST_KNOWN:
                    self._known.clear()
                outcomes = {name: strand.outcome(place) for name, strand in zip(names, given, strict=True)}
                following = derive(self._instrument, outcomes)
                found = self._known[known] = [outcome_columns(following[name]) for name in self._names]
            yield found
