"""`medjury verify`: is this run folder as the run left it?"""

from __future__ import annotations

import argparse

from medjury.cli._main import EXIT_FAILED


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", help="the run folder")


def run(options: argparse.Namespace) -> int:
    from medjury.studies import verify_run

    findings = verify_run(options.folder)
    for finding in findings:
        print(f"{'ok     ' if finding.sound else 'ALTERED'} {finding.what}: {finding.detail}")
    return 0 if all(finding.sound for finding in findings) else EXIT_FAILED
