"""Dates in the notations that people write, and the age of a pregnancy in weeks and days."""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable

from medjury.instruments import Reason
from medjury.suites._marking._given import given_forms
from medjury.suites._marking._reading import Reading

_MONTHS = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
]
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
    return Reading(
        None,
        Reason.PARSE,
        f"the answer holds {'several' if everything else 'no'} {what}{'s' if everything else ''}",
    )


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
