"""`medjury runs verify`: is this run folder as the run left it, and who says so?"""

from __future__ import annotations

import argparse
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from medjury.cli._main import EXIT_FAILED, say
from medjury.cli._options import add_json, for_reader, print_json

if TYPE_CHECKING:
    from medjury.store.runs import Check


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("folder", metavar="RUN", help="the run folder")
    add_json(parser)
    add("--study", metavar="FILE", help="the study file, where the run does not say where it is")
    add("--sign", metavar="KEY", help="sign the manifest with this SSH key, if nothing was changed")
    add("--signers", metavar="FILE", help="refuse a run that none of these keys signed (SSH allowed signers)")
    ask = "the line that `medjury register` printed: is the run's protocol that one, and was it the first?"
    add("--anchor", metavar="LINE", default="", help=ask)


def run(options: argparse.Namespace) -> int:
    from medjury.store.runs import RunFolder
    from medjury.studies import check_scores

    folder = Path(options.folder)
    checks = (
        *RunFolder(folder).verify(),
        *RunFolder(folder).check_ledger(options.anchor),
        *check_scores(folder, study=options.study),
    )
    whole = all(check.sound for check in checks)
    stream = for_reader(options)
    for check in checks:
        _tell(check, stream)
    if options.sign and not whole:
        say("The run folder is not as the run left it, so it was not signed.", stream)
    elif options.sign:
        RunFolder(folder).sign(options.sign)
    signature = RunFolder(folder).check_signature(options.signers)
    if signature is not None:
        _tell(signature, stream)
    if options.json:
        every = [*checks, *([signature] if signature is not None else [])]
        print_json([asdict(check) for check in every])
    return 0 if whole and (signature is None or signature.sound) else EXIT_FAILED


def _tell(check: Check, stream: TextIO) -> None:
    word = "ok     " if check.sound else "ALTERED" if check.known else "UNKNOWN"
    say(f"{word} {check.what}: {check.detail}", stream)
