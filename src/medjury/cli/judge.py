"""`medjury judge --passport FILE CASES --out OUT`: judge new cases by a validated jury."""

from __future__ import annotations

import argparse

_STATUSES = {"complete": 0, "failed": 1, "incomplete": 3, "void": 6}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = (
        "Writes OUT/judged.csv (a row for every case and dimension), OUT/summary.json and the run folder OUT/run. "
        "Exit status: 0 complete, 1 failed, 3 incomplete (run again to go on), 6 refused: the passport was "
        "edited or expired, or the jury or an answering model is not the one that was validated; 2 is wrong input."
    )
    parser.add_argument("cases", metavar="CASES", help="the cases to be judged")
    parser.add_argument(
        "--passport", metavar="FILE", required=True, help="written by `medjury passport make`"
    )
    parser.add_argument("--out", metavar="OUT", required=True, help="the folder for the results")
    parser.add_argument(
        "--outside", choices=("flag", "refuse"), default="flag",
        help="cases outside what was validated: judge and flag them (default), or refuse them",
    )  # fmt: skip
    parser.add_argument(
        "--override", metavar="FILE", help="YAML: how the judges are reached here (urls, keys, allow_hosts)"
    )
    parser.add_argument(
        "--signers", "--key", metavar="FILE", help="refuse a passport that none of these keys signed"
    )
    parser.add_argument(
        "--allow-unvalidated", action="store_true", help="use a jury that failed its gate, and mark results"
    )
    parser.add_argument(
        "--no-preflight", action="store_true", help="do not ask each model first whether it is available"
    )
    parser.add_argument("--quiet", action="store_true", help="no progress line")
    parser.add_argument("--json", action="store_true", help="print JSON instead of text")


def run(options: argparse.Namespace) -> int:
    from medjury.cli._display import display
    from medjury.in_use.passports import judge_with_passport

    with display(quiet=options.quiet or options.json) as shown:
        found = judge_with_passport(
            options.passport,
            options.cases,
            options.out,
            outside=options.outside,
            override=options.override,
            signers=options.signers,
            allow_unvalidated=options.allow_unvalidated,
            progress=shown,
            preflight=not options.no_preflight,
        )
    print(found.to_json() if options.json else found.text())
    return _STATUSES[found.status]
