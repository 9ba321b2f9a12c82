"""The pages of a meeting: who may see what and when, two people at once, and texts that try to be scripts."""

from __future__ import annotations

import re
from pathlib import Path

from tests.panel.meeting.closed_rounds import only_round, same
from tests.panel.meeting.signed_in import Closed, closed_app, send
from tests.panel.rounds import VENDORS, case_rows
from tests.panel.visitors import reachable, token_in

from medjury.panel._meeting._differences import meeting_items, meeting_of, reconciled_labels

DIFFER = [same("4", "4", accuracy=("2", "5")), same("3", "3", accuracy=("1", "4")), same("4", "4")]
PLANTED = ("zebrafinch", "quokka", *VENDORS, "marmoset", "pangolin", "aardwolf")
SCRIPT = "<script>alert(1)</script><img src=x onerror=alert(2)>"


def meet(closed: Closed) -> list[str]:
    """The coordinator opens the meeting; the codes of its cases, in the meeting's order."""
    assert send(closed.coordinator, "/meetings", "/meetings/rating/open").status_code == 303
    with closed.app.state.panel.database.reading() as connection:
        meeting = meeting_of(connection, only_round(connection).id)
        assert meeting is not None
        return [each.code for each in sorted(meeting_items(connection, meeting), key=lambda each: each.item)]


def test_the_lists_show_the_grades_and_only_to_those_who_settle_them(tmp_path: Path) -> None:
    closed = closed_app(tmp_path, DIFFER)
    one, two = closed.raters
    assert " v " not in one.get("/together").text, "nobody sees another's grade before the meeting"
    codes = meet(closed)
    refused = send(two, "/together", f"/together/{codes[1]}/no-agreement", version="0", reason="The dose")
    assert refused.status_code == 303
    listed = re.findall(r"Accuracy: <strong>([^<]+)</strong>", one.get("/together").text)
    wanted = [set(each["accuracy"]) for each in DIFFER if len(set(each["accuracy"])) > 1]
    assert sorted(map(sorted, (each.split(" v ") for each in listed))) == sorted(map(sorted, wanted))
    assert closed.adjudicator.get("/decisions").text.count(" v ") == 1
    assert " v " not in closed.stranger.get("/together").text


def test_nothing_that_raters_or_the_adjudicator_reach_tells_system_case_or_who_others_are(
    tmp_path: Path,
) -> None:
    closed = closed_app(tmp_path, DIFFER)
    one, two = closed.raters
    before = reachable(one, "/together")
    assert "Reason 1 of rater 1" not in str(before), "nobody sees another's words before the meeting"
    codes = meet(closed)
    fields = {"grade.accuracy": "3", "why.accuracy": "we agree", "version": "0"}
    assert send(one, "/together", f"/together/{codes[0]}", **fields).status_code == 303
    refused = send(two, "/together", f"/together/{codes[1]}/no-agreement", version="0", reason="The dose")
    assert refused.status_code == 303
    pages = {id(each): reachable(each) for each in (one, two, closed.adjudicator, closed.stranger)}
    assert all(f"/together/{code}" in pages[id(one)] for code in codes)
    assert f"/decisions/{codes[1]}" in pages[id(closed.adjudicator)]
    for visitor in (one, two, closed.adjudicator, closed.stranger):
        for path, text in pages[id(visitor)].items():
            assert visitor.person is not None
            rest = f"{path}\n{text}".replace(visitor.person.name, "").casefold()
            for planted in (*PLANTED, "wallaby", "echidna", "stranger"):
                assert planted.casefold() not in rest, f"{path} tells {planted}"
    assert "Reason 1 of rater 1" in pages[id(one)][f"/together/{codes[0]}"], (
        "now they see each other's reasons"
    )
    assert "Reason" not in str(pages[id(closed.stranger)]), "who did not rate a case sees none of it"


def test_the_same_study_with_another_system_gives_the_same_pages(tmp_path: Path) -> None:
    pages = []
    for system in ("zebrafinch-9b", "quokka-scribe"):
        (folder := tmp_path / system).mkdir()
        closed = closed_app(folder, DIFFER[:1], rows=case_rows(1, (system,)))
        (code,) = meet(closed)
        whole = " ".join(each.get(f"/together/{code}").text for each in closed.raters)
        for secret in (code, *re.findall(r'name="csrf" value="(\w+)"', whole)):
            whole = whole.replace(secret, "")
        # Who is Rater A is left to chance, and so is the order in which raters stand.
        pages.append(sorted(re.sub(r"Rater [AB](?: \(you\))?", "Rater", whole).splitlines()))
    assert pages[0] == pages[1]


