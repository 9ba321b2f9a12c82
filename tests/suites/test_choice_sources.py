"""Questions answered by a choice: what each source's rows become, item by item, and what is refused."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from medjury.foundation.errors import MedjuryError
from medjury.suites import Item, Loaded, load_benchmark, load_items


def read(name: str, path: Path, **options: object) -> Loaded:
    return load_items(load_benchmark(name).model_copy(update={"options": options}), path)


def lines(file: Path, *rows: Mapping[str, object]) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return file


def document(file: Path, content: object) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(content), encoding="utf-8")
    return file


HALLU = {
    "Question": "Why?",
    "Knowledge": ["One.", "Two."],
    "Ground Truth": "So.",
    "Hallucinated Answer": "No.",
}


def test_a_row_of_medhallu_is_a_true_and_a_made_up_answer(tmp_path: Path) -> None:
    choices = {"A": "Factual", "B": "Hallucinated"}
    first, second = ({"knowledge": text, "question": "Why?"} for text in ("One.\nTwo.", "One."))
    lines(tmp_path / "a" / "x.jsonl", HALLU, {**HALLU, "Knowledge": " One. ", "Difficulty Level": "hard"})
    one = read("medhallu", tmp_path / "a")
    assert one.items == tuple(
        Item(f"{name}-{kind}", {**shown, "answer": answer}, (gold,), choices, facts={"difficulty": how})
        for name, shown, how in (("1", first, ""), ("2", second, "hard"))
        for kind, gold, answer in (("true", "A", "So."), ("made-up", "B", "No."))
    )


def test_the_items_of_several_files_of_medhallu_are_named_by_file_and_row(tmp_path: Path) -> None:
    lines(tmp_path / "b.jsonl", HALLU)
    lines(tmp_path / "a.jsonl", HALLU, HALLU)
    (tmp_path / "c.csv").write_text("not,read\n1,2\n", encoding="utf-8")
    found = read("medhallu", tmp_path)
    assert [item.id for item in found.items if item.gold == ("A",)] == ["1-1-true", "1-2-true", "2-1-true"]
    assert [file.name for file in found.read] == ["a.jsonl", "b.jsonl"]


@pytest.mark.parametrize("knowledge", [[], [1], ["One.", None], [["One."]], {"a": 1}, True, "", None])
def test_knowledge_of_medhallu_that_is_no_text_is_refused(tmp_path: Path, knowledge: object) -> None:
    found = read("medhallu", lines(tmp_path / "x.jsonl", HALLU, {**HALLU, "Knowledge": knowledge}))
    assert [item.id for item in found.items] == ["1-true", "1-made-up"]
    assert len(found.problems) == 1 and found.problems[0].startswith("x.jsonl, row 2: Knowledge")


BULLETS = "question,opa,opb,opc,opd,ope,answer_idx,answer\n"


def test_medbullets_has_four_or_five_choices_and_knows_where_a_figure_is_meant(tmp_path: Path) -> None:
    five = tmp_path / "medbullets_op5.csv"
    five.write_text(
        f"{BULLETS}Which?,a,b,c,d,e,e,E\nSee Figures B.,a,b,c,d,A,A,a\nSee figure 1.,a,b,c,d,,A,a\n",
        encoding="utf-8",
    )
    four = tmp_path / "medbullets_op4.csv"
    four.write_text(f"{BULLETS.replace('ope,', '')}Configure A?,a,b,c,D,D,d\n", encoding="utf-8")
    choices = {"A": "a", "B": "b", "C": "c", "D": "d"}
    found = read("medbullets", tmp_path)
    assert found.items == (
        Item("row-2", {"question": "Which?"}, ("E",), {**choices, "E": "e"}, facts={"figure": False}),
        Item("row-3", {"question": "See Figures B."}, ("A", "E"), {**choices, "E": "A"}, facts={"figure": True}),
    )  # fmt: skip
    assert found.problems == ("medbullets_op5.csv, row 4: ope is empty",)
    assert read("medbullets", four).items == (
        Item("row-2", {"question": "Configure A?"}, ("D",), {**choices, "D": "D"}, facts={"figure": False}),
    )


MEDQA = {"question": "Which?", "options": {"A": "Rest", "B": "Heat"}, "answer": "Heat", "answer_idx": "B"}


def test_medqa_of_a_folder_is_its_test_part(tmp_path: Path) -> None:
    lines(tmp_path / "train.jsonl", MEDQA, MEDQA)
    lines(tmp_path / "test.jsonl", MEDQA)
    assert read("medqa", tmp_path).items == (
        Item("row-1", {"question": "Which?"}, ("B",), {"A": "Rest", "B": "Heat"}),
    )
    assert len(read("medqa", tmp_path / "train.jsonl").items) == 2
    (tmp_path / "test.jsonl").rename(tmp_path / "dev.jsonl")
    with pytest.raises(MedjuryError, match=r"2 such files \(dev.jsonl, train.jsonl\)"):
        read("medqa", tmp_path)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"options": ["Rest", "Heat"]}, "options does not map letters to answers"),
        ({"options": {"A": "Rest", "B": 2}}, "options does not map letters to answers"),
        ({"options": {"B": "Heat", "A": "Rest"}}, "options is not lettered A, B, C …"),
        ({"options": {"A": "Heat"}, "answer_idx": "A"}, "has 1 choices; 2 to 26 can be lettered"),
        ({"answer": "heat"}, "answer_idx and answer name different choices"),
        ({"answer": "Rest"}, "answer_idx and answer name different choices"),
        ({"answer_idx": "C"}, "answer_idx is none of A, B"),
        ({"question": " "}, "question is empty"),
    ],
)
def test_a_row_of_medqa_that_does_not_fit_is_named(
    tmp_path: Path, change: dict[str, object], problem: str
) -> None:
    found = read("medqa", lines(tmp_path / "x.jsonl", MEDQA, {**MEDQA, **change}))
    assert found.problems == (f"x.jsonl, row 2: {problem}",)
    assert [item.id for item in found.items] == ["row-1"]


def question(
    number: object = 1, right: object = 2, texts: Sequence[object] = ("No.", "Yes."), **more: object
) -> Any:
    answers = [{"aid": each, "atext": text} for each, text in enumerate(texts, 1)]
    return {"qid": number, "qtext": "Is it?", "ra": right, "answers": answers, **more}  # fmt: skip


def exam(year: object, *questions: object) -> dict[str, object]:
    return {"data": list(questions), "category": "nursing", "year": year}


def test_head_qa_splits_by_year_and_names_items_by_exam_and_question(tmp_path: Path) -> None:
    exams = {f"E{year}": exam(year, question(7)) for year in range(2013, 2017)}
    exams["E2017"] = exam("2017", question("8", "1", ["Yes.", "no.", "YES."], image="p.png"))
    document(tmp_path / "HEAD_EN.json", {"exams": exams})
    document(tmp_path / "HEAD.json", {"exams": {"other": exam(2013, question())}})
    found = read("head_qa", tmp_path)
    splits = ["train", "train", "development", "test", "test"]
    assert [item.facts["split"] for item in found.items] == splits
    assert [item.id for item in found.items] == ["E2013-7", "E2014-7", "E2015-7", "E2016-7", "E2017-8"]
    assert found.items[0].facts == {
        "exam": "E2013", "subject": "nursing", "year": "2013", "split": "train", "image": ""
    }  # fmt: skip
    last = found.items[4]
    assert (last.gold, last.facts["image"]) == (("A", "C"), "p.png")
    assert (last.choices, last.inputs) == ({"A": "Yes.", "B": "no.", "C": "YES."}, {"question": "Is it?"})


@pytest.mark.parametrize(
    ("wrong", "problem"),
    [
        ("no object", "answers is not a list of answers"),
        (question(answers={"aid": 1}), "answers is not a list of answers"),
        (question(answers=[{"aid": 1, "atext": "a"}, "b"]), "answers is not a list of answers"),
        (question(texts=["No.", None]), "one of the choices is empty"),
        (question(right=3), "the right answer (ra) is none of the answers"),
        (question(right=None), "ra is empty"),
        (question(texts=["No."], right=1), "has 1 choices; 2 to 26 can be lettered"),
    ],
)
def test_a_question_of_head_qa_that_does_not_fit_is_named(
    tmp_path: Path, wrong: object, problem: str
) -> None:
    file = document(tmp_path / "x.json", {"exams": {"E": exam(2013, question(), wrong, question(3))}})
    found = read("head_qa", file)
    assert [item.id for item in found.items] == ["E-1", "E-3"]
    assert found.problems == (f"exam E, question 2: {problem}",)


def test_an_exam_without_a_list_of_questions_is_named(tmp_path: Path) -> None:
    exams = {"E": exam(2013, question()), "F": {**exam(2014), "data": {}}}
    found = read("head_qa", document(tmp_path / "x.json", {"exams": exams}))
    assert len(found.items) == 1 and found.problems[0].endswith(": data is not a list of questions")


def medmcqa(file: Path, *right: object, **more: object) -> Path:
    answers = {"opa": "a", "opb": "b", "opc": "c", "opd": "A"}
    rows = (
        {"id": f"q{number}", "question": "?", **answers, "cop": cop, **more}
        for number, cop in enumerate(right)
    )
    return lines(file, *rows)  # fmt: skip


def test_medmcqa_counts_as_its_file_says(tmp_path: Path) -> None:
    choices = {"A": "a", "B": "b", "C": "c", "D": "A"}
    medmcqa(tmp_path / "dev.jsonl", 1, 2, subject_name="Skin")
    medmcqa(tmp_path / "train.jsonl", 4)
    assert read("medmcqa", tmp_path, first_answer=1).items == (
        Item("q0", {"question": "?"}, ("A", "D"), choices, facts={"subject": "Skin"}),
        Item("q1", {"question": "?"}, ("B",), choices, facts={"subject": "Skin"}),
    )
    zero = read("medmcqa", tmp_path, first_answer=0)
    assert [item.gold for item in zero.items] == [("B",), ("C",)]
    last = read("medmcqa", tmp_path / "train.jsonl")
    assert last.items == (Item("q0", {"question": "?"}, ("D", "A"), choices, facts={"subject": ""}),)


@pytest.mark.parametrize(("right", "why"), [((1, 2, 3), "neither 0 nor 4"), ((0, 4), "both 0 and 4")])
def test_where_medmcqa_counts_from_is_never_guessed(tmp_path: Path, right: tuple[int, ...], why: str) -> None:
    with pytest.raises(MedjuryError, match=why):
        read("medmcqa", medmcqa(tmp_path / "x.jsonl", *right))


@pytest.mark.parametrize(
    ("right", "first", "golds", "problems", "hidden"),
    [
        ((0, 3, 4), 0, ["A", "D"], ["x.jsonl, row 3: cop is none of the four answers"], 0),
        ((0, 1, 4), 1, ["A", "D"], ["x.jsonl, row 1: cop is none of the four answers"], 0),
        (("0", 2.0), None, ["A", "C"], [], 0),
        ((4.0, None, -1, "-1", 1), None, ["D", "A"], [], 3),
        ((1, 4, "b"), None, ["A", "D"], ["x.jsonl, row 3: cop is not a whole number"], 0),
    ],
)
def test_answers_of_medmcqa_that_are_none_of_the_four_are_named(
    tmp_path: Path, right: tuple[object, ...], first: int | None, golds: list[str], problems: list[str], hidden: int
) -> None:  # fmt: skip
    options = {} if first is None else {"first_answer": first}
    found = read("medmcqa", medmcqa(tmp_path / "x.jsonl", *right), **options)
    assert [item.gold[0] for item in found.items] == golds
    assert list(found.problems) == problems
    assert sum(found.left_out.values()) == hidden


PUBMED = {"QUESTION": "Does it?", "CONTEXTS": ["Ten.", "Two."], "final_decision": "Maybe"}


def test_pubmedqa_takes_headings_annotators_and_its_test_part(tmp_path: Path) -> None:
    said = {"reasoning_required_pred": "yes", "reasoning_free_pred": "no"}
    questions = {
        "11": {**PUBMED, "LABELS": ["METHODS", ""], **said},
        "12": {**PUBMED, "LABELS": ["METHODS"], "reasoning_free_pred": "no"},
        "13": {**PUBMED, "LABELS": "AB", "final_decision": "no"},
    }
    document(tmp_path / "ori_pqal.json", questions)
    alone = read("pubmedqa", tmp_path)
    assert [item.facts["split"] for item in alone.items] == ["", "", ""]
    document(tmp_path / "test_ground_truth.json", {"12": "maybe", "99": "no", "98": "yes"})
    found = read("pubmedqa", tmp_path)
    shown = {"abstract": "Ten.\nTwo.", "question": "Does it?"}
    assert found.items == (
        Item(
            "11",
            {**shown, "abstract": "METHODS: Ten.\nTwo."},
            ("maybe",),
            facts={"split": "development", "annotators": ("yes", "no")},
        ),
        Item("12", shown, ("maybe",), facts={"split": "test", "annotators": ("no",)}),
        Item("13", shown, ("no",), facts={"split": "development", "annotators": ()}),
    )
    assert found.problems == ("ori_pqal.json: lacks 2 of the test ids, such as 98",)
    document(tmp_path / "test_ground_truth.json", {"11": "maybe", "12": "maybe", "13": "no"})
    whole = read("pubmedqa", tmp_path)
    assert whole.problems == () and {item.facts["split"] for item in whole.items} == {"test"}


@pytest.mark.parametrize("contexts", [[], "Ten.", [" "], ["Ten.", 2], None])
def test_an_abstract_of_pubmedqa_that_is_no_list_of_texts_is_named(tmp_path: Path, contexts: object) -> None:
    questions = {"1": PUBMED, "2": {**PUBMED, "CONTEXTS": contexts}, "3": {**PUBMED, "final_decision": "so"}}
    found = read("pubmedqa", document(tmp_path / "x.json", questions))
    assert [item.id for item in found.items] == ["1"]
    first, second = found.problems
    assert first.endswith(": CONTEXTS is not a list of texts")
    assert second.endswith(": final_decision is none of yes, no, maybe")


@pytest.mark.parametrize("truth", [["1"], {"1": "so"}, {"1": "Maybe"}])
def test_labels_of_pubmedqa_that_are_none_are_refused(tmp_path: Path, truth: object) -> None:
    document(tmp_path / "ori_pqal.json", {"1": PUBMED})
    document(tmp_path / "test_ground_truth.json", truth)
    with pytest.raises(MedjuryError, match="must map ids to yes, no, maybe"):
        read("pubmedqa", tmp_path)


# A paragraph is its runs: a text, or a text and its colour.
Paragraph = Sequence[str | tuple[str, str]]
WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"


def race_bias(file: Path, *paragraphs: str | Paragraph) -> Loaded:
    body = []
    for paragraph in paragraphs:
        runs = []
        for each in [paragraph] if isinstance(paragraph, str) else paragraph:
            text, colour = (each, "") if isinstance(each, str) else each
            marks = f'<w:rPr><w:b/><w:color w:val="{colour}"/></w:rPr>' if colour else ""
            parts = text.replace("\n", "</w:t><w:br/><w:t>").replace("\r", "</w:t><w:cr/><w:t>")
            runs.append(f"<w:r>{marks}<w:t>{parts.replace('	', '</w:t><w:tab/><w:t>')}</w:t></w:r>")
        body.append(f"<w:p>{''.join(runs)}</w:p>")
    with zipfile.ZipFile(file, "w") as packed:
        packed.writestr(
            "word/document.xml", f'<w:document xmlns:w="{WORD}"><w:body>{"".join(body)}</w:body></w:document>'
        )
    return load_items(load_benchmark("race_bias"), file)


def told(found: Loaded) -> list[tuple[object, object, str, str, str]]:
    return [
        (each.facts["model"], each.facts["run"], each.inputs["question"], each.inputs["answer"], each.gold[0])
        for each in found.items
    ]


RED = "FF0000"


def test_race_bias_gives_each_answer_its_model_run_and_colour(tmp_path: Path) -> None:
    found = race_bias(
        tmp_path / "x.docx",
        "Model One’s Responses:",
        "August 3",
        "Pain",
        "Run 1: Why?",
        ["It ", ("differs.", "ff0000")],
        "And\tso on.",
        "run 2 : Why?",
        ["Black.", (" ", RED), ("Blue.", "0000FF")],
        "Model Two Responses:",
        "May 24 Version",
        "",
        "Lungs",
        "RUN 1:How?",
        ("One.\nTwo.\rThree.", ("\nFour.", RED)),
        "Run 2: How?",
        "Well.",
    )
    assert told(found) == [
        ("Model One", 1, "Why?", "It differs.\nAnd\tso on.", "A"),
        ("Model One", 2, "Why?", "Black. Blue.", "B"),
        ("Model Two", 1, "How?", "One.\nTwo.\nThree.\nFour.", "A"),
        ("Model Two", 2, "How?", "Well.", "B"),
    ]
    assert [item.id for item in found.items] == ["answer-001", "answer-002", "answer-003", "answer-004"]
    assert found.items[0].choices == {"A": "Yes", "B": "No"}
    assert found.problems == ()


def test_of_what_is_between_two_answers_of_race_bias_only_headings_are_taken_off(tmp_path: Path) -> None:
    topic = "T" * 80
    found = race_bias(
        tmp_path / "x.docx",
        "Run 1: Why?", "First line.", "Second line.", topic,
        "Run 1: Why?", "A line.", topic + "T",
        "Run 1: Why?", "A line.", [("Red end.", RED)],
        "Run 1: Why?", "Last.",
    )  # fmt: skip
    assert [answer for *_, answer, _ in told(found)] == [
        "First line.\nSecond line.", f"A line.\n{topic}T", "A line.\nRed end.", "Last."
    ]  # fmt: skip
    assert {model for model, *_ in told(found)} == {""}


def test_an_answer_of_race_bias_without_text_or_question_is_named(tmp_path: Path) -> None:
    found = race_bias(
        tmp_path / "x.docx",
        "Run 1: Why?",
        "Run 2: Why?",
        "So.",
        "Topic",
        "Run 1:",
        "So.",
        "Run 2: How?",
        "Yes.",
    )
    assert found.problems == (
        "x.docx, answer 1: has no question or no answer",
        "x.docx, answer 3: has no question or no answer",
    )
    assert [item.id for item in found.items] == ["answer-002", "answer-004"]


@pytest.mark.parametrize(
    ("runs", "missing"),
    [
        ("1a 2a 1b 2b", []),
        ("1a 2a 2a 1b 2b", []),  # one run may appear twice
        ("1a 2a 2b 1b 2b", [3]),
        ("1a 2a 1b", [4]),
        ("1a 1b 2b", [2]),
        ("2a 1b 2b", [1]),
        ("1a 2a 3a 1b 3b", [5]),
        ("1a 1a 2a 1b 2b", [2]),
    ],
)
def test_a_run_of_race_bias_that_is_missing_is_seen_by_its_neighbours(
    tmp_path: Path, runs: str, missing: list[int]
) -> None:
    paragraphs = [
        text
        for run in runs.split()
        for text in (*["Topic"][: run[0] == "1"], f"Run {run[0]}: {run[1]}?", f"Answer {run}.")
    ]
    found = race_bias(tmp_path / "x.docx", *paragraphs)
    assert list(found.problems) == [
        f"x.docx, before answer {number}: a run is missing, or its heading `Run N:` cannot be read"
        for number in missing
    ]


def test_a_document_without_runs_is_not_race_bias(tmp_path: Path) -> None:
    with pytest.raises(MedjuryError, match="holds no line that begins with `Run 1:`"):
        race_bias(tmp_path / "x.docx", "Some text", "Run one: Why?")
