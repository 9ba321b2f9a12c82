"""`medjury runs ratings`: import, export, runs."""

from __future__ import annotations

import csv
from pathlib import Path

import polars
import pytest

from medjury.cli import main

GOOD = "item,rater,dimension,score\ncase-1,Dr Lee,accuracy,4\ncase-1,Dr Roy,accuracy,3\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "good.csv").write_text(GOOD)
    (tmp_path / "bad.csv").write_text(GOOD.replace(",4", ",four"))
    return tmp_path


def test_import_list_and_export(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        main(["runs", "ratings", "import", "good.csv", "--store", "s.sqlite", "--names-out", "names.csv"])
        == 0
    )
    assert main(["runs", "ratings", "runs", "s.sqlite"]) == 0
    assert "import of good.csv" in capsys.readouterr().out
    for ending in ("csv", "parquet", "jsonl"):
        assert (
            main(
                [
                    "runs", "ratings", "export", "s.sqlite", "--out", f"all.{ending}", "--run",
                    "import of good.csv",
                ]
            )
            == 0
        )  # fmt: skip
    table = polars.read_parquet("all.parquet")
    assert table["score"].to_list() == [4.0, 3.0] or table["score"].to_list() == [3.0, 4.0]
    with Path("names.csv").open(newline="") as file:
        names = {row["name"]: row["pseudonym"] for row in csv.DictReader(file)}
    assert names.keys() == {"Dr Lee", "Dr Roy"}
    assert set(names.values()) == set(table["rater"])


def test_without_being_asked_nobody_writes_who_is_who(folder: Path) -> None:
    main(["runs", "ratings", "import", "good.csv", "--out", "r.csv"])
    assert {path.name for path in folder.iterdir()} == {"good.csv", "bad.csv", "r.csv", "r.csv.names-key"}
    assert "Lee" not in (folder / "r.csv").read_text()
    main(["runs", "ratings", "import", "good.csv", "--out", "kept.csv", "--keep-names"])
    assert "Dr Lee" in (folder / "kept.csv").read_text()
    assert not (folder / "kept.csv.names-key").exists()


def test_problems_end_in_a_message_and_a_list(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        main(["runs", "ratings", "import", "bad.csv", "--store", "s.sqlite", "--problems", "problems.csv"])
        == 2
    )
    message = capsys.readouterr().err
    assert message.startswith("medjury: nothing was imported: 1 problem in the ratings\nbad.csv, row 2")
    with Path("problems.csv").open(newline="") as file:
        assert [(row["row"], row["column"], row["value"]) for row in csv.DictReader(file)] == [
            ("2", "score", "'four'")
        ]
    assert main(["runs", "ratings", "import", "bad.csv", "--store", "s.sqlite", "--on-bad", "unscored"]) == 0
    assert "unscored, parse: 1" in capsys.readouterr().out


def test_cases_are_checked(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "cases.jsonl").write_text('{"id": "case-2", "candidate": "text"}\n')
    assert (
        main(["runs", "ratings", "import", "good.csv", "--store", "s.sqlite", "--cases", "cases.jsonl"]) == 2
    )
    assert "'case-1' is not the id of a case" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["export", "none.sqlite", "--out", "x.csv"], "none.sqlite does not exist"),
        (["runs", "good.csv"], "is not a store"),
        (["import", "good.csv", "--out", "x.doc", "--keep-names"], "are written as"),
        (["import", "none.csv", "--store", "s.sqlite"], "no such file"),
        (["import", "good.csv", "--out", "x.csv", "--run", "r"], "--run is for a store"),
        (
            ["import", "good.csv", "--store", "s", "--keep-names", "--names-out", "n.csv"],
            "leave one of them out",
        ),
    ],
)
def test_mistakes(folder: Path, capsys: pytest.CaptureFixture[str], words: list[str], message: str) -> None:
    assert main(["runs", "ratings", *words]) == 2
    assert message in capsys.readouterr().err


def test_an_unknown_run_is_refused(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["runs", "ratings", "import", "good.csv", "--store", "s.sqlite"])
    assert main(["runs", "ratings", "export", "s.sqlite", "--out", "x.csv", "--run", "other"]) == 2
    assert "has no run 'other'; its runs are import of good.csv" in capsys.readouterr().err
