"""`medjury agreement RATINGS --reference R --compare C`: every coefficient with its interval."""

from __future__ import annotations

import argparse
import sys

from medjury.errors import MedjuryError

_EPILOG = """
RATINGS is a CSV, Parquet or JSONL file with the columns item, rater, dimension, score (and, where there are any,
system, patient, repeat, status, reason, rater_kind, instrument), an Excel file, a mapping (.yaml) that describes
other files, or a run folder.

--json prints a list of objects with dimension, reference, compare, statistic, value, low, high, n, n_unscored,
method (and more); value is null where the statistic does not exist, and reason says why. Warnings go to standard
error. Exit status 1: no statistic exists at all.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = _EPILOG
    add = parser.add_argument
    add("ratings", metavar="RATINGS", help="file, mapping or run folder")
    add("--reference", metavar="R[,R2...]", type=_names, required=True, help="whom to compare with")
    add("--compare", metavar="C[,C2...]", type=_names, help="whom to compare; everybody else by default")
    add("--dimension", metavar="D[,D2...]", type=_names, help="only these dimensions")
    add(
        "--scale",
        metavar=("LOWEST", "HIGHEST"),
        nargs=2,
        type=float,
        help="whole grades from lowest to highest",
    )
    add(
        "--grades",
        metavar="G,G2...",
        type=_numbers,
        help="every grade, where they are no whole numbers in a row",
    )
    add("--by", choices=("dimension", "system", "all"), default="dimension",
        help="system: a block per system and the system means; all: dimensions pooled")  # fmt: skip
    add("--level", choices=("item", "system", "both"), default="item",
        help="compare single scores, the systems' mean scores, or both")  # fmt: skip
    add("--consensus", choices=("mean", "median", "majority", "adjudicated"), default="mean",
        help="how several references become one")  # fmt: skip
    add("--adjudicator", metavar="RATER", help="whose word settles an adjudicated consensus")
    add("--jury", choices=("mean", "median", "majority"), help="add the compared judges as one rater, `jury`")
    add(
        "--repeats", choices=("mean", "median"), default="mean", help="how a rater's repeats become one score"
    )
    add("--panel", metavar="RATER", help="a second panel: win rates and severe errors against it")
    add("--severe", metavar="D[,D2...]", type=_names, default=(),
        help="count severe errors on these dimensions (low is dangerous)")  # fmt: skip
    add("--threshold", type=float, default=2.0, help="the reference sees danger at this score or less (2)")
    add("--gap", type=float, default=2.0, help="and the rater scores this much higher or more (2)")
    add("--margin", type=float, help="test non-inferiority to the references' own agreement with this margin")
    add("--statistics", metavar="S[,S2...]", type=_names, help="only these statistics")
    add("--resamples", metavar="N", type=int, default=10_000, help="bootstrap resamples; 0 for no intervals")
    add("--seed", metavar="N", type=int, default=0)
    add("--json", action="store_true", help="print a list of objects instead of a table")


def run(options: argparse.Namespace) -> int:
    if options.scale and options.grades:
        raise MedjuryError("--scale and --grades say the same thing; give one of them.")
    try:
        from medjury.agreement import agreement
        from medjury.tables import read_rating_table
    except ModuleNotFoundError as error:
        raise MedjuryError(f"agreement needs {error.name}: pip install 'medjury[stats]'") from None
    frame, notes = read_rating_table(options.ratings)
    table = agreement(
        frame,
        reference=options.reference,
        compare=options.compare,
        dimension=options.dimension,
        by=options.by,
        level=options.level,
        scale=options.scale or options.grades,
        consensus=options.consensus,
        adjudicator=options.adjudicator,
        jury=options.jury,
        repeats=options.repeats,
        panel=options.panel,
        severe=options.severe,
        threshold=options.threshold,
        gap=options.gap,
        margin=options.margin,
        statistics=options.statistics,
        resamples=options.resamples,
        seed=options.seed,
    )
    for line in notes:
        print(line, file=sys.stderr)
    if options.json:
        for line in table.remarks():
            print(line, file=sys.stderr)
        print(table.to_json())
    else:
        print(table.text())
    return 0 if any(row.estimate.defined for row in table.rows) else 1


def _names(text: str) -> tuple[str, ...]:
    names = tuple(name.strip() for name in text.split(",") if name.strip())
    if not names:
        raise argparse.ArgumentTypeError("give one name or more, separated by commas")
    return names


def _numbers(text: str) -> tuple[float, ...]:
    try:
        return tuple(float(number) for number in text.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a list of numbers such as 0,0.5,1") from None
