"""The documentation is run: its files are written, its commands and its Python are executed, page by page.

In a page, a fenced block with `file=NAME` after the language is written to that file, a `python` block is
executed (all blocks of a page share one namespace) and, in a `bash` block, the lines that begin with `medjury`
are run. `norun` leaves a block alone, and so does `needs=MODULE` where that module is not installed. The endpoint
on port 8000 is replaced by a loopback server.
"""

from __future__ import annotations

import re
import shlex
from importlib.util import find_spec
from pathlib import Path

import pytest
from tests.loopback import LoopbackServer

from medjury.cli import main

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
# This page shows what every command prints; tests/ratings/test_documentation.py runs it and compares.
RUN_ELSEWHERE = {"importing-ratings"}
BLOCK = re.compile(r"^```(\w+)([^\n]*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
ENDPOINT = "http://127.0.0.1:8000/v1"


@pytest.mark.parametrize(
    "page", [page for page in PAGES if page.stem not in RUN_ELSEWHERE], ids=lambda page: page.stem
)
def test_a_page_does_what_it_says(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, object] = {"__name__": page.stem}
    with LoopbackServer() as server:
        for match in BLOCK.finditer(page.read_text(encoding="utf-8")):
            language, words, body = match[1], match[2].split(), match[3].replace(ENDPOINT, server.url)
            needed = [word.removeprefix("needs=") for word in words if word.startswith("needs=")]
            if "norun" in words or any(find_spec(each) is None for each in needed):
                continue
            for word in words:
                if word.startswith("file="):
                    Path(word.removeprefix("file=")).write_text(body, encoding="utf-8")
            if language == "python":
                exec(compile(body, f"{page.name}: a python block", "exec"), namespace)
            elif language == "bash":
                for line in body.replace("\\\n", " ").splitlines():
                    if line.startswith("medjury "):
                        status = main(shlex.split(line, comments=True)[1:])
                        assert status == 0, f"{page.name}: {line}\n{capsys.readouterr().err}"


def test_every_link_between_pages_leads_somewhere() -> None:
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"
