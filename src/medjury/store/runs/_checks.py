"""Is the run folder as the run wrote it? What is found goes into the verdict first of all."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from medjury.store.runs import files
from medjury.store.runs._anchors import beside_report, check_log, file_hash, report_hashes
from medjury.store.runs._check import Check
from medjury.store.runs._manifest import Manifest, own_hash, read_manifest, stated_content

_PART = re.compile(r".+\.\d+-\d+\.part")  # left by a process that was killed while it wrote
_ADDED, _CHANGED = "was added after the run", "was changed after the run"


def check_files(folder: Path, manifest: Manifest) -> tuple[Check, ...]:
    """Every file that the manifest names, against its hash, and the manifest against its own; records that it does
    not name are nobody's."""
    found = [check_manifest(folder), *_against(folder, manifest.files)]
    if manifest.files:
        found += [
            Check(name, False, _ADDED)
            for name in files.OF_THE_RUN
            if name not in manifest.files and (folder / name).is_file()
        ]
    return tuple(found)


def check_manifest(folder: Path) -> Check:
    """The manifest against the hash that it holds of itself."""
    content = stated_content(folder)
    hash = content.pop("hash", None) if content is not None else None
    if content is None or (hash and own_hash(content) != hash):
        return Check(files.MANIFEST, False, _CHANGED)
    if not hash:
        problem = "has no hash of its own: an earlier version wrote it, or somebody took it out"
        return Check(files.MANIFEST, False, f"{problem}; run the study again, which asks nothing twice")
    return Check(files.MANIFEST, True, "as written")


def check_report(folder: Path, manifest: Manifest) -> tuple[Check, ...]:
    """The report's page, tables and figures against the hashes they had when the report was written: one line where
    all of them are sound, else one for each that is not."""
    found = _against(folder, manifest.report_files)
    added = beside_report(folder) - manifest.report_files.keys()
    altered = [
        *(each for each in found if not each.sound),
        *(Check(name, False, _ADDED) for name in sorted(added)),
    ]
    if found and not altered:
        beside = f"and {len(found) - 1:,} tables and figures" if len(found) > 1 else "alone"
        return (Check(files.REPORT, True, f"the page {beside}, as written"),)
    return tuple(altered)


def verify_run(folder: str | Path, *, report: bool = True, unlisted: bool = True) -> tuple[Check, ...]:
    """Manifest, files, report and audit log against what the run wrote; without the `report`, which may be about to
    be written anew, and without `unlisted` files, which no number is read from."""
    folder = Path(folder)
    manifest = read_manifest(folder)
    named = [each for each in check_files(folder, manifest) if each.what != files.MANIFEST]
    shown = check_report(folder, manifest) if report else ()
    return (
        check_manifest(folder),
        *named,
        *shown,
        *(_unlisted(folder, manifest) if unlisted else ()),
        check_log(folder, manifest.audit_log),
    )


def _unlisted(folder: Path, manifest: Manifest) -> list[Check]:
    """Files in the folder itself that nothing of the run accounts for. A study may be run in the folder of its
    own file (`output: .`): there, others are the user's."""
    if not manifest.files or (manifest.study_file and Path(manifest.study_file).parent == Path()):
        return []
    known = {
        *manifest.files,
        *manifest.report_files,
        *files.UNNAMED,
        *files.OF_THE_RUN,
        files.REPORT,
        files.REPORT_PDF,
    }
    return [
        Check(each.name, False, "is not one of the run's files: it was added after the run")
        for each in sorted(folder.iterdir())
        if each.is_file()
        and each.name not in known
        and not each.name.startswith(files.STORE)
        and not _PART.fullmatch(each.name)
    ]


def record_report(folder: Path) -> None:
    """Write into the manifest which report lies in the folder now. A manifest that was changed by others is left as
    it is: writing it anew would make it good."""
    if (folder / files.MANIFEST).is_file() and check_manifest(folder).sound:  # else a report of no run
        found = report_hashes(folder)
        read_manifest(folder).replaced(report_files=found).write(folder)


def _against(folder: Path, hashes: Mapping[str, str]) -> list[Check]:
    found = []
    for name, expected in hashes.items():
        if not (folder / name).is_file():
            found.append(Check(name, False, "is missing"))
            continue
        try:
            same = file_hash(folder / name) == expected
        except OSError as error:
            found.append(Check(name, False, f"cannot be read ({error.strerror})"))
            continue
        found.append(Check(name, same, "as written" if same else _CHANGED))
    return found
