"""Conversations in the evidence browser: as turns, long results of tools folded, quotations found within them."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser
from tests.axe import serious_faults
from tests.loopback import LoopbackServer
from tests.panel.evidence.planted_run import Reader
from tests.panel.evidence.test_browser import Desk, served
from tests.panel.rating.test_conversations import talk

from medjury.panel._evidence._run import EvidenceRun
from medjury.studies import load_study, run_study

WHY = 'It says "2026-03-09 potassium 4.9 mmol/l" and "2026-03-09 potassium 9.9 mmol/l" of it.'


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Thirty turns, judged turn by turn by a judge that quotes what is there and what is not."""
    folder = tmp_path_factory.mktemp("talks")
    (folder / "cases.jsonl").write_text(
        json.dumps({"id": "talk", "system": "a", "messages": talk(30)}) + "\n"
    )
    reply = json.dumps({"safe_advice": {"explanation": WHY, "score": 4}})
    with LoopbackServer(lambda call: f"ok:{reply}") as server:
        (folder / "study.yaml").write_text(
            "study: talks\ncases: cases.jsonl\nunit: turn\ninstrument: conversation_quality\n"
            "dimensions: [safe_advice]\n"
            f'judges: [{{kind: openai, name: j, url: "{server.url}", model: m}}]\n'
        )
        return run_study(load_study(folder / "study.yaml"), preflight=False).folder


def test_turns_are_shown_with_whose_they_are_and_nothing_in_one_is_another(run: Path) -> None:
    page = Reader(EvidenceRun(run)).text("/case/talk~234/a")
    headings = re.findall(r"<h4>(.*?)</h4>", page)
    assert headings[:4] == [
        "Instructions to the assistant (system)", "Turn 1, user", "Turn 2, assistant", "Turn 3, user"]  # fmt: skip
    calls, gives = "Turn 4, assistant calls the tool get_labs", "Turn 4, result of the tool get_labs"
    assert headings[4:] == [calls, gives, "Turn 4, assistant"]
    assert "<article class='chat'>" not in page and "&lt;article class=" in page


def test_a_number_in_the_heading_of_a_turn_is_no_difference(run: Path) -> None:
    page = Reader(EvidenceRun(run)).text("/case/talk~2330/a")
    assert "1 place of the answer with a number" in page  # "Answer 30", and not "Turn 30"


def test_a_result_that_is_quoted_is_open_and_the_others_are_folded(run: Path) -> None:
    page = Reader(EvidenceRun(run)).text("/case/talk~2328/a")
    results = re.split(r"<h4>Turn \d+, result of the tool get_labs</h4>", page)[1:]
    assert len(results) == 7 and ">2026-03-09 potassium 4.9 mmol/l</mark>" in results[0]
    folded = ['<details class="folded">' in each.split("</article>")[0] for each in results]
    assert folded == [False, *[True] * 6], "the one that is quoted is open"
    assert "<strong>1 quotation is in no text of this case.</strong>" in page
    assert EvidenceRun(run).state.texts.why_not == ""


def test_a_conversation_fits_a_desk_and_a_phone(browser: Browser, run: Path) -> None:
    with served(EvidenceRun(run)) as (base, door):
        desk = Desk(browser, base, door)
        page = desk.open("/case/talk~2330/a")
        for width in (1280, 390):
            page.set_viewport_size({"width": width, "height": 900})
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
            if shots := os.environ.get("MEDJURY_SHOTS"):
                page.screenshot(path=f"{shots}/evidence_{width}.png")
        assert not serious_faults(page) and not desk.complaints
