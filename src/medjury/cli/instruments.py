"""`medjury instruments list | show NAME | check FILE`."""

from __future__ import annotations

import argparse
import json
import textwrap
from collections.abc import Iterator
from pathlib import Path

from medjury.instruments import Dimension, Instrument, list_instruments, load_instrument, output_schema

WIDTH = 100


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
        if options.schema:
            print(json.dumps(output_schema(instrument), indent=2))
        else:
            print("\n".join(_describe(instrument)))
    else:
        instrument = load_instrument(Path(options.file))
        examples = f", {len(instrument.examples)} examples" if instrument.examples else ""
        print(
            f"{options.file}: good: {instrument.name} {instrument.version}, {len(instrument.inputs)} inputs, "
            f"{len(instrument.dimensions)} dimensions{examples}"
        )
    return 0


def _describe(instrument: Instrument) -> Iterator[str]:
    yield instrument.title
    yield f"{instrument.name} {instrument.version}, fingerprint {instrument.fingerprint()[:12]}"
    for title, text in (("Citation", instrument.citation), ("Licence", instrument.licence)):
        if text:
            yield _wrap(f"{title}: {text}", "")
    yield ""
    yield instrument.instructions
    yield "\nInputs"
    for each in instrument.inputs:
        optional = "" if each.required else " (optional)"
        yield _wrap(f"{each.name}: {each.label}{optional}. {each.description}".rstrip(), "  ")
    for dimension in instrument.dimensions:
        yield from _describe_dimension(dimension)
    if instrument.reversed or instrument.composites:
        yield "\nDerived"
    for item in instrument.reversed:
        dimension = instrument.dimension(item.of)
        yield f"  {item.name} = {dimension.lowest + dimension.highest} - {item.of}"
    for composite in instrument.composites:
        parts = " + ".join(f"{weight:.3g} {name}" for name, weight in composite.weights.items() if weight)
        yield _wrap(f"{composite.name} = {parts}", "  ")
    if instrument.parameters:
        yield "\nParameters"
        yield from (f"  {name}: {value}" for name, value in instrument.parameters.items())
    if instrument.examples:
        yield f"\nWorked examples: {len(instrument.examples)}"
    if instrument.notes:
        yield "\n" + _wrap(f"Note: {instrument.notes}", "")


def _describe_dimension(dimension: Dimension) -> Iterator[str]:
    direction = "" if dimension.higher_is_better else "; lower is better"
    yield f"\n{dimension.name}: {dimension.label} ({dimension.lowest} to {dimension.highest}{direction})"
    yield _wrap(dimension.definition, "  ")
    for grade in dimension.values:
        yield _wrap(f"{grade} = {dimension.grades[grade]}", "    ")
    if dimension.skip:
        yield f"    Not applicable exactly when {dimension.skip.dimension} is {dimension.skip.equals}."
    elif dimension.may_be_not_applicable:
        yield "    May be not applicable."


def _wrap(text: str, indent: str) -> str:
    return textwrap.fill(text, WIDTH, initial_indent=indent, subsequent_indent=indent + "  ")
