"""The demonstration: its files, and which of the planted errors a jury found."""

from __future__ import annotations

import importlib.util
import json
import shutil
from collections import defaultdict
from importlib import resources
from pathlib import Path

_FOUND_AT = 3.5  # a summary with an error deserves no better grade, on the axis that the error concerns


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

    def planted_errors(self) -> str:
        """What the good jury made of the errors that the cases say were planted, in words."""
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
        graded = defaultdict[tuple[bool, bool], list[str]](list)  # by whether one was planted, and graded low
        for line in (self.folder / "cases.jsonl").read_text(encoding="utf-8").splitlines():
            case = json.loads(line)
            planted = case["metadata"]["planted"] != "nothing"
            low = lowest.get((case["id"], case["system"]), 9.0) <= _FOUND_AT
            graded[planted, low].append(f"{case['id']} ({case['system']})")
        found, missed, alarms = graded[True, True], graded[True, False], graded[False, True]
        which = f" It missed: {', '.join(missed)}." if missed else ""
        return (
            f"Of {len(found) + len(missed)} summaries with a planted error the jury found {len(found)}.{which} "
            f"Of {len(alarms) + len(graded[False, False])} without one it graded {len(alarms)} low all the same."
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
