"""The governance page: what Joint Commission and CHAI, TRIPOD-LLM, GRRAS and the EU's technical file ask, filled in
from the files of a run. Every value is looked up in a file and is shown beside its place there; what no file states
is an open line. `governance.yaml` says what is asked, and where it is stated. The report has TRIPOD-LLM too."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib.resources import files as packaged
from pathlib import Path
from typing import Any

from medjury.foundation.errors import MedjuryError
from medjury.intake.cases import pair_name, pair_of
from medjury.report._html import Cell, Html, element, paragraph
from medjury.report._material import Material, Section
from medjury.statistics import shown
from medjury.store.runs import files, own_hash

# What a file holds: the rows of a table, or a document; None where there is no such file.
Reader = Callable[[str], Any]
STYLE = (
    ".asked{list-style:none;padding:0}.asked>li{border-top:1px solid var(--line,#ccc);padding:.5rem 0;"
    "display:grid;grid-template-columns:minmax(0,9rem) minmax(0,2fr) minmax(0,3fr);gap:.3rem 1rem}"
    ".asked dl{margin:0;display:block}.asked dt{font-size:.85em}.asked dd{margin:0 0 .4rem;overflow-wrap:anywhere}"
    "@media(max-width:44rem){.asked>li{grid-template-columns:minmax(0,1fr)}}"
)
_PASSPORT, _OPEN = "passport", "OPEN: for the authors"
_NAMES = ("dimension", "judge", "effect")  # the columns of a table that say what a row is about
_MOST, _LONG = 12, 60  # so many of a list are shown, each on its line where one is longer than this


@dataclass(frozen=True, slots=True)
class Line:
    """What is asked, the facts that answer it (file, field, and the values there), and where a file would state
    what is not stated."""

    item: str
    asks: str
    facts: tuple[tuple[str, str, tuple[str, ...]], ...]
    missing: tuple[str, ...]


def governance_page(folder: Path, rater: str, study: str, note: str, passport: Path | None = None) -> Html:
    """The page about a run folder, whose tables are written; `rater` is on trial, `passport` its judge card, and
    `note` what everybody must know who reads of the `study`."""

    @cache
    def read(name: str) -> Any:
        file = passport if name == _PASSPORT else folder / name
        return (
            _parsed(name, file.read_text(encoding="utf-8")) if file is not None and file.is_file() else None
        )

    parts, filled, count = [], 0, 0
    for frame in _frames():
        lines = [_line(each, read, rater, passport.name if passport else "") for each in frame["lines"]]
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
    """A passport of another run, or one that was edited, would fill in what this run does not state."""
    try:
        card, own = (json.loads(file.read_bytes()) for file in (passport, folder / files.MANIFEST))
        whole = card["hash"] == _hash_of(card, "hash", "signature")
        same = card["run"]["manifest_hash"] == _hash_of(own, "hash", "report_files")
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        whole = same = False
    if not same:
        raise MedjuryError(
            f"{passport}: is not a passport of {folder}; `medjury passport make {folder}` writes one"
        )
    if not whole:
        raise MedjuryError(f"{passport}: was edited after it was made; `medjury passport check` says more")


def _hash_of(content: dict[str, Any], *left_out: str) -> str:
    return own_hash({name: value for name, value in content.items() if name not in left_out})


def reporting_checklist(material: Material) -> Section:
    """TRIPOD-LLM, filled in from what the report itself is about to write; the rest is for the authors."""

    @cache
    def read(name: str) -> Any:
        if name == files.MANIFEST:
            content = json.loads(json.dumps(material.evidence.manifest.content()))
            # ratings without a run state no systems
            return content | {"systems": _in_either_order(content.get("systems", {}))}
        table = material.exhibits.tables.get(Path(name).stem)
        return None if table is None else _parsed(name, table)

    (frame,) = (each for each in _frames() if each["title"].startswith("TRIPOD"))
    lines = [_line(each, read, material.evidence.rater) for each in frame["lines"]]
    rows: list[dict[str, Cell]] = [
        {
            "item": line.item,
            "topic": line.asks,
            "what this run can say": "; ".join(_labelled(field, values) for _, field, values in line.facts)
            or _OPEN,
            "stated in": "; ".join(
                f"{name}: {', '.join(field for file, field, _ in line.facts if file == name)}"
                for name in dict.fromkeys(file for file, _, _ in line.facts)
            ),
            "state": "filled" if line.facts else "open",
        }
        for line in lines
    ]
    left = sum(not line.facts for line in lines)
    table = material.exhibits.table("tripod-llm", rows, caption=f"The 19 items of {frame['title']}, by topic")
    lead = (
        f"{len(rows) - left} of {len(rows)} topics are filled from the run's files, {left} are left to the "
        "authors. "
        "Wording and subitems are the guideline's own: check them there before submission."
    )
    body = element("details", element("summary", "Show the checklist"), table)
    return Section("tripod", "TRIPOD-LLM checklist", Html(paragraph(lead) + body))


def _in_either_order(systems: dict[str, int]) -> dict[str, int]:
    """A pair of systems that was shown in both orders is one."""
    counts = Counter[str]()
    for name, number in systems.items():
        pair = pair_of(name)
        counts[pair_name(*sorted(pair)) if pair else name] += number
    return dict(counts)


def _labelled(field: str, values: Sequence[str]) -> str:
    """The values with the last part of their field: `cases: 120`."""
    name = field.replace("[]", "").lstrip("#").rpartition(".")[2].replace("_", " ")
    return f"{name}: {', '.join(values)}"


def _parsed(name: str, text: str) -> Any:
    return [*csv.DictReader(io.StringIO(text, newline=""))] if name.endswith(".csv") else json.loads(text)


def _line(asked: str, read: Reader, rater: str, passport: str = "") -> Line:
    item, asks, *places = asked.split(" | ")
    facts, missing = [], []
    for place in places:
        name, _, field = place.partition(" ")
        if values := _stated(read(name), field, rater):
            facts.append((passport if name == _PASSPORT else name, field, values))
        else:
            missing.append(f"{name} › {field}")
    return Line(item, asks, tuple(facts), tuple(missing))


def _stated(document: Any, field: str, rater: str) -> tuple[str, ...]:
    """What a file says there, for a reader; nothing where it says nothing. Of a table, the rows of the rater on
    trial, where it has any."""
    if isinstance(document, list):
        rows = [row for row in document if row.get("rater") == rater]
        names = _NAMES if rows else ("rater", *_NAMES)
        return tuple(
            ": ".join([*(row[name] for name in names if name in row), *_words(_number(row[field]))])
            for row in rows or document
            if row.get(field)
        )
    found = [*_at(document, field.removeprefix("#").replace("[]", ".[]").split("."))]
    if field.startswith("#"):
        return tuple(f"{len(each):,}" for each in found if isinstance(each, list))
    return tuple(dict.fromkeys(words for each in found for words in _words(each)))


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
    for file, field, values in line.facts:
        kept, more = values[:_MOST], len(values) - _MOST
        told = [*kept, *([f"and {more:,} more"] if more > 0 else [])]
        told = told if any(len(words) > _LONG for words in told) else ["; ".join(told)]
        source = element("dt", element("code", f"{file} › {field}"), class_="soft")
        known = {"data_file": file, "data_field": field}
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
