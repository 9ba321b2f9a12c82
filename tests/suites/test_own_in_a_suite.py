"""A suite knows real data from made-up rows, and passes on what is to be known of them."""

from __future__ import annotations

import shutil
from pathlib import Path

from medjury.cli import main
from medjury.suites import load_benchmark, sample_file
from medjury.suites._running._suite import load_suite


def notes(folder: Path, benchmark: str) -> str:
    file = folder / "suite.yaml"
    file.write_text(
        f"suite: mine\nbenchmarks: [{benchmark}]\ncandidates: [{{kind: scripted, name: one}}]\n",
        encoding="utf-8",
    )
    return "\n".join(load_suite(file).notes())


def test_the_table_of_an_own_benchmark_is_no_made_up_row(tmp_path: Path) -> None:
    table = tmp_path / "exam.csv"
    table.write_text("id,question,choice_A,choice_B,gold\n1,Why?,x,y,A\n", encoding="utf-8")
    assert main(["bench", "new", "exam", "--data", str(table), "--to", str(tmp_path)]) == 0
    assert "MADE-UP" not in notes(tmp_path, "{name: exam.yaml}")
    assert "MADE-UP ROWS, no data: medec" in notes(tmp_path, "{name: medec}")


def test_a_copy_that_is_not_the_one_described_is_told(tmp_path: Path) -> None:
    shutil.copy(sample_file(load_benchmark("medec")), tmp_path / "MEDEC-MS-TestSet.csv")
    found = notes(tmp_path, "{name: medec, data: MEDEC-MS-TestSet.csv}")
    assert "is not the copy that medec 1.0 was described from" in found
