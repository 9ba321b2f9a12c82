"""Questions answered by a text, a number or a query: what each source's rows become, and what is refused."""

from __future__ import annotations

import csv
import json
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from medjury.foundation.errors import MedjuryError
from medjury.suites import Item, Loaded, load_benchmark, load_items


def read(name: str, path: Path, **options: object) -> Loaded:
    return load_items(load_benchmark(name).model_copy(update={"options": options}), path)


def table(file: Path, columns: Sequence[str], *rows: Sequence[object]) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("w", encoding="utf-8", newline="") as opened:
        csv.writer(opened).writerows([columns, *rows])
    return file


def document(file: Path, content: object) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(content), encoding="utf-8")
    return file


SCHEMA = 'create table if not exists "Patient" (id INT);\r\nCREATE TABLE drug (name TEXT);\n'


def asked(name: object, query: object = "SELECT 1", impossible: object = False) -> dict[str, object]:
    return {"id": name, "question": "How many?", "query": query, "is_impossible": impossible}


def eicu(folder: Path, *made: str, schema: str | None = SCHEMA) -> Path:
    folder.mkdir(exist_ok=True)
    if schema is not None:
        (folder / "eicu.sql").write_bytes(schema.encode())
    with closing(sqlite3.connect(folder / "eicu.sqlite")) as connection:
        for each in made:
            connection.execute(each)
    return folder


def test_ehrsql_asks_of_a_schema_and_keeps_its_database(tmp_path: Path) -> None:
    folder = eicu(tmp_path / "a", "CREATE TABLE patient (id INT)", "CREATE VIEW Drug AS SELECT 1 AS name")
    document(folder / "valid.json", [asked(1), asked("b", "null", True)])
    document(folder / "test.json", [{**asked("t"), "value": {"drug_name": "aspirin"}}])
    document(folder / "train.json", [asked("never")])
    found = read("ehrsql", folder)
    shown = {"question": "How many?", "schema": SCHEMA.strip().replace("\r", "")}
    assert found.items == (
        Item("1", shown, ("SELECT 1",), facts={"is_impossible": False, "places": False}),
        Item("b", shown, ("null",), facts={"is_impossible": True, "places": False}),
        Item("t", shown, ("SELECT 1",), facts={"is_impossible": False, "places": True}),
    )
    assert (found.problems, found.database) == ((), folder / "eicu.sqlite")
    # A file alone is that file alone.
    assert [item.id for item in read("ehrsql", folder / "valid.json").items] == ["1", "b"]
    (folder / "valid.json").unlink()
    assert [item.id for item in read("ehrsql", folder).items] == ["t"]


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        (asked("x", "null"), "is_impossible and query contradict one another"),
        (asked("x", "SELECT 1", True), "is_impossible and query contradict one another"),
        (asked("x", "SELECT 1", 0), "is_impossible is neither true nor false"),
        (asked("x", " "), "query is empty"),
        (asked("x", ["SELECT 1"]), "query is not text"),
        (asked(1.0), "its id appears twice, first in valid.json, row 1"),
    ],
)
def test_a_question_of_ehrsql_that_contradicts_itself_is_named(
    tmp_path: Path, row: dict[str, object], problem: str
) -> None:
    folder = eicu(tmp_path, "CREATE TABLE patient (id INT)", "CREATE TABLE drug (name TEXT)")
    document(folder / "valid.json", [asked(1), row])
    found = read("ehrsql", folder)
    assert found.problems == (f"valid.json, row 2: {problem}",) and len(found.items) == 1


@pytest.mark.parametrize(
    ("schema", "made", "problem"),
    [
        (SCHEMA, ["CREATE TABLE patient (id INT)"], "eicu.sqlite: has no table drug"),
        (SCHEMA, [], "eicu.sqlite: has no table drug, patient"),
        ("-- nothing", ["CREATE TABLE a (b)"], "eicu.sqlite: has no table that eicu.sql describes"),
        ("CREATE TABLE [a] (b)", ["CREATE TABLE A (b)", "CREATE TABLE c (d)"], ""),
        ("CREATE TABLE `a` (b)", [], "eicu.sqlite: has no table a"),
    ],
)
def test_a_database_lacks_what_its_schema_names(
    tmp_path: Path, schema: str, made: list[str], problem: str
) -> None:
    folder = eicu(tmp_path, *made, schema=schema)
    document(folder / "valid.json", [asked(1)])
    assert read("ehrsql", folder).problems == ((problem,) if problem else ())


