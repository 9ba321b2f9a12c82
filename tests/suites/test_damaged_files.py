"""A damaged file is refused, or its bad rows are named: nothing of it is misread in silence."""

from __future__ import annotations

import shutil
import zipfile
from pathlib import Path

import pytest

from medjury.foundation.errors import MedjuryError
from medjury.suites import Loaded, check_data, load_benchmark, load_items, sample_file


def changed(name: str, folder: Path, old: str, new: str, file: str = "") -> Path:
    """A copy of a sample with one thing replaced."""
    source = sample_file(load_benchmark(name))
    copy = folder / source.name
    if source.is_dir():
        shutil.copytree(source, copy)
    else:
        shutil.copy(source, copy)
    target = copy / file if file else copy
    text = target.read_text(encoding="utf-8")
    assert old in text
    target.write_text(text.replace(old, new, 1), encoding="utf-8")
    return copy


def problems(name: str, path: Path) -> str:
    return "\n".join(load_items(load_benchmark(name), path).problems)


@pytest.mark.parametrize(
    ("name", "file", "old", "new", "problem"),
    [
        ("medec", "", ",0,NA,-1,", ",2,NA,-1,", "Error Flag is none of 0, 1"),
        ("medec", "", "s-1,", "s-0,", "its id appears twice, first in medec.csv, row 2"),
        ("head_qa", "", '"aid": 2', '"aid": 1', "two answers have the same number"),
        ("pubmedqa", "ori_pqal.json", '"no"', '"yes"', "is not what test_ground_truth.json says"),
        ("pubmedqa", "ori_pqal.json", '"CONTEXTS": ["Forty', '"CONTEXT": ["Forty', "CONTEXTS"),
        ("medbullets", "", ",A,Croup,", ",B,Croup,", "answer_idx and answer name different choices"),
        ("medbullets", "", ",Asthma,", ",,", "opb is empty"),
        ("medhallu", "", '["Tea holds caffeine."', "[1", "Knowledge is not a list of texts"),
        ("med_dialog", "", '"tgt": "What causes', '"tgd": "What causes', "tgt"),
        ("bmt_status", "", '"gold": "A"', '"gold": "E"', "the right answer is none of the choices"),
        ("mimic_iv_billing_code", "", '"J18.9"', '""', "gold is empty"),
        ("note_extract", "", '"plan": "Sugar', '"pln": "Sugar', "plan is empty"),
        ("clear", "", "asthma", "as\\u0000thma", "condition holds characters that were lost"),
    ],
)
def test_a_row_that_contradicts_itself_is_named(
    tmp_path: Path, name: str, file: str, old: str, new: str, problem: str
) -> None:
    path = changed(name, tmp_path, old, new, file)
    try:
        found = problems(name, path)
    except MedjuryError as error:  # the first row lacks a column: it is not that file at all
        found = str(error)
    assert problem in found


@pytest.mark.parametrize("name", ["pubmedqa", "head_qa", "med_dialog", "mediqa_qa", "ehrsql"])
def test_a_document_that_is_cut_short_is_refused(tmp_path: Path, name: str) -> None:
    source = sample_file(load_benchmark(name))
    copy = tmp_path / source.name
    shutil.copytree(source, copy) if source.is_dir() else shutil.copy(source, copy)
    file = next(each for each in ([copy] if copy.is_file() else sorted(copy.glob("*[ld].json"))))
    content = file.read_bytes()
    for end in (1, len(content) // 2, len(content) - 3):
        file.write_bytes(content[:end])
        found = check_data(load_benchmark(name), copy)
        assert not found.items and found.problems


def test_a_table_that_lost_its_last_rows_is_told_by_its_checksum(tmp_path: Path) -> None:
    """It is still a table, so that no loader can see it."""
    short = tmp_path / "MEDEC-MS-TestSet.csv"
    short.write_bytes(sample_file(load_benchmark("medec")).read_bytes())
    found = load_items(load_benchmark("medec"), short)
    assert len(found.items) == 3
    assert "is not the copy that medec 1.0 was described from" in found.remarks[0]
    assert check_data(load_benchmark("medec"), tmp_path).problems == found.remarks


def test_bytes_that_are_no_text_are_named_and_not_replaced(tmp_path: Path) -> None:
    file = tmp_path / "medec.csv"
    file.write_bytes(sample_file(load_benchmark("medec")).read_bytes().replace(b"Croup", b"Cr\xf6up"))
    assert "medec.csv, row 4: Sentences is not valid UTF-8" in problems("medec", file)


def test_a_database_that_is_damaged_is_told_before_a_query_runs(tmp_path: Path) -> None:
    folder = tmp_path / "ehrsql"
    shutil.copytree(sample_file(load_benchmark("ehrsql")), folder)
    (folder / "eicu.sqlite").write_bytes(b"SQLite format 3\x00" + b"\x00" * 500)
    assert "eicu.sqlite: is not an SQLite database, or it is damaged" in problems("ehrsql", folder)


def test_xml_that_declares_entities_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "x.xml"
    file.write_text('<!DOCTYPE a [<!ENTITY b "c">]><a><Question QID="1"/></a>', encoding="utf-8")
    with pytest.raises(MedjuryError, match="declares a document type or entities"):
        load_items(load_benchmark("mediqa_qa"), file)


def document(folder: Path, old: str, new: str) -> Loaded:
    """The sample of RaceBias with one thing in its text replaced."""
    with zipfile.ZipFile(sample_file(load_benchmark("race_bias"))) as packed:
        text = packed.read("word/document.xml").decode()
    assert old in text
    with zipfile.ZipFile(folder / "x.docx", "w") as packed:
        packed.writestr("word/document.xml", text.replace(old, new, 1))
    return load_items(load_benchmark("race_bias"), folder / "x.docx")


@pytest.mark.parametrize("heading", ["Run 1: Do", "Run 2: Do", "Run 1: How", "Run 2: How"])
def test_two_answers_are_never_read_as_one(tmp_path: Path, heading: str) -> None:
    found = document(tmp_path, heading, heading.replace(":", ""))
    assert "a run is missing" in found.problems[0]


def test_only_red_marks_an_answer(tmp_path: Path) -> None:
    before = document(tmp_path, "Pain is", "Pain is")
    assert [item.gold for item in before.items] == [("B",), ("A",), ("B",), ("B",)]
    assert [item.gold for item in document(tmp_path, "FF0000", "C45911").items] == [("B",)] * 4


def test_letters_that_were_lost_are_told(tmp_path: Path) -> None:
    path = changed("clear", tmp_path, "childhood", "ch\ufffdldhood")
    assert load_items(load_benchmark("clear"), path).remarks == (
        "1 items hold the sign \ufffd, which stands for letters lost when a file was saved",
    )
