"""`medjury train sft|dpo STUDY`: train a local judge on clinicians' ratings; `train serve` makes it an endpoint."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from medjury.cli._options import add_json, for_reader, tell

if TYPE_CHECKING:
    from medjury.tuning.training import Lessons

_ABOUT = """
SFT learns what each clinician of STUDY answered; DPO starts from an SFT's folder (--model FOLDER) and learns to
prefer the clinicians' median to an answer made from it by a rule. A part of the cases is held out, never
touched; touched.json in the folder says which cases were. The question and the answer are those of the study's
judge (--judge), so that the trained model is an ordinary judge: `medjury train serve FOLDER` gives it an address.
"""
_REJECTED = ("one_higher", "one_lower", "one_better", "random", "worst_judge")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = _ABOUT
    ways = parser.add_subparsers(dest="way", metavar="sft|dpo|serve|export|presets", required=True)
    for name, about in (
        ("sft", "supervised training: one completion per clinician"),
        ("dpo", "preference training: the median against an answer to avoid"),
    ):
        _add_training(ways.add_parser(name, help=about, description=about), name)
    serve = ways.add_parser("serve", help="the trained model as an endpoint on this machine")
    serve.add_argument("folder", metavar="FOLDER", help="a training's folder, or a folder of weights")
    serve.add_argument("--port", type=int, default=8765, help="port on 127.0.0.1 (8765)")
    words = "the trained model as one GGUF file, for `kind: embedded` and llama.cpp"
    add = ways.add_parser("export", help=words).add_argument
    add("folder", metavar="FOLDER", help="a training's folder")
    add(
        "--like",
        metavar="FILE",
        required=True,
        help="the GGUF file it was trained from: its tokenizer is taken",
    )
    add("--out", metavar="FILE", help="the file to write (FOLDER/model.gguf)")
    add_json(ways.add_parser("presets", help="settings of published work by name"))


def _add_training(parser: argparse.ArgumentParser, method: str) -> None:
    add = parser.add_argument
    add("study", metavar="STUDY", help="the study file, or a folder of lessons that --data-only wrote")
    add("--model", metavar="MODEL", help="a folder of weights, a .gguf file, or an SFT's folder")
    add("--out", metavar="FOLDER", help="the folder to write (beside the study's runs)")
    add("--judge", metavar="NAME", help="the judge whose question is learned (the first)")
    add("--preset", metavar="NAME", help="settings of published work: see `medjury train presets`")
    add("--set", metavar="NAME=VALUE", action="append", default=[],
        help="another setting (rank, alpha, dropout, batch, at_once, rate, beta, epochs, steps, longest, four_bit, "
        "save_steps); may be repeated")  # fmt: skip
    add("--held-out", type=float, default=0.2,
        help="share, or number, of rated answers never touched (0.2); the study's `split` goes before")  # fmt: skip
    add("--development", type=float, default=0.1, help="share of the rest that is only looked at (0.1)")
    add("--seed", type=int, default=0, help="of the split, of copies and of the training (0)")
    add("--trials", type=int, default=0, help="search settings first: how many to try (0)")
    add("--price-per-hour", type=float, metavar="MONEY", help="of one GPU, for the cost")
    add("--data-only", action="store_true", help="write the lessons and stop")
    add("--json", action="store_true", help="print the manifest as JSON")
    if method == "dpo":
        add("--rejected", default="one_higher", choices=_REJECTED,
            help="the answer to avoid (one_higher)")  # fmt: skip
        add("--binary", default="keep", choices=("keep", "change"),
            help="what that rule does with dimensions of two grades (keep)")  # fmt: skip
        add("--clinicians", type=int, default=2, help="the fewest whose median is an answer (2)")
    else:
        add("--uneven", action="store_true", help="do not repeat completions of raters who gave few")


def run(options: argparse.Namespace) -> int:
    if options.way in ("sft", "dpo"):
        return _train(options)
    from medjury.tuning.training import export_gguf, presets_content, presets_text

    if options.way == "serve":
        return _serve(options)
    if options.way == "presets":
        tell(options, presets_text(), presets_content())
    else:
        print(f"written to {export_gguf(Path(options.folder), Path(options.like), options.out)}")
    return 0


def _train(options: argparse.Namespace) -> int:
    from medjury.foundation.errors import MedjuryError
    from medjury.tuning.training import TrainSettings, search, train

    settings = TrainSettings.chosen(options.way, options.preset, options.set, options.seed)
    lessons, folder = _lessons(options)
    say = for_reader(options)
    print(lessons.text(), file=say)
    if options.data_only:
        lessons.write(folder)
        print(f"written to {folder}", file=say)
        return 0
    if options.model is None:
        raise MedjuryError(
            "name the model to train with --model: a folder of weights, a .gguf file, or an SFT's folder"
        )
    if options.trials:
        settings, _ = search(lessons, options.model, folder, settings, options.trials)
    found = train(
        lessons,
        options.model,
        folder,
        settings,
        price_per_gpu_hour=options.price_per_hour,
        say=lambda words: print(words, file=sys.stderr, flush=True),
    )
    summary = (folder / "summary.txt").read_text(encoding="utf-8")
    print(json.dumps(found, indent=1) if options.json else f"{summary}written to {folder}")
    return 0


def _lessons(options: argparse.Namespace) -> tuple[Lessons, Path]:
    """The lessons of a study file or of a folder, and where the training goes."""
    from medjury.studies import load_study
    from medjury.tuning.training import Rejection, make_lessons, read_lessons

    if Path(options.study).is_dir():
        return read_lessons(Path(options.study)), Path(options.out or options.study)
    study = load_study(options.study)
    folder = Path(options.out) if options.out else study.output.parent / f"{study.name}-{options.way}"
    shared = {"judge": options.judge, "held_out": options.held_out, "development": options.development}
    if options.way == "sft":
        return make_lessons(study, "sft", even=not options.uneven, seed=options.seed, **shared), folder
    rejection = Rejection(options.rejected, options.binary, options.seed)
    made = make_lessons(
        study, "dpo", rejection=rejection, clinicians=options.clinicians, seed=options.seed, **shared
    )
    return made, folder


def _serve(options: argparse.Namespace) -> int:
    import asyncio

    from medjury.tuning.training import load_trained, serving

    folder = Path(options.folder).resolve()
    name = folder.name

    async def wait() -> None:
        async with serving(load_trained(options.folder), name, options.port) as address:
            print(f"{name} answers at {address}; end it with Ctrl-C", flush=True)
            print(
                f"- {{kind: openai, name: {name}, url: {address!r}, model: {name}, explain: false, "
                f"trained: {str(folder)!r}}}",
                flush=True,
            )
            await asyncio.Event().wait()

    asyncio.run(wait())
    return 0
