"""`medjury mcp CARD`: the jury of a card for programs that speak the Model Context Protocol."""

from __future__ import annotations

import argparse
import contextlib
import sys
import tempfile
from pathlib import Path

from medjury.cli._options import add_signers


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = (
        "Answers on standard input and output, until the client goes: judge_case, look_up_votes and read_verdict. "
        "Exit status: 0; 6 refused: the card was edited or expired, or the jury or the run is another one's."
    )
    add = parser.add_argument
    add("card", metavar="CARD", help="the passport of a validated jury")
    add("--answers", metavar="FILE", help="recorded answers, by which cases are judged and nobody is asked")
    add("--live", action="store_true", help="ask the judges, which costs what they cost")
    add(
        "--study",
        metavar="FILE",
        help="with --live: the study file of that jury, or how its judges are reached",
    )
    add("--folder", metavar="FOLDER", help="where answers are kept (default: beside the card, CARD.jury)")
    add("--run", metavar="RUN", help="a run that this jury judged, whose votes may be looked up")
    add("--explanations", action="store_true", help="with the votes the explanations, which may quote cases")
    add_signers(parser, "refuse a card that none of these keys signed")


def run(options: argparse.Namespace) -> int:
    from medjury.foundation.errors import MedjuryError
    from medjury.in_use.programs import CardJury, CardServer

    if options.live and options.answers:
        raise MedjuryError("--live asks the judges and --answers asks nobody: name one of them")
    out = sys.stdout.buffer
    named = ("study", "answers", "folder", "signers")
    judges = {name: getattr(options, name) for name in named}
    asks_nobody = not options.live and options.answers is None and options.folder is None
    with contextlib.redirect_stdout(sys.stderr), contextlib.ExitStack() as opened:
        if asks_nobody:  # nothing will be answered, so nothing is left beside the card
            judges["folder"] = opened.enter_context(tempfile.TemporaryDirectory(prefix="medjury-"))
        jury = opened.enter_context(CardJury(options.card, **judges))
        server = CardServer(
            Path(options.card),
            jury,
            run=None if options.run is None else Path(options.run),
            judges=options.live or options.answers is not None,
            live=options.live,
            explanations=options.explanations,
        )
        server.serve(sys.stdin.buffer, out)
    return 0
