"""Where a command cannot read a file: what the file looks like, and the command that tells more."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from medjury.cli.validate import UnansweredError
from medjury.foundation.errors import MedjuryError

# The options of each command that name a file to read, and the family that the file should be of.
_READS: dict[str, dict[str, tuple[str, ...]]] = {
    "validate": {"humans": ("ratings", "run", "store"), "judges": ("ratings", "run", "store")},
    "ratings": {"file": ("ratings",)},
    "cases": {"cases": ("cases",)},
    "transcripts": {"gold": ("transcript",), "recognised": ("transcript",)},
}


def advice(options: argparse.Namespace, error: MedjuryError) -> str:
    """One line that helps, or "". Bad rows are listed one by one already, and a question says how to answer it."""
    if isinstance(error, UnansweredError):
        return ""
    if getattr(error, "problems", ()) or getattr(error, "bad", ()):
        return ""
    return next(_lines(options, str(error)), "")


def _lines(options: argparse.Namespace, message: str) -> Iterator[str]:
    from medjury.studies.inspection import recognise

    for name, families in _READS.get(options.command, {}).items():
        file = getattr(options, name, None)
        if not file or Path(file).name not in message or not Path(file).exists():
            continue
        try:
            kind = recognise(file)
        except MedjuryError:
            continue
        looks = (
            "" if kind.family in (*families, "unknown") else f"{Path(file).name} looks like a {kind.name}. "
        )
        yield f"{looks}`medjury look {file}` shows what the file is and a mapping that reads it."
