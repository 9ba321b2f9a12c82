"""What the first page and the gate both tell of a verdict: read from the evidence once."""

from __future__ import annotations

from collections.abc import Sequence

from medjury.agreement import NonInferiority, SevereErrors
from medjury.records import dataclass
from medjury.statistics import Estimate
from medjury.validation import Evidence, RuleFound, Verdict


@dataclass(frozen=True, slots=True)
class Facts:
    """A verdict, and the numbers that a reader wants to see beside it."""

    verdict: Verdict
    cases: int
    statistic: str
    agreed: Estimate | None
    beside: NonInferiority | None
    errors: SevereErrors | None
    share: float | None
    scored: int
    asked: int

    @property
    def missed(self) -> int:
        """Dangerous answers that were scored far too kindly, or not at all."""
        return 0 if self.errors is None else self.errors.errors + self.errors.unscored

    @property
    def dangerous(self) -> int:
        return 0 if self.errors is None else self.errors.dangerous + self.errors.unscored


def dangers_first(rules: Sequence[RuleFound]) -> list[RuleFound]:
    """What stands in the way: what forbids any use first, and danger to patients before the rest of its weight."""
    return sorted(rules, key=lambda rule: (not rule.essential, not rule.lines.danger))


def facts_of(evidence: Evidence, verdict: Verdict) -> Facts:
    dimension = evidence.table.dimension(verdict.dimension)
    statistic, agreed, beside = evidence.agreed(dimension)
    dangers = evidence.dangers(dimension) if evidence.clinicians else None
    return Facts(
        verdict,
        len(set(evidence.both(verdict.dimension)[0].items.tolist())),
        statistic,
        agreed,
        beside,
        None if dangers is None else dangers[evidence.rules.danger_by],
        *evidence.covered(verdict.dimension),
    )
