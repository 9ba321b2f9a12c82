"""`medjury impact PAIRS --reference COL --hypothesis COL [--question COL] --out FILE`: what changed clinically."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from medjury.errors import MedjuryError

if TYPE_CHECKING:
    import polars

    from medjury.metrics import ImpactCheck

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
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
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


def run(options: argparse.Namespace) -> int:
    import polars

    from medjury.metrics import check_impact, impact, labels_of, read_impact_model, read_pairs, write_pairs

    if bool(options.label) != bool(options.call) or (options.fit and not options.label):
        raise MedjuryError("A check against labels needs both --label and --call; --fit needs them too")
    wanted = [options.reference, options.hypothesis]
    wanted += [column for column in (options.question, options.label, options.call) if column]
    frame = read_pairs(options.pairs, wanted, ["impact", "impact_score", "reasons"])
    model = None
    if options.model:
        model = read_impact_model(_text_of(options.model), options.model)
    said, heard = frame[options.reference].to_list(), frame[options.hypothesis].to_list()
    asked = frame[options.question].to_list() if options.question else None
    found = impact(said, heard, asked, model=model)
    table = frame.with_columns(
        polars.Series("impact", [each.level for each in found], dtype=polars.Int64),
        polars.Series(
            "impact_score",
            [None if each.score is None else round(each.score, 4) for each in found],
            dtype=polars.Float64,
        ),
        polars.Series("reasons", ["; ".join(each.reasons) for each in found], dtype=polars.String),
    )
    write_pairs(table, options.out)
    _print_levels([each.level for each in found], options.out)
    if options.label:
        labels = labels_of(frame, options.label, options.pairs)
        calls = frame[options.call].to_list()
        check = check_impact(
            said, heard, asked, labels, calls, resamples=options.resamples, seed=options.seed
        )
        _print_check(check)
        if options.fit:
            _fit(options, frame, labels, check)
    return 0


def _print_levels(levels: list[int | None], file: str) -> None:
    names = {2: "significant", 1: "minimal", 0: "none", None: "not estimated (no reference)"}
    print(f"{len(levels)} pairs written to {file}")
    for level, name in names.items():
        count = levels.count(level)
        if count or level is not None:
            print(f"  {name:<30}{count:>8}")
    print("A screening estimate: level 2 says that a clinician should read the pair, not that harm was done.")


def _print_check(check: ImpactCheck) -> None:
    print(f"\nAgainst the labels, cross-validated over {check.calls} calls, 95 % intervals by call:")
    for name, estimate in check.estimates.items():
        if estimate.value is None:
            print(f"  {name:<18} undefined: {estimate.reason}")
        elif estimate.low is None or estimate.high is None:
            print(f"  {name:<18}{estimate.value:>7.3f}")
        else:
            print(f"  {name:<18}{estimate.value:>7.3f}  [{estimate.low:.3f}, {estimate.high:.3f}]")
    print("  label \\ estimate" + "".join(f"{level:>6}" for level in (0, 1, 2)))
    for level, row in enumerate(check.confusion.tolist()):
        print(f"  {level:>16}" + "".join(f"{count:>6}" for count in row))


def _fit(options: argparse.Namespace, frame: polars.DataFrame, labels: list[int], check: ImpactCheck) -> None:
    from hashlib import sha256

    from medjury.metrics import fit_impact_model, impact_features

    asked = frame[options.question].to_list() if options.question else None
    features = impact_features(frame[options.reference].to_list(), frame[options.hypothesis].to_list(), asked)
    provenance = {
        "data": Path(options.pairs).name,
        "sha256": sha256(Path(options.pairs).read_bytes()).hexdigest(),
        "rows": len(labels),
        "calls": check.calls,
        "columns": {
            "reference": options.reference,
            "hypothesis": options.hypothesis,
            "question": options.question,
            "label": options.label,
        },
        "levels": {str(level): labels.count(level) for level in (0, 1, 2)},
        "trained_on": "all rows; its performance is that of the cross-validation by call",
    }
    model = fit_impact_model(features, labels, provenance=provenance)
    Path(options.fit).write_text(model.to_json() + "\n", encoding="utf-8")
    print(f"Model learned from all {len(labels)} rows written to {options.fit}")


def _text_of(name: str) -> str:
    try:
        return Path(name).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise MedjuryError(f"{name}: cannot be read: {error}") from None
