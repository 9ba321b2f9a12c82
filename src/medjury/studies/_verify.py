"""Checks a run folder against its manifest: was anything changed after the run?"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from medjury.errors import MedjuryError
from medjury.models import AuditError, verify_audit_log
from medjury.studies._manifest import file_hash


@dataclass(frozen=True)
class Finding:
    """One thing that was checked."""

    what: str
    sound: bool
    detail: str


def verify_run(folder: str | Path) -> list[Finding]:
    """Every file's hash against the manifest, and the audit log's chain."""
    folder = Path(folder)
    try:
        manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise MedjuryError(f"{folder}: no manifest.json here; give the folder of a run") from None
    except (OSError, ValueError) as error:
        raise MedjuryError(f"{folder / 'manifest.json'}: cannot be read ({error})") from None
    findings = []
    for name, expected in manifest.get("files", {}).items():
        file = folder / name
        if not file.exists():
            findings.append(Finding(name, False, "is missing"))
        else:
            same = file_hash(file) == expected
            findings.append(Finding(name, same, "as written" if same else "was changed after the run"))
    findings += [
        Finding(name, False, "was added after the run")
        for name in ("records.jsonl", "drafts.jsonl", "patients.csv")
        if name not in manifest.get("files", {}) and (folder / name).exists()
    ]
    log = folder / "audit.jsonl"
    if log.exists():
        try:
            entries = verify_audit_log(log)
            findings.append(Finding(log.name, True, f"{entries:,} entries, the chain is whole"))
        except AuditError as error:
            findings.append(Finding(log.name, False, str(error)))
    else:
        findings.append(Finding(log.name, False, "is missing"))
    return findings
