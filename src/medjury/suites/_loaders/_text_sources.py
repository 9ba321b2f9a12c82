"""Sources of questions that are answered by a text, a number or a query: a function for each source's format."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from medjury.foundation.errors import MedjuryError
from medjury.foundation.limits import read_bytes
from medjury.suites._benchmark import Benchmark, Item, Loaded
from medjury.suites._loaders._source_files import (
    Gathering,
    Row,
    RowError,
    checked_text,
    database_problem,
    read_xml,
)

# EHRSQL, the eICU part: questions that are to be turned into SQL, and the database on which it is run.
#
# Inputs: `question` and `schema` (the statements that make the tables). Gold: the query, `null` where the question
# cannot be answered from the database. Facts: `is_impossible`, and `places`: whether a drug, a day or the like
# fills a place of the question. The folder holds `valid.json` or `test.json` or both
# (HELM scores both), `eicu.sql` and `eicu.sqlite`; the last is `Loaded.database`, and None where it is not there.

_EHRSQL_COLUMNS = ("id", "question", "query", "is_impossible")
IMPOSSIBLE = "null"


def load_ehrsql(benchmark: Benchmark, path: Path) -> Loaded:
    gathering = Gathering()
    file = gathering.one_file(path, "valid.json", "test.json", "*.json")
    parts = [file]
    if file.name == "valid.json" and path.is_dir() and (test := gathering.beside(file, "test.json")):
        parts.append(test)
    schema = gathering.beside(file, "eicu.sql")
    if schema is None:
        raise MedjuryError(f"{file.name}: eicu.sql, which names the tables, must lie beside it")
    try:
        tables = checked_text(read_bytes(schema).decode("utf-8"), schema.name)
    except (UnicodeDecodeError, RowError) as error:
        raise MedjuryError(f"{schema.name}: is not the file that was expected ({error})") from None
    for row in (row for each in parts for row in gathering.rows(each, _EHRSQL_COLUMNS, within="[]")):
        with gathering.row(row):
            impossible = row.value("is_impossible")
            if not isinstance(impossible, bool):
                raise RowError("is_impossible is neither true nor false")
            query = row.text("query")
            if impossible != (query == IMPOSSIBLE):
                raise RowError("is_impossible and query contradict one another")
            inputs = {"question": row.text("question"), "schema": tables}
            facts = {"is_impossible": impossible, "places": bool(row.values.get("value"))}
            gathering.add(Item(row.text("id"), inputs, (query,), facts=facts), row.where)
    database = gathering.beside(file, "eicu.sqlite")
    if database is None:
        gathering.problems.append(f"{file.name}: eicu.sqlite does not lie beside it, so no query can be run")
    elif problem := database_problem(database, tables):
        gathering.problems.append(problem)
    return gathering.loaded(database)


# MEDIQA 2019, task 3: consumers' health questions with answers that people ranked and scored, as XML.
#
# Inputs: `question`. Gold: the answers scored 4 (excellent), the best rank first; else the one ranked first. The
# training files repeat names of questions: of a folder with all files the test part alone is read, as by HELM.

_EXCELLENT = 4


def load_mediqa_qa(benchmark: Benchmark, path: Path) -> Loaded:
    gathering = Gathering()
    for file in gathering.files(
        path, "*TestSet-wLabels.xml", "*TestSet*.xml", "*ValidationSet*.xml", "*.xml"
    ):
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


# ACI-Bench: conversations of doctor and patient with the note that belongs to each, as five CSV files.
#
# Inputs: `conversation`. Gold: the note. Facts: `split` (train, valid or test).

_ACI_BENCH_COLUMNS = ("encounter_id", "dataset", "dialogue", "note")


def load_aci_bench(benchmark: Benchmark, path: Path) -> Loaded:
    gathering = Gathering()
    for file in gathering.files(path, "challenge_data/*.csv", "*.csv"):
        if file.stem.endswith("_metadata"):
            continue
        facts = {"split": next((name for name in ("train", "valid", "test") if name in file.stem), "")}
        gathering.take(gathering.rows(file, _ACI_BENCH_COLUMNS), partial(_aci_bench_item, facts))
    return gathering.loaded()


def _aci_bench_item(facts: dict[str, str], row: Row) -> Item:
    inputs, gold = {"conversation": row.text("dialogue")}, (row.text("note"),)
    return Item(row.text("encounter_id"), inputs, gold, facts=facts)


# MedicationQA: questions of consumers about drugs, with answers from trusted sources, as the authors' spreadsheet.
#
# Inputs: `question`. Gold: the answer. Facts: `drug`, `question_type`. Some questions appear more than once, each
# time with an answer of its own; every row is an item, named by its row.

_MEDICATION_QA_COLUMNS = ("Question", "Answer", "Focus (Drug)", "Question Type")


def load_medication_qa(benchmark: Benchmark, path: Path) -> Loaded:
    gathering = Gathering()
    file = gathering.one_file(path, "*.xlsx", "*.csv")
    gathering.take(gathering.rows(file, _MEDICATION_QA_COLUMNS), _medication_qa_item)
    return gathering.loaded()


def _medication_qa_item(row: Row) -> Item:
    facts = {"drug": row.optional("Focus (Drug)"), "question_type": row.optional("Question Type")}
    gold, inputs = (row.text("Answer"),), {"question": row.text("Question")}
    return Item(f"row-{row.number}", inputs, gold, facts=facts)


# MedDialog: what a patient asked and a doctor replied, with a summary in one sentence, as JSON (`src` and `tgt`).
#
# Inputs: `conversation`. Gold: the summary. Facts: `part`, the folder of the file (healthcaremagic or icliniq).


def load_med_dialog(benchmark: Benchmark, path: Path) -> Loaded:
    gathering = Gathering()
    files = gathering.files(path, "test.json", "*.json")
    for file in files:
        part = file.parent.name if len(files) > 1 else ""
        for row in gathering.rows(file, ("src", "tgt"), within="data[]"):
            with gathering.row(row):
                name = f"{part}-{row.number}" if part else str(row.number)
                inputs, gold = {"conversation": row.text("src")}, (row.text("tgt"),)
                gathering.add(Item(name, inputs, gold, facts={"part": part}), row.where)
    return gathering.loaded()


# MEDEC: clinical texts, one sentence of which may hold an error. The file ends in hundreds of blank rows.
#
# Inputs: `sentences`, numbered as the source numbers them, one to a line. Gold: `CORRECT`, or the number of the
# wrong sentence and the sentence put right. Facts: `sentences` (number -> text), `error` (true or false),
# `error_sentence` (its number, -1 where there is none), `corrected_sentence` and `error_type` (empty where there is
# none).


_MEDEC_COLUMNS = ("Text ID", "Sentences", "Error Flag", "Error Sentence ID", "Corrected Sentence")
_SENTENCE = re.compile(r"(\d+) (.*)")


def load_medec(benchmark: Benchmark, path: Path) -> Loaded:
    gathering = Gathering()
    for file in gathering.files(path, "*.csv"):
        gathering.take(gathering.rows(file, _MEDEC_COLUMNS), _medec_item)
    return gathering.loaded()


def _medec_item(row: Row) -> Item:
    sentences = _numbered_sentences(row.text("Sentences"))
    error = row.label("Error Flag", ("0", "1")) == "1"
    number = row.whole_number("Error Sentence ID")
    if error != (number in sentences) or (not error and number != -1):
        raise RowError("Error Flag and Error Sentence ID do not match each other and the sentences")
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


def _numbered_sentences(text: str) -> dict[int, str]:
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


# MTSamples: transcribed notes, one text file each, as the public copy keeps them.
#
# The gold answer is the section PLAN, else SUMMARY, else FINDINGS, up to the next heading. Inputs: `note`, the text
# before that section (`options: {cut: gold}`), or before the first of the three (`cut: first`): no part of the
# answer is shown. A note with none of the three has no gold answer and is left out. Facts: `section`, `specialty`.


_SECTIONS = ("PLAN", "SUMMARY", "FINDINGS")
# The public copy has lost line breaks: a heading may stand right behind the last sentence of the section before it.
_HEADING = re.compile(r"(?:^|(?<=[^A-Z&/]))[ \t]*([A-Z][A-Z0-9 /&,()'-]{2,60}):", re.MULTILINE)
_KEYWORDS = re.compile(r"^Keywords:", re.MULTILINE)
NO_SECTION = "note without a section PLAN, SUMMARY or FINDINGS"
NO_NOTE = "file that is not an MTSamples note"


def load_mtsamples(benchmark: Benchmark, path: Path) -> Loaded:
    gathering = Gathering()
    first = benchmark.options.get("cut") == "first"
    for number, file in enumerate(gathering.files(path, "*.txt"), 1):
        row = Row(file.name, number, {})
        with gathering.row(row):
            item = _mtsamples_item(file, gathering, first)
            if item is not None:
                gathering.add(item, row.where)
    return gathering.loaded()


def _mtsamples_item(file: Path, gathering: Gathering, first: bool) -> Item | None:
    try:
        text = checked_text(read_bytes(file).decode("utf-8-sig"), "the note")
    except UnicodeDecodeError:
        raise RowError("is not valid UTF-8; save the file as UTF-8") from None
    specialty = re.match(r"Medical Specialty:(.*)", text)
    if specialty is None:
        gathering.leave_out(NO_NOTE)
        return None
    found = _sections(text)
    name = next((each for each in _SECTIONS if each in found and found[each][1]), None)
    if name is None:
        gathering.leave_out(NO_SECTION)
        return None
    start = min(begin for begin, _ in found.values()) if first else found[name][0]
    note = text[:start].strip()
    if not note:
        raise RowError(f"has nothing before its section {name}")
    return Item(
        file.stem,
        {"note": note},
        (found[name][1],),
        facts={"section": name, "specialty": specialty[1].strip()},
    )


def _sections(text: str) -> dict[str, tuple[int, str]]:
    """Where each of the three sections begins, and its text; the first of each name."""
    keywords = _KEYWORDS.search(text)
    end = keywords.start() if keywords else len(text)
    headings = [each for each in _HEADING.finditer(text) if each.start() < end]
    found: dict[str, tuple[int, str]] = {}
    for number, heading in enumerate(headings):
        until = headings[number + 1].start() if number + 1 < len(headings) else end
        content = text[heading.end() : until].strip()
        if heading[1] in _SECTIONS:
            found.setdefault(heading[1], (heading.start(), content))
    return found


# MedCalc-Bench: values to compute from a patient's note (CSV or Parquet), or the authors' worked examples (JSON).
#
# Inputs: `note` and `question`. Gold: the value as the source writes it. Facts: `calculator` (its number),
# `category`, `output_type` (`decimal`, `integer` or `date`), `lower_limit` and `upper_limit` (numbers, both None
# for dates and for lengths of time such as `('34 weeks', '3 days')`, which must be met exactly).
#
# The worked examples have neither question nor limits. `options: {calculators: …}` of the benchmark's file names
# each calculator, and says whether it is an equation (within 5 %, as the source has it), a rule (exact) or a date.


_MEDCALC_COLUMNS = (
    "Row Number", "Calculator ID", "Category", "Output Type", "Patient Note", "Question", "Ground Truth Answer",
    "Lower Limit", "Upper Limit",
)  # fmt: skip
_TYPES = ("decimal", "integer", "date")
_DATE = re.compile(r"\d{1,2}/\d{1,2}/\d{4}|\('\d+ weeks?', '\d+ days?'\)")
_TOLERANCE = 0.05


def load_medcalc_bench(benchmark: Benchmark, path: Path) -> Loaded:
    gathering = Gathering()
    file = gathering.one_file(path, "*.csv", "*.parquet", "*.json")
    examples = file.suffix.lower() == ".json"
    columns = ("@key", "Patient Note", "Response") if examples else _MEDCALC_COLUMNS
    make = partial(_example, benchmark.options.get("calculators", {})) if examples else _medcalc_item
    gathering.take(gathering.rows(file, columns, within="{}" if examples else None), make)
    return gathering.loaded()


def _medcalc_item(row: Row) -> Item:
    output_type, answer = row.label("Output Type", _TYPES), row.text("Ground Truth Answer")
    lower = upper = None
    if output_type == "date":
        if not _DATE.fullmatch(answer):
            raise RowError("Ground Truth Answer is neither a date (01/31/2024) nor a length of time")
    else:
        # Below zero the source may have them the other way round: 95 % of -7 is more than 105 % of it.
        lower, upper = sorted(_number(row.text(each), each) for each in ("Lower Limit", "Upper Limit"))
        if not lower <= _number(answer, "Ground Truth Answer") <= upper:
            raise RowError("Ground Truth Answer does not lie between its limits")
    facts = {
        "calculator": row.text("Calculator ID"),
        "category": row.text("Category"),
        "output_type": output_type,
        "lower_limit": lower,
        "upper_limit": upper,
        "stated_limits": (row.optional("Lower Limit"), row.optional("Upper Limit")),  # as the source has them
    }
    inputs = {"note": row.text("Patient Note"), "question": row.text("Question")}
    return Item(row.text("Row Number"), inputs, (answer,), facts=facts)


def _example(calculators: Mapping[str, Any], row: Row) -> Item:
    number, response = row.text("@key"), row.value("Response")
    known = calculators.get(number)
    if known is None:
        raise RowError(f"calculator {number} is not described in the benchmark's file")
    if not isinstance(response, dict) or "answer" not in response:
        raise RowError("Response has no answer")
    value, kind = response["answer"], known["by"]
    facts = {
        "calculator": number,
        "category": kind,
        "output_type": "date",
        "lower_limit": None,
        "upper_limit": None,
    }
    if kind == "date":
        answer = (
            f"('{value[0]}', '{value[1]}')" if isinstance(value, list) and len(value) == 2 else str(value)
        )
        if not _DATE.fullmatch(answer):
            raise RowError("the answer is neither a date nor a length of time")
    else:
        answer = str(value)
        exact = _number(answer, "the answer")
        room = abs(exact) * _TOLERANCE if kind == "equation" else 0.0
        kind_of_number = "decimal" if isinstance(value, float) else "integer"
        facts |= {"output_type": kind_of_number, "lower_limit": exact - room, "upper_limit": exact + room}
    inputs = {"note": row.text("Patient Note"), "question": f"What is the patient's {known['name']}?"}
    return Item(f"calculator-{number}", inputs, (answer,), facts=facts)


def _number(text: str, name: str) -> float:
    try:
        found = float(text)
    except ValueError:
        raise RowError(f"{name} is not a number") from None
    if not math.isfinite(found):
        raise RowError(f"{name} is not a finite number")
    return found
