"""`medjury transcripts GOLD RECOGNISED --out FOLDER`: from two transcripts to a study of clinical impact."""

from __future__ import annotations

import argparse
import json
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from medjury.cli._transcript_options import add_aligner_arguments, align_files
from medjury.errors import MedjuryError

if TYPE_CHECKING:
    from medjury.transcripts import AlignedPair, Band

_EPILOG = """
The folder gets alignment.json, cases.jsonl (one case a pair that differs: what was said, what was recognised, and
the two doctor's turns and the patient's turn before) and study.yaml (instrument transcript_impact).

--judges FILE.yaml holds `judges:` as in a study file, and any other setting of one (jury, humans, allow_hosts,
budget...). With it the study is run and its report written; without it study.yaml names the embedded model, and
waits for you to name better ones: medjury run FOLDER/study.yaml
"""
_TOP = """# Clinical impact of recognition errors, written by `medjury transcripts`.
# Check it without any call: medjury run study.yaml --dry-run
"""
_PLACEHOLDER = """# The embedded model is far too small to be trusted: name your own judges (see `medjury init`).
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = _EPILOG
    add_aligner_arguments(parser)
    add = parser.add_argument
    add("--out", metavar="FOLDER", required=True, help="where the study is written")
    add("--judges", metavar="FILE.yaml", help="judges and other study settings: run the study too")
    add("--call", metavar="NAME", help="the consultation's name (default: GOLD's file name)")
    add("--system", metavar="NAME", help="the recogniser's name (default: RECOGNISED's file name)")
    add(
        "--bands",
        metavar="RATE",
        type=float,
        nargs="+",
        help="edges of the word error rate bands (0.2 0.4 1)",
    )
    add("--per-band", metavar="N", type=int, help="draw at most N pairs from each band (default: all)")
    add("--keep-perfect", action="store_true", help="judge pairs without any error too")
    add("--seed", type=int, default=0, help="seed of the draw (0)")
    add("--quiet", action="store_true", help="no progress line")


def run(options: argparse.Namespace) -> int:
    from medjury.cases import write_cases
    from medjury.transcripts import EDGES, aligned_pairs, impact_cases, read_transcript, sample_by_band

    settings = _settings(options.judges)
    golden, recognised, alignment = align_files(options)
    pairs = aligned_pairs(read_transcript(options.gold), golden, recognised, alignment)
    if not pairs:
        raise MedjuryError(f"{options.gold}: holds no turn of {options.speaker!r}: there is nothing to judge")
    rates = _word_error_rates(pairs)
    bands = sample_by_band(
        rates,
        edges=options.bands or EDGES,
        per_band=options.per_band,
        keep_perfect=options.keep_perfect,
        seed=options.seed,
    )
    chosen = sorted(place for band in bands for place in band.chosen)
    call, system = (
        _name(given or Path(file).stem)
        for given, file in ((options.call, options.gold), (options.system, options.recognised))
    )
    for note in (*golden.notes, *recognised.notes, *alignment.notes):
        print(f"medjury: {note}", file=sys.stderr)
    _print_bands(bands, rates, len(alignment.spurious), any(pair.context for pair in pairs))
    if not chosen:
        raise MedjuryError(
            "no pair differs: there is nothing to judge (--keep-perfect judges equal pairs too)"
        )
    folder = Path(options.out)
    cases = impact_cases([pairs[at] for at in chosen], [rates[at] for at in chosen], call=call, system=system)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        written = json.dumps(alignment.to_json(), indent=2, ensure_ascii=False) + "\n"
        (folder / "alignment.json").write_text(written, encoding="utf-8")
        write_cases(cases, folder / "cases.jsonl")
        (folder / "study.yaml").write_text(_study(call, settings), encoding="utf-8")
    except OSError as error:
        raise MedjuryError(f"{folder}: cannot be written: {error.strerror}") from None
    print(f"{len(cases)} cases written to {folder / 'cases.jsonl'}")
    if settings is None:
        print(f"Name your judges in {folder / 'study.yaml'}, then: medjury run {folder / 'study.yaml'}")
        return 0
    return _run_study(folder / "study.yaml", options.quiet)


def _run_study(study: Path, quiet: bool) -> int:
    from medjury.cli import run as run_command

    return run_command.run(
        argparse.Namespace(
            study=str(study), dry_run=False, skip_bad_cases=False, retry_unscored=False, quiet=quiet
        )
    )


def _settings(file: str | None) -> dict[str, Any] | None:
    """The study settings of a judges file; the settings that this command makes itself do not belong there."""
    if file is None:
        return None
    from medjury.documents import read_document

    document = read_document(file)
    value = {"judges": document.value} if isinstance(document.value, list) else document.value
    if not isinstance(value, dict) or not value.get("judges"):
        raise MedjuryError(f"{file}: needs `judges:`, a list as in a study file")
    made_here = sorted({"study", "cases", "instrument"} & set(value))
    if made_here:
        raise MedjuryError(document.complaint((made_here[0],), "is written by this command; take it out"))
    humans = value.get("humans")
    path = humans.get("path") if isinstance(humans, dict) else humans
    if isinstance(path, str):  # paths in the file are relative to it; the study stands in another folder
        resolved = str((Path(file).parent / path).resolve())
        value["humans"] = {**humans, "path": resolved} if isinstance(humans, dict) else resolved
    return value


def _study(call: str, settings: dict[str, Any] | None) -> str:
    import yaml

    study: dict[str, Any] = {"study": call, "cases": "cases.jsonl", "instrument": "transcript_impact"}
    study |= settings or {"judges": [{"kind": "embedded"}]}
    body = yaml.safe_dump(study, sort_keys=False, allow_unicode=True)
    return _TOP + ("" if settings else _PLACEHOLDER) + body


def _word_error_rates(pairs: list[AlignedPair]) -> list[float | None]:
    from medjury.metrics import score
    from medjury.transcripts import normalise

    scores = score(
        [normalise(pair.reference) for pair in pairs], [normalise(pair.hypothesis) for pair in pairs], ["wer"]
    )
    return scores.column("wer")


def _print_bands(bands: list[Band], rates: list[float | None], spurious: int, context: bool) -> None:
    print(f"{'word error rate':<20}{'pairs':>8}{'drawn':>8}")
    for band in bands:
        print(f"{band.name:<20}{band.found:>8}{len(band.chosen):>8}")
    perfect, undefined = rates.count(0.0), rates.count(None)
    print(f"{perfect} of {len(rates)} pairs are word for word the same")
    if undefined:
        print(f"{undefined} gold turns hold no word and are not judged")
    if spurious:
        print(
            f"{spurious} segments have no counterpart in what was said and are not judged: see alignment.json"
        )
    if not context:
        print("No turn has a conversation before it: the gold transcript names no speakers, or only one")


def _name(text: str) -> str:
    """A name for a study, a case or a system: other signs than letters, digits and -._ become dashes."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", text).strip("-._")[:80] or "call"
