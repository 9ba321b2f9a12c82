"""The metrics by their names, and the functions that mark answers by any of them."""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from medjury.foundation.documents import nearest
from medjury.foundation.errors import MedjuryError
from medjury.instruments import Reason
from medjury.suites._benchmark import METRICS, Benchmark, Item, Mark
from medjury.suites._marking._answer_text import given_forms, plain_text, refuses
from medjury.suites._marking._codes import code_f1
from medjury.suites._marking._error_sentence import error_flag, error_sentence
from medjury.suites._marking._exact_match import NO_GOLD, exact_match, marked
from medjury.suites._marking._number import read_number
from medjury.suites._marking._reading import Reading, said
from medjury.suites._marking._sql import sql_marks
from medjury.texts.metrics import score

# Dates in the notations that people write, and the age of a pregnancy in weeks and days.

_MONTHS = [
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october",
    "november", "december",
]  # fmt: skip
_MONTH = (
    r"(?P<name>"
    + "|".join(f"{each[:3]}(?:{each[3:]}|{each[3:4]})?" if each != "may" else "may" for each in _MONTHS)
    + r")\.?"
)
_DATES = (
    re.compile(r"(?<![\d/.-])(?P<year>\d{4})[-/.](?P<month>\d{1,2})[-/.](?P<day>\d{1,2})(?![\d/-])"),
    re.compile(r"(?<![\d/.-])(?P<month>\d{1,2})[/-](?P<day>\d{1,2})[/-](?P<year>\d{4}|\d{2})(?![\d/-])"),
    re.compile(r"(?<![\d/.-])(?P<day>\d{1,2})\.\s?(?P<month>\d{1,2})\.\s?(?P<year>\d{4}|\d{2})(?![\d/-])"),
    re.compile(rf"\b{_MONTH}\s+(?P<day>\d{{1,2}})(?:st|nd|rd|th)?,?\s+(?P<year>\d{{4}})\b", re.IGNORECASE),
    re.compile(
        rf"(?<!\d)(?P<day>\d{{1,2}})(?:st|nd|rd|th)?(?:\s+of)?[\s-]+{_MONTH}[,\s-]+(?P<year>\d{{4}})\b",
        re.IGNORECASE,
    ),
)
_CUE = re.compile(
    r"\b(?:answer|date|due|EDD|age|conception)\b[^.\n:=]{0,90}?(?:\bis\b|\bwould\s+be\b|:|=)|=", re.IGNORECASE
)
_AGES = (
    re.compile(
        r"(?<![\d.])(?P<weeks>\d{1,2})\s*(?:weeks?|wks?|w)\b['\"]?[\s,&+']*(?:and\s+)?['\"]?(?P<days>\d{1,3})\s*(?:days?|d)\b",
        re.IGNORECASE,
    ),
    re.compile(r"(?<![\d.])(?P<weeks>\d{1,2})\s*w\s*(?P<days>\d)\s*d\b", re.IGNORECASE),
    re.compile(r"(?<![\d.])(?P<weeks>\d{1,2})(?:\s+and)?\s+(?P<days>[0-6])/7(?:\s*weeks?)?", re.IGNORECASE),
    re.compile(r"(?<![\d.])(?P<weeks>\d{1,2})\s*\+\s*(?P<days>[0-6])(?![\d/])(?:\s*weeks?)?", re.IGNORECASE),
    re.compile(
        r"(?<![\d.])(?P<weeks>\d{1,2})\s*(?:completed\s+)?weeks?\b(?!\s*(?:,|and|&)?\s*\d)", re.IGNORECASE
    ),
    re.compile(r"(?<![\d.])(?P<days>\d{1,3})\s*days?\b", re.IGNORECASE),
)


def read_date(text: str) -> Reading:
    """The date that is the answer, as year-month-day. With slashes the month comes first, as the task asks."""
    return _the_one(text, _dates_in, "date")


def read_age(text: str) -> Reading:
    """The age of a pregnancy that is the answer, in weeks and days; days alone are turned into both."""
    return _the_one(text, _ages_in, "age in weeks and days")


def _the_one(text: str, find: Callable[[str], list[str]], what: str) -> Reading:
    forms = [find(each.value) for each in given_forms(text)]
    places = forms or [
        find(text[cue.end() : cue.end() + 80].split("\n")[0])[:1] for cue in _CUE.finditer(text)
    ]
    stated = [found for found in places if found]
    if forms and (len({tuple(each) for each in stated}) != 1 or len(stated[0]) != 1):
        return Reading(None, Reason.PARSE, f"the final answer is not one {what}")
    if stated:
        return Reading(stated[-1][0])
    everything = list(dict.fromkeys(find(text)))
    if len(everything) == 1:
        return Reading(everything[0])
    last = list(dict.fromkeys(find(text.rstrip().rsplit("\n", 1)[-1])))
    if len(last) == 1:
        return Reading(last[0])
    return Reading(None, Reason.PARSE, f"the answer holds {'more than one' if everything else 'no'} {what}")


