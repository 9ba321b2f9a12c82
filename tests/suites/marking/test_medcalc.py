"""Medical calculations: a worked example for every output type, and answers as models write them."""

from __future__ import annotations

import ast
import json

import pytest
from tests.suites.marking.made_up import SHARED, benchmark

from medjury.instruments import Reason
from medjury.suites import Item
from medjury.suites._marking._metrics import mark


def item(gold: str, kind: str, **facts: object) -> Item:
    return Item("1", {"question": "How much?"}, (gold,), facts={"output_type": kind, **facts})


CLEARANCE = item("67.005", "decimal", lower_limit="63.654", upper_limit="70.355")
DEFICIT = item("-2.1", "decimal", lower_limit="-1.995", upper_limit="-2.205")
WITHOUT_LIMITS = item("20", "decimal")
POINTS = item("4", "integer", lower_limit="4", upper_limit="4")
DUE = item("12/02/2000", "date")
PREGNANCY = item("('34 weeks', '3 days')", "date")
STEROID = item("2.47", "decimal", lower_limit=2.3465, upper_limit=2.5935, unit="mg")
CALCIUM = item("8.96", "decimal", lower_limit=8.512, upper_limit=9.408, unit="mg/dL")

RIGHT = (
    # an equation: anything within its limits, in whatever words
    (CLEARANCE, "67.005"),
    (CLEARANCE, "66 mL/min"),
    (CLEARANCE, "63.654"),
    (CLEARANCE, "70.355"),
    (CLEARANCE, "The creatinine clearance is 67.0 mL/min/1.73 m²."),
    (CLEARANCE, "**67 mL/min**"),
    (CLEARANCE, "((140 - 53) * 77.08 * 1) / (1.39 * 72) = 67.004\nHence, the clearance is 67.004 mL/min."),
    (CLEARANCE, "Answer: (140-53)*77.08/(1.39*72) = 67.0 mL/min"),
    (CLEARANCE, '{"answer": 67.1}'),
    (CLEARANCE, '{"step_by_step_thinking": "140 - 53 = 87", "answer": "67.1 mL/min"}'),
    (CLEARANCE, "$\\boxed{67.00 \\text{ mL/min}}$"),
    (CLEARANCE, "Final answer: ≈ 6.7 × 10^1"),
    (CLEARANCE, "<think>maybe 12</think>67"),
    (CLEARANCE, "67,0 mL/min"),
    (CLEARANCE, "about 67 mL/min"),
    # a negative value, of which the source's lower limit is the higher number
    (DEFICIT, "-2.1 L"),
    (DEFICIT, "−2.0 L"),
    (DEFICIT, "The free water deficit is -2.2 L."),
    # no limits: within five per cent
    (WITHOUT_LIMITS, "19"),
    (WITHOUT_LIMITS, "21"),
    # points: exactly
    (POINTS, "4"),
    (POINTS, "4.0"),
    (POINTS, "4 points"),
    (POINTS, "The CURB-65 score is 4."),
    (POINTS, "four"),
    (POINTS, "We add 1 point, making the total 3 + 1 = 4.\nThe patient's CURB-65 score is 4."),
    (POINTS, "4/5"),
    (POINTS, "The score is 4 out of 5."),
    (POINTS, "The HAS-BLED score is **4**."),
    # dates
    (DUE, "12/02/2000"),
    (DUE, "12/2/2000"),
    (DUE, "2000-12-02"),
    (DUE, "December 2, 2000"),
    (DUE, "2 December 2000"),
    (DUE, "Dec 2nd, 2000"),
    (DUE, "02.12.2000"),
    (DUE, "2-Dec-2000"),
    (DUE, "12/02/00"),
    (DUE, "The last period was on 02/24/2000. The estimated due date is 12/02/2000."),
    (DUE, '{"answer": "12/02/2000"}'),
    (DUE, "02/24/2000 plus 282 days:\n12/02/2000"),
    # the age of a pregnancy
    (PREGNANCY, "('34 weeks', '3 days')"),
    (PREGNANCY, "34 weeks and 3 days"),
    (PREGNANCY, "34 weeks, 3 days"),
    (PREGNANCY, "34w3d"),
    (PREGNANCY, "34+3"),
    (PREGNANCY, "34 3/7 weeks"),
    (PREGNANCY, "241 days"),
    (PREGNANCY, "The estimated gestational age is 34 weeks and 3 days."),
    (PREGNANCY, '{"answer": ["34 weeks", "3 days"]}'),
    # doses and laboratory values, in another unit too
    (STEROID, "2.47 mg"),
    (STEROID, "2470 mcg"),
    (STEROID, "0.00247 g"),
    (STEROID, "2.47"),
    (STEROID, "65.867 mg of hydrocortisone IV is equal to 2.47001 mg of dexamethasone PO."),
    (CALCIUM, "8.96 mg/dL"),
    (CALCIUM, "89.6 mg/L"),
    (CALCIUM, "The corrected calcium is 8.96 mg/dL."),
)
WRONG = (
    (CLEARANCE, "63.6"),
    (CLEARANCE, "70.4 mL/min"),
    (CLEARANCE, "-67"),
    (CLEARANCE, "0.67"),
    (DEFICIT, "2.1 L"),
    (DEFICIT, "-2.3"),
    (WITHOUT_LIMITS, "18.9"),
    (WITHOUT_LIMITS, "21.1"),
    (POINTS, "5"),
    (POINTS, "4.3"),
    (POINTS, "The CURB-65 score is 3."),
    (DUE, "12/03/2000"),
    (DUE, "02/12/2000"),
    (DUE, "2001-12-02"),
    (PREGNANCY, "34 weeks"),
    (PREGNANCY, "34 weeks and 4 days"),
    (PREGNANCY, "240 days"),
    (STEROID, "2470 mg"),
    (STEROID, "2.47 g"),
    (CALCIUM, "8.96 g/dL"),
)
UNREAD = (
    (CLEARANCE, "", Reason.EMPTY),
    (CLEARANCE, "It is high.", Reason.PARSE),
    (CLEARANCE, "The age is 53 and the weight is between 80 and 87 or so", Reason.PARSE),
    (CLEARANCE, "60-70 mL/min", Reason.PARSE),
    (CLEARANCE, "The clearance is 60 to 70 mL/min.", Reason.PARSE),
    (CLEARANCE, "\\boxed{60} \\boxed{70}", Reason.PARSE),
    (CLEARANCE, "I cannot calculate this without the patient's weight.", Reason.REFUSAL),
    (POINTS, "3 or 4", Reason.PARSE),
    # a range is never its first number, also where that one would be right
    (POINTS, "4-5", Reason.PARSE),
    (POINTS, "4 ± 1", Reason.PARSE),
    (POINTS, "> 4", Reason.PARSE),
    (POINTS, "The score is 4 to 5.", Reason.PARSE),
    (POINTS, "The score is > 4.", Reason.PARSE),
    (POINTS, "Final answer: 4 to 5 points", Reason.PARSE),
    (POINTS, "The final answer is 4 ± 1.", Reason.PARSE),
    (POINTS, "Final answer: ≥ 4", Reason.PARSE),
    (POINTS, "\\boxed{4-5}", Reason.PARSE),
    (POINTS, "\\boxed{4 ± 1}", Reason.PARSE),
    (POINTS, '{"answer": "4 or 5"}', Reason.PARSE),
    (POINTS, "Final answer: 4 points on 2 scales", Reason.PARSE),
    (POINTS, "The score for this patient is 4 to 5.", Reason.PARSE),
    (POINTS, "\\boxed{4 to 5days}", Reason.PARSE),
    (POINTS, "4-5days", Reason.PARSE),
    (DUE, "In December.", Reason.PARSE),
    (DUE, "12/02/2000 or 12/03/2000", Reason.PARSE),
    (DUE, "13/13/2000", Reason.PARSE),
    (PREGNANCY, "The third trimester.", Reason.PARSE),
)


