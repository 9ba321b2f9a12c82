"""The alignment: which gold turns and which recognised segments are the same speech, and how good that is."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from medjury.foundation import limits
from medjury.foundation.errors import MedjuryError
from medjury.texts.transcripts._turn import Turn, mean_confidence
from medjury.texts.transcripts._words import comparable, similarity

MatchType = Literal["exact", "fuzzy", "multi_fragment", "multi_golden"]


@dataclass(frozen=True, slots=True)
class Match:
    """Gold turns and segments that belong together, by index. `exact` and `fuzzy` are one to one (`exact` where
    the compared words are equal); `multi_fragment` has several segments, `multi_golden` several gold turns for one
    segment. `start` and `end` span the segments, `time` is the mean of their middles, `confidence` their mean."""

    golden_indices: tuple[int, ...]
    asr_indices: tuple[int, ...]
    match_type: MatchType
    similarity: float
    confidence: float | None = None
    start: float | None = None
    end: float | None = None
    time: float | None = None

    def to_row(self) -> dict[str, Any]:
        row: dict[str, Any] = {
            "golden_indices": list(self.golden_indices),
            "asr_indices": list(self.asr_indices),
            "match_type": self.match_type,
            "similarity": round(self.similarity, 4),
        }
        known = {"confidence": self.confidence, "start": self.start, "end": self.end, "time": self.time}
        return row | {name: round(value, 4) for name, value in known.items() if value is not None}


@dataclass(frozen=True, slots=True)
class Alignment:
    """Every gold turn is in one match or missed; every segment in one match or spurious. `notes` says what was
    repaired or could not be, in words that quote no speech."""

    matches: tuple[Match, ...]
    missed: tuple[int, ...] = ()
    spurious: tuple[int, ...] = ()
    notes: tuple[str, ...] = ()
    method: str = "deterministic"

    @classmethod
    def read(cls, path: str | Path) -> Alignment:
        """An alignment from its JSON file, hand-made ones included: only the indices are needed."""
        file = Path(path)
        try:
            text = limits.read_bytes(file).decode("utf-8-sig")
            limits.check_depth(file, text)
            content = json.loads(text)
            rows = content["alignments"] if isinstance(content, dict) else content
            matches = [_match_of(row) for row in rows]
        except OSError as error:
            raise MedjuryError(f"{file}: cannot be read: {error.strerror or type(error).__name__}") from None
        except (ValueError, KeyError, TypeError, AttributeError):
            raise MedjuryError(
                f"{file}: not an alignment; it needs "
                '{"alignments": [{"golden_indices": [0], "asr_indices": [0]}]}'
            ) from None
        return cls(tuple(match for match in matches if match is not None), method="read")

    def to_json(self) -> dict[str, Any]:
        """The published layout: `alignments`, and what has no counterpart on either side."""
        return {
            "created_by": self.method,
            "alignments": [match.to_row() for match in self.matches],
            "unused_golden_results": [{"golden_index": each, "match_type": "missed"} for each in self.missed],
            "unused_asr_results": [{"asr_index": each, "match_type": "spurious"} for each in self.spurious],
            "notes": list(self.notes),
        }

    def text(self, said: Sequence[Turn] = (), heard: Sequence[Turn] = ()) -> str:
        """Match by match, then what has no counterpart, for a reader; with the turns, in their words wherever the
        two sides differ."""
        gold_words, heard_words = ({turn.index: turn.text for turn in turns} for turns in (said, heard))
        lines = [f"{'gold':<14}{'recognised':<18}{'match':<16}{'similarity':>10}{'confidence':>12}"]
        for match in self.matches:
            gold = ", ".join(map(str, match.golden_indices))
            segments = ", ".join(map(str, match.asr_indices))
            sure = "" if match.confidence is None else f"{match.confidence:.2f}"
            lines.append(f"{gold:<14}{segments:<18}{match.match_type:<16}{match.similarity:>10.2f}{sure:>12}")
            if match.match_type != "exact":
                lines += _in_words("said", match.golden_indices, gold_words)
                lines += _in_words("heard", match.asr_indices, heard_words)
        for name, indices, words in (
            ("missed", self.missed, gold_words),
            ("spurious", self.spurious, heard_words),
        ):
            lines.append(f"{name}: {', '.join(map(str, indices)) or 'none'}")
            for index in indices:
                lines += _in_words(str(index), [index], words)
        return "\n".join([*lines, *(f"note: {note}" for note in self.notes)])


def _in_words(what: str, indices: Sequence[int], words: Mapping[int, str]) -> list[str]:
    told = " ".join(words[index] for index in indices if index in words)
    return [f"    {what}: {told}"] if told else []


def make_match(golden: Sequence[Turn], segments: Sequence[Turn]) -> Match:
    """The match of these turns: its type, similarity, confidence and times are worked out here and nowhere else."""
    said = comparable(" ".join(turn.text for turn in golden))
    heard = comparable(" ".join(turn.text for turn in segments))
    alike = similarity(said, heard)
    kind: MatchType = "exact" if said == heard else "fuzzy"
    if len(segments) > 1:
        kind = "multi_fragment"
    elif len(golden) > 1:
        kind = "multi_golden"
    starts = [turn.start for turn in segments if turn.start is not None]
    ends = [turn.end for turn in segments if turn.end is not None]
    middles = [
        (turn.start + turn.end) / 2 for turn in segments if turn.start is not None and turn.end is not None
    ]
    return Match(
        tuple(turn.index for turn in golden),
        tuple(turn.index for turn in segments),
        kind,
        alike,
        confidence=mean_confidence(segments),
        start=min(starts, default=None),
        end=max(ends, default=None),
        time=sum(middles) / len(middles) if middles else None,
    )


def _match_of(row: dict[str, Any]) -> Match | None:
    golden, segments = ([int(each) for each in row[name]] for name in ("golden_indices", "asr_indices"))
    if not golden or not segments:  # a turn noted as missed, or a segment noted as spurious
        return None
    kind = row.get("match_type")
    kinds = ("exact", "fuzzy", "multi_fragment", "multi_golden")
    return Match(
        tuple(golden), tuple(segments), kind if kind in kinds else "fuzzy", float(row.get("similarity", 0))
    )


# How good an alignment is, held against one made by hand.


@dataclass(frozen=True, slots=True)
class AlignmentQuality:
    """Shares of turns that are right, 0 to 1; None where that side has no turn.

    Classification: is the turn rightly said to have, or not to have, a counterpart? Structural: has the gold turn
    exactly the right set of segments? (Ellis Z, et al. WER is Unaware, 2025, section 5.1.)

    `faults` are the turns that are wrong: `side` golden or asr, `index`, and `kind`: false_miss (has a counterpart,
    said to have none), false_match (the reverse) or other_segments (matched, but not to the right ones).
    """

    golden_classification: float | None
    asr_classification: float | None
    structural: float | None
    golden_turns: int
    asr_turns: int
    faults: tuple[Mapping[str, Any], ...]

    @classmethod
    def of_all(cls, parts: Sequence[AlignmentQuality]) -> AlignmentQuality:
        """Of several calls together, each turn counting once; the faults are in the calls'."""

        def whole(share: str, turns: str) -> float | None:
            known = [(getattr(each, share) or 0.0, getattr(each, turns)) for each in parts]
            count = sum(n for _, n in known)
            return sum(value * n for value, n in known) / count if count else None

        return cls(
            whole("golden_classification", "golden_turns"),
            whole("asr_classification", "asr_turns"),
            whole("structural", "golden_turns"),
            sum(each.golden_turns for each in parts),
            sum(each.asr_turns for each in parts),
            (),
        )

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
            expected, found = (", ".join(map(str, fault[name])) or "none" for name in ("expected", "found"))
            lines.append("  {side} {index}: {kind}".format(**fault) + f", expected {expected}, found {found}")
        return "\n".join(lines)


def evaluate_alignment(
    found: Alignment, truth: Alignment, *, golden: Sequence[int], asr: Sequence[int]
) -> AlignmentQuality:
    """Compare turn by turn; `golden` and `asr` are all indices of either side."""
    _check(truth, "golden", golden)
    _check(truth, "asr", asr)
    faults: list[dict[str, Any]] = []
    right: dict[str, int] = {}
    for side, indices in (("golden", golden), ("asr", asr)):
        expected, got = _counterparts(truth, side), _counterparts(found, side)
        right[side] = 0
        for index in indices:
            wanted, given = expected.get(index, ()), got.get(index, ())
            right[side] += bool(wanted) == bool(given)
            kind = "other_segments" if side == "golden" and wanted != given else ""
            if bool(wanted) != bool(given):
                kind = "false_miss" if wanted else "false_match"
            if kind:
                about = {"side": side, "index": index, "kind": kind}
                faults.append({**about, "expected": wanted, "found": given})
    wrong = sum(fault["side"] == "golden" for fault in faults)
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
