"""`medjury transcripts FOLDER`: many calls, several recognisers and several runs become one study."""

from __future__ import annotations

import json
from pathlib import Path
from statistics import mean, stdev

import polars
import pytest
import yaml
from tests.loopback import LoopbackServer

from medjury.cli import main

REAL = Path(__file__).parents[3] / "shared" / "data" / "transcript_impact" / "alignment" / "asr-transcripts"
GOLD = """[00:00] Doctor: Any pain?
[00:02] Patient: no pain at all
[00:04] Doctor: How long?
[00:06] Patient: about six weeks
"""
# Seven words were said in a call; by hand: one wrong word, two wrong words, and so on.
ONE_WRONG = ["no pain at all", "about two weeks"]
TWO_WRONG = ["no pain at last", "about two weeks"]
RIGHT = ["no pain at all", "about six weeks"]


def heard(folder: Path, name: str, turns: list[str]) -> None:
    (folder / name).write_text(json.dumps(turns), encoding="utf-8")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "clinic"
    place.mkdir()
    for call in ("monday", "tuesday"):
        (place / f"{call}.gold.txt").write_text(GOLD, encoding="utf-8")
        heard(place, f"{call}.alpha.json", ONE_WRONG)
    heard(place, "tuesday.beta.json", TWO_WRONG)
    heard(place, "monday.beta.json", RIGHT)
    return place


def cases(study: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in (study / "cases.jsonl").read_text(encoding="utf-8").splitlines()]


