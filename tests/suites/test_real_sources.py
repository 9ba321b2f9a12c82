"""Every source that lies beside the project is read whole from its authors' own file, and every row is counted."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from medjury.suites import Loaded, draw_items, load_benchmark, load_items, prompt_of

DATA = Path(__file__).parents[3] / "shared/data/benchmarks"
pytestmark = pytest.mark.skipif(
    not DATA.is_dir(), reason="the benchmarks' files (shared/data/benchmarks) are not here"
)


def loaded(name: str, folder: str) -> Loaded:
    found = load_items(load_benchmark(name), DATA / folder)
    assert found.problems == ()
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
    first = found.items[0]
    assert first.choices[first.gold[0]] == "They can be added."
    assert "\nC. They can be added.\n" in prompt_of(load_benchmark("head_qa"), first)


def test_ehrsql_has_1117_questions_of_which_362_are_impossible() -> None:
    found = loaded("ehrsql", "ehrsql_eicu")
    assert len(found.items) == 1117
    assert sum(item.facts["is_impossible"] for item in found.items) == 362
    assert found.database == DATA / "ehrsql_eicu/eicu.sqlite"
