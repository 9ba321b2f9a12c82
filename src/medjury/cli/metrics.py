"""`medjury metrics` and `medjury impact`: text metrics of pairs in one pass, and what changed clinically."""

from __future__ import annotations

import argparse
from typing import Any

from medjury.cli._options import add_draws, add_json, for_reader, print_json
from medjury.cli._screen import Paragraphs
from medjury.foundation.errors import MedjuryError
from medjury.foundation.files import write_whole

_EPILOG = """
PAIRS is a CSV, JSONL or Parquet file with one pair of texts per row; FILE gets its columns, one column per metric
and `undefined`, which says of every empty cell why the metric does not exist there. An empty hypothesis means that
nothing was recognised (error rates 1, overlaps 0); without a reference no metric exists.

Metrics: wer, cer, mer, wil, semantic_wer, bleu_1 to bleu_4, rouge_1, rouge_2, rouge_l, rouge_w, chrf, chrf++,
meteor (all of these by default); with the `neural` extra bert_score, sbert, simcse, nli, bart_score, bleurt,
clinical_bleurt (needs --model), sema_score, heval, intelligibility. As Ellis et al. (2025) computed them:
rouge_w_ellis, semantic_wer_ellis (`neural` extra); --fillers ellis.

--label names a column with clinicians' labels (0, 1, 2): the metrics are then compared with them.
"""

