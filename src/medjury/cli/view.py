"""`medjury view`: read the evidence of a run case by case, in a browser on this machine or as one file."""

from __future__ import annotations

import argparse

from medjury.cli._main import say


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("folder", metavar="RUN", help="the run folder")
    add("--file", metavar="OUT.html", help="write one HTML file that needs no server and no network")
    add("--most", type=int, metavar="N", default=500, help="at most this many answers in the file (500)")
    add("--beside", metavar="RUN", help="another run of the same cases, to show beside it")
    add("--cases", metavar="FILE", help="the cases that were judged, where the study file does not name them")
    words = "leave out names of cases, texts and explanations"
    add("--hide-texts", action="store_true", default=None, help=words)
    add("--port", type=int, metavar="N", default=0, help="the port to serve on (default: one that is free)")
    add("--host", metavar="ADDRESS", default="127.0.0.1", help="the address to serve on (127.0.0.1)")
    add("--open-to-network", action="store_true",
        help="allow a --host beyond this machine: texts travel unencrypted")  # fmt: skip


def run(options: argparse.Namespace) -> int:
    from medjury.panel import serve_evidence, write_evidence_file

    if options.file is not None:
        shown = {"cases": options.cases, "hide_texts": options.hide_texts, "most": options.most}
        say(write_evidence_file(options.folder, options.file, **shown))
        return 0
    taken = ("cases", "beside", "hide_texts", "host", "port", "open_to_network")
    serve_evidence(options.folder, say=say, **{name: getattr(options, name) for name in taken})
    return 0
