"""A rater's way: practice with a key, a session on the definitions, then the cases that count."""

from __future__ import annotations

import re
from collections.abc import Callable

from fastapi import FastAPI
from tests.panel.raters import GOOD, rater
from tests.panel.visitors import Visitor, sign_in

from medjury.panel._access._people import Role
from medjury.panel._design._assignments import places
from medjury.panel._design._rounds import rounds
from medjury.panel._rating._answers import latest_answers

MakePanel = Callable[..., FastAPI]
TRAINING = """\
panel:
  rounds:
    - name: practice
      kind: training
      cases: [marmoset-00]
      pass_mark: 0.6
      key: [{case: marmoset-00, grades: {accuracy: 4, completeness: 2}, reason: The dose is right.}]
    - {name: rating}
"""
CALIBRATION = (
    "panel: {rounds: [{name: the words, kind: calibration, cases: [marmoset-00]}, {name: rating}]}\n"
)
KEY_GRADES = GOOD | {"grade.completeness": "2"}


def rounds_page(coordinator: Visitor, name: str, **fields: str) -> None:
    answer = coordinator.submit(f"/rounds/{name}", "/rounds", **fields)
    assert answer.status_code == 303, answer.text


def test_practice_shows_the_key_after_sending_and_not_before(make_panel: MakePanel) -> None:
    app = make_panel(cases=2, systems=("one",), panel=TRAINING)
    one = rater(app)
    (code,) = one.codes()
    assert one.get(f"/rate/{code}/key").status_code == 404
    assert "The dose is right." not in one.get(f"/rate/{code}").text
    answer = one.rate(code, **KEY_GRADES)
    assert answer.headers["location"] == f"/rate/{code}/key"
    page = one.get(f"/rate/{code}/key").text
    assert "2 of 2 answers agree with the key." in page
    assert "The dose is right." in page
    assert one.rate(code, **GOOD).status_code == 409  # the key has been seen
    assert len(one.codes()) == 2  # the rating has opened
    with app.state.panel.database.reading() as connection:
        practice, rating = rounds(connection)
        assert not practice.counts
        assert not list(latest_answers(connection, rating))


def test_below_the_mark_the_coordinator_decides(make_panel: MakePanel) -> None:
    app = make_panel(cases=2, systems=("one",), panel=TRAINING)
    one, coordinator = rater(app), sign_in(app, Role.COORDINATOR)
    (code,) = one.codes()
    one.rate(code, **GOOD)  # one of two right: 0.5
    assert "Please talk to the coordinator" in one.get("/rate").text
    assert len(one.codes()) == 1
    assert one.person is not None
    assert "Let pass" in coordinator.get("/rounds").text
    rounds_page(coordinator, "practice", action="pass", person=one.person.id)
    assert len(one.codes()) == 2


def test_the_definitions_are_discussed_without_names_and_count_for_nothing(make_panel: MakePanel) -> None:
    app = make_panel(cases=2, systems=("one",), panel=CALIBRATION)
    one, two = rater(app, "Dr Ocelot"), rater(app, "Dr Narwhal")
    coordinator = sign_in(app, Role.COORDINATOR)
    one.rate(one.codes()[0], **GOOD)
    two.rate(two.codes()[0], **GOOD | {"grade.accuracy": "1", "comment": "capybara"})
    assert one.get("/rate/discussion/the%20words").status_code == 404
    assert "You will discuss the answers once everyone is here" in one.get("/rate").text
    rounds_page(coordinator, "the%20words", action="state", state="discussing")
    page = one.get("/rate/discussion/the%20words").text
    assert re.search(r'class="tally">1<span class="soft"> × 1', page)
    assert re.search(r'class="tally own">4<span class="soft"> × 1', page)
    assert "Narwhal" not in page
    assert "capybara" not in page
    address = "/rate/discussion/the%20words"
    assert (
        two.submit(address, address, dimension="accuracy", text="A wrong date is minor.").status_code == 303
    )
    page = one.get(address).text
    assert "A wrong date is minor." in page
    assert "Narwhal" not in page
    assert len(one.codes()) == 1  # rating waits for the end of the discussion
    rounds_page(coordinator, "the%20words", action="state", state="closed")
    assert len(one.codes()) == 2
    assert one.get(address).status_code == 404


def test_a_case_of_a_round_that_is_not_reached_cannot_be_opened(make_panel: MakePanel) -> None:
    app = make_panel(cases=2, systems=("one",), panel=TRAINING)
    one, coordinator = rater(app), sign_in(app, Role.COORDINATOR)
    assert one.person is not None
    rounds_page(coordinator, "rating", action="join", person=one.person.id)
    with app.state.panel.database.reading() as connection:
        (place,) = places(connection, rounds(connection)[1].id, one.person.id)
    assert one.get(f"/rate/{place.code}").status_code == 404
    assert "Finish the practice first." in one.get("/rate").text


def test_a_rescore_panel_has_members_of_its_own_and_sees_only_reference_and_answer(
    make_panel: MakePanel,
) -> None:
    rows = [
        {
            "id": "a",
            "system": "s",
            "candidate": "Flu.",
            "reference": "Influenza A.",
            "texts": {"age": "gnu-61"},
        }
    ]
    panel = "panel: {rounds: [{name: first}, {name: second, kind: rescore, show: [reference, answer]}]}\n"
    app = make_panel(rows=rows, instrument="diagnosis", dimensions="", panel=panel)
    first, coordinator = rater(app, "Dr First"), sign_in(app, Role.COORDINATOR)
    second = sign_in(app, Role.RATER, "Dr Second")
    assert second.person is not None
    rounds_page(coordinator, "second", action="state", state="open")
    rounds_page(coordinator, "second", action="join", person=second.person.id)
    assert "gnu-61" in first.get(f"/rate/{first.codes()[0]}").text
    second.submit("/rate/profile", "/rate/profile", years="3", specialty="ID", seniority="nurse")
    page = second.get("/rate").text
    assert page.count('class="card step"') == 1
    found = re.findall(r'<li><a href="/rate/([^"/]+)', page)
    assert len(found) == 1
    case = second.get(f"/rate/{found[0]}").text
    assert "Influenza A." in case
    assert "gnu-61" not in case


def test_a_profile_must_make_sense(make_panel: MakePanel) -> None:
    app = make_panel()
    one = sign_in(app, Role.RATER)
    for wrong in (
        {"years": "-1"},
        {"years": "900"},
        {"years": "1e3"},
        {"specialty": " "},
        {"seniority": "king"},
    ):
        good = {"years": "8", "specialty": "Nephrology", "seniority": "specialist"}
        assert one.submit("/rate/profile", "/rate/profile", **good | wrong).status_code == 422
