"""`medjury align GOLD RECOGNISED`: which turns and segments are the same speech."""

from __future__ import annotations

import argparse
import json
import sys

from medjury.cli._options.transcripts import add_aligner_arguments, align_files
from medjury.cli._terminal import Paragraphs
from medjury.foundation.errors import MedjuryError
from medjury.foundation.files import write_whole

_EPILOG = """
GOLD and RECOGNISED are .json (a list of turns {index, text, speaker?, start?, end?, confidence?}, or the output of
AssemblyAI, AWS Transcribe or HealthScribe, Azure, Deepgram, Google, Rev, Speechmatics, Whisper, WhisperX,
whisper.cpp), .csv (column `text`), .vtt, .srt, .txt or .ctm (with its .rttm) files.

Without --model the alignment is deterministic and needs nothing. Turns are numbered from 0 among those of the
chosen speaker, unless the file gives an `index`.

--truth FILE.json is an alignment made by hand: the result is held against it.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.formatter_class = Paragraphs
    parser.epilog = _EPILOG
    add_aligner_arguments(parser)
    parser.add_argument("--json", action="store_true", help="print the alignment as JSON")
    parser.add_argument("--truth", metavar="FILE.json", help="compare with an alignment made by hand")
    parser.add_argument("--out", metavar="FILE.json", help="write the alignment as JSON")


def run(options: argparse.Namespace) -> int:
    from medjury.texts.transcripts import Alignment, evaluate_alignment

    golden, recognised, alignment = align_files(options, options.gold, options.recognised)
    content, quality = alignment.to_json(), None
    if options.truth:
        indices = {
            side: [turn.index for turn in each.turns]
            for side, each in (("golden", golden), ("asr", recognised))
        }
        quality = evaluate_alignment(alignment, Alignment.read(options.truth), **indices)
        content["evaluation"] = quality.to_json()
    written = json.dumps(content, indent=2, ensure_ascii=False)
    if options.out:
        try:
            write_whole(options.out, written + "\n")
        except OSError as error:
            raise MedjuryError(f"{options.out}: cannot be written: {error.strerror}") from None
    print(written if options.json else alignment.text(golden.turns, recognised.turns))
    if quality is not None and not options.json:
        print(quality.text())
    for note in (*golden.notes, *recognised.notes):
        print(f"medjury: {note}", file=sys.stderr)
    return 0
