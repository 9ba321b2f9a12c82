"""The number that an answer gives, in the unit that was asked for; of several that differ none."""

from __future__ import annotations

import pytest

from medjury.suites._marking._number import factor_between, read_number

READ: tuple[tuple[str, str], ...] = (
    # How numbers are written.
    ("5", "5"),
    ("5.", "5"),
    (".5", "0.5"),
    ("**.5**", "0.5"),
    ("$12$", "12"),
    ("-5", "-5"),
    ("- 5", "-5"),
    ("−5", "-5"),
    ("–5", "-5"),
    ("1,234", "1234"),
    ("1,234,567.5", "1234567.5"),
    ("1,23", "1.23"),
    ("3e2", "300"),
    ("3E-2", "0.03"),
    ("3 x 10^2", "300"),
    ("3 × 10**-2", "0.03"),
    ("3·10^{+2}", "300"),
    ("2 \\times 10^3", "2000"),
    ("1e400", "inf"),  # more than can be written: no number that could be right
    ("1e-400", "0"),
    ("5\\%", "5"),
    ("7mg", "7"),
    ("A1c 7", "7"),
    ("covid-19: 7", "7"),
    # Numbers of a unit are not the answer's.
    ("67 mL/min/1.73 m²", "67"),
    ("67 mL/min / 1.73 m^{2}", "67"),
    ("25 kg/m2", "25"),
    ("25 kg / m^2", "25"),
    ("12 x 10^9/L", "12"),
    # Alone, with a unit or a lead of few words.
    ("about roughly 12", "12"),
    ("≈ 12", "12"),
    ("= 12", "12"),
    ("± 12", "12"),
    ("It is 12 mL per kg and hour", "12"),
    # As a word.
    ("Seven.", "7"),
    ("zero", "0"),
    ("twenty", "20"),
    ("It may be three, yes three", "3"),
    ("Two findings; the score is four.", "4"),
    ("Total: eleven of twenty", "11"),
    # In a form for answers.
    ("\\boxed{12}", "12"),
    ("\\boxed{.5}", "0.5"),
    ("\\boxed{Four.}", "4"),
    ("\\boxed{12} \\boxed{12.0}", "12"),
    ('12 or 13? {"answer": "14 mL"}', "14"),
    # Behind a cue; the last one counts.
    ("We have 1 and 2, a total of 5", "5"),
    ("3 and 4: the value would be 5", "5"),
    ("After 3 and 4 a score ≈ 5", "5"),
    ("1 and 2 give what equals 12", "12"),
    ("1 and 2 are equivalent to 12", "12"),
    ("It is roughly 12 and was 11", "11"),
    ("The result is 3. The result is 4.", "4"),
    ("The result is 3-4. The result is 5.", "5"),
    ("The value is 7\nThe mean is 3\n4", "3"),
    # A final answer stands above others.
    ("The final answer is 3. The result is 4.", "3"),
    ("The final answer is 3. The final result is 3.0.", "3"),
    ("We have 2 and 3. Final value: 5\n9", "5"),
    ("The final score is 7 mL.\nIt was 8.", "7"),
    ("The final score is 7. And 8.", "7"),
    # A calculation gives its result.
    ("The final answer is 2 + 2 =4.", "4"),
    ("The final answer is 2 + 2 = 8 / 2 = 4.", "4"),
    ("Final result: 6 = 2 x 3 = 6 mL", "6"),
    ("BMI = 81 / 3.24 = 25 kg/m2", "25"),
    # One of a scale, or with what it means.
    ("Step 1 and 2. Final score: 4/5.", "4"),
    ("Step 1 and 2. The final score is 7 out of 9.", "7"),
    ("Step 1 and 2. The final score is 7, of 40 % of men.", "7"),
    ("Step 1 and 2. The final value is 7 mL, which suggests 8.", "7"),
    ("Step 1 and 2. The final value is 7 mL (from 8).", "7"),
    # What names what it gives may speak of another number.
    ("The answer, there is 7 mL, not 8 mL", "7"),
    # A list of points, and its total.
    ("- Age: 1\n- Sex: 2\n- Total: 3", "3"),
    ("- Age: 1\n- Sex: 2\n- The answer is 3", "3"),
    ("Points\n- Age: 1", "1"),
    # In brackets nothing is stated.
    ("The score is 4 (the value is 3 there).", "4"),
    # A bound is no value.
    ("y < 7, z 8", "8"),
)

