"""Every source that lies beside the project is read whole from its authors' own file, and every row is counted."""

from __future__ import annotations

import hashlib
from collections import Counter
from pathlib import Path

import pytest

from medjury.suites import Loaded, load_benchmark, load_items, prompt_of
from medjury.suites._loaders._load import draw_items

DATA = Path(__file__).parents[3] / "shared/data/benchmarks"
pytestmark = pytest.mark.skipif(
    not DATA.is_dir(), reason="the benchmarks' files (shared/data/benchmarks) are not here"
)


def loaded(name: str, folder: str) -> Loaded:
    found = load_items(load_benchmark(name), DATA / folder)
    assert (found.problems, found.remarks) == ((), ())
    return found


def splits(found: Loaded) -> Counter[object]:
    return Counter(item.facts["split"] for item in found.items)


def test_aci_bench_has_207_visits() -> None:
    found = loaded("aci_bench", "aci_bench")
    assert splits(found) == {"train": 67, "valid": 20, "test": 120}
    assert not found.left_out


def test_medec_has_597_texts_and_328_blank_rows() -> None:
    found = loaded("medec", "medec")
    assert len(found.items) == 597
    assert found.left_out == {"blank row": 328}
    assert sum(item.facts["error"] for item in found.items) == 311
    wrong = next(item for item in found.items if item.id == "ms-test-0")
    assert wrong.facts["sentences"][10] == "Patient's symptoms are suspected to be due to hepatitis A."
    assert wrong.gold == ("10 Patient's symptoms are suspected to be due to Schistosoma mansoni.",)


def test_pubmedqa_has_a_thousand_questions_of_which_500_test() -> None:
    found = loaded("pubmedqa", "pubmedqa")
    assert splits(found) == {"test": 500, "development": 500}
    assert Counter(item.gold[0] for item in found.items) == {"yes": 552, "no": 338, "maybe": 110}
    assert len(draw_items(load_benchmark("pubmedqa"), found)) == 500


def test_head_qa_has_6765_questions_split_as_its_authors_split_them() -> None:
    found = loaded("head_qa", "head_qa")
    assert splits(found) == {"train": 2657, "development": 1366, "test": 2742}
    assert sum(bool(item.facts["image"]) for item in found.items) == 165
    assert Counter(len(item.choices) for item in found.items) == {4: 4108, 5: 2657}
    assert sum(len(item.gold) > 1 for item in found.items) == 3  # right answers that appear twice
    first = found.items[0]
    assert first.choices[first.gold[0]] == "They can be added."
    assert "\nC. They can be added.\n" in prompt_of(load_benchmark("head_qa"), first)


def test_ehrsql_has_1117_questions_of_which_362_are_impossible() -> None:
    found = loaded("ehrsql", "ehrsql_eicu")
    assert len(found.items) == 1117
    assert sum(item.facts["is_impossible"] for item in found.items) == 362
    assert found.database == DATA / "ehrsql_eicu/eicu.sqlite"


def test_mtsamples_notes_with_a_plan_are_items_and_the_others_are_counted() -> None:
    found = loaded("mtsamples", "mtsamples_replicate")
    assert {item.id: item.facts["section"] for item in found.items} == {
        "1-year-old_Exam_-_H_P": "PLAN",
        "AC_Separation_Revision___Hardware_Removal": "SUMMARY",
        "A_5-month-old_boy_with_cough": "PLAN",
    }
    assert found.left_out == {
        "note without a section PLAN, SUMMARY or FINDINGS": 9,
        "file that is not an MTSamples note": 1,
    }
    assert all(item.gold[0] not in item.inputs["note"] for item in found.items)


def test_mtsamples_procedures_show_nothing_from_the_first_of_the_three_sections_on() -> None:
    found = loaded("mtsamples_procedures", "mtsamples_procedures")
    assert Counter(item.facts["section"] for item in found.items) == {"PLAN": 3, "FINDINGS": 2, "SUMMARY": 1}
    assert found.left_out["note without a section PLAN, SUMMARY or FINDINGS"] == 6
    assert not [
        item.id for item in found.items if "FINDINGS:" in item.inputs["note"].replace("HEART FINDINGS:", "")
    ]
    excision = next(item for item in found.items if item.id == "Abscess_Excision")
    assert excision.gold[0].endswith("the hernia was easily repaired.")


def test_medication_qa_has_690_rows() -> None:
    found = loaded("medication_qa", "medication_qa")
    assert len(found.items) == 690
    assert len({item.inputs["question"] for item in found.items}) == 651
    assert found.items[0].facts == {"drug": "rivastigmine", "question_type": "Interaction"}


def test_mediqa_qa_has_25_questions_with_the_best_answer_first() -> None:
    found = loaded("mediqa_qa", "mediqa_qa")
    assert len(found.items) == 25
    assert [len(item.gold) for item in found.items][:4] == [3, 4, 1, 2]
    assert found.items[0].inputs == {"question": "about uveitis. IS THE UVEITIS, AN AUTOIMMUNE DISEASE?"}


def test_race_bias_has_181_answers_of_four_models_without_the_headings_between() -> None:
    found = loaded("race_bias", "race_bias")
    assert Counter(item.facts["model"] for item in found.items) == {
        "BARD": 45,
        "GPT 3.5": 46,
        "Claude": 45,
        "GPT-4": 45,
    }
    assert Counter(item.gold for item in found.items) == {("A",): 90, ("B",): 91}
    assert {item.facts["run"] for item in found.items} == {1, 2, 3, 4, 5}
    assert found.items[9].inputs["answer"] == "I'm a text-based AI and can't assist with that."
    assert not [item.id for item in found.items if "Responses:" in item.inputs["answer"]]


def test_medcalc_has_a_worked_example_for_each_of_55_calculators() -> None:
    found = loaded("medcalc_bench", "medcalc_bench")
    assert Counter(item.facts["output_type"] for item in found.items) == {
        "decimal": 33,
        "integer": 19,
        "date": 3,
    }
    facts = {item.facts["calculator"]: item for item in found.items}
    assert facts["69"].gold == ("('34 weeks', '3 days')",)
    assert (facts["8"].facts["lower_limit"], facts["8"].facts["upper_limit"]) == (1.5, 1.5)
    assert facts["63"].facts["lower_limit"] == pytest.approx(-7.35)
    assert facts["63"].facts["upper_limit"] == pytest.approx(-6.65)


def test_the_questions_of_askdocs_are_read_by_the_table_loader() -> None:
    found = loaded("askdocs", "medscore")
    assert len(found.items) == 20
    assert all(item.gold[0] and item.inputs["question"] for item in found.items)


@pytest.mark.parametrize(
    "name", ["aci_bench", "ehrsql", "head_qa", "medec", "medication_qa", "pubmedqa", "race_bias"]
)
def test_the_checksums_in_the_library_are_those_of_these_files(name: str) -> None:
    known = {each.name: each.sha256 for each in load_benchmark(name).files}
    here = {file.name: file for file in DATA.rglob("*") if file.name in known}
    assert here.keys() == known.keys()
    for each, file in here.items():
        assert hashlib.sha256(file.read_bytes()).hexdigest() == known[each]
