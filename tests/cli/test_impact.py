"""`medjury impact`: a table of turns in, impact, score and reasons out; checked against labels on request."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import polars
import pytest

from medjury.cli import main

TURNS = [
    ("a", "Any chest pain?", "No, I don't have any pain.", "no i have pain", "2"),
    ("a", "How long?", "About six weeks.", "about two weeks", "2"),
    ("a", "Your name, please?", "It's Jane Doe.", "it's jane dough", "0"),
    ("b", "Do you take any medicines?", "Um, yes, uh, aspirin.", "yes aspirin", "0"),
    ("b", "Is that alright?", "Yeah, OK.", "", "1"),
    ("b", "Any fever?", "", "no", "0"),
    ("c", "Any allergies?", "Yes, to penicillin.", "yes to pen", "2"),
    ("c", "Do you smoke?", "Sometimes, at parties.", "sometimes at", "1"),
    ("c", "Does that sound okay?", "Yeah.", "", "1"),
    ("c", "Any cough?", "No.", "no", "0"),
]


@pytest.fixture
def turns(tmp_path: Path) -> Path:
    file = tmp_path / "turns.csv"
    with file.open("w", encoding="utf-8", newline="") as out:
        csv.writer(out).writerows([("call", "asked", "said", "heard", "label"), *TURNS])
    return file


def run(turns: Path, *words: str) -> tuple[int, Path]:
    out = turns.with_name("impact.csv")
    return main(
        ["impact", str(turns), "--reference", "said", "--hypothesis", "heard", *words, "--out", str(out)]
    ), out


def test_impact_score_and_reasons_are_added(turns: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, out = run(turns, "--question", "asked")
    assert status == 0
    frame = polars.read_csv(out)
    assert frame.columns == ["call", "asked", "said", "heard", "label", "impact", "impact_score", "reasons"]
    assert frame["impact"].to_list()[:5] == [2, 2, 0, 0, 1]
    assert frame["impact"].to_list()[5] is None and frame["impact_score"].to_list()[5] is None
    assert frame["reasons"].to_list()[5] == "not estimated: there is no reference to compare with"
    assert frame["reasons"].to_list()[1] == "'six weeks' became 'two weeks': time or duration changed"
    assert all(0 <= score <= 2 for score in frame["impact_score"].drop_nulls())
    printed = capsys.readouterr().out
    assert "10 pairs written" in printed and "not estimated" in printed and "screening estimate" in printed


def test_the_question_may_be_missing(turns: Path) -> None:
    status, out = run(turns)
    assert status == 0
    assert polars.read_csv(out)["impact"].to_list()[0] == 2


def test_a_check_and_a_model_of_ones_own(turns: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = turns.with_name("mine.json")
    words = [
        "--question",
        "asked",
        "--label",
        "label",
        "--call",
        "call",
        "--resamples",
        "50",
        "--fit",
        str(model),
    ]
    status, _ = run(turns, *words)
    assert status == 0
    printed = capsys.readouterr().out
    assert (
        "cross-validated over 3 calls" in printed and "kappa_quadratic" in printed and "recall_2" in printed
    )
    provenance = json.loads(model.read_text(encoding="utf-8"))["provenance"]
    assert (
        provenance["data"] == "turns.csv"
        and provenance["rows"] == 10
        and provenance["columns"]["label"] == "label"
    )
    turns.with_name("impact.csv").unlink()
    assert run(turns, "--model", str(model))[0] == 0


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("--label", "label"), "needs both --label and --call"),
        (("--fit", "x.json"), "--fit needs them too"),
        (("--question", "ask"), "there is no column 'ask'; did you mean 'asked'"),
        (("--model", "none.json"), "none.json: cannot be read"),
        (("--label", "call", "--call", "call"), "must hold 0, 1 or 2"),
    ],
)
def test_mistakes_are_named(
    turns: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], complaint: str
) -> None:
    assert run(turns, *words)[0] == 2
    assert complaint in capsys.readouterr().err


def test_a_column_that_would_be_replaced_is_refused(turns: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, out = run(turns)
    words = ["impact", str(out), "--reference", "said", "--hypothesis", "heard", "--out", str(out)]
    assert main(words) == 2
    assert "has a column 'impact' already" in capsys.readouterr().err
