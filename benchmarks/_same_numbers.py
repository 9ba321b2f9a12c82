"""Do the demonstration and the recipes print the same numbers as at an earlier commit? `make same-numbers`.

Every study is run by both trees. Their folders `tables/` and their ratings are compared: a cell that is a number
must be equal to the last digit, and so must the numbers inside a sentence, whose words may change. A row, a column
or a table that only one of them has is a difference too."""

from __future__ import annotations

import csv
import os
import re
import subprocess
import sys
import tarfile
import tempfile
from collections import Counter
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

ROOT = Path(__file__).parents[1]
RECIPES = (
    "conversations", "criteria", "diagnosis-jury", "econsult", "medhelm-jury", "pairs", "pdsqi9", "transcripts",
)  # fmt: skip
NUMBER = re.compile(r"\d+(?:[.,]\d+)*(?:e[-+]?\d+)?")
# What differs between two runs of the same code: moments, in a column or in a sentence.
MOMENT = re.compile(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d(:\d\d(\.\d+)?)?")
VARIES = {"created_at", "seconds", "started", "finished", "when", "duration"}
# What a tree states of itself: sizes and hashes of its own files.
OWN = {"methods.csv", "folder.csv"}


def runs(tree: Path, folder: Path) -> None:
    """Every study, run by this tree."""
    variables = {**os.environ, "PYTHONPATH": str(tree / "src"), "MEDJURY_NO_PROGRESS": "1"}

    def medjury(*words: str) -> None:
        subprocess.run(
            [sys.executable, "-m", "medjury", *words], cwd=folder, env=variables, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, check=False,
        )  # fmt: skip

    folder.mkdir()
    medjury("demo", "--no-live", "--quiet")
    for recipe in RECIPES:
        medjury("init", "--recipe", recipe)
        for study in sorted((folder / recipe).glob("*.yaml")):
            if "\nstudy:" in "\n" + study.read_text(encoding="utf-8"):
                medjury("run", str(study), "--quiet")


def differences(before: Path, now: Path) -> Iterator[str]:
    """One line for each number that differs, and for each table that one of them lacks."""
    found = [{file.relative_to(each): file for file in _tables(each)} for each in (before, now)]
    for name in sorted({*found[0]} ^ {*found[1]}):
        yield f"{name}: only {'before' if name in found[0] else 'now'}"
    for name in sorted({*found[0]} & {*found[1]}):
        if name.name not in OWN:
            yield from (f"{name}: {told}" for told in _compared(found[0][name], found[1][name]))


def _tables(folder: Path) -> list[Path]:
    return [*folder.rglob("tables/*.csv"), *folder.rglob("ratings.csv")]


def _compared(before: Path, now: Path) -> Iterator[str]:
    rows = []
    for file in (before, now):
        with file.open(encoding="utf-8", newline="") as opened:
            rows.append([*csv.reader(opened)])
    if len(rows[0]) != len(rows[1]):
        yield f"{len(rows[0])} rows before, {len(rows[1])} now"
        return
    names = rows[0][0] if rows[0] else []
    for place, (old, new) in enumerate(zip(*rows, strict=True)):
        if len(old) != len(new):
            yield f"row {place}: {len(old)} columns before, {len(new)} now"
        for name, one, other in zip(names, old, new, strict=False):
            if name not in VARIES and NUMBER.findall(MOMENT.sub("", one)) != NUMBER.findall(
                MOMENT.sub("", other)
            ):
                yield f"row {place}, {name}: {one[:80]!r} before, {other[:80]!r} now"


def _kind(line: str) -> str:
    """The table and the column of a difference, whatever its study, its number and its row."""
    table, told = line.split(": ", 1)
    column = told.split(", ", 1)[1].split(": ")[0] if told.startswith("row ") and ", " in told else told
    return f"{re.sub(r'-[0-9]+-.*', '', Path(table).stem)}, {column}"


def main(commit: str) -> int:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        made = subprocess.run(["git", "archive", commit, "src"], cwd=ROOT, capture_output=True, check=True)
        with tarfile.open(fileobj=BytesIO(made.stdout)) as archive:
            archive.extractall(folder / "tree", filter="data")
        for kernel in (ROOT / "src").rglob("*.so"):
            place = folder / "tree" / kernel.relative_to(ROOT)
            if place.parent.is_dir():
                place.write_bytes(kernel.read_bytes())
        runs(folder / "tree", folder / "before")
        runs(ROOT, folder / "now")
        tables = len(_tables(folder / "now"))
        found = [*differences(folder / "before", folder / "now")]
    for line in found:
        print(line)
    for kind, count in Counter(map(_kind, found)).most_common():
        print(f"{count:>6} differences: {kind}")
    print(f"{tables} tables of the demonstration and {len(RECIPES)} recipes, {len(found)} differences")
    return 1 if found or not tables else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
