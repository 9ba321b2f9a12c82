"""XML from elsewhere: nothing in it is loaded, followed or unfolded."""

from __future__ import annotations

import zlib
from pathlib import Path
from xml.etree import ElementTree
from zipfile import BadZipFile, ZipFile

from medjury.foundation.errors import MedjuryError
from medjury.foundation.limits import SHEET_BYTES, read_bytes, read_part


def read_xml(path: Path) -> ElementTree.Element:
    """The root of an XML file."""
    return _root(read_bytes(path, SHEET_BYTES), path.name)


def read_packed_xml(path: Path, member: str) -> ElementTree.Element:
    """The root of an XML file inside a packed one, such as a Word document."""
    try:
        with ZipFile(path) as packed:
            content = read_part(packed, member, path)
    except (BadZipFile, KeyError, OSError, EOFError, RuntimeError, NotImplementedError, zlib.error):
        raise MedjuryError(f"{path.name}: is not the document that was expected, or it is damaged") from None
    return _root(content, path.name)


def _root(content: bytes, name: str) -> ElementTree.Element:
    # An entity can unfold to gigabytes or name another file; UTF-16 would hide its declaration from this search.
    if b"<!DOCTYPE" in content or b"<!ENTITY" in content or b"\0" in content[:100]:
        raise MedjuryError(
            f"{name}: declares a document type or entities, or is not UTF-8; no source of ours does"
        )
    try:
        return ElementTree.fromstring(content)  # noqa: S314 - what declares entities is refused above
    except ElementTree.ParseError as error:
        raise MedjuryError(f"{name}: is not valid XML (line {error.position[0]}); fetch it again") from None
