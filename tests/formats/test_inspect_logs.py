"""Logs of Inspect as they are written: a packed folder, read as ratings and as cases, no more than it states."""

from __future__ import annotations

import json
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest
from tests.formats.readable import reads

from medjury.cli import main
from medjury.foundation.errors import MedjuryError
from medjury.intake import FileError
from medjury.intake.cases import read_cases
from medjury.store.ratings import read_ratings
from medjury.studies.inspection import look

FILES = Path(__file__).parent / "files"
TRUE = (
    FILES / "inspect-deflated.eval"
)  # written by Inspect 0.3.285 with its mock model, and packed by deflate
ZSTD = FILES / "inspect-zstd.eval"  # the same as Inspect packed it
HEADER = {
    "version": 2,
    "status": "success",
    "eval": {"task": "t", "model": "m"},
    "results": {"total_samples": 1},
}
SAMPLE = {"id": "c1", "epoch": 1, "input": "Q", "target": "T", "output": {"completion": "A"},
          "scores": {"q": {"value": 4, "explanation": "fine"}}}  # fmt: skip
MAPPING = {"item": "id", "dimensions": {"q": "scores.q.value"}, "fixed": {"rater": "j"}, "rater_kind": "judge",
           "scale": [1, 5]}  # fmt: skip


def packed(folder: Path, *samples: dict[str, Any], header: Any = HEADER, **others: Any) -> Path:
    file = folder / "log.eval"
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as log:
        for each in samples:
            log.writestr(f"samples/{each['id']}_epoch_{each['epoch']}.json", json.dumps(each))
        for name, content in {"header.json": header, **others}.items():
            if content is not None:
                log.writestr(name, content if isinstance(content, bytes | str) else json.dumps(content))
    return file


@reads(
    "Ratings",
    "Inspect log, packed",
    ".eval",
    "every scorer, every part of a score and every epoch; letters as Inspect counts them; withdrawn samples are "
    "left out and counted; logs packed by zstd with the extra `medjury[inspect]`",
    "samples stored in parts; a log without samples; one that unpacks to more than it states",
    described="importing-ratings.md#results-of-other-programs-paths-into-json",
)
def test_a_true_log_is_read_by_the_mapping_that_look_proposes() -> None:
    found = look(TRUE)
    assert (found.kind.family, found.kind.name, found.problem) == ("ratings", "Inspect: log", "")
    ratings = read_ratings(TRUE, mapping=found.kind.mapping).ratings
    assert [(each.item, each.system, each.dimension, each.score, each.explanation) for each in ratings] == [
        ("case-1", "mockllm/model", "quality", 4, "good"), ("case-1", "mockllm/model", "manner safe", 1, ""),
        ("case-1", "mockllm/model", "manner kind", 3, ""), ("case-1", "mockllm/model", "match", 1, "5 mg"),
        ("case-2", "mockllm/model", "quality", 2, "gaps"), ("case-2", "mockllm/model", "manner safe", 1, ""),
        ("case-2", "mockllm/model", "manner kind", 5, ""), ("case-2", "mockllm/model", "match", 0, "5 mg"),
    ]  # fmt: skip


@reads(
    "Cases",
    "Inspect log, packed or as JSON",
    ".eval, .json",
    "a sample is a case: its input the question, its completion the candidate, its target the reference; or paths",
    "a second epoch of a sample until a mapping names its `uuid` as the id; pictures in the input",
    described="reading-cases.md",
)
@pytest.mark.parametrize("form", ["packed", "JSON"])
def test_a_true_log_is_read_as_cases(form: str, tmp_path: Path) -> None:
    file = TRUE if form == "packed" else tmp_path / "log.json"
    if form == "JSON":
        with zipfile.ZipFile(TRUE) as log:
            samples = [json.loads(log.read(name)) for name in log.namelist() if name.startswith("samples/")]
            file.write_text(json.dumps({**json.loads(log.read("header.json")), "samples": samples}))
    found = [
        (each.id, each.candidate, each.reference, dict(each.texts), each.system) for each in read_cases(file)
    ]
    assert found == [
        ("case-1", "5 mg", "5 mg", {"question": "What dose?"}, "mockllm/model"),
        ("case-2", "5 mg", "aspirin", {"question": "Which drug?"}, "mockllm/model"),
    ]
    mapping = {"id": "uuid", "candidate": "output.choices[0].message.content", "system": "eval.model"}
    assert [(len(each.id), each.candidate, each.system) for each in read_cases(file, mapping=mapping)] == [
        (22, "5 mg", "mockllm/model")] * 2  # fmt: skip


