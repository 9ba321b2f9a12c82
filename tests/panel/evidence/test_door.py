"""One printed link opens the evidence once, for one browser; nobody else on the machine reads a word of it."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import httpx
import pytest
from tests.panel.evidence.planted_run import Reader, every_page, plant_study, small_ratings

from medjury.cli import main
from medjury.foundation.errors import MedjuryError
from medjury.panel._evidence._run import EvidenceRun
from medjury.panel._serve import listen


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return plant_study(tmp_path_factory.mktemp("door"), small_ratings())


@pytest.fixture(scope="module")
def reader(run: Path) -> Reader:
    """Somebody who came in by the link."""
    return Reader(EvidenceRun(run))


def test_without_the_link_no_page_says_anything(run: Path) -> None:
    stranger = Reader(EvidenceRun(run), enters=False)
    for path in every_page(stranger.run):
        answer = stranger.get(path)
        assert answer.status_code == 403, path
        assert "case-0001" not in answer.text
        assert "planted study" not in answer.text


def test_the_link_is_good_once(run: Path) -> None:
    reader = Reader(EvidenceRun(run), enters=False)
    assert reader.get("/open/guessed").status_code == 403
    assert reader.get(f"/open/{reader.door.token}x").status_code == 403
    assert reader.head(f"/open/{reader.door.token}").status_code == 405
    entered = reader.get(f"/open/{reader.door.token}")
    assert (entered.status_code, entered.headers["location"]) == (303, "/")
    cookie = entered.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=lax" in cookie
    assert reader.get("/").status_code == 200
    reader.cookies.clear()
    assert reader.get(f"/open/{reader.door.token}").status_code == 403
    assert reader.get("/").status_code == 403
    reader.cookies.set(reader.door.cookie, "guessed")
    assert reader.get("/").status_code == 403


def test_every_answer_keeps_the_page_to_itself(reader: Reader) -> None:
    for path in (*every_page(reader.run), "/nowhere"):
        headers = reader.get(path).headers
        policy = headers["content-security-policy"]
        assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self'")
        assert "unsafe" not in policy
        assert headers["cache-control"] == "no-store"
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"


def test_no_page_has_script_or_style_in_it(reader: Reader) -> None:
    for path in every_page(reader.run):
        page = reader.text(path)
        assert not re.findall(r"<script(?! src=\"/static/)", page), path
        assert "<style" not in page
        assert not re.findall(r"\son\w+=|\sstyle=|javascript:", page)
        assert not re.findall(r"(?:src|href)=\"(?:https?:)?//", page)


def test_it_is_read_only(reader: Reader) -> None:
    for method in ("POST", "PUT", "PATCH", "DELETE", "OPTIONS"):
        assert reader.request(method, "/cases").status_code == 405


def test_another_name_for_this_machine_is_refused(reader: Reader) -> None:
    assert reader.get("/", headers={"host": "evil.example"}).status_code == 421


TRICKS = ["/case/..%2f..%2fetc/passwd", "/numbers/..%2fmanifest", "/static/../_door.py",
          "/static/%2e%2e/%2e%2e/_door.py", "/number/..~2F..~2Fcases/1", "/case/%00/%00",
          "/case/case-0001/alpha/text/99999999999", "/case/case-0001/alpha/text/x",
          "/case/case-0001/alpha/text/%C2%B2", "/case/case-0001/alpha/text/0000009"]  # fmt: skip


@pytest.mark.parametrize("path", TRICKS)
def test_tricks_with_paths_find_nothing(reader: Reader, path: str) -> None:
    answer = reader.get(path)
    assert answer.status_code == 404
    assert "import" not in answer.text


@pytest.mark.parametrize("page", ["%C2%B2", "-1", "x", "99999999999"])
def test_a_page_that_is_no_number_is_the_first(reader: Reader, page: str) -> None:
    assert reader.get(f"/cases?page={page}").status_code == 200


@pytest.mark.parametrize("query", ["system=zz", "dimension=zz", "rater=zz", "show=zz", "sort=zz", "part=zz"])
def test_what_the_run_does_not_have_is_refused_with_what_it_has(reader: Reader, query: str) -> None:
    answer = reader.get(f"/cases?{query}")
    assert answer.status_code == 400
    assert f"there is no {query.partition('=')[0]} &#39;zz&#39;" in answer.text


def test_beyond_this_machine_only_where_it_is_said(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["view", str(run), "--host", "0.0.0.0"]) == 2
    told = capsys.readouterr().err
    assert "beyond this machine" in told
    assert "--open-to-network" in told
    assert main(["view", str(run), "--host", "ward-server"]) == 2


def test_the_command_prints_a_link_that_opens(run: Path) -> None:
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    command = [sys.executable, "-m", "medjury", "view", str(run)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as server:
        try:
            assert server.stdout is not None
            link = re.search(r"http://127\.0\.0\.1:\d+/open/\S+", server.stdout.readline())
            assert link is not None
            base = link[0].partition("/open/")[0]
            with httpx.Client(transport=httpx.HTTPTransport(retries=5)) as browser:
                assert browser.get(f"{base}/cases").status_code == 403
                assert "planted study" in browser.get(link[0], follow_redirects=True).text
                page = browser.get(f"{base}/cases")
                assert page.status_code == 200
                assert "case-0001" in page.text
                assert "server" not in page.headers
            with pytest.raises(MedjuryError, match="another with --port"):
                listen("127.0.0.1", int(base.rpartition(":")[2]))
        finally:
            server.send_signal(signal.SIGINT)
        assert server.wait(timeout=20) == 0
