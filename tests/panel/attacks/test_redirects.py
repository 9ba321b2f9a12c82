"""Neither where a rater is sent nor how long it takes tells of systems, other raters or judges.

Whatever they are and did, the panel asks its database the same questions in the same order, and answers with the
rater's own next case.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from fastapi import FastAPI
from sqlalchemy import event
from tests.loopback import LoopbackServer
from tests.panel.raters import GOOD, PROFILE, Rater, rater
from tests.panel.rounds import SYSTEMS, case_rows, write_study
from tests.panel.visitors import sign_in, token_in

from medjury.cli import main
from medjury.panel._access._people import Role
from medjury.panel._serve import make_app, open_panel

Step = tuple[str, int, str, tuple[str, ...]]  # what was done, the status, where it led, what was asked for it


@contextmanager
def questions(app: FastAPI) -> Iterator[list[str]]:
    """What the database is asked meanwhile, without the values."""
    engine, asked = app.state.panel.database.engine, list[str]()

    def note(_c: object, _cursor: object, statement: str, *_: object) -> None:
        asked.append(statement)

    event.listen(engine, "before_cursor_execute", note)
    yield asked
    event.remove(engine, "before_cursor_execute", note)


def walk(app: FastAPI, one: Rater) -> list[Step]:
    """A rater's whole way through the study; a case is named by its place in the rater's own order."""
    codes, steps = one.codes(), list[Step]()
    places = {code: f"case {number}" for number, code in enumerate(codes)}

    def step(what: str, method: str, path: str, **fields: str) -> None:
        with questions(app) as asked:
            answer: Any = one.request(method, path, data=fields or None)
        target = answer.headers.get("location", "")
        for code, place in places.items():
            target, what = target.replace(code, place), what.replace(code, place)
        steps.append((what, answer.status_code, target, tuple(asked)))

    token = one.token("/rate/profile")
    step("profile", "POST", "/rate/profile", csrf=token, **PROFILE)
    for code in (codes[2], *codes[:2], *codes[3:]):
        path, sent = f"/rate/{code}", GOOD | {"csrf": token}
        step(f"open {code}", "GET", path)
        step(f"draft {code}", "POST", f"{path}/draft", version="0", comment="typing", **sent)
        step(f"here {code}", "POST", f"{path}/here", **sent)
        step(f"save {code}", "POST", path, version="1", comment="typed", action="save", **sent)
        step(f"stale {code}", "POST", path, version="0", comment="another tab", action="submit", **sent)
        step(f"send {code}", "POST", path, version="2", comment="typed", action="submit", **sent)
        step(f"send {code} again", "POST", path, version="2", comment="typed", action="submit", **sent)
        step(f"change {code}", "POST", path, version="3", comment="changed", action="submit", **sent)
    step("home", "GET", "/rate")
    step("together", "GET", "/together")
    return steps


def world(folder: Path, *, crowded: bool) -> tuple[FastAPI, Rater]:
    """A study of one rater; or the same with its systems swapped, judged by a jury, and rated otherwise by another
    rater whose ratings are in the run."""
    folder.mkdir()
    systems = tuple(reversed(SYSTEMS)) if crowded else SYSTEMS
    with LoopbackServer() as server:
        judge = f'judges:\n  - {{kind: openai, name: juror, url: "{server.url}", model: m}}\nhumans: panel\n'
        write_study(folder, rows=case_rows(3, systems), panel=judge)
        if crowded:
            assert main(["run", str(folder / "study.yaml"), "--quiet"]) == 0
    app = make_app(open_panel(folder / "study.yaml"))
    if crowded:
        other = rater(app, "Dr Narwhal")
        for code in other.codes():
            assert (
                other.rate(code, **GOOD | {"grade.accuracy": "1", "comment": "capybara"}).status_code == 303
            )
        coordinator = sign_in(app, Role.COORDINATOR, "Ada")
        assert coordinator.submit("/exchange/include", "/exchange").status_code == 200
    one = rater(app, "Dr Plain")
    one.get(f"/rate/{one.codes()[0]}")  # a connection reads the form of a round once
    return app, one


def test_a_raters_way_is_the_same_whatever_systems_judges_and_other_raters_did(tmp_path: Path) -> None:
    alone = walk(*world(tmp_path / "alone", crowded=False))
    crowded = walk(*world(tmp_path / "crowded", crowded=True))
    assert [step[:3] for step in alone] == [step[:3] for step in crowded]
    for before, after in zip(alone, crowded, strict=True):
        assert before[3] == after[3], f"{before[0]}: the database is asked something else"
    sent = {what: (status, target) for what, status, target, _ in alone}
    assert sent["send case 2"] == (303, "/rate/case 3"), "the next in the rater's own order"
    assert sent["send case 5"] == (303, "/rate"), "nothing is left"
    assert sent["stale case 0"][0] == 409


def test_a_case_of_another_rater_takes_as_many_questions_as_one_that_does_not_exist(tmp_path: Path) -> None:
    app, one = world(tmp_path / "one", crowded=False)
    theirs = rater(app, "Dr Two").codes()[0]
    token = token_in(one.get("/rate/profile").text)
    for method, path in (("GET", ""), ("POST", ""), ("POST", "/draft"), ("POST", "/here"), ("GET", "/key")):
        found = []
        for code in (theirs, "no-such-code"):
            with questions(app) as asked:
                answer: Any = one.request(
                    method, f"/rate/{code}{path}", data=GOOD | {"csrf": token} if method == "POST" else None
                )
            found.append((answer.status_code, answer.text, tuple(asked)))
        assert found[0] == found[1], f"{method} {path}"
        assert found[0][0] == 404


def test_a_save_is_few_questions(tmp_path: Path) -> None:
    """Who asks, their case, what was said last, the new version, its time, that it is done, the next case."""
    app, one = world(tmp_path / "one", crowded=False)
    code = one.codes()[0]
    sent = GOOD | {"csrf": one.token("/rate/profile"), "version": "0", "action": "submit"}
    with questions(app) as asked:
        assert one.post(f"/rate/{code}", data=sent).status_code == 303
    kept = [each for each in asked if each not in ("BEGIN IMMEDIATE", "COMMIT")]
    assert len(asked) - len(kept) == 2, "one transaction"
    assert len(kept) <= 7, "\n".join(kept)
