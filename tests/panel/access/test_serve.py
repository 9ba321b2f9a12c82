"""`medjury panel serve`: no configuration, one link, and it answers."""

from __future__ import annotations

import os
import re
import shutil
import socket
import sqlite3
import subprocess
import sys
import time
import urllib.error
import urllib.request
from contextlib import closing
from pathlib import Path

import httpx
import pytest
from tests.panel.served import served_by_command
from tests.panel.visitors import token_in

from medjury.cli import main
from medjury.foundation.errors import MedjuryError
from medjury.panel._serve import coordinators_link, greeting, invitation_link, open_panel

STUDY = """study: ward
cases: cases.jsonl
instrument: note_quality
judges:
  - {kind: openai, name: one, url: "http://127.0.0.1:9/v1", model: one}
"""
ANSWERED_WITHIN = 60


@pytest.fixture
def study(tmp_path: Path) -> Path:
    (tmp_path / "cases.jsonl").write_text(
        '{"id": "a", "candidate": "Well.", "texts": {"context": "A note."}}\n'
    )
    (tmp_path / "study.yaml").write_text(STUDY)
    return tmp_path / "study.yaml"


def fetch(address: str) -> tuple[int, str]:
    limit = time.monotonic() + ANSWERED_WITHIN
    while True:
        try:
            with urllib.request.urlopen(address, timeout=ANSWERED_WITHIN) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read().decode()
        except (urllib.error.URLError, ConnectionError):
            assert time.monotonic() < limit
            time.sleep(0.1)


def test_the_first_start_prints_a_link_that_opens(study: Path) -> None:
    with served_by_command(study, "--coordinator", "Dr Ada Quill") as lines:
        address = re.search(r"is at (\S+)", lines[0])
        link = re.search(r"(http://localhost:\d+/join/\S+)", "\n".join(lines))
        assert address and link
        assert fetch(address[1] + "/healthz") == (200, "ok")
        status, shown = fetch(link[1])
        assert status == 200 and "Welcome, Dr Ada Quill" in shown
        assert guesses(address[1]) == [403] * 5 + [429] * 3, "whatever address a header states"
    assert (study.parent / "ward.panel.sqlite").is_file()


def test_a_link_is_printed_at_every_start_until_somebody_has_joined(study: Path) -> None:
    panel = open_panel(study)
    first, second = coordinators_link(panel), coordinators_link(panel)
    assert first and second and first != second
    panel.database.close()


def test_a_coordinator_who_cannot_sign_in_is_invited_again_from_the_command_line(
    study: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["panel", "invite", str(study), "--name", "Ada", "--role", "coordinator"]
    assert main([*words, "--public-url", "https://panel.example"]) == 0
    printed = capsys.readouterr()
    assert printed.out.startswith("https://panel.example/join/") and not printed.err
    assert main(words) == 0
    assert "only on this machine" in capsys.readouterr().err
    study.write_text(study.read_text() + "panel: {public_url: https://ward.example}\n")
    assert main(words) == 0
    printed = capsys.readouterr()
    assert printed.out.startswith("https://ward.example/join/") and not printed.err
    panel = open_panel(study)
    assert invitation_link(panel, "ada ", "coordinator")
    with pytest.raises(MedjuryError, match="is coordinator here"):
        invitation_link(panel, "ADA", "rater")
    panel.database.close()


def test_a_copy_of_the_file_is_whole_once_a_command_has_ended(study: Path, tmp_path: Path) -> None:
    """SQLite keeps what is new in a log beside the file until the last connection closes. That is not left to the
    search for cycles with which most processes end."""
    words = ["panel", "invite", str(study), "--name", "Ada", "--role", "coordinator"]
    code = f"import atexit, gc\natexit.register(gc.freeze)\nfrom medjury.cli import main\nmain({words!r})"
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
    file = study.parent / "ward.panel.sqlite"
    assert not file.with_name(f"{file.name}-wal").exists()
    copy = shutil.copy(file, tmp_path / "copy.sqlite")
    with closing(sqlite3.connect(copy)) as connection:
        assert connection.execute("SELECT name FROM people").fetchall() == [("Ada",)]


def test_the_trail_is_printed_and_checked(
    study: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main(["panel", "trail", str(study), "--check"]) == 0
    assert "empty" in capsys.readouterr().out
    assert main(["panel", "invite", str(study), "--name", "Ada", "--role", "rater"]) == 0
    capsys.readouterr()
    assert main(["panel", "trail", str(study)]) == 0
    told = capsys.readouterr().out
    assert "the command line\tinvited" in told and "The audit trail is intact: 1 row, the last" in told
    monkeypatch.setenv("MEDJURY_WIDTH", "80")
    assert main(["panel", "trail", str(study)]) == 0
    told = capsys.readouterr().out
    assert "  the command line: invited Ada as rater\n" in told and "\t" not in told


def guesses(address: str) -> list[int]:
    """How eight guesses at a password are answered, each from another address, as a header says."""
    return [guess(address, f"203.0.113.{number}") for number in range(8)]


def guess(address: str, forwarded: str) -> int:
    with httpx.Client(base_url=address, headers={"x-forwarded-for": forwarded}, verify=False) as client:
        form = {"csrf": token_in(client.get("/sign-in").text), "name": "Dr Roe", "password": "wrong"}
        return client.post("/sign-in", data=form).status_code


def test_an_address_in_a_header_is_believed_from_a_proxy_that_was_named(study: Path) -> None:
    with served_by_command(study, "--proxy", "127.0.0.1") as lines:
        address = lines[0].rpartition(" ")[2]
        fetch(f"{address}/healthz")
        assert guesses(address) == [403] * 8


def test_a_proxy_is_named_by_its_address(study: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["panel", "serve", str(study), "--port", "0", "--proxy", "*"]) == 2
    assert "--proxy *: name the proxy by its address" in capsys.readouterr().err


def test_who_forgets_to_name_the_proxy_is_reminded(study: Path) -> None:
    panel = open_panel(study, public_url="https://panel.example")
    assert "--proxy 127.0.0.1" in "\n".join(greeting(panel, None))
    assert "--proxy" not in "\n".join(greeting(panel, None, ["127.0.0.1"]))
    panel.database.close()


def test_a_port_in_use_is_told_in_words(study: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        assert main(["panel", "serve", str(study), "--port", str(taken.getsockname()[1])]) == 1
    assert "Choose another with --port" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--host", "0.0.0.0"], "say which address people type"),
        (["--public-url", "panel.example"], "is not an address"),
        (["--public-url", "https://panel.example/medjury"], "a host name of its own"),
        (["--public-url", "https://panel.example:99999"], "is not an address"),
        (["--port", "70000"], "a port is a number from 0 to 65535"),
    ],
)
def test_what_cannot_be_served_is_told_in_words(
    words: list[str], told: str, study: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["panel", "serve", str(study), "--port", "0", *words]) == 2
    assert told in capsys.readouterr().err


def test_a_missing_extra_is_named_with_the_command_that_installs_it(study: Path) -> None:
    program = (
        "import sys; sys.modules['fastapi'] = None\n"
        f"from medjury.cli import main; sys.exit(main(['panel', 'serve', {str(study)!r}]))"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(each for each in sys.path if each)}
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, env=environment, check=False
    )
    assert done.returncode == 2
    assert done.stderr == 'medjury: this needs fastapi; install it with: pip install "medjury[panel]"\n'
