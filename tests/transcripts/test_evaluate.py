"""Alignment quality, by the published worked example."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from medjury.foundation.errors import MedjuryError
from medjury.texts.transcripts import Alignment, evaluate_alignment
from medjury.texts.transcripts._alignment import Match


def alignment(*pairs: tuple[list[int], list[int]]) -> Alignment:
    return Alignment(tuple(Match(tuple(gold), tuple(heard), "fuzzy", 1.0) for gold, heard in pairs))


TRUTH = alignment(([0], [0]), ([1], [1]), ([2], [2, 3]))


def test_the_published_example() -> None:
    """Four gold turns, five segments; the aligner lost the fragment A3 of G2."""
    found = alignment(([0], [0]), ([1], [1]), ([2], [2]))
    quality = evaluate_alignment(found, TRUTH, golden=range(4), asr=range(5))
    assert (quality.golden_classification, quality.asr_classification, quality.structural) == (1.0, 0.8, 0.75)
    assert [tuple(fault.values()) for fault in quality.faults] == [
        ("golden", 2, "other_segments", (2, 3), (2,)),
        ("asr", 3, "false_miss", (2,), ()),
    ]


def test_a_false_match_is_told_from_a_false_miss() -> None:
    found = alignment(([0], [0]), ([2], [2, 3]), ([3], [4]))
    kinds = {(fault["side"], fault["index"]): fault["kind"]
             for fault in evaluate_alignment(found, TRUTH, golden=range(4), asr=range(5)).faults}  # fmt: skip
    assert kinds == {
        ("golden", 1): "false_miss", ("golden", 3): "false_match",
        ("asr", 1): "false_miss", ("asr", 4): "false_match",
    }  # fmt: skip


def test_a_side_without_turns_has_no_accuracy() -> None:
    quality = evaluate_alignment(Alignment(()), Alignment(()), golden=[], asr=[0])
    assert quality.golden_classification is None and quality.structural is None
    assert quality.asr_classification == 1.0


def test_a_truth_of_other_files_is_refused() -> None:
    with pytest.raises(MedjuryError, match="names golden index 2"):
        evaluate_alignment(alignment(), TRUTH, golden=range(2), asr=range(5))


def test_alignments_are_read_back(tmp_path: Path) -> None:
    file = tmp_path / "alignment.json"
    file.write_text(json.dumps(TRUTH.to_json()))
    assert [match.asr_indices for match in Alignment.read(file).matches] == [(0,), (1,), (2, 3)]
    file.write_text('{"alignments": [{"golden_indices": [0], "asr_indices": [], "match_type": "missing"}]}')
    assert Alignment.read(file).matches == ()
    for broken in ("[1]", "{}", '{"alignments": 3}', "no"):
        file.write_text(broken)
        with pytest.raises(MedjuryError, match="not an alignment"):
            Alignment.read(file)
    with pytest.raises(MedjuryError, match="cannot be read"):
        Alignment.read(tmp_path / "none.json")