def test_ehrsql_needs_its_schema_and_names_a_missing_database(tmp_path: Path) -> None:
    folder = eicu(tmp_path, schema=None)
    file = document(folder / "valid.json", [asked(1)])
    with pytest.raises(MedjuryError, match="which names the tables, must lie beside it"):
        read("ehrsql", file)
    for content in (b"CREATE TABLE \xff (a)", b"CREATE TABLE \0 (a)"):
        (folder / "eicu.sql").write_bytes(content)
        with pytest.raises(MedjuryError, match="is not the file that was expected"):
            read("ehrsql", file)
    (folder / "eicu.sql").write_text("CREATE TABLE a (b)")
    (folder / "eicu.sqlite").unlink()
    found = read("ehrsql", file)
    assert found.database is None and len(found.items) == 1
    assert found.problems == ("valid.json: eicu.sqlite does not lie beside it, so no query can be run",)


def mediqa(file: Path, *questions: Sequence[tuple[object, object, str]]) -> Path:
    body = ""
    for number, answers in enumerate(questions, 1):
        body += f'<Question QID="q{number}"><QuestionText> Why {number}? </QuestionText><AnswerList>'
        for rank, score, text in answers:
            ranked = f'ReferenceRank="{rank}" ReferenceScore="{score}"'
            body += f"<Answer {ranked}><AnswerText>{text}</AnswerText></Answer>"
        body += "</AnswerList></Question>"
    file.write_text(f"<Questions>{body}</Questions>", encoding="utf-8")
    return file


def test_the_gold_answers_of_mediqa_are_the_excellent_ones_by_rank_or_the_first(tmp_path: Path) -> None:
    file = mediqa(
        tmp_path / "x.xml",
        [(2, 4, "second"), (1, 4, "first"), (3, 3, "third")],
        [(2, 3, "second"), (1, 1, " first ")],
        [(1, 3, "first"), (2, 4, "excellent")],
    )
    assert read("mediqa_qa", file).items == (
        Item("q1", {"question": "Why 1?"}, ("first", "second")),
        Item("q2", {"question": "Why 2?"}, ("first",)),
        Item("q3", {"question": "Why 3?"}, ("excellent",)),
    )


@pytest.mark.parametrize(
    ("answers", "problem"),
    [
        ([(1, 0, "a")], "a ReferenceScore is not 1 to 4"),
        ([(1, 5, "a")], "a ReferenceScore is not 1 to 4"),
        ([(1, "four", "a")], "ReferenceScore is not a whole number"),
        ([], "its answers are not ranked 1, 2, 3 …"),
        ([(1, 4, "a"), (1, 4, "b")], "its answers are not ranked 1, 2, 3 …"),
        ([(1, 4, "a"), (3, 4, "b")], "its answers are not ranked 1, 2, 3 …"),
        ([(0, 4, "a"), (1, 4, "b")], "its answers are not ranked 1, 2, 3 …"),
        ([(1, 4, "")], "AnswerText is empty"),
    ],
)
def test_ranks_and_scores_of_mediqa_that_do_not_fit_are_named(
    tmp_path: Path, answers: list[tuple[object, object, str]], problem: str
) -> None:
    found = read("mediqa_qa", mediqa(tmp_path / "x.xml", [(1, 4, "a")], answers))
    assert found.problems == (f"x.xml, question 2: {problem}",) and len(found.items) == 1


def test_aci_bench_reads_the_folder_of_its_challenge_and_no_metadata(tmp_path: Path) -> None:
    columns = ("encounter_id", "dataset", "dialogue", "note")
    part = tmp_path / "challenge_data"
    for number, name in enumerate(("clef_test2", "test1", "train", "valid", "more")):
        table(part / f"{name}.csv", columns, (f"V{number}", "aci", f"talk {number}", f"note {number}"))
    table(part / "train_metadata.csv", ("encounter_id", "age"), ("V2", 40))
    table(tmp_path / "src" / "train.csv", columns, ("other", "aci", "a", "b"))
    found = read("aci_bench", tmp_path)
    assert [(item.id, item.facts["split"]) for item in found.items] == [
        ("V0", "test"), ("V4", ""), ("V1", "test"), ("V2", "train"), ("V3", "valid")
    ]  # fmt: skip
    assert found.items[0] == Item("V0", {"conversation": "talk 0"}, ("note 0",), facts={"split": "test"})
    assert read("aci_bench", table(tmp_path / "own_train.csv", columns, ("A", "", "t", "n"))).items == (
        Item("A", {"conversation": "t"}, ("n",), facts={"split": "train"}),
    )