@pytest.mark.parametrize(("question", "answer"), RIGHT)
def test_a_right_answer_is_right_in_whatever_words(question: Item, answer: str) -> None:
    found = mark(benchmark(), question, answer, "medcalc")
    assert found.score == 1, found


@pytest.mark.parametrize(("question", "answer"), WRONG)
def test_a_wrong_answer_is_wrong(question: Item, answer: str) -> None:
    found = mark(benchmark(), question, answer, "medcalc")
    assert found.score == 0, found


@pytest.mark.parametrize(("question", "answer", "reason"), UNREAD)
def test_an_answer_without_one_result_is_not_guessed_from(
    question: Item, answer: str, reason: Reason
) -> None:
    assert mark(benchmark(), question, answer, "medcalc").reason is reason


def test_a_gold_answer_that_is_no_number_is_a_fault_of_the_item() -> None:
    assert mark(benchmark(), item("high", "decimal"), "5", "medcalc").reason is Reason.INPUT


def test_every_worked_example_of_the_source_is_right_by_its_own_answer() -> None:
    file = SHARED / "medcalc_bench" / "one_shot_finalized_explanation.json"
    if not file.is_file():
        pytest.skip(
            "MedCalc-Bench's worked examples (shared/data/benchmarks/medcalc_bench) are not on this machine"
        )
    kinds: set[str] = set()
    wrong = []
    for number, example in json.loads(file.read_text(encoding="utf-8")).items():
        worked = example["Response"]
        worked = ast.literal_eval(worked) if isinstance(worked, str) else worked
        gold = worked["answer"]
        calendar = isinstance(gold, str | list)
        kind = "date" if calendar else "integer" if isinstance(gold, int) else "decimal"
        kinds.add("age" if isinstance(gold, list) else kind)
        question = item(str(gold), kind)
        reasoning = next(str(value) for key, value in worked.items() if key != "answer")
        for answer in (
            str(gold),
            reasoning,
            json.dumps({"answer": gold}),
            f"<think>{reasoning}</think>The answer is {gold}.",
        ):
            found = mark(benchmark(), question, answer, "medcalc")
            if found.score != 1:
                wrong.append((number, gold, found, answer[-150:]))
    assert kinds == {"age", "date", "integer", "decimal"}
    assert wrong == []
