"""A rater who tries every route with every code there is, in every state of a study, learns nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI
from sqlalchemy import select
from tests.loopback import LoopbackServer
from tests.panel.meeting.reference_panels import reference_study
from tests.panel.raters import GOOD, Rater, rater
from tests.panel.rounds import SYSTEMS, VENDORS, case_rows, write_study
from tests.panel.visitors import Visitor, sign_in, token_in

from medjury.cli import main
from medjury.panel._access._people import Role
from medjury.panel._serve import make_app, open_panel
from medjury.panel._tables import metadata

PLANTED = (
    *SYSTEMS,
    *VENDORS,
    "marmoset",
    "pangolin",
    "aardwolf",
    "Narwhal",
    "capybara",
    "juror-tapir",
    "gnu-why",
)
PANEL = """\
humans: panel
panel:
  rounds:
    - name: practice
      kind: training
      cases: [marmoset-00]
      key: [{case: marmoset-00, grades: {accuracy: 4}, reason: The dose is right.}]
    - {name: words, kind: calibration, cases: [marmoset-01]}
    - {name: rating}
    - {name: again, kind: rescore}
  questions:
    - {name: best, ask: "Which?", when: {dimension: accuracy, is: 4}, choices: [one, two]}
"""
# Of another rater's answers only what the two settle together may be seen, once they have met.
ONLY_TOGETHER = ("capybara",)


@pytest.fixture
def app(tmp_path: Path) -> Iterator[FastAPI]:
    with LoopbackServer() as server:
        judge = f'judges:\n  - {{kind: openai, name: juror-tapir, url: "{server.url}", model: m}}\n'
        write_study(tmp_path, rows=case_rows(3), panel=f"{judge}{PANEL}")
        assert main(["run", str(tmp_path / "study.yaml"), "--quiet"]) == 0
        yield make_app(open_panel(tmp_path / "study.yaml"))


def everything_known(app: FastAPI) -> list[str]:
    """Every code and name in the database: what an address could be made of."""
    found: set[str] = {"0", "1", "none"}
    with app.state.panel.database.reading() as connection:
        for table in metadata.sorted_tables:
            for row in connection.execute(select(table)).mappings():
                for name in ("code", "item", "system", "name", "person"):
                    if name in row and isinstance(row[name], str):
                        found.add(str(row[name]))
    return sorted(found)


def answers(app: FastAPI, visitor: Visitor) -> Iterator[tuple[str, str, Any]]:
    """What comes back from every page that reads, for everything that could stand in its address."""
    known = everything_known(app)
    for route in app.state.declared_routes:
        if "GET" not in route.methods or "{name:path}" in route.path:
            continue
        places = re.findall(r"\{([^}]+)\}", route.path)
        is_open = visitor.person is not None and visitor.person.role in route.roles
        values = [""] if not places else known if is_open and len(places) == 1 else known[:4]
        for value in values:
            path = route.path
            for place in places:
                path = path.replace(f"{{{place}}}", value.replace("/", "%2F"))
            yield route.path, value, visitor.get(path)


def _without(text: str, asked: str) -> str:
    """Who asks for a name is not told it."""
    return text.replace(asked, "VALUE") if len(asked) > 3 else text


def assert_blind(app: FastAPI, visitor: Visitor, *, met: bool = False, hidden: tuple[str, ...] = ()) -> int:
    seen = 0
    refused: dict[str, set[tuple[Any, ...]]] = {}
    for route, value, answer in answers(app, visitor):
        headers = {name: text for name, text in answer.headers.items() if name not in ("date", "set-cookie")}
        text = _without(f"{headers} {answer.text}", value).casefold()
        allowed = ONLY_TOGETHER if met and route.startswith("/together") else ()
        if met and route.startswith("/reference/"):
            allowed = ("capybara", "gnu-why")  # what the other member wrote, without a name
        for planted in (*PLANTED, *hidden):
            if planted not in allowed:
                assert planted.casefold() not in text, f"{route} with {value} tells {planted}"
        assert not {"etag", "last-modified"} & set(headers), route
        assert answer.status_code < 500, f"{route} {value}"
        if answer.status_code in (403, 404):
            refused.setdefault(route, set()).add(
                (answer.status_code, tuple(sorted(headers.items())), answer.text)
            )
        seen += answer.status_code == 200
    for route, kinds in refused.items():
        assert len(kinds) == 1, f"{route}: what is not there and what is somebody else's are answered alike"
    return seen


def rate_all(one: Rater, **fields: str) -> None:
    for _ in range(30):
        page = one.get("/rate").text
        todo = [code for code in one.codes() if 'version" value="0"' in one.get(f"/rate/{code}").text]
        if not todo:
            return
        assert one.rate(todo[0], **GOOD | fields).status_code in (303, 409), page


def change(coordinator: Visitor, name: str, **fields: str) -> None:
    assert coordinator.submit(f"/rounds/{name}", "/rounds", **fields).status_code == 303


def test_no_route_in_any_state_of_a_study_tells_a_rater_anything(app: FastAPI) -> None:
    coordinator = sign_in(app, Role.COORDINATOR, "Coordinator Narwhal")
    assert SYSTEMS[0] in coordinator.get("/evidence").text, "there is something to be hidden"
    other, one = rater(app, "Dr Narwhal"), rater(app, "Dr Plain")
    hostile = {"grade.accuracy": "1", "why.accuracy": "capybara", "comment": "gnu-why"}
    rate_all(other, **hostile)
    assert assert_blind(app, one) > 3  # in practice
    rate_all(one)
    assert assert_blind(app, one) > 3  # the words, waiting
    change(coordinator, "words", action="state", state="discussing")
    assert assert_blind(app, one) > 3
    change(coordinator, "words", action="state", state="closed")
    rate_all(other, **hostile)
    assert assert_blind(app, one) > 3  # rating, not begun
    rate_all(one)
    assert one.get("/together").status_code == 200
    assert assert_blind(app, one) > 5  # rating, done; questions asked
    change(coordinator, "again", action="state", state="open")
    assert assert_blind(app, one) > 5
    change(coordinator, "rating", action="state", state="closed")
    assert assert_blind(app, one) > 5
    assert coordinator.submit("/meetings/rating/open", "/meetings").status_code == 303
    assert coordinator.submit("/exchange/include", "/exchange").status_code in (200, 400)
    assert "capybara" in "".join(
        one.get(path).text for path in re.findall(r'href="(/together/[\w-]+)"', one.get("/together").text)
    )
    assert assert_blind(app, one, met=True) > 5
    third = rater(app, "Dr Late")  # who rated nothing, and knows of no meeting
    assert assert_blind(app, third) >= 3
    adjudicator = sign_in(app, Role.ADJUDICATOR, "Dr Judge")
    for route, value, answer in answers(app, adjudicator):
        text = _without(answer.text, value).casefold()
        told = [planted for planted in PLANTED if planted.casefold() in text]
        assert told in ([], ["capybara"]), f"{route} tells {told}"


def test_a_viewer_sees_no_clinicians_name(app: FastAPI) -> None:
    other = rater(app, "Dr Narwhal")
    coordinator = sign_in(app, Role.COORDINATOR, "Coordinator Narwhal")
    rate_all(other)
    change(coordinator, "words", action="state", state="closed")
    rate_all(other)
    assert coordinator.submit("/exchange/include", "/exchange").status_code == 200
    viewer = sign_in(app, Role.VIEWER, "Viewer")
    seen = 0
    for route, value, answer in answers(app, viewer):
        assert "narwhal" not in _without(answer.text, value).casefold(), route
        seen += answer.status_code == 200 and route.startswith("/evidence")
    assert seen > 2
    folder = app.state.panel.study.file.resolve().parent / "runs" / "ward"
    for file in (each for each in folder.rglob("*") if each.is_file()):
        assert b"Narwhal" not in file.read_bytes(), file


def test_panels_that_write_references_are_as_blind_in_every_stage(tmp_path: Path) -> None:
    reference_study(tmp_path, cases=1)
    app = make_app(open_panel(tmp_path / "study.yaml"))
    coordinator = sign_in(app, Role.COORDINATOR, "Coordinator Narwhal")
    inside = [rater(app, name) for name in ("Dr Plain", "Dr Narwhal One")]
    others = [rater(app, "Dr Outside"), sign_in(app, Role.ADJUDICATOR), sign_in(app, Role.VIEWER)]
    page = coordinator.get("/panels").text
    ids = [each.person.id for each in inside if each.person]
    sent = {"csrf": token_in(page), "name": "Chest", "member": ids}
    assert coordinator.post("/panels", data=sent).status_code == 303
    (case,) = re.findall(r'href="(/reference/[\w-]+)"', inside[1].get("/together").text)

    def outside_nothing_is_told() -> None:
        for other in others:
            assert_blind(app, other, hidden=("quoll", "numbat", "capybara", case))

    def act(member: Rater, what: str, **fields: str) -> None:
        token = token_in(member.get(case).text)
        answer = member.post(f"{case}/{what}", data=fields | {"csrf": token, "version": "0"})
        assert answer.status_code == 303, answer.text

    words = {"primary": "capybara", "reasoning": "gnu-why", "do": "submit"}
    early = ("quoll", "numbat")  # of an answer, and of the routine diagnosis
    act(inside[1], "alone", **words)
    assert assert_blind(app, inside[0], hidden=early) > 2  # one has handed in, the other reads
    act(inside[0], "alone", primary="mine", reasoning="mine", do="submit")
    act(inside[0], "begin")
    assert assert_blind(app, inside[0], met=True, hidden=early) > 2  # together
    outside_nothing_is_told()
    act(inside[1], "together", **words)
    assert assert_blind(app, inside[0], met=True, hidden=early[:1]) > 2  # the routine diagnosis
    act(inside[0], "routine", agrees="no", why="it is not")
    assert assert_blind(app, inside[0], met=True) > 2  # scoring
    scored = set(re.findall(rf'href="{case}/(answer/[\w-]+)"', inside[0].get(case).text))
    assert len(scored) == len(SYSTEMS)
    for answer in scored:
        act(inside[0], answer, **{"grade.diagnosis": "3", "grade.risk": "2"})
    act(inside[1], "finish")
    assert assert_blind(app, inside[0], met=True) > 2  # done
    outside_nothing_is_told()
