"""Sources of questions that are answered by a choice or a word: a function for each source's format."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from medjury.foundation.errors import MedjuryError
from medjury.suites._benchmark import Benchmark, Item, Loaded
from medjury.suites._loaders._source_files import (
    Gathering,
    Row,
    RowError,
    checked_text,
    lettered,
    read_json_file,
    read_packed_xml,
    right_letters,
)

# MedHallu: questions on PubMed abstracts, each with the true answer and one that a model made up.
#
# A table (Parquet, JSON Lines or CSV); every row gives two items, `ROW-true` and `ROW-made-up`. Inputs:
# `knowledge`, `question` and `answer`. Choices: A factual, B hallucinated. Facts: `difficulty`.

_MEDHALLU_COLUMNS = ("Question", "Knowledge", "Ground Truth", "Hallucinated Answer")
_FACTUAL_OR_NOT = {"A": "Factual", "B": "Hallucinated"}


def load_medhallu(benchmark: Benchmark, path: Path) -> Loaded:
    gathering = Gathering()
    files = gathering.files(path, "*.parquet", "*.jsonl", "*.csv")
    for part, file in enumerate(files):
        for row in gathering.rows(file, _MEDHALLU_COLUMNS):
            with gathering.row(row):
                name = f"{part + 1}-{row.number}" if len(files) > 1 else str(row.number)
                for item in _medhallu_items(row, name):
                    gathering.add(item, row.where)
    return gathering.loaded()


def _medhallu_items(row: Row, name: str) -> list[Item]:
    shown = {"knowledge": _knowledge(row), "question": row.text("Question")}
    facts = {"difficulty": row.optional("Difficulty Level")}
    answers = (("true", "A", row.text("Ground Truth")), ("made-up", "B", row.text("Hallucinated Answer")))
    return [
        Item(f"{name}-{kind}", {**shown, "answer": answer}, (gold,), _FACTUAL_OR_NOT, facts=facts)
        for kind, gold, answer in answers
    ]


def _knowledge(row: Row) -> str:
    value = row.value("Knowledge")
    if isinstance(value, list) and value and all(isinstance(each, str) for each in value):
        return checked_text("\n".join(value), "Knowledge")
    if isinstance(value, list):
        raise RowError("Knowledge is not a list of texts")
    return row.text("Knowledge")


# Medbullets: questions in the style of the USMLE, four or five answers each, as the authors' CSV file.
#
# Inputs: `question`. Choices: A to D or E. Gold: the letter. Facts: `figure`, true where the question speaks of a
# figure, which the file does not hold.

_MEDBULLETS_COLUMNS = ("question", "opa", "opb", "opc", "opd", "answer_idx", "answer")
_FIGURE = re.compile(r"\bFigures? [A-Z]\b")


def load_medbullets(benchmark: Benchmark, path: Path) -> Loaded:
    gathering = Gathering()
    file = gathering.one_file(path, "medbullets_op5.csv", "*.csv")
    gathering.take(gathering.rows(file, _MEDBULLETS_COLUMNS), _medbullets_item)
    return gathering.loaded()


def _medbullets_item(row: Row) -> Item:
    columns = ["opa", "opb", "opc", "opd", *(["ope"] if "ope" in row.values else [])]
    choices = lettered([row.text(each) for each in columns])
    gold = row.label("answer_idx", list(choices))
    if choices[gold].casefold() != row.text("answer").casefold():
        raise RowError("answer_idx and answer name different choices")
    question = row.text("question")
    facts = {"figure": bool(_FIGURE.search(question))}
    return Item(
        f"row-{row.number}", {"question": question}, right_letters(gold, choices), choices, facts=facts
    )


# MedQA: questions of medical licensing examinations, as the authors' JSON Lines.
#
# Inputs: `question`. Choices: as the source letters them. Gold: the letter.

_MEDQA_COLUMNS = ("question", "options", "answer", "answer_idx")


def load_medqa(benchmark: Benchmark, path: Path) -> Loaded:
    gathering = Gathering()
    file = gathering.one_file(path, "test.jsonl", "*.jsonl")
    gathering.take(gathering.rows(file, _MEDQA_COLUMNS), _medqa_item)
    return gathering.loaded()


def _medqa_item(row: Row) -> Item:
    options = row.value("options")
    if not isinstance(options, dict) or not all(isinstance(each, str) for each in options.values()):
        raise RowError("options does not map letters to answers")
    choices = lettered([checked_text(each, "options") for each in options.values()])
    if list(choices) != list(options):
        raise RowError("options is not lettered A, B, C …")
    gold = row.label("answer_idx", list(choices))
    if choices[gold] != row.text("answer"):
        raise RowError("answer_idx and answer name different choices")
    return Item(
        f"row-{row.number}", {"question": row.text("question")}, right_letters(gold, choices), choices
    )


# HEAD-QA: questions of Spanish health-care examinations, four or five answers each, as the authors' JSON file.
#
# Inputs: `question`. Choices: A, B, C … in the order of the source. Gold: the letter, and others that read the
# same. Facts: `split` by the authors' rule (2013 and 2014 train, 2015 development, later years test), `exam`,
# `subject`, `year`, and `image` (the picture that the question speaks of, empty where there is none): without its
# picture a question may have no answer.


_SPLITS = {"2013": "train", "2014": "train", "2015": "development"}


def load_head_qa(benchmark: Benchmark, path: Path) -> Loaded:
    gathering = Gathering()
    for file in gathering.files(path, "HEAD_EN.json", "*.json"):
        for exam in gathering.rows(file, ("@key", "data", "category", "year"), within="exams{}"):
            with gathering.row(exam):
                _exam(gathering, exam)
    return gathering.loaded()


def _exam(gathering: Gathering, exam: Row) -> None:
    name, questions = exam.text("@key"), exam.value("data")
    facts = {"exam": name, "subject": exam.text("category"), "year": exam.text("year")}
    if not isinstance(questions, list):
        raise RowError("data is not a list of questions")
    for number, values in enumerate(questions, 1):
        row = Row(f"exam {name}, question {number}", number, values if isinstance(values, dict) else {})
        with gathering.row(row):
            gathering.add(_head_qa_item(row, facts), row.where)


def _head_qa_item(row: Row, exam: dict[str, str]) -> Item:
    answers = row.values.get("answers")
    if not isinstance(answers, list) or not all(isinstance(each, dict) for each in answers):
        raise RowError("answers is not a list of answers")
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


# MedMCQA: questions of Indian medical entrance examinations with four answers (JSON Lines or Parquet).
#
# Inputs: `question`. Choices: A to D. Gold: the letter. Facts: `subject`. The authors' files number the right
# answer from 1, copies in other collections from 0. Which of the two a file does is read from all of its rows;
# where that cannot be told (`cop` is neither 0 nor 4 anywhere) `options: {first_answer: 0 or 1}` must say it.


_MEDMCQA_COLUMNS = ("id", "question", "opa", "opb", "opc", "opd", "cop")
_HIDDEN = "row whose right answer the source does not publish"


def load_medmcqa(benchmark: Benchmark, path: Path) -> Loaded:
    gathering = Gathering()
    rows = list(
        gathering.rows(gathering.one_file(path, "dev.json*", "*.parquet", "*.jsonl"), _MEDMCQA_COLUMNS)
    )
    first = _first_answer(rows, benchmark.options.get("first_answer"))
    for row in rows:
        with gathering.row(row):
            if row.value("cop") is None or row.text("cop") == "-1":
                gathering.leave_out(_HIDDEN)
                continue
            gathering.add(_medmcqa_item(row, first), row.where)
    return gathering.loaded()


def _first_answer(rows: list[Row], stated: object) -> int:
    seen = {str(row.values.get("cop")).removesuffix(".0") for row in rows}
    if stated in (0, 1):
        return int(str(stated))
    if ("0" in seen) == ("4" in seen):
        why = "both 0 and 4" if "0" in seen else "neither 0 nor 4"
        raise MedjuryError(
            f"the column cop holds {why}, so nobody can tell whether it counts from 0 or from 1; say "
            "`options: {first_answer: 0}` (or 1) in the benchmark's file"
        )
    return 0 if "0" in seen else 1


def _medmcqa_item(row: Row, first: int) -> Item:
    choices = lettered([row.text(each) for each in ("opa", "opb", "opc", "opd")])
    right = row.whole_number("cop") - first
    if not 0 <= right < len(choices):
        raise RowError("cop is none of the four answers")
    gold = list(choices)[right]
    facts = {"subject": row.optional("subject_name")}
    inputs = {"question": row.text("question")}
    return Item(row.text("id"), inputs, right_letters(gold, choices), choices, facts=facts)


# PubMedQA, the thousand questions that people labelled (`ori_pqal.json`), with the ids of the 500 that test.
#
# Inputs: `abstract` (without its conclusion, which gives the answer away) and `question`. Gold: yes, no or maybe.
# Facts: `split` (test or development; empty where `test_ground_truth.json` is not beside the file), `annotators`
# (what two annotators said, where the source has it).


_LABELS = ("yes", "no", "maybe")
_PUBMEDQA_COLUMNS = ("@key", "QUESTION", "CONTEXTS", "final_decision")


def load_pubmedqa(benchmark: Benchmark, path: Path) -> Loaded:
    gathering = Gathering()
    file = gathering.one_file(path, "ori_pqal.json", "*.json")
    truth = _test_labels(gathering, file)
    rows = gathering.rows(file, _PUBMEDQA_COLUMNS, within="{}")
    gathering.take(rows, lambda row: _pubmedqa_item(row, truth))
    missing = sorted(set(truth or ()) - {item.id for item in gathering.items})
    if missing:
        gathering.problems.append(f"{file.name}: lacks {len(missing)} of the test ids, such as {missing[0]}")
    return gathering.loaded()


def _test_labels(gathering: Gathering, file: Path) -> dict[str, str] | None:
    found = gathering.beside(file, "test_ground_truth.json")
    if found is None:
        return None
    labels = read_json_file(found)
    if not isinstance(labels, dict) or not set(map(str, labels.values())) <= set(_LABELS):
        raise MedjuryError(f"{found.name}: must map ids to {', '.join(_LABELS)}")
    return labels


def _pubmedqa_item(row: Row, truth: dict[str, str] | None) -> Item:
    identifier, label = row.text("@key"), row.label("final_decision", _LABELS)
    if truth and truth.get(identifier, label) != label:
        raise RowError("final_decision is not what test_ground_truth.json says")
    inputs = {"abstract": _abstract(row), "question": row.text("QUESTION")}
    split = "" if truth is None else "test" if identifier in truth else "development"
    said = (row.optional("reasoning_required_pred"), row.optional("reasoning_free_pred"))
    return Item(identifier, inputs, (label,), facts={"split": split, "annotators": tuple(filter(None, said))})


def _abstract(row: Row) -> str:
    parts: Any = row.value("CONTEXTS")
    names: Any = row.values.get("LABELS") or []
    if (
        not isinstance(parts, list)
        or not all(isinstance(each, str) and each.strip() for each in parts)
        or not parts
    ):
        raise RowError("CONTEXTS is not a list of texts")
    if not isinstance(names, list) or len(names) != len(parts):
        names = [""] * len(parts)
    return "\n".join(
        checked_text(f"{name}: {part}" if name else part, "CONTEXTS")
        for name, part in zip(names, parts, strict=True)
    )


# RaceBias: answers of four models to nine medical questions, from a supplement that is a Word file.
#
# Every `Run N: question` begins an answer; the authors wrote in red what is wrong or based on race. Inputs:
# `question` and `answer`. Choices: A yes, B no (is there such content?). Gold: A where any of the answer is red.
# Facts: `model` and `run`, as the document names them. Headings between the answers are no part of them.


_WORD = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_RED = "FF0000"
_RUN = re.compile(r"Run\s*(\d+)\s*:\s*(.*)", re.IGNORECASE | re.DOTALL)
_MODEL = re.compile(r"(.+?)(?:[’']s)?\s+Responses:", re.IGNORECASE)
_VERSION = re.compile(r".*\bversion|August 3", re.IGNORECASE)
_LONGEST_HEADING = 80
_YES_OR_NO = {"A": "Yes", "B": "No"}


@dataclass(slots=True)
class _Answer:
    model: str
    run: int
    question: str
    lines: list[tuple[str, bool]]  # text, and whether any of it is red


def load_race_bias(benchmark: Benchmark, path: Path) -> Loaded:
    gathering = Gathering()
    file = gathering.one_file(path, "*.docx")
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
            gathering.add(Item(f"answer-{number:03}", inputs, (gold,), _YES_OR_NO, facts=facts), row.where)
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