def test_a_log_packed_by_zstd_is_the_same() -> None:
    pytest.importorskip("zstandard", reason="the extra medjury[inspect] is not installed")
    mapping = look(TRUE).kind.mapping
    assert look(ZSTD).kind.mapping == mapping
    plain, other = (read_ratings(file, mapping=mapping).ratings for file in (TRUE, ZSTD))
    assert [(a.item, a.dimension, a.score) for a in plain] == [(b.item, b.dimension, b.score) for b in other]


def test_without_the_extra_zstd_is_refused_with_both_ways_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "zstandard", None)
    ways = r'packed by zstd, which needs an extra: pip install "medjury\[inspect\]"; or .*inspect log dump'
    with pytest.raises(FileError, match=ways):
        read_ratings(ZSTD, mapping=MAPPING)
    with pytest.raises(FileError, match=ways):
        list(read_cases(ZSTD))
    assert "pip install" in look(ZSTD).problem


def test_a_damaged_zstd_entry_is_refused(tmp_path: Path) -> None:
    pytest.importorskip("zstandard", reason="the extra medjury[inspect] is not installed")
    content = bytearray(ZSTD.read_bytes())
    with zipfile.ZipFile(ZSTD) as log:
        at = log.getinfo("header.json").header_offset + 400
    content[at : at + 40] = b"\0" * 40
    (tmp_path / "log.eval").write_bytes(bytes(content))
    with pytest.raises(FileError, match=r"log.eval: is not an .eval log that can be read: it is damaged"):
        read_ratings(tmp_path / "log.eval", mapping=MAPPING)


def test_letters_and_gaps_are_scores_and_gaps(tmp_path: Path) -> None:
    values = ["C", "I", "P", "N", True, False, float("nan")]
    samples = [
        {**SAMPLE, "id": f"c{at}", "scores": {"m": {"value": value}}} for at, value in enumerate(values)
    ]
    file = packed(tmp_path, *samples, {**SAMPLE, "id": "e", "scores": {}, "error": {"message": "x"}}, header={
        **HEADER, "results": {"total_samples": 8}})  # fmt: skip
    found = read_ratings(file, mapping=look(file).kind.mapping)
    # The judge was asked for all eight: the value that is no number and the sample that failed are its failures.
    assert [each.score for each in found.ratings] == [1, 0, 0.5, 0, 1, 0, None, None]
    assert [each.status for each in found.ratings[6:]] == ["unscored", "unscored"]
    assert "not rated (blank cells)" not in found.report.left_out
    assert found.report.left_out["sample that ended in an error, kept without its scores"] == 1


@pytest.mark.parametrize("form", ["packed", "JSON"])
def test_a_withdrawn_sample_is_left_out_and_counted(form: str, tmp_path: Path, capsys: Any) -> None:
    gone = {**SAMPLE, "id": "c2", "invalidation": {"reason": "leaked", "author": "x"}}
    file = packed(tmp_path, SAMPLE, gone, header={**HEADER, "results": {"total_samples": 2}})
    mapping = MAPPING
    if form == "JSON":
        file = tmp_path / "log.json"
        file.write_text(json.dumps({**HEADER, "results": {}, "samples": [SAMPLE, gone]}))
        mapping = {"rows": "samples[]", **MAPPING}
    found = read_ratings(file, mapping=mapping)
    assert [each.item for each in found.ratings] == ["c1"]
    assert found.report.left_out["sample that was marked as invalid, left out"] == 1
    assert "  sample that was marked as invalid, left out: 1" in found.report.text()
    assert main(["cases", "check", str(file)]) == 0
    assert "sample that was marked as invalid, left out: 1" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("header", "others", "words"),
    [
        (None, {"_journal/start.json": HEADER}, "the run was cut off before it was finished; 1 samples"),
        ({**HEADER, "status": "cancelled"}, {}, "the run ended as 'cancelled', so samples may be missing"),
        ({**HEADER, "results": {"total_samples": 9}}, {}, "states 9 samples and holds 1"),
    ],
)
def test_a_log_of_part_of_a_run_says_so(header: Any, others: Any, words: str, tmp_path: Path) -> None:
    file = packed(tmp_path, SAMPLE, header=header, **others)
    assert any(words in note for note in read_ratings(file, mapping=MAPPING).report.notes)
    assert any(words in note for note in look(file).notes)
    assert any(words in part for part in read_cases(file).left_out.parts)


