"""How good an alignment is, held against one made by hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from medjury.foundation.errors import MedjuryError
from medjury.texts.transcripts._alignment import Alignment


@dataclass(frozen=True, slots=True)
class AlignmentFault:
    """One turn that is wrong: `side` golden or asr; `kind` is false_miss (has a counterpart, said to have none),
    false_match (the reverse) or other_segments (matched, but not to the right segments)."""

    side: str
    index: int
    kind: str
    expected: tuple[int, ...]
    found: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class AlignmentQuality:
    """Shares of turns that are right, 0 to 1; None where that side has no turn.

    Classification: is the turn rightly said to have, or not to have, a counterpart? Structural: has the gold turn
    exactly the right set of segments? (Ellis Z, et al. WER is Unaware, 2025, section 5.1.)
    """

    golden_classification: float | None
    asr_classification: float | None
    structural: float | None
    golden_turns: int
    asr_turns: int
    faults: tuple[AlignmentFault, ...]

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    def text(self) -> str:
        """The shares, and every turn that is wrong, for a reader."""
        shares = {
            "structural accuracy": self.structural,
            "classification, gold": self.golden_classification,
            "classification, recognised": self.asr_classification,
        }
        lines = [
            f"{name:<28}{'undefined: no turn there' if value is None else f'{100 * value:.1f} %'}"
            for name, value in shares.items()
        ]
        for fault in self.faults:
            expected, found = (", ".join(map(str, each)) or "none" for each in (fault.expected, fault.found))
            lines.append(f"  {fault.side} {fault.index}: {fault.kind}, expected {expected}, found {found}")
        return "\n".join(lines)


def evaluate_alignment(
    found: Alignment, truth: Alignment, *, golden: Sequence[int], asr: Sequence[int]
) -> AlignmentQuality:
    """Compare turn by turn; `golden` and `asr` are all indices of either side."""
    _check(truth, "golden", golden)
    _check(truth, "asr", asr)
    faults: list[AlignmentFault] = []
    right: dict[str, int] = {}
    for side, indices in (("golden", golden), ("asr", asr)):
        expected, got = _counterparts(truth, side), _counterparts(found, side)
        right[side] = 0
        for index in indices:
            wanted, given = expected.get(index, ()), got.get(index, ())
            right[side] += bool(wanted) == bool(given)
            if bool(wanted) != bool(given):
                kind = "false_miss" if wanted else "false_match"
                faults.append(AlignmentFault(side, index, kind, wanted, given))
            elif side == "golden" and wanted != given:
                faults.append(AlignmentFault(side, index, "other_segments", wanted, given))
    wrong = sum(fault.side == "golden" for fault in faults)
    return AlignmentQuality(
        right["golden"] / len(golden) if golden else None,
        right["asr"] / len(asr) if asr else None,
        1 - wrong / len(golden) if golden else None,
        len(golden),
        len(asr),
        tuple(faults),
    )


def _counterparts(alignment: Alignment, side: str) -> dict[int, tuple[int, ...]]:
    found: dict[int, set[int]] = {}
    for match in alignment.matches:
        here, there = match.golden_indices, match.asr_indices
        if side == "asr":
            here, there = there, here
        for index in here:
            found.setdefault(index, set()).update(there)
    return {index: tuple(sorted(others)) for index, others in found.items()}


def _check(truth: Alignment, side: str, known: Sequence[int]) -> None:
    strangers = sorted(set(_counterparts(truth, side)) - set(known))
    if strangers:
        raise MedjuryError(
            f"the alignment to compare with names {side} index {strangers[0]}, which the transcript does not have; "
            "is it of other files, or numbered over all speakers (--speaker all)?"
        )
