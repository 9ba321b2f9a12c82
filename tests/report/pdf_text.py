"""The words of a PDF that Chromium printed, page by page: enough of the format for that, and for nothing else."""

from __future__ import annotations

import re
import zlib
from pathlib import Path

_OBJECT = re.compile(rb"(?<![0-9])(\d+) 0 obj\b(.*?)\bendobj", re.DOTALL)
_STREAM = re.compile(rb"stream\r?\n(.*)endstream", re.DOTALL)
_SHOWN = re.compile(rb"/(F\d+) [\d.]+ Tf|<([0-9A-Fa-f]+)> Tj|\bET\b")


def pdf_pages(file: Path) -> list[str]:
    """What stands on each page, in the order in which it was drawn."""
    objects = {int(number): body for number, body in _OBJECT.findall(file.read_bytes())}
    root = next(body for body in objects.values() if b"/Type /Catalog" in body)
    return [_page(objects, leaf) for leaf in _leaves(objects, _one(root, b"Pages"))]


def _leaves(objects: dict[int, bytes], number: int) -> list[bytes]:
    body = objects[number]
    if b"/Kids" not in body:
        return [body]
    kids = re.search(rb"/Kids \[(.*?)\]", body, re.DOTALL)
    assert kids is not None
    return [leaf for kid in re.findall(rb"(\d+) 0 R", kids[1]) for leaf in _leaves(objects, int(kid))]


def _page(objects: dict[int, bytes], page: bytes) -> str:
    fonts = {name: _letters(objects, int(number)) for name, number in re.findall(rb"/(F\d+) (\d+) 0 R", page)}
    said, letters = [], dict[int, str]()
    for font, glyphs in _SHOWN.findall(_stream(objects[_one(page, b"Contents")])):
        if font:
            letters = fonts[font]
        elif glyphs:
            codes = (int(glyphs[at : at + 4], 16) for at in range(0, len(glyphs), 4))
            said.append("".join(letters[code] for code in codes))
        else:
            said.append("\n")
    return "".join(said)


def _letters(objects: dict[int, bytes], font: int) -> dict[int, str]:
    """Which glyph is which letter, as the font's own table says."""
    found: dict[int, str] = {}
    table = _stream(objects[_one(objects[font], b"ToUnicode")])
    for chars in re.findall(rb"beginbfchar(.*?)endbfchar", table, re.DOTALL):
        for code, text in re.findall(rb"<([0-9A-Fa-f]+)> <([0-9A-Fa-f]+)>", chars):
            found[int(code, 16)] = bytes.fromhex(text.decode()).decode("utf-16-be")
    for ranges in re.findall(rb"beginbfrange(.*?)endbfrange", table, re.DOTALL):
        for low, high, first in re.findall(rb"<([0-9A-Fa-f]+)> <([0-9A-Fa-f]+)> <([0-9A-Fa-f]+)>", ranges):
            for step in range(int(high, 16) - int(low, 16) + 1):
                found[int(low, 16) + step] = chr(int(first, 16) + step)
    return found


def _one(body: bytes, name: bytes) -> int:
    found = re.search(rb"/" + name + rb" (\d+) 0 R", body)
    assert found is not None, name
    return int(found[1])


def _stream(body: bytes) -> bytes:
    found = _STREAM.search(body)
    assert found is not None
    # The line's end before `endstream` is no part of the stream.
    return zlib.decompressobj().decompress(found[1]) if b"/FlateDecode" in body else found[1]
