"""More outputs, written to break the reading of choices: what each means, or that it cannot be told."""

from __future__ import annotations

import json
from collections.abc import Mapping

import pytest
from tests.suites.marking.made_up import SHARED
from tests.suites.marking.test_choice_reading import DOSES, DRUGS, NUMBERED, QUESTION, YES_NO

from medjury.suites._marking._choices import Choices
from medjury.suites._marking._reading import read_choice

DX = {
    "A": "Acute myocardial infarction",
    "B": "Pulmonary embolism",
    "C": "Aortic dissection",
    "D": "Pericarditis",
    "E": "Panic attack",
}
ACT = {"A": "Observe", "B": "Order a CT scan", "C": "Start antibiotics", "D": "Discharge"}
ALL = {"A": "Fever", "B": "Cough", "C": "All of the above", "D": "None of the above"}

STAGE = {"A": "Stage I", "B": "Stage II", "C": "Stage III", "D": "Stage IV"}
VIT = {"A": "Vitamin A", "B": "Vitamin B12", "C": "Vitamin C", "D": "Vitamin D"}
BOOL = {"A": "True", "B": "False"}
BUG = {"A": "S. aureus", "B": "E. coli", "C": "C. difficile", "D": "B. cereus"}
PCT = {"A": "10%", "B": "25%", "C": "50%", "D": "100%"}
LONG = {
    "A": "It inhibits the enzyme A reductase.",
    "B": "It inhibits the enzyme B synthase.",
    "C": "Both are true.",
    "D": "Neither is true.",
}

