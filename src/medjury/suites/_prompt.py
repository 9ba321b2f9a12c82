"""The prompt of a benchmark with an item's texts in their places."""

from __future__ import annotations

import re

from medjury.foundation.errors import MedjuryError
from medjury.suites._benchmark import Benchmark
from medjury.suites._item import Item

CHOICES = "choices"
_PLACE = re.compile(r"\{([a-z][a-z0-9_]*)\}")


def inputs_of(prompt: str) -> tuple[str, ...]:
    """The names of the inputs that a prompt asks for, in their order."""
    return tuple(dict.fromkeys(name for name in _PLACE.findall(prompt) if name != CHOICES))


def prompt_of(benchmark: Benchmark, item: Item) -> str:
    """What a candidate is asked. Texts are put in once, so that braces inside them mean nothing; choices follow the
    prompt where it has no `{choices}`."""
    choices = "\n".join(f"{letter}. {text}" for letter, text in item.choices.items())

    def put(place: re.Match[str]) -> str:
        name = place[1]
        if name == CHOICES:
            return choices
        if name not in item.inputs:
            raise MedjuryError(
                f"benchmark {benchmark.name}: item {item.id} has no {name!r}, which its prompt asks for"
            )
        return item.inputs[name]

    text = _PLACE.sub(put, benchmark.prompt)
    return f"{text.rstrip()}\n\n{choices}" if choices and f"{{{CHOICES}}}" not in benchmark.prompt else text
