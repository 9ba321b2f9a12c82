"""`medjury bench list | tasks | check | fetch | new | judges`: benchmarks, their data, and your own, its columns
guessed and shown.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from pathlib import Path

from medjury.cli import _bench_judges, _bench_run
from medjury.cli._options import add_json
from medjury.foundation.errors import MedjuryError
from medjury.statistics import counted
from medjury.suites import (
    Loaded,
    check_data,
    fetch_files,
    guess_columns,
    library,
    listing_text,
    load_benchmark,
    read_taxonomy,
    sample_file,
)


def _add_new_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("name", metavar="NAME", help="lower-case letters, digits and _")
    add("--data", required=True, metavar="TABLE", help="a .csv, .xlsx, .jsonl or .parquet file")
    add("--to", default=".", metavar="FOLDER", help="where NAME.yaml is written (default: here)")
    add("--id", metavar="COLUMN", help="what names an item; @row for the number of the row")
    add("--input", action="append", default=[], metavar="COLUMN", help="what is shown; repeatable")
    add("--gold", metavar="COLUMN", help="the right answer")
    add("--choices", nargs="+", default=[], metavar="COLUMN", help="the answers to choose from")
    add("--patient", metavar="COLUMN", help="which items are of one patient")
    add("--prompt", metavar="TEXT", help="the question, with {name} for every input")
    add("--metric", action="append", default=[], metavar="NAME", help="how answers are marked")
    add("--instrument", default="", metavar="NAME", help="what the jury grades by")
    add("--scale", metavar="LOW-HIGH", help="a scale of your own for the jury, such as 0-10")
    add("--lower-is-better", action="store_true", help="the low end of --scale is the good one")
    add("--category", metavar="NAME", help="its place in `medjury bench tasks`")
    add("--subcategory", metavar="NAME")


def _new(options: argparse.Namespace) -> int:
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
    benchmark = guess.write(
        options.name,
        Path(options.to),
        instrument=options.instrument,
        scale=_scale(options.scale, options.lower_is_better),
        higher_is_better=not options.lower_is_better,
        settings=settings,
    )
    found = check_data(benchmark, options.data)
    print(
        f"{Path(options.to) / options.name}.yaml: {counted(len(found.items), 'item')}, "
        f"marked by {', '.join(benchmark.metrics)}"
    )
    print("".join(f"  {problem}\n" for problem in found.problems), end="")
    return 1 if found.problems else 0


def _scale(text: str | None, lower_is_better: bool) -> tuple[int, int] | None:
    if text is None:
        if lower_is_better:
            raise MedjuryError("--lower-is-better belongs to a --scale, such as --scale 0-10")
        return None
    found = re.fullmatch(r"(-?\d+)\s*(?:-|to|\.\.)\s*(-?\d+)", text.strip())
    if found is None:
        raise MedjuryError(f"--scale {text!r}: write the lowest and the highest grade, such as 0-10")
    return int(found[1]), int(found[2])


def add_arguments(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    listing = actions.add_parser("list", help="the benchmarks of MedHELM: access, metric, open or closed")
    listing.add_argument("--extras", action="store_true", help="those of other collections too")
    tasks = actions.add_parser("tasks", help="the taxonomy of clinical tasks, or what benchmarks cover of it")
    tasks.add_argument("--covered", nargs="*", metavar="NAME", help="what these benchmarks (or all) cover")
    check = actions.add_parser("check", help="read a benchmark's data and name every row that cannot be used")
    add, words = check.add_argument, "a benchmark, or the path of your own .yaml file"
    add("name", nargs="?", metavar="NAME", help=words)
    add("--data", metavar="PATH", help="its file or folder; without it the made-up sample is read")
    add("--all", action="store_true", help="every built-in benchmark on its sample")
    add_json(listing, tasks, check)
    fetch = actions.add_parser(
        "fetch", help="download a public benchmark's files; shows licence and checksum"
    )
    add = fetch.add_argument
    add("name", metavar="NAME", help=words)
    add("--to", metavar="FOLDER", help="where to put them (default: benchmark-data/NAME)")
    add("--yes", action="store_true", help="do not ask")
    add("--most-mb", type=int, default=500, metavar="N", help="refuse larger files (default: 500)")
    for name, about, add_own in (
        ("judges", "real judges on public data, beside clinicians", _bench_judges.add_judges_arguments),
        ("new", "your own benchmark from a table, in one command", _add_new_arguments),
        ("run", "ask candidates, mark and judge their answers, write the leaderboard",
         _bench_run.add_run_arguments),
        ("leaderboard", "write the leaderboard of a run again, whole or of some",
         _bench_run.add_leaderboard_arguments),
    ):  # fmt: skip
        add_own(actions.add_parser(name, help=about))


def run(options: argparse.Namespace) -> int:
    actions = {
        "run": _bench_run.run_suite_command,
        "leaderboard": _bench_run.leaderboard_command,
        "list": _list,
        "tasks": _tasks,
        "check": _check,
        "fetch": _fetch,
        "new": _new,
        "judges": _bench_judges.judges_command,
    }
    return actions[options.action](options)


def _list(options: argparse.Namespace) -> int:
    benchmarks = library(extras=options.extras)
    if options.json:
        print(json.dumps([each.listed() for each in benchmarks], indent=2, ensure_ascii=False))
        return 0
    print(listing_text(benchmarks))
    if not options.extras:
        others = [each.name for each in library(extras=True) if each not in benchmarks]
        print(f"{len(benchmarks)} benchmarks; of other collections: {', '.join(others)} (--extras)")
    return 0


def _tasks(options: argparse.Namespace) -> int:
    if options.covered is not None:
        covered = read_taxonomy().coverage([load_benchmark(name) for name in options.covered] or library())
        text, content = covered.text(), covered.to_json()
    else:
        text, content = read_taxonomy().text(), read_taxonomy().to_json()
    print(json.dumps(content, indent=2, ensure_ascii=False) if options.json else text)
    return 0


def _check(options: argparse.Namespace) -> int:
    if options.all == bool(options.name) or (options.all and options.data):
        raise MedjuryError("name one benchmark (and its --data), or check every sample with --all")
    benchmarks = library(extras=True) if options.all else (load_benchmark(options.name),)
    found = [(each.name, check_data(each, options.data or sample_file(each))) for each in benchmarks]
    if options.json:
        objects = [
            {"name": name, "items": len(check.items), "problems": list(check.problems),
             "read": [each.name for each in check.read], "not_read": list(check.unread)}
            for name, check in found
        ]  # fmt: skip
        print(json.dumps(objects if options.all else objects[0], indent=2, ensure_ascii=False))
    else:
        print("\n".join(_checked(name, check) for name, check in found))
    return 1 if any(check.problems for _, check in found) else 0


def _checked(name: str, check: Loaded) -> str:
    lines = [f"{name}: {counted(len(check.items), 'item')}, {counted(len(check.problems), 'problem')}"]
    lines += [f"  left out: {reason} ({count:,})" for reason, count in check.left_out.items()]
    if check.unread:
        lines += [
            f"  read: {', '.join(each.name for each in check.read)}",
            f"  not read: {', '.join(check.unread)}",
        ]
    return "\n".join([*lines, *(f"  {problem}" for problem in check.problems)])


def _fetch(options: argparse.Namespace) -> int:
    benchmark = load_benchmark(options.name)
    folder = Path(options.to or Path("benchmark-data") / benchmark.name)

    def agree() -> bool:
        if options.yes:
            return True
        if not sys.stdin.isatty():
            raise MedjuryError(
                "nothing was downloaded: there is no terminal to ask at; agree to the licence with --yes"
            )
        said = input("Do you accept the licence, and do you want to download these files? [y/N] ")
        return said.strip().lower() == "y"

    if not fetch_files(benchmark, folder, agree=agree, most_bytes=options.most_mb * 1_000_000):
        print("nothing was downloaded")
        return 0
    check = check_data(benchmark, folder)
    print(f"{_checked(benchmark.name, check)}\nUse it with --data {folder}")
    return 1 if check.problems else 0