_LANGUAGE = (
    "the language of the pairs (de), or the column that states it; rules for English give nothing in another"
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.formatter_class = Paragraphs
    parser.epilog = _EPILOG
    add = parser.add_argument
    add("pairs", metavar="PAIRS", help="table of pairs: CSV, JSONL or Parquet")
    add("--reference", metavar="COL", required=True, help="column with what was said")
    add("--hypothesis", metavar="COL", required=True, help="column with what was recognised")
    add("--language", metavar="L", help=_LANGUAGE)
    add("--metrics", metavar="M", nargs="+", help="only these metrics, with spaces or commas between them")
    add("--normalise", action="store_true", help="compare without case and signs, numbers in words")
    add("--remove-fillers", action="store_true", help="with --normalise: leave out um, uh, hmm")
    add(
        "--fillers",
        choices=("ours", "ellis"),
        default="ours",
        help="which list --remove-fillers takes (ours)",
    )
    add("--model", metavar="METRIC=MODEL", action="append", default=[],
        help="the model of a learned metric: a folder or a name; several of one metric give several columns, told "
        "apart by METRIC@NAME=MODEL or else by the models' own names")  # fmt: skip
    add("--device", help="where learned metrics run: cpu, cuda (default: the GPU where there is one)")
    add("--allow-download", action="store_true", help="let learned metrics fetch models that are not here")
    add("--label", metavar="COL", help="column with clinicians' labels: meta-evaluation of the metrics")
    add("--call", metavar="COL", help="with --label: column with the call, resampled as a whole")
    add_draws(parser, resamples=2000, seed=0, usual=("with --label; 2,000", "with --label; 0"))
    add("--figure", metavar="FILE.svg", help="with --label: write the figure of enrichment")
    add("--out", metavar="FILE", required=True, help="where to write: .csv, .jsonl or .parquet")
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    from medjury.texts.metrics import MetricPairs, meta_evaluate

    if options.remove_fillers and not options.normalise:
        raise MedjuryError("--remove-fillers works on normalised texts: give --normalise too")
    if options.fillers != "ours" and not options.remove_fillers:
        raise MedjuryError("--fillers says what --remove-fillers takes out: give --remove-fillers too")
    if not options.label and (options.call or options.figure):
        raise MedjuryError("--call and --figure belong to a meta-evaluation: give --label too")
    pairs = MetricPairs.read(
        options.pairs, options.reference, options.hypothesis, options.metrics, _models(options.model),
        (options.label, options.call), options.language,
    )  # fmt: skip
    scores = pairs.score(
        normalised=options.normalise, remove_fillers=options.remove_fillers, filler_list=options.fillers,
        device=options.device, allow_download=options.allow_download,
    )  # fmt: skip
    pairs.write(pairs.with_scores(scores), options.out)
    stream, content = for_reader(options), {"file": options.out, **scores.content()}
    print(scores.text(), file=stream)
    print(f"{len(pairs.frame)} pairs written to {options.out}", file=stream)
    if options.label:
        found = meta_evaluate(
            scores.values, pairs.labels(options.label), resamples=options.resamples,
            clusters=pairs.column(options.call) if options.call else None, seed=options.seed,
        )  # fmt: skip
        content["labels"] = found.to_dicts()
        print(f"\n{found.text()}", file=stream)
        if options.figure:
            from medjury.report import enrichment_svg

            write_whole(options.figure, enrichment_svg(found.rows))
            print(f"Figure written to {options.figure}", file=stream)
    if options.json:
        print_json(content)
    return 0


def _models(words: list[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for word in words:
        metric, _, model = word.partition("=")
        if not model:
            raise MedjuryError(f"--model {word}: write METRIC=MODEL, for instance sbert=path/to/folder")
        found.setdefault(metric, []).append(model)
    return found


_ABOUT_IMPACT = """
PAIRS is a CSV, JSONL or Parquet file with one turn per row. FILE gets its columns and three more: `impact` (0 none,
1 minimal, 2 significant), `impact_score` (the expected level, 0 to 2) and `reasons` in words. An empty hypothesis
means that nothing was recognised; a row without a reference has no estimate, and `reasons` says so.

--question names the column with the turn before, usually the clinician's question; the same words matter more or
less according to what was asked.

--label and --call check the estimate against clinicians' labels, cross-validated by call. --fit learns a model from
those labels and writes it to a file that --model reads.
"""


def add_impact_arguments(parser: argparse.ArgumentParser) -> None:
    parser.formatter_class = Paragraphs
    parser.epilog = _ABOUT_IMPACT
    add = parser.add_argument
    add("pairs", metavar="PAIRS", help="table of turns: CSV, JSONL or Parquet")
    add("--reference", metavar="COL", required=True, help="column with what was said")
    add("--hypothesis", metavar="COL", required=True, help="column with what was recognised")
    add("--question", metavar="COL", help="column with the turn before")
    add("--language", metavar="L", help=_LANGUAGE)
    add("--model", metavar="FILE.json", help="a model fitted to your own labels (default: the one shipped)")
    add("--label", metavar="COL", help="column with clinicians' labels (0, 1, 2)")
    add("--call", metavar="COL", help="with --label: column with the call, the unit of cross-validation")
    add("--fit", metavar="FILE.json", help="with --label: learn a model from the labels and write it here")
    add_draws(parser, resamples=2000, seed=0, usual=("with --label; 2,000", "with --label; 0"))
    add("--out", metavar="FILE", required=True, help="where to write: .csv, .jsonl or .parquet")
    add_json(parser)


def run_impact(options: argparse.Namespace) -> int:
    from medjury.texts.metrics import ImpactPairs

    if bool(options.label) != bool(options.call) or (options.fit and not options.label):
        raise MedjuryError("A check against labels needs both --label and --call; --fit needs them too")
    also = [options.label, options.call] if options.label else []
    pairs = ImpactPairs.read(
        options.pairs, options.reference, options.hypothesis, options.question, also, options.language
    )
    found = pairs.estimate(options.model)
    pairs.write(pairs.with_impact(found), options.out)
    stream = for_reader(options)
    content: dict[str, Any] = {"file": options.out, "pairs": len(found), "impact": pairs.counts(found)}
    print(f"{len(found)} pairs written to {options.out}\n{pairs.text(found)}", file=stream)
    if options.label:
        check = pairs.check(options.label, options.call, resamples=options.resamples, seed=options.seed)
        content["labels"] = check.content()
        print(f"\n{check.text()}", file=stream)
        if options.fit:
            write_whole(options.fit, pairs.learn(options.label, check.calls).to_json() + "\n")
            print(f"Model learned from all {len(found)} rows written to {options.fit}", file=stream)
    if options.json:
        print_json(content)
    return 0
