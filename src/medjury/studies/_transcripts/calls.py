"""Which files belong together in a folder of calls: what was said, what each recogniser wrote, and in which run."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path

from medjury.foundation.errors import MedjuryError

MANIFEST = "calls.csv"
GOLD = "gold"
ENDINGS = (".json", ".csv", ".txt", ".vtt", ".srt")
_NEEDED = ("call", "reference", "recognised", "system")
_RULE = (
    f"Name what was said CALL.{GOLD}.txt and what was recognised CALL.RECOGNISER.json (or CALL.RECOGNISER.RUN.json "
    f"for one of several runs), or list the files in {MANIFEST} with the columns call, reference, recognised, "
    "system"
)


@dataclass(frozen=True, slots=True)
class CallFiles:
    """One recogniser's transcript of one call; `run` is "" where it was run once."""

    call: str
    reference: Path
    recognised: Path
    recogniser: str
    run: str = ""

    @property
    def system(self) -> str:
        """The name under which it is judged: each run of a recogniser is one of its own, and none is merged."""
        return f"{self.recogniser}-run-{self.run}" if self.run else self.recogniser


def calls_in(place: str | Path) -> list[CallFiles]:
    """The calls of a folder, by its calls.csv or else by the names of its files; or of such a CSV file itself. A
    file that belongs to no call is an error, not left out."""
    path = Path(place)
    listed = path if path.is_file() else path / MANIFEST
    found = _listed(listed) if listed.is_file() else _named(path)
    if not found:
        raise MedjuryError(f"{path}: holds no call. {_RULE}")
    seen: dict[tuple[str, str], CallFiles] = {}
    for each in found:
        if (each.call, each.system) in seen:
            raise MedjuryError(
                f"{path}: the call {each.call!r} appears twice for {each.system!r}; give the runs of one "
                "recogniser different names in the column run"
            )
        seen[each.call, each.system] = each
    return found


def _listed(file: Path) -> list[CallFiles]:
    try:
        with file.open(encoding="utf-8-sig", newline="") as lines:
            rows = list(csv.DictReader(lines))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise MedjuryError(f"{file}: cannot be read ({error})") from None
    found = []
    for number, row in enumerate(rows, 2):
        cells = {str(name).strip(): (value or "").strip() for name, value in row.items() if name}
        if missing := [name for name in _NEEDED if not cells.get(name)]:
            raise MedjuryError(f"{file}, row {number}: has no {missing[0]}; fill in the column")
        said, heard = file.parent / cells["reference"], file.parent / cells["recognised"]
        for each in (said, heard):
            if not each.is_file():
                raise MedjuryError(f"{file}, row {number}: there is no file {each}")
        found.append(CallFiles(cells["call"], said, heard, cells["system"], cells.get("run", "")))
    return found


def _named(folder: Path) -> list[CallFiles]:
    files = sorted(each for each in folder.iterdir() if each.suffix.lower() in ENDINGS)
    golden: dict[str, Path] = {}
    for each in files:
        if each.stem.endswith(f".{GOLD}"):
            call = each.stem.removesuffix(f".{GOLD}")
            if call in golden:
                raise MedjuryError(
                    f"{folder}: {golden[call].name} and {each.name} are both the gold of {call!r}"
                )
            golden[call] = each
    found, heard_of = [], set()
    for each in files:
        if each in golden.values():
            continue
        # The longest name that fits: a call may be called "day1" and another "day1.b".
        calls = [call for call in golden if each.stem.startswith(f"{call}.")]
        if not calls:
            raise MedjuryError(f"{each}: belongs to no call. {_RULE}")
        call = max(calls, key=len)
        recogniser, _, run = each.stem.removeprefix(f"{call}.").partition(".")
        found.append(CallFiles(call, golden[call], each, recogniser, run))
        heard_of.add(call)
    if alone := sorted(set(golden) - heard_of):
        raise MedjuryError(f"{golden[alone[0]]}: nothing recognised belongs to it. {_RULE}")
    return found
