"""`medjury verify`: is this run folder as the run left it?"""

from __future__ import annotations

import argparse

from medjury.cli._main import EXIT_FAILED


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", help="the run folder")


def run(options: argparse.Namespace) -> int:
    from medjury.runs import verify_run

    checks = verify_run(options.folder)
    for check in checks:
        print(f"{'ok     ' if check.sound else 'ALTERED'} {check.what}: {check.detail}")
    return 0 if all(check.sound for check in checks) else EXIT_FAILED
