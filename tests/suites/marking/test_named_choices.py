"""Which choices some words name as they begin, and which words are left behind them."""

from __future__ import annotations

import pytest

from medjury.suites._marking._choices import Choices, Named, folded

DRUGS = Choices({"A": "Aspirin", "B": "Ibuprofen and rest", "C": "Paracetamol", "D": "Aspirin and heparin"})
DOSES = Choices({"A": "5 mg", "B": "15 mg", "C": "1,000 mg", "D": "0.5 mg"})
MUSCLES = Choices({"1": "Smooth muscle", "2": "Skeletal muscle", "3": "1"})
TWICE = Choices({"A": "Rest", "B": "rest.", "C": "Surgery", "D": ""})
YES_NO = Choices({"A": "Yes", "B": "No"})
CELLS = Choices({"A": "B lymphocytes", "B": "T lymphocytes", "C": "D"})
LABELS = Choices({"yes": "yes", "no": "no"}, lettered=False)


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("The  Rest.", "rest"),
        ("An egg", "egg"),
        ("a", "a"),
        ("the", "the"),
        ("Anna", "anna"),
        ("1,000 mg", "1000 mg"),
        ("1,000,000", "1000000"),
        ("1,00", "1 00"),
        ("1,0000", "1 0000"),
        ("Ｃ Ⅳ", "c iv"),
        ("it’s", "it's"),
        ("'quoted'", "quoted"),
        ("a-b", "a-b"),
        ("COVID–19", "covid 19"),
        ("x - y", "x y"),
        ("and/or", "and or"),
        ("1/2 3.5 e.g. x.y", "1/2 3.5 e g x y"),
        ("-5", "5"),
        ("50% <3 2+2=4", "50% <3 2+2=4"),
        ("a_b _c_", "a_b c"),
    ],
)
def test_texts_are_compared_by_their_words_and_numbers(text: str, same: str) -> None:
    assert folded(text) == same


# The words, the letters they begin with, what is left, and a letter that is no choice.
LETTERS: tuple[tuple[Choices, str, str, str, str], ...] = (
    (DRUGS, "C", "C", "", ""),
    (DRUGS, "c", "C", "", ""),
    (DRUGS, "(c) x", "C", ") x", ""),
    (DRUGS, "[ C ] x", "C", " ] x", ""),
    (DRUGS, "{C} x", "C", "} x", ""),
    (DRUGS, "<<C>>", "C", ">>", ""),
    *((DRUGS, f"C{sign}", "C", sign, "") for sign in ".)]}>:;,!?/|&+=→*\"'"[:-1] + "”。、–—-" + "\n"),
    (DRUGS, "CD", "", "", ""),
    (DRUGS, "C5", "", "", ""),
    (DRUGS, "C_", "", "", ""),
    (DRUGS, "C'", "", "", ""),
    (DRUGS, "C’s", "", "", ""),
    (DRUGS, "Cab", "", "", ""),
    (DRUGS, "", "", "", ""),
    (DRUGS, " C", "C", "", ""),
    # Other scripts.
    (DRUGS, "С", "C", "", ""),  # Cyrillic, and looks like C
    (DRUGS, "Ж", "", "", ""),
    (DRUGS, "é", "", "", ""),
    (DRUGS, "C是", "C", "是", ""),
    (DRUGS, "Cです", "C", "です", ""),
    (DRUGS, "Cй", "", "", ""),
    # A letter that is no choice: large or in brackets.
    (DRUGS, "F", "", "", "F"),
    (DRUGS, "F. rest", "", "", ""),
    (DRUGS, "F. Rest", "", ". Rest", "F"),
    (DRUGS, "f", "", "", ""),
    (DRUGS, "(f)", "", ")", "F"),
    # A letter that begins a name or is a word.
    (DRUGS, "E. coli", "", "", ""),
    (DRUGS, "C. difficile", "", "", ""),
    (DRUGS, "(C. difficile", "C", ". difficile", ""),
    (DRUGS, "C. is", "C", ". is", ""),
    (DRUGS, "C. because it", "C", ". because it", ""),
    (DRUGS, "C. paracetamol", "C", ". paracetamol", ""),
    (DRUGS, "a.m.", "", "", ""),
    (DRUGS, "(a.m.)", "A", ".m.)", ""),
    (DRUGS, "A drug", "", "", ""),
    (DRUGS, "A because", "A", " because", ""),
    (DRUGS, "I think", "", "", ""),
    (DRUGS, "A Aspirin", "A", " Aspirin", ""),
    (DRUGS, "A (x", "", "", ""),
    (DRUGS, "A Big", "", "", ""),
    (DRUGS, "C Paracetamol", "C", " Paracetamol", ""),
    (DRUGS, "C paracetamol", "C", " paracetamol", ""),
    (DRUGS, "c paracetamol", "", "", ""),
    (DRUGS, "C Big", "C", " Big", ""),
    (DRUGS, "C (x", "C", " (x", ""),
    (DRUGS, "C big", "", "", ""),
    (DRUGS, "F Big", "", "", ""),
    (DRUGS, "F with fever", "", " with fever", "F"),
    (DRUGS, "C with fever", "C", " with fever", ""),
    (DRUGS, "c with fever", "", "", ""),
    # Numbers.
    (MUSCLES, "1", "1", "", ""),
    (MUSCLES, "2.", "2", ".", ""),
    (MUSCLES, "2 skeletal muscle", "2", " skeletal muscle", ""),
    (MUSCLES, "2 because", "2", " because", ""),
    (MUSCLES, "2 hours", "", "", ""),
    (MUSCLES, "2nd", "", "", ""),
    (MUSCLES, "9.", "", "", ""),
    (MUSCLES, "(9)", "", "", ""),
    (MUSCLES, "123", "", "", ""),
    (LABELS, "A", "", "", ""),
)


