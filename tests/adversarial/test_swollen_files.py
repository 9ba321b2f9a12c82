"""Small files that swell (YAML that repeats itself, workbooks that unpack to gigabytes) are refused, in words."""

from __future__ import annotations

import io
import time
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path

import openpyxl
import pytest

from medjury.cases import read_cases
from medjury.documents import parse_document, read_document
from medjury.errors import MedjuryError
from medjury.instruments import load_instrument
from medjury.models import PriceList
from medjury.ratings import read_ratings
from medjury.studies import load_study
from medjury.tables import rating_table, read_plain_table


def bomb(levels: int = 30) -> str:
    """Each line stands for ten of the one before."""
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, levels)]
    return "\n".join(lines) + "\n"


def merge_bomb() -> str:
    lines = ["a0: &a0 {x: 1, y: 2}"]
    lines += [f"a{n}: &a{n} {{<<: [{', '.join([f'*a{n - 1}'] * 10)}]}}" for n in range(1, 20)]
    return "\n".join(lines) + "\n"


READERS: dict[str, Callable[[Path], object]] = {
    "study": load_study,
    "instrument": lambda path: load_instrument(str(path)),
    "prices": PriceList.read,
    "mapping of ratings": read_ratings,
    "mapping of a table": rating_table,
    "redaction and others": read_document,
}


@pytest.mark.parametrize("reader", READERS.values(), ids=list(READERS))
@pytest.mark.parametrize("text", [bomb(), merge_bomb()], ids=["aliases", "merges"])
def test_a_yaml_bomb_is_refused_quickly(reader: Callable[[Path], object], text: str, tmp_path: Path) -> None:
    file = tmp_path / "file.yaml"
    file.write_text(text)
    started = time.process_time()
    with pytest.raises(MedjuryError, match=r"line \d+: parts that are repeated") as refused:
        reader(file)
    assert time.process_time() - started < 20
    assert "file.yaml" in str(refused.value)


@pytest.mark.parametrize("value", ["9" * 10_000, "2020-13-45", "0x_", "2020-01-01 99:00:00"])
def test_a_number_or_a_date_that_is_none_is_refused_in_words(value: str) -> None:
    with pytest.raises(MedjuryError, match=r"study\.yaml: .* put it in quotes"):
        parse_document(f"study: {value}\n", "study.yaml")


def test_yaml_in_yaml_without_end_is_refused() -> None:
    with pytest.raises(MedjuryError, match="too deep"):
        parse_document("[" * 20_000, "deep.yaml")
    with pytest.raises(MedjuryError, match=r"too deep|repeated"):
        parse_document("a: &a [*a]", "circle.yaml")


def test_honest_repetition_is_read() -> None:
    text = "base: &base {kind: openai, model: m}\njudges: [" + ", ".join(["*base"] * 500) + "]\n"
    assert len(parse_document(text, "study.yaml").value["judges"]) == 500


def workbook(path: Path, rows: int = 3) -> Path:
    book = openpyxl.Workbook()
    book.active.append(["id", "candidate", "item", "rater", "dimension", "score"])
    for number in range(rows):
        book.active.append([f"c{number}", "text", f"c{number}", "anna", "accuracy", 3])
    book.save(path)
    return path


@pytest.fixture(scope="module")
def huge(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The same workbook with a sheet of 294 MB in its place, packed into little."""
    folder = tmp_path_factory.mktemp("swollen")
    source, made = workbook(folder / "honest.xlsx"), folder / "huge.xlsx"
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as new:
        for part in old.infolist():
            if part.filename != "xl/worksheets/sheet1.xml":
                new.writestr(part, old.read(part))
        huge_sheet(new)
    return made.read_bytes()


def huge_sheet(file: zipfile.ZipFile) -> None:
    row = b'<row><c t="inlineStr"><is><t>x</t></is></c></row>' * 20_000
    with file.open("xl/worksheets/sheet1.xml", "w", force_zip64=True) as part:
        part.write(
            b'<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>'
        )
        for _ in range(300):
            part.write(row)
        part.write(b"</sheetData></worksheet>")


BOOKS: dict[str, Callable[[Path], object]] = {
    "cases": lambda path: list(read_cases(path)),
    "ratings": read_ratings,
    "a plain table": read_plain_table,
}


@pytest.mark.parametrize("reader", BOOKS.values(), ids=list(BOOKS))
def test_a_workbook_that_unpacks_to_gigabytes_is_refused(
    reader: Callable[[Path], object], huge: bytes, tmp_path: Path
) -> None:
    file = tmp_path / "huge.xlsx"
    file.write_bytes(huge)
    assert file.stat().st_size < 3_000_000
    tracemalloc.start()
    try:
        with pytest.raises(MedjuryError, match=r"huge\.xlsx: unpacks from .* MB to 294 MB"):
            reader(file)
        assert tracemalloc.get_traced_memory()[1] < 30_000_000, "before anything was unpacked"
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("reader", BOOKS.values(), ids=list(BOOKS))
def test_a_workbook_that_lies_about_its_size_is_not_unpacked_further(
    reader: Callable[[Path], object], huge: bytes, tmp_path: Path
) -> None:
    file, content = tmp_path / "lying.xlsx", huge
    with zipfile.ZipFile(io.BytesIO(huge)) as packed:
        size = packed.getinfo("xl/worksheets/sheet1.xml").file_size
    stated = size.to_bytes(4, "little")
    assert content.count(stated) >= 1
    file.write_bytes(content.replace(stated, (5_000).to_bytes(4, "little")))
    tracemalloc.start()
    try:
        with pytest.raises(MedjuryError, match=r"lying\.xlsx"):
            reader(file)
        assert tracemalloc.get_traced_memory()[1] < 30_000_000
    finally:
        tracemalloc.stop()


def test_an_honest_workbook_is_read(tmp_path: Path) -> None:
    file = workbook(tmp_path / "honest.xlsx", rows=5_000)
    assert len(list(read_cases(file, mapping={"id": "id", "candidate": "candidate"}))) == 5_000
