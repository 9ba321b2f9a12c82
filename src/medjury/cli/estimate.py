"""`medjury estimate`: mean quality from few clinicians' labels and many jury scores, with a valid
interval."""

from __future__ import annotations

import argparse

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

_NAMES = {
    "power_tuned": "prediction_powered",
    "fixed": "prediction_powered_fixed",
    "classical": "classical",
    "naive": "naive",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_rating_options(parser, reference=True)
    parser.add_argument(
        "--by-system", action="store_true", help="a mean for every system, beside the mean of all"
    )
    parser.add_argument(
        "--difference",
        metavar="A,B",
        action="append",
        default=[],
        help="mean of A − mean of B; may be repeated",
    )
    parser.add_argument(
        "--labels-random",
        action="store_true",
        help="your word that the labelled cases are a random draw; without it the result warns",
    )
    parser.add_argument("--confidence", type=float, default=0.95, help="of the intervals (default: 0.95)")


def run(options: argparse.Namespace) -> int:
    need_statistics()
    from medjury.calibration import estimate_quality

    frame, instrument, warnings = read_rated(options)
    found = estimate_quality(
        frame,
        reference=words(options.reference) or [],
        judges=words(options.judge),
        dimensions=words(options.dimension),
        scale=options.scale,
        instrument=instrument,
        by_system=options.by_system,
        differences=[_pair(each) for each in options.difference],
        labels_random=options.labels_random,
        confidence=options.confidence,
    )
    rows = []
    for each in found.estimates:
        made = each.found
        for field, name in _NAMES.items():
            estimate = getattr(made, field)
            rows.append(
                {
                    "dimension": each.dimension,
                    "quantity": each.quantity,
                    "system": each.system,
                    "estimator": name,
                    **numbers(estimate, "value"),
                    "n_labelled": made.n_labelled,
                    "n_unlabelled": made.n_unlabelled,
                    "n_labelled_cases": made.n_labelled_cases,
                    "n_unscored": made.n_unscored,
                    "jury_weight": list(made.weights) if field == "power_tuned" else None,
                    "effective_labels": made.effective_labels if field == "power_tuned" else None,
                    "method": estimate.method,
                    "warnings": list(made.warnings),
                }
            )
    told = [*warnings, *found.warnings, *(each for one in found.estimates for each in one.found.warnings)]
    told += [f"not estimated: {dimension}, {system}: {why}" for dimension, system, why in found.refused]
    show_notes(told)
    if options.json:
        refused = [{"dimension": d, "system": s, "reason": why} for d, s, why in found.refused]
        show_json({"estimates": rows, "judges": list(found.judges), "refused": refused, "warnings": told})
    else:
        show_table(
            [
                {
                    "dimension": each.dimension,
                    "quantity": each.quantity,
                    "system": each.system,
                    "estimator": name,
                    "value": interval(getattr(each.found, field)),
                    "labels": each.found.n_labelled,
                    "unlabelled": each.found.n_unlabelled,
                }
                for each in found.estimates
                for field, name in _NAMES.items()
            ]
        )
        print("\nReport `prediction_powered`. `naive` trusts the jury blindly and inherits its bias.")
    return EXIT_INCOMPLETE if found.refused else 0


def _pair(text: str) -> tuple[str, str]:
    names = words(text) or []
    if len(names) != 2:
        raise MedjuryError(f"--difference {text}: name two systems, such as --difference a,b")
    return names[0], names[1]
