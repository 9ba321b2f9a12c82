"""Whatever a person types stays text: on every page of every role, and in the evidence as one file."""

from __future__ import annotations

import json
import re
from html import unescape
from html.parser import HTMLParser
from pathlib import Path

from tests.loopback import LoopbackServer
from tests.panel.raters import Rater, rater
from tests.panel.rounds import write_study
from tests.panel.visitors import reachable, sign_in, token_in

from medjury.cli import main
from medjury.panel._access._people import Role
from medjury.panel._serve import make_app, open_panel

EVIL = "</script></style></textarea>\"'><img src=x onerror=alert(1)><svg/onload=alert(2)>{{7*7}}${7*7}"
NAME = "<b onmouseover=alert(3)>\"'>"


class _Tags(HTMLParser):
    """What a browser makes of a page: its elements and their attributes."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.attributes: list[tuple[str, str]] = []
        self.names: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]


def assert_only_text(html: str, where: str) -> None:
    found = _Tags(html)
    assert not {"img", "b"} & set(found.names), where
    assert not [name for name, _ in found.attributes if name.startswith("on") or name == "style"], where
    assert not [value for name, value in found.attributes if value.strip().startswith("javascript:")], where
    assert "{{7*7}}" in html or "7*7" not in html, where


def test_no_text_that_a_person_typed_is_run(tmp_path: Path) -> None:
    rows = [
        {
            "id": f"{EVIL}{number}",
            "system": EVIL,
            "candidate": f"{EVIL} amlodipine",
            "texts": {"context": f"{EVIL} context"},
        }
        for number in range(3)
    ]
    with LoopbackServer() as server:
        judges = f'judges:\n  - {{kind: openai, name: juror, url: "{server.url}", model: m}}\n'
        said = json.dumps({"welcome": EVIL, "task": EVIL, "thanks": EVIL})
        texts = f"panel: {{texts: {said}}}\n"
        write_study(tmp_path, rows=rows, panel=f"{judges}humans: panel\n{texts}")
        app = make_app(open_panel(tmp_path / "study.yaml"))
        coordinator = sign_in(app, Role.COORDINATOR, f"C {NAME}")
        raters: list[Rater] = []
        for number in (1, 2):
            one = rater(app, f"R{number} {NAME}")
            profile = {"years": "8", "specialty": EVIL, "seniority": "specialist", "affiliation": EVIL}
            assert one.submit("/rate/profile", "/rate/profile", **profile).status_code == 303
            for code in one.codes():
                grades = {f"grade.{name}": str(number) for name in ("accuracy", "completeness", "clarity")}
                why = {f"why.{name}": EVIL for name in ("accuracy", "completeness")}
                assert one.rate(code, **grades, **why, comment=EVIL).status_code == 303
            raters.append(one)
        coordinator.submit("/api-keys", "/api-keys", name=NAME)
        assert EVIL[:5] in unescape(
            coordinator.submit("/people", "/people", name=EVIL * 9, role="rater").text
        )
        assert main(["run", str(tmp_path / "study.yaml"), "--quiet"]) == 0
        assert coordinator.submit("/exchange/include", "/exchange").status_code == 200
    assert coordinator.submit("/rounds/rating", "/rounds", action="state", state="closed").status_code == 303
    assert coordinator.submit("/meetings/rating/open", "/meetings").status_code == 303
    found = re.findall(r'href="(/together/[\w-]+)"', raters[0].get("/together").text)
    assert found
    page = raters[0].get(found[0]).text
    answer = raters[0].post(
        f"{found[0]}/no-agreement", data={"csrf": token_in(page), "version": "0", "reason": EVIL}
    )
    assert answer.status_code == 303, answer.text
    visitors = [
        coordinator,
        *raters,
        sign_in(app, Role.ADJUDICATOR, NAME),
        sign_in(app, Role.VIEWER, f"V{NAME}"),
    ]
    pages = 0
    for visitor in visitors:
        for path, html in reachable(visitor, "/account", most=150).items():
            assert_only_text(html, path)
            pages += "7*7" in html
    assert pages > 15, "the planted texts were there to be seen"
    bad = b"item,system,rater,dimension,score\n" + EVIL.encode() + b",x,y,accuracy,99\n"
    told = coordinator.post(
        "/exchange/import",
        data={"csrf": coordinator.token("/exchange")},
        files={"file": (f"{NAME}.csv", bad)},
    )
    assert told.status_code == 400
    assert_only_text(told.text, "import")
    out = tmp_path / "evidence.html"
    assert main(["view", str(tmp_path / "runs" / "ward"), "--file", str(out)]) == 0
    text = out.read_text()
    assert (
        "<img src=x" not in text
        and "<svg/onload" not in text
        and text.count("</script>") == text.count("<script")
    )


def test_words_that_differ_are_marked_and_stay_words(tmp_path: Path) -> None:
    spoken = {"reference": f"It is not {EVIL} painful.", "candidate": f"It is {NAME} painful."}
    rows = [{"id": "a", "system": "s", **spoken, "texts": {"context": EVIL}}]
    write_study(tmp_path, rows=rows, instrument="transcript_impact", dimensions="")
    one = rater(make_app(open_panel(tmp_path / "study.yaml")))
    page = one.get(f"/rate/{one.codes()[0]}").text
    assert page.count('<mark class="differs">') >= 2
    assert_only_text(page, "words that differ")