def test_who_has_no_part_in_a_case_is_told_that_there_is_none(tmp_path: Path) -> None:
    closed = closed_app(tmp_path, DIFFER)
    code, other = meet(closed)
    for path in (f"/together/{code}", f"/together/{code}x", "/question/x", "/reference/x"):
        assert closed.stranger.get(path).status_code == 404, path
    fields = {"grade.accuracy": "3", "why.accuracy": "x", "version": "0"}
    for path in (f"/together/{code}", f"/together/{code}/confirm", f"/together/{code}/no-agreement"):
        assert send(closed.stranger, "/account", path, reason="x", **fields).status_code == 404, path
    assert closed.adjudicator.get(f"/decisions/{other}").status_code == 404, "its raters are still talking"
    assert send(closed.adjudicator, "/account", f"/decisions/{other}", **fields).status_code == 404


def test_what_was_typed_stays_where_something_is_missing_and_where_another_saved_at_once(
    tmp_path: Path,
) -> None:
    closed = closed_app(tmp_path, DIFFER[:1])
    (code,) = meet(closed)
    one, two = closed.raters
    page = f"/together/{code}"
    missing = send(one, page, page, version="0", **{"grade.accuracy": "3"})
    assert missing.status_code == 400 and "Give your reason" in missing.text
    assert re.search(r'value="3" checked', missing.text), "what was typed stays"
    assert send(one, page, f"{page}/no-agreement", version="0").status_code == 400
    assert (
        send(one, page, page, version="0", **{"grade.accuracy": "3", "why.accuracy": "first"}).status_code
        == 303
    )
    late = send(two, page, page, version="0", **{"grade.accuracy": "5", "why.accuracy": "my long words"})
    assert late.status_code == 409
    assert "my long words" in late.text
    assert "first" in late.text
    assert 'name="version" value="1"' in late.text, "sent again it is a change of what is shown"
    late = send(two, page, f"{page}/no-agreement", version="0", reason="my other words")
    assert (late.status_code, "my other words" in late.text) == (409, True)
    assert send(two, page, f"{page}/confirm", version="0").status_code == 409
    assert send(two, page, f"{page}/confirm", version="1").status_code == 303
    assert "Settled" in two.get(page).text


def test_a_script_in_what_people_type_stays_text(tmp_path: Path) -> None:
    closed = closed_app(tmp_path, DIFFER[:1])
    (code,) = meet(closed)
    one, two = closed.raters
    page = f"/together/{code}"
    send(one, page, page, version="0", **{"grade.accuracy": "3", "why.accuracy": SCRIPT})
    send(two, page, f"{page}/no-agreement", version="1", reason=SCRIPT)
    decided = {"grade.accuracy": "3", "why.accuracy": SCRIPT, "version": "0"}
    assert send(closed.adjudicator, "/decisions", f"/decisions/{code}", **decided).status_code == 303
    for visitor, path in ((one, page), (two, page), (closed.adjudicator, f"/decisions/{code}")):
        text = visitor.get(path).text
        assert "&lt;script&gt;alert(1)" in text or path == page
        assert "<script>alert" not in text
        assert "<img" not in text


def test_the_coordinator_opens_and_ends_the_meeting_and_reads_how_far_it_is(tmp_path: Path) -> None:
    closed = closed_app(tmp_path, DIFFER)
    assert "2 cases would be listed" in closed.coordinator.get("/meetings").text
    meet(closed)
    again = send(closed.coordinator, "/meetings", "/meetings/rating/open")
    assert (again.status_code, "must be closed" in again.text) == (400, True)
    assert closed.coordinator.get("/rounds").status_code == 200
    assert send(closed.coordinator, "/meetings", "/meetings/rating/close").status_code == 303
    assert "The meeting is over" in closed.coordinator.get("/meetings").text
    assert "to decide" in closed.adjudicator.get("/decisions").text
    assert send(closed.coordinator, "/meetings", "/meetings/nothing/open").status_code == 404
    with closed.app.state.panel.database.reading() as connection:
        labels = list(reconciled_labels(connection, only_round(connection)))
    assert {each.explanation for each in labels} == {"agreed"}


def test_names_are_shown_only_where_the_study_says_so(tmp_path: Path) -> None:
    closed = closed_app(tmp_path, DIFFER[:1], panel="panel: {meeting: {names: true}}\n")
    (code,) = meet(closed)
    assert "Dr Wallaby 1" in closed.raters[0].get(f"/together/{code}").text
    assert token_in(closed.raters[0].get("/together").text)
