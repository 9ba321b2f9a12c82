"""`medjury metrics PAIRS --reference COL --hypothesis COL --out FILE`: text metrics, all in one pass."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from medjury.errors import MedjuryError

if TYPE_CHECKING:
    import polars

    from medjury.metrics import Scores
    from medjury.statistics import Estimate

_EPILOG = """
PAIRS is a CSV, JSONL or Parquet file with one pair of texts per row; FILE gets its columns, one column per metric
and `undefined`, which says of every empty cell why the metric does not exist there. An empty hypothesis means that
nothing was recognised (error rates 1, overlaps 0); without a reference no metric exists.

Metrics: wer, cer, mer, wil, semantic_wer, bleu_1 to bleu_4, rouge_1, rouge_2, rouge_l, rouge_w, chrf, chrf++,
meteor (all of these by default); with the `neural` extra bert_score, sbert, simcse, nli, bart_score, bleurt,
sema_score, heval, intelligibility.

--label names a column with clinicians' labels (0, 1, 2): the metrics are then held against them.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = _EPILOG
    add = parser.add_argument
    add("pairs", metavar="PAIRS", help="table of pairs: CSV, JSONL or Parquet")
    add("--reference", metavar="COL", required=True, help="column with what was said")
    add("--hypothesis", metavar="COL", required=True, help="column with what was recognised")
    add("--metrics", metavar="M", nargs="+", help="only these metrics, with spaces or commas between them")
    add("--normalise", action="store_true", help="compare without case and signs, numbers in words")
    add("--remove-fillers", action="store_true", help="with --normalise: leave out um, uh, hmm")
    add("--model", metavar="METRIC=MODEL", action="append", default=[],
        help="the model of a learned metric: a folder or a name; may be given several times")  # fmt: skip
    add("--device", help="where learned metrics run: cpu, cuda (default: the GPU where there is one)")
    add("--allow-download", action="store_true", help="let learned metrics fetch models that are not here")
    add("--label", metavar="COL", help="column with clinicians' labels: meta-evaluation of the metrics")
    add("--call", metavar="COL", help="with --label: column with the call, resampled as a whole")
    add("--resamples", metavar="N", type=int, default=2000, help="with --label: bootstrap resamples (2000)")
    add("--seed", type=int, default=0, help="with --label: seed of the intervals (0)")
    add("--figure", metavar="FILE.svg", help="with --label: write the figure of enrichment")
    add("--out", metavar="FILE", required=True, help="where to write: .csv, .jsonl or .parquet")


def run(options: argparse.Namespace) -> int:
    import polars

    from medjury.metrics import LEXICAL, kernels_in_use, metric_named, read_pairs, score, write_pairs
    from medjury.transcripts import normalise

    if options.remove_fillers and not options.normalise:
        raise MedjuryError("--remove-fillers works on normalised texts: give --normalise too")
    if not options.label and (options.call or options.figure):
        raise MedjuryError("--call and --figure belong to a meta-evaluation: give --label too")
    names = [word for each in options.metrics or LEXICAL for word in each.split(",") if word]
    names = list(dict.fromkeys(metric_named(name).name for name in names))
    added = [*names, "undefined", *(["meteor_matches"] if "meteor" in names else [])]
    wanted = [options.reference, options.hypothesis]
    wanted += [column for column in (options.label, options.call) if column]
    frame = read_pairs(options.pairs, wanted, added)

    def texts(column: str) -> list[str]:
        cells = [cell or "" for cell in frame[column].to_list()]
        if not options.normalise:
            return cells
        return [normalise(cell, remove_fillers=options.remove_fillers) for cell in cells]

    scores = score(
        texts(options.reference),
        texts(options.hypothesis),
        names,
        models=_models(options.model),
        device=options.device,
        allow_download=options.allow_download,
    )
    table = polars.concat([frame, scores.frame()], how="horizontal")
    if "meteor" in names:
        table = table.with_columns(polars.lit(scores.notes["meteor"]).alias("meteor_matches"))
    write_pairs(table, options.out)
    _print_scores(scores)
    print(f"Counted with {kernels_in_use()}. {len(frame)} pairs written to {options.out}")
    if options.label:
        _meta_evaluation(options, frame, scores)
    return 0


def _models(words: list[str]) -> dict[str, str]:
    models = {}
    for word in words:
        metric, equal, model = word.partition("=")
        if not equal or not model:
            raise MedjuryError(f"--model {word}: write METRIC=MODEL, for instance sbert=path/to/folder")
        models[metric] = model
    return models


def _print_scores(scores: Scores) -> None:
    print(f"{'metric':<18}{'mean':>10}{'pairs':>9}{'undefined':>11}")
    for name, values in scores.values.items():
        mean, undefined = scores.mean(name), len(scores.reasons.get(name, {}))
        shown = "-" if mean is None else f"{mean:.4f}"
        note = f"  {scores.notes[name]}" if name in scores.notes else ""
        print(f"{name:<18}{shown:>10}{len(values) - undefined:>9}{undefined:>11}{note}")


def _meta_evaluation(options: argparse.Namespace, frame: polars.DataFrame, scores: Scores) -> None:
    from pathlib import Path

    from medjury.metrics import enrichment_figure, labels_of, meta_evaluate

    found = meta_evaluate(
        scores.values,
        labels_of(frame, options.label, options.pairs),
        clusters=frame[options.call].to_list() if options.call else None,
        resamples=options.resamples,
        seed=options.seed,
    )
    print(f"\n{'metric':<18}{'enrichment (2 − 0)':>28}{'Kendall tau-b':>28}{'n':>6}{'undefined':>11}")
    for each in found:
        print(
            f"{each.metric.name:<18}{_shown(each.enrichment):>28}{_shown(each.kendall_tau_b):>28}"
            f"{each.enrichment.n:>6}{each.n_undefined:>11}"
        )
    print("Enrichment is on scores oriented so that higher is better; tau-b is of the metric as it is.")
    if options.figure:
        Path(options.figure).write_text(enrichment_figure(found), encoding="utf-8")
        print(f"Figure written to {options.figure}")


def _shown(estimate: Estimate) -> str:
    if estimate.value is None:
        return "undefined"
    if estimate.low is None or estimate.high is None:
        return f"{estimate.value:.3f}"
    return f"{estimate.value:.3f} [{estimate.low:.3f}, {estimate.high:.3f}]"
