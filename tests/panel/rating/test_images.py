"""Images of a case on the pages of raters and in the evidence: there, as large as one likes, and nobody's name."""

from __future__ import annotations

import json
import os
import re
from base64 import b64decode
from collections.abc import Callable
from pathlib import Path
from typing import Any

from fastapi import FastAPI
from playwright.sync_api import Browser, expect
from tests.cases.pictures import SECRETS, dicom, jpeg, png
from tests.loopback import LoopbackServer
from tests.panel.evidence.planted_run import Reader
from tests.panel.raters import rater
from tests.panel.rating.at_browsers import PHONE, nothing_serious, open_case, panel_of, rater_at
from tests.studies.running import run_without_report

from medjury.intake.cases import read_cases
from medjury.panel._evidence._run import EvidenceRun
from medjury.panel._evidence._serve import write_evidence_file

MakePanel = Callable[..., FastAPI]
STUDY: dict[str, Any] = {"instrument": "image_report", "dimensions": ""}
INLINE = re.compile(r'src="data:image/(?:png|jpeg);base64,([A-Za-z0-9+/=]+)"')


def rows(folder: Path) -> list[dict[str, Any]]:
    (folder / "Testperson-1.png").write_bytes(png(side=400))
    (folder / "Testperson-2.jpg").write_bytes(jpeg(side=64))
    dicom(folder / "Testperson-3.dcm")
    named = [
        {"path": "Testperson-1.png", "label": "PA view by quokka-scribe"},
        "Testperson-2.jpg",
        "Testperson-3.dcm",
    ]
    return [{"id": "one", "system": "quokka-scribe", "candidate": "No effusion.", "images": named}]


def test_a_rater_sees_the_images_as_judges_do_and_blinded(make_panel: MakePanel, tmp_path: Path) -> None:
    app = make_panel(rows=rows(tmp_path), panel="panel: {blind_words: [quokka-scribe]}\n", **STUDY)
    one = rater(app)
    page = one.get(f"/rate/{one.codes()[0]}")
    (case,) = read_cases(tmp_path / "cases.jsonl")
    assert [b64decode(each) for each in INLINE.findall(page.text)] == [each.content for each in case.images]
    assert "Image 1: PA view by [hidden]" in page.text and "quokka" not in page.text
    assert "img-src 'self' data:;" in page.headers["content-security-policy"]
    database = b"".join(file.read_bytes() for file in tmp_path.glob("*.sqlite*"))
    assert database
    for word in (*SECRETS, "Erika"):
        for form in ("utf-8", "utf-16-le", "utf-16-be"):
            assert word.encode(form) not in database + page.content, word
    given = {
        f"grade.{each}": "4" for each in ("findings_present", "findings_absent", "laterality", "severity")
    }
    assert one.rate(one.codes()[0], **given, **{"grade.significance": "5"}).status_code == 303


def test_an_image_fits_the_page_and_a_tap_makes_it_as_large_as_it_is(
    browser: Browser, tmp_path: Path
) -> None:
    with (
        panel_of(tmp_path, rows=rows(tmp_path), **STUDY) as panel,
        rater_at(browser, panel, "Dr Looks", PHONE) as page,
    ):
        page.get_by_role("link", name="Start").click()
        open_case(page, 1)
        first = page.locator(".image img").first
        expect(first).to_be_visible()
        assert first.evaluate("each => each.complete && each.naturalWidth") == 400
        frame = page.locator(".image .frame").first
        fits = frame.bounding_box()
        assert fits is not None and fits["width"] <= PHONE["width"]
        small = first.bounding_box()
        if shots := os.environ.get("MEDJURY_SHOTS"):
            page.screenshot(path=f"{shots}/images.png", full_page=True)
        first.click()
        large = first.bounding_box()
        assert small is not None and large is not None and large["width"] > 1.4 * small["width"]
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), (
            "the frame is scrolled, not the page"
        )
        if shots:
            page.screenshot(path=f"{shots}/images_large.png", full_page=True)
        page.get_by_role("checkbox", name="Full size: Image 1").uncheck(force=True)
        again = first.bounding_box()
        assert again is not None and again["width"] == small["width"], "by keys too"
        nothing_serious(page)


def test_the_evidence_shows_the_images_online_and_in_its_file(tmp_path: Path) -> None:
    with LoopbackServer() as server:
        lines = rows(tmp_path)
        (tmp_path / "cases.jsonl").write_text("".join(json.dumps(row) + "\n" for row in lines))
        (tmp_path / "study.yaml").write_text(
            "study: small\ncases: cases.jsonl\ninstrument: image_report\ndimensions: [findings_present]\n"
            f"judges: [{{kind: openai, url: '{server.url}', model: m, images: true}}]\n"
        )
        assert run_without_report(tmp_path / "study.yaml") == 0
    (case,) = read_cases(tmp_path / "cases.jsonl")
    folder = tmp_path / "runs" / "small"
    run = EvidenceRun(folder)
    page = Reader(run).text(run.state.address(0))
    assert [b64decode(each) for each in INLINE.findall(page)] == [each.content for each in case.images]
    write_evidence_file(folder, tmp_path / "evidence.html")
    whole = (tmp_path / "evidence.html").read_text()
    assert [b64decode(each) for each in INLINE.findall(whole)] == [each.content for each in case.images]
    assert "img-src data:;" in whole and "Testperson" not in page + whole
    write_evidence_file(folder, tmp_path / "hidden.html", hide_texts=True)
    assert not INLINE.findall((tmp_path / "hidden.html").read_text())
