"""What a model wrote, taken apart: its thoughts, the repeated question, and the forms that hold its answer."""

from __future__ import annotations

import pytest

from medjury.suites._marking._answer_text import (
    UnfinishedError,
    declines,
    given_forms,
    plain_text,
    without_question,
    without_thought,
)


def test_every_character_has_one_spelling() -> None:
    assert plain_text("Ｃ🄲🅒🅲🄰🅉🅩ﬁ\u200b\u00ad\ufeff") == "CCCCAZZfi"


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("<think>a</think>b", "b"),
        ("<THINK >a\n</ think>b", "b"),
        ("<think>a</thinking>b", "b"),
        ("a</think>b</think>c", "c"),
        ("a<think>b", "a"),
        ("<think>a</think>", ""),
        ("<think>a</think>b<thinking>c", "b"),
        ("x<reflection>y</reflection>z", "x\nz"),
        ("<|channel|>final<|message|>y", "y"),
        ("<|channel|>analysis<|message|>x<|channel|>final<|message|>y<|Channel|> Final z", "z"),
        ("[INST] a [/INST] b</s>", "a   b"),
        ("<|im_end|>c", "c"),
        (f"<|{'x' * 40}|>c", "c"),
        (f"<|{'x' * 41}|>c", f"<|{'x' * 41}|>c"),
    ],
)
def test_thoughts_and_signs_of_the_channel_are_no_part_of_the_answer(text: str, left: str) -> None:
    assert without_thought(text) == left


@pytest.mark.parametrize(
    "text", ["<think>a", " <Scratchpad>a", "<think>a</think><think>b", "<|channel|>analysis<|message|>x"]
)
def test_thoughts_that_never_end_leave_no_answer(text: str) -> None:
    with pytest.raises(UnfinishedError):
        without_thought(text)


@pytest.mark.parametrize(
    ("text", "shown", "left"),
    [
        ("A  question that\nis longer. Yes", ["A question that is longer."], "Yes"),
        ("A question (that?) is long. Yes", [" A question (that?) is long. "], "Yes"),
        ("x" * 24 + " C", ["x" * 24], "x" * 24 + " C"),
        ("x" * 25 + " C", ["x" * 25], "C"),
        ("Twenty-five signs at least, C", ["Twenty-five signs at leas", "Twenty-five signs at least,"], "C"),
        ("a\nQuestion: b", [], "a"),
        ("a\n## Next question 2**: b", [], "a"),
        ("a\nUser : b\nHuman: c", [], "a"),
        ("\nQuestion: b", [], "Question: b"),
        ("a Question: b", [], "a Question: b"),
        ("a\nQuestions: b", [], "a\nQuestions: b"),
    ],
)  # fmt: skip
def test_what_was_shown_and_a_question_that_was_made_up_are_no_part_of_the_answer(
    text: str, shown: list[str], left: str
) -> None:
    assert without_question(text, shown) == left


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ('{"answer": "C"}', ["C"]),
        ("{'answer': 'C'}", ["C"]),
        ('[{"answer": " C "}] {"choice": 2}', ["C", "2"]),
        ('{"Final Answer": "x", "answer": "y"}', ["x"]),
        ('{"result": "x", "answer": "y"}', ["y"]),
        ('{"answer": {"choice": "C"}}', ["C"]),
        ('{"answer": {"x": "C"}}', [""]),
        ('{"answer": ["A", true, null, 3, false]}', ["A and yes and  and 3 and no"]),
        ('{"answer": null}', [""]),
        ('{"a": {"answer": "C"}}', []),
        ('{"x": 1} ["answer"] {x} {"label": 1.5}', ["1.5"]),
        ("{'answer': x}", []),
        ('{"answer": "C"', []),
        ("\\boxed{a{b}c} \\fbox {d}", ["a{b}c", "d"]),
        ("\\boxed{ \\text{a\\textbf{b}} }", ["ab"]),
        ("\\boxed{a", []),
        ("\\boxed{a {b}", []),
        ("<answer> C </answer><Final>\nD\n</Final>", ["C", "D"]),
        ("<answer>C</choice>", []),
        ("[[ C ]] [D] [[]]", ["C"]),
        (f"[[{'x' * 80}]] [[{'y' * 81}]]", ["x" * 80]),
        ('a \\boxed{x} b {"answer": "y"} [[z]]', ["x", "y", "z"]),
        ("{" * 299 + '{"answer": "C"}', ["C"]),
        ("{" * 300 + '{"answer": "C"}', []),  # nobody means that as an object
    ],
)
def test_every_form_that_holds_an_answer_is_found_in_its_order(text: str, values: list[str]) -> None:
    found = given_forms(text)
    assert [each.value for each in found] == values
    assert [each.start for each in found] == sorted(each.start for each in found)


