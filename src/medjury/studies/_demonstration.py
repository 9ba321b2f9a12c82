"""The demonstration: its files, and which of the planted errors a jury found."""

from __future__ import annotations

import importlib.util
import json
import shutil
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

_FOUND_AT = 3.5  # a summary with an error deserves no better grade, on the axis that the error concerns


@dataclass(frozen=True, slots=True)
class PlantedErrors:
    """Summaries with a planted error that the jury graded low, those that it did not, and those without an error
    that it graded low all the same."""

    found: tuple[str, ...]
    missed: tuple[str, ...]
    without: int
    alarms: tuple[str, ...]

    def text(self) -> str:
        planted = len(self.found) + len(self.missed)
        missed = f" It missed: {', '.join(self.missed)}." if self.missed else ""
        return (
            f"Of {planted} summaries with a planted error the jury found {len(self.found)}.{missed} "
            f"Of {self.without} without one it graded {len(self.alarms)} low all the same."
        )


class Demonstration:
    """The demonstration in a folder of the user's own: a good jury, whose votes were recorded, and a live one."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.good_jury, self.live = folder / "study.yaml", folder / "live.yaml"

    def copy(self) -> None:
        """Put its files into the folder."""
        self.folder.mkdir(parents=True, exist_ok=True)
        with resources.as_file(resources.files("medjury.studies").joinpath("demo")) as source:
            for file in sorted(source.iterdir()):
                shutil.copyfile(file, self.folder / file.name)

    def planted_errors(self) -> PlantedErrors:
        """What the good jury made of the errors that the cases say were planted."""
        from medjury.tables import open_run

        table = open_run(self.folder / "runs" / "demonstration")
        lowest: dict[tuple[str, str], float] = {}
        for dimension in table.chosen(derived=False):
            grid = table.grid(dimension.name)
            for item, system, score in zip(
                grid.items, grid.systems, grid.scores[table.stored_jury], strict=True
            ):
                key = (str(item), str(system))
                lowest[key] = min(lowest.get(key, 9.0), float(score))
        graded: dict[tuple[bool, bool], list[str]] = {}
        for line in (self.folder / "cases.jsonl").read_text(encoding="utf-8").splitlines():
            case = json.loads(line)
            planted = case["metadata"]["planted"] != "nothing"
            low = lowest.get((case["id"], case["system"]), 9.0) <= _FOUND_AT
            graded.setdefault((planted, low), []).append(f"{case['id']} ({case['system']})")
        clean = len(graded.get((False, True), ())) + len(graded.get((False, False), ()))
        return PlantedErrors(
            found=tuple(graded.get((True, True), ())),
            missed=tuple(graded.get((True, False), ())),
            without=clean,
            alarms=tuple(graded.get((False, True), ())),
        )

    @staticmethod
    def why_not_live() -> str:
        """What the live part lacks on this machine; empty where it can run."""
        from medjury.models import weights_file

        if importlib.util.find_spec("xllamacpp") is None:
            return 'it needs the embedded model: pip install "medjury[local]"'
        if not weights_file().exists():
            return "the embedded model's weights are not here: medjury models pull"
        return ""
