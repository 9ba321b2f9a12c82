"""Where an answer says what its answer is: lines that are nothing else, statements, and what takes one back."""

from __future__ import annotations

import pytest

from medjury.suites._marking._choices import Choices
from medjury.suites._marking._reading import listed_spans, lone_lines, read_choice, statements, taken_back

DRUGS = Choices({"A": "Aspirin", "B": "Ibuprofen and rest", "C": "Paracetamol", "D": "Aspirin and heparin"})
YES_NO = Choices({"A": "Yes", "B": "No"})
KNOWN = Choices({"A": "Not present", "B": "Present"})


@pytest.mark.parametrize(
    ("text", "line", "keys", "marks"),
    [
        ("C", "C", "C", "whole bare"),
        ("x\n  C.\ny", "  C.", "C", "whole bare"),
        ("option (C)", "option (C)", "C", "whole bare"),
        ("> - **C. Paracetamol**", "> - **C. Paracetamol**", "C", "whole"),
        ("A: C", "A: C", "C", "whole bare"),
        ("A: aspirin", "A: aspirin", "A", "whole"),
        ("C. Paracetamol rather than A", "C. Paracetamol rather than A", "C", "whole"),
        ("C, not A", "C, not A", "C", "whole"),
        ("A. a drug", "A. a drug", "A", ""),
        ("(A) a drug", "(A) a drug", "A", ""),
        ("C. Paracetamol ✓", "C. Paracetamol ✓", "C", "whole ticked"),
        ("[x] C", "[x] C", "C", "whole bare ticked"),
        ("[ ] C", "[ ] C", "C", "whole bare"),
        ("C: right.", "C: right.", "C", "ticked"),
        ("C) yes", "C) yes", "C", "ticked"),
        ("A) Aspirin - wrong", "A) Aspirin - wrong", "A", ""),
        ("C: correct ✗", "C: correct ✗", "C", ""),
        ("A: " + "x" * 597, "A: " + "x" * 597, "A", ""),
    ],
)
def test_a_line_is_an_answer_and_may_be_bare_or_ticked(text: str, line: str, keys: str, marks: str) -> None:
    (found,) = lone_lines(text, DRUGS)
    assert text[found.start : found.end] == line
    assert found.named.keys == tuple(keys)
    assert [name for name in ("whole", "bare", "ticked") if getattr(found, name)] == marks.split()


@pytest.mark.parametrize(
    "text",
    ["", "x", "C and so on", "A. B. C.", "A: B: C:", "C over the A and B and D and more", "A: " + "x" * 598],
)  # fmt: skip
def test_a_line_that_says_more_is_none(text: str) -> None:
    assert lone_lines(text, DRUGS) == []


@pytest.mark.parametrize(
    ("text", "listed", "lone"),
    [
        ("A. Aspirin\nB. Ibuprofen and rest\nx", ["A. Aspirin", "B. Ibuprofen and rest"], []),
        ("A. Aspirin\nx\nC. Paracetamol\nB", ["A. Aspirin", "C. Paracetamol"], ["B"]),
        ("C. Paracetamol\nA. Aspirin", [], ["C. Paracetamol", "A. Aspirin"]),
        ("B. Ibuprofen and rest\nA. Aspirin\nB. No", ["A. Aspirin", "B. No"], ["B. Ibuprofen and rest"]),
        ("A\nB\nC", [], ["A", "B", "C"]),
        ("A. Aspirin\nA. Aspirin", [], ["A. Aspirin", "A. Aspirin"]),
        (
            "A. Aspirin\nB. Rest ✓\nC. Paracetamol",
            ["A. Aspirin", "B. Rest ✓", "C. Paracetamol"],
            ["B. Rest ✓"],
        ),
    ],
)
def test_lines_that_restate_the_choices_are_no_answers_unless_one_is_ticked(
    text: str, listed: list[str], lone: list[str]
) -> None:
    assert [text[start:end] for start, end in listed_spans(text, DRUGS)] == listed
    assert [text[line.start : line.end] for line in lone_lines(text, DRUGS)] == lone


@pytest.mark.parametrize(
    ("text", "stated", "keys"),
    [
        ("The answer is C.", "answer is C", "C"),
        ("option b is the best choice", "b is the best", "B"),
        ("Answer: (A) is wrong. C is correct", "C is correct", "C"),
        ("option C – right", "C – right", "C"),
        (" C is most likely", "C is most likely", "C"),
        ("The answer is C? A?", "answer is C", "C"),
        ("if I had to, the answer is C", "answer is C", "C"),
        ("but the answer is C if", "answer is C", "C"),
        ("However, some think A; but the answer is C", "answer is C", "C"),
        ("x. So C", ". So C", "C"),
        ("So C because", "So C", "C"),
        ("So A, x", "So A", "A"),
        ("it must be C) x", "it must be C", "C"),
        ("the treatment is C. x", "treatment is C", "C"),
        ("The answer is A or C", "answer is A or C", "AC"),
        ("The answer is F.", "answer is F", ""),
    ],
)
def test_a_statement_names_a_choice_from_its_lead_on(text: str, stated: str, keys: str) -> None:
    (found,) = statements(text, DRUGS)
    assert (text[found.start : found.end], found.named.keys, found.final) == (stated, tuple(keys), False)
    assert found.named.unknown == ("" if keys else "F")


