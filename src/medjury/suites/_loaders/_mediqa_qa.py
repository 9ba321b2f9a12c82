"""MEDIQA 2019, task 3: consumers' health questions with answers that people ranked and scored, as XML.

Inputs: `question`. Gold: the answers scored 4 (excellent), the best rank first; else the one ranked first.
"""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

from medjury.suites._benchmark import Benchmark
from medjury.suites._item import Item, Loaded
from medjury.suites._loaders._reading.files import source_files
from medjury.suites._loaders._reading.gather import Gathering, Row, RowError, checked_text
from medjury.suites._loaders._reading.xml import read_xml

_EXCELLENT = 4


def load_mediqa_qa(benchmark: Benchmark, path: Path) -> Loaded:
    gathering = Gathering()
    for file in source_files(path, "*.xml"):
        for number, question in enumerate(read_xml(file).iter("Question"), 1):
            values = {"QID": question.get("QID"), "QuestionText": question.findtext("QuestionText")}
            row = Row(f"{file.name}, question {number}", number, values)
            with gathering.row(row):
                inputs = {"question": row.text("QuestionText")}
                gathering.add(Item(row.text("QID"), inputs, _gold(question)), row.where)
    return gathering.loaded()


def _gold(question: ElementTree.Element) -> tuple[str, ...]:
    """Several answers, best first. Ranks must be 1, 2, 3 …: with a gap, an answer is missing."""
    ranked: dict[int, tuple[int, str]] = {}
    answers = list(question.iter("Answer"))
    for answer in answers:
        row = Row("", 0, {**answer.attrib, "AnswerText": answer.findtext("AnswerText")})
        score = row.whole_number("ReferenceScore")
        if not 1 <= score <= _EXCELLENT:
            raise RowError("a ReferenceScore is not 1 to 4")
        ranked[row.whole_number("ReferenceRank")] = (
            score,
            checked_text(row.text("AnswerText"), "AnswerText"),
        )
    if not answers or sorted(ranked) != list(range(1, len(answers) + 1)):
        raise RowError("its answers are not ranked 1, 2, 3 …")
    best = tuple(ranked[rank][1] for rank in sorted(ranked) if ranked[rank][0] == _EXCELLENT)
    return best or (ranked[1][1],)
