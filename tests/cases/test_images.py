"""Images of cases: cleaned of all but their pixels, known by their content, and refused with a reason."""

from __future__ import annotations

import hashlib
import io
import json
import struct
import warnings
import zlib
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import PIL.Image
import pydicom
import pytest
from pydicom.pixels import convert_color_space
from tests.cases.pictures import SECRETS, dicom, jpeg, pixels, png, png_header

from medjury.cli import main
from medjury.intake import FileError
from medjury.intake.cases import (
    Case,
    PairedCases,
    case_from_row,
    content_marks,
    read_cases,
    write_cases,
)
from medjury.intake.cases._images import MOST_BYTES, ImageError, image_of


def decoded(content: bytes) -> np.ndarray:  # type: ignore[type-arg]
    return np.asarray(PIL.Image.open(io.BytesIO(content)))


def cases_in(folder: Path, *rows: object, name: str = "cases.jsonl") -> Path:
    file = folder / name
    lines = [{"id": str(n), "candidate": "A report.", "images": row} for n, row in enumerate(rows)]
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return file


@pytest.mark.parametrize("made", [png(), jpeg(), jpeg(orientation=1)])
def test_everything_but_the_pixels_is_left_out_and_the_pixels_stay(made: bytes) -> None:
    assert all(word.encode() in made for word in SECRETS)
    image = image_of(made)
    for word in SECRETS:
        assert word.encode() not in image.content and word.encode("utf-16-le") not in image.content
    assert (decoded(image.content) == decoded(made)).all()
    assert image.hash == hashlib.sha256(image.content).hexdigest()
    assert image_of(image.content) == image, "what is clean stays as it is"
    with PIL.Image.open(io.BytesIO(image.content)) as opened:
        assert not opened.getexif() and not {"comment", "Comment", "exif"} & set(opened.info)


def test_a_picture_of_several_scans_is_kept_whole() -> None:
    out = io.BytesIO()
    PIL.Image.fromarray(pixels(64)).save(
        out, "JPEG", progressive=True, restart_marker_blocks=2, exif=b"Exif\0\0Testperson"
    )
    image = image_of(out.getvalue())
    assert b"Testperson" not in image.content and (decoded(image.content) == decoded(out.getvalue())).all()


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (png()[:200], "not whole"),
        (jpeg()[:200], "cannot be opened"),
        (jpeg()[:-40], "not whole"),
        (png_header(50_000, 50_000), "50,000 × 50,000 pixels; at most 40,000,000"),
        (png_header(100, 100), "not all of its pixels"),
        (jpeg(orientation=6), "save it upright"),
        (b'<svg xmlns="http://www.w3.org/2000/svg"><script/></svg>', "SVG"),
        (b'  <?xml version="1.0"?><svg/>', "SVG"),
        (b"GIF89a" + b"\0" * 50, "not a PNG, a JPEG or a DICOM"),
        (b"", "not a PNG"),
        (b"\x89PNG\r\n\x1a\n" + b"\0" * (MOST_BYTES + 1), "bytes; at most 20,000,000"),
    ],
    ids=lambda each: each[:12].hex() if isinstance(each, bytes) else None,
)  # fmt: skip
def test_what_is_no_whole_image_is_refused(content: bytes, problem: str) -> None:
    with pytest.raises(ImageError, match=problem):
        image_of(content)


def test_no_part_of_a_file_carries_text_beside_the_pixels_and_none_stops_the_reading() -> None:
    name = b"Testperson"
    whole = image_of(jpeg()).content
    for marker in (0xDC, 0xDE, 0xF0, 0xFD, 0x02):  # what no decoder of these pictures needs
        segment = struct.pack(">BBH", 0xFF, marker, len(name) + 2) + name
        assert image_of(whole[:2] + segment + whole[2:]).content == whole
    picture = image_of(png()).content

    def with_chunk(kind: bytes, data: bytes, place: int = 33) -> bytes:
        chunk = struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        return picture[:place] + chunk + picture[place:]

    for broken in (with_chunk(b"gAMA", name), with_chunk(b"IHDR", b"abc", place=8)):
        with pytest.raises(ImageError, match="not whole"):
            image_of(broken)
    assert image_of(with_chunk(b"eXIf", name)).content == picture, "an EXIF that cannot be read turns nothing"


def test_a_byte_that_is_changed_anywhere_in_a_png_is_seen() -> None:
    whole = image_of(png()).content
    for place in range(8, len(whole), 97):
        with pytest.raises(ImageError):
            image_of(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])


def test_the_content_decides_and_not_the_ending(tmp_path: Path) -> None:
    (tmp_path / "wrong.jpg").write_bytes(png())
    (tmp_path / "same.png").write_bytes(png())
    file = cases_in(tmp_path, ["wrong.jpg", {"path": "same.png", "label": "PA view"}, "same.png"])
    (case,) = read_cases(file)
    assert [(each.media, each.label) for each in case.images] == [("image/png", ""), ("image/png", "PA view")]
    assert case.input("images") == "image 1 (32 × 32)\nimage 2 (32 × 32): PA view"


