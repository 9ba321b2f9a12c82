"""RaceBias: answers of four models to nine medical questions, from a supplement that is a Word file.

Every `Run N: question` begins an answer; the authors wrote in red what is wrong or based on race. Inputs:
`question` and `answer`. Choices: A yes, B no (is there such content?). Gold: A where any of the answer is red.
Facts: `model` and `run`, as the document names them. Headings between the answers are no part of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from medjury.foundation.errors import MedjuryError
from medjury.suites._benchmark import Benchmark
from medjury.suites._item import Item, Loaded
from medjury.suites._loaders._reading.files import one_file
from medjury.suites._loaders._reading.gather import Gathering, Row, RowError, checked_text
from medjury.suites._loaders._reading.xml import read_packed_xml

_WORD = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_RED = "FF0000"
_RUN = re.compile(r"Run\s*(\d+)\s*:\s*(.*)", re.IGNORECASE | re.DOTALL)
_MODEL = re.compile(r"(.+?)(?:[’']s)?\s+Responses:", re.IGNORECASE)
_VERSION = re.compile(r".*\bversion|August 3", re.IGNORECASE)
_LONGEST_HEADING = 80
_CHOICES = {"A": "Yes", "B": "No"}


@dataclass(slots=True)
class _Answer:
    model: str
    run: int
    question: str
    lines: list[tuple[str, bool]]  # text, and whether any of it is red


def load_race_bias(benchmark: Benchmark, path: Path) -> Loaded:
    file = one_file(path, "*.docx")
    gathering = Gathering()
    answers = _answers(_lines(read_packed_xml(file, "word/document.xml")))
    if not answers:
        raise MedjuryError(f"{file.name}: holds no line that begins with `Run 1:`; is it the supplement?")
    gathering.problems += _gaps(answers, file.name)
    for number, answer in enumerate(answers, 1):
        row = Row(f"{file.name}, answer {number}", number, {})
        with gathering.row(row):
            text = checked_text("\n".join(line for line, _ in answer.lines), "the answer")
            if not text or not answer.question:
                raise RowError("has no question or no answer")
            gold = "A" if any(red for _, red in answer.lines) else "B"
            facts = {"model": answer.model, "run": answer.run}
            inputs = {"question": checked_text(answer.question, "the question"), "answer": text}
            gathering.add(Item(f"answer-{number:03}", inputs, (gold,), _CHOICES, facts=facts), row.where)
    return gathering.loaded()


def _gaps(answers: list[_Answer], file: str) -> Iterator[str]:
    """Where an answer must be missing: a heading that could not be read joins two answers to one. The runs of every
    question count up from 1 to the same number; one of them may appear twice."""
    last = max(answer.run for answer in answers)
    before, question = last, ""
    for number, answer in enumerate([*answers, _Answer("", 1, "", [])], 1):
        again = answer.run == before and answer.question == question and answer.run > 1
        if not again and answer.run != before + 1 and (before, answer.run) != (last, 1):
            yield f"{file}, before answer {number}: a run is missing, or its heading `Run N:` cannot be read"
        before, question = answer.run, answer.question


def _answers(lines: Iterator[tuple[str, bool]]) -> list[_Answer]:
    found: list[_Answer] = []
    before: list[tuple[str, bool]] = []  # what comes before the first answer
    for text, red in lines:
        collecting = found[-1].lines if found else before
        begins = _RUN.fullmatch(text.strip())
        if begins is None:
            collecting.append((text, red))
            continue
        run = int(begins[1])
        model = found[-1].model if found else ""
        if run == 1:
            model = _without_headings(collecting) or model
        found.append(_Answer(model, run, begins[2].strip(), []))
    return found


def _without_headings(lines: list[tuple[str, bool]]) -> str:
    """Take the headings off the end of an answer: the topic, and the model with its version where it changes."""
    model, topics = "", 0
    while lines:
        text = lines[-1][0].strip()
        named = _MODEL.fullmatch(text)
        is_topic = text and not topics and len(text) <= _LONGEST_HEADING and not lines[-1][1]
        if named:
            model = named[1].strip()
        elif text and not _VERSION.fullmatch(text):
            if not is_topic:
                break
            topics += 1
        lines.pop()
    return model


def _lines(root: ElementTree.Element) -> Iterator[tuple[str, bool]]:
    """The lines of the document, paragraphs and those of tables alike."""
    for paragraph in root.iter(f"{_WORD}p"):
        line, red = "", False
        for run in paragraph.iter(f"{_WORD}r"):
            colour = run.find(f"{_WORD}rPr/{_WORD}color")
            is_red = colour is not None and colour.get(f"{_WORD}val", "").upper() == _RED
            first, *others = _text(run).split("\n")
            line, red = line + first, red or (is_red and bool(first.strip()))
            for part in others:  # a line break inside a paragraph
                yield line, red
                line, red = part, is_red and bool(part.strip())
        yield line, red


def _text(run: ElementTree.Element) -> str:
    signs = {f"{_WORD}br": "\n", f"{_WORD}cr": "\n", f"{_WORD}tab": "\t"}
    return "".join((part.text or "") if part.tag == f"{_WORD}t" else signs.get(part.tag, "") for part in run)
