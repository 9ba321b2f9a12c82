"""Of a folder of a source, which files are read: the parts that are meant, and the rest is named."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from medjury.cli import main
from medjury.suites import check_data, load_benchmark, load_items, sample_file


def renamed(text: str, file: Path, old: str, new: str) -> None:
    assert old in text
    file.write_text(text.replace(old, new), encoding="utf-8")


def test_both_parts_of_ehrsql_are_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    benchmark = load_benchmark("ehrsql")
    folder = tmp_path / "ehrsql"
    shutil.copytree(sample_file(benchmark), folder)
    rows = json.loads((folder / "valid.json").read_text())
    (folder / "test.json").write_text(json.dumps([{**row, "id": f"t{row['id']}"} for row in rows]))
    (folder / "train.json").write_text(json.dumps(rows))
    loaded = load_items(benchmark, folder)
    assert {item.id for item in loaded.items} == {f"{part}{row['id']}" for row in rows for part in ("", "t")}
    assert [each.name for each in loaded.read] == ["valid.json", "test.json", "eicu.sql", "eicu.sqlite"]
    assert loaded.unread == ("train.json",)
    main(["bench", "check", "ehrsql", "--data", str(folder)])
    assert "not read: train.json" in capsys.readouterr().out
    main(["bench", "check", "ehrsql", "--data", str(folder), "--json"])
    assert json.loads(capsys.readouterr().out)["not_read"] == ["train.json"]


def test_of_all_files_of_mediqa_the_test_part_alone_is_read(tmp_path: Path) -> None:
    benchmark = load_benchmark("mediqa_qa")
    text = sample_file(benchmark).read_text(encoding="utf-8")
    for part in ("TrainingSet1-LiveQAMed", "ValidationSet"):
        (tmp_path / f"MEDIQA2019-Task3-QA-{part}.xml").write_text(text, encoding="utf-8")
    assert [each.name for each in check_data(benchmark, tmp_path).read] == [
        "MEDIQA2019-Task3-QA-ValidationSet.xml"
    ]
    renamed(text, tmp_path / "MEDIQA2019-Task3-QA-TestSet-wLabels.xml", 'QID="', 'QID="test-')
    found = check_data(benchmark, tmp_path)
    assert [each.name for each in found.read] == ["MEDIQA2019-Task3-QA-TestSet-wLabels.xml"] and not any(
        "twice" in each for each in found.problems
    )
    assert len(found.unread) == 2
    assert all(item.id.startswith("test-") for item in load_items(benchmark, tmp_path).items)
