"""Which files of a folder a loader reads."""

from __future__ import annotations

from pathlib import Path

from medjury.foundation.errors import MedjuryError


def source_files(path: Path, *patterns: str) -> list[Path]:
    """The file itself, or the files of a folder, and of those inside it, that fit the first pattern that any fits;
    by name, so that items have one order everywhere."""
    if path.is_file():
        return [path]
    if not path.is_dir():
        raise MedjuryError(f"{path}: there is no such file or folder")
    for pattern in patterns:
        if found := sorted(each for each in path.rglob(pattern) if each.is_file()):
            return found
    raise MedjuryError(f"{path}: the folder has no file {' or '.join(patterns)}; give the file itself")


def one_file(path: Path, *patterns: str) -> Path:
    """The same where one file is expected."""
    found = source_files(path, *patterns)
    if len(found) > 1:
        names = ", ".join(each.name for each in found[:5])
        raise MedjuryError(
            f"{path}: the folder has {len(found)} such files ({names}); give the one that is meant"
        )
    return found[0]


def beside(file: Path, name: str) -> Path | None:
    """A file of this name in the same folder, where there is one."""
    found = file.parent / name
    return found if found.is_file() else None
