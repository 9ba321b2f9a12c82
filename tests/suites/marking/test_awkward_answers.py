"""Awkward answers to every kind of question but choices among many, each with what is to be read out of it."""

from __future__ import annotations

import pytest
from tests.suites.marking.made_up import benchmark
from tests.suites.marking.test_error_sentence import WRONG
from tests.suites.marking.test_medcalc import CLEARANCE, DEFICIT, DUE, POINTS, PREGNANCY, STEROID

from medjury.suites import Item
from medjury.suites._marking._metrics import mark

YN = Item("1", {"note": "n"}, ("B",), {"A": "Yes", "B": "No"})
PQ = Item("1", {"question": "Does rest help?"}, ("yes",))
CO = Item("1", {}, facts={"codes": ["E11.9", "I10"]})

# What cannot be told is None.
ANSWERS: tuple[tuple[str, Item, str, str | None], ...] = (
    ("exact_match", YN, "No evidence of side effects is mentioned.", None),
    ("exact_match", YN, "The answer is no longer clear.", None),
    ("exact_match", YN, "The answer is no because nothing is said.", "B"),
    ("exact_match", YN, "No, there is no mention.", "B"),
    ("exact_match", YN, "Yes\n\nThe note says so.", "A"),
    ("exact_match", YN, "B) No\n\nReason: nothing was noted.", "B"),
    ("exact_match", YN, "A", "A"),
    ("exact_match", YN, "A patient without effects.", None),
    ("exact_match", YN, "No side effects. Answer: B", "B"),
    ("exact_match", YN, "Based on the note, the answer is **No** (B).", "B"),
    ("exact_match", YN, "**Yes** - the child had poor sleep.", "A"),
    ("exact_match", YN, "Yes - B", None),
    ("yes_no_maybe", PQ, "The study suggests that rest helps. Therefore, the answer is yes.", "yes"),
    ("yes_no_maybe", PQ, "Based on the abstract: yes", "yes"),
    ("yes_no_maybe", PQ, "Yes, rest helps. However, more research is needed.", "yes"),
    ("yes_no_maybe", PQ, "No clear conclusion can be drawn. Maybe.", "maybe"),
    ("yes_no_maybe", PQ, "Answer: Yes/No", None),
    ("yes_no_maybe", PQ, "It is not possible to say yes or no.", None),
    ("yes_no_maybe", PQ, "Answer: maybe\n\nThe answer is maybe because data are few.", "maybe"),
    ("yes_no_maybe", PQ, "The answer is 'yes'.", "yes"),
    ("yes_no_maybe", PQ, "The answer is no longer known.", None),
    ("yes_no_maybe", PQ, "Does rest help? Yes.", "yes"),
    ("yes_no_maybe", PQ, "Conclusion: No", "no"),
    ("yes_no_maybe", PQ, "- **Answer**: No\n- **Reason**: yes-sayers are few", "no"),
    ("medcalc", CLEARANCE, "Answer: 67 mL/min (normal: 90-120)", "67"),
    ("medcalc", CLEARANCE, "The answer is 67.\n\nNote: values below 60 indicate disease.", "67"),
    ("medcalc", CLEARANCE, "CrCl = [(140 - 53) × 77.1] / (72 × 1.39) = 6707.7 / 100.08 ≈ 67.0 mL/min", "67"),
    (
        "medcalc",
        CLEARANCE,
        "Step 1: 140 - 53 = 87\nStep 2: 72 * 1.39 = 100.08\nStep 3: 87 * 77.1 / 100.08 = 67.02",
        "67.02",
    ),
    ("medcalc", CLEARANCE, "**Final answer: 67.02 mL/min**", "67.02"),
    (
        "medcalc",
        CLEARANCE,
        "The patient's creatinine clearance is approximately 67.02 mL/min, which suggests stage 2 disease.",
        "67.02",
    ),
    ("medcalc", CLEARANCE, "67.02mL/min", "67.02"),
    ("medcalc", CLEARANCE, "~67", "67"),
    ("medcalc", CLEARANCE, "$$\\text{CrCl} = 67.02 \\text{ mL/min}$$", "67.02"),
    ("medcalc", CLEARANCE, "between 60 and 70", None),
    ("medcalc", CLEARANCE, "> 60", None),
    ("medcalc", POINTS, "Total: 1 + 1 + 2 = 4 points", "4"),
    ("medcalc", POINTS, "Score: 4", "4"),
    ("medcalc", POINTS, "- Confusion: 1\n- Urea: 1\n- Age ≥ 65: 1\n- RR ≥ 30: 1\n\nTotal = 4", "4"),
    ("medcalc", POINTS, "- Confusion: 1\n- Urea: 1\n- Age: 1\n- RR: 1", None),
    ("medcalc", POINTS, "The CURB-65 score is 4, which carries a 30-day mortality of 40%.", "4"),
    ("medcalc", POINTS, "A score of 4 points (high risk)", "4"),
    ("medcalc", POINTS, "He has 4 of the 5 criteria, so his score is 4.", "4"),
    (
        "medcalc",
        DUE,
        "The estimated due date (EDD) is December 2, 2000 (40 weeks after 02/24/2000 adjusted).",
        "2000-12-02",
    ),
    ("medcalc", DUE, "**12/02/2000**", "2000-12-02"),
    ("medcalc", DUE, "LMP: 02/24/2000\nEDD: 12/02/2000", "2000-12-02"),
    ("medcalc", DUE, "02/24/2000 + 280 days = 11/30/2000; + 2 days = 12/02/2000", "2000-12-02"),
    ("medcalc", PREGNANCY, "Gestational age: 34w 3d", "34 weeks 3 days"),
    ("medcalc", PREGNANCY, "34 weeks + 3 days", "34 weeks 3 days"),
    (
        "medcalc",
        PREGNANCY,
        "From 12/23/2020 to 08/21/2021 is 241 days, i.e. 34 weeks and 3 days.",
        "34 weeks 3 days",
    ),
    ("medcalc", STEROID, "2.5mg dexamethasone", "2.5"),
    ("medcalc", DEFICIT, "Free water deficit = 0.6 × 35 × (126/140 − 1) = −2.1 L", "-2.1"),
    ("error_flag", WRONG, "Sentence 2 contains an error: Aspirin should not be given.", "sentence 2"),
    ("error_flag", WRONG, "Answer: 2 Rest is advised.", "sentence 2"),
    (
        "error_flag",
        WRONG,
        "0 A 50-year-old man has fever.\n1 He takes no drugs at home today.\n2 Rest is advised.",
        None,
    ),
    ("error_flag", WRONG, "The text contains an error.", "error"),
    ("error_flag", WRONG, "CORRECT.\n\nAll sentences are consistent.", "CORRECT"),
    ("error_flag", WRONG, "INCORRECT", "error"),
    ("error_flag", WRONG, "The correct answer is: 2 Rest is advised.", "sentence 2"),
    ("error_flag", WRONG, "[2] Rest is advised.", "sentence 2"),
    ("error_flag", WRONG, "Error: yes. Sentence: 2", "sentence 2"),
    ("error_flag", WRONG, "No error.", "CORRECT"),
    ("error_flag", WRONG, "This is not correct.", "error"),
    ("code_f1", CO, "ICD-10: E11.9; ICD-10: I10", "E119, I10"),
    ("code_f1", CO, "1. E11.9 – T2DM\n2. I10 – HTN", "E119, I10"),
    ("code_f1", CO, "E11.9 (not E10.9)", "E119"),
    ("code_f1", CO, "E11.9|I10", "E119, I10"),
    ("code_f1", CO, "E11.9/I10", "E119, I10"),
    ("code_f1", CO, '"E11.9","I10"', "E119, I10"),
    ("code_f1", CO, "Ｅ１１．９", "E119"),
    ("code_f1", CO, "The patient (A1C 9.2, L4 fracture) has I10.", "I10"),
    ("code_f1", CO, "COVID-19, CD4 200, P53 mutation. Code: I10", "I10, P53"),
    ("code_f1", CO, "E11.9.", "E119"),
)


@pytest.mark.parametrize(("metric", "item", "answer", "read"), ANSWERS, ids=range(len(ANSWERS)))
def test_an_awkward_answer_is_read_as_it_is_meant(
    metric: str, item: Item, answer: str, read: str | None
) -> None:
    found = mark(benchmark(metric), item, answer, metric)
    assert (found.read or None) == read, found
    assert (found.score is None) == (read is None)