@pytest.mark.parametrize(
    ("named", "problem"),
    [
        ("../secret.png", "not in the folder of the cases"),
        ("/etc/passwd", "not in the folder of the cases"),
        ("link/secret.png", "not in the folder of the cases"),
        ("a\0b.png", "not in the folder of the cases|no such file"),
        ("none.png", "no such file"),
        ("data:image/png;base64," + "iVBORw0KGgo" * 100, "is an address, not a file"),
        ("https://example.org/1.png", "is an address, not a file"),
        (".", "no such file"),
        ({"path": "none.png", "url": "http://example.org"}, "not a path, or an object"),
        ({"path": "none.png", "label": "a\nb"}, "one line"),
        (7, "not a path"),
        (["none.png"] * 21, "at most 20"),
        ("[broken", "not a JSON list"),
    ],
)
def test_a_path_leads_to_a_file_beside_the_cases_or_the_row_is_refused(
    tmp_path: Path, named: object, problem: str
) -> None:
    (tmp_path / "secret.png").write_bytes(png())
    folder = tmp_path / "study"
    folder.mkdir()
    (folder / "link").symlink_to(tmp_path)
    with pytest.raises(FileError, match=problem) as refused:
        list(read_cases(cases_in(folder, named)))
    assert "row 1" in str(refused.value) or "line 1" in str(refused.value)
    assert "secret" not in str(refused.value), "a path may be a name, and is not repeated"
    assert [case.images for case in read_cases(cases_in(folder, named, None), on_bad="skip")] == [()]


def test_a_table_names_images_in_a_cell(tmp_path: Path) -> None:
    (tmp_path / "scans").mkdir()
    (tmp_path / "scans" / "a.png").write_bytes(png())
    file = tmp_path / "cases.csv"
    file.write_text('id,candidate,scan\n1,x,scans/a.png\n2,y,"[""scans/a.png""]"\n3,z,\n')
    cases = list(read_cases(file, mapping={"candidate": "candidate", "images": "scan"}))
    assert [len(case.images) for case in cases] == [1, 1, 0]


def test_an_image_is_part_of_the_case_and_a_case_without_one_is_what_it_was() -> None:
    one, other = image_of(png()), image_of(png(seed=1))
    plain = Case("1", candidate="Same words.")
    prints = {
        plain.fingerprint(),
        *(Case("1", candidate="Same words.", images=(i,)).fingerprint() for i in (one, other)),
    }
    assert len(prints) == 3
    with_one, with_other = (
        Case(n, candidate="Same words.", images=(i,)) for n, i in (("a", one), ("b", other))
    )
    assert content_marks(with_one).isdisjoint(content_marks(with_other)), "two pictures are two cases"
    again = Case("c", candidate="Other words.", images=(one,))
    assert content_marks(with_one) & content_marks(again), "one picture is one patient's"


def test_dicom_becomes_its_picture_and_no_tag_goes_along(tmp_path: Path) -> None:
    remarks: Counter[str] = Counter()
    data = dicom(tmp_path / "Testperson_1.dcm").read_bytes()
    image = image_of(data, remarks=remarks, stem="Testperson_1")
    shown = decoded(image.content)
    assert shown.shape == (16, 16) and shown[0, 0] == 0 and shown[15, 15] == 255
    for word in SECRETS:
        assert word.encode() not in image.content and word.encode("utf-16-le") not in image.content
    assert sum("burnt in" in each for each in remarks) == 1 and any(
        "name of the patient" in each for each in remarks
    )
    turned = image_of(
        dicom(tmp_path / "b.dcm", inverted=True, burnt_in="NO").read_bytes(), remarks=(quiet := Counter())
    )
    assert (decoded(turned.content) == 255 - shown).all() and not +quiet
    with pytest.raises(ImageError, match="of 3 frames"):
        image_of(dicom(tmp_path / "c.dcm", frames=3).read_bytes())
    with pytest.raises(ImageError, match="is a DICOM file") as refused:
        image_of(data[:400])
    assert "Testperson" not in str(refused.value)


