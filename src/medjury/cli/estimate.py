"""`medjury estimate`: mean quality from few clinicians' labels and many jury scores, with a valid
interval."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from medjury.cli._main import EXIT_INCOMPLETE
from medjury.cli._options.assignments import cut_columns
from medjury.cli._options.tables import add_table_options, names, shared, table_from
from medjury.foundation.errors import MedjuryError


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
    add("--dangerous-at", type=float, metavar="SCORE",
        help="estimate the share of dangerous answers instead: those of this score or worse")  # fmt: skip
    add("--target", metavar="FILE",
        help="also for a stated population: a .csv with the columns COLUMN, share (the case mix)")  # fmt: skip
    add("--slice", action="append", metavar="COLUMN[=CUT,CUT]",
        help="also for each level of a column of the ratings or the cases (specialty, age=18,65); may be "
        "repeated. Intervals hold for all levels together")  # fmt: skip
    add("--plan-labels", type=int, metavar="N",
        help="with --dangerous-at: how to give the next N labels out by the jury's verdict")  # fmt: skip
    add(
        "--labels-random",
        action="store_true",
        help="your word that the labelled cases are a random draw; without it the result warns",
    )


def run(options: argparse.Namespace) -> int:
    from medjury.analysis.calibration import estimate, read_target

    if options.plan_labels is not None and options.dangerous_at is None:
        raise MedjuryError("--plan-labels needs --dangerous-at: labels are given out by the jury's verdict")
    target = None if options.target is None else read_target(options.target)
    slices = cut_columns(options.slice, option="--slice")
    columns = [*slices, *([] if target is None else [target[0]])]
    found = estimate(
        table_from(options),
        **shared(options),
        dangerous_at=options.dangerous_at,
        target=target,
        slices=slices,
        strata=_of_cases(options.cases, columns) if columns and options.cases else None,
        labels_planned=options.plan_labels,
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


def _of_cases(path: str, columns: Sequence[str]) -> dict[str, dict[str, str]]:
    """Of each column that the cases' metadata have, the value of every item; no text is kept."""
    from medjury.intake.cases import read_cases

    found: dict[str, dict[str, str]] = {}
    for case in read_cases(path):
        for name in columns:
            if (value := case.metadata.get(name)) is not None:
                found.setdefault(name, {})[case.id] = str(value)
    return found
