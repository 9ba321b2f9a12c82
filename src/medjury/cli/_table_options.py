"""What every command that reads ratings shares: which ratings, who is compared with whom, how often to resample."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from medjury.cli._options import add_draws, add_json
from medjury.cli._screen import Paragraphs
from medjury.foundation.errors import MedjuryError

if TYPE_CHECKING:
    from medjury.tables import RatingTable


RATINGS_HELP = """
RATINGS is a run folder, a store (a SQLite file or postgresql://...), a CSV, Parquet, JSONL or Excel file with
the columns item, rater, dimension, score (and, where there are any, system, patient, repeat, status, reason,
rater_kind, instrument), or a mapping (.yaml) that describes other files. From a run folder come patients, scale,
vendors, rules, development cases and the jury's rule.
A run folder is compared with the reference that its study names, by the study's consensus; --reference clinicians
means every rater of that kind but the second panel and the adjudicator.
"""
# Earlier spellings of --raters and --dimensions, still understood.
_EARLIER = {"--raters": ("--compare", "--judge", "--judges", "--rater"), "--dimensions": ("--dimension",)}


def add_table_options(parser: argparse.ArgumentParser, *, name: str = "ratings", about: str = "") -> None:
    """The arguments of `f(table, raters, reference, dimensions, confidence, resamples, seed)`."""
    parser.formatter_class = Paragraphs
    parser.epilog = about + RATINGS_HELP
    add = parser.add_argument
    add(name, metavar=name.upper(), help="run folder, store, file or mapping")
    for option, metavar, words in (
        ("--reference", "R[,R2...]", "whose scores are the yardstick (default: the study's reference)"),
        ("--raters", "R[,R2...]", "who is compared with it (default: judges, juries and metrics)"),
        ("--dimensions", "D[,D2...]", "only these dimensions"),
    ):
        add(option, metavar=metavar, type=names, help=words)
        if option in _EARLIER:
            add(*_EARLIER[option], dest=option[2:], type=names, help=argparse.SUPPRESS)
    add("--scale", nargs=2, type=float, metavar=("LOW", "HIGH"), help="whole grades from lowest to highest")
    add(
        "--grades",
        metavar="G,G2...",
        type=numbers,
        help="every grade, where they are not consecutive whole numbers",
    )
    add("--instrument", metavar="NAME", help="a built-in instrument or your .yaml file: scales, composites")
    add("--mapping", metavar="FILE", help="how a file with other columns is read (.yaml)")
    add("--cases", metavar="CASES", help="the cases that were judged: their patients and vendors")
    add("--jury", choices=("mean", "median", "majority"), help="form the jury of the judges by this rule")
    add("--repeats", choices=("mean", "median"), help="how a rater's repeats become one score (mean)")
    add("--run", metavar="RUN[,RUN2...]", type=names, help="which run of a store")
    add("--confidence", type=float, default=0.95, help="of the intervals (0.95)")
    add_draws(parser)
    add_json(parser)


def table_from(options: argparse.Namespace, *, name: str = "ratings", **others: Any) -> RatingTable:
    """The rating table that the options describe; what the reader should know of it goes to standard error."""
    from medjury.tables import rating_table

    if options.scale and options.grades:
        raise MedjuryError("--scale and --grades say the same thing; give one of them")
    scale = options.scale or options.grades
    table = rating_table(
        getattr(options, name),
        # A scale is that of the dimensions that are named; others may have their own.
        scale=dict.fromkeys(options.dimensions, scale) if scale and options.dimensions else scale,
        instrument=options.instrument,
        cases=options.cases,
        jury=options.jury,
        repeats=options.repeats,
        run=options.run,
        mapping=options.mapping,
        **others,
    )
    show_notes(table.notes)
    return table


def shared(options: argparse.Namespace) -> dict[str, Any]:
    """The keyword arguments that every analysis takes."""
    taken = ("raters", "reference", "dimensions", "confidence", "resamples", "seed")
    return {name: getattr(options, name) for name in taken}


def show_notes(notes: Iterable[str]) -> None:
    """On standard error, each once, so that standard output stays what a program can read."""
    for each in dict.fromkeys(notes):
        print(each, file=sys.stderr)


def names(text: str) -> tuple[str, ...]:
    """`a,b` as ("a", "b")."""
    found = tuple(each.strip() for each in text.split(","))
    if "" in found:
        raise argparse.ArgumentTypeError(f"{text!r}: give names separated by commas, none of them empty")
    return found


def numbers(text: str) -> tuple[float, ...]:
    try:
        return tuple(float(number) for number in text.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a list of numbers such as 0,0.5,1") from None
