"""Writes docs/file-formats.md from the marks on the tests of this folder: python -m tests.formats.page"""

from __future__ import annotations

import importlib
from pathlib import Path

from tests.formats.readable import Format

FOLDER = Path(__file__).parent
PAGE = FOLDER.parent.parent / "docs" / "file-formats.md"
FAMILIES = ("Ratings", "Transcripts", "Cases")
_START = """\
# Is my file readable?

`medjury look FILE` tells what a file is, shows its columns or speakers and three rows, proposes the mapping that
reads it, counts what would be lost, and says which questions it can answer and what is missing for the others
(`--json` prints the same for programs). `--write` writes the mapping. What cannot be read whole is
refused, with the row and what to do about it.

The tables below are made from the tests that read such files: `python -m tests.formats.page`. A form that is not
here is not promised.
"""
_ABOUT = {
    "Ratings": "How to write a mapping: [Importing clinicians' ratings](importing-ratings.md).",
    "Transcripts": "How they are used: [Transcripts](transcripts.md).",
    "Cases": "How to name columns: [Reading cases](reading-cases.md).",
}


def formats() -> list[Format]:
    """Every mark, in the order of the files and of the tests in them."""
    found: list[Format] = []
    for file in sorted(FOLDER.glob("test_*.py")):
        module = importlib.import_module(f"tests.formats.{file.stem}")
        for name, test in vars(module).items():
            if name.startswith("test_"):
                found += getattr(test, "formats", ())
        # Forms of cases that several tests of a file show together.
        found += [
            Format("Cases", each["format"], each["ending"], each["read"], each["refused"], each["page"])
            for each in getattr(module, "FORMATS", ())
        ]
    return found


def page() -> str:
    """The page as it should be."""
    parts = [_START]
    rows = formats()
    for family in FAMILIES:
        own = [each for each in rows if each.family == family]
        if not own:
            continue
        lines = [
            f"\n## {family}\n",
            f"{_ABOUT[family]}\n",
            "| form | ending | what is read | what is refused |",
        ]
        lines.append("|---|---|---|---|")
        lines += [f"| {_name(each)} | {each.ending} | {each.read} | {each.refused} |" for each in own]
        parts.append("\n".join(lines) + "\n")
    return "".join(parts)


def _name(each: Format) -> str:
    return f"[{each.name}]({each.described})" if each.described else each.name


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    print(f"{PAGE}: {len(formats())} forms")