@pytest.mark.parametrize(
    "text",
    [
        "The answer is C is wrong",
        "The answer is not given",
        "C is not correct",
        "C is incorrect",
        "not C is correct",
        "A, C is correct",
        "A and C are correct",
        "hepatitis C is right",
        "Is the answer C?",
        '"The answer is C"',
        "“The answer is C",
        "If so, the answer is C",
        "whether x; the answer is C",
        "The student may think the answer is C",
        "So C is it",
        "I think C is",
        "Each option:\nA. Aspirin\nB. Ibuprofen and rest",
    ],
)
def test_what_is_asked_quoted_supposed_or_denied_is_not_stated(text: str) -> None:
    assert statements(text, DRUGS) == []


def test_statements_come_in_their_order_and_say_which_is_final() -> None:
    text = "C is best. The final answer is B. And the answer is A."
    found = statements(text, DRUGS)
    assert [(text[each.start : each.end], each.final) for each in found] == [
        ("C is best", False), ("final answer is B", True), ("answer is A", False)
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("between", "back"),
    [(" Wait, the ", True), (" And the ", False), (" I was wrong: the ", True), (" No, the ", True)],
)  # fmt: skip
def test_words_between_two_statements_may_take_the_first_back(between: str, back: bool) -> None:
    text = f"Wait. The answer is B.{between}answer is C. Wait."
    earlier, later = statements(text, DRUGS)
    assert taken_back(text, earlier, later) is back


READ: tuple[tuple[Choices, str, str | None], ...] = (
    (DRUGS, "C, because", "C"),
    (DRUGS, "C? maybe", "C"),
    (DRUGS, "C? A?", None),
    (DRUGS, "C! It is sure", "C"),
    (DRUGS, "C) as it does", "C"),
    (DRUGS, "A, B, because", None),
    (DRUGS, "Not A but C, x", "C"),
    (DRUGS, "Not A, x", None),
    (KNOWN, "Not present", "A"),
    (KNOWN, "not B but A", "A"),
    (YES_NO, "No, it is", "B"),
    (YES_NO, "No; x", "B"),
    (YES_NO, "No due to rest", "B"),
    (YES_NO, "no evidence", None),
    # In bold letters.
    (DRUGS, "This **C** is what I mean", "C"),
    (DRUGS, "This __C__ here and **C**", "C"),
    (DRUGS, "This **C** x **A** y", None),
    (DRUGS, "It is not **C** here", None),
    (DRUGS, "It is not so. This **C** here", "C"),
    # Lines.
    (DRUGS, "x\nC\ny", "C"),
    (DRUGS, "x\nA\ny\nB\nz", None),
    (DRUGS, "A\nx\nC", None),
    (DRUGS, "x\nC. drug\ny", None),
    (DRUGS, "C ✓\nA ✓", None),
    (DRUGS, "x\nC ✓\nA", "C"),
    # Several statements.
    (DRUGS, "The answer is B. The answer is C.", None),
    (DRUGS, "The answer is B. Wait, the answer is C.", "C"),
    (DRUGS, "The answer is B or C. It is C.", "C"),
    (DRUGS, "The answer is C. The answer is C or B.", None),
    (DRUGS, "The final answer is C. The answer is A.", None),
    (DRUGS, "The answer is A. The final answer is C.", "C"),
    # A form made for answers stands above what was said before it.
    (DRUGS, "The answer is A. \\boxed{C}", "C"),
    (DRUGS, "\\boxed{C} so A", "C"),
    (DRUGS, "\\boxed{C}. The answer is A.", None),
    (DRUGS, "\\boxed{A}. Wait. The answer is C.", "C"),
    (DRUGS, "\\boxed{} The answer is C.", "C"),
    (DRUGS, "\\(\\textbf{C}\\)", "C"),
    (DRUGS, "The answer is $\\mathrm{C}$", "C"),
    (DRUGS, "The answer is \\[`C`\\]", "C"),
    # In passing: once, in a short answer that neither denies nor speaks of the past.
    (DRUGS, "I like paracetamol", "C"),
    (DRUGS, "I like paracetamol and aspirin", None),
    (DRUGS, "I like paracetamol, paracetamol", "C"),
    (DRUGS, 'I like "paracetamol"', None),
    (DRUGS, "Patients had paracetamol earlier", None),
    (DRUGS, "Some avoid paracetamol", None),
    (DRUGS, "word " * 39 + "paracetamol", "C"),
    (DRUGS, "word " * 40 + "paracetamol", None),
    (YES_NO, "It is so, no doubt", None),
    (Choices({"A": "Leg", "B": "Arm"}), "I mean the leg", "A"),
    (Choices({"A": "Leg", "B": "In"}), "I mean the leg", None),
)


@pytest.mark.parametrize(("choices", "answer", "meant"), READ, ids=range(len(READ)))
def test_a_choice_is_read_where_one_is_meant(choices: Choices, answer: str, meant: str | None) -> None:
    assert read_choice(answer, choices).value == meant


def test_why_no_choice_was_read_names_those_that_were() -> None:
    notes = {
        "The answer is B. The answer is A.": "the answer says A and B; one was asked for",
        "The answer is D or B.": "the answer names D and B; one was asked for",
        "\\boxed{Q}": "'Q' is none of the choices",
        "\\boxed{" + "x" * 99 + "}": f"{'x' * 60!r} is none of the choices",
    }
    for answer, note in notes.items():
        assert read_choice(answer, DRUGS).note == note
