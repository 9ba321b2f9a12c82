"""A run folder with its study and its cases beside it: every text, vote and danger in it is planted."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl
from starlette.testclient import TestClient
from tests.report.planted import planted_frame, rules, write_run

from medjury.intake.cases import read_cases
from medjury.panel._evidence._run import EvidenceRun
from medjury.panel._evidence._serve import OneTimeLink, view_app
from medjury.studies import HashedCases

STUDY = """study: planted study
cases: cases.jsonl
instrument: note_quality
judges:
  - {kind: openai, base_url: "http://127.0.0.1:1/v1", model: m, name: judge-a}
"""
NOTE = "Warfarin 5 mg daily was stopped after the fall.\n  The INR was 3.4 on Monday."
ANSWER = "The patient takes warfarin. Blood was taken."


def plant_study(
    folder: Path,
    ratings: pl.DataFrame,
    *,
    texts: Mapping[str, Mapping[str, Any]] | None = None,
    records: str = "",
    study: str = STUDY,
    **changes: Any,
) -> Path:
    """A study folder with one case for each answer in the ratings, and a finished run of it; `texts` replaces what
    the cases of an item (or of ITEM/SYSTEM) say."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = []
    for item, system in ratings.select("item", "system").unique(maintain_order=True).iter_rows():
        case = {"id": item, "candidate": ANSWER, "notes": [{"id": "n1", "text": NOTE, "date": "2025-01-02"}]}
        for own in (item, f"{item}/{system}"):
            case |= (texts or {}).get(own, {})
        lines.append(json.dumps({**case, **({"system": system} if system else {})}))
    (folder / "cases.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (folder / "study.yaml").write_text(study, encoding="utf-8")
    cases = HashedCases(read_cases(folder / "cases.jsonl"))
    assert sum(1 for _ in cases) == len(lines)
    return write_run(
        folder / "run",
        ratings,
        records=records,
        **{"study_file": "../study.yaml", "data_hash": cases.hash, **changes},
    )


def small_ratings(
    *, cases: int = 8, systems: Sequence[str] = ("alpha", "beta"), explanation: str = "because of the notes"
) -> pl.DataFrame:
    return planted_frame(cases=cases, systems=systems, unscored=0.1, explanation=explanation)


def explained(ratings: pl.DataFrame, rater: str, words: str, item: str = "case-0001") -> pl.DataFrame:
    """The ratings with other words of one rater on one item."""
    theirs = (pl.col("rater") == rater) & (pl.col("item") == item)
    return ratings.with_columns(
        pl.when(theirs).then(pl.lit(words)).otherwise(pl.col("explanation")).alias("explanation")
    )


def with_development(cases: int) -> dict[str, Any]:
    return rules(development_cases=tuple(f"case-{number:04d}" for number in range(cases)))


class Reader(TestClient):
    """A browser without JavaScript that came in by the printed link."""

    def __init__(self, run: EvidenceRun, *, beside: EvidenceRun | None = None, enters: bool = True) -> None:
        self.door = OneTimeLink(1)
        hosts = frozenset({"testserver"})
        super().__init__(view_app(run, self.door, beside=beside, hosts=hosts), follow_redirects=False)
        self.run = run
        if enters:
            assert self.get(f"/open/{self.door.token}").status_code == 303

    def text(self, path: str) -> str:
        answer = self.get(path)
        assert answer.status_code == 200, (path, answer.status_code)
        return answer.text


def every_page(run: EvidenceRun) -> list[str]:
    """Addresses of every kind of page."""
    state = run.state
    address = state.address(1)
    pages = [
        "/",
        "/cases",
        "/cases?show=queue",
        "/cases?sort=difference",
        "/so-far",
        address,
        f"{address}/text/0",
    ]
    return [*pages, "/numbers", f"/beside{address[5:]}?system={state.snapshot.keys[0][1]}"]


Opened = Callable[..., Reader]
