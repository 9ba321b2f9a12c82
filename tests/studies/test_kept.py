"""A run reads its cases once, for its plan, and judges them from memory if they are few and their file the same."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from medjury.intake import FileError
from medjury.intake.cases import read_cases
from medjury.studies._study import material as _kept
from medjury.studies._study.material import KeptCases


def write(file: Path, *words: str) -> Path:
    rows = [{"id": str(number), "candidate": word} for number, word in enumerate(words)]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return file


def judged(kept: KeptCases) -> list[str | None]:
    return [case.candidate for case in kept.again()]


def test_the_cases_of_a_plan_are_judged_without_reading_the_file_again(tmp_path: Path) -> None:
    kept = KeptCases(read_cases(write(tmp_path / "cases.jsonl", "one", "two")))
    planned = list(kept.reading())
    again = list(kept.again())
    assert again == planned
    assert all(one is two for one, two in zip(planned, again, strict=True))


def test_a_file_that_was_changed_is_read_again(tmp_path: Path) -> None:
    file = write(tmp_path / "cases.jsonl", "one", "two")
    kept = KeptCases(read_cases(file))
    list(kept.reading())
    before = file.stat()
    write(file, "one", "six")
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns + 1))  # whatever the clock's step
    assert judged(kept) == ["one", "six"]


def test_a_file_that_changes_while_it_is_read_is_not_kept(tmp_path: Path) -> None:
    file = write(tmp_path / "cases.jsonl", "one", "two")
    kept = KeptCases(read_cases(file))
    reading = kept.reading()
    next(reading)
    os.utime(file, ns=(0, 0))
    list(reading)
    write(file, "three")
    os.utime(file, ns=(0, 0))
    assert judged(kept) == ["three"]


def test_many_cases_are_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_kept, "_MOST_CHARACTERS", 2_500)
    kept = KeptCases(read_cases(write(tmp_path / "cases.jsonl", "one", "two", "three")))
    planned = list(kept.reading())
    again = list(kept.again())
    assert again == planned and again[0] is not planned[0]


def test_a_plan_that_was_broken_off_keeps_nothing(tmp_path: Path) -> None:
    kept = KeptCases(read_cases(write(tmp_path / "cases.jsonl", "one", "two")))
    next(kept.reading())
    assert judged(kept) == ["one", "two"]


def test_bad_rows_are_refused_after_the_last_row_and_nothing_is_kept(tmp_path: Path) -> None:
    file = write(tmp_path / "cases.jsonl", "one")
    file.write_text(file.read_text(encoding="utf-8") + '{"id": ""}\n{"candidate": "x"}\n', encoding="utf-8")
    kept = KeptCases(read_cases(file))
    with pytest.raises(FileError, match="2 of 3 rows cannot be used"):
        list(kept.reading())
    with pytest.raises(FileError, match="2 of 3 rows cannot be used"):
        list(kept.again())


def test_the_files_of_a_folder_are_read_again(tmp_path: Path) -> None:
    folder = tmp_path / "cases"
    folder.mkdir()
    (folder / "a.json").write_text('{"id": "a", "candidate": "one"}', encoding="utf-8")
    kept = KeptCases(read_cases(folder))
    list(kept.reading())
    (folder / "a.json").write_text('{"id": "a", "candidate": "two"}', encoding="utf-8")
    assert judged(kept) == ["two"]
