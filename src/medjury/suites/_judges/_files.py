"""Where a source's files are in the folder of data, what they are by their hash, and how missing ones come."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from medjury.foundation.errors import MedjuryError
from medjury.foundation.files import private_folder
from medjury.store.runs import file_hash
from medjury.suites._judges._entries import Entry, FilePart
from medjury.suites._loaders._fetch import MOST_BYTES, download


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file of the entry: where it is, None where it is not, and its hash as found."""

    part: FilePart
    path: Path | None
    sha256: str = ""

    @property
    def state(self) -> str:
        """The hash beside the entry's, in words."""
        if self.path is None:
            return "not there"
        if not self.part.sha256:
            return "the entry states none"
        return "as stated" if self.sha256 in self.part.sha256 else "ANOTHER than stated"


def folders_of(entry: Entry, data: Path) -> list[Path]:
    """The folders of the source that are there."""
    return [each for each in (*(data / name for name in entry.part.folders), *entry.beside) if each.is_dir()]


def found_files(entry: Entry, data: Path) -> list[FoundFile]:
    """Every file of the entry: at one of its places, else the only one below the folders that has its name."""
    folders = folders_of(entry, data)
    found = []
    for part in entry.files:
        places = [folder / name for folder in folders for name in (part.name, *part.also)]
        path = next((each for each in places if each.is_file()), None) or _elsewhere(
            part, folders, entry.beside
        )
        found.append(FoundFile(part, path, file_hash(path) if path else ""))
    return found


def _elsewhere(part: FilePart, folders: Sequence[Path], beside: Collection[Path]) -> Path | None:
    """A checkout may be laid out anew; beside an entry of the user's own there may be anything."""
    wanted = Path(part.name).name
    there = [
        path for folder in folders if folder not in beside for path in folder.rglob(wanted) if path.is_file()
    ]
    return there[0] if len(there) == 1 else None


def fetch_sources(
    entries: Sequence[Entry], place: Path, hosts: Collection[str], say: Callable[[str], None]
) -> None:
    """Fetch what is missing from the hosts that are named, and from nowhere else."""
    from medjury.models import host_of

    addressed = {host_of(part.address) for entry in entries for part in entry.files if part.address}
    if unknown := sorted(set(hosts) - addressed):
        raise MedjuryError(
            f"no file of these sources is on {unknown[0]!r}; the hosts are {', '.join(sorted(addressed))}"
        )
    for entry in entries:
        for found in found_files(entry, place):
            part = found.part
            if found.path is not None or not part.address or host_of(part.address) not in hosts:
                continue
            target = place / entry.part.folders[0] / part.name
            private_folder(target.parent)
            wanted = part.sha256[0] if len(part.sha256) == 1 else ""
            came = download(part.address, target, wanted, MOST_BYTES)
            remark = "" if wanted else " (none to compare it with)"
            whose = next((each for each in entry.added if part in each.files), entry.part)
            say(f"{target}: sha256 {came}{remark}; licence: {whose.licence}")
