"""MTSamples: transcribed notes, one text file each, as the public copy keeps them.

The gold answer is the section PLAN, else SUMMARY, else FINDINGS, up to the next heading. Inputs: `note`, the text
before that section (`options: {cut: gold}`), or before the first of the three (`cut: first`): no part of the answer
is shown. A note with none of the three has no gold answer and is left out. Facts: `section`, `specialty`.
"""

from __future__ import annotations

import re
from pathlib import Path

from medjury.foundation.limits import read_bytes
from medjury.suites._benchmark import Benchmark
from medjury.suites._item import Item, Loaded
from medjury.suites._loaders._reading.files import source_files
from medjury.suites._loaders._reading.gather import Gathering, Row, RowError, checked_text

_SECTIONS = ("PLAN", "SUMMARY", "FINDINGS")
# The public copy has lost line breaks: a heading may stand right behind the last sentence of the section before it.
_HEADING = re.compile(r"(?:^|(?<=[^A-Z&/]))[ \t]*([A-Z][A-Z0-9 /&,()'-]{2,60}):", re.MULTILINE)
_KEYWORDS = re.compile(r"^Keywords:", re.MULTILINE)
NO_SECTION = "note without a section PLAN, SUMMARY or FINDINGS"
NO_NOTE = "file that is no MTSamples note"


def load_mtsamples(benchmark: Benchmark, path: Path) -> Loaded:
    first = benchmark.options.get("cut") == "first"
    gathering = Gathering()
    for number, file in enumerate(source_files(path, "*.txt"), 1):
        row = Row(file.name, number, {})
        with gathering.row(row):
            item = _item(file, gathering, first)
            if item is not None:
                gathering.add(item, row.where)
    return gathering.loaded()


def _item(file: Path, gathering: Gathering, first: bool) -> Item | None:
    try:
        text = checked_text(read_bytes(file).decode("utf-8-sig"), "the note")
    except UnicodeDecodeError:
        raise RowError("is not valid UTF-8; save the file as UTF-8") from None
    specialty = re.match(r"Medical Specialty:(.*)", text)
    if specialty is None:
        gathering.leave_out(NO_NOTE)
        return None
    found = _sections(text)
    name = next((each for each in _SECTIONS if each in found and found[each][1]), None)
    if name is None:
        gathering.leave_out(NO_SECTION)
        return None
    start = min(begin for begin, _ in found.values()) if first else found[name][0]
    note = text[:start].strip()
    if not note:
        raise RowError(f"has nothing before its section {name}")
    return Item(
        file.stem,
        {"note": note},
        (found[name][1],),
        facts={"section": name, "specialty": specialty[1].strip()},
    )


def _sections(text: str) -> dict[str, tuple[int, str]]:
    """Where each of the three sections begins, and its text; the first of each name."""
    keywords = _KEYWORDS.search(text)
    end = keywords.start() if keywords else len(text)
    headings = [each for each in _HEADING.finditer(text) if each.start() < end]
    found: dict[str, tuple[int, str]] = {}
    for number, heading in enumerate(headings):
        until = headings[number + 1].start() if number + 1 < len(headings) else end
        content = text[heading.end() : until].strip()
        if heading[1] in _SECTIONS:
            found.setdefault(heading[1], (heading.start(), content))
    return found
