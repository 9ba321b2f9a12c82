"""What HELM published of its models: the table of a group as `helm-summarize` writes it, such as MedHELM's
`groups/medhelm_scenarios.json`."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from medjury.foundation.errors import MedjuryError
from medjury.suites._benchmark import Benchmark
from medjury.suites._exchange._others_answers import json_of
from medjury.suites._leaderboard._results import PublishedResult
from medjury.suites._marking._helm import HELM_RULES

_WHAT = "write `groups/medhelm_scenarios.json` of a release of MedHELM"


def read_published(path: Path, benchmarks: Sequence[Benchmark]) -> tuple[PublishedResult, ...]:
    """Each model's score on each of these benchmarks that HELM scores by a rule. A model that HELM did not run has
    none; a file without any of the benchmarks is refused."""
    try:
        tables = json_of(path)
        tables = [tables] if isinstance(tables, dict) else tables
        names = {
            _plain(each.title): each.name for each in benchmarks if each.helm and each.helm.rule in HELM_RULES
        }
        found = [row for table in tables for row in _rows(table, names)]
    except (OSError, ValueError, RecursionError, TypeError, KeyError, AttributeError, IndexError) as error:
        raise MedjuryError(
            f"{path}: is no table of HELM's results ({type(error).__name__}: {error}); {_WHAT}"
        ) from None
    if not found:
        raise MedjuryError(
            f"{path}: holds no score of {', '.join(names.values()) or 'a benchmark with a rule'}; {_WHAT}"
        )
    distinct = {(each.model, each.benchmark): each.score for each in found}
    twice = next((each for each in found if distinct[each.model, each.benchmark] != each.score), None)
    if twice is not None:
        raise MedjuryError(
            f"{path}: {twice.model} has two scores on {twice.benchmark}; name a file with one table"
        )
    return tuple(PublishedResult(*key, score) for key, score in distinct.items())


def _rows(table: Mapping[str, Any], names: Mapping[str, str]) -> Iterator[PublishedResult]:
    """The scores of a table whose columns are benchmarks by their main metric. Seconds, tokens and counts of the
    other tables are no scores."""
    columns = {
        place: names[group]
        for place, head in enumerate(table["header"])
        if (group := _plain((head.get("metadata") or {}).get("run_group", ""))) in names
    }
    if table.get("title") != "Accuracy":
        return
    for row in table["rows"]:
        for place, benchmark in columns.items():
            value = row[place].get("value")
            if value is None:
                continue
            score = float(value)
            if not (math.isfinite(score) and 0 <= score <= 1):
                raise ValueError(f"{value!r} is no score from 0 to 1")
            yield PublishedResult(str(row[0]["value"]), benchmark, score)


def _plain(title: str) -> str:
    """HELM writes HeadQA and Medec, the papers HEAD-QA and MEDEC."""
    return re.sub(r"\W", "", title).casefold()