def test_a_form_says_from_where_to_where_it_goes() -> None:
    text = "a \\boxed{x} b {\"answer\": \"y\"} [[z]] <answer>w</answer> {'answer': 'v'}."
    places = ["\\boxed{x}", '{"answer": "y"}', "[[z]]", "<answer>w</answer>", "{'answer': 'v'}"]
    assert [text[each.start : each.end] for each in given_forms(text)] == places


PLEASE = "Please ask a doctor. "


@pytest.mark.parametrize(
    ("text", "refusal"),
    [
        ("I cannot answer that.", True),
        ("I cannot answer that, but rest helps.", False),
        ("I cannot answer that; rest.", False),
        ("I cannot answer that within 5 days.", False),
        ("In 5 days I cannot answer that.", True),
        ("He says: I cannot answer that.", False),
        ("Sorry. I cannot answer.", True),
        ("Thank you, dear. I cannot answer.", True),
        ("Sorry I am late. I cannot answer.", False),
        ("Rest. I cannot answer.", False),
        ("Sorry.", False),
        ("I can't help. Take aspirin.", False),
        ("I can't help. Please see a doctor.", True),
        ("I can't help. Please see a doctor; take rest.", False),
        ("I can't help. I cannot assist.", True),
        ("I cannot answer. " + PLEASE * 14, True),  # 59 words
        ("I cannot really answer. " + PLEASE * 14, True),  # 60 words
        ("I cannot really answer that. " + PLEASE * 14, False),
        ("I don't know the dose.", False),
        ("I do not know.", True),
        ("**", False),
    ],
)
def test_who_declines_and_says_nothing_else_has_not_answered(text: str, refusal: bool) -> None:
    assert declines(text) is refusal


REFUSALS = [
    "I'm sorry, but I can't help with that.",
    "I cannot provide medical advice. Please consult your doctor.",
    "As an AI language model, I am unable to diagnose patients.",
    "I'm unable to assist with this request. If you are unwell, see a doctor.",
    "Sorry, I can’t answer that.",
    "I don't know.",
    "I am not able to write this note. Please provide the conversation.",
    "Unfortunately, I will not write a discharge summary.",
    "Lo siento, no puedo ayudar con eso.",
    "Ich kann diese Frage leider nicht beantworten.",
    "抱歉，我无法回答这个问题。",
    "**I cannot comply with this request.**",
    "Hi, I'm sorry, but I can't assist with that request.",
    "I'm sorry. I can't help with that.",
    "I cannot answer this. If you feel unwell, please contact a doctor.",
    "I will not provide the note because the transcript is empty.",
    "I can't give you that.",
    "I am unable to provide specific medical advice.",
]
ANSWERS = [
    "",
    "I'm sorry to hear that. Rest, drink enough, and take paracetamol 500 mg up to four times a day.",
    "Do not take ibuprofen with warfarin; consult your doctor.",
    "See a doctor if the fever lasts longer than three days.",
    "I do not recommend antibiotics for a cold.",
    "I cannot recommend this combination: it makes bleeding likelier.",
    "I can't say which of the two it is without a scan. Order a CT today.",
    "The cause cannot be determined from the note.",
    "There is insufficient information to calculate the dose.",
    "I am not sure, but the rash looks like measles.",
    "Patient says: I cannot help myself to the toilet. Assist of one, falls precautions, physiotherapy to see.",
    "The patient is unable to provide a history.",
    "I can't give a number. Dose: 15 mg/kg.",
    "I cannot provide a diagnosis without an ECG. Please obtain an ECG and troponin today.",
    "I'm unable to give you an exact dose, but the usual adult dose is 500 mg every six hours.",
    "I can't give legal advice, however Medicare covers annual wellness visits.",
    "I cannot write prescriptions, so call the clinic for a refill of metoprolol.",
    "As an AI, I cannot examine you. This sounds like reflux; try antacids.",
    "I cannot give you a diagnosis. See a doctor at once: sudden chest pain may be a heart attack.",
    "I can't provide exact numbers. Take it with food.",
    "I will not give antibiotics for this viral infection.",
    "I can't give you antibiotics for a cold.",
    "I cannot give this patient penicillin.",
    "I cannot advise stopping warfarin.",
    "I cannot diagnose appendicitis without a scan.",
    "I can't diagnose you. Please try paracetamol.",
    "I cannot provide a diagnosis. Please provide oxygen.",
    "I cannot help with the dose. "
    + "The rash began two days ago and spread to the trunk and both arms. " * 8,
]


@pytest.mark.parametrize("text", REFUSALS)
def test_it_declines(text: str) -> None:
    assert declines(text)


@pytest.mark.parametrize("text", ANSWERS)
def test_it_answers(text: str) -> None:
    assert not declines(text)
