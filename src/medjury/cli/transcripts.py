"""`medjury transcripts GOLD RECOGNISED --out FOLDER`: from transcripts to a study of clinical impact."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from medjury.cli._main import say
from medjury.cli._options.transcripts import add_aligner_arguments, align_files, read_file
from medjury.cli._output import add_json, for_reader, print_json
from medjury.cli._terminal import Paragraphs
from medjury.foundation.errors import MedjuryError

if TYPE_CHECKING:
    from medjury.studies import TranscriptCollection, TranscriptStudy

_EPILOG = """
The folder gets alignment.json, cases.jsonl (one case a pair that differs: what was said, what was recognised, and
the two doctor's turns and the patient's turn before) and study.yaml (instrument transcript_impact).

Instead of two files give a folder of calls: CALL.gold.txt is what was said, CALL.RECOGNISER.json what was
recognised (CALL.RECOGNISER.RUN.json for one of several runs). Or list the files in calls.csv, in the folder or by
itself, with the columns call, reference, recognised, system (and run). All calls become one study, a call being a
patient.

--judges FILE.yaml holds `judges:` as in a study file, and any other setting of one (jury, humans, allow_hosts,
budget...). With it the study is run and its report written; without it study.yaml names the embedded model, and
waits for you to name better ones: medjury run FOLDER/study.yaml
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.formatter_class = Paragraphs
    parser.epilog = _EPILOG
    add_aligner_arguments(parser, folders=True)
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
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    from medjury.cli._run_file import run_file
    from medjury.studies import judges_settings

    settings = judges_settings(options.judges) if options.judges else None
    made = _one(options) if options.recognised else _several(options)
    told = for_reader(options)
    say(made.text(), told)
    study = made.write(Path(options.out), settings)
    say(f"{len(made.chosen)} cases written to {study.with_name('cases.jsonl')}", told)
    if settings is not None:
        return run_file(str(study), quiet=options.quiet, as_json=options.json)
    say(f"Name your judges in {study}, then: medjury run {study}", told)
    if options.json:
        bands = [{"band": each.name, "pairs": each.found, "drawn": len(each.chosen)} for each in made.bands]
        print_json({"study": str(study), "cases": len(made.chosen), "word_error_rates": bands})
    return 0


def _one(options: argparse.Namespace) -> TranscriptStudy:
    drawn = {"edges": options.bands, "per_band": options.per_band, "keep_perfect": options.keep_perfect}
    return _study(
        options, options.gold, options.recognised, options.call, options.system, **drawn, seed=options.seed
    )


def _several(options: argparse.Namespace) -> TranscriptCollection:
    from medjury.studies import TranscriptCollection, calls_in

    if not Path(options.gold).is_dir() and not options.gold.lower().endswith(".csv"):
        raise MedjuryError(
            f"{options.gold}: say what was recognised too: medjury transcripts GOLD RECOGNISED"
        )
    if options.call or options.system:
        raise MedjuryError("--call and --system name one call; in a folder the files' names or calls.csv do")
    calls = [
        (files, _study(options, str(files.reference), str(files.recognised), files.call, files.system))
        for files in calls_in(options.gold)
    ]
    place = Path(options.gold).resolve()
    return TranscriptCollection.drawn(
        calls,
        name=place.name if place.is_dir() else place.parent.name,
        edges=options.bands,
        per_band=options.per_band,
        keep_perfect=options.keep_perfect,
        seed=options.seed,
    )


def _study(
    options: argparse.Namespace, gold: str, heard: str, call: str | None, system: str | None, **drawn: Any
) -> TranscriptStudy:
    from medjury.studies import TranscriptStudy

    golden, recognised, alignment = align_files(options, gold, heard)
    for note in (*golden.notes, *recognised.notes, *alignment.notes):
        say(f"medjury: {note}", sys.stderr)
    return TranscriptStudy.drawn(
        read_file(gold, options), golden, recognised, alignment, call=call, system=system, **drawn
    )