def _dates_in(text: str) -> list[str]:
    found: list[tuple[int, str]] = []
    for pattern in _DATES:
        for each in pattern.finditer(text):
            date = _date(each)
            if date and not any(start == each.start() for start, _ in found):
                found.append((each.start(), date))
    return [date for _, date in sorted(found)]


def _date(found: re.Match[str]) -> str | None:
    named = found.groupdict()
    year, day = int(named["year"]), int(named["day"])
    month = _month(named["name"]) if named.get("name") else int(named["month"])
    if len(named["year"]) == 2:
        year += 2000 if year < 70 else 1900
    if month > 12 >= day:  # 25/12/2000 can be read in one way only
        month, day = day, month
    try:
        return datetime.date(year, month, day).isoformat()
    except ValueError:
        return None


def _month(name: str) -> int:
    return next(place for place, each in enumerate(_MONTHS, 1) if each.startswith(name.lower()[:3]))


def _ages_in(text: str) -> list[str]:
    found: dict[int, str] = {}
    ends: list[tuple[int, int]] = []
    for pattern in _AGES:
        for each in pattern.finditer(text):
            if any(start < each.end() and each.start() < end for start, end in ends):
                continue
            ends.append(each.span())
            named = each.groupdict()
            days = int(named.get("weeks") or 0) * 7 + int(named.get("days") or 0)
            found[each.start()] = f"{days // 7} weeks {days % 7} days"
    return [found[start] for start in sorted(found)]


# Yes, no or maybe: the word with which an answer begins or ends, or which it says its answer is.

_WORDS = {
    "yes": "yes", "yeah": "yes", "yep": "yes", "true": "yes", "correct": "yes", "affirmative": "yes", "sí": "yes",
    "oui": "yes", "ja": "yes", "да": "yes", "是": "yes", "はい": "yes", "no": "no", "nope": "no", "false": "no",
    "negative": "no", "non": "no", "nein": "no", "нет": "no", "否": "no", "不是": "no", "いいえ": "no",
    "maybe": "maybe", "perhaps": "maybe", "possibly": "maybe", "uncertain": "maybe",
    "unclear": "maybe", "inconclusive": "maybe",
}  # fmt: skip
_ONE = "yes|no|maybe"
_STRIPPED = " \t*_`#>.!,;:\"'“”()[]{}-–—"
_BEGINS = re.compile(
    rf"[\W_]*(?P<word>{_ONE})(?=[\W_]*$|\s*[,.;:!\n)\]*_\-–—]|\s+(?:because|since|as|the|this|it)\b)",
    re.IGNORECASE,
)
_STATED = re.compile(
    r"\b(?P<final>final\s+)?(?:answer|conclusion|decision|verdict|label|response)\b[^.\n?]{0,60}?(?:\bis|\bwould\s+be|\bmust\s+be|:|=|→)"
    r"[\s*_`\"'“(:]*(?:likely\s+|probably\s+|therefore\s+|clearly\s+|a\s+|definitely\s+)*"
    rf"(?P<word>{_ONE})(?=[\W_]*$|[\s*_`\"'”)]*[,.;:!\n\-–—]|[*_`\"'”)]|\s+(?:because|since|as)\b)",
    re.IGNORECASE,
)
_ALTERNATIVE = re.compile(rf"\b(?:{_ONE})\b\W*(?:\bor\b|\band\b|/|,)\W*\b(?:{_ONE})\b", re.IGNORECASE)
_SUPPOSED = re.compile(r"\b(?:if|whether|why|might|may|could|not|n['’]t)\b[^.\n]{0,60}$", re.IGNORECASE)


def yes_no_maybe(benchmark: Benchmark, item: Item, answer: str) -> Mark:
    """1 where the answer is the gold word."""
    if not item.gold:
        return NO_GOLD
    reading = read_yes_no(answer, item)
    return marked(
        reading, reading.value in {_WORDS.get(each.casefold(), each.casefold()) for each in item.gold}
    )