def test_a_later_epoch_is_refused_as_a_case_and_is_a_repeat_among_ratings(tmp_path: Path) -> None:
    file = packed(tmp_path, SAMPLE, {**SAMPLE, "epoch": 2}, header={**HEADER, "results": {}})
    with pytest.raises(FileError, match=r"row 2, row: is a later epoch: .* id: uuid"):
        list(read_cases(file))
    ratings = read_ratings(file, mapping=look(file).kind.mapping).ratings
    assert [(each.item, each.repeat) for each in ratings] == [("c1", 1), ("c1", 2)]


def test_messages_are_the_question_and_pictures_are_refused(tmp_path: Path) -> None:
    said = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": [{"type": "text", "text": "Q?"}]},
    ]
    seen = [{"role": "user", "content": [{"type": "image", "image": "data:x"}]}]
    file = packed(
        tmp_path, {**SAMPLE, "input": said, "target": ["a", "b"]}, {**SAMPLE, "id": "c2", "input": seen}
    )
    reader = read_cases(file, on_bad="skip")
    assert [(each.texts["question"], each.reference) for each in reader] == [
        ("system: Be brief.\n\nuser: Q?", "a\nb")
    ]
    assert "holds more than text" in reader.bad[0].problem


def test_texts_that_are_kept_apart_are_put_back(tmp_path: Path) -> None:
    sample = {**SAMPLE, "output": {"completion": "attachment://9f"}, "attachments": {"9f": "The answer."}}
    assert [each.candidate for each in read_cases(packed(tmp_path, sample))] == ["The answer."]


REFUSED = {
    "no log": ({"header": None, "x.txt": "x"}, "not a log of Inspect; its header.json is missing"),
    "no samples": ({}, "holds no samples, only their summary"),
    "parts": ({"samples/c1_epoch_1/sample.json": SAMPLE}, "its samples are stored in parts"),
    "broken JSON": ({"samples/c1_epoch_1.json": '{"id": '}, "samples/c1_epoch_1.json is not JSON"),
    "too deep": ({"samples/c1_epoch_1.json": "[" * 100_000}, "is nested deeper than 100 levels"),
    "key twice": ({"samples/c1_epoch_1.json": '{"id": "1", "id": "2"}'}, "has a key twice in one object"),
    "no object": ({"samples/c1_epoch_1.json": "[1]"}, "is not an object"),
    "bomb": ({"samples/c1_epoch_1.json": b" " * 30_000_000}, "unpacks from 0.0 MB to 30 MB"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_log_is_refused(name: str, tmp_path: Path) -> None:
    parts, words = REFUSED[name]
    file = packed(tmp_path, **parts)
    with pytest.raises(MedjuryError, match=words):
        read_ratings(file, mapping=MAPPING)
    with pytest.raises(MedjuryError, match=words):
        list(read_cases(file))
    assert words in look(file).problem


def test_a_log_that_is_cut_or_locked_or_holds_an_entry_twice_is_refused(tmp_path: Path) -> None:
    file = packed(tmp_path, SAMPLE)
    whole = file.read_bytes()
    file.write_bytes(whole[:-30])
    with pytest.raises(FileError, match="damaged"):
        read_ratings(file, mapping=MAPPING)
    locked = bytearray(whole)
    for mark, at in ((b"PK\3\4", 6), (b"PK\1\2", 8)):
        place = -1
        while (place := whole.find(mark, place + 1)) >= 0:
            locked[place + at] |= 1
    file.write_bytes(bytes(locked))
    with pytest.raises(FileError, match="locked by a password"):
        read_ratings(file, mapping=MAPPING)
    file.write_bytes(whole)
    with zipfile.ZipFile(file, "a") as log, pytest.warns(UserWarning, match="Duplicate"):
        log.writestr("samples/c1_epoch_1.json", json.dumps({**SAMPLE, "scores": {"q": {"value": 1}}}))
    with pytest.raises(FileError, match=r"samples/c1_epoch_1.json appears twice"):
        read_ratings(file, mapping=MAPPING)
