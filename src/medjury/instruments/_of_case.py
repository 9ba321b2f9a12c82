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
    form = instrument.dimensions[0]
    return replace(
        instrument,
        dimensions=tuple(_dimension(each, place, form) for place, each in enumerate(case.criteria, 1)),
    )


def _dimension(criterion: Criterion, place: int, form: Dimension) -> Dimension:
    quote = f'\nIt rests on: "{criterion.quote}"' if criterion.quote else ""
    return replace(
        form,
        name=criterion.id,
        label=f"{form.label} {place}",
        definition=criterion.text + quote,
        higher_is_better=criterion.points >= 0,
        safety=criterion.points < 0,
    )
