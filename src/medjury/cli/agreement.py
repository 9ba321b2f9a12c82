"""`medjury agreement RATINGS --reference R --raters C`: every coefficient with its interval."""

from __future__ import annotations

import argparse
from dataclasses import replace

from medjury.cli._table_options import add_table_options, names, shared, show_notes, table_from

_ABOUT = """
--json prints a list of objects with dimension, reference, rater, statistic, value, low, high, n, n_unscored,
method (and more); value is null where the statistic does not exist, and reason says why. Warnings go to standard
error. Exit status 1: no statistic exists at all.
"""
_OWN = (
    "by",
    "level",
    "consensus",
    "adjudicator",
    "panel",
    "severe",
    "threshold",
    "gap",
    "margin",
    "statistics",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_table_options(parser, about=_ABOUT)
    add = parser.add_argument
    add("--by", choices=("dimension", "system", "all"), default="dimension",
        help="system: a block per system and the system means; all: dimensions pooled")  # fmt: skip
    add("--level", choices=("item", "system", "both"), default="item",
        help="compare single scores, the systems' mean scores, or both")  # fmt: skip
    add("--consensus", choices=("mean", "median", "majority", "adjudicated"),
        help="how several references become one (default: the run's, else mean)")  # fmt: skip
    add("--adjudicator", metavar="RATER", help="whose word settles an adjudicated consensus")
    add("--panel", metavar="RATER", help="a second panel: win rates and severe errors against it (the run's)")
    add("--severe", metavar="D[,D2...]", type=names,
        help="count severe errors on these dimensions (default: those of a run folder's rules)")  # fmt: skip
    add("--threshold", type=float,
        help="the reference sees danger at this score or less, low being bad (default: by the scale)")  # fmt: skip
    add("--gap", type=float, help="and the rater scores this much higher or more (default: by the scale)")
    add("--margin", type=float, help="of non-inferiority to the references' own agreement (the run's)")
    add("--pairs", action="store_true", help="instead: weighted kappa and Spearman's rho of every two raters")
    add("--all", action="store_true", help="every rater, reference and statistic")
    add("--statistics", metavar="S[,S2...]", type=names, help="only these statistics")


def run(options: argparse.Namespace) -> int:
    from medjury.analysis.agreement import agreement, rater_pairs

    if options.pairs:
        named = {name: getattr(options, name) for name in ("raters", "reference", "dimensions")}
        every = rater_pairs(table_from(options), **named)
        text = every.text if options.all else every.short_text
        print(every.to_json() if options.json else text())
        return 0 if every.rows else 1
    table = table_from(options)
    # Whoever names statistics, levels or systems asks for their rows.
    whole = options.all or options.statistics or options.by != "dimension" or options.level != "item"
    asks = shared(options) | {name: getattr(options, name) for name in _OWN}
    short = not (whole or options.json)
    found = agreement(table, **asks, short=short)
    if short and not any(row.estimate.defined for row in found.rows):  # metrics alone, or nobody met
        found = agreement(table, **asks)
    asked = found.roles.reference if not found.roles.raters and options.by != "all" else ()
    if asked:  # clinicians alone
        from medjury.validation import own_agreement

        who = {name: getattr(options, name) for name in ("dimensions", "resamples", "seed")}
        enough = own_agreement(table, reference=asked, **who)
        found = replace(found, rows=(*found.rows, *enough.rows))
    if options.json:
        show_notes(found.remarks())
    text = found.text if whole else found.short_text
    print(found.to_json() if options.json else text())
    if asked and not options.json:
        print(f"\n{enough.text()}")
    return 0 if any(row.estimate.defined for row in found.rows) else 1
