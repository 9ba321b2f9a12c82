"""Cases that a study file names: a list of ids, or a text file with one id per line."""

from __future__ import annotations

from pathlib import Path

from medjury.foundation.errors import MedjuryError


def case_ids(stated: list[str] | str, folder: Path) -> list[str]:
    """The ids, from the list or from the file (relative to `folder`)."""
    if isinstance(stated, list):
        return stated
    file = folder / stated
    try:
        lines = file.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise MedjuryError(f"{file} cannot be read ({error}); it holds one case id per line") from None
    return [line.strip() for line in lines if line.strip()]
