"""Finds the loader of a benchmark's format."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

from medjury.foundation.documents import nearest
from medjury.foundation.errors import MedjuryError
from medjury.foundation.limits import read_bytes
from medjury.suites._benchmark import Benchmark
from medjury.suites._item import Item, Loaded
from medjury.suites._loaders._head_qa import load_head_qa
from medjury.suites._loaders._medcalc_bench import load_medcalc_bench
from medjury.suites._loaders._medec import load_medec
from medjury.suites._loaders._medmcqa import load_medmcqa
from medjury.suites._loaders._mtsamples import load_mtsamples
from medjury.suites._loaders._pubmedqa import load_pubmedqa
from medjury.suites._loaders._race_bias import load_race_bias
from medjury.suites._loaders._reading.choices import lettered, right_letters
from medjury.suites._loaders._reading.database import database_problem
from medjury.suites._loaders._reading.files import beside, one_file, source_files
from medjury.suites._loaders._reading.gather import Gathering, Row, RowError, checked_text
from medjury.suites._loaders._reading.table import load_table
from medjury.suites._loaders._reading.xml import read_xml

# EHRSQL, the eICU part: questions that are to be turned into SQL, and the database on which it is run.
#
# Inputs: `question` and `schema` (the statements that make the tables). Gold: the query, `null` where the question
# cannot be answered from the database. Facts: `is_impossible`. The folder holds `valid.json`, `eicu.sql` and
# `eicu.sqlite`; the last is `Loaded.database`, and None where it is not there.

_EHRSQL_COLUMNS = ("id", "question", "query", "is_impossible")
IMPOSSIBLE = "null"


def load_ehrsql(benchmark: Benchmark, path: Path) -> Loaded:
    file = one_file(path, "valid.json", "*.json")
    schema = beside(file, "eicu.sql")
    if schema is None:
        raise MedjuryError(f"{file.name}: eicu.sql, which names the tables, must lie beside it")
    try:
        tables = checked_text(read_bytes(schema).decode("utf-8"), schema.name)
    except (UnicodeDecodeError, RowError) as error:
        raise MedjuryError(f"{schema.name}: is not the file that was expected ({error})") from None
    gathering = Gathering()
    for row in gathering.rows(file, _EHRSQL_COLUMNS, within="[]"):
        with gathering.row(row):
            impossible = row.value("is_impossible")
            if not isinstance(impossible, bool):
                raise RowError("is_impossible is neither true nor false")
            query = row.text("query")
            if impossible != (query == IMPOSSIBLE):
                raise RowError("is_impossible and query contradict one another")
            inputs = {"question": row.text("question"), "schema": tables}
            facts = {"is_impossible": impossible}
            gathering.add(Item(row.text("id"), inputs, (query,), facts=facts), row.where)
    database = beside(file, "eicu.sqlite")
    if database is None:
        gathering.problems.append(
            f"{file.name}: eicu.sqlite does not lie beside it, so that no query can be run"
        )
    elif problem := database_problem(database, tables):
        gathering.problems.append(problem)
    return gathering.loaded(database)


# MEDIQA 2019, task 3: consumers' health questions with answers that people ranked and scored, as XML.
#
# Inputs: `question`. Gold: the answers scored 4 (excellent), the best rank first; else the one ranked first.

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


# MedHallu: questions on PubMed abstracts, each with the true answer and one that a model made up.
#
# A table (Parquet, JSON Lines or CSV); every row gives two items, `ROW-true` and `ROW-made-up`. Inputs:
# `knowledge`, `question` and `answer`. Choices: A factual, B hallucinated. Facts: `difficulty`.

_MEDHALLU_COLUMNS = ("Question", "Knowledge", "Ground Truth", "Hallucinated Answer")
_CHOICES = {"A": "Factual", "B": "Hallucinated"}


def load_medhallu(benchmark: Benchmark, path: Path) -> Loaded:
    gathering = Gathering()
    files = source_files(path, "*.parquet", "*.jsonl", "*.csv")
    for part, file in enumerate(files):
        for row in gathering.rows(file, _MEDHALLU_COLUMNS):
            with gathering.row(row):
                name = f"{part + 1}-{row.number}" if len(files) > 1 else str(row.number)
                for item in _items(row, name):
                    gathering.add(item, row.where)
    return gathering.loaded()


def _items(row: Row, name: str) -> list[Item]:
    shown = {"knowledge": _knowledge(row), "question": row.text("Question")}
    facts = {"difficulty": row.optional("Difficulty Level")}
    answers = (("true", "A", row.text("Ground Truth")), ("made-up", "B", row.text("Hallucinated Answer")))
    return [
        Item(f"{name}-{kind}", {**shown, "answer": answer}, (gold,), _CHOICES, facts=facts)
        for kind, gold, answer in answers
    ]


def _knowledge(row: Row) -> str:
    value = row.value("Knowledge")
    if isinstance(value, list) and value and all(isinstance(each, str) for each in value):
        return checked_text("\n".join(value), "Knowledge")
    if isinstance(value, list):
        raise RowError("Knowledge is no list of texts")
    return row.text("Knowledge")


# Medbullets: questions in the style of the USMLE, four or five answers each, as the authors' CSV file.
#
# Inputs: `question`. Choices: A to D or E. Gold: the letter. Facts: `figure`, true where the question speaks of a
# figure, which the file does not hold.

_MEDBULLETS_COLUMNS = ("question", "opa", "opb", "opc", "opd", "answer_idx", "answer")
_FIGURE = re.compile(r"\bFigures? [A-Z]\b")


def load_medbullets(benchmark: Benchmark, path: Path) -> Loaded:
    gathering = Gathering()
    for row in gathering.rows(one_file(path, "medbullets_op5.csv", "*.csv"), _MEDBULLETS_COLUMNS):
        with gathering.row(row):
            gathering.add(_medbullets_item(row), row.where)
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
    for row in gathering.rows(one_file(path, "test.jsonl", "*.jsonl"), _MEDQA_COLUMNS):
        with gathering.row(row):
            gathering.add(_item(row), row.where)
    return gathering.loaded()


def _item(row: Row) -> Item:
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


# ACI-Bench: conversations of doctor and patient with the note that belongs to each, as five CSV files.
#
# Inputs: `conversation`. Gold: the note. Facts: `split` (train, valid or test).

_ACI_BENCH_COLUMNS = ("encounter_id", "dataset", "dialogue", "note")


def load_aci_bench(benchmark: Benchmark, path: Path) -> Loaded:
    gathering = Gathering()
    for file in source_files(path, "challenge_data/*.csv", "*.csv"):
        if file.stem.endswith("_metadata"):
            continue
        for row in gathering.rows(file, _ACI_BENCH_COLUMNS):
            with gathering.row(row):
                item = Item(
                    row.text("encounter_id"),
                    {"conversation": row.text("dialogue")},
                    (row.text("note"),),
                    facts={"split": _split(file.stem)},
                )
                gathering.add(item, row.where)
    return gathering.loaded()


def _split(stem: str) -> str:
    return next((name for name in ("train", "valid", "test") if name in stem), "")


# MedicationQA: questions of consumers about drugs, with answers from trusted sources, as the authors' spreadsheet.
#
# Inputs: `question`. Gold: the answer. Facts: `drug`, `question_type`. Some questions appear more than once, each
# time with an answer of its own; every row is an item, named by its row.

_COLUMNS = ("Question", "Answer", "Focus (Drug)", "Question Type")


def load_medication_qa(benchmark: Benchmark, path: Path) -> Loaded:
    gathering = Gathering()
    for row in gathering.rows(one_file(path, "*.xlsx", "*.csv"), _COLUMNS):
        with gathering.row(row):
            facts = {"drug": row.optional("Focus (Drug)"), "question_type": row.optional("Question Type")}
            gold = (row.text("Answer"),)
            gathering.add(
                Item(f"row-{row.number}", {"question": row.text("Question")}, gold, facts=facts), row.where
            )
    return gathering.loaded()


# MedDialog: what a patient asked and a doctor replied, with a summary in one sentence, as JSON (`src` and `tgt`).
#
# Inputs: `conversation`. Gold: the summary. Facts: `part`, the folder of the file (healthcaremagic or icliniq).


def load_med_dialog(benchmark: Benchmark, path: Path) -> Loaded:
    gathering = Gathering()
    files = source_files(path, "test.json", "*.json")
    for file in files:
        part = file.parent.name if len(files) > 1 else ""
        for row in gathering.rows(file, ("src", "tgt"), within="data[]"):
            with gathering.row(row):
                name = f"{part}-{row.number}" if part else str(row.number)
                inputs, gold = {"conversation": row.text("src")}, (row.text("tgt"),)
                gathering.add(Item(name, inputs, gold, facts={"part": part}), row.where)
    return gathering.loaded()


LOADERS: Mapping[str, Callable[[Benchmark, Path], Loaded]] = {
    "aci_bench": load_aci_bench,
    "ehrsql": load_ehrsql,
    "head_qa": load_head_qa,
    "med_dialog": load_med_dialog,
    "medbullets": load_medbullets,
    "medcalc_bench": load_medcalc_bench,
    "medec": load_medec,
    "medhallu": load_medhallu,
    "medication_qa": load_medication_qa,
    "mediqa_qa": load_mediqa_qa,
    "medmcqa": load_medmcqa,
    "medqa": load_medqa,
    "mtsamples": load_mtsamples,
    "pubmedqa": load_pubmedqa,
    "race_bias": load_race_bias,
    "table": load_table,
}

_LOST = "\ufffd"
_SAMPLES = (
    Path(__file__).resolve().parents[1] / "_library" / "samples"
)  # which have the names of the real files

_ABOUT = {"readme.txt", "readme.md", "license", "license.txt"}


def load_items(benchmark: Benchmark, path: str | os.PathLike[str]) -> Loaded:
    """Every item of a benchmark from its source's file or folder. Rows that cannot be items are in `problems`; a
    file that is not the source's at all raises."""
    loader = LOADERS.get(benchmark.loader)
    if loader is None:
        raise MedjuryError(
            f"there is no loader {benchmark.loader!r}; {nearest(benchmark.loader, list(LOADERS))}"
        )
    loaded = loader(benchmark, Path(path))
    if not loaded.items and not loaded.problems:
        raise MedjuryError(f"{path}: holds no item of {benchmark.name}")
    return replace(
        loaded, remarks=_remarks(benchmark, Path(path), loaded), known=_is_known(benchmark, Path(path))
    )


