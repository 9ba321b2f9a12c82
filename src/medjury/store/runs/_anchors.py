"""What the manifest holds on to beside the run's own files: the audit log as far as it had come, and the report.

The log only ever grows, so its anchor is a place in it: so many entries, and the hash of the last of them. A run
that was killed, or still runs, has written on since; a log whose entry is not there any more was cut.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from medjury.foundation.errors import MedjuryError
from medjury.models import AuditError, entry_hash, verify_audit_log
from medjury.store.runs import files
from medjury.store.runs._part import Check, RunPart

_OF_THE_REPORT = ("*.csv", "*.svg", "*.png")
_EMPTY = "0" * 64


class LogAnchor(RunPart):
    """How many entries the audit log had, and the hash of the last one."""

    entries: int = 0
    last_hash: str = _EMPTY


def file_hash(path: Path) -> str:
    """SHA-256 of a file, as the manifest holds it."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def anchor_log(folder: Path) -> LogAnchor:
    """Where the log of a run folder ends now. It is put on the disk first: no anchor outlives its entry."""
    log = folder / files.AUDIT_LOG
    if not log.exists():
        return LogAnchor(entries=0, last_hash=_EMPTY)
    with log.open("rb") as file:
        os.fsync(file.fileno())
    hashes = _entry_hashes(log)
    return LogAnchor(entries=len(hashes), last_hash=hashes[-1] if hashes else _EMPTY)


def check_log(folder: Path, anchor: LogAnchor | None) -> Check:
    """The log's chain, and that it still holds what the manifest says it held; that it grew is only reported."""
    log = folder / files.AUDIT_LOG
    if not log.exists():
        return Check(log.name, False, "is missing")
    try:
        entries = verify_audit_log(log)
    except AuditError as error:
        return Check(log.name, False, str(error))
    if anchor is not None and (problem := _not_held(log, anchor)):
        return Check(log.name, False, problem)
    later = entries - anchor.entries if anchor is not None else 0
    more = f", {later:,} more since the manifest was written" if later else ""
    return Check(
        log.name, True, f"{entries:,} {'entry' if entries == 1 else 'entries'}, the chain is whole{more}"
    )


def refuse_cut_log(folder: Path, anchor: LogAnchor | None) -> None:
    """A run that went on with a cut log would forget what it has sent and spent, and anchor the cut one."""
    log = folder / files.AUDIT_LOG
    if anchor is None or not anchor.entries:
        return
    problem = _not_held(log, anchor) if log.exists() else "is missing"
    if problem:
        raise MedjuryError(
            f"{log}: {problem}. Put it back from a copy. Without one, move it and {files.MANIFEST} out of the "
            "folder: stored answers are not asked for again, but a budget then starts from nothing."
        )


def report_hashes(folder: Path) -> dict[str, str]:
    """The report in a run folder: its pages, their PDFs, its tables and figures, each with its hash."""
    found = [folder / name for name in files.PAGES if (folder / name).is_file()]
    for kind in (files.TABLES, files.FIGURES):
        found += sorted(file for ending in _OF_THE_REPORT for file in (folder / kind).glob(ending))
    return {file.relative_to(folder).as_posix(): file_hash(file) for file in found if file.is_file()}


def beside_report(folder: Path) -> set[str]:
    """All that lies where the report is, whatever its kind and however deep."""
    found = [folder / name for name in files.PAGES]
    found += [file for kind in (files.TABLES, files.FIGURES) for file in (folder / kind).rglob("*")]
    return {file.relative_to(folder).as_posix() for file in found if file.is_file()}


def _not_held(log: Path, anchor: LogAnchor) -> str:
    """Why the log is not the one of the anchor, or one that grew from it; nothing where it is."""
    hashes = _entry_hashes(log)
    if len(hashes) < anchor.entries:
        return f"holds {len(hashes):,} of the {anchor.entries:,} entries that the run wrote; it was cut"
    if anchor.entries and hashes[anchor.entries - 1] != anchor.last_hash:
        return f"is not the run's log: entry {anchor.entries:,} is not the one that it wrote"
    return ""


def _entry_hashes(log: Path) -> list[str]:
    """The hash of each entry in order; a line that a dying process left unfinished is no entry."""
    with log.open("rb") as file:
        return [hash for line in file if (hash := entry_hash(line))]
