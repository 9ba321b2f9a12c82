"""The library: 35 benchmarks as the paper's table has them, each complete, each with a sample that can be read and
whose gold answers are right, and prompts that are filled in once."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from medjury.foundation.errors import MedjuryError
from medjury.instruments import load_instrument
from medjury.suites import (
    Item,
    check_data,
    library,
    load_benchmark,
    load_items,
    prompt_of,
    read_taxonomy,
    sample_file,
)
from medjury.suites._benchmark import inputs_of
from medjury.suites._library import list_benchmarks
from medjury.suites._marking._metrics import _ONE_BY_ONE, JURY, METRICS, SIMILARITIES, mark

MEDHELM = library()


def test_there_are_the_35_of_the_paper_and_five_more() -> None:
    assert len(MEDHELM) == 35
    assert {each.name for each in library(extras=True)} - {each.name for each in MEDHELM} == {
        "askdocs",
        "medmcqa",
        "medqa",
        "medxpertqa",
        "mmlu_med",
    }


def test_their_counts_are_those_of_the_paper() -> None:
    assert Counter(each.access for each in MEDHELM) == {"public": 14, "gated": 7, "private": 14}
    assert Counter(each.curation for each in MEDHELM) == {"existing": 17, "reformulated": 5, "new": 13}
    assert Counter(each.open for each in MEDHELM) == {True: 13, False: 22}
    assert Counter(each.category for each in MEDHELM) == {
        "Clinical Decision Support": 10,
        "Patient Communication and Education": 8,
        "Clinical Note Generation": 6,
        "Medical Research Assistance": 6,
        "Administration and Workflow": 5,
    }


def test_they_cover_every_subcategory_as_the_paper_says() -> None:
    found = read_taxonomy().coverage(MEDHELM)
    sizes = Counter(len(names) for names in found.by_subcategory.values())
    assert found.open == ()
    assert sizes[1] == 15
    assert sum(count for size, count in sizes.items() if 2 <= size <= 5) == 7


def test_the_page_names_the_public_ones_that_can_be_fetched_and_those_that_cannot() -> None:
    page = (Path(__file__).parents[2] / "docs" / "benchmarks.md").read_text(encoding="utf-8")
    brought, _, absent = (
        " ".join(page.split())
        .partition("`fetch` brings ")[2]
        .partition(" It asks before")[0]
        .partition(" It has no address for ")
    )
    assert absent.endswith("nor for any of those beside the 35.")
    assert not [each.name for each in library(extras=True) if each.fetched and each not in MEDHELM]
    public = {each.title: bool(each.fetched) for each in MEDHELM if each.access == "public"}
    named = {
        title: [re.search(rf"\b{title}(?=[ ,:.])", part) is not None for part in (brought, absent)]
        for title in public
    }
    assert named == {title: [fetched, not fetched] for title, fetched in public.items()}


def test_every_private_benchmark_is_new_but_one() -> None:
    assert {each.name for each in MEDHELM if each.access == "private" and each.curation != "new"} == {"clear"}


@pytest.mark.parametrize("name", list_benchmarks())
def test_each_is_complete_and_its_sample_can_be_read(name: str) -> None:
    benchmark = load_benchmark(name)
    assert benchmark.name == name
    assert benchmark.licence
    assert benchmark.citation or benchmark.curation == "new"
    assert benchmark.open == (benchmark.metrics[0] == "jury")
    if benchmark.instrument:
        assert benchmark.options["composite"] in {
            each.name for each in load_instrument(benchmark.instrument).composites
        }
    found = check_data(benchmark, sample_file(benchmark))
    assert (len(found.items), found.problems) == ({"medhallu": 6, "race_bias": 4}.get(name, 3), ())
    loaded = load_items(benchmark, sample_file(benchmark))
    for item in loaded.items:
        assert set(inputs_of(benchmark.prompt)) <= set(item.inputs)
        assert bool(item.gold) == bool(benchmark.gold)
        assert not item.choices or set(item.gold) <= set(item.choices)
        assert all(text in prompt_of(benchmark, item) for text in item.inputs.values())


def test_a_right_answer_by_its_number_or_letter_is_the_choice_that_it_names() -> None:
    def right(name: str) -> list[str]:
        found = load_items(load_benchmark(name), sample_file(load_benchmark(name))).items
        return [item.choices[item.gold[0]] for item in found]

    assert right("mmlu_med") == ["The pancreas", "Oxygen", "23"]
    assert right("medxpertqa") == ["Bisoprolol", "Vitamin C", "Radius"]


def test_the_one_without_a_gold_standard_is_graded_for_structure() -> None:
    assert [each.name for each in MEDHELM if not each.gold] == ["note_extract"]
    assert load_benchmark("note_extract").options["composite"] == "overall_restructured"


def test_a_name_that_is_not_known_brings_the_nearest() -> None:
    with pytest.raises(MedjuryError, match="did you mean 'pubmedqa'"):
        load_benchmark("pubmed_qa")


GOOD = """\
name: mine
version: "1"
title: Mine
category: Other
description: A test.
context: A question.
prompt: "{question}"
metrics: [exact_match]
open: false
gold: The answer.
access: private
curation: new
loader: table
source: here
licence: ours
"""


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        (
            "open: false",
            "open: true",
            "line 9: open: a benchmark has an instrument where its answers are open",
        ),
        (
            "[exact_match]",
            "[exakt_match]",
            "line 8: metrics[0]: there is no metric 'exakt_match'; did you mean",
        ),
        ("[exact_match]", "[exact_match, exact_match]", "line 8: metrics: a metric appears twice"),
        ("loader: table", "loader: tabel", "line 13: loader: there is no such loader; did you mean 'table'?"),
        ("category: Other", "category: Clinical Decisions", "line 4: category: there is no such category"),
        (
            "category: Other",
            "category: Administration and Workflow",
            "subcategory: there is no such subcategory",
        ),
        ('"{question}"', '"question"', "line 7: prompt: names no input"),
        ("gold: The answer.", "gold: ''", "line 10: gold: is empty"),
        ("licence: ours", "license: ours", "line 15: license: no such setting here"),
        ("licence: ours", "licence: ours\noptions: {choices: {A: Yes, B: No}}", "options.choices: must map"),
        (
            "licence: ours",
            "licence: ours\noptions: {columns: {gold: 3}}",
            "options.columns.gold: must be the name",
        ),
        ("licence: ours", "licence: ours\nfiles: [{name: ../x.csv}]", "without folders"),
        ("licence: ours", "licence: ours\nfiles: [{name: x, sha256: abc}]", "must be 64 digits"),
        (
            "licence: ours",
            "licence: ours\nfiles: [{name: x, address: 'file:///etc/passwd'}]",
            "begins with https",
        ),
    ],
)
def test_a_mistake_is_named_with_its_line(tmp_path: Path, old: str, new: str, complaint: str) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(GOOD, encoding="utf-8")
    assert load_benchmark(file).name == "mine"
    file.write_text(GOOD.replace(old, new), encoding="utf-8")
    with pytest.raises(MedjuryError) as error:
        load_benchmark(str(file))
    assert complaint in str(error.value)


# Loaders and metrics speak the same language: every gold answer of a sample is marked as wholly right.

LEARNED = {"bertscore", "embedding"}  # which need models


def test_the_metrics_that_a_benchmark_may_name_are_those_there_are() -> None:
    assert set(METRICS) == {*_ONE_BY_ONE, *SIMILARITIES, "sql_execution", JURY}


@pytest.mark.parametrize("name", [name for name in list_benchmarks() if load_benchmark(name).gold])
def test_a_gold_answer_gets_the_whole_mark(name: str) -> None:
    benchmark = load_benchmark(name)
    loaded = load_items(benchmark, sample_file(benchmark))
    for metric in set(benchmark.metrics) - LEARNED - {"jury"}:
        for item in loaded.items:
            found = mark(benchmark, item, item.gold[0], metric, database=loaded.database)
            assert found.score == 1, (item.id, metric, found)


# A prompt is filled in once: whatever a patient's text holds, it is text.

BENCHMARK = load_benchmark("pubmedqa").model_copy(update={"prompt": "From {abstract} say: {question}"})


def test_braces_inside_an_input_mean_nothing() -> None:
    item = Item("1", {"abstract": "{question} {0} {missing} {{x}} \\1", "question": "why?"})
    assert prompt_of(BENCHMARK, item) == "From {question} {0} {missing} {{x}} \\1 say: why?"


def test_choices_follow_the_prompt_that_has_no_place_for_them() -> None:
    item = Item("1", {"abstract": "a", "question": "b"}, choices={"A": "yes", "B": "no"})
    assert prompt_of(BENCHMARK, item) == "From a say: b\n\nA. yes\nB. no"


def test_an_input_that_an_item_lacks_is_named() -> None:
    with pytest.raises(MedjuryError, match="item 1 has no 'question', which its prompt asks for"):
        prompt_of(BENCHMARK, Item("1", {"abstract": "a"}))
