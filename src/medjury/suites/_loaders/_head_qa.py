"""HEAD-QA: questions of Spanish health-care examinations, four or five answers each, as the authors' JSON file.

Inputs: `question`. Choices: A, B, C … in the order of the source. Gold: the letter, and others that read the
same. Facts: `split` by the authors' rule (2013 and 2014 train, 2015 development, later years test), `exam`,
`subject`, `year`, and `image` (the picture that the question speaks of, empty where there is none): without its
picture a question may have no answer.
"""

from __future__ import annotations

from pathlib import Path

from medjury.suites._benchmark import Benchmark
from medjury.suites._item import Item, Loaded
from medjury.suites._loaders._reading.choices import lettered, right_letters
from medjury.suites._loaders._reading.files import source_files
from medjury.suites._loaders._reading.gather import Gathering, Row, RowError, checked_text

_COLUMNS = ("qid", "qtext", "ra", "answers")
_SPLITS = {"2013": "train", "2014": "train", "2015": "development"}


def load_head_qa(benchmark: Benchmark, path: Path) -> Loaded:
    gathering = Gathering()
    for file in source_files(path, "HEAD_EN.json", "*.json"):
        for exam in gathering.rows(file, ("@key", "data", "category", "year"), within="exams{}"):
            with gathering.row(exam):
                _exam(gathering, exam)
    return gathering.loaded()


def _exam(gathering: Gathering, exam: Row) -> None:
    name, questions = exam.text("@key"), exam.value("data")
    facts = {"exam": name, "subject": exam.text("category"), "year": exam.text("year")}
    if not isinstance(questions, list):
        raise RowError("data is no list of questions")
    for number, values in enumerate(questions, 1):
        row = Row(f"exam {name}, question {number}", number, values if isinstance(values, dict) else {})
        with gathering.row(row):
            gathering.add(_item(row, facts), row.where)


def _item(row: Row, exam: dict[str, str]) -> Item:
    answers = row.values.get("answers")
    if not isinstance(answers, list) or not all(isinstance(each, dict) for each in answers):
        raise RowError("answers is no list of answers")
    texts = {str(each.get("aid")): checked_text(str(each.get("atext") or ""), "atext") for each in answers}
    if len(texts) != len(answers):
        raise RowError("two answers have the same number")
    choices = lettered(list(texts.values()))
    right = row.text("ra")
    if right not in texts:
        raise RowError("the right answer (ra) is none of the answers")
    gold = list(choices)[list(texts).index(right)]
    facts = {**exam, "split": _SPLITS.get(exam["year"], "test"), "image": row.optional("image")}
    name, inputs = f"{exam['exam']}-{row.text('qid')}", {"question": row.text("qtext")}
    return Item(name, inputs, right_letters(gold, choices), choices, facts=facts)
