"""`medjury estimate`: mean quality from few clinicians' labels and many jury scores, with a valid
interval."""

from __future__ import annotations

import argparse

from medjury.cli._main import EXIT_INCOMPLETE
from medjury.cli._table_options import add_table_options, names, shared, table_from


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_table_options(parser)
    add = parser.add_argument
    add("--by-system", action="store_true", help="a mean for every system, beside the mean of all")
    add(
        "--difference",
        metavar="A,B",
        type=_pair,
        action="append",
        default=[],
        help="mean of A − mean of B; may be repeated",
    )
    add(
        "--labels-random",
        action="store_true",
        help="your word that the labelled cases are a random draw; without it the result warns",
    )


def run(options: argparse.Namespace) -> int:
    from medjury.calibration import estimate

    found = estimate(
        table_from(options),
        **shared(options),
        by_system=options.by_system,
        differences=options.difference,
        labels_random=options.labels_random,
    )
    print(found.to_json() if options.json else found.text())
    return EXIT_INCOMPLETE if found.refused else 0


def _pair(text: str) -> tuple[str, str]:
    found = names(text)
    if len(found) != 2:
        raise argparse.ArgumentTypeError(f"{text}: name two systems, such as --difference a,b")
    return found[0], found[1]
