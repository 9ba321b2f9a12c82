"""Is the run folder as the run wrote it? What was found goes into the report, first of all into its verdict."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from medjury.runs._records import RECORDS_FILE


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was checked about the folder."""

    what: str
    sound: bool
    detail: str


def check_files(folder: Path, manifest: Mapping[str, Any]) -> tuple[Check, ...]:
    """Every file that the manifest names, against its hash; records that it does not name are nobody's."""
    found = []
    for name, expected in manifest.get("files", {}).items():
        file = folder / name
        if not file.is_file():
            found.append(Check(name, False, "is missing"))
            continue
        with file.open("rb") as opened:
            same = hashlib.file_digest(opened, "sha256").hexdigest() == expected
        found.append(Check(name, same, "as written" if same else "was changed after the run"))
    if manifest.get("files") and RECORDS_FILE not in manifest["files"] and (folder / RECORDS_FILE).is_file():
        found.append(Check(RECORDS_FILE, False, "was added after the run"))
    return tuple(found)
