"""A site's own file: one table for every benchmark that is gated, private or home-made.

A JSON Lines, CSV, TSV, Excel or Parquet file with these columns:

    id        names the item; every one once
    NAME      one column for every {NAME} of the benchmark's prompt, such as note or question
    gold      the right answer: a text, or a letter or the text of a choice; in JSON Lines also a list of texts
              that all count as right; for code sets the codes, as a list or parted by a semicolon or a comma; or
              the number of a choice, where it is one in every row: `options: {first_answer: 0}` (or 1) says where
              the file counts from, if its rows do not tell
    choices   where items have choices of their own: an object or list in JSON Lines; in other tables an object or
              list as JSON, or a column for each choice (choice_A, choice_B …)
    patient   may be there: which items are of one patient

Other columns are not read. `options: {columns: {question: Q, gold: Answer}}` in the benchmark's file names columns
that are called something else (`id: "@row"` names items by their rows); `options: {choices: {A: "Yes", B: "No"}}`
gives every item the same choices. Facts: `codes` for code sets.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from string import ascii_uppercase
from typing import Any

from medjury.foundation.errors import MedjuryError
from medjury.intake import READERS
from medjury.suites._benchmark import Benchmark, Item, Loaded, inputs_of
from medjury.suites._loaders._source_files import (
    Gathering,
    Row,
    RowError,
    checked_text,
    letter_of,
    lettered,
    right_letters,
)

ROW = "@row"
_CODES = "code_f1"
_WORDS = ("yes", "no", "maybe")
_KINDS = tuple(f"*{ending}" for ending in READERS)


def load_table(benchmark: Benchmark, path: Path) -> Loaded:
    gathering = Gathering()
    columns = benchmark.options.get("columns", {})
    inputs = {name: columns.get(name, name) for name in inputs_of(benchmark.prompt)}
    identifier = columns.get("id", "id")
    needed = [*([] if identifier == ROW else [identifier]), *inputs.values()]
    if benchmark.gold:
        needed.append(columns.get("gold", "gold"))
    rows = [*gathering.rows(gathering.one_file(path, *_KINDS), needed)]
    first = _first_number(benchmark, rows, columns) if benchmark.gold else None
    for row in rows:
        with gathering.row(row):
            texts = {name: row.text(column) for name, column in inputs.items()}
            gathering.add(_item(benchmark, row, texts, columns, first), row.where)
    return gathering.loaded()


def _first_number(benchmark: Benchmark, rows: Sequence[Row], columns: Mapping[str, Any]) -> int | None:
    """Where a file counts its choices from, whose gold answers are their numbers; None where they are not."""
    stated = benchmark.options.get("first_answer")
    if stated in (0, 1):
        return int(str(stated))
    numbers, lasts, named = set(), set(), 0
    for row in rows:
        gold = str(row.values.get(columns.get("gold", "gold"), "")).strip()
        try:
            choices = _choices(benchmark, row, columns.get("choices", "choices"))
        except RowError:
            continue
        if not choices or not gold.isdecimal():
            return None
        numbers.add(int(gold))
        lasts |= {int(gold)} if int(gold) == len(choices) else set()
        named += gold in choices.values()
    if not numbers or named == len(rows):
        return None
    if named or (0 in numbers) == bool(lasts):
        raise MedjuryError(
            "the right answers are numbers, and nobody can tell whether they count the choices from 0, from 1, or "
            "are their texts; say `options: {first_answer: 0}` (or 1) in the benchmark's file"
        )
    return 0 if 0 in numbers else 1


def _item(
    benchmark: Benchmark, row: Row, texts: Mapping[str, str], columns: Mapping[str, Any], first: int | None
) -> Item:
    choices = _choices(benchmark, row, columns.get("choices", "choices"))
    facts: dict[str, Any] = {}
    gold: tuple[str, ...] = ()
    if benchmark.gold:
        gold = _gold(row, columns.get("gold", "gold"), codes=_CODES in benchmark.metrics)
        if _CODES in benchmark.metrics:
            facts["codes"], gold = gold, ("; ".join(gold),)
        elif choices:
            if first is not None:
                gold = (_numbered(gold[0], first, choices),)
            letters = [
                right_letters(each if first is not None else letter_of(each, choices), choices)
                for each in gold
            ]
            gold = tuple(dict.fromkeys(each for group in letters for each in group))
        elif "yes_no_maybe" in benchmark.metrics:
            gold = (row.label(columns.get("gold", "gold"), _WORDS),)
    patient = row.optional(columns.get("patient", "patient"))
    identifier = columns.get("id", "id")
    name = f"row-{row.number}" if identifier == ROW else row.text(identifier)
    return Item(name, texts, gold, choices, patient, facts)


def _numbered(gold: str, first: int, choices: Mapping[str, str]) -> str:
    """The letter of the choice with this number."""
    place = int(gold) - first if gold.isdecimal() else -1
    if not 0 <= place < len(choices):
        raise RowError(f"the right answer, {gold!r}, is the number of no choice")
    return list(choices)[place]


def _gold(row: Row, column: str, *, codes: bool) -> tuple[str, ...]:
    value = row.value(column)
    if isinstance(value, bool):
        value = "yes" if value else "no"
    if isinstance(value, list):
        texts = [checked_text(each, column) if isinstance(each, str) else "" for each in value]
    elif codes:
        texts = [each.strip() for each in re.split(r"[;,\n]", row.text(column)) if each.strip()]
    else:
        texts = [checked_text(value, column)] if isinstance(value, str) else [row.text(column)]
    if not texts or not all(texts):
        raise RowError(f"{column} is empty")
    return tuple(dict.fromkeys(each.upper() for each in texts)) if codes else tuple(dict.fromkeys(texts))


def _choices(benchmark: Benchmark, row: Row, column: Any) -> dict[str, str]:
    own = _own_choices(row, column)
    fixed = benchmark.options.get("choices")
    if fixed is not None:
        if own and _lettered(own, column) != fixed:
            raise RowError("has choices of its own, but the benchmark gives every item the same")
        return dict(fixed)
    return _lettered(own, column) if own or "{choices}" in benchmark.prompt else {}


def _own_choices(row: Row, column: Any) -> Any:
    """The choices that a row brings: those of several columns, a list or object, or nothing."""
    if isinstance(column, list):
        return _unbroken([row.optional(each) for each in column])
    value = row.values.get(column)
    if value in (None, ""):
        return _unbroken([row.optional(f"choice_{letter}") for letter in ascii_uppercase])
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        raise RowError(f'{column} is not JSON; write ["first", "second"]') from None


def _unbroken(texts: list[str]) -> list[str]:
    """The choices up to the last. With a gap, those behind it would take the letters of others."""
    while texts and not texts[-1]:
        texts.pop()
    if not all(texts):
        raise RowError("a choice before the last is empty")
    return texts


def _lettered(found: Any, column: object) -> dict[str, str]:
    texts = list(found.values()) if isinstance(found, dict) else found
    if not isinstance(texts, list) or not all(isinstance(each, str) for each in texts):
        raise RowError(f"{column} is not a list of texts")
    choices = lettered([checked_text(each, "a choice") for each in texts])
    if isinstance(found, dict) and list(found) != list(choices):
        raise RowError(f"{column} is not lettered A, B, C …")
    return choices
