"""Which choice an answer means: outputs as models write them, each with what a careful reader would say."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from medjury.instruments import Reason
from medjury.suites._marking._choices import Choices
from medjury.suites._marking._reading import read_choice

QUESTION = "Which drug is the first choice for a febrile child of four years without other illness?"
DRUGS = {"A": "Aspirin", "B": "Ibuprofen and rest", "C": "Paracetamol", "D": "Aspirin and heparin"}
VIRUSES = {
    "A": "Hepatitis C",
    "B": "Hepatitis B",
    "C": "Hepatitis A",
    "D": "Hepatitis B and C",
    "E": "None of the above",
}
CELLS = {"A": "B lymphocytes", "B": "T lymphocytes", "C": "Both A and B", "D": "A macrophage"}
DOSES = {"A": "5 mg", "B": "15 mg", "C": "1,000 mg", "D": "0.5 mg"}
NUMBERED = {"1": "Smooth muscle", "2": "Skeletal muscle", "3": "Cardiac muscle", "4": "Tendon", "5": "1"}
TWISTED = {"A": "B", "B": "A", "C": "Neither"}
YES_NO = {"A": "Yes", "B": "No"}
TWICE = {"A": "Rest", "B": "Rest", "C": "Surgery"}

READ: tuple[tuple[Mapping[str, str], str, str], ...] = (
    # A letter, however it is dressed.
    (DRUGS, "C", "C"),
    (DRUGS, "c", "C"),
    (DRUGS, " C.\n", "C"),
    (DRUGS, "(C)", "C"),
    (DRUGS, "[C]", "C"),
    (DRUGS, "[[C]]", "C"),
    (DRUGS, "C)", "C"),
    (DRUGS, "**C**", "C"),
    (DRUGS, "`C`", "C"),
    (DRUGS, "\"C\"", "C"),
    (DRUGS, "Ｃ", "C"),
    (DRUGS, "Ⓒ", "C"),
    (DRUGS, "🅒", "C"),
    (DRUGS, "𝐂", "C"),
    (DRUGS, "\ufeff\u200bC\u200b", "C"),
    (DRUGS, "#### C", "C"),
    (DRUGS, "> C", "C"),
    (DRUGS, "- C", "C"),
    (DRUGS, "C!", "C"),
    (DRUGS, "С", "C"),  # a Cyrillic letter that looks like C
    # A letter with its text, or the text alone.
    (DRUGS, "C. Paracetamol", "C"),
    (DRUGS, "C) paracetamol", "C"),
    (DRUGS, "C: Paracetamol.", "C"),
    (DRUGS, "C - Paracetamol", "C"),
    (DRUGS, "**C. Paracetamol**", "C"),
    (DRUGS, "**C**. Paracetamol", "C"),
    (DRUGS, "(C) Paracetamol is the drug of choice in children.", "C"),
    (DRUGS, "Option C", "C"),
    (DRUGS, "Choice (C).", "C"),
    (DRUGS, "paracetamol", "C"),
    (DRUGS, "Paracetamol.", "C"),
    (DRUGS, "The paracetamol", "C"),
    (DRUGS, "PARACETAMOL!!", "C"),
    (DRUGS, "Aspirin and heparin", "D"),
    (DRUGS, "Aspirin, and heparin", "D"),
    (DRUGS, "D. Aspirin and heparin", "D"),
    (DRUGS, "ibuprofen and\nrest", "B"),
    (DRUGS, "Paracetamol (C)", "C"),
    # A statement.
    (DRUGS, "The answer is (C).", "C"),
    (DRUGS, "The answer is C", "C"),
    (DRUGS, "the answer is c.", "C"),
    (DRUGS, "The correct answer is **C. Paracetamol**.", "C"),
    (DRUGS, "The best answer among A, B, C and D is C.", "C"),
    (DRUGS, "Answer: C", "C"),
    (DRUGS, "**Answer:** C", "C"),
    (DRUGS, "**Answer: C**", "C"),
    (DRUGS, "Answer:\n\nC. Paracetamol", "C"),
    (DRUGS, "### Answer\nC", "C"),
    (DRUGS, "Answer - C", "C"),
    (DRUGS, "ANSWER = C", "C"),
    (DRUGS, "A: C", "C"),
    (DRUGS, "The most appropriate option would be C, because aspirin may cause Reye syndrome.", "C"),
    (DRUGS, "I would choose C.", "C"),
    (DRUGS, "I'd go with option C because it is safe.", "C"),
    (DRUGS, "My choice is paracetamol.", "C"),
    (DRUGS, "It's C.", "C"),
    (DRUGS, "Therefore, C.", "C"),
    (DRUGS, "The fever is mild and the child is four. So it must be C.", "C"),
    (DRUGS, "Option C is correct.", "C"),
    (DRUGS, "C is the most appropriate choice here.", "C"),
    (DRUGS, "Of these, paracetamol is the best choice.", "C"),
    (DRUGS, "The patient should be given paracetamol.", "C"),
    (DRUGS, "Probably C", "C"),
    (DRUGS, "Most likely (C)", "C"),
    (DRUGS, "The answer is: \"C\"", "C"),
    (DRUGS, "The answer is A because it is the oldest drug.", "A"),
    (DRUGS, "The answer is A", "A"),
    (DRUGS, "answer: a", "A"),
    # Negations, and options that are spoken of.
    (DRUGS, "The answer is not A but C.", "C"),
    (DRUGS, "not A but C", "C"),
    (DRUGS, "The answer is C, not A.", "C"),
    (DRUGS, "C rather than A", "C"),
    (DRUGS, "A is wrong because of Reye syndrome. B is wrong. The answer is C.", "C"),
    (DRUGS, "A is incorrect. B is incorrect. C is correct. D is incorrect.", "C"),
    (DRUGS, "The answer is C. Aspirin is wrong because it may cause Reye syndrome.", "C"),
    (DRUGS, "C\n\nA and D hold aspirin, which is dangerous in children.", "C"),
    (DRUGS, "C. Paracetamol\n\nA. Aspirin may cause Reye syndrome.\nB. Ibuprofen is second.\nD. Heparin: no.", "C"),
    (DRUGS, "A. Aspirin\nB. Ibuprofen and rest\nC. Paracetamol\nD. Aspirin and heparin\n\nC", "C"),
    (DRUGS, "A. Aspirin\nB. Ibuprofen and rest\nC. Paracetamol\nD. Aspirin and heparin\n\n"
     "Answer: C. Paracetamol", "C"),
    (DRUGS, "A. Aspirin ❌\nB. Ibuprofen and rest ❌\nC. Paracetamol ✅\nD. Aspirin and heparin ❌", "C"),
    (DRUGS, "A) Aspirin - incorrect\nB) Ibuprofen and rest - incorrect\n"
     "C) Paracetamol - correct\nD) Aspirin and heparin - incorrect", "C"),
    (DRUGS, "Between B and C, C is the better tolerated, so the answer is C.", "C"),
    # Reasoning, and what was taken back.
    (DRUGS, "<think>The answer is A. No, B.</think>C", "C"),
    (DRUGS, "the prompt opened the tag, so the answer is A</think>\nThe answer is C.", "C"),
    (DRUGS, "<thinking>\nA?\n</thinking>\n\n**C**", "C"),
    (DRUGS, "<|channel|>analysis<|message|>maybe A<|end|><|channel|>final<|message|>C", "C"),
    (DRUGS, "The answer is A. Wait, aspirin is dangerous in children. The answer is C.", "C"),
    (DRUGS, "At first the answer seems to be A. Final answer: C", "C"),
    (DRUGS, "One might think the answer is A. The answer is C.", "C"),
    (DRUGS, "Is the answer A? No. The answer is C.", "C"),
    (DRUGS, "B\n\nLet me think again about it.\n\nFinal answer: C", "C"),
    (DRUGS, "Step 1: fever.\nStep 2: child.\nThe final answer is $\\boxed{C}$", "C"),
    (DRUGS, "\\boxed{\\text{C}}", "C"),
    (DRUGS, "\\boxed{\\textbf{(C)}\\ \\text{Paracetamol}}", "C"),
    (DRUGS, "Answer: C\n\nQuestion: Which drug thins the blood?\nAnswer: D", "C"),
    (DRUGS, f"{QUESTION}\nAnswer: C", "C"),
    # Forms.
    (DRUGS, '{"answer": "C"}', "C"),
    (DRUGS, '```json\n{"answer": "C. Paracetamol", "reason": "A is dangerous"}\n```', "C"),
    (DRUGS, '{"reasoning": "the answer is not A", "final_answer": "paracetamol"}', "C"),
    (DRUGS, '{"answer": ["C"]}', "C"),
    (DRUGS, "<answer>C</answer>", "C"),
    (DRUGS, "Here is my answer: <answer>\n(C) Paracetamol\n</answer>", "C"),
    # Other languages.
    (DRUGS, "答案是C。", "C"),
    (DRUGS, "答案：C", "C"),
    (DRUGS, "La respuesta correcta es la C.", "C"),
    (DRUGS, "Die richtige Antwort ist C.", "C"),
    (DRUGS, "La bonne réponse est C", "C"),
    (DRUGS, "Правильный ответ: C", "C"),
    (DRUGS, "الإجابة: C", "C"),
    (DRUGS, "正解はCです", "C"),
    # Texts that hold letters, articles and numbers of their own.
    (VIRUSES, "Hepatitis B", "B"),
    (VIRUSES, "The answer is hepatitis C.", "A"),
    (VIRUSES, "Hepatitis B and C", "D"),
    (VIRUSES, "None of the above", "E"),
    (VIRUSES, "The answer is C, hepatitis A.", "C"),
    (CELLS, "B lymphocytes", "A"),
    (CELLS, "The answer is B lymphocytes.", "A"),
    (CELLS, "Both A and B", "C"),
    (CELLS, "A macrophage", "D"),
    (CELLS, "The answer is a macrophage.", "D"),
    (CELLS, "B. T lymphocytes", "B"),
    (DOSES, "5 mg", "A"),
    (DOSES, "15 mg", "B"),
    (DOSES, "1000 mg", "C"),
    (DOSES, "The answer is 0.5 mg.", "D"),
    (NUMBERED, "2", "2"),
    (NUMBERED, "2. Skeletal muscle", "2"),
    (NUMBERED, "The answer is 3.", "3"),
    (NUMBERED, "Option 4", "4"),
    (YES_NO, "Yes", "A"),
    (YES_NO, "No.", "B"),
    (YES_NO, "B) No", "B"),
)  # fmt: skip

UNREAD: tuple[tuple[Mapping[str, str], str, Reason], ...] = (
    (DRUGS, "", Reason.EMPTY),
    (DRUGS, " \n\t", Reason.EMPTY),
    (DRUGS, "<think>The answer is C.</think>", Reason.EMPTY),
    (DRUGS, "<think>The answer is C. But wait", Reason.PARSE),
    (DRUGS, "A or B", Reason.PARSE),
    (DRUGS, "The answer is A or B.", Reason.PARSE),
    (DRUGS, "Either B or C", Reason.PARSE),
    (DRUGS, "A, B", Reason.PARSE),
    (DRUGS, "A and C", Reason.PARSE),
    (DRUGS, "A/C", Reason.PARSE),
    (DRUGS, "A\nB\nC\nD", Reason.PARSE),
    (DRUGS, "The answer is C (or possibly D).", Reason.PARSE),
    (DRUGS, "Answer: A. Answer: C.", Reason.PARSE),
    (DRUGS, "C\n\nTherefore the answer is B.", Reason.PARSE),
    (DRUGS, "C. Aspirin", Reason.PARSE),  # the letter says one thing and the text another
    (DRUGS, "The answer is C. Aspirin.", Reason.PARSE),
    (DRUGS, '{"answer": "A"} {"answer": "C"}', Reason.PARSE),
    (DRUGS, '{"answer": ["A", "C"]}', Reason.PARSE),
    (DRUGS, "\\boxed{A} and \\boxed{C}", Reason.PARSE),
    (DRUGS, "\\boxed{A, C}", Reason.PARSE),
    (DRUGS, "\\boxed{C} So the answer is A.", Reason.PARSE),
    (DRUGS, "A. Aspirin\nB. Ibuprofen and rest\nC. Paracetamol\nD. Aspirin and heparin", Reason.PARSE),
    (DRUGS, "The question offers A) aspirin, B) ibuprofen and rest, C) paracetamol.", Reason.PARSE),
    (DRUGS, "The question says \"the answer is A\".", Reason.PARSE),
    (DRUGS, "The answer is not A.", Reason.PARSE),
    (DRUGS, "A is wrong. B is wrong. D is wrong.", Reason.PARSE),
    (DRUGS, "Not C", Reason.PARSE),
    (DRUGS, "A drug against fever should be given.", Reason.PARSE),
    (DRUGS, "A child of four needs care.", Reason.PARSE),
    (DRUGS, "The answer is a drug against fever.", Reason.PARSE),
    (DRUGS, "I think a careful look at the child is needed.", Reason.PARSE),
    (DRUGS, "Vitamin C is helpful.", Reason.PARSE),
    (DRUGS, "If the answer is A, the child may suffer.", Reason.PARSE),
    (DRUGS, "Aspirin may be compared with paracetamol.", Reason.PARSE),
    (DRUGS, "Paracetamol should not be given.", Reason.PARSE),
    (DRUGS, "F", Reason.OUT_OF_RANGE),
    (DRUGS, "The answer is E.", Reason.OUT_OF_RANGE),
    (DRUGS, "None of the above.", Reason.OUT_OF_RANGE),
    (DRUGS, "\\boxed{42}", Reason.OUT_OF_RANGE),
    (DRUGS, "I'm sorry, but I cannot answer medical questions.", Reason.REFUSAL),
    (DRUGS, "As an AI language model I can't provide medical advice.", Reason.REFUSAL),
    (DRUGS, "I don't know.", Reason.REFUSAL),
    (DRUGS, "There is not enough information.", Reason.REFUSAL),
    (DRUGS, "No puedo responder a esa pregunta.", Reason.REFUSAL),
    (DRUGS, "В", Reason.PARSE),  # Cyrillic: looks like B and is the third letter of its own alphabet
    (DRUGS, "ج", Reason.PARSE),
    (DRUGS, "3", Reason.PARSE),
    (DRUGS, "The third one.", Reason.PARSE),
    (DRUGS, "…", Reason.PARSE),
    (DRUGS, QUESTION, Reason.EMPTY),
    (VIRUSES, "The patient has hepatitis.", Reason.PARSE),
    (CELLS, "A lymphocyte", Reason.PARSE),
    (DOSES, "0.05 mg", Reason.PARSE),
    (DOSES, "50 mg", Reason.PARSE),
    (NUMBERED, "1", Reason.PARSE),  # the number of one choice and the text of another
    (NUMBERED, "1. The muscle contracts.\n2. It relaxes.", Reason.PARSE),
    (TWISTED, "A", Reason.PARSE),
    (TWICE, "Rest", Reason.PARSE),
    (YES_NO, "Yes and no.", Reason.PARSE),
)  # fmt: skip


@pytest.mark.parametrize(("choices", "answer", "meant"), READ, ids=range(len(READ)))
def test_an_answer_that_means_one_choice_is_read(choices: Mapping[str, str], answer: str, meant: str) -> None:
    reading = read_choice(answer, Choices(choices), [QUESTION])
    assert (reading.value, reading.reason) == (meant, None), reading.note


@pytest.mark.parametrize(("choices", "answer", "reason"), UNREAD, ids=range(len(UNREAD)))
def test_an_answer_that_does_not_decide_is_never_guessed(
    choices: Mapping[str, str], answer: str, reason: Reason
) -> None:
    reading = read_choice(answer, Choices(choices), [QUESTION])
    assert (reading.value, reading.reason) == (None, reason)
    assert reading.note


def test_the_table_holds_at_least_a_hundred_outputs() -> None:
    assert len(READ) + len(UNREAD) >= 150
