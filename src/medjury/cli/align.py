"""`medjury align GOLD RECOGNISED`: which turns and segments are the same speech."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from medjury.cli._transcript_options import add_aligner_arguments, align_files
from medjury.errors import MedjuryError

if TYPE_CHECKING:
    from medjury.transcripts import Alignment, AlignmentQuality

_EPILOG = """
GOLD and RECOGNISED are .json (a list of turns {index, text, speaker?, start?, end?, confidence?}, or the output of
Deepgram, Google Speech-to-Text, Whisper, whisper.cpp), .csv (column `text`), .vtt, .srt or .txt files.

Without --model the alignment is deterministic and needs nothing. Turns are numbered from 0 among those of the
chosen speaker, unless the file gives an `index`.

--truth FILE.json is an alignment made by hand: the result is held against it.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = _EPILOG
    add_aligner_arguments(parser)
    parser.add_argument("--json", action="store_true", help="print the alignment as JSON")
    parser.add_argument("--truth", metavar="FILE.json", help="compare with an alignment made by hand")
    parser.add_argument("--out", metavar="FILE.json", help="write the alignment as JSON")


def run(options: argparse.Namespace) -> int:
    from medjury.transcripts import evaluate_alignment, read_alignment

    golden, recognised, alignment = align_files(options)
    quality = None
    if options.truth:
        quality = evaluate_alignment(
            alignment,
            read_alignment(options.truth),
            golden=[turn.index for turn in golden.turns],
            asr=[turn.index for turn in recognised.turns],
        )
    content = alignment.to_json()
    if quality is not None:
        content["evaluation"] = quality.to_json()
    written = json.dumps(content, indent=2, ensure_ascii=False)
    if options.out:
        try:
            Path(options.out).write_text(written + "\n", encoding="utf-8")
        except OSError as error:
            raise MedjuryError(f"{options.out}: cannot be written: {error.strerror}") from None
    if options.json:
        print(written)
    else:
        _print(alignment, quality)
    for note in (*golden.notes, *recognised.notes):
        print(f"medjury: {note}", file=sys.stderr)
    return 0


def _print(alignment: Alignment, quality: AlignmentQuality | None) -> None:
    print(f"{'gold':<14}{'recognised':<18}{'match':<16}{'similarity':>10}{'confidence':>12}")
    for match in alignment.matches:
        gold = ", ".join(map(str, match.golden_indices))
        heard = ", ".join(map(str, match.asr_indices))
        sure = "" if match.confidence is None else f"{match.confidence:.2f}"
        print(f"{gold:<14}{heard:<18}{match.match_type:<16}{match.similarity:>10.2f}{sure:>12}")
    for name, indices in (("missed", alignment.missed), ("spurious", alignment.spurious)):
        print(f"{name}: {', '.join(map(str, indices)) or 'none'}")
    for note in alignment.notes:
        print(f"note: {note}")
    if quality is None:
        return
    for name, value in (
        ("structural accuracy", quality.structural),
        ("classification, gold", quality.golden_classification),
        ("classification, recognised", quality.asr_classification),
    ):
        print(f"{name:<28}{'undefined: no turn there' if value is None else f'{100 * value:.1f} %'}")
    for fault in quality.faults:
        expected, found = (", ".join(map(str, each)) or "none" for each in (fault.expected, fault.found))
        print(f"  {fault.side} {fault.index}: {fault.kind}, expected {expected}, found {found}")
