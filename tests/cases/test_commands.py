"""`medjury cases check` and `medjury cases redact`: what they print, what they write and how they end."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from medjury.cli import main
from medjury.intake.cases import NO_PROMISE, read_cases


@pytest.fixture
def cases(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "cases.jsonl"
    rows = [
        {"id": "1", "system": "a", "candidate": "Seen by Dr Who on 12/03/2024.", "notes": "Ann Lee came."},
        {"id": "2", "system": "b", "candidate": "Nothing here.", "metadata": {"gp": "Dr Who"}},
    ]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return file


class TestCheck:
    def test_good_cases_are_counted(self, cases: Path, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["cases", "check", str(cases)]) == 0
        captured = capsys.readouterr()
        assert captured.out.splitlines() == [
            "cases.jsonl: 2 cases",
            "systems:",
            "  a: 1",
            "  b: 1",
            "inputs:",
            "  candidate: 2",
            "  notes: 1",
            "  gp: 1",
        ]
        assert captured.err == ""

    def test_bad_rows_are_listed_and_the_status_is_2(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        file = tmp_path / "cases.csv"
        file.write_text("id,candidate\n1,a\n,b\n" + ",x\n" * 30, encoding="utf-8")
        assert main(["cases", "check", str(file)]) == 2
        captured = capsys.readouterr()
        assert "cases.csv: 1 case\n" in captured.out
        assert "31 rows cannot be used:\n  cases.csv, row 3, id: is empty" in captured.err
        assert captured.err.count("is empty") == 20
        assert main(["cases", "check", str(file), "--all"]) == 2
        assert capsys.readouterr().err.count("is empty") == 31

    @pytest.mark.parametrize(
        "mapping",
        [
            "id: pid\ncandidate: ai\ntexts: {question: q}\n",
            "study: x\ncases:\n  path: f.csv\n  mapping: {id: pid, candidate: ai, texts: {question: q}}\n",
        ],
    )
    def test_a_mapping_comes_from_a_file_or_a_study(
        self, mapping: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        (tmp_path / "f.csv").write_text("pid,ai,q\n1,a,b\n", encoding="utf-8")
        (tmp_path / "m.yaml").write_text(mapping, encoding="utf-8")
        assert main(["cases", "check", str(tmp_path / "f.csv"), "--mapping", str(tmp_path / "m.yaml")]) == 0
        assert "candidate: 1\n  question: 1" in capsys.readouterr().out

    def test_a_mapping_comes_from_options(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        file = tmp_path / "f.csv"
        file.write_text("pid,ai,q\n1,a,b\n", encoding="utf-8")
        options = ["--column", "id=pid", "--column", "candidate=ai", "--column", "texts.question=q"]
        assert main(["cases", "check", str(file), *options]) == 0
        assert "question: 1" in capsys.readouterr().out
        assert main(["cases", "check", str(file), "--column", "pid"]) == 2
        assert "write FIELD=COLUMN" in capsys.readouterr().err

    def test_an_empty_file_is_not_good(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        (tmp_path / "cases.jsonl").write_text("", encoding="utf-8")
        assert main(["cases", "check", str(tmp_path / "cases.jsonl")]) == 2
        assert "holds no cases" in capsys.readouterr().err


class TestRedact:
    def test_it_writes_redacted_cases_and_counts(
        self, cases: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        Path("names.txt").write_text("Ann Lee\n", encoding="utf-8")
        options = ["--out", "safe.jsonl", "--names", "names.txt", "--metadata", "gp", "--no-presidio"]
        assert main(["cases", "redact", str(cases), *options]) == 0
        first, second = read_cases("safe.jsonl")
        assert first.candidate == "Seen by Dr [NAME-1] on [DATE-1]."
        assert first.notes[0].text == "[NAME-2] came."
        assert second.metadata["gp"] == "Dr [NAME-1]"
        out = capsys.readouterr().out
        assert "safe.jsonl: 2 cases written, 2 of them changed" in out
        assert "replaced: DATE 1, NAME 3" in out
        assert NO_PROMISE in out

    def test_a_preview_shows_what_would_be_replaced_and_writes_nothing(
        self, cases: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        before = sorted(cases.parent.iterdir())
        assert main(["cases", "redact", str(cases), "--preview", "2", "--keep", "DATE", "--no-presidio"]) == 0
        out = capsys.readouterr().out
        assert "case 1 (a):\n  candidate: ...Seen by Dr {Who -> [NAME-1]} on 12/03/2024....\n" in out
        assert "case 2 (b):\n  nothing found" in out
        assert "replaced: NAME 1" in out
        assert NO_PROMISE in out
        assert sorted(cases.parent.iterdir()) == before

    def test_settings_come_from_a_study_file_and_options_add_to_them(self, cases: Path) -> None:
        Path("study.yaml").write_text(
            "study: x\nredact: {presidio: false, patterns: {WORD: Nothing}, keep: [DATE]}\n", encoding="utf-8"
        )
        options = ["--settings", "study.yaml", "--pattern", "WORD=came", "--out", "safe.jsonl"]
        assert main(["cases", "redact", str(cases), *options]) == 0
        first, second = read_cases("safe.jsonl")
        assert first.candidate == "Seen by Dr [NAME-1] on 12/03/2024."
        assert first.notes[0].text == "Ann Lee [WORD-1]."
        assert second.candidate == "[WORD-1] here."

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ([], "--preview N to look, --out FILE to write"),
            (["--preview", "0"], "1 or more"),
            (["--out", "safe.csv"], "end the name in .jsonl"),
            (["--out", "cases.jsonl"], "is the file that is read"),
            (["--out", "safe.jsonl", "--pattern", "x"], "write KIND=REGEX"),
            (["--out", "safe.jsonl", "--pattern", "A=("], "patterns.A: is not a regular expression"),
            (["--out", "safe.jsonl", "--names", "none.txt"], "there is no file"),
        ],
    )
    def test_a_mistake_is_answered_with_what_to_do(
        self, options: list[str], message: str, cases: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert main(["cases", "redact", str(cases), *options]) == 2
        assert message in capsys.readouterr().err
        assert not Path("safe.jsonl").exists()

    def test_bad_rows_are_refused_or_skipped_and_counted(
        self, cases: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        with cases.open("a", encoding="utf-8") as file:
            file.write('{"id": ""}\n')
        assert main(["cases", "redact", str(cases), "--out", "safe.jsonl", "--no-presidio"]) == 2
        assert not Path("safe.jsonl").exists()
        assert (
            main(["cases", "redact", str(cases), "--out", "safe.jsonl", "--no-presidio", "--skip-bad-cases"])
            == 0
        )
        assert "1 rows could not be used and were left out" in capsys.readouterr().err