def test_every_row_of_medication_qa_is_an_item(tmp_path: Path) -> None:
    columns = ("Question", "Answer", "Focus (Drug)", "Question Type", "URL")
    file = table(
        tmp_path / "x.csv", columns, ("Why?", "So.", "aspirin", "Use", "u"), ("Why?", "Or so.", "", "", "")
    )
    assert read("medication_qa", file).items == (
        Item("row-2", {"question": "Why?"}, ("So.",), facts={"drug": "aspirin", "question_type": "Use"}),
        Item("row-3", {"question": "Why?"}, ("Or so.",), facts={"drug": "", "question_type": ""}),
    )


def test_the_parts_of_meddialog_are_named_by_their_folders(tmp_path: Path) -> None:
    talk = {"data": [{"src": "Q", "tgt": "S"}, {"src": "R", "tgt": "T"}]}
    one = document(tmp_path / "icliniq" / "test.json", talk)
    document(tmp_path / "icliniq" / "train.json", talk)
    alone = read("med_dialog", tmp_path)
    assert alone.items[0] == Item("1", {"conversation": "Q"}, ("S",), facts={"part": ""})
    assert (len(alone.items), alone.read) == (2, (one,))
    document(tmp_path / "healthcaremagic" / "test.json", {"data": [{"src": "U", "tgt": "V"}]})
    both = read("med_dialog", tmp_path)
    assert [item.id for item in both.items] == ["healthcaremagic-1", "icliniq-1", "icliniq-2"]
    assert both.items[2] == Item("icliniq-2", {"conversation": "R"}, ("T",), facts={"part": "icliniq"})


MEDEC = ("Text ID", "Sentences", "Error Flag", "Error Sentence ID", "Corrected Sentence", "Error Type")


def test_medec_numbers_its_sentences_and_says_which_is_wrong(tmp_path: Path) -> None:
    text = "0 Fever.\n1 He is given:\n 2 aspirin\n7 days\n\n2 Rest. "
    file = table(
        tmp_path / "x.csv",
        MEDEC,
        ("a", text, 1, 1, "He rests.", "treatment"),
        ("b", text, 0, -1, "NA", "none"),
    )
    shown = {"sentences": "0 Fever.\n1 He is given: 2 aspirin 7 days\n2 Rest."}
    sentences = {0: "Fever.", 1: "He is given: 2 aspirin 7 days", 2: "Rest."}
    wrong, right = read("medec", file).items
    assert (wrong.id, wrong.inputs, wrong.gold) == ("a", shown, ("1 He rests.",))
    assert wrong.facts == {
        "sentences": sentences, "error": True, "error_sentence": 1, "corrected_sentence": "He rests.",
        "error_type": "treatment",
    }  # fmt: skip
    assert (right.inputs, right.gold) == (shown, ("CORRECT",))
    assert right.facts == {
        "sentences": sentences, "error": False, "error_sentence": -1, "corrected_sentence": "", "error_type": ""
    }  # fmt: skip


UNLIKE = "Error Flag and Error Sentence ID do not match each other and the sentences"


@pytest.mark.parametrize(
    ("text", "flag", "number", "corrected", "problem"),
    [
        ("0 A.\n1 B.", 1, 2, "C.", UNLIKE),
        ("0 A.\n1 B.", 0, 1, "", UNLIKE),
        ("0 A.\n1 B.", 0, 7, "", UNLIKE),
        ("0 A.\n1 B.", 1, -1, "C.", UNLIKE),
        ("0 A.", 1, 0, "", "Corrected Sentence is empty"),
        ("0 A.", 1, "0.5", "B.", "Error Sentence ID is not a whole number"),
        ("1 A.", 0, -1, "", "Sentences does not begin with `0 ` and a sentence"),
        ("A.\n0 B.", 0, -1, "", "Sentences does not begin with `0 ` and a sentence"),
        ("0A.", 0, -1, "", "Sentences does not begin with `0 ` and a sentence"),
    ],
)
def test_a_text_of_medec_that_contradicts_itself_is_named(
    tmp_path: Path, text: str, flag: int, number: object, corrected: str, problem: str
) -> None:
    rows = (("a", "0 A.", 1, 0, "B.", "x"), ("b", text, flag, number, corrected, "x"))
    found = read("medec", table(tmp_path / "x.csv", MEDEC, *rows))
    assert found.problems == (f"x.csv, row 3: {problem}",)
    assert [item.gold for item in found.items] == [("0 B.",)]


