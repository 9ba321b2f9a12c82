"""The governance page: what Joint Commission and CHAI, TRIPOD-LLM, GRRAS and the EU's technical file ask, filled in
from the files of a run. Every value is looked up in a file when the page is written and is shown beside its place
there; what no file states is an open line. `governance.yaml` says what is asked, and where it is stated."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files as packaged
from pathlib import Path
from typing import Any

from medjury.foundation.errors import MedjuryError
from medjury.report._html import Html, element, paragraph
from medjury.statistics import shown
from medjury.store.runs import files

STYLE = (
    ".asked{list-style:none;padding:0}.asked>li{border-top:1px solid var(--line,#ccc);padding:.5rem 0;"
    "display:grid;grid-template-columns:minmax(0,9rem) minmax(0,2fr) minmax(0,3fr);gap:.3rem 1rem}"
    ".asked dl{margin:0;display:block}.asked dt{font-size:.85em}.asked dd{margin:0 0 .4rem;overflow-wrap:anywhere}"
    "@media(max-width:44rem){.asked>li{grid-template-columns:minmax(0,1fr)}}"
)
_PASSPORT = "passport"
_NAMES = ("dimension", "judge", "effect")  # the columns of a table that say what a row is about
_MOST, _LONG = 12, 60  # so many of a list are shown, each on its line where one is longer than this


@dataclass(frozen=True, slots=True)
class Fact:
    """A value as a file states it, and where."""

    file: str
    field: str
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Line:
    """What is asked, the facts that answer it, and where a file would state what is not stated."""

    item: str
    asks: str
    facts: tuple[Fact, ...]
    missing: tuple[str, ...]


def governance_page(folder: Path, rater: str, study: str, note: str, passport: Path | None = None) -> Html:
    """The page about a run folder, whose tables are written; `rater` is on trial, `passport` its judge card, and
    `note` what everybody must know who reads of the `study`."""
    parts, filled, count = [], 0, 0
    for frame in _frames():
        lines = [_line(each, folder, rater, passport) for each in frame["lines"]]
        filled, count = filled + sum(bool(each.facts) for each in lines), count + len(lines)
        parts += [
            element("h2", frame["title"]),
            paragraph(frame["scope"], class_="soft"),
            element("ul", *map(_shown, lines), class_="asked"),
        ]
    lead = (
        f"{filled} of {count} lines are filled in from files of this run; {count - filled} are open, because no "
        "file states them. Beside each value is the file and the field that it is from. The questions are in our "
        "words; the texts of the frames decide."
    )
    back = element("p", element("a", "The whole report", href=files.REPORT), class_="screen")
    head = [element("h1", f"Governance: {study}"), *([paragraph(note, class_="note")] if note else [])]
    return element("main", *head, paragraph(lead), *parts, back)


@cache
def _frames() -> list[dict[str, Any]]:
    import yaml

    found: list[dict[str, Any]] = yaml.safe_load(
        packaged("medjury.report").joinpath("governance.yaml").read_text(encoding="utf-8")
    )
    return found


def refuse_another(passport: Path, folder: Path) -> None:
    """A passport of another run would fill in what this one does not state."""
    try:
        run, own = (json.loads(file.read_bytes()) for file in (passport, folder / files.MANIFEST))
        same = run["run"]["run"] == own["run"]
    except (OSError, ValueError, LookupError, TypeError):
        same = False
    if not same:
        raise MedjuryError(
            f"{passport}: is not a passport of {folder}; `medjury passport make {folder}` writes one"
        )


def _line(asked: str, folder: Path, rater: str, passport: Path | None) -> Line:
    item, asks, *places = asked.split(" | ")
    facts, missing = [], []
    for place in places:
        name, _, field = place.partition(" ")
        file = passport if name == _PASSPORT else folder / name
        values = () if file is None else _stated(file, field, rater)
        if not values:
            missing.append(f"{name} › {field}")
        else:
            facts.append(Fact(passport.name if name == _PASSPORT and passport else name, field, values))
    return Line(item, asks, tuple(facts), tuple(missing))


def _stated(file: Path, field: str, rater: str) -> tuple[str, ...]:
    """What a file says there, for a reader; nothing where it says nothing."""
    if not file.is_file():
        return ()
    if file.suffix == ".csv":
        with file.open(encoding="utf-8", newline="") as lines:
            rows = [row for row in csv.DictReader(lines) if row.get("rater", rater) == rater]
        return tuple(
            ": ".join([*(row[name] for name in _NAMES if name in row), *_words(_number(row[field]))])
            for row in rows
            if row.get(field)
        )
    path = field.removeprefix("#").replace("[]", ".[]").split(".")
    found = [*_at(_read(file, file.stat().st_mtime_ns), path)]
    if field.startswith("#"):
        return (f"{len(found[0]):,}",) if found and found[0] else ()
    return tuple(dict.fromkeys(words for each in found for words in _words(each)))


@lru_cache(maxsize=2)  # the manifest and the passport, of which every line is
def _read(file: Path, _changed: int) -> Any:
    return json.loads(file.read_text(encoding="utf-8"))


def _at(value: Any, path: Sequence[str]) -> Iterator[Any]:
    if not path:
        yield value
    elif path[0] == "[]" and isinstance(value, list):
        for each in value:
            yield from _at(each, path[1:])
    elif isinstance(value, dict) and path[0] in value:
        yield from _at(value[path[0]], path[1:])


def _number(cell: str) -> Any:
    for kind in (int, float):
        with suppress(ValueError):
            return kind(cell)
    return cell


def _words(value: Any) -> tuple[str, ...]:
    """A value in words; nothing where it says nothing."""
    if isinstance(value, list | dict) and not value:
        return ("none",)  # which the file does say
    if isinstance(value, bool):
        return ("yes" if value else "no",)
    if isinstance(value, int | float):
        return (shown(value),)
    if isinstance(value, dict):
        return tuple(f"{name} {words}" for name, each in value.items() if (words := "; ".join(_words(each))))
    if isinstance(value, list):
        return tuple(words for each in value for words in _words(each))
    return (str(value),) if value else ()


def _shown(line: Line) -> Html:
    parts: list[Html] = []
    for each in line.facts:
        kept, more = each.values[:_MOST], len(each.values) - _MOST
        told = [*kept, *([f"and {more:,} more"] if more > 0 else [])]
        told = told if any(len(words) > _LONG for words in told) else ["; ".join(told)]
        source = element("dt", element("code", f"{each.file} › {each.field}"), class_="soft")
        known = {"data_file": each.file, "data_field": each.field}
        parts += [source, *(element("dd", words, **known) for words in told)]
    note = f"{', '.join(line.missing)} would state it" if line.missing else "for people to fill in"
    state = "filled" if parts else "open"
    if line.missing or not parts:
        parts.append(
            element("dd", element("strong", "OPEN "), element("span", note, class_="soft"), class_="open")
        )
    answer = element("dl", *parts)
    return element(
        "li", element("span", line.item, class_="soft"), element("span", line.asks), answer, data_state=state
    )
