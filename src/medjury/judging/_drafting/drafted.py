"""Judging what was drafted: the drafted case, and a rater that says why where there is no draft to judge."""

from __future__ import annotations

from dataclasses import replace

from medjury.instruments import Reason, Unscored
from medjury.intake.cases import Case
from medjury.judging._around import Around
from medjury.judging._drafting.body import DraftBody
from medjury.judging._drafting.drafter import Drafter
from medjury.judging._rater import Expected, Rated, Unit
from medjury.judging._rows import rows_of
from medjury.models import Gate

# Facts of a case that has no draft: why, and in words. Being part of the case they are part of its ratings' key.
_FAILED, _WHY = "draft_failed", "draft_failure"


def drafted_case(case: Case, drafter: Drafter, draft: DraftBody) -> Case:
    """The case with its draft as the answer under judgement, or with why there is none."""
    if draft.candidate is not None:
        return replace(case, candidate=draft.candidate, system=drafter.system, vendor=drafter.vendor)
    facts = {**case.metadata, _FAILED: draft.reason or Reason.PROVIDER.value, _WHY: draft.message}
    return replace(case, system=drafter.system, vendor=drafter.vendor, metadata=facts)


class AfterDrafting(Around):
    """A rater of drafts. A case whose draft failed is not asked about: its ratings are unscored for the reason
    the draft failed, so that no case is ever dropped."""

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
