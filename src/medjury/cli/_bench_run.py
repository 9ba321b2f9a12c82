"""`medjury bench run` and `medjury bench leaderboard`: from a suite to a page that anybody can open."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from medjury.cli._main import EXIT_INCOMPLETE, say
from medjury.cli._options import add_draws, add_flags, add_json
from medjury.cli._screen import Paragraphs
from medjury.foundation.errors import MedjuryError

_ABOUT = """
SUITE is a suite file (.yaml), or the names of benchmarks. A benchmark without data runs on its three made-up rows,
and the page says so. A candidate or judge is an endpoint kind, or settings as in a study file:
--candidate embedded, --candidate "kind=openai,url=http://127.0.0.1:8000/v1,model=llama-3.3-70b,name=llama".
"""
# Settings that are words, whatever they look like.
_WORDS = ("kind", "name", "model", "url", "vendor", "api_key_env")


def add_run_arguments(parser: argparse.ArgumentParser) -> None:
    parser.formatter_class = Paragraphs
    parser.epilog = _ABOUT
    add = parser.add_argument
    add("suite", nargs="+", metavar="SUITE", help="a suite file, or names of benchmarks")
    for name, metavar, words in (
        ("--candidate", "MODEL", "a model under test"),
        ("--judge", "MODEL", "a judge of open answers"),
        ("--data", "NAME=PATH", "the data of a benchmark"),
        ("--allow-host", "HOST", "a host that may be called"),
    ):
        add(name, action="append", default=[], metavar=metavar, help=f"{words}; may be repeated")
    add("--items", type=int, metavar="N", help="ask at most this many of each benchmark, drawn by their ids")
    add("--marks", choices=("helm",), help="HELM's marks too, beside ours")
    add("--published", metavar="FILE", help="MedHELM's published scores (JSON), beside HELM's marks")
    add("--money", type=float, metavar="M", help="stop asking when this much is spent")
    add("--output", metavar="FOLDER", help="where everything is kept (default: suites/benchmarks)")
    add_flags(parser, "--dry-run", "--keep-going", "--retry-unscored", "--no-preflight", "--quiet")
    _add_board_arguments(parser)


def add_leaderboard_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("folder", metavar="FOLDER", help="the folder that `medjury bench run` wrote")
    add("--candidates", metavar="NAME[,NAME...]", help="only these")
    add("--benchmarks", metavar="NAME[,NAME...]", help="only these")
    add("--output", metavar="PAGES", help="where to write the pages (default: FOLDER/leaderboard)")
    add("--answerable", action="append", default=[], metavar="NAME=RUN",
        help="keep and show which gold answers can be reached, from the run of a study that asked")  # fmt: skip
    _add_board_arguments(parser)


def _add_board_arguments(parser: argparse.ArgumentParser) -> None:
    shown = parser.add_mutually_exclusive_group()
    shown.add_argument(
        "--texts", action="store_true", default=None,
        help="show the texts and ids of gated and private data too: such pages are not for publishing",
    )  # fmt: skip
    shown.add_argument(
        "--hide-texts", action="store_false", dest="texts", default=None,
        help="show the texts and ids of no data, public or not",
    )  # fmt: skip
    add = parser.add_argument
    add("--leave-out-decided", action="store_true", help="leave out items on which a trivial answer is right")
    add_draws(parser, resamples=2000, seed=0, usual=("2,000", "0"))
    add_json(parser)
    add("--csv", action="store_true", help="print the standings as CSV")


def run_suite_command(options: argparse.Namespace) -> int:
    from medjury.suites import plan_suite, run_suite

    if options.resamples < 200:
        raise MedjuryError(f"--resamples must be 200 or more, not {options.resamples}")
    plan = plan_suite(*_suite(options), preflight=not options.no_preflight)
    if options.dry_run:
        print(plan.text())
        return 0
    from medjury.cli._display import display

    say(plan.text(), sys.stderr)
    with display(quiet=options.quiet) as shown:

        def tell(text: str) -> None:
            if shown is not None:
                shown.close()
            say(text, sys.stderr)

        results, missing = run_suite(
            plan,
            watch=shown,
            tell=tell,
            keep_going=options.keep_going,
            retry_unscored=options.retry_unscored,
            preflight=not options.no_preflight,
            resamples=options.resamples,
        )
    _show(results, plan.suite.output / "leaderboard", options)
    if not missing:
        return 0
    for why in missing:
        say(f"medjury: INCOMPLETE: {why}", sys.stderr)
    say("medjury: run again to go on: nothing answered is lost", sys.stderr)
    return EXIT_INCOMPLETE


def leaderboard_command(options: argparse.Namespace) -> int:
    from medjury.suites import read_results

    answerable = [_pair(each, "--answerable") for each in options.answerable]
    candidates, benchmarks = _words(options.candidates), _words(options.benchmarks)
    results = read_results(options.folder, candidates, benchmarks, answerable=answerable)
    _show(results, Path(options.output or Path(options.folder) / "leaderboard"), options)
    return 0


def _show(results: Any, folder: Path, options: argparse.Namespace) -> None:
    from medjury.suites import make_leaderboard

    page, shown = make_leaderboard(
        results, folder, texts=options.texts, form="json" if options.json else "csv" if options.csv else "text",
        leave_out_decided=options.leave_out_decided, resamples=options.resamples, seed=options.seed,
    )  # fmt: skip
    say(shown)
    say(f"Leaderboard: {page}", sys.stderr if options.json or options.csv else sys.stdout)


def _suite(options: argparse.Namespace) -> tuple[Path, dict[str, Any] | None]:
    """The suite file, and what is to be written into it where the suite is stated by options."""
    first = options.suite[0]
    if len(options.suite) == 1 and first.endswith((".yaml", ".yml")) and not options.candidate:
        given = [
            name
            for name in ("judge", "data", "items", "marks", "published", "money", "allow_host", "output")
            if getattr(options, name)
        ]
        if given:
            raise MedjuryError(f"--{given[0].replace('_', '-')} belongs in the suite file {first}")
        return Path(first), None
    if not options.candidate:
        raise MedjuryError("name a model under test, such as --candidate embedded, or give a suite file")
    data = dict(_pair(each, "--data") for each in options.data)
    unknown = [name for name in data if name not in options.suite]
    if unknown:
        raise MedjuryError(f"--data names {unknown[0]!r}, which is not among the benchmarks")
    settings: dict[str, Any] = {
        "suite": "benchmarks",
        "benchmarks": [_benchmark(name, data.get(name), options.items) for name in options.suite],
        "candidates": [_model(each) for each in options.candidate],
        "allow_hosts": options.allow_host,
    }
    if options.judge:
        settings["jury"] = [_model(each) for each in options.judge]
    if options.marks is not None:
        settings["marks"] = options.marks
    if options.published is not None:
        settings["published"] = str(Path(options.published).resolve())
    if options.money is not None:
        settings["budget"] = {"money": options.money}
    return Path(options.output or "suites/benchmarks").resolve() / "suite.yaml", settings


def _benchmark(name: str, data: str | None, items: int | None) -> dict[str, Any]:
    where = str(Path(name).resolve()) if name.endswith((".yaml", ".yml")) else name
    stated = {"name": where, "data": None if data is None else str(Path(data).resolve()), "items": items}
    return {key: value for key, value in stated.items() if value is not None}


def _model(text: str) -> dict[str, Any]:
    """`embedded`, or `kind=openai,url=...,model=...`."""
    if "=" not in text:
        return {"kind": text}
    found: dict[str, Any] = {}
    for part in text.split(","):
        name, value = _pair(part, "a model")
        try:
            found[name] = value if name in _WORDS else json.loads(value)
        except ValueError:
            found[name] = value
    return found


def _pair(text: str, what: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name.strip() or not value:
        raise MedjuryError(f"{what}: {text!r} is not NAME=VALUE")
    return name.strip(), value


def _words(text: str | None) -> list[str] | None:
    return None if text is None else [each.strip() for each in text.split(",") if each.strip()]