@pytest.mark.parametrize(("choices", "words", "keys", "rest", "unknown"), LETTERS, ids=range(len(LETTERS)))
def test_a_letter_is_told_from_an_article_and_from_a_name(
    choices: Choices, words: str, keys: str, rest: str, unknown: str
) -> None:
    assert choices.letter_at(words) == Named(tuple(keys), rest, unknown)


TEXTS: tuple[tuple[Choices, str, str, str], ...] = (
    (DRUGS, "Aspirin", "A", ""),
    (DRUGS, "aspirin and heparin.", "D", "."),
    (DRUGS, "ASPIRIN, (and) heparin x", "D", " x"),
    (DRUGS, "the aspirin x", "A", " x"),
    (DRUGS, "an aspirin", "A", ""),
    (DRUGS, "aspirins", "", ""),
    (DRUGS, "x aspirin", "", ""),
    (TWICE, "rest x", "AB", " x"),
    (YES_NO, "no evidence", "", ""),
    (YES_NO, "No Evidence", "", ""),
    (YES_NO, "no because", "B", " because"),
    (YES_NO, "No to that", "B", " to that"),
    (YES_NO, "No was said", "B", " was said"),
    (YES_NO, "no, evidence", "B", ", evidence"),
    (YES_NO, "No 5", "B", " 5"),
    (DRUGS, "aspirin evidence", "A", " evidence"),
    (DOSES, "15mg", "B", ""),
    (DOSES, "15 mg daily", "B", " daily"),
    (DOSES, "1000 mg", "C", ""),
    (DOSES, "5\n mg", "A", ""),
    (DOSES, "0.5mg", "D", ""),
    (DOSES, "0.15 mg", "", ""),
)


@pytest.mark.parametrize(("choices", "words", "keys", "rest"), TEXTS, ids=range(len(TEXTS)))
def test_of_texts_that_words_begin_with_the_longest_is_meant(
    choices: Choices, words: str, keys: str, rest: str
) -> None:
    assert choices.text_at(words) == Named(tuple(keys), rest)


def test_a_text_that_two_choices_have_is_the_text_of_none() -> None:
    assert [TWICE.key_of(text) for text in ("Surgery.", "rest", "", "x")] == ["C", None, None, None]


