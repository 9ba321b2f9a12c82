"""Claims of a whole study, counted from its records: how many, with which verdicts, and what was invented."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from medjury.judging._claims.body import ClaimsBody, RecordedClaim
from medjury.judging._claims.share import VERDICTS

UNVERIFIED = "unverified"


@dataclass(frozen=True)
class ClaimStatistics:
    """`per_answer` has the number of claims of every answer that could be taken apart, 0 included; `failed`
    counts the others. `verdicts` counts claims by (verdict or "unverified", importance).

    `quotations` were given as evidence, `refused` of them are no evidence: they do not occur, are too short or
    leave out a negation. `told` claims had one refused (or had none to show) and were asked about again,
    `unfounded` ones could show no evidence then either, `mended` ones have a verdict then.
    """

    per_answer: tuple[int, ...]
    failed: int
    verdicts: Mapping[tuple[str, int], int]
    quotations: int
    refused: int
    told: int
    mended: int
    unfounded: int
    unlocated: int  # claims whose words were not found in the text they are said to come from
    with_stray_numbers: int  # claims with a number that their text does not have
    repeats: int
    set_aside: int

    @property
    def claims(self) -> int:
        return sum(self.per_answer)

    @property
    def mean(self) -> float | None:
        return self.claims / len(self.per_answer) if self.per_answer else None

    @property
    def range(self) -> tuple[int, int] | None:
        return (min(self.per_answer), max(self.per_answer)) if self.per_answer else None

    def count(self, verdict: str, importance: int | None = None) -> int:
        """Claims with this verdict (or "unverified"), of one importance or of all."""
        return sum(
            n for (name, grade), n in self.verdicts.items() if name == verdict and importance in (None, grade)
        )

    def share(self, verdict: str, importance: int | None = None) -> float | None:
        """Their share of all claims (of that importance); the four shares sum to 1."""
        whole = sum(self.count(name, importance) for name in (*VERDICTS, UNVERIFIED))
        return self.count(verdict, importance) / whole if whole else None


@dataclass
class ClaimTally:
    """Counts records as they pass, so that none need be kept."""

    per_answer: list[int] = field(default_factory=list)
    verdicts: Counter[tuple[str, int]] = field(default_factory=Counter)
    counts: Counter[str] = field(default_factory=Counter)

    def note(self, body: ClaimsBody) -> None:
        if not body.listed:
            self.counts["failed"] += 1
            return
        self.per_answer.append(len(body.claims))
        self.counts["repeats"] += len(body.repeats)
        self.counts["set_aside"] += len(body.set_aside)
        for claim in body.claims:
            self.verdicts[claim.verdict or UNVERIFIED, claim.importance] += 1
            self._note_evidence(claim)

    def _note_evidence(self, claim: RecordedClaim) -> None:
        refused = sum(bool(each.quote) for each in claim.invented)
        self.counts["refused"] += refused
        self.counts["quotations"] += refused + len(claim.evidence)
        self.counts["told"] += claim.told
        self.counts["mended"] += claim.told and claim.verdict is not None
        self.counts["unfounded"] += claim.unfounded
        self.counts["unlocated"] += claim.place is None
        self.counts["stray"] += bool(claim.stray_numbers)

    def statistics(self) -> ClaimStatistics:
        counts = self.counts
        return ClaimStatistics(
            tuple(self.per_answer),
            counts["failed"],
            dict(self.verdicts),
            counts["quotations"],
            counts["refused"],
            counts["told"],
            counts["mended"],
            counts["unfounded"],
            counts["unlocated"],
            counts["stray"],
            counts["repeats"],
            counts["set_aside"],
        )


def claim_statistics(bodies: Iterable[ClaimsBody]) -> ClaimStatistics:
    """Count the records of ratings by claims."""
    tally = ClaimTally()
    for body in bodies:
        tally.note(body)
    return tally.statistics()
