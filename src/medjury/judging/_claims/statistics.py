"""Claims of a whole study, counted from its records: how many, with which verdicts, and what was invented."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

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


def claim_statistics(records: Iterable[Mapping[str, Any]]) -> ClaimStatistics:
    """Count the bodies of records of the kind "claims".

    >>> claim = {"importance": 3, "verdict": "supported", "evidence": [{"quote": "start it"}]}
    >>> found = claim_statistics([{"claims": [claim, claim]}, {"claims": []}])
    >>> found.claims, found.mean, found.range, found.share("supported")
    (2, 1.0, (0, 2), 1.0)
    """
    per_answer: list[int] = []
    verdicts: Counter[tuple[str, int]] = Counter()
    counts: Counter[str] = Counter()
    for body in records:
        if any(step.get("failure") for step in body.get("steps", ())):
            counts["failed"] += 1
            continue
        per_answer.append(len(body["claims"]))
        counts["repeats"] += len(body.get("repeats", ()))
        counts["set_aside"] += len(body.get("set_aside", ()))
        for claim in body["claims"]:
            verdicts[claim.get("verdict") or UNVERIFIED, claim["importance"]] += 1
            refused = sum(bool(each["quote"]) for each in claim.get("invented", ()))
            counts["refused"] += refused
            counts["quotations"] += refused + len(claim.get("evidence", ()))
            counts["told"] += bool(claim.get("told"))
            counts["mended"] += bool(claim.get("told")) and claim.get("verdict") is not None
            counts["unfounded"] += (claim.get("failure") or {}).get("reason") == "unfounded"
            counts["unlocated"] += claim.get("place") is None
            counts["stray"] += bool(claim.get("stray_numbers"))
    return ClaimStatistics(
        tuple(per_answer),
        counts["failed"],
        dict(verdicts),
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
