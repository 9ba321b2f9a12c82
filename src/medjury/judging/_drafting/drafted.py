"""Judging what was drafted: the drafted case, and a rater that says why where there is no draft to judge."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from medjury.cases import Case
from medjury.instruments import Instrument, Reason, Unscored
from medjury.judging._context.shortening import Truncation
from medjury.judging._drafting.drafter import Drafter
from medjury.judging._rater import Expected, Rated, Rater, Unit, make_units
from medjury.judging._rows import rows_of
from medjury.models import ChatModel, Gate

# Facts of a case that has no draft: why, and in words. Being part of the case they are part of its ratings' key.
_FAILED, _WHY = "draft_failed", "draft_failure"


def drafted_case(case: Case, drafter: Drafter, draft: Mapping[str, object]) -> Case:
    """The case with its draft as the answer under judgement, or with why there is none."""
    candidate = draft.get("candidate")
    if isinstance(candidate, str):
        return replace(case, candidate=candidate, system=drafter.system, vendor=drafter.vendor)
    reason, message = str(draft.get("reason", Reason.PROVIDER.value)), str(draft.get("message", ""))
    facts = {**case.metadata, _FAILED: reason, _WHY: message}
    return replace(case, system=drafter.system, vendor=drafter.vendor, metadata=facts)


@dataclass(frozen=True)
class AfterDrafting:
    """A rater of drafts. A case whose draft failed is not asked about: its ratings are unscored for the reason
    the draft failed, so that no case is ever dropped."""

    rater: Rater

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
        """As the rater's own (see `ClosedLoop`)."""
        return str(getattr(self.rater, "revises_as", ""))

    @property
    def truncation(self) -> Truncation | None:
        rule: Truncation | None = getattr(self.rater, "truncation", None)
        return rule

    def voice(self) -> str:
        return self.rater.voice()

    def describe(self) -> Mapping[str, object]:
        return self.rater.describe()

    def units(self, case: Case, repeat: int) -> list[Unit]:
        return make_units(self, case, repeat)

    def expected(self, unit: Unit) -> Expected | Unscored:
        return _failure(unit.case) or self.rater.expected(unit)

    async def rate(self, unit: Unit, gate: Gate) -> Rated:
        failure = _failure(unit.case)
        if failure is not None:
            return Rated(rows_of(unit, dict.fromkeys(unit.dimensions, failure), None))
        return await self.rater.rate(unit, gate)


def _failure(case: Case) -> Unscored | None:
    reason = case.metadata.get(_FAILED)
    if case.candidate is not None or not isinstance(reason, str):
        return None
    return Unscored(Reason(reason), f"there is no draft to judge: {case.metadata.get(_WHY, '')}")
