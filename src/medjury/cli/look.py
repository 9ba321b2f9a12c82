"""`medjury look FILE`: what is this file?"""

from __future__ import annotations

import argparse

from medjury.cli._main import EXIT_USAGE
from medjury.cli._options import add_json, show


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = "Exit status 2 where the file cannot be read as it is. Only --write writes anything."
    add = parser.add_argument
    add("file", metavar="FILE", help="a file or folder of any kind")
    add("--write", metavar="MAPPING", help="write the mapping, once the file was read by it (mapping.yaml)")
    add("--as", dest="family", choices=("ratings", "cases"), help="how to read a table that may be both")
    add("--map", metavar="KEY=VALUE", action="append", default=[], type=_line,
        help="a line of the mapping that you know, such as item=Request (as often as needed)")  # fmt: skip
    add("--scale", nargs=2, type=float, metavar=("LOW", "HIGH"), help="the scale that the grades are on")
    add_json(parser)


def _line(text: str) -> tuple[str, str]:
    key, sign, value = text.partition("=")
    if not sign or not key.strip():
        raise argparse.ArgumentTypeError(f"{text}: write KEY=VALUE, such as item=Request")
    return key.strip(), value.strip()


def run(options: argparse.Namespace) -> int:
    from medjury.studies.inspection import look

    stated: dict[str, object] = {}
    if options.scale:
        whole = all(each == int(each) for each in options.scale)
        low, high = options.scale
        stated["scale"] = [int(low), int(high)] if whole else {"from": low, "to": high}
    found = look(options.file, stated, options.family, lines=options.map)
    show(options, found)
    if options.write:
        words = found.write_mapping(options.file, options.write)
        if not options.json:
            print(words)
    return EXIT_USAGE if found.problem or found.kind.family == "unknown" else 0
