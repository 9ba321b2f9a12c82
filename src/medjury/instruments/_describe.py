"""An instrument in words: everything a rater is asked, for a reader."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from medjury.instruments._instrument import Dimension, Instrument

_WIDTH = 100


def describe_instrument(instrument: Instrument) -> str:
    """Every word of an instrument, wrapped for a terminal."""
    return "\n".join(_lines(instrument))


def _lines(instrument: Instrument) -> Iterator[str]:
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
        yield from _dimension(dimension)
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
    for place, example in enumerate(instrument.examples, 1):
        yield f"\nWorked example {place} of {len(instrument.examples)}"
        yield from (_wrap(f"{name}: {text}", "  ") for name, text in example.inputs.items())
        scores = (
            f"{name} {'not applicable' if score is None else score}" for name, score in example.scores.items()
        )
        yield _wrap(f"Grades: {', '.join(scores)}", "  ")
        if example.explanation:
            yield _wrap(f"Why: {example.explanation}", "  ")
    if instrument.notes:
        yield "\n" + _wrap(f"Note: {instrument.notes}", "")


def _dimension(dimension: Dimension) -> Iterator[str]:
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
    return textwrap.fill(
        text, _WIDTH, initial_indent=indent, subsequent_indent=indent + "  ", break_on_hyphens=False
    )
