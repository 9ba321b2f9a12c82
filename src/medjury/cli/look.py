"""`medjury look FILE`: what is this file?"""

from __future__ import annotations

import argparse

from medjury.cli._main import EXIT_USAGE


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = "Nothing is written. Exit status 2 where the file cannot be read as it is."
    parser.add_argument("file", metavar="FILE", help="a file or folder of any kind")
    parser.add_argument("--json", action="store_true", help="print the same as JSON")


def run(options: argparse.Namespace) -> int:
    from medjury.studies.inspection import look

    found = look(options.file)
    print(found.to_json() if options.json else found.text())
    return EXIT_USAGE if found.problem or found.kind.family == "unknown" else 0