# What cannot be told is None. Nothing here may ever be read as another letter than the one that stands beside it.
OUTPUTS: tuple[tuple[Mapping[str, str], str, str | None], ...] = (
    (STAGE, "Stage III", "C"),
    (STAGE, "Stage II", "B"),
    (STAGE, "Stage I", "A"),
    (STAGE, "The tumour is stage IV.", "D"),
    (STAGE, "The answer is I.", None),
    (STAGE, "I think it is stage II.", "B"),
    (STAGE, "C: stage II", None),
    (VIT, "Vitamin C", "C"),
    (VIT, "The answer is vitamin D.", "D"),
    (VIT, "D", "D"),
    (VIT, "Vitamin B12", "B"),
    (VIT, "Vitamin B", None),
    (VIT, "The deficient vitamin is vitamin A.", "A"),
    (BOOL, "True", "A"),
    (BOOL, "The statement is false.", "B"),
    (BOOL, "It is true that aspirin helps; the statement is false.", None),
    (BOOL, "Answer: False", "B"),
    (BUG, "E. coli", "B"),
    (BUG, "The answer is C. difficile.", "C"),
    (BUG, "C. C. difficile", "C"),
    (BUG, "The organism is B. cereus.", "D"),
    (BUG, "B. E. coli", "B"),
    (BUG, "B. cereus", "D"),
    (BUG, "Answer: B. E. coli", "B"),
    (PCT, "25%", "B"),
    (PCT, "The risk is 50%.", "C"),
    (PCT, "C. 50%", "C"),
    (PCT, "Between 10% and 25%", None),
    (LONG, "Both are true.", "C"),
    (LONG, "The answer is: It inhibits the enzyme B synthase.", "B"),
    (LONG, "B. It inhibits the enzyme B synthase.", "B"),
    (LONG, "C. Both A and B are true.", "C"),
    (
        DX,
        "Thank you for the question. After careful consideration of the patient's presentation, "
        "I conclude that option C (aortic dissection) best explains the findings.",
        "C",
    ),
    (
        DX,
        "Looking at this question, I need to identify the most likely cause.\n\nKey findings:\n"
        "- Tearing chest pain\n- Widened mediastinum\n\n"
        "A widened mediastinum with tearing pain is classic for aortic dissection.\n\n"
        "The answer is **C**.",
        "C",
    ),
    (
        DX,
        "### Analysis\n1. **A** – normal ECG\n2. **B** – no hypoxia\n3. **C** – classic\n\n"
        "### Conclusion\n**C. Aortic dissection**",
        "C",
    ),
    (
        DX,
        "### Analysis\n- **A. Acute myocardial infarction**: normal ECG\n- **B. Pulmonary embolism**: no hypoxia\n"
        "- **C. Aortic dissection**: classic\n- **D. Pericarditis**: no rub\n- **E. Panic attack**: no",
        None,
    ),
    (
        DX,
        "The most likely diagnosis in this patient is C. Aortic dissection. Choice A is a common distractor.",
        "C",
    ),
    (DX, "Answer: C\n\nNote: some guidelines would favor A.", "C"),
    (DX, "My answer is C, although A is also possible.", "C"),
    (DX, "The answer is C/D", None),
    (DX, "The answer is C-D", None),
    (DX, "The answer is C–Aortic dissection", "C"),
    (DX, "None of the options fit.", None),
    (DX, "I would need more information to answer: A, B or C?", None),
    (DRUGS, "Not A but **C**, as aspirin may harm a child.", "C"),
    (DRUGS, "Not aspirin but paracetamol.", "C"),
    (DRUGS, "The answer is not A, B.", None),
    (DRUGS, "Not A, B or D.", None),
    (
        DX,
        "Based on the tearing pain radiating to the back, the most likely diagnosis is aortic dissection (C).",
        "C",
    ),
    (DX, "The tearing pain suggests C. However, B cannot be excluded.", "C"),
    (
        DX,
        "**Answer: C) Aortic dissection**\n\n**Explanation:** A is less likely because troponin is normal. "
        "B would present with hypoxia.",
        "C",
    ),
    (
        DX,
        "Let's evaluate each option:\n\nA) Acute myocardial infarction: ECG is normal, unlikely.\n"
        "B) Pulmonary embolism: no hypoxia.\nC) Aortic dissection: tearing pain, yes.\n"
        "D) Pericarditis: no rub.\nE) Panic attack: exclusion.\n\n"
        "Therefore the best answer is C) Aortic dissection.",
        "C",
    ),
    (
        DX,
        "Let's evaluate each option:\n\nA) Acute myocardial infarction: ECG is normal, unlikely.\n"
        "B) Pulmonary embolism: no hypoxia.\nC) Aortic dissection: tearing pain.\n"
        "D) Pericarditis: no rub.\nE) Panic attack: exclusion.",
        None,
    ),
    (DX, "It is not an acute myocardial infarction.", None),
    (DX, "I'd say C, but I am not certain.", "C"),
    (DX, "I believe the correct choice is definitely C!", "C"),
    (DX, "Answer is c) aortic dissection", "C"),
    (DX, "answer:C", "C"),
    (DX, "Answer:C.Aortic dissection", "C"),
    (DX, "The correct option is: C – Aortic dissection", "C"),
    (DX, "C\nC\nC", "C"),
    (DX, "C C", None),
    (DX, "C, C", "C"),
    (DX, "E", "E"),
    (DX, "The answer is E. Panic attack", "E"),
    (DX, "My final answer: **E**", "E"),
    (DX, "Neither A nor B; the answer is D.", "D"),
    (DX, "The answer is neither A nor B.", None),
    (DX, "The answer could be A, B or C.", None),
    (DX, "Options A and B are incorrect, leaving C.", "C"),
    (DX, "All options except C are wrong.", None),
    (DX, "Given the choices A, B, C, D, E, I select D.", "D"),
    (DX, "Please choose from A, B, C, D or E.", None),
    (DX, "The patient has a panic attack? No, that is unlikely.", None),
    (DX, "Pulmonary embolism is ruled out by the normal D-dimer. Aortic dissection explains the pain.", None),
    (DX, "Diagnosis: Pericarditis", "D"),
    (DX, "Diagnosis: D", "D"),
    (DX, "D. Pericarditis is suggested by the rub. A. is excluded by ECG.", "D"),
    (DX, "Vitamin D level is normal.", None),
    (DX, "The D-dimer is raised.", None),
    (DX, "Type A dissection is the answer.", None),
    (DX, "Answer: Type A aortic dissection", "C"),
    (ACT, "Observe the patient and order a CT scan.", None),
    (ACT, "Order a CT scan", "B"),
    (ACT, "The next best step is to order a CT scan.", "B"),
    (ACT, "The next step is B: order a CT scan; do not start antibiotics.", "B"),
    (ACT, "I would not discharge the patient. I would order a CT scan.", None),
    (ACT, "Start antibiotics.", "C"),
    (ACT, "Don't start antibiotics.", None),
    (ALL, "All of the above", "C"),
    (ALL, "Fever, cough: all of the above.", None),
    (ALL, "The answer is C (all of the above).", "C"),
    (ALL, "D. None of the above", "D"),
    (
        DRUGS,
        "Sure! Here's my answer:\n\n> **C. Paracetamol**\n\nLet me know if you have other questions!",
        "C",
    ),
    (DRUGS, "Answer: A\nExplanation: Aspirin...\n\nAnswer: A", "A"),
    (DRUGS, "```\nC\n```", "C"),
    (DRUGS, '```json\n{"choice": "c"}\n```', "C"),
    (DRUGS, '{"answer": "C", "confidence": 0.9, "alternative": "A"}', "C"),
    (DRUGS, "{'answer': 'C'}", "C"),
    (DRUGS, '{"answer": null}', None),
    (DRUGS, '{"A": 0.1, "B": 0.1, "C": 0.7, "D": 0.1}', None),
    (DRUGS, "A: 10%, B: 5%, C: 80%, D: 5%", None),
    (DRUGS, "Correct answer: C (not A, as aspirin may cause Reye's syndrome)", "C"),
    (DRUGS, "The answer isn't A. It's C.", "C"),
    (DRUGS, "The answer isn't C.", None),
    (DRUGS, "I was going to say A, but the answer is C.", "C"),
    (DRUGS, "Some would say A. I say C.", "C"),
    (DRUGS, "Answer: (A) is wrong, (C) is right.", "C"),
    (DRUGS, "C? I'm not sure.", "C"),
    (DRUGS, "Not sure, but probably C.", "C"),
    (DRUGS, "Is it C?", None),
    (DRUGS, "C) Paracetamol 15 mg/kg every 6 hours", "C"),
    (DRUGS, "Option (c): paracetamol", "C"),
    (DRUGS, "choice c", "C"),
    (DRUGS, "Ans: C", "C"),
    (DRUGS, "Ans. (C)", "C"),
    (DRUGS, "Answer C", "C"),
    (DRUGS, "Answer (C) Paracetamol", "C"),
    (DRUGS, "Correct Answer: Option C", "C"),
    (DRUGS, "The answer is option A's opposite.", None),
    (
        DRUGS,
        "The answer is B. Ibuprofen and rest. Actually, no: for a febrile child the answer is C. Paracetamol.",
        "C",
    ),
    (DRUGS, "Final Answer: The final answer is C. I hope it is correct.", "C"),
    (DRUGS, "Final answer: B\nFinal answer: C", None),
    (DRUGS, "I will answer as a doctor. A child should get paracetamol.", "C"),
    (DRUGS, "As an AI, I can't give medical advice, but the textbook answer is C.", "C"),
    (DRUGS, "Answer: \\(C\\)", "C"),
    (DRUGS, "$C$", "C"),
    (DRUGS, "The answer is $\\mathbf{C}$.", "C"),
    (DRUGS, "选C", "C"),
    (DRUGS, "정답: C", "C"),
    (DRUGS, "उत्तर: (C)", "C"),
    (DRUGS, "La réponse correcte est la C : paracétamol", "C"),
    (DRUGS, "Resposta: C", "C"),
    (DRUGS, "The correct answer is C. Paracetamol. The other options (A, B, D) are not first choice.", "C"),
    (DRUGS, "Therefore the correct answer is A. Aspirin. Not C.", "A"),
    (DRUGS, "Aspirin. No wait, paracetamol.", None),
    (NUMBERED, "Answer: 2) Skeletal muscle", "2"),
    (NUMBERED, "The answer is number 2.", "2"),
    (NUMBERED, "There are 2 kinds of muscle.", None),
    (NUMBERED, "Skeletal muscle", "2"),
    (NUMBERED, "I considered 3 options and chose 2.", None),
    (DOSES, "The dose should be 15 mg", "B"),
    (DOSES, "15mg", "B"),
    (DOSES, "B (15 mg)", "B"),
    (DOSES, "5 mg every 15 minutes", "A"),
    (YES_NO, "No, the answer is A.", None),
    (YES_NO, "The answer is B (No).", "B"),
    (YES_NO, "There is no doubt: yes.", None),
    (DX, "The answer is A, B, and C.", None),
    (DX, "The answer is (B) pulmonary embolism, as supported by the D-dimer.", "B"),
    (DX, "B. Pulmonary embolism because E is a diagnosis of exclusion.", "B"),
    (DX, "I initially leaned towards A, however the correct answer is B.", "B"),
    (DX, "We can exclude A, C, D and E.", None),
    (DX, "A? B? C? Hard to say.", None),
    (DX, "Answer: A (Acute myocardial infarction) or B (Pulmonary embolism)", None),
    (DX, "Between A and B I lean towards B.", None),
    (DX, "The diagnosis is clearly B; A would show ST elevation.", "B"),
    (DX, "Key: B", "B"),
    (DX, "B is correct, A is not.", "B"),
    (DX, "A is not correct, B is.", None),
    (DX, "A is correct? No. B is correct.", "B"),
    (DX, "The correct answer is not listed.", None),
    (DX, "The correct answer is none of these.", None),
    (DX, "I would go for pulmonary embolism.", "B"),
    (DX, "My answer would be B) Pulmonary Embolism.", "B"),
    (DX, "Panic attack (E) is wrong; pericarditis (D) is correct.", "D"),
    (DX, "Pericarditis (D) is the most likely diagnosis.", "D"),
    (DX, "The most likely diagnosis is pericarditis.", "D"),
    (DX, "The most likely diagnosis is not pericarditis.", None),
    (DX, "Patient's earlier diagnosis was pericarditis.", None),
    (DX, "1. Read the question\n2. Think\n3. Answer: D", "D"),
    (DX, "Step 1: A rub is heard.\nStep 2: A wide ST elevation.\nAnswer: D", "D"),
    (DX, "A rub is heard. Answer D.", "D"),
    (DX, "D\n\nExplanation:\nA. No\nB. No\nC. No\nE. No", "D"),
    (DX, "Explanation:\nA. No\nB. No\nC. No\nD. Yes\nE. No", "D"),
    (DX, "A. Incorrect\nB. Incorrect\nC. Incorrect\nD. Correct\nE. Incorrect", "D"),
    (DX, "A is False, B is False, C is False, D is True, E is False", "D"),
    (DX, "A - wrong\nB - wrong\nC - wrong\nD - right\nE - wrong", "D"),
    (DX, "Correct: D\nIncorrect: A, B, C, E", "D"),
    (DX, "The answer: D; runner-up: B.", "D"),
    (DX, "Top choice: D. Second choice: B.", None),
    (DX, "First choice: D", "D"),
    (DX, "Best answer = D", "D"),
    (DX, "\u201cD\u201d", "D"),
    (DX, "(d)", "D"),
    (DX, "d.", "D"),
    (DX, "Option d is the right one", "D"),
    (DX, "Answer: **d**", "D"),
    (
        DX,
        "The answer choice is (D) because a friction rub (as in option D) is heard, whereas A and B lack one.",
        "D",
    ),
    (DX, "Answer:\n- D", "D"),
    (DX, "Answer: none", None),
    (DX, "Selected option: D) Pericarditis\nConfidence: 90%", "D"),
    (DX, "Selected option: D\nReason: A, B and C do not fit.", "D"),
    (DX, "<answer>D. Pericarditis</answer>\n<reason>The answer is not A.</reason>", "D"),
    (DX, "<answer>A</answer><answer>D</answer>", None),
    (DX, "<reasoning>A</reasoning><answer>D</answer>", "D"),
    (DX, '{"explanation": "{A} is wrong", "answer": "D"}', "D"),
    (DX, '[{"answer": "D"}]', "D"),
    (DX, '{"answer": {"letter": "D", "text": "Pericarditis"}}', "D"),
    (DX, '{"answer": "Z"}', None),
    (DX, '{"answer": ""}', None),
    (DX, "\\boxed{\\mathrm{D}}", "D"),
    (DX, "\\boxed{D}\n\\boxed{D}", "D"),
    (DX, "\\boxed{}", None),
    (DX, "D" * 50, None),
    (DX, "ABCDE", None),
    (DX, "AD", None),
    (DX, "A&D", None),
    (DX, "A → wrong. D → right.", "D"),
    (DX, "answer: D because of answer: rub", "D"),
    (DX, "Sorry, the answer is D.", "D"),
    (DX, "Apologies, I can't choose between A and D.", None),
    (DX, "I refuse to answer.", None),
    (DX, "The question cannot be answered without an ECG. If forced, D.", None),
    (DX, "If I had to choose, I would choose D.", "D"),
    (DX, "User: what is the answer?\nAssistant: D", "D"),
    (DX, "Question: Which?\nA. x\nB. y\nAnswer: D", "D"),
    (DX, "The passage says the answer is A, but I disagree; the answer is D.", "D"),
    (DX, "You asked for a letter: D", "D"),
    (DX, "Group D strep is present.", None),
    (DX, "Grade C evidence supports this.", None),
    (DX, "C. difficile is present.", None),
    (DX, "E. coli was grown.", None),
    (DX, "The organism is E. coli.", None),
    (DX, "Lead A shows a change; B waves are absent.", None),
    (DX, "I am E.", None),
    (DX, "This is a case of aortic dissection rather than pericarditis.", None),
    (DX, "Aortic dissection, not pericarditis.", "C"),
    (DX, "Ответ: D", "D"),
    (DX, "Ответ: Д", None),
    (DX, "答案选D", "D"),
    (DX, "我选择D，因为有摩擦音", "D"),
    (DX, "La risposta corretta è la D", "D"),
    (DX, "Die Antwort lautet D", "D"),
    (DX, "Odpowiedź: D", "D"),
)


