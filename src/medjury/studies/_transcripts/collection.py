"""One study of many calls: every call of every recogniser aligned by itself, judged together."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, stdev
from typing import Any

from medjury.foundation.errors import MedjuryError
from medjury.foundation.files import private_folder, write_whole
from medjury.intake.cases import Case, write_cases
from medjury.studies._transcripts.calls import CallFiles
from medjury.studies._transcripts.study import NOTHING_TO_JUDGE, TranscriptStudy, file_name, study_text
from medjury.texts.transcripts import EDGES, Band, impact_cases, normalise, sample_by_band


@dataclass(frozen=True)
class TranscriptCollection:
    """The calls with their files, and which pairs were drawn from all of them; `chosen` counts through calls."""

    name: str
    calls: Sequence[tuple[CallFiles, TranscriptStudy]]
    bands: Sequence[Band]

    @property
    def chosen(self) -> list[int]:
        return sorted(place for band in self.bands for place in band.chosen)

    def cases(self) -> list[Case]:
        """The drawn pairs. A call is a patient: its pairs are resampled together, whoever recognised them."""
        wanted, start, found = set(self.chosen), 0, []
        for files, study in self.calls:
            places = [place for place in range(len(study.pairs)) if start + place in wanted]
            start += len(study.pairs)
            pairs, rates = ([whole[at] for at in places] for whole in (study.pairs, study.rates))
            found += impact_cases(pairs, rates, call=study.call, system=files.system)  # type: ignore[arg-type]
        return found

    def error_rates(self) -> dict[str, dict[str, float]]:
        """By recogniser and run: wrong words per word said, over all turns that were said; none without a word."""
        words: dict[str, dict[str, list[tuple[float, int]]]] = {}
        for files, study in self.calls:
            said = [len(normalise(pair.reference).split()) for pair in study.pairs]
            known = [(rate, n) for rate, n in zip(study.rates, said, strict=True) if rate is not None]
            words.setdefault(files.recogniser, {}).setdefault(files.run, []).extend(known)
        return {
            name: {
                run: sum(rate * n for rate, n in known) / sum(n for _, n in known)
                for run, known in runs.items()
                if known
            }
            for name, runs in words.items()
        }

    def text(self) -> str:
        """What was found and drawn, and each recogniser's error rate: of every run, then their mean and SD."""
        rates = [rate for _, study in self.calls for rate in study.rates]
        named = {study.call for _, study in self.calls}
        lines = [
            f"{len(named)} calls, {len(self.calls)} transcripts",
            f"{'word error rate':<20}{'pairs':>8}{'drawn':>8}",
        ]
        lines += [f"{band.name:<20}{band.found:>8}{len(band.chosen):>8}" for band in self.bands]
        lines.append(f"{rates.count(0.0)} of {len(rates)} pairs are word for word the same")
        if undefined := rates.count(None):
            lines.append(f"{undefined} gold turns hold no word and are not judged")
        if spurious := sum(len(study.alignment.spurious) for _, study in self.calls):
            lines.append(
                f"{spurious} segments have no counterpart in what was said and are not judged: see alignments/"
            )
        for name, runs in self.error_rates().items():
            values = list(runs.values())
            told = f"{name}: word error rate {mean(values):.4f}" if values else f"{name}: no word was said"
            if len(values) > 1:
                each = ", ".join(f"{value:.4f}" for value in values)
                told += f" ± {stdev(values):.4f} (SD of {len(values)} runs: {each})"
            lines.append(told)
        return "\n".join(lines)

    def write(self, folder: Path, settings: Mapping[str, Any] | None = None) -> Path:
        """The study file, its cases, and the alignment of every call."""
        cases = self.cases()
        if not cases:
            raise MedjuryError(NOTHING_TO_JUDGE)
        try:
            private_folder(folder)
            private_folder(folder / "alignments")
            for files, study in self.calls:
                written = json.dumps(study.alignment.to_json(), indent=2, ensure_ascii=False) + "\n"
                write_whole(folder / "alignments" / f"{study.call}.{file_name(files.system)}.json", written)
            write_cases(cases, folder / "cases.jsonl")
            write_whole(folder / "study.yaml", study_text(self.name, settings))
        except OSError as error:
            raise MedjuryError(f"{folder}: cannot be written: {error.strerror}") from None
        return folder / "study.yaml"


def collect(
    calls: Sequence[tuple[CallFiles, TranscriptStudy]],
    *,
    name: str,
    edges: Sequence[float] | None = None,
    per_band: int | None = None,
    keep_perfect: bool = False,
    seed: int = 0,
) -> TranscriptCollection:
    """Draw from every band of word error rate over all calls together."""
    names: dict[str, str] = {}
    for files, study in calls:
        if names.setdefault(study.call, files.call) != files.call:
            raise MedjuryError(
                f"the calls {names[study.call]!r} and {files.call!r} would both be called {study.call!r}; "
                "rename one"
            )
    rates = [rate for _, study in calls for rate in study.rates]
    bands = sample_by_band(
        rates, edges=edges or EDGES, per_band=per_band, keep_perfect=keep_perfect, seed=seed
    )
    return TranscriptCollection(file_name(name), calls, bands)
