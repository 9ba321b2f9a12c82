"""The table of real judges: every source that is at hand, for a terminal, as data, and written as a page."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from medjury.foundation.errors import MedjuryError
from medjury.foundation.files import private_folder, write_whole
from medjury.statistics import Printable, Result, text_table
from medjury.suites._judges._entries import Entry, judge_sources
from medjury.suites._judges._files import fetch_sources, found_files
from medjury.suites._judges._page import alone_lines, left_out, page
from medjury.suites._judges._results import ONE_HUMAN, JudgeRow, SourceResult, agreed, missed, source_result


@dataclass(frozen=True)
class JudgesTable(Result[JudgeRow]):
    """Every source that was read, and those that were left out."""

    rows: tuple[JudgeRow, ...]
    warnings: tuple[str, ...]
    sources: tuple[SourceResult, ...]
    left_out: tuple[Entry, ...]
    data: Path

    def shown_rows(self) -> Sequence[Mapping[str, Printable]]:
        return [
            {
                "source": each.entry.part.title,
                "judge": judge,
                "answers": each.answers,
                "worst word": (row := each.worst(judge)).verdict.word,
                "agrees": agreed(each, row),
                "misses": missed(each, each.most_missed(judge)),
            }
            for each in self.sources
            for judge in each.judges
        ]

    def text(self) -> str:
        """The table for a terminal, what was not read, and what was left out."""
        lines = [f"! {warning}" for warning in self.warnings]
        if rows := self.shown_rows():
            lines += text_table(rows)
            lines.append(
                "In brackets is a clinician's colleague. Of each judge the dimension with the worst word, and the "
                "one on which it misses most danger."
            )
        for each in self.sources:
            if each.one_human:
                lines.append(f"{each.entry.part.title}: {ONE_HUMAN}")
            lines += [f"{each.entry.part.title}, {text}" for text in alone_lines(each)]
        lines += [left_out(each, self.data) for each in self.left_out]
        return "\n".join(lines)

    def content(self) -> dict[str, Any]:
        """All numbers of the page."""
        return {
            "sources": [_source_content(each) for each in self.sources],
            "judges": self.to_dicts(),
            "left_out": [each.part.name for each in self.left_out],
        }

    def write(self, folder: str | Path) -> Path:
        """Write the page and the same numbers as data; the page. It has no text and no id of any answer."""
        place = Path(folder)
        private_folder(place / "data")
        whole = json.dumps(self.content(), indent=1, ensure_ascii=False, allow_nan=False)
        write_whole(place / "data" / "judges.json", whole + "\n")
        if self.rows:
            write_whole(place / "data" / "judges.csv", self.frame().write_csv())
        write_whole(place / "index.html", page(self.sources, self.left_out))
        return place / "index.html"


def judges_table(
    data: str | Path,
    *,
    more: Sequence[str | os.PathLike[str]] = (),
    only: Sequence[str] = (),
    fetch: Collection[str] = (),
    say: Callable[[str], None] = print,
    resamples: int | None = None,
    seed: int | None = None,
) -> JudgesTable:
    """The table of all sources whose files are in the folder, or of those that `only` names. `more` are entries of
    the user's own; `fetch` names the hosts from which missing files may come. A source that is not there is left
    out and named; what cannot be read says so."""
    place, entries = Path(data), judge_sources(more, only)
    if fetch:
        fetch_sources(entries, place, fetch, say)
    if not place.is_dir():
        raise MedjuryError(f"{place}: there is no such folder; name the one that holds the checkouts")
    there = [each for each in entries if any(file.path for file in found_files(each, place))]
    sources = tuple(source_result(each, place, resamples=resamples, seed=seed) for each in there)
    absent = tuple(each for each in entries if each not in there)
    warnings = tuple(
        f"{each.entry.part.title}: {text}"
        for each in sources
        for text in (*((each.why_not,) if each.why_not else ()), *each.lacking)
    )
    return JudgesTable(tuple(row for each in sources for row in each.rows), warnings, sources, absent, place)


def _source_content(each: SourceResult) -> dict[str, Any]:
    part = each.entry.part
    names = ("name", "title", "repository", "commit", "licence", "citation")
    return {
        **{name: getattr(part, name) for name in names},
        "why_not": each.why_not,
        "lacking": list(each.lacking),
        "clinicians": each.clinicians,
        "answers": each.answers,
        "one_human": each.one_human,
        "danger": part.danger.means if part.danger else None,
        "files": [
            {
                "name": file.part.name,
                "there": file.path is not None,
                "sha256": file.sha256,
                "hash": file.state,
            }
            for file in each.files
        ],
        "verdicts": [] if each.validation is None else json.loads(each.validation.verdicts_json()),
        "juries": [{"members": list(row.jurors), **row.as_dict()} for row in each.juries],
        "clinicians_alone": list(each.alone),
    }