NOTES = {
    "plan": "Medical Specialty: ENT \nHISTORY: Ear.SUMMARY: One.PLAN: Rest.\nSUMMARY: Two.\nKeywords:\nPLAN: No.",
    "summary": "Medical Specialty:Skin\nHISTORY: Rash.\nPLAN:\nSUMMARY: Cream; see PLAN B.\nFINDINGS: Red.",
    "findings": "Medical Specialty:Eye\nR/O FINDINGS: none\n  FINDINGS: Red.",
    "nothing": "Medical Specialty:Eye\nHISTORY: Red.\nTHE PLAN: Rest.",
    "empty": "Medical Specialty:Eye\nPLAN: \nSUMMARY:  ",
    "other": "A list of files.\nPLAN: Rest.",
}


def notes(folder: Path) -> Path:
    for name, text in NOTES.items():
        (folder / f"{name}.txt").write_bytes(b"\xef\xbb\xbf" + text.encode())
    return folder


def test_the_gold_answer_of_a_note_is_its_plan_else_its_summary_else_its_findings(tmp_path: Path) -> None:
    found = read("mtsamples", notes(tmp_path))
    assert found.items == (
        Item(
            "findings",
            {"note": "Medical Specialty:Eye\nR/O FINDINGS: none"},
            ("Red.",),
            facts={"section": "FINDINGS", "specialty": "Eye"},
        ),
        Item(
            "plan",
            {"note": "Medical Specialty: ENT \nHISTORY: Ear.SUMMARY: One."},
            ("Rest.",),
            facts={"section": "PLAN", "specialty": "ENT"},
        ),
        Item(
            "summary",
            {"note": "Medical Specialty:Skin\nHISTORY: Rash.\nPLAN:"},
            ("Cream; see PLAN B.",),
            facts={"section": "SUMMARY", "specialty": "Skin"},
        ),
    )
    assert found.left_out == {
        "note without a section PLAN, SUMMARY or FINDINGS": 2,
        "file that is not an MTSamples note": 1,
    }


def test_a_note_may_be_cut_before_the_first_of_the_three_sections(tmp_path: Path) -> None:
    found = {item.id: item for item in read("mtsamples", notes(tmp_path), cut="first").items}
    assert found["plan"].inputs == {"note": "Medical Specialty: ENT \nHISTORY: Ear."}
    assert found["summary"].inputs == {"note": "Medical Specialty:Skin\nHISTORY: Rash."}
    assert (found["plan"].gold, found["summary"].gold) == (("Rest.",), ("Cream; see PLAN B.",))


def test_a_note_that_is_no_text_or_all_answer_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"Medical Specialty:Eye\nPLAN: R\xe9st.")
    (tmp_path / "b.txt").write_bytes(b"Medical Specialty:Eye\nPLAN: R\0st.")
    assert read("mtsamples", tmp_path).problems == (
        "a.txt: is not valid UTF-8; save the file as UTF-8",
        "b.txt: the note holds characters that were lost when the file was saved; fetch it again",
    )


MEDCALC = (
    "Row Number", "Calculator ID", "Category", "Output Type", "Patient Note", "Question", "Ground Truth Answer",
    "Lower Limit", "Upper Limit",
)  # fmt: skip


def calculation(kind: str, answer: str, lower: object = "", upper: object = "") -> tuple[object, ...]:
    return ("", 6, "physical", kind, "He is tall.", "BMI?", answer, lower, upper)


def calculations(file: Path, *rows: tuple[object, ...]) -> Path:
    return table(file, MEDCALC, *((number, *row[1:]) for number, row in enumerate(rows, 1)))


