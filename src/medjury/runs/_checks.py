"""Is the run folder as the run wrote it? What is found goes into the verdict first of all."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from medjury.models import AuditError, verify_audit_log
from medjury.runs import files
from medjury.runs._manifest import Manifest, read_manifest


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was checked about the folder."""

    what: str
    sound: bool
    detail: str


def file_hash(path: Path) -> str:
    """SHA-256 of a file, as the manifest holds it."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def check_files(folder: Path, manifest: Manifest) -> tuple[Check, ...]:
    """Every file that the manifest names, against its hash; records that it does not name are nobody's."""
    found = []
    for name, expected in manifest.files.items():
        file = folder / name
        if not file.is_file():
            found.append(Check(name, False, "is missing"))
            continue
        same = file_hash(file) == expected
        found.append(Check(name, same, "as written" if same else "was changed after the run"))
    if manifest.files:
        found += [
            Check(name, False, "was added after the run")
            for name in files.OF_THE_RUN
            if name not in manifest.files and (folder / name).is_file()
        ]
    return tuple(found)


def verify_run(folder: str | Path) -> tuple[Check, ...]:
    """Every file's hash against the manifest, and the audit log's chain."""
    folder = Path(folder)
    found = check_files(folder, read_manifest(folder))
    log = folder / files.AUDIT_LOG
    if not log.exists():
        return (*found, Check(log.name, False, "is missing"))
    try:
        return (*found, Check(log.name, True, f"{verify_audit_log(log):,} entries, the chain is whole"))
    except AuditError as error:
        return (*found, Check(log.name, False, str(error)))