def test_all_calls_are_one_study_with_the_call_as_patient(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "study"
    assert main(["transcripts", str(folder), "--out", str(out)]) == 0
    found = {(case["id"], case["system"]): case["patient"] for case in cases(out)}
    assert found == {
        ("monday-1", "alpha"): "monday",
        ("tuesday-1", "alpha"): "tuesday",
        ("tuesday-0", "beta"): "tuesday",
        ("tuesday-1", "beta"): "tuesday",
    }
    printed = capsys.readouterr().out
    assert (
        "drawn of alpha: 2 pairs, 3.0 words each (quartiles 3 to 3), mean word error rate 0.3333" in printed
    )
    assert (
        "drawn of beta: 2 pairs, 3.5 words each (quartiles 3.25 to 3.75), mean word error rate 0.2917"
        in printed
    )
    assert "2 calls, 4 transcripts" in printed
    assert "alpha: word error rate 0.1429" in printed, "two of fourteen words"
    assert "beta: word error rate 0.1429" in printed, "two of fourteen words"
    assert sorted(each.name for each in (out / "alignments").iterdir()) == [
        "monday.alpha.json", "monday.beta.json", "tuesday.alpha.json", "tuesday.beta.json",
    ]  # fmt: skip
    study = yaml.safe_load((out / "study.yaml").read_text(encoding="utf-8"))
    assert study["study"] == "clinic" and study["metrics"][:1] == ["wer"]
    assert main(["run", str(out / "study.yaml"), "--dry-run", "--no-preflight"]) == 0


def test_runs_of_one_recogniser_are_kept_apart_and_told_as_mean_and_sd(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for number, turns in enumerate((RIGHT, ONE_WRONG, TWO_WRONG, ONE_WRONG, ONE_WRONG), 1):
        for call in ("monday", "tuesday"):
            heard(folder, f"{call}.gamma.{number}.json", turns)
    out = tmp_path / "study"
    assert main(["transcripts", str(folder), "--out", str(out)]) == 0
    rates = [0, 1 / 7, 2 / 7, 1 / 7, 1 / 7]
    told = f"gamma: word error rate {mean(rates):.4f} ± {stdev(rates):.4f} (SD of 5 runs: 0.0000, 0.1429, 0.2857,"
    assert told in capsys.readouterr().out
    systems = {str(case["system"]) for case in cases(out)}
    assert {"gamma-run-2", "gamma-run-3", "gamma-run-4", "gamma-run-5"} <= systems


def test_a_list_of_files_names_calls_and_systems(folder: Path, tmp_path: Path) -> None:
    (folder / "calls.csv").write_text(
        "call,reference,recognised,system\nfirst,monday.gold.txt,monday.alpha.json,other\n", encoding="utf-8"
    )
    for place in (folder, folder / "calls.csv"):
        out = tmp_path / f"study{len(place.name)}"
        assert main(["transcripts", str(place), "--out", str(out)]) == 0
        assert [(case["id"], case["system"]) for case in cases(out)] == [("first-1", "other")]


def test_metrics_of_every_pair_stand_beside_the_judges_in_the_run(folder: Path, tmp_path: Path) -> None:
    out, judges = tmp_path / "study", tmp_path / "judges.yaml"
    with LoopbackServer() as server:
        judges.write_text(f"judges:\n  - {{kind: openai, name: juror, url: '{server.base_url}', model: m}}\n")
        assert main(["transcripts", str(folder), "--out", str(out), "--judges", str(judges), "--quiet"]) == 0
    rows = polars.read_parquet(out / "runs" / "clinic" / "ratings.parquet").filter(rater="wer")
    found = {(row["item"], row["system"]): row["score"] for row in rows.iter_rows(named=True)}
    assert found == {
        ("monday-1", "alpha"): pytest.approx(1 / 3), ("tuesday-1", "alpha"): pytest.approx(1 / 3),
        ("tuesday-0", "beta"): pytest.approx(1 / 4), ("tuesday-1", "beta"): pytest.approx(1 / 3),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"stray.alpha.json": "[]"}, "stray.alpha.json: belongs to no call"),
        ({"wednesday.gold.txt": GOLD}, "nothing recognised belongs to it"),
        ({"monday.gold.vtt": "WEBVTT"}, "are both the gold of 'monday'"),
        (
            {"calls.csv": "call,reference,recognised,system\nx,no.txt,monday.alpha.json,s"},
            "row 2: there is no file",
        ),
        ({"calls.csv": "call,reference,recognised\nx,monday.gold.txt,monday.alpha.json"}, "row 2: has no system"),
        (
            {"calls.csv": "call,reference,recognised,system\n" + "x,monday.gold.txt,monday.alpha.json,s\n" * 2},
            "appears twice for 's'",
        ),
    ],
)  # fmt: skip
def test_no_file_is_left_out_in_silence(
    folder: Path, tmp_path: Path, change: dict[str, str], complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, text in change.items():
        (folder / name).write_text(text, encoding="utf-8")
    assert main(["transcripts", str(folder), "--out", str(tmp_path / "study")]) == 2
    assert complaint in capsys.readouterr().err
    assert not (tmp_path / "study").exists()


def test_one_file_alone_is_asked_for_its_other(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["transcripts", str(folder / "monday.gold.txt"), "--out", str(tmp_path / "study")]
    assert main(words) == 2
    assert "also name what was recognised" in capsys.readouterr().err
    assert main(["transcripts", str(folder), "--call", "x", "--out", str(tmp_path / "study")]) == 2
    assert "name one call" in capsys.readouterr().err


def test_two_published_consultations_are_one_study(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    calls = ("day1-consultation02", "day2-consultation05")
    if not REAL.is_dir():
        pytest.skip("the consultations (shared/data/transcript_impact/alignment) are not on this machine")
    lines = ["call,reference,recognised,system"]
    lines += [
        f"{call},{REAL}/golden_{call}-combined.json,{REAL}/patient_{call}-combined_deepgram.json,deepgram"
        for call in calls
    ]
    (tmp_path / "calls.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    out = tmp_path / "study"
    assert main(["transcripts", str(tmp_path / "calls.csv"), "--out", str(out), "--keep-perfect"]) == 0
    assert "2 calls, 2 transcripts" in capsys.readouterr().out
    found = cases(out)
    assert {case["patient"] for case in found} == set(calls)
    separate = 0
    for call in calls:
        names = [
            str(REAL / f"golden_{call}-combined.json"),
            str(REAL / f"patient_{call}-combined_deepgram.json"),
        ]
        assert main(["transcripts", *names, "--out", str(tmp_path / call), "--keep-perfect"]) == 0
        separate += len(cases(tmp_path / call))
    assert len(found) == separate, "one study of all calls has the pairs of the calls' own studies"