def test_a_calculation_has_its_limits_in_order_or_none(tmp_path: Path) -> None:
    file = calculations(
        tmp_path / "x.csv",
        calculation("Decimal", "-7.0", "-6.65", "-7.35"),
        calculation("integer", "4", 4, 4),
        calculation("date", "1/31/2024", "1/31/2024", "1/31/2024"),
        calculation("date", "('1 week', '0 days')"),
    )
    items = read("medcalc_bench", file).items
    stated = [("-6.65", "-7.35"), ("4", "4"), ("1/31/2024", "1/31/2024"), ("", "")]
    assert [item.facts["stated_limits"] for item in items] == stated  # as the source has them
    items = [replace(item, facts={**item.facts, "stated_limits": None}) for item in items]
    first, second, *dates = items
    facts = {"calculator": "6", "category": "physical", "stated_limits": None}
    shown = {"note": "He is tall.", "question": "BMI?"}
    assert first == Item(
        "1",
        shown,
        ("-7.0",),
        facts={**facts, "output_type": "decimal", "lower_limit": -7.35, "upper_limit": -6.65},
    )
    assert second.facts == {**facts, "output_type": "integer", "lower_limit": 4.0, "upper_limit": 4.0}
    assert [item.gold[0] for item in dates] == ["1/31/2024", "('1 week', '0 days')"]
    for item in dates:
        assert item.facts == {**facts, "output_type": "date", "lower_limit": None, "upper_limit": None}


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        (calculation("decimal", "2.1", 1, 2), "Ground Truth Answer does not lie between its limits"),
        (calculation("decimal", "0.9", 1, 2), "Ground Truth Answer does not lie between its limits"),
        (calculation("decimal", "one", 1, 2), "Ground Truth Answer is not a number"),
        (calculation("decimal", "inf", 1, "inf"), "Upper Limit is not a finite number"),
        (calculation("decimal", "1", "", 2), "Lower Limit is empty"),
        (
            calculation("date", "2024-01-31"),
            "Ground Truth Answer is neither a date (01/31/2024) nor a length of time",
        ),
        (calculation("text", "a"), "Output Type is none of decimal, integer, date"),
    ],
)
def test_a_calculation_that_does_not_fit_its_limits_is_named(
    tmp_path: Path, row: tuple[object, ...], problem: str
) -> None:
    file = calculations(
        tmp_path / "x.csv", calculation("decimal", "1", 1, 2), row, calculation("decimal", "2", 1, 2)
    )
    found = read("medcalc_bench", file)
    assert found.problems == (f"x.csv, row 3: {problem}",)
    assert [item.id for item in found.items] == ["1", "3"]


CALCULATORS = {
    "1": {"name": "clearance", "by": "equation"},
    "2": {"name": "score", "by": "rule"},
    "3": {"name": "due date", "by": "date"},
}


def examples(folder: Path, *answers: tuple[str, object]) -> Path:
    return document(
        folder / "x.JSON",
        {number: {"Patient Note": "He is tall.", "Response": answer} for number, answer in answers},
    )


@pytest.mark.parametrize(
    ("number", "value", "gold", "kind", "limits"),
    [
        ("1", 20, "20", "integer", (19, 21)),
        ("1", -7.0, "-7.0", "decimal", (-7.35, -6.65)),
        ("2", 4, "4", "integer", (4, 4)),
        ("2", 1.5, "1.5", "decimal", (1.5, 1.5)),
        ("3", "01/31/2024", "01/31/2024", "date", (None, None)),
        ("3", ["2 weeks", "1 day"], "('2 weeks', '1 day')", "date", (None, None)),
    ],
)
def test_a_worked_example_has_the_limits_of_its_kind(
    tmp_path: Path,
    number: str,
    value: object,
    gold: str,
    kind: str,
    limits: tuple[float | None, float | None],
) -> None:
    file = examples(tmp_path, (number, {"answer": value, "steps": "…"}))
    (item,) = read("medcalc_bench", file, calculators=CALCULATORS).items
    known = CALCULATORS[number]
    assert (item.id, item.gold) == (f"calculator-{number}", (gold,))
    assert item.inputs == {"note": "He is tall.", "question": f"What is the patient's {known['name']}?"}
    facts = (item.facts["calculator"], item.facts["category"], item.facts["output_type"])
    assert facts == (number, known["by"], kind)
    for each, limit in zip(("lower_limit", "upper_limit"), limits, strict=True):
        assert item.facts[each] == (None if limit is None else pytest.approx(limit))


@pytest.mark.parametrize(
    ("number", "response", "problem"),
    [
        ("4", {"answer": 1}, "calculator 4 is not described in the benchmark's file"),
        ("1", {"result": 1}, "Response has no answer"),
        ("1", "answer", "Response has no answer"),
        ("1", {"answer": "many"}, "the answer is not a number"),
        ("3", {"answer": ["2 weeks"]}, "the answer is neither a date nor a length of time"),
        ("3", {"answer": "soon"}, "the answer is neither a date nor a length of time"),
    ],
)
def test_a_worked_example_that_cannot_be_marked_is_named(
    tmp_path: Path, number: str, response: object, problem: str
) -> None:
    found = read("medcalc_bench", examples(tmp_path, (number, response)), calculators=CALCULATORS)
    assert not found.items and found.problems[0].endswith(f": {problem}")
    assert (
        read("medcalc_bench", examples(tmp_path, (number, response)))
        .problems[0]
        .endswith(f": calculator {number} is not described in the benchmark's file")
    )
