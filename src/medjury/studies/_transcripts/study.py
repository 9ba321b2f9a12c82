"""A study of clinical impact from two transcripts: which pairs are judged, and the folder that holds them."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from medjury.foundation.documents import read_document
from medjury.foundation.errors import MedjuryError
from medjury.foundation.files import private_folder, write_whole
from medjury.intake.cases import write_cases
from medjury.texts.transcripts import (
    EDGES,
    AlignedPair,
    Alignment,
    Band,
    Transcript,
    aligned_pairs,
    impact_cases,
    normalise,
    sample_by_band,
)

_TOP = """# Clinical impact of recognition errors, written by `medjury transcripts`.
# Check it without any call: medjury run study.yaml --dry-run
"""
# Rate every pair beside the judges, so that the report tells which of them sees harm.
METRICS = ["wer", "cer", "rouge_l", "chrf", "semantic_wer", "impact_estimate"]
NOTHING_TO_JUDGE = "no pair differs: there is nothing to judge (--keep-perfect judges equal pairs too)"
_PLACEHOLDER = """# The embedded model is far too small to be trusted: name your own judges (see `medjury init`).
"""


@dataclass(frozen=True)
class TranscriptStudy:
    """Pairs of what was said and what was recognised, their word error rates, and which of them were drawn."""

    call: str
    system: str
    alignment: Alignment
    pairs: Sequence[AlignedPair]
    rates: Sequence[float | None]
    bands: Sequence[Band]

    @property
    def chosen(self) -> list[int]:
        return sorted(place for band in self.bands for place in band.chosen)

    def text(self) -> str:
        """What was found and drawn, for a reader."""
        lines = [f"{'word error rate':<20}{'pairs':>8}{'drawn':>8}"]
        lines += [f"{band.name:<20}{band.found:>8}{len(band.chosen):>8}" for band in self.bands]
        rates, spurious = list(self.rates), len(self.alignment.spurious)
        lines.append(f"{rates.count(0.0)} of {len(rates)} pairs are word for word the same")
        if undefined := rates.count(None):
            lines.append(f"{undefined} gold turns hold no word and are not judged")
        if spurious:
            lines.append(
                f"{spurious} segments have no counterpart in what was said and are not judged: see alignment.json"
            )
        if not any(pair.context for pair in self.pairs):
            lines.append(
                "No turn has a conversation before it: the gold transcript names no speakers, or only one"
            )
        return "\n".join(lines)

    def write(self, folder: Path, settings: Mapping[str, Any] | None = None) -> Path:
        """The study file, written into the folder with its cases and the alignment. Without settings it names the
        embedded model and waits for better judges."""
        if not self.chosen:
            raise MedjuryError(NOTHING_TO_JUDGE)
        pairs, rates = ([whole[at] for at in self.chosen] for whole in (self.pairs, self.rates))
        cases = impact_cases(pairs, rates, call=self.call, system=self.system)  # type: ignore[arg-type]
        try:
            private_folder(folder)
            written = json.dumps(self.alignment.to_json(), indent=2, ensure_ascii=False) + "\n"
            write_whole(folder / "alignment.json", written)
            write_cases(cases, folder / "cases.jsonl")
            write_whole(folder / "study.yaml", study_text(self.call, settings))
        except OSError as error:
            raise MedjuryError(f"{folder}: cannot be written: {error.strerror}") from None
        return folder / "study.yaml"


def transcript_study(
    whole: Transcript,
    golden: Transcript,
    recognised: Transcript,
    alignment: Alignment,
    *,
    call: str | None = None,
    system: str | None = None,
    edges: Sequence[float] | None = None,
    per_band: int | None = None,
    keep_perfect: bool = False,
    seed: int = 0,
) -> TranscriptStudy:
    """Pair what was said with what was recognised and draw from every band of word error rate. `whole` is the gold
    transcript with all speakers, whose turns before a pair are its context."""
    from medjury.texts.metrics import score

    pairs = aligned_pairs(whole, golden, recognised, alignment)
    if not pairs:
        raise MedjuryError(f"{whole.file}: holds no turn of that speaker: there is nothing to judge")
    said, heard = ([normalise(getattr(pair, side)) for pair in pairs] for side in ("reference", "hypothesis"))
    rates = score(said, heard, ["wer"]).column("wer")
    bands = sample_by_band(
        rates, edges=edges or EDGES, per_band=per_band, keep_perfect=keep_perfect, seed=seed
    )
    call, system = call or Path(whole.file).stem, system or Path(recognised.file).stem
    return TranscriptStudy(file_name(call), file_name(system), alignment, pairs, rates, bands)


def judges_settings(file: str | Path) -> dict[str, Any]:
    """The study settings of a file of judges; what `medjury transcripts` writes itself does not belong there."""
    document = read_document(file)
    value = {"judges": document.value} if isinstance(document.value, list) else document.value
    if not isinstance(value, dict) or not value.get("judges"):
        raise MedjuryError(f"{file}: needs `judges:`, a list as in a study file")
    made_here = sorted({"study", "cases", "instrument"} & set(value))
    if made_here:
        raise MedjuryError(document.complaint((made_here[0],), "is written by this command; take it out"))
    humans = value.get("humans")
    path = humans.get("path") if isinstance(humans, dict) else humans
    if isinstance(path, str):  # paths in the file are relative to it; the study is in another folder
        resolved = str((Path(file).parent / path).resolve())
        value["humans"] = {**humans, "path": resolved} if isinstance(humans, dict) else resolved
    return value


def study_text(call: str, settings: Mapping[str, Any] | None) -> str:
    import yaml

    study: dict[str, Any] = {"study": call, "cases": "cases.jsonl", "instrument": "transcript_impact"}
    study |= {"metrics": METRICS}
    study |= settings or {"judges": [{"kind": "embedded"}]}
    body = yaml.safe_dump(study, sort_keys=False, allow_unicode=True)
    return _TOP + ("" if settings else _PLACEHOLDER) + body


def file_name(text: str) -> str:
    """A name for a study, a case or a system: other signs than letters, digits and -._ become dashes."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", text).strip("-._")[:80] or "call"