@pytest.mark.parametrize(("choices", "answer", "meant"), OUTPUTS, ids=range(len(OUTPUTS)))
def test_an_awkward_output_is_read_as_it_is_meant(
    choices: Mapping[str, str], answer: str, meant: str | None
) -> None:
    reading = read_choice(answer, Choices(choices), [QUESTION])
    assert reading.value == meant, reading.note
    assert (reading.value is None) == (reading.reason is not None)


def test_no_choice_of_a_real_exam_is_read_as_another() -> None:
    """Every 150th question of the exams, each choice answered in the ways in which models answer."""
    file = SHARED / "head_qa" / "HEAD_EN.json"
    if not file.is_file():
        pytest.skip("HEAD-QA (shared/data/benchmarks/head_qa) is not on this machine")
    exams = json.loads(file.read_text(encoding="utf-8"))["exams"].values()
    questions = [question for exam in exams for question in exam["data"]][::150]
    wrong, unread, read = [], 0, 0
    for question in questions:
        texts = {chr(64 + each["aid"]): each["atext"] for each in question["answers"]}
        listing = "\n".join(f"{letter}. {text}" for letter, text in texts.items())
        choices = Choices(texts)
        assert read_choice(listing, choices, [question["qtext"]]).value is None
        for letter, text in texts.items():
            for answer in (
                letter, f"{letter}. {text}", f"({letter}) {text}", f"The correct answer is {letter}) {text}", text,
                f"{listing}\n\nAnswer: {letter}", f"The answer is: {text}",
                f"**{letter}. {text}**\n\nSo it is known.",
            ):  # fmt: skip
                found = read_choice(answer, choices, [question["qtext"]]).value
                wrong += [] if found in (letter, None) else [(answer, found)]
                unread += found is None
                read += found == letter
    assert wrong == []
    assert read > 1000
    assert unread < read / 100