def read_yes_no(answer: str, item: Item) -> Reading:
    """`yes`, `no` or `maybe`, or why none of them can be read. Several that differ are never guessed from."""
    text = said(answer, item.inputs.values())
    if isinstance(text, Reading):
        return text
    forms = {_WORDS.get(each.value.strip(_STRIPPED).casefold(), "") for each in given_forms(text)}
    if forms:
        return _one(forms)
    if whole := _WORDS.get(text.strip(_STRIPPED).casefold()):
        return Reading(whole)
    stated = [
        each
        for each in _STATED.finditer(text)
        if not _SUPPOSED.search(text, max(0, each.start() - 80), each.start("word"))
    ]
    if final := [each for each in stated if each.group("final")]:
        return _one({each.group("word").casefold() for each in final})
    found = {each.group("word").casefold() for each in stated}
    lines = [line for line in text.split("\n") if line.strip()]
    words = re.split(r"[.?!:]\s+", lines[-1].strip(_STRIPPED))[-1] if lines else ""
    last = _WORDS.get(words.strip(_STRIPPED).casefold())
    found |= {last} if last else set()
    if (begins := _BEGINS.match(text)) and not _ALTERNATIVE.match(text, begins.start("word")):
        found.add(begins.group("word").casefold())
    if found:
        return _one(found)
    if refuses(text):
        return Reading(None, Reason.REFUSAL, "the model declined to answer")
    return Reading(None, Reason.PARSE, "the answer says neither yes nor no nor maybe")


def _one(found: set[str]) -> Reading:
    if len(found) > 1:
        return Reading(None, Reason.PARSE, f"the answer says {' and '.join(sorted(filter(None, found)))}")
    value = next(iter(found))
    if not value:
        return Reading(None, Reason.OUT_OF_RANGE, "the final answer is neither yes nor no nor maybe")
    return Reading(value)


# Medical calculations: an equation within its limits, a score exactly, a date, an age in weeks and days.
#
# Every kind of calculator is marked, those of laboratory values and doses too.

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


# How near an answer's words are to the gold answer: ROUGE-L, BERTScore and sentence embeddings.
#
# They stand beside a jury's score and say nothing of whether an answer is right. Texts are compared in small
# letters, words alone; where an item has several gold answers the nearest counts.

SIMILARITIES = {"rouge_l": "rouge_l", "bertscore": "bert_score", "embedding": "sbert"}


def similarities(
    benchmark: Benchmark, items: Sequence[Item], answers: Sequence[str], metric: str
) -> list[Mark]:
    """The similarity of each answer to its item's gold answer. A model of words is loaded once for all of them;
    without the extra that it needs the error says what to install.

    `options: {models: {bertscore: FOLDER}}` of a benchmark names another model than the usual one.
    """
    name = SIMILARITIES[metric]
    given = {SIMILARITIES.get(key, key): model for key, model in benchmark.options.get("models", {}).items()}
    marks: list[Mark | None] = [_unread(item, answer) for item, answer in zip(items, answers, strict=True)]
    pairs = [(place, gold) for place, mark in enumerate(marks) if mark is None for gold in items[place].gold]
    if not pairs:
        return [mark or NO_GOLD for mark in marks]
    found = score(
        [_words(gold) for _, gold in pairs],
        [_words(str(said(answers[place]))) for place, _ in pairs],
        [name],
        models={name: given[name]} if name in given else None,
    )
    best: dict[int, float] = {}
    for (place, _), value in zip(pairs, found.column(name), strict=True):
        if value is not None:
            best[place] = max(best.get(place, 0.0), min(1.0, max(0.0, value)))
    return [mark or _mark(best.get(place)) for place, mark in enumerate(marks)]


def _mark(value: float | None) -> Mark:
    return Mark(None, Reason.INPUT, note="the gold answer has no words") if value is None else Mark(value)


def _unread(item: Item, answer: str) -> Mark | None:
    if not item.gold:
        return NO_GOLD
    text = said(answer)
    return Mark(None, text.reason, note=text.note) if isinstance(text, Reading) else None


def _words(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))


JURY = "jury"
_ONE_BY_ONE: Mapping[str, Callable[[Benchmark, Item, str], Mark]] = {
    "exact_match": exact_match,
    "yes_no_maybe": yes_no_maybe,
    "code_f1": code_f1,
    "error_flag": error_flag,
    "error_sentence": error_sentence,
    "medcalc": medcalc,
}


def mark(benchmark: Benchmark, item: Item, answer: str, metric: str, *, database: Path | None = None) -> Mark:
    """What `metric` says of an answer to an item: a score from 0 to 1, or none and why."""
    return mark_all(benchmark, [item], [answer], metric, database=database)[0]


def mark_all(
    benchmark: Benchmark,
    items: Sequence[Item],
    answers: Sequence[str],
    metric: str,
    *,
    database: Path | None = None,
) -> list[Mark]:
    """`mark` for many answers at once: a database is opened, and a model of words loaded, once for all of them."""
    if metric == JURY:
        raise MedjuryError("jury: a jury's score comes from a run of judges, not from the answer alone")
    if metric not in METRICS:
        raise MedjuryError(f"There is no metric {metric!r} for benchmarks; {nearest(metric, METRICS)}")
    if metric in SIMILARITIES:
        return similarities(benchmark, items, answers, metric)
    if metric == "sql_execution":
        return sql_marks(benchmark, items, answers, database)
    marker = _ONE_BY_ONE[metric]
    return [marker(benchmark, item, answer) for item, answer in zip(items, answers, strict=True)]
