"""`medjury calibrate fit | apply | report`: judges' scores on the clinicians' scale."""

from __future__ import annotations

import argparse

from medjury.cli._main import EXIT_INCOMPLETE
from medjury.cli._options.tables import add_table_options, names, shared, show_notes, table_from

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
    report.add_argument("--curves", action="store_true", help="add reliability and maps to --json")


def run(options: argparse.Namespace) -> int:
    from medjury.analysis import calibration

    table = table_from(options)
    if options.action == "panel":
        from medjury.validation import against_panel

        found = against_panel(table, second_panel=options.panel, **shared(options))
        if options.json:
            show_notes(found.warnings)
        print(found.to_json() if options.json else found.text())
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
        print(applied.to_json() if options.json else applied.text())
        return 0
    if options.action == "report" and options.calibration is not None:
        saved = calibration.load_calibrations(options.calibration)
        study = calibration.evaluate_calibrations(table, saved, **shared(options))
    else:
        study = calibration.calibrate(table, **shared(options), method=options.method, folds=options.folds)
    if options.action == "fit":
        file = calibration.save_calibrations(study, options.out)
        print(file.to_json() if options.json else file.text())
    else:
        print(study.to_json(curves=options.curves) if options.json else study.text())
    return EXIT_INCOMPLETE if study.refused else 0
