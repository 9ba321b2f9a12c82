"""`medjury transcripts` and `medjury align`: which turns of two transcripts are the same speech, and from them to a
study of clinical impact.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from medjury.cli._main import say
from medjury.cli._options import add_flags, add_json, for_reader, one_each, print_json
from medjury.cli._screen import Paragraphs
from medjury.foundation.errors import MedjuryError
from medjury.foundation.files import write_whole

if TYPE_CHECKING:
    from medjury.statistics import Printable
    from medjury.studies import TranscriptStudy
    from medjury.texts.transcripts import Alignment, AlignmentQuality, Transcript


def _add_aligner_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("gold", metavar="GOLD", help="what was said, or a folder of calls")
    add("recognised", metavar="RECOGNISED", nargs="?", help="what the recogniser wrote (none with a folder)")
    add("--speaker", default="patient", metavar="NAME",
        help="whose turns, where a file names speakers (default: patient); `all` for everybody's")  # fmt: skip
    add("--speakers", nargs="+", metavar="NAME",
        help="everybody who speaks, where a file leaves doubt about names; `none`: it has none")  # fmt: skip
    add("--model", metavar="MODEL", help="let this language model align (its alignment is repaired too)")
    add("--kind", default="openai", metavar="KIND", help="with --model: endpoint kind (default: openai)")
    add("--url", help="with --model: the endpoint's address, such as http://127.0.0.1:8000/v1")
    add("--api-key-env", metavar="NAME", help="with --model: the environment variable that holds the key")
    add("--temperature", type=float, default=0.0, metavar="T", help="with --model: temperature (default: 0)")
    add(
        "--top-p",
        type=float,
        metavar="P",
        help="with --model: draw from the likeliest words of this share only",
    )
    add("--top-k", type=int, metavar="K", help="with --model: draw from so many likeliest words only")
    add("--sampling", action="append", metavar="NAME=VALUE",
        help="with --model: any further way of drawing words that the endpoint knows; may be repeated")  # fmt: skip
    add(
        "--allow-host",
        action="append",
        default=[],
        metavar="HOST",
        help="with --model: a host that may be called",
    )


def read_file(path: str, options: argparse.Namespace) -> Transcript:
    """A transcript with the speakers that were named, if any were."""
    from medjury.texts.transcripts import read_transcript

    named = options.speakers
    return read_transcript(path, speakers=[] if named == ["none"] else named)


def align_files(
    options: argparse.Namespace, gold: str, recognised_file: str
) -> tuple[Transcript, Transcript, Alignment]:
    """Read both files, keep the speaker's turns, and align."""
    from medjury.texts.transcripts import align, turns_of

    golden, recognised = (read_file(place, options) for place in (gold, recognised_file))
    for each in (golden, recognised):
        say(f"{each.file} ({each.form}): {'; '.join(each.speakers_text())}", sys.stderr)
    golden, recognised = turns_of(golden, recognised, options.speaker)
    if options.model or options.kind == "embedded":
        return golden, recognised, _by_model(options, golden, recognised)
    if options.url or options.api_key_env:
        raise MedjuryError("--url and --api-key-env belong to a model: give --model too")
    if options.temperature or options.top_p or options.top_k or options.sampling:
        raise MedjuryError(
            "--temperature, --top-p, --top-k and --sampling belong to a model: give --model too"
        )
    return golden, recognised, align(golden.turns, recognised.turns)


def _by_model(options: argparse.Namespace, golden: Transcript, recognised: Transcript) -> Alignment:
    from medjury.judging import run_async
    from medjury.models import Gate, MemoryCache, PriceList, make_model
    from medjury.texts.transcripts import align_with_model

    settings = {
        "url": options.url, "model": options.model, "api_key_env": options.api_key_env, "top_p": options.top_p,
        "top_k": options.top_k, "sampling": _values(one_each(options.sampling, "--sampling")),
    }  # fmt: skip
    stated = {name: value for name, value in settings.items() if value not in (None, "", {})}
    model = make_model(options.kind, **stated)
    gate = Gate(cache=MemoryCache(), allow_hosts=options.allow_host, prices=PriceList.shipped())
    gate.check([model])

    async def work() -> Alignment:
        try:
            return await align_with_model(
                golden.turns, recognised.turns, model, gate, temperature=options.temperature
            )
        finally:
            await model.close()

    return run_async(work())


def _values(given: Mapping[str, str]) -> dict[str, Any]:
    """Numbers as numbers, true and false as such, anything else as a word."""
    found: dict[str, Any] = {}
    for name, text in given.items():
        try:
            found[name] = json.loads(text)
        except ValueError:
            found[name] = text
    return found


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
    _add_aligner_arguments(parser)
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
    add_flags(parser, "--quiet")
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    from medjury.cli.run import run_file
    from medjury.studies import judges_settings

    settings = judges_settings(options.judges) if options.judges else None
    made = _study(options)
    stream = for_reader(options)
    say(made.text(), stream)
    study = made.write(Path(options.out), settings)
    say(f"{len(made.chosen)} cases written to {study.with_name('cases.jsonl')}", stream)
    if settings is not None:
        return run_file(str(study), quiet=options.quiet, as_json=options.json)
    say(f"Name your judges in {study}, then: medjury run {study}", stream)
    if options.json:
        bands = [{"band": name, "pairs": found, "drawn": len(drawn)} for name, found, drawn in made.bands]
        print_json({"study": str(study), "cases": len(made.chosen), "word_error_rates": bands})
    return 0