@pytest.mark.parametrize(
    ("choices", "words", "keys"),
    [
        (DRUGS, "C", "C"),
        (DRUGS, "the paracetamol", "C"),
        (DRUGS, "Aspirin", "A"),
        (DRUGS, "A or B", "AB"),
        (DRUGS, "x", ""),
        (TWICE, "rest", "AB"),
        (TWICE, "", ""),
        (MUSCLES, "1", "13"),  # the number of one and the text of another
        (CELLS, "D", "C"),
        (Choices({"A": "B", "B": "A"}), "a.", "AB"),
        (Choices({"A": "C x", "C": "y"}), "C x", "A"),
    ],
)
def test_words_that_are_nothing_but_an_answer_are_a_text_a_letter_or_both(
    choices: Choices, words: str, keys: str
) -> None:
    assert set(choices.meant_by(words).keys) == set(keys)


@pytest.mark.parametrize(
    ("words", "keys", "rest", "unknown"),
    [
        ("the answer is C", "C", "", ""),
        ("probably most likely option: **C**", "C", "**", ""),
        (" C", "C", "", ""),
        ("not A but C", "C", "", ""),
        ("definitely not A; it is C", "C", "", ""),
        ("not A rather C", "C", "", ""),
        ("not A", "", "", ""),
        ("no longer A", "", "", ""),
        ("unlikely A", "", "", ""),
        ("A or B", "AB", "", ""),
        ("A, B and D.", "ABD", ".", ""),
        ("A/B, A", "AB", "", ""),
        ("A or B or perhaps C", "ABC", "", ""),
        ("C and (D)", "CD", ")", ""),
        ("A and B is wrong", "A", " and B is wrong", ""),
        ("A or B or C may be", "AB", " or C may be", ""),
        ("A or x", "A", " or x", ""),
        ("F or A", "A", "", "F"),
        ("F", "", "", "F"),
        ("x", "", "", ""),
    ],
)
def test_all_that_is_joined_is_named_and_what_is_denied_is_not(
    words: str, keys: str, rest: str, unknown: str
) -> None:
    assert DRUGS.named_by(words) == Named(tuple(keys), rest, unknown)


def test_filling_words_are_passed_over_unless_a_choice_begins_with_them() -> None:
    assert DRUGS.filled("  the answer is : = C") == "C"
    assert DRUGS.filled("aspirin is") == "aspirin is"
    assert Choices({"A": "The number", "B": "x"}).filled("is the number x") == "the number x"
    assert DRUGS.filled("the " * 6 + "C") == "C"
    assert DRUGS.filled("the " * 7 + "C") == "the C"  # at some point it is no lead any more


@pytest.mark.parametrize(
    ("choices", "words", "keys", "rest"),
    [
        (DRUGS, "C. Paracetamol x", "C", " x"),
        (DRUGS, "C) the paracetamol", "C", ""),
        (DRUGS, "C. Aspirin", "CA", ""),
        (DRUGS, "C (Aspirin)", "CA", ")"),
        (DRUGS, "C - aspirin, x", "CA", ", x"),
        (DRUGS, "C - aspirin x", "C", " - aspirin x"),
        (DRUGS, "C. Aspirin is", "C", ". Aspirin is"),
        (DRUGS, "C, Aspirin", "C", ", Aspirin"),
        (DRUGS, "C; Aspirin", "C", "; Aspirin"),
        (DRUGS, "C\nAspirin", "C", "\nAspirin"),
        (DRUGS, "C x", "", ""),
        (DRUGS, "aspirin x", "A", " x"),
        (CELLS, "B lymphocytes x", "A", " x"),
        (CELLS, "D", "C", ""),
        (Choices({"A": "B", "B": "A"}), "B", "BA", ""),
        (Choices({"A": "B.", "B": "x"}), "B)", "BA", ")"),
    ],
)
def test_a_letter_and_another_choices_text_contradict_one_another(
    choices: Choices, words: str, keys: str, rest: str
) -> None:
    found = choices.one(words)
    assert (found.keys, found.rest) == (tuple(keys), rest)


def test_words_begin_with_the_text_of_a_choice_or_they_do_not() -> None:
    begins = [
        ("C", "paracetamol x"),
        ("C", " the paracetamol"),
        ("C", "paracetamolx"),
        ("C", "x"),
        ("Z", "x"),
    ]
    assert [DRUGS.starts_with(key, words) for key, words in begins] == [True, True, False, False, False]
    assert not TWICE.starts_with("D", "x")
