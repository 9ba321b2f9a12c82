"""`medjury calibrate`, `estimate` and `triage`: judges' scores on the clinicians' scale, mean quality from few
labels and many jury scores, and the order in which a clinician should read.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from medjury.cli._main import EXIT_INCOMPLETE
from medjury.cli._options import cut_columns, show
from medjury.cli._table_options import add_table_options, names, shared, show_notes, table_from
from medjury.foundation.errors import MedjuryError

_METHODS = ("isotonic", "offset", "linear", "ordinal")
_ABOUT = {
    "fit": "Fits one map per judge and dimension, and one for the jury, cross-fitted by case.\n",
    "apply": "Writes calibrated ratings. A case that taught the calibration gets a map fitted without it.\n"
    "--jury mean (or median) writes the jury of the calibrated jurors too, as `jury_of_calibrated`.\n",
    "report": "Cross-fits (or, with --calibration, applies a file) and compares before with after, never on\n"
    "cases that taught the map. JSON: an object of `changes`, `refused` and `warnings`.\n",
    "panel": "Judges and jury beside a second panel that scored the same answers, both against the reference: win\n"
    "rates as scored and calibrated (out of fold), and severe errors. JSON: an object of `wins` and `safety`.\n",
}  # fmt: skip


def add_arguments(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    fit = actions.add_parser("fit", help="fit every judge and the jury, and write a calibration file")
    apply = actions.add_parser("apply", help="calibrate ratings with a calibration file")
    report = actions.add_parser("report", help="offset, RMSE, rho and kappa before and after, and the change")
    panel = actions.add_parser(
        "panel", help="who is nearer to the reference than a second panel, before and after"
    )
    panel.add_argument("--panel", metavar="R[,R2...]", type=names, help="the second panel's members")
    for name, action in (("fit", fit), ("apply", apply), ("report", report), ("panel", panel)):
        add_table_options(action, about=_ABOUT[name])
    for action in (fit, report):
        action.add_argument("--method", choices=_METHODS, default="isotonic", help="(default: isotonic)")
        action.add_argument("--folds", type=int, default=5, help="folds of whole cases (default: 5)")
    fit.add_argument("--out", metavar="FILE", default="calibration.json", help="(default: calibration.json)")
    apply.add_argument("--calibration", metavar="FILE", required=True, help="a file written by `fit`")
    apply.add_argument("--out", metavar="FILE", required=True, help="a .csv, .parquet or .jsonl file")
    apply.add_argument("--with-originals", action="store_true", help="keep the original ratings beside them")
    report.add_argument("--calibration", metavar="FILE", help="compare by a file written by `fit`")
    report.add_argument(
        "--all", action="store_true", help="print every rater and statistic with its interval"
    )
    report.add_argument("--curves", action="store_true", help="add reliability and maps to --json")


def run(options: argparse.Namespace) -> int:
    from medjury.analysis import calibration

    table = table_from(options)
    if options.action == "panel":
        from medjury.validation import against_panel

        found = against_panel(table, second_panel=options.panel, **shared(options))
        if options.json:
            show_notes(found.warnings)
        show(options, found)
        return 0 if found.rows else EXIT_INCOMPLETE
    if options.action == "apply":
        saved = calibration.load_calibrations(options.calibration)
        applied = calibration.apply_calibrations(
            table,
            saved,
            raters=options.raters,
            dimensions=options.dimensions,
            with_jury=options.jury is not None,
        ).save(options.out, with_originals=options.with_originals)
        show(options, applied)
        return 0
    if options.action == "report" and options.calibration is not None:
        saved = calibration.load_calibrations(options.calibration)
        study = calibration.evaluate_calibrations(table, saved, **shared(options))
    else:
        study = calibration.calibrate(table, **shared(options), method=options.method, folds=options.folds)
    if options.action == "fit":
        show(options, calibration.save_calibrations(study, options.out))
    else:
        text = study.text if options.all else study.short_text
        print(study.to_json(curves=options.curves) if options.json else text())
    return EXIT_INCOMPLETE if study.refused else 0


def add_estimate_arguments(parser: argparse.ArgumentParser) -> None:
    add_table_options(parser)
    add = parser.add_argument
    add("--by-system", action="store_true", help="a mean for every system, beside the mean of all")
    add("--difference", metavar="A,B", type=_pair, action="append", default=[],
        help="mean of A − mean of B; may be repeated")  # fmt: skip
    add("--dangerous-at", type=float, metavar="SCORE",
        help="estimate the share of dangerous answers instead: those of this score or worse")  # fmt: skip
    add("--target", metavar="FILE",
        help="also for a stated population: a .csv with the columns COLUMN, share (the case mix)")  # fmt: skip
    add("--slice", action="append", metavar="COLUMN[=CUT,CUT]",
        help="also for each level of a column of the ratings or the cases (specialty, age=18,65); may be "
        "repeated. Intervals hold for all levels together")  # fmt: skip
    add("--plan-labels", type=int, metavar="N",
        help="with --dangerous-at: how to divide the next N labels by the jury's verdict")  # fmt: skip
    add("--labels-random", action="store_true",
        help="you assert that the labelled cases are a random draw; without it the result warns")  # fmt: skip


def run_estimate(options: argparse.Namespace) -> int:
    from medjury.analysis.calibration import estimate, read_target

    if options.plan_labels is not None and options.dangerous_at is None:
        raise MedjuryError("--plan-labels needs --dangerous-at: labels are divided by the jury's verdict")
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
    show(options, found)
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


def add_triage_arguments(parser: argparse.ArgumentParser) -> None:
    add_table_options(parser)
    add = parser.add_argument
    add("--threshold", type=float,
        help="a dangerous answer: the reference's score is this or less (default: the gate's rule)")  # fmt: skip
    add("--gap", type=float,
        help="only severe errors: the jury's score is in addition this much higher or more")  # fmt: skip
    add("--boundary", type=float, help="score at which a decision changes (default: above the threshold)")
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


def run_triage(options: argparse.Namespace) -> int:
    from medjury.analysis import calibration

    if options.out is not None:
        calibration.check_ending(options.out, [".csv"], "the order")
    if options.rule is not None:
        rule = calibration.load_triage(options.rule)
        applied = calibration.apply_triage(table_from(options), rule, dimensions=options.dimensions)
        if options.out is not None:
            calibration.write_frame(applied.frame(), options.out)
        print(applied.to_json() if options.json else applied.text(options.top))
        return 0
    given = {**shared(options), "high_is_dangerous": options.high_is_dangerous}
    if options.routine is not None:
        show(options, calibration.routine_disagreement(table_from(options), routine=options.routine, **given))
        return 0
    own = ("threshold", "gap", "boundary", "level", "catch", "decide_at", "decide", "error", "folds")
    found = calibration.triage(table_from(options), **given, **{name: getattr(options, name) for name in own})
    if options.out is not None:
        calibration.write_frame(found.frame(), options.out)
    if options.save_rule is not None:
        calibration.save_triage(calibration.stored_triage(found), options.save_rule)
    print(found.to_json() if options.json else found.text(options.top))
    return 0
