"""A rater around another one: everything is the inner rater's own but what the outer one changes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from medjury.instruments import Instrument, Unscored
from medjury.intake.cases import Case
from medjury.judging._context.shortening import Truncation
from medjury.judging._rater import Beginning, Expected, Rated, Rater, Unit, make_units
from medjury.models import ChatModel, Gate


class Around:
    """A rater that passes everything on; see `Rater` for what each is."""

    def __init__(self, rater: Rater) -> None:
        self.rater = rater

    @property
    def name(self) -> str:
        return self.rater.name

    @property
    def instrument(self) -> Instrument:
        return self.rater.instrument

    @property
    def models(self) -> Sequence[ChatModel]:
        return self.rater.models

    @property
    def groups(self) -> Sequence[tuple[str, ...]]:
        return self.rater.groups

    @property
    def revises_as(self) -> str:
        return self.rater.revises_as

    @property
    def truncation(self) -> Truncation | None:
        return self.rater.truncation

    def settings_hash(self) -> str:
        return self.rater.settings_hash()

    def describe(self) -> Mapping[str, object]:
        return self.rater.describe()

    def units(self, case: Case, repeat: int) -> list[Unit]:
        self.rater.units(case, repeat)  # which may refuse the case
        return make_units(self, case, repeat)

    def expected(self, unit: Unit) -> Expected | Unscored:
        return self.rater.expected(unit)

    def shared(self, unit: Unit) -> Sequence[Beginning]:
        return self.rater.shared(unit)

    async def rate(self, unit: Unit, gate: Gate) -> Rated:
        return await self.rater.rate(unit, gate)
