"""`medjury rank SCORES`: the systems from best to worst, and which of them cannot be told apart."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from medjury.cli._rated import show_json, show_notes, show_table, words
from medjury.errors import MedjuryError

if TYPE_CHECKING:
    from collections.abc import Callable

    import polars

    from medjury.ranking import Scores

_EPILOG = """
SCORES is a table with the columns system, benchmark, score (one row each, or one per item in a column `item`), or
a table of ratings (item, rater, dimension, score and system), a mapping (.yaml) or a run folder. Of benchmark
scores the benchmarks are resampled; of items and ratings the cases.

tie_group: systems that share a letter are not separated by the data. --json prints a list of objects, one per
system: system, rank, rank_low, rank_high, win_rate, win_rate_low, win_rate_high, win_sd, macro_average, macro_sd,
tie_group, n, n_unscored and more; with --show another list. Warnings go to standard error.
"""
_SHOWN = ("systems", "pairs", "agreement", "detectable", "cost")
_COLUMNS = (
    "system", "rank", "rank_low", "rank_high", "win_rate", "win_rate_low", "win_rate_high", "win_sd",
    "macro_average", "macro_average_low", "macro_average_high", "macro_sd", "tie_group", "n", "n_unscored",
)  # fmt: skip


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = _EPILOG
    add = parser.add_argument
    add("scores", metavar="SCORES", help="table of scores or of ratings")
    add("--by", choices=("macro_average", "win_rate"), default="macro_average", help="what ranks the systems")
    add("--ties", choices=("half", "win"), default="half",
        help="what a tie counts in the win rate: half, or a win for both (score >= rival's)")  # fmt: skip
    add("--missing", choices=("refuse", "common"), default="refuse",
        help="where a system lacks a benchmark: refuse, or use the benchmarks that all have")  # fmt: skip
    add("--rater", metavar="R[,R2...]", help="ratings: whose scores rank (default: the jury, or all judges)")
    add("--reference", metavar="R[,R2...]", help="ratings: rank by these too, and give Kendall's tau")
    add("--dimension", metavar="D[,D2...]", help="ratings: only these dimensions")
    add("--composite", action="append", default=[], metavar="NAME=D:W,D2:W2",
        help="ratings: rank by a weighted mean of dimensions; may be repeated")  # fmt: skip
    add("--lower-is-better", metavar="D[,D2...]", help="turn these dimensions or benchmarks around (--scale)")
    add("--scale", nargs=2, type=float, metavar=("LOW", "HIGH"), help="lowest and highest grade of the scale")
    add("--calibrate", choices=("isotonic", "offset", "linear", "ordinal"),
        help="rank by scores calibrated to the reference, cross-fitted by case")  # fmt: skip
    add("--cost", metavar="FILE", help="table with the columns system, cost: who gives most for the price?")
    add("--alpha", type=float, default=0.05, help="of the smallest detectable difference (0.05)")
    add("--power", type=float, default=0.8, help="of the smallest detectable difference (0.8)")
    add("--confidence", type=float, default=0.95)
    add("--resamples", metavar="N", type=int, default=10_000)
    add("--seed", metavar="N", type=int, default=0)
    add("--show", choices=_SHOWN, help="only this table (default: all there are; with --json: systems)")
    add("--json", action="store_true", help="print a list of objects instead of tables")


def run(options: argparse.Namespace) -> int:
    try:
        from medjury import ranking
    except ModuleNotFoundError as error:
        raise MedjuryError(f"rank needs {error.name}: pip install 'medjury[stats]'") from None
    frame, told = ranking.read_score_table(options.scores)
    notes = list(told)
    raters, reference = words(options.rater), words(options.reference) or []
    calibrated = _calibrated(options, frame, notes) if options.calibrate else None
    table = frame if calibrated is None else calibrated
    scores = ranking.read_scores(
        table, raters=raters, reference=[] if options.calibrate else reference, **_reading(options)
    )
    ranked = ranking.rank(
        scores,
        by=options.by,
        ties=options.ties,
        confidence=options.confidence,
        resamples=options.resamples,
        seed=options.seed,
    )
    tables: dict[str, tuple[str, Callable[[], list[dict[str, Any]]]]] = {
        "systems": (f"ranked by {ranked.by}; resampled: {ranked.unit}", ranked.rows),
        "pairs": (f"differences in {ranked.by}", lambda: [each.row() for each in ranked.pairs]),
    }
    if options.reference:
        title = f"Kendall's tau-b with the ranking by {options.reference}"
        tables["agreement"] = title, lambda: _agreement(options, frame, calibrated, scores, notes)
    if scores.blocks:
        tables["detectable"] = (
            f"smallest detectable difference of two systems (alpha {options.alpha:g}, power {options.power:g})",
            lambda: [
                each.row()
                for each in ranking.detectable_effects(scores, alpha=options.alpha, power=options.power)
            ],
        )
    if options.cost:
        costs = _costs(options.cost)
        tables["cost"] = "cost", lambda: [each.row() for each in ranking.cost_performance(ranked, costs)]
    chosen = options.show or ("systems" if options.json else None)
    if chosen is not None and chosen not in tables:
        needs = {"agreement": "--reference", "cost": "--cost", "detectable": "a column `item`, or ratings"}
        raise MedjuryError(f"--show {chosen} needs {needs[chosen]}")
    if options.json:
        show_json(tables[chosen or "systems"][1]())
    else:
        wanted = [chosen] if chosen else [name for name in tables if name != "pairs"]
        for place, name in enumerate(wanted):
            title, rows = tables[name]
            print(("\n" if place else "") + title)
            show_table(_short(rows()))
    show_notes([*notes, *ranked.warnings])
    return 0


def _reading(options: argparse.Namespace) -> dict[str, Any]:
    from medjury import ranking

    return {
        "dimensions": words(options.dimension),
        "composites": [ranking.composite_of(text) for text in options.composite],
        "lower_is_better": words(options.lower_is_better) or (),
        "scale": None if options.scale is None else tuple(options.scale),
        "missing": options.missing,
    }


def _calibrated(options: argparse.Namespace, frame: polars.DataFrame, notes: list[str]) -> polars.DataFrame:
    from medjury import ranking
    from medjury.calibration import calibrate

    if not options.reference:
        raise MedjuryError("--calibrate needs --reference: the clinicians to calibrate to")
    study = calibrate(
        frame,
        reference=words(options.reference) or [],
        judges=words(options.rater),
        scale=options.scale,
        method=options.calibrate,
        seed=options.seed,
    )
    notes += study.warnings
    notes += [f"not calibrated: {each.judge} on {each.dimension}: {each.reason}" for each in study.refused]
    return ranking.calibrated_ratings(study)


def _agreement(
    options: argparse.Namespace,
    frame: polars.DataFrame,
    calibrated: polars.DataFrame | None,
    scores: Scores,
    notes: list[str],
) -> list[dict[str, Any]]:
    """Each rater alone, then all together; before calibration and, where asked for, after."""
    from medjury import ranking

    reading = _reading(options)
    truth = ranking.read_scores(frame, raters=words(options.reference), **reading)
    notes += [f"the ranking by {options.reference}: {warning}" for warning in truth.warnings]
    tables = [("", frame)] if calibrated is None else [("before", frame), ("after", calibrated)]
    single = [[rater] for rater in scores.raters] if len(scores.raters) > 1 else []
    rows = []
    for calibration, table in tables:
        for raters in [*single, list(scores.raters)]:
            found = ranking.ranking_agreement(
                ranking.read_scores(table, raters=raters, **reading),
                truth,
                by=options.by,
                ties=options.ties,
                confidence=options.confidence,
                resamples=options.resamples,
                seed=options.seed,
            )
            named = {"raters": ",".join(raters)} | ({"calibration": calibration} if calibration else {})
            rows.append(named | found.row())
    return rows


def _costs(path: str) -> dict[str, float]:
    from pathlib import Path

    from medjury import ranking

    frame = ranking.read_plain_table(Path(path)) if Path(path).is_file() else None
    if frame is None or not {"system", "cost"} <= set(frame.columns):
        raise MedjuryError(f"{path}: a table with the columns system and cost is needed")
    costs: dict[str, float] = {}
    for row, (system, cost) in enumerate(frame.select("system", "cost").iter_rows(), start=2):
        try:
            costs[str(system).strip()] = float(cost)
        except (TypeError, ValueError):
            raise MedjuryError(f"{path}, row {row}: the cost {cost!r} is not a number") from None
    return costs


def _short(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What fits on a screen: no methods, no lists, the systems' main columns."""
    if rows and "tie_group" in rows[0]:
        return [{name: row[name] for name in _COLUMNS} for row in rows]
    return [
        {
            name: " − ".join(value) if isinstance(value, list) else value
            for name, value in row.items()
            if name not in ("method", "reason")
        }
        for row in rows
    ]
