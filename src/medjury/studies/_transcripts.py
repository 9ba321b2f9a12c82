"""Studies of transcripts: which files belong together, which pairs are judged, and the folder that holds them."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import nan
from pathlib import Path
from statistics import mean, quantiles, stdev
from typing import Any

from medjury.foundation.documents import read_document
from medjury.foundation.errors import MedjuryError
from medjury.foundation.files import private_folder, write_whole
from medjury.intake.cases import Case, language_of_text, write_cases
from medjury.studies._transcript_pairs import EDGES, impact_cases, sample_by_band
from medjury.texts.transcripts import NOTHING, Alignment, Transcript, normalise, split_words

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


def calls_in(
    place: str | Path,
    recognised: str | Path | None = None,
    call: str | None = None,
    system: str | None = None,
) -> list[CallFiles]:
    """The calls of a folder, by its calls.csv or else by the names of its files; or of such a CSV file itself. A
    file that belongs to no call is an error, not left out. With `recognised` the one call of these two files, which
    are called `call` and `system`, or else as they are."""
    path = Path(place)
    if recognised is not None:
        heard = Path(recognised)
        return [CallFiles(call or path.stem, path, heard, file_name(system or heard.stem))]
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
        given, heard = file.parent / cells["reference"], file.parent / cells["recognised"]
        for each in (given, heard):
            if not each.is_file():
                raise MedjuryError(f"{file}, row {number}: there is no file {each}")
        found.append(CallFiles(cells["call"], given, heard, cells["system"], cells.get("run", "")))
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


_TOP = """# Clinical impact of recognition errors, written by `medjury transcripts`.
# Check it without any call: medjury run study.yaml --dry-run
"""
# Rate every pair beside the judges, so that the report tells which of them sees harm.
METRICS = ["wer", "cer", "rouge_l", "chrf", "semantic_wer", "impact_estimate"]
NOTHING_TO_JUDGE = "no pair differs: there is nothing to judge (--keep-perfect judges equal pairs too)"
_PLACEHOLDER = """# The embedded model is far too small to be trusted: name your own judges (see `medjury init`).
"""


@dataclass(frozen=True)
class _Call:
    """One recogniser's transcript of a call: its cases, each of what was said and what was recognised, with their
    word error rates. `name` is what they are called after."""

    name: str
    files: CallFiles
    alignment: Alignment
    cases: Sequence[Case]
    rates: Sequence[float | None]

    @classmethod
    def of(
        cls,
        files: CallFiles,
        whole: Transcript,
        golden: Transcript,
        recognised: Transcript,
        alignment: Alignment,
    ) -> _Call:
        """`whole` is the gold transcript with all speakers, whose turns before a pair are its context."""
        from medjury.texts.metrics import score

        name = file_name(files.call)
        cases = impact_cases(whole, golden, recognised, alignment, call=name, system=files.system)
        if not cases:
            raise MedjuryError(f"{whole.file}: holds no turn of that speaker: there is nothing to judge")
        language = language_of_text(" ".join(case.reference or "" for case in cases))
        given = [normalise(case.reference or "", language=language) for case in cases]
        recognised_words = ["" if case.candidate == NOTHING else case.candidate or "" for case in cases]
        heard = [normalise(words, language=language) for words in recognised_words]
        rates = score(given, heard, ["wer"]).column("wer")
        rated = [
            case
            if rate is None
            else replace(case, metadata={**case.metadata, "word_error_rate": round(rate, 4)})
            for case, rate in zip(cases, rates, strict=True)
        ]
        return cls(name, files, alignment, rated, rates)

    def words_said(self) -> list[int]:
        """Of every case, how many words were said."""
        said = [case.reference or "" for case in self.cases]
        language = language_of_text(" ".join(said))
        return [len(split_words(normalise(words, language=language))) for words in said]


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


@dataclass(frozen=True)
class TranscriptStudy:
    """The calls, and which pairs were drawn from all of them, by band of word error rate; `chosen` counts through
    calls. `alone` is the call of two files that were named."""

    name: str
    calls: Sequence[_Call]
    bands: Sequence[tuple[str, int, tuple[int, ...]]]
    alone: bool

    @classmethod
    def drawn(
        cls,
        calls: Iterable[tuple[CallFiles, Transcript, Transcript, Transcript, Alignment]],
        *,
        name: str | None = None,
        edges: Sequence[float] | None = None,
        per_band: int | None = None,
        keep_perfect: bool = False,
        seed: int = 0,
    ) -> TranscriptStudy:
        """Draw from every band of word error rate over all calls together: of each its files, the gold transcript
        with all speakers, what was said and what was recognised of the speaker, and how these are aligned. Without
        a `name` it is the study of one call."""
        made = [_Call.of(*each) for each in calls]
        names: dict[str, str] = {}
        for each in made:
            if names.setdefault(each.name, each.files.call) != each.files.call:
                raise MedjuryError(
                    f"the calls {names[each.name]!r} and {each.files.call!r} would both be called {each.name!r}; "
                    "rename one"
                )
        rates = [rate for each in made for rate in each.rates]
        bands = sample_by_band(
            rates, edges=edges or EDGES, per_band=per_band, keep_perfect=keep_perfect, seed=seed
        )
        return cls(made[0].name if name is None else file_name(name), made, bands, name is None)

    @property
    def chosen(self) -> list[int]:
        return sorted(place for _, _, chosen in self.bands for place in chosen)

    def cases(self) -> list[Case]:
        """The drawn pairs. A call is a patient: its pairs are resampled together, whoever recognised them."""
        wanted, start, found = set(self.chosen), 0, []
        for each in self.calls:
            found += [case for place, case in enumerate(each.cases, start) if place in wanted]
            start += len(each.cases)
        return found

    def drawn_pairs(self) -> dict[str, list[tuple[int, float]]]:
        """By recogniser: of every drawn pair how many words were said, and its word error rate (NaN: none said)."""
        wanted, found = set(self.chosen), dict[str, list[tuple[int, float]]]()
        pairs = (
            (each.files.recogniser, said, rate)
            for each in self.calls
            for said, rate in zip(each.words_said(), each.rates, strict=True)
        )
        for place, (recogniser, said, rate) in enumerate(pairs):
            if place in wanted:
                found.setdefault(recogniser, []).append((said, nan if rate is None else rate))
        return found

    def error_rates(self) -> dict[str, dict[str, float]]:
        """By recogniser and run: wrong words per word said, over all turns that were said; none without a word."""
        words: dict[str, dict[str, list[tuple[float, int]]]] = {}
        for each in self.calls:
            given = zip(each.rates, each.words_said(), strict=True)
            known = [(rate, n) for rate, n in given if rate is not None]
            words.setdefault(each.files.recogniser, {}).setdefault(each.files.run, []).extend(known)
        return {
            name: {
                run: sum(rate * n for rate, n in known) / sum(n for _, n in known)
                for run, known in runs.items()
                if known
            }
            for name, runs in words.items()
        }

    def text(self) -> str:
        """What was found and drawn; of a folder each recogniser's error rate too: of every run, then their mean and
        SD."""
        if self.alone:
            lines = self._drawn_lines("alignment.json")
            if not any("context" in case.texts for case in self.calls[0].cases):
                lines.append(
                    "No turn has a conversation before it: the gold transcript names no speakers, or only one"
                )
            return "\n".join(lines)
        lines = [f"{len({each.name for each in self.calls})} calls, {len(self.calls)} transcripts"]
        lines += self._drawn_lines("alignments/")
        for name, runs in self.error_rates().items():
            values = list(runs.values())
            text = f"{name}: word error rate {mean(values):.4f}" if values else f"{name}: no word was said"
            if len(values) > 1:
                each = ", ".join(f"{value:.4f}" for value in values)
                text += f" ± {stdev(values):.4f} (SD of {len(values)} runs: {each})"
            lines.append(text)
        for name, pairs in self.drawn_pairs().items():
            said, known = [n for n, _ in pairs], [rate for _, rate in pairs if rate == rate]
            low, _, high = quantiles(said, n=4, method="inclusive") if len(said) > 1 else said * 3
            text = f"drawn of {name}: {len(pairs)} pairs, {mean(said):.1f} words each "
            text += f"(quartiles {low:g} to {high:g})"
            lines.append(text + (f", mean word error rate {mean(known):.4f}" if known else ""))
        return "\n".join(lines)

    def _drawn_lines(self, alignments: str) -> list[str]:
        """How many pairs each band has and how many were drawn, and which are not judged."""
        rates = [rate for each in self.calls for rate in each.rates]
        lines = [f"{'word error rate':<20}{'pairs':>8}{'drawn':>8}"]
        lines += [f"{name:<20}{found:>8}{len(chosen):>8}" for name, found, chosen in self.bands]
        lines.append(f"{rates.count(0.0)} of {len(rates)} pairs are word for word the same")
        if undefined := rates.count(None):
            lines.append(f"{undefined} gold turns hold no word and are not judged")
        if spurious := sum(len(each.alignment.spurious) for each in self.calls):
            lines.append(
                f"{spurious} segments have no counterpart in what was said and are not judged: see {alignments}"
            )
        return lines

    def write(self, folder: Path, settings: Mapping[str, Any] | None = None) -> Path:
        """The study file, written into the folder with its cases and the alignment of every call. Without settings
        it names the embedded model and waits for better judges."""
        cases = self.cases()
        if not cases:
            raise MedjuryError(NOTHING_TO_JUDGE)
        try:
            private_folder(folder)
            for each in self.calls:
                name = f"alignments/{each.name}.{file_name(each.files.system)}.json"
                place = folder / ("alignment.json" if self.alone else name)
                private_folder(place.parent)
                write_whole(place, json.dumps(each.alignment.to_json(), indent=2, ensure_ascii=False) + "\n")
            write_cases(cases, folder / "cases.jsonl")
            write_whole(folder / "study.yaml", study_text(self.name, settings))
        except OSError as error:
            raise MedjuryError(f"{folder}: cannot be written: {error.strerror}") from None
        return folder / "study.yaml"
