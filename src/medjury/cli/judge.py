"""`medjury judge --passport FILE CASES --out OUT`: judge new cases by a validated jury."""

from __future__ import annotations

import argparse

from medjury.cli._options import add_flags, add_json, add_signers, show

_STATUSES = {"complete": 0, "failed": 1, "incomplete": 3, "void": 6}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = (
        "Writes OUT/judged.csv (a row for every case and dimension), OUT/summary.json and the run folder OUT/run. "
        "Exit status: 0 complete, 1 failed, 3 incomplete (run again to go on), 6 refused: the passport was "
        "edited or expired, or the jury or an answering model is not the one that was validated; 2 is wrong input."
    )
    add = parser.add_argument
    add("cases", metavar="CASES", help="the cases to be judged")
    add("--passport", metavar="FILE", required=True, help="written by `medjury passport make`")
    add("--out", metavar="OUT", required=True, help="the folder for the results")
    add("--outside", choices=("flag", "refuse"), default="flag",
        help="cases outside what was validated: judge and flag them (default), or refuse them")  # fmt: skip
    add("--override", metavar="FILE", help="YAML: how the judges are reached here (urls, keys, allow_hosts)")
    add_signers(parser, "refuse a passport that none of these keys signed")
    add_flags(parser, "--allow-unvalidated", "--no-preflight", "--quiet")
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    from medjury.cli._display import display
    from medjury.in_use.passports import judge_with_passport

    with display(quiet=options.quiet or options.json) as shown:
        how = {
            name: getattr(options, name) for name in ("outside", "override", "signers", "allow_unvalidated")
        }
        found = judge_with_passport(
            options.passport,
            options.cases,
            options.out,
            progress=shown,
            preflight=not options.no_preflight,
            **how,
        )
    show(options, found)
    return _STATUSES[found.status]
