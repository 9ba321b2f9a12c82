"""The instrument as it is for one case: where its dimensions are the case's own criteria, those of that case."""

from __future__ import annotations

from dataclasses import replace

from medjury.instruments._instrument import Dimension, Instrument
from medjury.intake.cases import Case, Criterion


def instrument_for(instrument: Instrument, case: Case) -> Instrument:
    """The instrument with one dimension for each criterion of the case, called by the criterion's id; as it is
    where its dimensions are the same for all cases. A case without criteria has no dimension."""
    if not instrument.by_case:
        return instrument
    good, harm = instrument.dimensions
    return replace(
        instrument,
        dimensions=tuple(
            _dimension(each, place, harm if each.points < 0 else good)
            for place, each in enumerate(case.criteria, 1)
        ),
        composites=(),
        parameters={},
    )


def _dimension(criterion: Criterion, place: int, form: Dimension) -> Dimension:
    quote = f'\nIt rests on: "{criterion.quote}"' if criterion.quote else ""
    # The label is the same for all: whether a criterion has negative points is not for a judge to know.
    return replace(form, name=criterion.id, label=f"Criterion {place}", definition=criterion.text + quote)
