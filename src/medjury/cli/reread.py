"""`medjury runs reread`: the stored replies of a run, read again without a call."""

from __future__ import annotations

import argparse

from medjury.cli._main import EXIT_INCOMPLETE, say
from medjury.cli._options import add_flags, add_json, for_reader, print_json
from medjury.cli.run import print_report


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("run", help="the run folder whose replies are read again")
    add("--study", metavar="FILE", help="the study file, where the run does not say where it is")
    add("--out", metavar="FOLDER", help="the new run folder; by default RUN-reread-N beside RUN")
    add_flags(parser, "--quiet")
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    from medjury.studies import reread_run

    found = reread_run(options.run, study=options.study, out=options.out)
    stream = for_reader(options)
    say(found.text(), stream)
    word = print_report(found.result.folder, quiet=options.quiet, stream=stream)
    if options.json:
        more = {"verdict": word, "read_from": found.earlier, "no_reply": found.no_reply}
        print_json({**found.result.content(), **more})
    return EXIT_INCOMPLETE if found.no_reply else 0
