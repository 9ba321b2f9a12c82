"""An answer of another program belongs to an item by id and text, or by its whole text alone: never by likeness."""

from __future__ import annotations

from dataclasses import replace

from medjury.suites import Item, load_benchmark, prompt_of
from medjury.suites._exchange._others_answers import GivenAnswer, match_answers

KIND = load_benchmark("medication_qa")
FIRST = Item("1", {"question": "How is ibuprofen taken?"}, ("With food.",))
SECOND = Item("2", {"question": "How is ibuprofen taken by a child?"}, ("By weight.",))


def words_of(answers: dict[str, GivenAnswer], unmatched: dict[str, list[str]]) -> dict[str, str]:
    told = {item: why for why, ids in unmatched.items() for item in ids}
    return {item: answer.text for item, answer in answers.items()} | told


def matched(*answers: GivenAnswer, items: tuple[Item, ...] = (FIRST, SECOND)) -> dict[str, str]:
    """Whose answer each item has, and of the others why they have none."""
    return words_of(*match_answers(KIND, items, answers))


def given(identity: str, question: str, text: str = "x", **others: tuple[str, ...]) -> GivenAnswer:
    return GivenAnswer(identity, question, text, **others)


def test_the_same_id_and_its_text_in_the_question_are_a_match() -> None:
    asked = "Answer briefly.\n\nQuestion: How is  ibuprofen\ntaken by a child?"
    assert matched(given("2", asked))["2"] == "x"


def test_the_same_id_with_another_text_is_none_although_a_text_is_near() -> None:
    found = matched(given("1", "How is aspirin taken?"), given("2", "How is ibuprofen taken by a chil?"))
    assert set(found.values()) == {"the answer with its id is to another question"}


def test_without_the_id_the_whole_text_decides_and_a_part_of_it_does_not() -> None:
    found = matched(given("id7", " How is ibuprofen\n taken?"))
    assert found == {"1": "x", "2": "no answer has its id or its text"}
    # The text of the first item is a part of this question, which is the second one.
    found = matched(given("id7", "How is ibuprofen taken by a child?"))
    assert found == {"1": "no answer has its id or its text", "2": "x"}
    assert matched(given("id7", prompt_of(KIND, FIRST)))["1"] == "x"
    assert matched(given("id7", "HOW is ibuprofen taken?"))["1"] == "no answer has its id or its text"


def test_a_text_that_is_there_twice_on_either_side_is_refused() -> None:
    found = matched(given("a", "How is ibuprofen taken?", "x"), given("b", "How is ibuprofen taken?", "y"))
    assert found["1"] == "several answers have its text"
    same = replace(SECOND, inputs=FIRST.inputs)
    found = matched(given("a", "How is ibuprofen taken?"), items=(FIRST, same))
    assert set(found.values()) == {"another item has the same text"}


def test_an_id_is_not_enough_where_the_question_holds_the_texts_of_two_items() -> None:
    both = "Q: How is ibuprofen taken? Q: How is ibuprofen taken by a child?"
    found = matched(given("1", both), given("2", both))
    assert set(found.values()) == {"another item has the same text"}
    part = Item("3", {"question": "ibuprofen"})
    found = matched(given("1", "Briefly: How is ibuprofen taken?"), items=(FIRST, part))
    assert found["1"] == "x"  # the other is but a word of this one


HELMS = load_benchmark("medcalc_bench")
TALL = Item("t", {"question": "What is the BMI?", "note": "180 cm,\n81 kg."}, ("25",))
SMALL = Item("s", {"question": "What is the BMI?", "note": "160 cm, 81 kg."}, ("31.6",))


def matched_line(*inputs: str, items: tuple[Item, ...] = (TALL, SMALL)) -> dict[str, str]:
    answers = [GivenAnswer(f"id{number}", each, str(number)) for number, each in enumerate(inputs)]
    return words_of(*match_answers(HELMS, items, answers, by=HELMS.helm))


def test_an_answer_to_helm_is_known_by_a_whole_line_and_the_texts_beside_it() -> None:
    none = "no answer has its id or its text"
    small, tall = (
        f"Patient note: {note}\n\nQuestion: What is the BMI?\n"
        for note in ("160 cm, 81 kg.", "180 cm, 81 kg.")
    )
    assert matched_line(small, tall) == {"s": "0", "t": "1"}
    assert matched_line(small) == {"s": "0", "t": none}
    assert matched_line(small, small)["s"] == "several answers have its text"
    assert matched_line(small.replace("?", "? And why?")) == {
        "s": none,
        "t": none,
    }  # a part of a line is none
    same = replace(SMALL, id="u")
    assert matched_line(small, items=(SMALL, same)) == dict.fromkeys("su", "another item has the same text")
    assert match_answers(HELMS, (SMALL,), [GivenAnswer("id0", small, "x")])[0] == {}  # not of HELM


CHOICES = replace(FIRST, choices={"A": "With food.", "B": "Without.", "C": "Never."}, gold=("A",))


def test_a_letter_follows_its_choice_and_what_may_mean_another_is_refused() -> None:
    def answer(text: str, *choices: str, question: str = "How is ibuprofen taken?") -> dict[str, str]:
        return matched(given("1", question, text, choices=choices), items=(CHOICES,))

    refused = {"1": "its choices were others, in another order, or not given"}
    assert answer("B", "With food.", "Without.", "Never.") == {"1": "B"}
    assert answer("(B)", "Without.", "With food.", "Never.") == {"1": "A"}
    assert answer("It is B.", "Without.", "With food.", "Never.") == refused
    assert answer("B", "Without.", "With milk.", "Never.") == refused
    assert answer("D", "Without.", "With food.", "Never.") == refused
    assert answer("B") == refused
    shown = "How is ibuprofen taken? A. With food. B. Without. C. Never."
    assert answer("B", question=shown) == {"1": "B"}
    assert (
        answer("B", question="How is ibuprofen taken? A. Without. B. With food. C. Never. Without.")
        == refused
    )
