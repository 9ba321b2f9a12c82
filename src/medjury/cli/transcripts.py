"""`medjury transcripts GOLD RECOGNISED --out FOLDER`: from two transcripts to a study of clinical impact."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from medjury.cli._main import say
from medjury.cli._transcript_options import add_aligner_arguments, align_files, read_file

_EPILOG = """
The folder gets alignment.json, cases.jsonl (one case a pair that differs: what was said, what was recognised, and
the two doctor's turns and the patient's turn before) and study.yaml (instrument transcript_impact).

--judges FILE.yaml holds `judges:` as in a study file, and any other setting of one (jury, humans, allow_hosts,
budget...). With it the study is run and its report written; without it study.yaml names the embedded model, and
waits for you to name better ones: medjury run FOLDER/study.yaml
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
    from medjury.cli._run_file import run_file
    from medjury.studies import judges_settings, transcript_study

    settings = judges_settings(options.judges) if options.judges else None
    golden, recognised, alignment = align_files(options)
    made = transcript_study(
        read_file(options.gold, options), golden, recognised, alignment, call=options.call, system=options.system,
        edges=options.bands, per_band=options.per_band, keep_perfect=options.keep_perfect, seed=options.seed,
    )  # fmt: skip
    for note in (*golden.notes, *recognised.notes, *alignment.notes):
        say(f"medjury: {note}", sys.stderr)
    say(made.text())
    study = made.write(Path(options.out), settings)
    say(f"{len(made.chosen)} cases written to {study.with_name('cases.jsonl')}")
    if settings is None:
        say(f"Name your judges in {study}, then: medjury run {study}")
        return 0
    return run_file(str(study), quiet=options.quiet)
