"""`medjury metrics`: a table of pairs in, the same table with a column per metric out."""

from __future__ import annotations

import csv
from pathlib import Path

import polars
import pytest

from medjury.cli import main
from medjury.texts.metrics._catalogue import LEXICAL

ROWS = [
    ("1", "No chest pain.", "no chest pain", "0"),
    ("2", "It's the left arm, 2 days.", "it's the arm", "2"),
    ("3", "", "hello", "0"),
    ("4", "Yes.", "", "1"),
]


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    file = tmp_path / "pairs.csv"
    with file.open("w", encoding="utf-8", newline="") as out:
        csv.writer(out).writerows([("id", "said", "heard", "label"), *ROWS])
    return file


def run(pairs: Path, *words: str, out: str = "scored.csv") -> tuple[int, Path]:
    target = pairs.parent / out
    return main(
        ["metrics", str(pairs), "--reference", "said", "--hypothesis", "heard", *words, "--out", str(target)]
    ), target


def test_every_lexical_metric_by_default(pairs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, out = run(pairs)
    assert status == 0
    frame = polars.read_csv(out)
    assert frame.columns == ["id", "said", "heard", "label", *LEXICAL, "undefined", "meteor_matches"]
    assert frame["wer"].to_list() == [pytest.approx(2 / 3), pytest.approx(5 / 6), None, 1.0]
    assert "the reference has no words" in frame["undefined"].to_list()[2]
    assert set(frame["meteor_matches"]) <= {
        "exact and stem (no WordNet here)",
        "exact, stem and WordNet synonym",
    }
    printed = capsys.readouterr().out
    assert "meteor" in printed and "4 pairs written" in printed


def test_normalised_texts_differ_only_in_words(pairs: Path) -> None:
    status, out = run(pairs, "--normalise", "--metrics", "WER,CER", "chrF++")
    assert status == 0
    frame = polars.read_csv(out)
    assert frame.columns[4:] == ["wer", "cer", "chrf++", "undefined"]
    assert frame["wer"].to_list() == [0.0, 0.5, None, 1.0]


@pytest.mark.parametrize("suffix", [".parquet", ".jsonl"])
def test_other_formats_in_and_out(pairs: Path, suffix: str) -> None:
    status, out = run(pairs, "--metrics", "wer", out=f"scored{suffix}")
    assert status == 0
    read = polars.read_parquet if suffix == ".parquet" else polars.read_ndjson
    frame = read(out)
    assert frame["wer"].to_list()[1:] == [pytest.approx(5 / 6), None, 1.0]
    again = out.with_name(f"again{suffix}")
    words = ["metrics", str(out), "--reference", "said", "--hypothesis", "heard", "--metrics", "cer"]
    assert main([*words, "--out", str(again)]) == 2, "the column `undefined` is there already"
    without = out.with_name(f"pairs{suffix}")
    (
        frame.drop("wer", "undefined").write_parquet
        if suffix == ".parquet"
        else frame.drop("wer", "undefined").write_ndjson
    )(without)
    words[1] = str(without)
    assert main([*words, "--out", str(again)]) == 0
    assert read(again)["cer"].null_count() == 1


def test_labels_are_held_against_the_metrics(pairs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    figure = pairs.parent / "enrichment.svg"
    status, _ = run(
        pairs,
        "--metrics",
        "wer",
        "--label",
        "label",
        "--call",
        "id",
        "--resamples",
        "50",
        "--figure",
        str(figure),
    )
    assert status == 0
    printed = capsys.readouterr().out
    assert "enrichment" in printed and "Kendall" in printed
    assert figure.read_text(encoding="utf-8").startswith("<svg")


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("--metrics", "wert"), "did you mean 'wer'"),
        (("--reference", "sad"), "there is no column 'sad'; did you mean 'said'"),
        (("--remove-fillers",), "give --normalise too"),
        (("--figure", "f.svg"), "give --label too"),
        (("--label", "said"), "must hold 0, 1 or 2; it does not in 4 rows (row 1, 2, 3, 4)"),
        (("--model", "sbert"), "write METRIC=MODEL"),
    ],
)
def test_mistakes_are_named(
    pairs: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], complaint: str
) -> None:
    status, _ = run(pairs, *words)
    assert status == 2
    assert complaint in capsys.readouterr().err


def test_files_that_cannot_be_read_or_written(pairs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(pairs.with_name("none.csv"))[0] == 2
    assert "there is no such file" in capsys.readouterr().err
    assert run(pairs.with_suffix(".docx"))[0] == 2
    assert "must end in one of .csv" in capsys.readouterr().err
    broken = pairs.with_name("broken.csv")
    broken.write_bytes(b"said,heard\n\xff\xfe,\xe9\n")
    assert run(broken)[0] == 2
    assert "cannot be read as a table" in capsys.readouterr().err
    empty = pairs.with_name("empty.csv")
    empty.write_text("said,heard\n", encoding="utf-8")
    assert run(empty)[0] == 2
    assert "has no rows" in capsys.readouterr().err
    (pairs.parent / "file").write_text("", encoding="utf-8")
    assert run(pairs, out="file/scored.csv")[0] == 2
    assert "cannot be written" in capsys.readouterr().err