def _study(options: argparse.Namespace) -> TranscriptStudy:
    """The pairs that are drawn from two files, or from the calls of a folder."""
    from medjury.studies import TranscriptStudy, calls_in

    alone = bool(options.recognised)
    if not alone and not Path(options.gold).is_dir() and not options.gold.lower().endswith(".csv"):
        raise MedjuryError(
            f"{options.gold}: also name what was recognised: medjury transcripts GOLD RECOGNISED"
        )
    if not alone and (options.call or options.system):
        raise MedjuryError("--call and --system name one call; in a folder the files' names or calls.csv do")
    calls = []
    for files in calls_in(options.gold, options.recognised, options.call, options.system):
        golden, recognised, alignment = align_files(options, str(files.reference), str(files.recognised))
        for note in (*golden.notes, *recognised.notes, *alignment.notes):
            say(f"medjury: {note}", sys.stderr)
        whole = read_file(str(files.reference), options)
        calls.append((files, whole, golden, recognised, alignment))
    place = Path(options.gold).resolve()
    drawn = {name: getattr(options, name) for name in ("per_band", "keep_perfect", "seed")}
    folder = place.name if place.is_dir() else place.parent.name
    return TranscriptStudy.drawn(calls, name=None if alone else folder, edges=options.bands, **drawn)


_ABOUT_ALIGN = """
GOLD and RECOGNISED are .json (a list of turns {index, text, speaker?, start?, end?, confidence?}, or the output of
AssemblyAI, AWS Transcribe or HealthScribe, Azure, Deepgram, Google, Rev, Speechmatics, Whisper, WhisperX,
whisper.cpp), .csv (column `text`), .vtt, .srt, .txt or .ctm (with its .rttm) files.

Without --model the alignment is deterministic and needs nothing. Turns are numbered from 0 among those of the
chosen speaker, unless the file gives an `index`.

--truth FILE.json is an alignment made by hand: the result is compared with it. Of a folder of calls (as of
`medjury transcripts`) with --truth FOLDER, which holds CALL.json or CALL.RECOGNISER.json, every alignment is
compared, and each recogniser's shares over all its calls are shown.
"""


def add_align_arguments(parser: argparse.ArgumentParser) -> None:
    parser.formatter_class = Paragraphs
    parser.epilog = _ABOUT_ALIGN
    _add_aligner_arguments(parser)
    add_json(parser)
    words = "an alignment made by hand, or a folder of them, to compare with"
    parser.add_argument("--truth", metavar="PATH", help=words)
    parser.add_argument("--out", metavar="FILE.json", help="write the alignment as JSON")


def run_align(options: argparse.Namespace) -> int:
    if options.recognised is None:
        return _align_folder(options)
    golden, recognised, alignment = align_files(options, options.gold, options.recognised)
    content, quality = alignment.to_json(), None
    if options.truth:
        quality = _compared(golden, recognised, alignment, options.truth)
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


def _compared(
    golden: Transcript, recognised: Transcript, alignment: Alignment, truth: str | Path
) -> AlignmentQuality:
    from medjury.texts.transcripts import Alignment, evaluate_alignment

    gold, heard = ([turn.index for turn in each.turns] for each in (golden, recognised))
    return evaluate_alignment(alignment, Alignment.read(truth), golden=gold, asr=heard)


def _align_folder(options: argparse.Namespace) -> int:
    """Every call of a folder beside its alignment by hand, and each recogniser's calls together."""
    from medjury.statistics import percent, text_table
    from medjury.studies import calls_in
    from medjury.texts.transcripts import AlignmentQuality

    if not options.truth or options.out:
        raise MedjuryError(
            f"{options.gold}: also name what was recognised, or compare the calls of a folder with alignments by "
            "hand (--truth FOLDER); their alignments are written by `medjury transcripts FOLDER --out FOLDER`"
        )
    found: dict[str, dict[str, AlignmentQuality]] = {}
    for files in calls_in(options.gold):
        named = [
            Path(options.truth) / f"{name}.json" for name in (f"{files.call}.{files.system}", files.call)
        ]
        truth = next((each for each in named if each.is_file()), None)
        if truth is None:
            raise MedjuryError(f"{named[1]}: is missing: every call needs its alignment by hand")
        aligned = align_files(options, str(files.reference), str(files.recognised))
        found.setdefault(files.recogniser, {})[f"{files.call} {files.run}".strip()] = _compared(
            *aligned, truth
        )
    totals = {name: AlignmentQuality.of_all([*calls.values()]) for name, calls in found.items()}
    if options.json:
        print_json(
            {
                name: {"total": totals[name].to_json()}
                | {call: each.to_json() for call, each in calls.items()}
                for name, calls in found.items()
            }
        )
        return 0
    rows: list[dict[str, Printable]] = [
        {
            "recogniser": name,
            "call": call,
            "gold turns": each.golden_turns,
            "recognised": each.asr_turns,
            "structural": percent(each.structural, 1),
            "classified, gold": percent(each.golden_classification, 1),
            "classified, recognised": percent(each.asr_classification, 1),
        }
        for name, calls in found.items()
        for call, each in (*calls.items(), (f"all {len(calls)}", totals[name]))
    ]
    print("\n".join(text_table(rows)))
    return 0
