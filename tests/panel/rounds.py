"""A small panel study for tests: planted names that no rater may see, and rounds in a real database."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from medjury.panel._database import PanelDatabase, open_panel_database
from medjury.panel._design._rounds import Round, rounds, set_up
from medjury.studies import RatedStudy, load_rated_study

SYSTEMS = ("zebrafinch-9b", "quokka-scribe")
VENDORS = ("Plumbago Labs", "Xylotomy Inc")
NOON = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)


class Clock:
    """The panel's clock, turned by hand."""

    def __init__(self, at: datetime = NOON) -> None:
        self.at = at

    def __call__(self) -> datetime:
        return self.at

    def turn(self, seconds: float = 0, **by: float) -> None:
        self.at += timedelta(seconds=seconds, **by)


def case_rows(cases: int, systems: tuple[str, ...] = SYSTEMS) -> list[dict[str, Any]]:
    return [
        {
            "id": f"marmoset-{case:02}",
            "system": system,
            "vendor": VENDORS[place % 2],
            "patient": f"pangolin-{case}",
            "candidate": f"Summary {case}.{place}: blood pressure {120 + case}/80, amlodipine 5 mg once daily.",
            "texts": {"context": f"Visit {case}: the patient feels well. Blood pressure {120 + case}/80."},
            "metadata": {"planted": "aardwolf"},
        }
        for case in range(cases)
        for place, system in enumerate(systems)
    ]


def write_study(
    folder: Path,
    *,
    name: str = "ward",
    cases: int = 3,
    systems: tuple[str, ...] = SYSTEMS,
    instrument: str = "note_quality",
    rows: list[dict[str, Any]] | None = None,
    panel: str = "",
    dimensions: str = "dimensions: [accuracy, completeness, clarity]\n",
) -> RatedStudy:
    rows = case_rows(cases, systems) if rows is None else rows
    (folder / "cases.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    text = f"study: {name}\ncases: cases.jsonl\ninstrument: {instrument}\n{dimensions}{panel}"
    (folder / "study.yaml").write_text(text, encoding="utf-8")
    return load_rated_study(folder / "study.yaml")


def set_up_panel(
    folder: Path, place: str | Path | None = None, **study: Any
) -> tuple[PanelDatabase, list[Round]]:
    """A database with the rounds of such a study."""
    database = open_panel_database(place or folder / "panel.sqlite")
    loaded = write_study(folder, **study)
    with database.writing() as connection:
        set_up(connection, loaded, NOON)
        return database, rounds(connection)
