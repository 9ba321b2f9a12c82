"""The run folder is its owner's alone, or its group's too where the study says so."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from medjury.foundation.errors import MedjuryError
from medjury.foundation.files import create_private, make_private, private_folder
from medjury.store.runs import files

_SECRETS = (files.NAMES_KEY, ".names-key")  # never the group's


def open_run_folder(folder: Path, *, shared: bool = False, study_file: Path | None = None) -> None:
    """Make the folder, or narrow one that is there and all that lies in it: earlier versions, a careless umask or a
    copy may have opened it to everybody. In a folder that holds more than the run (the study file, or files that
    were there before any run) only the run's own files are narrowed."""
    try:
        private_folder(folder, shared=shared)
        around = study_file is not None and study_file.resolve().is_relative_to(folder.resolve())
        own = not around and ((folder / files.MANIFEST).exists() or not any(folder.iterdir()))
        if own or shared:
            _open_to(folder, shared)
        for path in _everything(folder) if own else _of_the_run(folder):
            make_private(path)
            if path.name.endswith(_SECRETS):
                path.chmod(0o600)
        create_private(folder / files.AUDIT_LOG)
    except PermissionError as error:
        raise MedjuryError(
            f"{error.filename or folder}: belongs to another user, so that its rights cannot be narrowed; run the "
            "study as that user, or name another `output`"
        ) from None
    except OSError as error:
        raise MedjuryError(f"{folder}: the run folder cannot be made ({error.strerror})") from None


def _open_to(folder: Path, shared: bool) -> None:
    rights = stat.S_IMODE(folder.stat().st_mode)
    if rights & stat.S_ISVTX or folder.resolve() in (Path.home(), Path(folder.resolve().anchor)):
        raise MedjuryError(f"{folder}: is not the study's own folder; name another `output`")
    wanted = 0o750 if shared else 0o700
    if os.name == "posix" and rights & 0o777 != wanted:
        folder.chmod(rights & ~0o777 | wanted)


def _everything(folder: Path) -> Iterator[Path]:
    """Folders before what is in them: a file has the rights that its folder gives."""
    for name, folders, names in os.walk(folder):
        yield from (Path(name) / each for each in (*folders, *names))


def _of_the_run(folder: Path) -> Iterator[Path]:
    for name in (files.TABLES, files.FIGURES):
        if (folder / name).is_dir():
            yield folder / name
            yield from (folder / name).iterdir()
    names = [value for name, value in vars(files).items() if name.isupper() and isinstance(value, str)]
    names += [f"{files.STORE}{suffix}" for suffix in ("-wal", "-shm")]
    yield from (folder / name for name in names if (folder / name).is_file())