def test_what_fills_a_dicom_frame_does_not_darken_the_picture(tmp_path: Path) -> None:
    made = pydicom.dcmread(dicom(tmp_path / "a.dcm", burnt_in="NO"))
    del made.WindowCenter, made.WindowWidth
    plain = np.arange(256, dtype=np.uint16).reshape(16, 16)
    filled = plain.copy()
    filled[0] = 4095
    shown = []
    for value, picture in ((None, plain), (4095, filled)):
        if value is not None:
            made.add_new("PixelPaddingValue", "US", value)
        made.PixelData = picture.tobytes()
        made.save_as(tmp_path / "b.dcm", enforce_file_format=True)
        shown.append(decoded(image_of((tmp_path / "b.dcm").read_bytes()).content).astype(int))
    assert shown[0][15, 15] == shown[1][15, 15] == 255 and abs(shown[0] - shown[1])[1:].max() <= 20


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"RescaleSlope": "nan", "RescaleIntercept": "0"}, "turns its pixels into no numbers"),
        ({"SamplesPerPixel": 3, "PlanarConfiguration": 0, "PhotometricInterpretation": "HSV", "Rows": 8,
          "Columns": 8, "BitsAllocated": 8, "BitsStored": 8, "HighBit": 7}, "colours are of a kind"),
        ({"RescaleSlope": "0", "RescaleIntercept": "5"}, ""),
    ],
)  # fmt: skip
def test_a_dicom_that_shows_nothing_or_other_colours_is_refused_or_counted(
    tmp_path: Path, changed: dict[str, Any], problem: str
) -> None:
    made = pydicom.dcmread(dicom(tmp_path / "a.dcm", burnt_in="NO"))
    with warnings.catch_warnings(action="ignore"):
        for name, value in changed.items():
            setattr(made, name, value)
        made.PixelData = made.PixelData[
            : int(made.Rows) ** 2 * made.SamplesPerPixel * made.BitsAllocated // 8
        ]
        made.save_as(tmp_path / "b.dcm", enforce_file_format=True)
    data = (tmp_path / "b.dcm").read_bytes()
    if problem:
        with pytest.raises(ImageError, match=problem):
            image_of(data)
        return
    image_of(data, remarks=(remarks := Counter()))
    assert list(+remarks) == ["DICOM images of one shade alone, on which nothing is to be seen"]


@pytest.mark.parametrize("form", ["RGB", "YBR_FULL", "PALETTE COLOR", "16 bits"])
def test_a_coloured_dicom_has_its_own_colours(tmp_path: Path, form: str) -> None:
    made = pydicom.dcmread(dicom(tmp_path / "a.dcm", burnt_in="NO"))
    colour = np.full((16, 16, 3), (200, 30, 10), dtype=np.uint8)
    made.SamplesPerPixel, made.PlanarConfiguration = 3, 0
    made.BitsAllocated, made.BitsStored, made.HighBit = 8, 8, 7
    made.PhotometricInterpretation = "RGB" if form == "16 bits" else form
    if form == "YBR_FULL":
        colour = convert_color_space(colour, "RGB", "YBR_FULL")
    elif form == "16 bits":
        colour, made.BitsAllocated, made.BitsStored, made.HighBit = colour.astype(np.uint16) * 256, 16, 16, 15
    elif form == "PALETTE COLOR":
        colour = np.full((16, 16), 3, dtype=np.uint8)
        made.SamplesPerPixel = 1
        for name, value in zip(("Red", "Green", "Blue"), (200, 30, 10), strict=True):
            made.add_new(f"{name}PaletteColorLookupTableDescriptor", "US", [256, 0, 8])
            made.add_new(f"{name}PaletteColorLookupTableData", "OW", bytes([value]) * 256)
    made.PixelData = colour.tobytes()
    made.save_as(tmp_path / "b.dcm", enforce_file_format=True)
    shown = decoded(image_of((tmp_path / "b.dcm").read_bytes()).content).astype(int)
    assert shown.shape == (16, 16, 3) and abs(shown - (200, 30, 10)).max() <= 1


def test_cases_are_written_with_their_images_and_read_as_the_same(tmp_path: Path) -> None:
    (tmp_path / "Testperson.png").write_bytes(png())
    dicom(tmp_path / "b.dcm")
    cases = list(read_cases(cases_in(tmp_path, [{"path": "Testperson.png", "label": "PA"}, "b.dcm"])))
    out = tmp_path / "out" / "cases.jsonl"
    out.parent.mkdir()
    write_cases(cases, out)
    again = list(read_cases(out))
    assert [case.fingerprint() for case in again] == [case.fingerprint() for case in cases]
    names = sorted(each.name for each in (out.parent / "images").iterdir())
    assert names == sorted(each.file for each in cases[0].images)
    assert all((out.parent / "images" / name).stat().st_mode & 0o077 == 0 for name in names)
    assert "Testperson" not in out.read_text()


def test_check_counts_images_and_what_a_reader_must_look_at(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    dicom(tmp_path / "Testperson.dcm")
    assert main(["cases", "check", str(cases_in(tmp_path, "Testperson.dcm"))]) == 0
    printed = capsys.readouterr().out
    assert "images: 1" in printed and "burnt in: look at them" in printed and "Testperson" not in printed


def test_two_answers_about_one_picture_are_laid_side_by_side_with_it(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(png())
    rows = [
        {"id": "1", "system": system, "candidate": f"By {system}.", "images": ["a.png"]}
        for system in ("a", "b")
    ]
    file = tmp_path / "cases.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    pairs = list(PairedCases(read_cases(file)))
    assert pairs and all(len(case.images) == 1 for case in pairs)


def test_one_row_has_its_images_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.png").write_bytes(png())
    monkeypatch.chdir(tmp_path)
    assert case_from_row({"id": "1", "images": "a.png"}).images == (image_of(png()),)
    with pytest.raises(FileError, match="no such file"):
        case_from_row({"id": "1", "images": "b.png"})
