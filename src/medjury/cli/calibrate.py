"""`medjury calibrate fit | apply | report`: judges' scores on the clinicians' scale."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from medjury.cli._main import EXIT_INCOMPLETE
from medjury.cli._rated import (
    add_rating_options,
    interval,
    need_statistics,
    numbers,
    read_rated,
    show_json,
    show_notes,
    show_table,
    words,
)
from medjury.errors import MedjuryError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import polars

    from medjury.calibration import CalibrationStudy, Change, Refusal, SavedCalibration

_PLAIN = (
    "item", "patient", "system", "rater", "rater_kind", "instrument", "dimension", "repeat", "score", "status",
    "reason",
)  # fmt: skip
_METHODS = ("isotonic", "offset", "linear", "ordinal")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    fit = actions.add_parser(
        "fit",
        help="fit every judge and the jury, and write a calibration file",
        description="Fits one map per judge and dimension, and one for the jury, cross-fitted by case.",
    )
    add_rating_options(fit, reference=True)
    _add_fitting(fit)
    fit.add_argument(
        "--out", metavar="FILE", default="calibration.json", help="where to write (default: calibration.json)"
    )
    apply = actions.add_parser(
        "apply",
        help="calibrate ratings with a calibration file",
        description="Writes calibrated ratings. A case that taught the calibration gets a map fitted without it.",
    )
    add_rating_options(apply, reference=False)
    apply.add_argument("--calibration", metavar="FILE", required=True, help="a file written by `fit`")
    apply.add_argument(
        "--out", metavar="FILE", required=True, help="where to write: .csv, .parquet or .jsonl"
    )
    apply.add_argument(
        "--with-originals", action="store_true", help="write the original ratings too, in the same file"
    )
    report = actions.add_parser(
        "report",
        help="offset, RMSE, rho and kappa before and after, with intervals of the change",
        description="Cross-fits (or, with --calibration, applies a file) and compares before with after, never on "
        "cases that taught the map. JSON: an object of `changes`, `refused` and `warnings`.",
    )
    add_rating_options(report, reference=True)
    _add_fitting(report)
    report.add_argument(
        "--calibration", metavar="FILE", help="judge a file written by `fit` on these ratings"
    )
    report.add_argument("--resamples", type=int, default=2000, help="bootstrap resamples (default: 2000)")
    report.add_argument("--confidence", type=float, default=0.95, help="of the intervals (default: 0.95)")
    report.add_argument(
        "--curves", action="store_true", help="add reliability and calibration curves to --json"
    )


def run(options: argparse.Namespace) -> int:
    need_statistics()
    return {"fit": _fit, "apply": _apply, "report": _report}[options.action](options)


def _add_fitting(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--method", choices=_METHODS, default="isotonic", help="(default: isotonic)")
    parser.add_argument("--folds", type=int, default=5, help="folds of whole cases (default: 5)")


def _study(options: argparse.Namespace) -> CalibrationStudy:
    from medjury.calibration import calibrate

    frame, instrument, warnings = read_rated(options)
    study = calibrate(
        frame,
        reference=words(options.reference) or [],
        judges=words(options.judge),
        dimensions=words(options.dimension),
        scale=options.scale,
        instrument=instrument,
        method=options.method,
        folds=options.folds,
        seed=options.seed,
    )
    show_notes([*warnings, *study.warnings, *_refusals(study.refused)])
    return study


def _fit(options: argparse.Namespace) -> int:
    from medjury.calibration import save_calibrations

    study = _study(options)
    save_calibrations(study, options.out)
    rows = [
        {
            "judge": each.judge,
            "dimension": each.part.dimension,
            "instrument": each.part.instrument,
            "method": each.fitted.method,
            "n_labels": each.fitted.out_of_fold.n,
            "n_cases": each.fitted.out_of_fold.n_cases,
            "n_unscored": each.fitted.out_of_fold.n_unscored,
            "n_outside": each.fitted.n_outside,
        }
        for each in study.calibrations
    ]
    if options.json:
        show_json({"file": options.out, "calibrations": rows, **_told(study.refused, study.warnings)})
    else:
        show_table(rows)
        print(f"\nWrote {len(rows)} calibrations to {options.out}.")
        print(
            f"See what they change: medjury calibrate report {options.ratings} --reference "
            f"{options.reference}"
        )
    return EXIT_INCOMPLETE if study.refused else 0


def _apply(options: argparse.Namespace) -> int:
    from medjury.calibration import apply_calibrations
    from medjury.ratings import rating_frame, write_ratings

    saved = _chosen(options)
    frame, instrument, warnings = read_rated(options)
    applied = apply_calibrations(frame, saved, instrument=instrument)
    made = rating_frame(applied.ratings)
    count = (
        _write_beside(frame, made, options.out)
        if options.with_originals
        else write_ratings(made, options.out)
    )
    warnings += [f"not in the ratings: {judge}, {dimension}" for judge, dimension in applied.unused]
    show_notes([*warnings, *applied.warnings])
    rows = [
        {
            "judge": judge,
            "dimension": dimension,
            "n_out_of_fold": each.n_out_of_fold,
            "n_new": each.n_new,
            "n_unscored": each.n_unscored,
            "n_outside": each.n_outside,
        }
        for (judge, dimension), each in applied.counts.items()
    ]
    if options.json:
        show_json({"file": options.out, "ratings": count, "applied": rows, **_told((), applied.warnings)})
    else:
        show_table(rows)
        print(f"\nWrote {count} ratings to {options.out}; calibrated raters end in `:calibrated`.")
    return 0


def _chosen(options: argparse.Namespace) -> tuple[SavedCalibration, ...]:
    """The calibrations of the file that the options ask for."""
    from medjury.calibration import load_calibrations

    saved = load_calibrations(options.calibration)
    judges, dimensions = words(options.judge), words(options.dimension)
    found = tuple(
        each
        for each in saved
        if (judges is None or each.judge in judges) and (dimensions is None or each.dimension in dimensions)
    )
    if not found:
        known = ", ".join(f"{each.judge} on {each.dimension}" for each in saved)
        raise MedjuryError(f"{options.calibration} holds no such calibration; it has {known}")
    return found


def _write_beside(frame: polars.DataFrame, made: polars.DataFrame, out: str) -> int:
    """Original and calibrated ratings in one plain table."""
    import polars as pl

    from medjury.tables import clean_rows

    rows = clean_rows(frame)
    columns = [name for name in _PLAIN if name in rows.columns and rows[name].null_count() < rows.height]
    calibrated = made.select(name for name in columns if name in made.columns)
    if "patient" in columns:
        patients = rows.select("item", "patient").unique()
        calibrated = calibrated.join(patients, on="item", how="left", maintain_order="left")
    both = pl.concat([rows.select(columns), calibrated.select(columns)], how="vertical_relaxed")
    writers: dict[str, Callable[[str], object]] = {
        ".csv": both.write_csv,
        ".parquet": both.write_parquet,
        ".jsonl": both.write_ndjson,
    }
    ending = Path(out).suffix.lower()
    if ending not in writers:
        raise MedjuryError(f"{out}: ratings are written as {', '.join(writers)}; give one of these endings")
    try:
        writers[ending](out)
    except OSError as error:
        raise MedjuryError(f"{out} cannot be written: {error.strerror or error}") from error
    return both.height


def _report(options: argparse.Namespace) -> int:
    from medjury.calibration import before_after, change_table, evaluate_calibrations

    settings = {"resamples": options.resamples, "seed": options.seed, "confidence": options.confidence}
    if options.calibration is None:
        study = _study(options)
        table = change_table(study, **settings)
        pairs = {(each.judge, each.part.dimension): each.fitted.out_of_fold for each in study.calibrations}
        pairs |= {(each.judge, each.dimension): each.pairs for each in study.derived}
        refused, warnings = study.refused, study.warnings
        curves = _curves(study, options.seed) if options.curves else None
    else:
        frame, instrument, told = read_rated(options)
        found = evaluate_calibrations(
            frame,
            _chosen(options),
            reference=words(options.reference) or [],
            instrument=instrument,
        )
        pairs = {name: each for name, (_, each) in found.items()}
        table = {
            name: before_after(each, grades=grades, **settings) for name, (grades, each) in found.items()
        }
        refused, warnings, curves = (), tuple(told), None
        show_notes(warnings)
    rows: list[dict[str, Any]] = []
    for (judge, dimension), changes in table.items():
        of = pairs[judge, dimension]
        for name, change in changes.items():
            rows.append(
                {
                    "dimension": dimension,
                    "reference": options.reference,
                    "judge": judge,
                    "statistic": name,
                    **numbers(change.before, "before"),
                    **numbers(change.after, "after"),
                    **numbers(change.change, "change"),
                    "n": of.n,
                    "n_cases": of.n_cases,
                    "n_unscored": of.n_unscored,
                    "calibration": of.how,
                    "method": change.change.method,
                    "reason": change.before.reason or change.after.reason or None,
                }
            )
    if options.json:
        content: dict[str, Any] = {"changes": rows, **_told(refused, warnings)}
        show_json(content if curves is None else {**content, "curves": curves})
    else:
        _show_changes(table)
    return EXIT_INCOMPLETE if refused else 0


def _show_changes(table: Mapping[tuple[str, str], Mapping[str, Change]]) -> None:
    rows = []
    for (judge, dimension), changes in table.items():
        rows += [
            {
                "dimension": dimension,
                "judge": judge,
                "statistic": name,
                "before": interval(each.before),
                "after": interval(each.after),
                "change": interval(each.change),
                "n": each.before.n,
            }
            for name, each in changes.items()
        ]
    show_table(rows)
    print("\nOut of fold by case. Offset: judge − reference; change: after − before on the same resamples.")
    print("Calibration shrinks to the mean: RMSE may fall while the kappa of a single judge falls too.")


def _curves(study: CalibrationStudy, seed: int) -> list[dict[str, Any]]:
    from medjury.calibration import calibration_curve, reliability

    found = []
    for each in study.calibrations:
        pairs = each.fitted.out_of_fold
        sides = {"before": pairs.scores, "after": pairs.calibrated}
        curves = {
            side: [
                {"score": point.score, **numbers(point.label, "label"), "n": point.label.n}
                for point in reliability(values, pairs.labels, cases=pairs.cases, seed=seed).points
            ]
            for side, values in sides.items()
        }
        found.append(
            {
                "judge": each.judge,
                "dimension": each.part.dimension,
                "reliability": curves,
                "at": list(each.part.grades),
                "maps": calibration_curve(each.fitted, each.part.grades),
            }
        )
    return found


def _refusals(refused: Sequence[Refusal]) -> list[str]:
    return [f"not calibrated: {each.judge}, {each.dimension}: {each.reason}" for each in refused]


def _told(refused: Sequence[Refusal], warnings: Sequence[str]) -> dict[str, Any]:
    return {
        "refused": [
            {"judge": each.judge, "dimension": each.dimension, "reason": each.reason} for each in refused
        ],
        "warnings": list(warnings),
    }
