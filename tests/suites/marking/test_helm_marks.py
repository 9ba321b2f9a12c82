"""HELM's rules at fixed values. That they are HELM's is shown by `make test-interop`, against HELM itself."""

from __future__ import annotations

import pytest

from medjury.foundation.errors import MedjuryError
from medjury.suites import load_benchmark, load_items, mark, sample_file
from medjury.suites._benchmark import Item
from medjury.suites._marking._helm import helm_marks

WEEKS = "('2 weeks', '3 days')"
STYLES = ("B", " B\n", "B.", "(B)", "b", "**B**", "Answer: B", '{"answer": "B"}', "Two", "A or B", "")


def scores(name: str, item: Item, *answers: str, asked_by_helm: bool = False) -> list[float | None]:
    benchmark = load_benchmark(name)
    database = load_items(benchmark, sample_file(benchmark)).database
    made = helm_marks(
        benchmark, [item] * len(answers), answers, database=database, asked_by_helm=asked_by_helm
    )
    return [each.score for each in made]


def test_of_eleven_styles_of_the_right_letter_helm_takes_two_and_we_nine() -> None:
    item = Item("1", {"question": "?"}, ("B",), {"A": "One", "B": "Two"})
    assert scores("medbullets", item, *STYLES) == [1.0, 1.0] + [0.0] * 9
    ours = [mark(load_benchmark("medbullets"), item, each, "exact_match").score for each in STYLES]
    assert ours == [1.0] * 9 + [None, None]


def test_letters_of_the_same_text_are_all_right_and_of_the_same_word_in_capitals_are_not() -> None:
    item = Item("1", {}, ("A", "B", "C"), {"A": "rest", "B": "rest", "C": "Rest", "D": "surgery"})
    assert scores("head_qa", item, "A", "B", "C", "D") == [1.0, 1.0, 0.0, 0.0]


def test_the_word_of_our_prompt_counts_as_that_of_helms_unless_helm_asked() -> None:
    item = Item("1", {}, ("maybe",))
    assert scores("pubmedqa", item, "maybe", "C", "Maybe", "yes") == [1.0, 1.0, 0.0, 0.0]
    assert scores("pubmedqa", item, "maybe", "C", asked_by_helm=True) == [0.0, 1.0]
    made_up = Item("1", {}, ("B",), {"A": "Factual", "B": "Hallucinated"})
    assert scores("medhallu", made_up, "B", "1", "0", "A") == [1.0, 1.0, 0.0, 0.0]


def test_whatever_is_not_the_word_correct_says_that_there_is_an_error() -> None:
    with_error, without = (
        Item("1", {}, (gold,), facts={"error": gold != "CORRECT"}) for gold in ("1 x", "CORRECT")
    )
    answers = ("1 x", "", "I cannot say.", "CORRECT.", "CORRECT", "9" * 5_000)
    assert scores("medec", with_error, *answers) == [1.0, 1.0, 1.0, 1.0, 0.0, None]
    assert scores("medec", without, *answers) == [0.0, 0.0, 0.0, 0.0, 1.0, None]


@pytest.mark.parametrize(
    ("category", "gold", "limits", "expected"),
    [
        (
            "physical",
            "25.0",
            ("23.75", "26.25"),
            {"25": 1, "2.5e1": 1, "25 kg": 0, "26.26": 0, "nan": 0, "": 0},
        ),
        ("lab test", "25.0", ("23.75", "26.25"), {"25.0": 0, "25": 0}),
        ("physical", "-7", ("-6.65", "-7.35"), {"-7": 0}),  # its lower limit is the higher number
        ("risk", "4", ("4", "4"), {"4": 1, "4.0": 0, " 4 ": 1, "four": 0}),
        ("date", "01/18/2024", ("01/18/2024",) * 2, {"01/18/2024": 1, "1/18/2024": 1, "2024-01-18": 0}),
        ("date", WEEKS, (WEEKS, WEEKS), {"('1 weeks', '10 days')": 1, "2 weeks 3 days": 0}),
    ],
)
def test_calculations(category: str, gold: str, limits: tuple[str, str], expected: dict[str, int]) -> None:
    item = Item("1", {}, (gold,), facts={"category": category, "stated_limits": limits})
    assert scores("medcalc_bench", item, *expected) == list(expected.values())


def test_the_items_of_a_source_keep_the_limits_that_it_states() -> None:
    benchmark = load_benchmark("medcalc_bench")
    found = {
        each.facts["category"]: each.facts["stated_limits"]
        for each in load_items(benchmark, sample_file(benchmark)).items
    }
    assert found["physical"] == ("23.75", "26.25") and found["date"] == ("('2 weeks', '3 days')",) * 2


def test_codes_end_at_their_last_figure_and_none_on_either_side_is_no_number() -> None:
    item = Item("1", {}, ("S72.001A; I10",), facts={"codes": ("S72.001A", "I10")})
    assert scores("mimic_iv_billing_code", item, "S72, I10", "I10", "i10", "") == [
        1.0,
        pytest.approx(2 / 3),
        0.0,
        0.0,
    ]
    assert scores("mimic_iv_billing_code", Item("1", {}, ("Z3A.20",)), "none", "I10") == [None, 0.0]


def test_rows_are_a_set_that_must_not_be_empty() -> None:
    drugs = Item("1", {}, ("select drugname from medication order by 1",), facts={"places": False})
    tagged = "Here it is: <sql>```sql\nselect distinct drugname from medication\n```</sql>"
    assert scores("ehrsql", drugs, tagged, "select 1", "", "no query", "null") == [1.0, 0.0, 0.0, 0.0, 0.0]
    nothing = Item("1", {}, ("select age from patient where age = '0'",), facts={"places": False})
    assert scores("ehrsql", nothing, nothing.gold[0], "") == [0.0, 1.0]  # the gold query itself is wrong
    of_a_drug = Item("1", {}, nothing.gold, facts={"places": True})
    assert scores("ehrsql", of_a_drug, nothing.gold[0], "") == [0.0, 0.0]
    impossible = Item("1", {}, ("null",), facts={"is_impossible": True, "places": False})
    assert scores("ehrsql", impossible, "", "null", "select 1", "It cannot be answered.") == [
        1.0,
        1.0,
        0.0,
        0.0,
    ]
    assert scores("ehrsql", impossible, "null", "", asked_by_helm=True) == [0.0, 1.0]


def test_a_query_that_only_our_limits_stop_has_no_mark_and_one_that_writes_is_wrong() -> None:
    item = Item("1", {}, ("select age from patient",), facts={"places": False})
    long = f"select age from patient -- {'x' * 120_000}"
    assert scores("ehrsql", item, "select random()", long, "delete from patient") == [None, None, 0.0]


def test_a_benchmark_that_a_jury_scores_in_helm_has_no_rule() -> None:
    for name in ("mental_health", "askdocs"):
        with pytest.raises(MedjuryError, match="HELM has no rule"):
            helm_marks(load_benchmark(name), [], [])
