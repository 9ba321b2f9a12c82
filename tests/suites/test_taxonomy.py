"""The taxonomy is the paper's: its categories, its tasks line by line, and what clinicians said of it."""

from __future__ import annotations

from medjury.suites import load_benchmark, read_taxonomy


def test_it_has_the_categories_and_subcategories_that_it_states() -> None:
    taxonomy = read_taxonomy()
    assert taxonomy.counts == {"categories": 5, "subcategories": 22, "tasks": 121}
    assert len(taxonomy.categories) == 5
    assert len({each.name for _, each in taxonomy.subcategories()}) == 22
    assert all(each.definition and each.includes and each.performer for each in taxonomy.categories)


def test_groups_of_tasks_are_kept_and_said_to_be_groups() -> None:
    taxonomy = read_taxonomy()
    lines = [task for _, each in taxonomy.subcategories() for task in each.tasks]
    assert len(lines) == 56
    assert "56 lines" in taxonomy.note
    assert all(task.group for task in lines if "," in task.name)
    assert not next(task for task in lines if task.name == "Perform medical calculations").group


def test_the_review_by_clinicians_comes_with_its_places_in_the_paper() -> None:
    facts = {each.value: each for each in read_taxonomy().validation}
    assert {29, 96.7, 4.21, 107} <= set(facts)
    assert all(each.place for each in facts.values())
    assert "2505.23802" in read_taxonomy().source


def test_coverage_of_two_benchmarks_leaves_the_rest_open() -> None:
    found = read_taxonomy().coverage([load_benchmark("medcalc_bench"), load_benchmark("race_bias")])
    assert found.by_task[
        "Clinical Decision Support", "Supporting Diagnostic Decisions", "Perform medical calculations"
    ] == ["medcalc_bench"]
    assert len(found.open) == 20
    assert "2 of 22 subcategories and 2 of 56 listed tasks" in found.text()