UNREAD = (
    "",
    "none",
    "three or four",
    "12 and 13",
    "12 to 13",
    "12-13 mL",
    "12 – 13",
    "12 ± 1",
    "12 +/- 1",
    "12 (13)",
    "> 12",
    "< 12",
    "≥ 12",
    "≤12",
    "<= 12",
    "The score is >= 12",
    "The result is > 12",
    "The result is 12-15",
    "The result is 12 or 13",
    "The result is 5. The result is 3-4.",
    "The final answer is 3. The final result is 4.",
    "The final answer is 3 to 4.",
    "\\boxed{12} \\boxed{13}",
    "\\boxed{12 to 14}",
    "\\boxed{many}",
    "\\boxed{1 2}",
    "\\boxed{}",
    "Final result: 2 + 2 mL",
    "Final result: 2 x 3 mL",
    "Final result: 2 (3) mL",
    "The final answer is 2 + 3 = unknown",
    "The answer, here is 7 mL, not 8 mL",
    "It is 7 mL and 8 mL",
    "- Age: 1\n- Sex: 2",
    "• Age: 1\n• Sex: 2\n• Stage: 3",
    "* Age: 1\n* Sex: 2",
    "(so the score is 3) 4 5",
    "1,2345",
    "7th",
    "7xyz",
    "1.2.3",
    "1 000",
)


@pytest.mark.parametrize(("answer", "value"), READ, ids=range(len(READ)))
def test_the_number_that_is_meant_is_read(answer: str, value: str) -> None:
    reading = read_number(answer)
    assert (reading.value, reading.reason) == (value, None), reading.note


@pytest.mark.parametrize("answer", UNREAD, ids=range(len(UNREAD)))
def test_what_gives_no_number_or_several_is_not_guessed(answer: str) -> None:
    reading = read_number(answer)
    assert reading.value is None and reading.reason and reading.note


@pytest.mark.parametrize(
    ("answer", "unit", "value"),
    [
        ("250 mg", "g", "0.25"),
        ("2.5g", "mg", "2500"),
        ("5 mmol/L", "mmol/L", "5"),
        ("5 mmol/L", "mg/dL", "5"),
        ("5 mg", "", "5"),
        ("The answer is 0.25 g of it", "mg", "250"),
        ("The final answer is 2 x 0.125 g = 0.25 g", "mg", "250"),
        ('{"answer": "0.25 g"}', "mg", "250"),
        ("We give much, namely 0.25 g of it daily", "mg", "250"),
        ("The dose is 0.25 g or, said otherwise, 250 mg", "mg", "250"),
    ],
)
def test_a_number_is_turned_into_the_unit_that_was_asked_for(answer: str, unit: str, value: str) -> None:
    assert read_number(answer, unit).value == value


@pytest.mark.parametrize(
    ("said", "wanted", "factor"),
    [
        ("mg", "g", 1e-3),
        (" (mg) daily", "g", 1e-3),
        ("**MG**", "g", 1e-3),
        ("µg", "mg", 1e-3),
        ("μg", "mcg", 1),
        ("ng", "ug", 1e-3),
        ("lb", "kg", 0.45359237),
        ("kg", "lbs", 1 / 0.45359237),
        ("mg/dL", "g/L", 1e-2),
        ("mL / min", "L/h", 0.06),
        ("ul", "dl", 1e-5),
        ("mg/kg/day", "g/kg/week", 7e-3),
        ("min", "hour", 1 / 60),
        ("hr", "h", 1),
        ("days", "week", 1 / 7),
        ("msec", "s", 1e-3),
        ("ms", "sec", 1e-3),
        ("inches", "cm", 2.54),
        ("in", "mm", 25.4),
        ("inch", "m", 0.0254),
        ("mmol", "umol", 1e3),
        ("mol", "mmol", 1e3),
        ("meq", "eq", 1e-3),
        ("weeks", "day", 7),
        ("meq/L", "mmol/L", None),
        ("mmol/L", "mg/dL", None),
        ("mg/dL", "mg", None),
        ("mgx", "g", None),
        ("mg2", "g", None),
        ("drops", "mL", None),
        ("mL", "drops", None),
        ("", "g", None),
        ("g", "", None),
    ],
)
def test_units_of_one_kind_are_turned_into_one_another(said: str, wanted: str, factor: float | None) -> None:
    assert factor_between(said, wanted) == (None if factor is None else pytest.approx(factor))
