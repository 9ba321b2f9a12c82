"""`medjury bench new NAME --data TABLE`: your own benchmark, its columns guessed and shown."""

from __future__ import annotations

import argparse
import re
from pathlib import Path

from medjury.foundation.errors import MedjuryError
from medjury.statistics import counted
from medjury.suites import check_data, guess_columns, new_benchmark


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", help="lower-case letters, digits and _")
    parser.add_argument(
        "--data", required=True, metavar="TABLE", help="a .csv, .xlsx, .jsonl or .parquet file"
    )
    parser.add_argument(
        "--to", default=".", metavar="FOLDER", help="where NAME.yaml is written (default: here)"
    )
    parser.add_argument("--id", metavar="COLUMN", help="what names an item; @row for the number of the row")
    parser.add_argument(
        "--input", action="append", default=[], metavar="COLUMN", help="what is shown; repeatable"
    )
    parser.add_argument("--gold", metavar="COLUMN", help="the right answer")
    parser.add_argument(
        "--choices", nargs="+", default=[], metavar="COLUMN", help="the answers to choose from"
    )
    parser.add_argument("--patient", metavar="COLUMN", help="which items are of one patient")
    parser.add_argument("--prompt", metavar="TEXT", help="the question, with {name} for every input")
    parser.add_argument(
        "--metric", action="append", default=[], metavar="NAME", help="how answers are marked"
    )
    parser.add_argument("--instrument", default="", metavar="NAME", help="what the jury grades by")
    parser.add_argument("--scale", metavar="LOW-HIGH", help="a scale of your own for the jury, such as 0-10")
    parser.add_argument(
        "--lower-is-better", action="store_true", help="the low end of --scale is the good one"
    )
    parser.add_argument("--category", metavar="NAME", help="its place in `medjury bench tasks`")
    parser.add_argument("--subcategory", metavar="NAME")


def run(options: argparse.Namespace) -> int:
    if not re.fullmatch(r"[a-z][a-z0-9_]*", options.name):
        raise MedjuryError(
            f"{options.name!r}: a name is lower-case letters, digits and _, beginning with a letter"
        )
    stated = {
        "id": options.id, "gold": options.gold, "patient": options.patient, "inputs": options.input,
        "choices": options.choices,
    }  # fmt: skip
    guess = guess_columns(options.data, {name: value for name, value in stated.items() if value})
    print(f"Columns of {options.data}, as far as they can be guessed:\n{guess.text()}")
    settings = {
        "prompt": options.prompt, "metrics": options.metric, "category": options.category,
        "subcategory": options.subcategory,
    }  # fmt: skip
    benchmark = new_benchmark(
        options.name,
        Path(options.data),
        guess,
        Path(options.to),
        instrument=options.instrument,
        scale=_scale(options.scale, options.lower_is_better),
        higher_is_better=not options.lower_is_better,
        settings=settings,
    )
    items, problems, _ = check_data(benchmark, options.data)
    print(
        f"{Path(options.to) / options.name}.yaml: {counted(items, 'item')}, "
        f"marked by {', '.join(benchmark.metrics)}"
    )
    print("".join(f"  {problem}\n" for problem in problems), end="")
    return 1 if problems else 0


def _scale(text: str | None, lower_is_better: bool) -> tuple[int, int] | None:
    if text is None:
        if lower_is_better:
            raise MedjuryError("--lower-is-better belongs to a --scale, such as --scale 0-10")
        return None
    found = re.fullmatch(r"(-?\d+)\s*(?:-|to|\.\.)\s*(-?\d+)", text.strip())
    if found is None:
        raise MedjuryError(f"--scale {text!r}: write the lowest and the highest grade, such as 0-10")
    return int(found[1]), int(found[2])
