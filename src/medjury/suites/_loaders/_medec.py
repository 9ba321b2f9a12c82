"""MEDEC: clinical texts, one sentence of which may hold an error. The file ends in hundreds of blank rows.

Inputs: `sentences`, numbered as the source numbers them, one to a line. Gold: `CORRECT`, or the number of the wrong
sentence and the sentence put right. Facts: `sentences` (number -> text), `error` (true or false), `error_sentence`
(its number, -1 where there is none), `corrected_sentence` and `error_type` (empty where there is none).
"""

from __future__ import annotations

import re
from pathlib import Path

from medjury.suites._benchmark import Benchmark
from medjury.suites._item import Item, Loaded
from medjury.suites._loaders._reading.files import source_files
from medjury.suites._loaders._reading.gather import Gathering, Row, RowError

_COLUMNS = ("Text ID", "Sentences", "Error Flag", "Error Sentence ID", "Corrected Sentence")
_SENTENCE = re.compile(r"(\d+) (.*)")


def load_medec(benchmark: Benchmark, path: Path) -> Loaded:
    gathering = Gathering()
    for file in source_files(path, "*.csv"):
        for row in gathering.rows(file, _COLUMNS):
            with gathering.row(row):
                gathering.add(_item(row), row.where)
    return gathering.loaded()


def _item(row: Row) -> Item:
    sentences = _sentences(row.text("Sentences"))
    error = row.label("Error Flag", ("0", "1")) == "1"
    number = row.whole_number("Error Sentence ID")
    if error != (number in sentences) or (not error and number != -1):
        raise RowError("Error Flag and Error Sentence ID do not fit one another and the sentences")
    corrected = row.text("Corrected Sentence") if error else ""
    facts = {
        "sentences": sentences,
        "error": error,
        "error_sentence": number,
        "corrected_sentence": corrected,
        "error_type": row.optional("Error Type") if error else "",
    }
    shown = "\n".join(f"{each} {text}" for each, text in sentences.items())
    gold = f"{number} {corrected}" if error else "CORRECT"
    return Item(row.text("Text ID"), {"sentences": shown}, (gold,), facts=facts)


def _sentences(text: str) -> dict[int, str]:
    """The numbered sentences. A line that does not go on with the next number belongs to the sentence before it."""
    found: dict[int, str] = {}
    for line in text.split("\n"):
        numbered = _SENTENCE.fullmatch(line)
        if numbered and int(numbered[1]) == len(found):
            found[len(found)] = numbered[2].strip()
        elif found:
            found[len(found) - 1] = f"{found[len(found) - 1]} {line.strip()}".strip()
        else:
            raise RowError("Sentences does not begin with `0 ` and a sentence")
    return found
