"""The cases of a study: hashed as they pass, kept between plan and run, and what their reader left out."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.studies.running import run_without_report

from medjury.cli import main
from medjury.intake import FileError
from medjury.intake.cases import Case, Note, read_cases
from medjury.store.runs import ManifestLeftOut, RunFolder
from medjury.studies._study import material as _kept
from medjury.studies._study.material import AnswerHashes, KeptCases

LONG = "Reports no chest pain. " * 20
ODD = st.text(st.sampled_from('ab   \n\t\v\f\r\x1c\x1f"\\\x00\x7f\x85\xa0\u2028é😀\ud800'), max_size=8)
TEXT = st.text(max_size=20) | st.text("ab  ", max_size=12) | ODD | ODD.map(lambda text: LONG + text + LONG)
NAMED = st.dictionaries(st.sampled_from(["question", "a"]), TEXT, max_size=2)
NOTES = st.lists(st.builds(Note, st.just("1"), TEXT), max_size=1).map(tuple)


def hashed(case: Case) -> str:
    texts = [case.candidate, case.reference, *(text for _, text in sorted(case.texts.items()))]
    texts += [note.text for note in case.notes]
    words = json.dumps([" ".join((text or "").split()) for text in texts], ensure_ascii=False)
    return hashlib.sha256(words.encode("utf-8", "surrogatepass")).hexdigest()[:16]


@given(st.builds(Case, st.just("1"), st.none() | TEXT, st.none() | TEXT, NAMED, NOTES))
@example(Case("1", "   "))
@example(Case("1", f"  {LONG}   {LONG} ", LONG))
@example(Case("1", LONG, texts={"question": f"{LONG}\x7f"}))
def test_an_answer_is_hashed_by_its_words_alone(case: Case) -> None:
    hashes = AnswerHashes()
    hashes.add(case)
    assert hashes.kept == (hashed(case),)


@given(st.lists(st.integers(0, 400), max_size=300))
def test_the_smallest_hashes_are_kept_once_each_in_order(numbers: list[int]) -> None:
    hashes, cases = AnswerHashes(), [Case("1", f"answer {number}") for number in numbers]
    for case in cases:
        hashes.add(case)
    assert hashes.kept == tuple(sorted({hashed(case) for case in cases})[: AnswerHashes.MOST])


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


Write = Callable[..., Path]


def test_the_manifest_and_the_plan_hold_what_was_left_out(
    write_study: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    study = write_study(cases=1)
    (study.parent / "cases.csv").write_text(
        "id,ai,context,ward\n1,Summary.,Note.,x\n,,,\n,No id.,Note.,y\n2,Summary.,Note.,z,more\n",
        encoding="utf-8",
    )
    mapping = {"candidate": "ai", "texts": {"context": "context"}}
    content = study.read_text().replace(
        '"cases.jsonl"', json.dumps({"path": "cases.csv", "mapping": mapping})
    )
    (study.parent / "cases.yaml").write_text(json.dumps(mapping))
    for stated in (content.replace(json.dumps(mapping), '"cases.yaml"'), content):  # in a file, or in place
        study.write_text(stated)
        assert main(["run", str(study), "--dry-run", "--skip-bad-cases"]) == 0
        assert "in the cases: column that the mapping does not name, left out: 1" in capsys.readouterr().out
    assert run_without_report(study, "--skip-bad-cases") == 0
    (folder,) = {file.parent for file in study.parent.rglob("manifest.json")}
    manifest = RunFolder(folder).manifest
    assert manifest.cases_skipped == 2
    assert manifest.cases_left_out == ManifestLeftOut(
        rows={
            "id: is empty; every case needs one": 1,
            "row: has more or fewer cells than the header": 1,
        },
        parts={"empty row, left out": 1, "column that the mapping does not name, left out": 1},
    )


def test_nothing_left_out_is_stated_too(write_study: Write) -> None:
    study = write_study()
    assert run_without_report(study) == 0
    (file,) = study.parent.rglob("manifest.json")
    assert json.loads(file.read_text())["cases_left_out"] == {"rows": {}, "parts": {}}
