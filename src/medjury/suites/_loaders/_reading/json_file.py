"""A JSON file that is read whole, strictly."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from medjury.cases import parse_json
from medjury.errors import MedjuryError

_MOST_BYTES = 500_000_000


def read_json_file(path: Path) -> Any:
    """What a file holds; NaN, Infinity and a key that appears twice are refused, since each hides a mistake."""
    if path.stat().st_size > _MOST_BYTES:
        raise MedjuryError(f"{path.name}: has more than {_MOST_BYTES / 1e6:,.0f} MB; cut it into parts")
    parsed = parse_json(path.read_bytes().removeprefix(b"\xef\xbb\xbf"))
    if isinstance(parsed, str):
        raise MedjuryError(f"{path.name}: {parsed}; fetch it again")
    return parsed.content
