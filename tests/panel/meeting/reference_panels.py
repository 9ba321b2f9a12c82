"""A study whose panels write the references, for tests: planted names that no member may see."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.panel.rounds import NOON, SYSTEMS, Clock, write_study

from medjury.panel._access._people import Person, Role, add_person
from medjury.panel._design._rounds import set_up
from medjury.panel._meeting._reference import make_panel
from medjury.panel._meeting._reference_files import set_up_references
from medjury.panel._serve import Panel, open_panel_database

SETTINGS = "panel: {references: {show: [history, tests], routine: ward}}\n"
ROUTINE = "Ward: numbat pneumonia"


def rows(cases: int, systems: tuple[str, ...] = SYSTEMS) -> list[dict[str, Any]]:
    return [
        {
            "id": f"marmoset-{case:02}",
            "system": system,
            "vendor": "Plumbago Labs",
            "patient": f"pangolin-{case}",
            "candidate": f"Opinion {case}.{place}: pulmonary embolism, quoll reasoning.",
            "texts": {"history": f"Patient {case}: breathless.", "tests": "D-dimer raised.", "ward": ROUTINE},
            "metadata": {"age": 50 + case},
        }
        for case in range(cases)
        for place, system in enumerate(systems)
    ]  # fmt: skip


def reference_study(folder: Path, cases: int = 2, settings: str = SETTINGS) -> Any:
    dimensions = "dimensions: [diagnosis, risk]\n"
    return write_study(
        folder, rows=rows(cases), instrument="diagnosis", dimensions=dimensions, panel=settings
    )


def reference_panel(
    folder: Path,
    place: str | Path | None = None,
    *,
    members: int = 3,
    cases: int = 2,
    settings: str = SETTINGS,
) -> tuple[Panel, list[Person]]:
    """A panel of three clinicians who have all cases of the study."""
    study = reference_study(folder, cases, settings)
    panel = Panel(open_panel_database(place or folder / "panel.sqlite"), Clock(), study)
    with panel.database.writing() as connection:
        set_up(connection, study, NOON)
        assert set_up_references(connection, study) == cases
        people = [add_person(connection, f"Dr Bilby {each}", Role.RATER, now=NOON) for each in range(members)]
        make_panel(connection, "Internal medicine", people, now=NOON)
    return panel, people
