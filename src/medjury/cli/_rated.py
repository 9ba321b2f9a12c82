"""What the commands that read ratings share: which file, whose scores, which scale, and how to answer."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from medjury.errors import MedjuryError

if TYPE_CHECKING:
    import polars

    from medjury.instruments import Instrument
    from medjury.statistics import Estimate


def add_rating_options(parser: argparse.ArgumentParser, *, reference: bool) -> None:
    parser.add_argument(
        "ratings",
        metavar="RATINGS",
        help="table of ratings (columns item, rater, dimension, score), a mapping .yaml, or a run folder",
    )
    parser.add_argument(
        "--reference",
        metavar="R[,R2…]",
        required=reference,
        help="the clinicians' rater; several are averaged",
    )
    parser.add_argument(
        "--judge",
        metavar="J[,J2…]",
        help="the judges (default: every rater that is neither a reference nor a clinician)",
    )
    parser.add_argument("--dimension", metavar="D[,D2…]", help="only these dimensions")
    parser.add_argument(
        "--scale", nargs=2, type=float, metavar=("LOW", "HIGH"), help="lowest and highest grade of the scale"
    )
    parser.add_argument(
        "--instrument", metavar="NAME", help="a built-in instrument or your .yaml file: scales, composites"
    )
    parser.add_argument(
        "--cases",
        metavar="CASES",
        help="the cases that were judged: a patient's cases are then kept together",
    )
    parser.add_argument("--seed", type=int, default=0, help="seed of folds and resamples (default: 0)")
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")


def need_statistics() -> None:
    """Say what to install where the statistics are not there, before anything else happens."""
    try:
        import medjury.calibration  # noqa: F401
    except ModuleNotFoundError as error:
        raise MedjuryError(f"this command needs {error.name}: pip install 'medjury[stats]'") from None


def read_rated(options: argparse.Namespace) -> tuple[polars.DataFrame, Instrument | None, list[str]]:
    """The ratings as a table (with patients where they are known), the instrument, and what to tell the
    reader."""
    from medjury.instruments import load_instrument
    from medjury.tables import read_rating_table

    frame, notes = read_rating_table(options.ratings)
    if options.cases is not None:
        frame = _with_patients(frame, options.cases)
    instrument = None if options.instrument is None else load_instrument(options.instrument)
    return frame, instrument, list(notes)


def words(text: str | None) -> list[str] | None:
    """`a,b` as ["a", "b"]; None stays None."""
    if text is None:
        return None
    found = [each.strip() for each in text.split(",")]
    if "" in found:
        raise MedjuryError(f"{text!r}: an empty name between commas")
    return found


def show_json(content: Any) -> None:
    print(json.dumps(content, ensure_ascii=False, indent=1, allow_nan=False))


def show_table(rows: Sequence[Mapping[str, object]]) -> None:
    """Rows as aligned columns; numbers to the right."""
    if not rows:
        return
    names = list(rows[0])
    cells = [[_cell(row[name]) for name in names] for row in rows]
    widths = [max(len(name), *(len(row[k]) for row in cells)) for k, name in enumerate(names)]
    numeric = [all(isinstance(row[name], int | float | None) for row in rows) for name in names]
    for line in ([*names], *cells):
        parts = [
            text.rjust(width) if right else text.ljust(width)
            for text, width, right in zip(line, widths, numeric, strict=True)
        ]
        print("  ".join(parts).rstrip())


def show_notes(notes: Sequence[str]) -> None:
    """On standard error, each once, so that standard output stays what a program can read."""
    for each in dict.fromkeys(notes):
        print(each, file=sys.stderr)


def interval(estimate: Estimate) -> str:
    """`0.42 [0.31, 0.52]`, or the reason why there is nothing."""
    if estimate.value is None:
        return f"undefined: {estimate.reason}"
    if estimate.low is None or estimate.high is None:
        return f"{estimate.value:.3f}"
    return f"{estimate.value:.3f} [{estimate.low:.3f}, {estimate.high:.3f}]"


def numbers(estimate: Estimate, prefix: str) -> dict[str, float | None]:
    """`prefix`, `prefix_low`, `prefix_high` for JSON; null where there is nothing."""
    return {prefix: estimate.value, f"{prefix}_low": estimate.low, f"{prefix}_high": estimate.high}


def _cell(value: object) -> str:
    if value is None:
        return ""
    return f"{value:.3f}" if isinstance(value, float) else str(value)


def _with_patients(frame: polars.DataFrame, path: str) -> polars.DataFrame:
    import polars as pl

    from medjury.cases import read_cases

    patients = {case.id: case.patient for case in read_cases(path) if case.patient is not None}
    known = pl.col("item").replace_strict(patients, default=None, return_dtype=pl.String)
    return frame.with_columns(known.alias("patient")) if patients else frame
