"""`medjury verify`: is this run folder as the run left it, and who says so?"""

from __future__ import annotations

import argparse
from pathlib import Path

from medjury.cli._main import EXIT_FAILED, say


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", metavar="RUN", help="the run folder")
    parser.add_argument(
        "--sign", metavar="KEY", help="sign the manifest with this SSH key, if all is as written"
    )
    parser.add_argument(
        "--signers", metavar="FILE", help="refuse a run that none of these keys signed (SSH allowed signers)"
    )


def run(options: argparse.Namespace) -> int:
    from medjury.runs import check_signature, sign_run, verify_run

    folder = Path(options.folder)
    checks = verify_run(folder)
    whole = all(check.sound for check in checks)
    if options.sign and whole:
        sign_run(folder, options.sign)
    if (signature := check_signature(folder, options.signers)) is not None:
        checks = (*checks, signature)
    for check in checks:
        say(f"{'ok     ' if check.sound else 'ALTERED'} {check.what}: {check.detail}")
    if options.sign and not whole:
        say("The run folder is not as the run left it, so that it was not signed.")
    return 0 if all(check.sound for check in checks) else EXIT_FAILED
