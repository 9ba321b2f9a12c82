"""`medjury rank SCORES`: the systems from best to worst, and which of them cannot be told apart."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import TYPE_CHECKING

from medjury.cli._table_options import add_table_options, names, shared, show_notes, table_from
from medjury.foundation.errors import MedjuryError

if TYPE_CHECKING:
    from medjury.analysis.ranking import PairRanking, Ranking

_ABOUT = """
SCORES is a table with the columns system, benchmark, score (one row each, or one per item in a column `item`), or
ratings (RATINGS below). Of benchmark scores the benchmarks are resampled; of items and ratings the cases.

A jury's ranks are ranks as this jury sees them. Where clinicians labelled some cases of every system, a second
table estimates the clinicians' ranking (reference_ranks), with ranks that hold however biased the jury is.

Preferences between two answers (a study with design: pairs, or a table item, first, second, preferred and rater)
are ranked by Bradley and Terry's model with ties: a strength in log-odds, the expected share of wins, and, for each
rater, what the first place is worth. --show is then systems, raters, reference_ranks, agreement, beside, reordered.

tie_group: systems that share a letter are not separated by the data. --json prints a list of objects, one per
system: system, rank, rank_low, rank_high, win_rate, win_rate_low, win_rate_high, win_sd, macro_average, macro_sd,
tie_group, n, n_unscored and more; with --show another list. Warnings then go to standard error.
"""
_SHOWN = (
    "systems", "reference_ranks", "pairs", "agreement", "detectable", "cost", "raters", "beside", "reordered"
)  # fmt: skip
# What is asked of single answers alone, with what it is where nobody asks.
_OF_ANSWERS: Mapping[str, object] = {
    "by": "macro_average", "ties": "half", "missing": "refuse", "dimensions": None, "composite": [],
    "lower_is_better": (), "calibrate": None, "cost": None, "labels_random": False,
}  # fmt: skip


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_table_options(parser, name="scores", about=_ABOUT)
    add = parser.add_argument
    add(
        "--by",
        choices=("macro_average", "win_rate"),
        default=_OF_ANSWERS["by"],
        help="what ranks the systems",
    )
    add("--ties", choices=("half", "win"), default=_OF_ANSWERS["ties"],
        help="what a tie counts in the win rate: half, or a win for both (score >= rival's)")  # fmt: skip
    add("--missing", choices=("refuse", "common"), default=_OF_ANSWERS["missing"],
        help="where a system lacks a benchmark: refuse, or use the benchmarks that all have")  # fmt: skip
    add("--composite", action="append", default=[], metavar="NAME=D:W,D2:W2",
        help="ratings: rank by a weighted mean of dimensions; may be repeated")  # fmt: skip
    add("--lower-is-better", metavar="D[,D2...]", type=names, default=(),
        help="turn these dimensions or benchmarks around; an instrument states its own")  # fmt: skip
    add("--calibrate", choices=("isotonic", "offset", "linear", "ordinal"),
        help="rank by scores calibrated to the reference, cross-fitted by case")  # fmt: skip
    add("--cost", metavar="FILE", help="table with the columns system, cost: which gives most for the price?")
    add("--labels-random", action="store_true",
        help="you assert that the cases which the reference labelled are a random draw")  # fmt: skip
    add("--beside", metavar="RATINGS", help="pairs: direct grades of the same systems; the same order?")
    add("--alpha", type=float, default=0.05, help="of the smallest detectable difference (0.05)")
    add("--power", type=float, default=0.8, help="of the smallest detectable difference (0.8)")
    add("--show", choices=_SHOWN, help="only this table (default: all but the pairs; with --json: systems)")


def run(options: argparse.Namespace) -> int:
    from medjury.analysis.ranking import rank, rank_pairs, score_table

    benchmarks = score_table(options.scores)
    table = table_from(options, name="scores") if benchmarks is None else None
    if table is not None and table.pairs:
        _refuse_for(options, _OF_ANSWERS, "single answers, and these are pairs")
        common = {name: each for name, each in shared(options).items() if name != "dimensions"}
        return _show(options, rank_pairs(table, beside=options.beside, **common))
    _refuse_for(options, {"beside": None}, "pairs, and these are single answers")
    own = ("by", "ties", "missing", "lower_is_better", "alpha", "power", "labels_random")
    found = rank(
        benchmarks if table is None else table,
        composites=options.composite,
        calibration=options.calibrate,
        costs=options.cost,
        scale=None if benchmarks is None else options.scale,
        **{name: getattr(options, name) for name in own},
        **shared(options),
    )
    return _show(options, found)


def _refuse_for(options: argparse.Namespace, unasked: Mapping[str, object], why: str) -> None:
    if given := [name for name, each in unasked.items() if getattr(options, name) != each]:
        raise MedjuryError(f"--{given[0].replace('_', '-')} is for {why}; leave it out")


def _show(options: argparse.Namespace, found: Ranking | PairRanking) -> int:
    if options.json:
        part = found.part(options.show or "systems")
        print(part.to_json())
        show_notes([*found.warnings, *part.warnings])
    else:
        print(found.text() if options.show is None else found.part(options.show).text())
    return 0