def _is_known(benchmark: Benchmark, path: Path) -> bool:
    """Whether these are the source's own files, all of them: whatever else lies there may be a site's."""
    known = {mark for mark in benchmark.files.values() if mark}
    files = [path] if path.is_file() else [each for each in path.rglob("*") if each.is_file()]
    read = [each for each in files if each.name.casefold() not in _ABOUT]
    return bool(known and read) and all(_sha256(each) in known for each in read)


class DataCheck(NamedTuple):
    """What a file holds: items, everything that is wrong with it, and rows that are no items by their reasons."""

    items: int
    problems: tuple[str, ...]
    left_out: Mapping[str, int]


def check_data(benchmark: Benchmark, path: str | os.PathLike[str]) -> DataCheck:
    """Read a benchmark's data to the end, whatever is wrong with them."""
    try:
        loaded = load_items(benchmark, path)
    except MedjuryError as error:
        return DataCheck(0, tuple(str(error).splitlines()), {})
    return DataCheck(len(loaded.items), (*loaded.problems, *loaded.remarks), loaded.left_out)


def _remarks(benchmark: Benchmark, path: Path, loaded: Loaded) -> tuple[str, ...]:
    """Files that have the name of the source's and are not that file: cut short, changed, or of another version. A
    table that lost its last rows is still a table, so that no loader can see it. Letters that were lost when a file
    was saved are told where the file is not known to be the source's own."""
    if path.resolve().is_relative_to(_SAMPLES):
        return ()
    copies = {
        file: known
        for name, known in benchmark.files.items()
        for file in ([path] if path.name == name else path.rglob(name) if path.is_dir() else [])
        if known
    }
    others = {file.name: found for file, known in copies.items() if (found := _sha256(file)) != known}
    remarks = [
        f"{name}: is not the copy that {benchmark.name} {benchmark.version} was described from (its sha256 is "
        f"{found}); fetch it again, or say in your own copy of the benchmark's file which one you mean"
        for name, found in others.items()
    ]
    lost = sum(any(_LOST in text for text in (*item.inputs.values(), *item.gold)) for item in loaded.items)
    if lost and (others or not copies):
        remarks.append(
            f"{lost:,} items hold the sign {_LOST}, which stands for letters lost when a file was saved"
        )
    return tuple(remarks)


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
