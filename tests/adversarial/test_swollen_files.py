"""Small files that swell (YAML that repeats itself, workbooks that unpack to gigabytes, Parquet files of millions
of rows) are refused, in the same words by every reader."""

from __future__ import annotations

import gzip
import io
import json
import re
import tracemalloc
import zipfile
from collections.abc import Callable
from functools import cache
from pathlib import Path

import openpyxl
import polars
import pytest

from medjury.cli import main
from medjury.foundation.documents import parse_document, read_document
from medjury.foundation.errors import MedjuryError
from medjury.foundation.limits import FileLimitError, is_too_deep, part_of_limits, read_parquet
from medjury.instruments import load_instrument
from medjury.intake.cases import read_cases
from medjury.models import PriceList
from medjury.models._answer_file import AnswerFile
from medjury.store.ratings import read_ratings
from medjury.studies import load_study
from medjury.studies.inspection import look
from medjury.tables import rating_table, read_plain_table
from medjury.texts.metrics import ImpactPairs
from medjury.texts.transcripts import read_transcript


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
    "study": load_study, "instrument": lambda path: load_instrument(str(path)), "prices": PriceList.read,
    "mapping of ratings": read_ratings, "mapping of a table": rating_table,
    "redaction and others": read_document,
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "text"),
    [*((name, bomb()) for name in READERS), ("redaction and others", merge_bomb())],
    ids=[*READERS, "merges"],
)
def test_a_yaml_bomb_is_refused(name: str, text: str, tmp_path: Path) -> None:
    """Unfolded, it would take longer than anybody waits."""
    file = tmp_path / "file.yaml"
    file.write_text(text)
    with pytest.raises(MedjuryError, match=r"file\.yaml, line \d+: parts that are repeated"):
        READERS[name](file)


@pytest.mark.parametrize("value", ["9" * 10_000, "2020-13-45", "0x_", "2020-01-01 99:00:00"])
def test_a_number_or_a_date_that_is_none_is_refused_in_words(value: str) -> None:
    with pytest.raises(MedjuryError, match=r"study\.yaml: .* put it in quotes"):
        parse_document(f"study: {value}\n", "study.yaml")


def test_yaml_in_yaml_without_end_is_refused() -> None:
    with pytest.raises(MedjuryError, match="too deep"):
        parse_document("[" * 1_500, "deep.yaml")
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
    with (
        zipfile.ZipFile(source) as old,
        zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as new,
    ):
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
    "cases": lambda path: list(read_cases(path)), "ratings": read_ratings, "a plain table": read_plain_table,
}  # fmt: skip


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
    file = workbook(tmp_path / "honest.xlsx", rows=500)
    assert len(list(read_cases(file, mapping={"id": "id", "candidate": "candidate"}))) == 500


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_a_method_that_unpacks_everything_at_once_is_not_used_at_all(method: int, tmp_path: Path) -> None:
    """Of these methods Python unpacks all that is there, whatever the directory states."""
    honest, file = workbook(tmp_path / "honest.xlsx"), tmp_path / "lying.xlsx"
    with zipfile.ZipFile(honest) as old, zipfile.ZipFile(file, "w", method) as new:
        for part in old.infolist():
            if part.filename != "xl/worksheets/sheet1.xml":
                new.writestr(part, old.read(part))
        new.writestr("xl/worksheets/sheet1.xml", b" " * 40_000_000)
    content = file.read_bytes()
    file.write_bytes(content.replace((40_000_000).to_bytes(4, "little"), (5_000).to_bytes(4, "little")))
    for reader in BOOKS.values():
        tracemalloc.start()
        try:
            with pytest.raises(MedjuryError, match=r"lying\.xlsx"):
                reader(file)
            assert tracemalloc.get_traced_memory()[1] < 30_000_000
        finally:
            tracemalloc.stop()


TABLES: dict[str, Callable[[Path], object]] = {
    **BOOKS,
    "a look": look,
    "pairs of texts": lambda path: ImpactPairs.read(path, "item", "item"),
}


