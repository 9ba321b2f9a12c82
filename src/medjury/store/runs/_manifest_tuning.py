"""The manifest of a tuning: which cases it has touched, how they were split, and what it took."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

from medjury.foundation.files import private_folder, whole_file
from medjury.store.runs import files
from medjury.store.runs._manifest_parts import ManifestInstrument, Prices
from medjury.store.runs._part import RunPart, in_words


class TuningSplit(RunPart):
    """How the labelled cases were split. `hash` is that of every case's content and side; `kin` counts held-out
    cases of a patient (or call) that has cases on the training or validation side too."""

    hash: str = ""
    seed: int = 0
    group: str = ""
    training: int = 0
    validation: int = 0
    held_out: int = 0
    groups: dict[str, int] = {}
    labels: dict[str, dict[str, int]] = {}
    kin: int = 0


class TuningManifest(RunPart):
    """What a tuning folder says of itself. `touched` are the marks (`content_marks`) of all cases that the tuning,
    or one that it began from, has seen: nobody validates on them. `answer_hashes` are those of the held-out answers
    whose scores were seen, where the tuning judged them."""

    format: int = 1
    medjury: str = ""
    study: str = ""
    way: str = ""
    status: Literal["running", "complete", "incomplete"] = "running"
    why: str = ""
    started_at: str = ""
    finished_at: str = ""
    settings: dict[str, Any] = {}
    settings_hash: str = ""
    data_hash: str = ""
    instrument: ManifestInstrument = ManifestInstrument()
    judge: str = ""
    split: TuningSplit = TuningSplit()
    touched: tuple[str, ...] = ()
    answer_hashes: tuple[str, ...] = ()
    held_out_ratings: int = 0
    labels: int = 0
    clinicians: int = 0
    calls: int = 0
    cost: float | None = None
    prices: Prices = Prices()
    packages: dict[str, str] = {}
    files: dict[str, str] = {}

    @classmethod
    def read(cls, folder: str | Path) -> TuningManifest:
        """The manifest of a tuning folder; an error that says what to do where there is none."""
        file = Path(folder) / files.TUNING
        with in_words(
            file,
            missing=f"{folder}: not a tuning folder ({files.TUNING} is missing); `medjury tune STUDY` writes one",
            wrong="is damaged ({}); bring it back, or tune again",
        ):
            return cls.model_validate_json(file.read_bytes())

    @classmethod
    def all_in(cls, folder: Path) -> Iterator[tuple[Path, TuningManifest]]:
        """The tunings whose folders lie in this one. One that cannot be read is refused: who knows what it
        touched?"""
        for file in sorted(folder.glob(f"*/{files.TUNING}")):
            yield file.parent, cls.read(file.parent)

    def write(self, folder: Path) -> Path:
        private_folder(folder)
        place = folder / files.TUNING
        with whole_file(place) as file:
            file.write(json.dumps(self.content(), indent=1, ensure_ascii=False) + "\n")
        return place
