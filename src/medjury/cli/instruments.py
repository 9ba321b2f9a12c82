"""`medjury instruments list | show NAME | check FILE`."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from medjury.cli._options import add_json, tell
from medjury.instruments import (
    Instrument,
    describe_instrument,
    list_instruments,
    load_instrument,
    output_schema,
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    listing = actions.add_parser("list", help="the built-in instruments")
    show = actions.add_parser("show", help="every word of an instrument")
    show.add_argument(
        "name", metavar="NAME", help="a built-in instrument, or the path of your own .yaml file"
    )
    show.add_argument("--schema", action="store_true", help="print the JSON schema of an answer instead")
    check = actions.add_parser(
        "check", help="check your own instrument file; every fault is listed with its line"
    )
    check.add_argument("file", metavar="FILE", help="path of a .yaml file")
    add_json(listing, check)


def run(options: argparse.Namespace) -> int:
    if options.action == "list":
        known = [load_instrument(name) for name in list_instruments()]
        longest = max(len(each.name) for each in known)
        lines = [
            f"{each.name:{longest}} {each.version:5} {len(each.dimensions):2} rated  {each.title}"
            for each in known
        ]
        tell(options, "\n".join(lines), [_facts(each) for each in known])
    elif options.action == "show":
        instrument = load_instrument(options.name)
        schema = json.dumps(output_schema(instrument), indent=2) if options.schema else ""
        print(schema or describe_instrument(instrument))
    else:
        instrument = load_instrument(Path(options.file))
        examples = f", {len(instrument.examples)} examples" if instrument.examples else ""
        words = (
            f"{options.file}: good: {instrument.name} {instrument.version}, {len(instrument.inputs)} inputs, "
            f"{len(instrument.dimensions)} dimensions{examples}"
        )
        tell(options, words, _facts(instrument))
    return 0


def _facts(instrument: Instrument) -> dict[str, Any]:
    return {
        "name": instrument.name,
        "version": instrument.version,
        "title": instrument.title,
        "dimensions": [each.name for each in instrument.dimensions],
        "inputs": [each.name for each in instrument.inputs],
    }
