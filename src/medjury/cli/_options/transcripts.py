"""What `align` and `transcripts` ask alike: two files, a speaker, and a model that may do the aligning."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from medjury.cli._main import say
from medjury.cli._options.assignments import one_each
from medjury.foundation.errors import MedjuryError

if TYPE_CHECKING:
    from medjury.texts.transcripts import Alignment, Transcript


def add_aligner_arguments(parser: argparse.ArgumentParser, *, folders: bool = False) -> None:
    """`folders`: the first may be a folder of calls, and then there is no second."""
    add = parser.add_argument
    add("gold", metavar="GOLD", help="what was said" + (", or a folder of calls" if folders else ""))
    add(
        "recognised",
        metavar="RECOGNISED",
        nargs="?" if folders else None,
        help="what the recogniser wrote" + (" (none with a folder)" if folders else ""),
    )
    add("--speaker", default="patient", metavar="NAME",
        help="whose turns, where a file names speakers (default: patient); `all` for everybody's")  # fmt: skip
    add("--speakers", nargs="+", metavar="NAME",
        help="everybody who speaks, where a file leaves doubt about names; `none`: it has none")  # fmt: skip
    add("--model", metavar="MODEL", help="let this language model align (repaired like the other)")
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
        help="with --model: a host to let through",
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
