"""`medjury impact PAIRS --reference COL --hypothesis COL [--question COL] --out FILE`: what changed clinically."""

from __future__ import annotations

import argparse
from typing import Any

from medjury.cli._output import add_json, for_reader, print_json
from medjury.cli._terminal import Paragraphs
from medjury.foundation.errors import MedjuryError
from medjury.foundation.files import write_whole

_EPILOG = """
PAIRS is a CSV, JSONL or Parquet file with one turn per row. FILE gets its columns and three more: `impact` (0 none,
1 minimal, 2 significant), `impact_score` (the expected level, 0 to 2) and `reasons` in words. An empty hypothesis
means that nothing was recognised; a row without a reference has no estimate, and `reasons` says so.

--question names the column with the turn before, usually the clinician's question; the same words matter more or
less according to what was asked.

--label and --call check the estimate against clinicians' labels, cross-validated by call. --fit learns a model from
those labels and writes it to a file that --model reads.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.formatter_class = Paragraphs
    parser.epilog = _EPILOG
    add = parser.add_argument
    add("pairs", metavar="PAIRS", help="table of turns: CSV, JSONL or Parquet")
    add("--reference", metavar="COL", required=True, help="column with what was said")
    add("--hypothesis", metavar="COL", required=True, help="column with what was recognised")
    add("--question", metavar="COL", help="column with the turn before")
    add("--model", metavar="FILE.json", help="a model fitted to your own labels (default: the one shipped)")
    add("--label", metavar="COL", help="column with clinicians' labels (0, 1, 2)")
    add("--call", metavar="COL", help="with --label: column with the call, the unit of cross-validation")
    add("--fit", metavar="FILE.json", help="with --label: learn a model from the labels and write it here")
    add("--resamples", metavar="N", type=int, default=2000, help="with --label: bootstrap resamples (2000)")
    add("--seed", type=int, default=0, help="with --label: seed of the intervals (0)")
    add("--out", metavar="FILE", required=True, help="where to write: .csv, .jsonl or .parquet")
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    from medjury.texts.metrics import ImpactPairs

    if bool(options.label) != bool(options.call) or (options.fit and not options.label):
        raise MedjuryError("A check against labels needs both --label and --call; --fit needs them too")
    also = [options.label, options.call] if options.label else []
    pairs = ImpactPairs.read(options.pairs, options.reference, options.hypothesis, options.question, also)
    found = pairs.estimate(options.model)
    pairs.write(pairs.with_impact(found), options.out)
    told = for_reader(options)
    content: dict[str, Any] = {"file": options.out, "pairs": len(found), "impact": pairs.counts(found)}
    print(f"{len(found)} pairs written to {options.out}\n{pairs.text(found)}", file=told)
    if options.label:
        check = pairs.check(options.label, options.call, resamples=options.resamples, seed=options.seed)
        content["labels"] = check.content()
        print(f"\n{check.text()}", file=told)
        if options.fit:
            write_whole(options.fit, pairs.learn(options.label, check.calls).to_json() + "\n")
            print(f"Model learned from all {len(found)} rows written to {options.fit}", file=told)
    if options.json:
        print_json(content)
    return 0
