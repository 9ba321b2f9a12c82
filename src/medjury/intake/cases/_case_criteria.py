"""The criteria of all cases together, and what scores by them rest on besides."""

from __future__ import annotations

from dataclasses import dataclass, field

from medjury.foundation.errors import MedjuryError
from medjury.intake.cases._case import Case, Criterion, tags_of


@dataclass
class CaseCriteria:
    """Gathered as cases pass, of those that have criteria: by case the criteria and its own tags, by answer (case
    and system) how many characters it has."""

    of: dict[str, tuple[Criterion, ...]] = field(default_factory=dict)
    lengths: dict[tuple[str, str], int] = field(default_factory=dict)
    tags: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def add(self, case: Case) -> None:
        """Refuse answers to one case that have different criteria; their order makes no difference."""
        if not case.criteria:
            return
        before = {each.id: each for each in self.of.setdefault(case.id, case.criteria)}
        if only := before.keys() ^ {each.id for each in case.criteria}:
            raise MedjuryError(
                f"some answers to case {case.id!r} have the criterion {min(only)!r}, and others have not; a "
                "case has one list of criteria"
            )
        for each in case.criteria:
            if before[each.id] != each:
                raise MedjuryError(
                    f"the answers to case {case.id!r} have two criteria with the id {each.id!r} and other words, "
                    "points or tags; a case has one list of criteria"
                )
        self.lengths[case.id, case.system] = len(case.candidate or "")
        self.tags[case.id] = tags_of(case)
