"""A JSON file that is read whole, strictly."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from medjury.foundation.errors import MedjuryError
from medjury.foundation.limits import read_bytes
from medjury.intake import parse_json


def read_json_file(path: Path) -> Any:
    """What a file holds; NaN, Infinity and a key that appears twice are refused, since each hides a mistake."""
    parsed = parse_json(read_bytes(path).removeprefix(b"\xef\xbb\xbf"))
    if isinstance(parsed, str):
        raise MedjuryError(f"{path.name}: {parsed}; fetch it again")
    return parsed.content
