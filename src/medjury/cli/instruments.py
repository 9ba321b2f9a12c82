"""`medjury instruments list | show NAME | check FILE`."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from medjury.instruments import describe_instrument, list_instruments, load_instrument, output_schema


def add_arguments(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    actions.add_parser("list", help="the built-in instruments")
    show = actions.add_parser("show", help="every word of an instrument")
    show.add_argument(
        "name", metavar="NAME", help="a built-in instrument, or the path of your own .yaml file"
    )
    show.add_argument("--schema", action="store_true", help="print the JSON schema of an answer instead")
    check = actions.add_parser(
        "check", help="check your own instrument file; every fault is listed with its line"
    )
    check.add_argument("file", metavar="FILE", help="path of a .yaml file")


def run(options: argparse.Namespace) -> int:
    if options.action == "list":
        for name in list_instruments():
            instrument = load_instrument(name)
            count = len(instrument.dimensions)
            print(f"{name:18} {instrument.version:5} {count:2} rated  {instrument.title}")
    elif options.action == "show":
        instrument = load_instrument(options.name)
        schema = json.dumps(output_schema(instrument), indent=2) if options.schema else ""
        print(schema or describe_instrument(instrument))
    else:
        instrument = load_instrument(Path(options.file))
        examples = f", {len(instrument.examples)} examples" if instrument.examples else ""
        print(
            f"{options.file}: good: {instrument.name} {instrument.version}, {len(instrument.inputs)} inputs, "
            f"{len(instrument.dimensions)} dimensions{examples}"
        )
    return 0
