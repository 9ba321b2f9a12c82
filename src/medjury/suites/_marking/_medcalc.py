"""Medical calculations: an equation within its limits, a score exactly, a date, an age in weeks and days.

Every kind of calculator is marked, those of laboratory values and doses too.
"""

from __future__ import annotations

from medjury.instruments import Reason
from medjury.suites._benchmark import Benchmark
from medjury.suites._item import Item
from medjury.suites._mark import Mark
from medjury.suites._marking._calendar import read_age, read_date
from medjury.suites._marking._cleaned import plain_text
from medjury.suites._marking._exact_match import NO_GOLD, marked
from medjury.suites._marking._number import read_number
from medjury.suites._marking._reading import Reading, said
from medjury.suites._marking._refusal import refuses

TOLERANCE = 0.05  # of the gold value, where an equation comes without limits
_NOISE = 1e-9


def medcalc(benchmark: Benchmark, item: Item, answer: str) -> Mark:
    """1 where the answer is right by the rule of its output type: `decimal`, `integer` or `date` in the facts."""
    if not item.gold:
        return NO_GOLD
    kind, gold = str(item.facts.get("output_type", "decimal")).strip().lower(), item.gold[0]
    text = said(answer)
    if isinstance(text, Reading):
        return Mark(None, text.reason, note=text.note)
    if kind == "date":
        return _calendar_mark(text, item)
    wanted = _number_of(gold)
    if wanted is None:
        return Mark(None, Reason.INPUT, note="the gold answer is not a number")
    reading = _or_refusal(read_number(text, str(item.facts.get("unit", ""))), text)
    value = _number_of(reading.value or "")
    return marked(reading, value is not None and _is_right(value, wanted, kind, item))


def _is_right(value: float, wanted: float, kind: str, item: Item) -> bool:
    if kind == "integer":
        return abs(value - wanted) <= _NOISE
    lower, upper = (_number_of(str(item.facts.get(name, ""))) for name in ("lower_limit", "upper_limit"))
    if lower is None or upper is None:
        lower, upper = wanted * (1 - TOLERANCE), wanted * (1 + TOLERANCE)
    lower, upper = sorted((lower, upper))  # of a negative value the source's lower limit is the higher number
    noise = _NOISE * max(1.0, abs(wanted))
    return lower - noise <= value <= upper + noise


def _calendar_mark(text: str, item: Item) -> Mark:
    read = read_age if "week" in item.gold[0].lower() else read_date
    wanted = {read(plain_text(each)).value for each in item.gold} - {None}
    if not wanted:
        return Mark(None, Reason.INPUT, note="the gold answer is neither a date nor an age in weeks and days")
    reading = _or_refusal(read(text), text)
    return marked(reading, reading.value in wanted)


def _or_refusal(reading: Reading, text: str) -> Reading:
    if reading.value is None and refuses(text):
        return Reading(None, Reason.REFUSAL, "the model declined to calculate")
    return reading


def _number_of(text: str) -> float | None:
    try:
        return float(text.replace(",", ""))
    except ValueError:
        return None
