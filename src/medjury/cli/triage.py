"""`medjury triage`: which cases a clinician should see first, and what that order is worth."""

from __future__ import annotations

import argparse

from medjury.cli._options.tables import add_table_options, shared, table_from


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_table_options(parser)
    add = parser.add_argument
    add("--threshold", type=float,
        help="a dangerous answer: the reference's score is this or less (default: the gate's rule)")  # fmt: skip
    add("--gap", type=float,
        help="only severe errors: the jury's score is in addition this much higher or more")  # fmt: skip
    add("--boundary", type=float, help="score at which a decision turns (default: above the threshold)")
    add("--high-is-dangerous", action="store_true", default=None, help="high scores are the dangerous ones")
    add("--catch", type=float, default=0.8, help="share of dangerous answers to catch (0.8)")
    add("--level", type=float, default=0.9, help="coverage of conformal sets (0.9)")
    add("--decide-at", type=float, metavar="SCORE",
        help="decide at this score without a clinician: how many bad answers would pass?")  # fmt: skip
    add("--error", type=float, default=0.05, help="error level of such decisions (0.05)")
    add("--decide", choices=("both", "pass", "fail"), default="both", help="decide both ways, or one (both)")
    add("--routine", metavar="DIMENSION",
        help="where the panel wrote 1 (disagrees with the routine diagnosis) or 0")  # fmt: skip
    add("--folds", type=int, default=5, help="folds of whole cases (5)")
    add("--top", type=int, default=20, help="how many cases to print (20; JSON: all)")
    add("--out", metavar="FILE", help="write the whole order as .csv")
    add("--save-rule", metavar="FILE", help="keep what the labels taught, for cases that nobody labels")
    add(
        "--rule",
        metavar="FILE",
        help="order cases without labels by such a file, and estimate how good they are",
    )


def run(options: argparse.Namespace) -> int:
    from medjury.analysis.calibration import (
        apply_triage,
        check_ending,
        load_triage,
        routine_disagreement,
        save_triage,
        stored_triage,
        triage,
        write_frame,
    )

    if options.out is not None:
        check_ending(options.out, [".csv"], "the order")
    if options.rule is not None:
        applied = apply_triage(table_from(options), load_triage(options.rule), dimensions=options.dimensions)
        if options.out is not None:
            write_frame(applied.frame(), options.out)
        print(applied.to_json() if options.json else applied.text(options.top))
        return 0
    given = {**shared(options), "high_is_dangerous": options.high_is_dangerous}
    if options.routine is not None:
        curve = routine_disagreement(table_from(options), routine=options.routine, **given)
        print(curve.to_json() if options.json else curve.text())
        return 0
    found = triage(
        table_from(options),
        **given,
        threshold=options.threshold,
        gap=options.gap,
        boundary=options.boundary,
        level=options.level,
        catch=options.catch,
        decide_at=options.decide_at,
        decide=options.decide,
        error=options.error,
        folds=options.folds,
    )
    if options.out is not None:
        write_frame(found.frame(), options.out)
    if options.save_rule is not None:
        save_triage(stored_triage(found), options.save_rule)
    print(found.to_json() if options.json else found.text(options.top))
    return 0