@pytest.fixture(scope="module")
def repeated(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """Kilobytes of Parquet: many rows, many values in one row, one long text in every row, deep groups."""
    deep: object = 1
    for _ in range(120):
        deep = {"a": deep}
    long = polars.repeat("x" * 100_000, 5_100, eager=True)
    frames = {
        "rows": polars.DataFrame({"item": polars.repeat("a", 2_400_000, eager=True)}),
        "values": polars.DataFrame(
            {"item": ["a"], "l": [polars.repeat(1, 101_000_000, eager=True, dtype=polars.Int8)]}
        ),
        "texts": polars.DataFrame({"item": long}),
        "levels": polars.DataFrame({"item": ["a"], "deep": [deep]}),
    }
    file, found = tmp_path_factory.mktemp("parquet") / "made.parquet", {}
    for name, frame in frames.items():
        frame.write_parquet(file)
        found[name] = file.read_bytes()
    return found


PARQUET = {
    "rows": "has 2,400,000 rows; at most 2,000,000 rows are read from one file",
    "values": "has 101,000,001 values; at most 100,000,000 cells are read from one file",
    "levels": "is nested deeper than 100 levels; at most 100 levels are read from one file",
}


def not_to_be_called(*_: object, **__: object) -> None:
    pytest.fail("rows were read")


@pytest.mark.parametrize("reader", TABLES.values(), ids=list(TABLES))
@pytest.mark.parametrize("what", PARQUET)
def test_a_parquet_file_is_refused_by_its_footer_before_a_row_is_read(
    what: str, reader: Callable[[Path], object], repeated: dict[str, bytes], tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    file = tmp_path / "small.parquet"
    file.write_bytes(repeated[what])
    assert file.stat().st_size < 200_000
    for name in ("read_parquet", "scan_parquet"):
        monkeypatch.setattr(polars, name, not_to_be_called)
    with pytest.raises(FileLimitError, match=rf"^small\.parquet: {PARQUET[what]}"):
        reader(file)


@pytest.mark.parametrize("name", ["ratings", "a plain table", "a look", "pairs of texts"])
def test_one_long_text_in_every_row_is_refused(name: str, repeated: dict[str, bytes], tmp_path: Path) -> None:
    """Read row by row, as cases are, it would take hours; as a table it takes no room until its texts are used."""
    file = tmp_path / "small.parquet"
    file.write_bytes(repeated["texts"])
    assert file.stat().st_size < 200_000
    with pytest.raises(FileLimitError, match=r"small\.parquet: holds 510 MB of text; at most 500 MB"):
        TABLES[name](file)


def test_a_footer_that_lies_gives_no_more_rows_than_it_states(tmp_path: Path) -> None:
    file = tmp_path / "lying.parquet"
    polars.DataFrame({"item": polars.repeat("a", 3_000_000, eager=True)}).write_parquet(
        file, row_group_size=3_000_000
    )
    content = file.read_bytes()

    def number(value: int, length: int = 0) -> bytes:
        """As Thrift writes it, in so many bytes."""
        value, found = 2 * value, bytearray()
        while value > 127 or len(found) < length - 1:
            found.append(value & 127 | 128)
            value >>= 7
        return bytes([*found, value])

    footer = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    stated = number(3_000_000)
    assert content[footer:].count(stated) >= 2
    lying = content[footer:].replace(stated, number(7, len(stated)))
    file.write_bytes(content[:footer] + lying)
    assert read_parquet(file).height == 7


@pytest.mark.parametrize("reader", TABLES.values(), ids=list(TABLES))
def test_what_is_not_parquet_is_refused_in_words(reader: Callable[[Path], object], tmp_path: Path) -> None:
    file = tmp_path / "not.parquet"
    for content in (b"", b"PAR1", b"PAR1" + b"\x1c" * 5_000 + (5_000).to_bytes(4, "little") + b"PAR1",
                    b"\xff" * 90 + (80).to_bytes(4, "little") + b"PAR1"):  # fmt: skip
        file.write_bytes(content)
        try:
            found = reader(file)
        except MedjuryError as error:
            assert "not.parquet" in str(error)
        else:
            assert found is None or "not a Parquet file" in str(found)


@cache
def wide(columns: int = 100_000) -> bytes:
    names = ["item", "id", "candidate", "rater", "dimension", "score", *map(str, range(columns - 6))]
    return (",".join(names) + "\n" + "1," * (columns - 1) + "1\n").encode()


@pytest.mark.parametrize("reader", TABLES.values(), ids=list(TABLES))
def test_a_table_of_a_hundred_thousand_columns_is_refused(
    reader: Callable[[Path], object], tmp_path: Path
) -> None:
    (tmp_path / "wide.csv").write_bytes(wide())
    with pytest.raises(FileLimitError, match=r"^wide\.csv: has .*100,000 .*; at most 10,000 columns"):
        reader(tmp_path / "wide.csv")


@pytest.mark.parametrize("name", ["ratings", "a plain table", "pairs of texts"])
def test_rows_that_each_name_another_column_are_refused(name: str, tmp_path: Path) -> None:
    file = tmp_path / "square.jsonl"
    file.write_text("".join(json.dumps({"item": "a", f"c{number}": 1}) + "\n" for number in range(12_000)))
    with pytest.raises(FileLimitError, match=r"^square\.jsonl: has .*; at most 10,000 columns"):
        TABLES[name](file)


PACKED: dict[str, Callable[[Path], object]] = {
    "cases.jsonl.gz": lambda path: list(read_cases(path)),
    "cases.csv.gz": lambda path: list(read_cases(path)),
    "cases.json.gz": lambda path: list(read_cases(path)),
    "ratings.csv.gz": read_ratings,
    "ratings.jsonl.gz": read_ratings,
    "table.csv.gz": read_plain_table,
    "answers.jsonl.gz": AnswerFile.open,
}


FIRST = {
    "cases.csv.gz": b"id,candidate\n",
    "ratings.csv.gz": b"item,rater,dimension,score\n",
    "table.csv.gz": b"item,rater,dimension,score\n",
    "answers.jsonl.gz": b'{"format": "medjury answers 1", "models": []}\n',
}


@pytest.mark.parametrize("name", PACKED)
def test_a_gzip_bomb_is_refused_before_it_is_unpacked(name: str, tmp_path: Path) -> None:
    file = tmp_path / name
    with gzip.open(file, "wb") as packed:
        packed.write(FIRST.get(name, b'{"item": "a"}\n'))
        for _ in range(100):
            packed.write(b" " * 999_999 + b"\n")
    assert file.stat().st_size < 200_000
    with pytest.raises(
        FileLimitError, match=rf"^{name}: unpacks from 0\.1 MB to 2\d MB or more; at most 250 times"
    ):
        PACKED[name](file)


DEEP = '{"item": "a", "id": "a", "candidate": ' + "[" * 101 + "]" * 101 + "}"
NESTED: dict[str, Callable[[Path], object]] = {
    "cases.jsonl": lambda path: list(read_cases(path)),
    "cases.json": lambda path: list(read_cases(path)),
    "ratings.jsonl": read_ratings,
    "ratings.json": read_ratings,
    "table.jsonl": read_plain_table,
    "pairs.jsonl": lambda path: ImpactPairs.read(path, "item", "item"),
    "look.json": look,
    "transcript.json": read_transcript,
}


@pytest.mark.parametrize("name", NESTED)
@pytest.mark.parametrize("text", [DEEP, '{"a":' * 100_000], ids=["a little", "a lot"])
def test_json_in_json_without_end_is_refused(text: str, name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(MedjuryError, match=rf"{re.escape(name)}.*: .*is nested deeper than 100 levels"):
        NESTED[name](tmp_path / name)


def test_a_deep_cell_of_a_table_is_refused(tmp_path: Path) -> None:
    (tmp_path / "r.csv").write_text('item,rater,answer\n1,ann,"' + "[" * 50_000 + '"\n')
    mapping = {"item": "item", "rater": "rater", "score": "answer.score", "fixed": {"dimension": "accuracy"}}
    with pytest.raises(MedjuryError, match=r"r\.csv, row 2: .*is nested deeper than 100 levels"):
        read_ratings(tmp_path / "r.csv", mapping=mapping)


@pytest.mark.parametrize(
    ("text", "deep"),
    [
        ("[" * 100 + "]" * 100, False),
        ("[" * 101 + "]" * 101, True),
        (json.dumps(["[" * 500, '"[' * 500, "\\" * 3 + "[" * 500]), False),
        ("[{}]" * 10_000, False),
        ('["' + "[" * 1_000, False),
        ('"' + '\\"' * 100_000 + "[" * 200, False),
        ("[" * 200 + '"' + "\\" * 99_999, True),
    ],
)
def test_depth_is_counted_outside_of_texts(text: str, deep: bool) -> None:
    assert is_too_deep(text) is deep and is_too_deep(text.encode()) is deep


def test_as_many_rows_as_are_read_are_read_and_not_one_more(tmp_path: Path) -> None:
    for name, head, line in (
        ("ratings.csv", "item,rater,dimension,score\n", "{},a,q,1\n"),
        ("cases.csv", "id,candidate\n", "{},text\n"),
    ):
        file = tmp_path / name
        read = read_ratings if name == "ratings.csv" else lambda path: list(read_cases(path))
        for rows, refused in ((20, False), (21, True)):
            file.write_text(head + "".join(line.format(number) for number in range(rows)))
            with part_of_limits(20 / 2_000_000):
                if refused:
                    with pytest.raises(FileLimitError, match="has more than 20 rows"):
                        read(file)
                else:
                    read(file)


def test_who_trusts_a_file_reads_more_of_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "ratings.csv"
    file.write_text("item,rater,dimension,score\n" + "".join(f"{number},a,q,1\n" for number in range(50)))
    with part_of_limits(20 / 2_000_000), pytest.raises(FileLimitError, match="MEDJURY_FILE_LIMITS=10"):
        read_ratings(file)
    monkeypatch.setenv("MEDJURY_FILE_LIMITS", "10")
    with part_of_limits(20 / 2_000_000):
        assert len(read_ratings(file).ratings) == 50
    monkeypatch.setenv("MEDJURY_FILE_LIMITS", "much")
    with pytest.raises(MedjuryError, match="MEDJURY_FILE_LIMITS is 'much'; give the factor"):
        read_ratings(file)


def test_the_command_line_refuses_in_words(
    repeated: dict[str, bytes], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "r.parquet").write_bytes(repeated["rows"])
    assert (
        main(
            ["runs", "ratings", "import", str(tmp_path / "r.parquet"), "--store", str(tmp_path / "s.sqlite")]
        )
        == 2
    )
    assert "r.parquet: has 2,400,000 rows; at most 2,000,000 rows" in capsys.readouterr().err
