"""`medjury align`: two files in, an alignment out."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.loopback import LoopbackServer

from medjury.cli import main

REAL = Path(__file__).parents[3] / "shared" / "data" / "transcript_impact" / "alignment"
GOLD = """[00:00] Doctor: Any pain?
[00:02] Patient: No, none at all.
[00:04] Doctor: Since?
[00:06] Patient: Two days."""
HEARD = [{"text": "no none", "confidence": 0.9}, {"text": "at all", "confidence": 0.7}, {"text": "two days"}]
EXPECTED = [([0], [0, 1], "multi_fragment", 1.0), ([1], [2], "exact", 1.0)]


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    gold, heard = tmp_path / "gold.txt", tmp_path / "heard.json"
    gold.write_text(GOLD, encoding="utf-8")
    heard.write_text(json.dumps(HEARD), encoding="utf-8")
    return str(gold), str(heard)


def rows(printed: str) -> list[tuple[list[int], list[int], str, float]]:
    return [
        (row["golden_indices"], row["asr_indices"], row["match_type"], row["similarity"])
        for row in json.loads(printed)["alignments"]
    ]


def test_json_has_indices_type_and_similarity(
    files: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["align", *files, "--json"]) == 0
    printed = capsys.readouterr().out
    assert rows(printed) == EXPECTED
    assert json.loads(printed)["alignments"][0]["confidence"] == pytest.approx(0.8)


def test_a_table_for_people(files: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["align", *files]) == 0
    printed = capsys.readouterr().out
    assert "multi_fragment" in printed and "missed: none" in printed and "spurious: none" in printed
    assert "    said: " in printed and "    heard: no none at all\n" in printed, (
        "in words where the two differ"
    )


def test_everybodys_turns(files: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["align", *files, "--speaker", "all", "--json"]) == 0
    content = json.loads(capsys.readouterr().out)
    assert [each["golden_index"] for each in content["unused_golden_results"]] == [0, 2]


def test_an_alignment_is_written_and_held_against_another(
    files: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "alignment.json"
    assert main(["align", *files, "--out", str(out)]) == 0
    assert main(["align", *files, "--truth", str(out)]) == 0
    assert capsys.readouterr().out.count("100.0 %") == 3
    changed = json.loads(out.read_text(encoding="utf-8"))
    changed["alignments"][0]["asr_indices"] = [0]
    out.write_text(json.dumps(changed), encoding="utf-8")
    assert main(["align", *files, "--truth", str(out)]) == 0
    assert "golden 0: other_segments, expected 0, found 0, 1" in capsys.readouterr().out


def test_a_model_aligns_over_http(files: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    entries = [
        {"golden_index": 0, "asr_indices": [0], "match_type": "fuzzy", "similarity": 0.5},
        {"golden_index": 1, "asr_indices": [2], "match_type": "exact", "similarity": 1.0},
    ]
    with LoopbackServer("ok:" + json.dumps({"alignments": entries})) as server:
        assert main(["align", *files, "--model", "m", "--url", server.base_url, "--json"]) == 0
    printed = capsys.readouterr().out
    assert rows(printed) == EXPECTED
    assert json.loads(printed)["notes"] == ["G0 with A0: is part of a longer turn; now G0 with A0, A1"]


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("--url", "http://127.0.0.1:9/v1"), "give --model too"),
        (("--top-p", "0.9"), "belong to a model: give --model too"),
        (("--speaker", "nurse"), "nobody here is called 'nurse'"),
        (("--model", "m", "--url", "https://models.example/v1"), "models.example"),
        (("--truth", "none.json"), "none.json: cannot be read"),
    ],
)
def test_mistakes_are_named(
    files: tuple[str, str], capsys: pytest.CaptureFixture[str], words: tuple[str, ...], complaint: str
) -> None:
    assert main(["align", *files, *words]) == 2
    assert complaint in capsys.readouterr().err


def test_a_side_that_is_missing_or_empty(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    empty, one = tmp_path / "empty.json", tmp_path / "one.json"
    empty.write_text("[]")
    one.write_text('["yes"]')
    assert main(["align", str(empty), str(tmp_path / "none.json")]) == 2
    assert "there is no such file" in capsys.readouterr().err
    assert main(["align", str(empty), str(empty)]) == 2
    assert "neither has a turn" in capsys.readouterr().err
    assert main(["align", str(one), str(empty), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["unused_golden_results"] == [
        {"golden_index": 0, "match_type": "missed"}
    ]


@pytest.mark.skipif(not REAL.is_dir(), reason="the published consultations are not here")
@pytest.mark.parametrize("call", ["day1-consultation02", "day2-consultation05"])
def test_real_consultations(call: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = [
        str(REAL / "asr-transcripts" / f"golden_{call}-combined.json"),
        str(REAL / "asr-transcripts" / f"patient_{call}-combined_deepgram.json"),
        "--truth",
        str(REAL / "groundtruth-alignments" / f"groundtruth_alignment_{call}-combined_deepgram.json"),
    ]
    assert main(["align", *words, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["evaluation"]
    assert found["structural"] >= 0.95
    assert min(found["golden_classification"], found["asr_classification"]) >= 0.98


def test_the_calls_of_a_folder_beside_alignments_by_hand(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each turn counts once in the total of a recogniser, whichever call it is of."""
    calls, truth = tmp_path / "calls", tmp_path / "truth"
    calls.mkdir(), truth.mkdir()
    for call in ("monday", "tuesday"):
        (calls / f"{call}.gold.txt").write_text(GOLD, encoding="utf-8")
        (calls / f"{call}.alpha.json").write_text(json.dumps(HEARD), encoding="utf-8")
        right = [{"golden_indices": one, "asr_indices": two} for one, two, *_ in EXPECTED]
        (truth / f"{call}.json").write_text(json.dumps({"alignments": right}), encoding="utf-8")
    (calls / "tuesday.beta.json").write_text(json.dumps(HEARD), encoding="utf-8")
    alone = [{"golden_indices": [0], "asr_indices": [0]}]
    (truth / "tuesday.beta.json").write_text(json.dumps({"alignments": alone}), encoding="utf-8")
    (truth / "monday.json").write_text(json.dumps({"alignments": right[:1]}), encoding="utf-8")
    assert main(["align", str(calls), "--truth", str(truth), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert set(found) == {"alpha", "beta"} and set(found["alpha"]) == {"total", "monday", "tuesday"}
    total = found["alpha"]["total"]
    # On Monday the second turn and the third segment are matched, and by hand they are not.
    assert (total["golden_turns"], total["asr_turns"]) == (4, 6)
    assert total["golden_classification"] == total["structural"] == pytest.approx(3 / 4)
    assert total["asr_classification"] == pytest.approx(5 / 6)
    # The other recogniser has an alignment of its own: both turns differ, one of them in its segments alone.
    assert found["beta"]["total"]["structural"] == 0
    assert found["beta"]["total"]["golden_classification"] == pytest.approx(1 / 2)
    assert main(["align", str(calls), "--truth", str(truth)]) == 0
    table = capsys.readouterr().out
    assert "all 2" in table and "75.0 %" in table and "all 1" in table
    (truth / "monday.json").unlink()
    assert main(["align", str(calls), "--truth", str(truth)]) == 2
    assert "monday.json: is missing" in capsys.readouterr().err
    assert main(["align", str(calls)]) == 2
    assert "also name what was recognised" in capsys.readouterr().err
