"""A study whose clinicians read what was drawn by stated probabilities: run, draw and panel, all of them real."""

from __future__ import annotations

import json
import re
from pathlib import Path

from benchmarks._reviews import World, make_world
from sqlalchemy import select, update
from sqlalchemy.engine import Connection
from tests.loopback import Call, LoopbackServer
from tests.panel.meeting.closed_rounds import only_round
from tests.panel.rounds import NOON, case_rows, write_study

from medjury.cli import main
from medjury.panel._access._people import Person, Role, add_person
from medjury.panel._database import PanelDatabase, open_panel_database
from medjury.panel._design._assignments import deal
from medjury.panel._design._form import read_form
from medjury.panel._design._rounds import Round, set_up
from medjury.panel._rating._answers import Entry, add_version
from medjury.panel._tables import assignments_table, items_table
from medjury.studies import RatedStudy, load_rated_study

CASES, RATINGS, SYSTEM = 120, 40, ("zebrafinch-9b",)
JUDGES = "".join(f'  - {{{{kind: openai, name: j{n}, url: "{{url}}", model: m{n}}}}}\n' for n in range(3))
HEAD = f"judges:\n{JUDGES}humans: {{humans}}\n"
DRAWN = "panel: {{rounds: [{{name: review, draw: review.csv{more}}}]}}\n"


def world() -> World:
    """Case n is answer n: the clinician's grade, and the grades of three judges who differ where they err."""
    return make_world(CASES // 2, 5)


def judged_study(folder: Path, humans: str = "panel") -> Path:
    """A study with a complete run, judged by the three; nobody has rated yet."""
    grades = world().judges

    def answer(call: Call) -> str:
        found = re.findall(r"Visit (\d+):", call.prompt)
        score = int(grades[int(call.json["model"][1:]), int(found[-1])])
        return f"ok:{json.dumps({'accuracy': {'explanation': 'as seen', 'score': score}})}"

    with LoopbackServer(answer) as server:
        _write(folder, HEAD.format(url=server.url, humans=humans))
        assert main(["run", str(folder / "study.yaml"), "--quiet"]) == 0
    return folder / "study.yaml"


def _write(folder: Path, panel: str) -> RatedStudy:
    rows = case_rows(CASES, SYSTEM)
    return write_study(folder, rows=rows, panel=panel, dimensions="dimensions: [accuracy]\n")


def draw(folder: Path, *words: str) -> Path:
    """The queue of a review of the run."""
    out = folder / "review.csv"
    run = str(folder / "runs" / "ward")
    assert (
        main(["plan", "review", run, "--ratings", str(RATINGS), "--seed", "3", "--out", str(out), *words])
        == 0
    )
    return out


def name_draw(study: Path, more: str = "") -> RatedStudy:
    """The study file with a round that rates what was drawn."""
    text = study.read_text(encoding="utf-8").partition("panel: {rounds")[0]
    study.write_text(text + DRAWN.format(more=more), encoding="utf-8")
    return load_rated_study(study)


def drawn_panel(
    folder: Path, more: str = "", place: str | Path | None = None
) -> tuple[PanelDatabase, RatedStudy]:
    """The panel's database with the drawn round, set up from the study file."""
    study = name_draw(folder / "study.yaml", more)
    database = open_panel_database(place or folder / "ward.panel.sqlite")
    with database.writing() as connection:
        set_up(connection, study, NOON)
    return database, study


def raters_rate(database: PanelDatabase, raters: int = 2, first: int | None = None) -> list[Person]:
    """Everyone rates (the `first` of) their answers in the order in which they are shown; the second rater finds
    every seventh answer one grade worse."""
    with database.writing() as connection:
        people = [add_person(connection, f"Dr Wallaby {n}", Role.RATER, now=NOON) for n in range(raters)]
        round_ = only_round(connection)
        deal(connection, round_, [person.id for person in people], NOON)
        for number, person in enumerate(people):
            rate_as_the_clinician(connection, round_, person.id, number, first)
    return people


def rate_as_the_clinician(
    connection: Connection, round_: Round, person: str, number: int, first: int | None = None
) -> None:
    a, i = assignments_table.c, items_table.c
    query = select(a.id, i.item).join(items_table, a.item == i.id).where(a.person == person)
    for row in connection.execute(query.order_by(a.position)).all()[:first]:
        case = int(row.item.removeprefix("marmoset-"))
        grade = int(world().clinician[case])
        if number and case % 7 == 0:
            grade = max(1, grade - 1)
        read = read_form({"grade.accuracy": str(grade)}, round_.instrument, round_.questions)
        assert not read.problems, read.problems
        entry = Entry(0, read.said, read.comment, read.outcomes)
        assert add_version(connection, row.id, round_, entry, NOON) == 1
        done = update(assignments_table).where(a.id == row.id, a.finished_at.is_(None))
        connection.execute(done.values(finished_at=NOON.isoformat()))
