"""A server that is killed while raters save: whatever it acknowledged is there."""

from __future__ import annotations

import os
import random
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import httpx
from tests.panel.raters import GOOD, PROFILE
from tests.panel.rounds import write_study
from tests.panel.visitors import PASSWORD, token_in

from medjury.panel import invitation_link, open_panel
from medjury.panel._access._people import people
from medjury.panel._design._assignments import assignment_of
from medjury.panel._rating._answers import history

KILLS = 2
WAIT_SECONDS = 60


def start(study: Path, port: int, *words: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "medjury", "panel", "serve", str(study), "--port", str(port), *words]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(each for each in sys.path if each)}
    process = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, text=True, env=environment
    )
    limit = time.monotonic() + WAIT_SECONDS
    with httpx.Client(timeout=5) as client:  # one for all tries: each reads the machine's certificates anew
        while True:
            try:
                if client.get(f"http://127.0.0.1:{port}/healthz").status_code == 200:
                    return process
            except httpx.TransportError:
                pass
            assert process.poll() is None and time.monotonic() < limit, "the server did not come up"
            time.sleep(0.05)


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


def test_every_acknowledged_save_survives_kill_9(either_place: str, tmp_path: Path) -> None:
    write_study(tmp_path, cases=1, systems=("one",))
    study, port = tmp_path / "study.yaml", free_port()
    words = ("--database", either_place)
    panel = open_panel(study, database=either_place, public_url=f"http://localhost:{port}")
    link = invitation_link(panel, "Dr Ocelot", "rater")
    acknowledged: list[tuple[int, str]] = []
    chance = random.Random()
    process = start(study, port, *words)
    try:
        with httpx.Client(base_url=f"http://localhost:{port}", timeout=30) as client:
            path = link.partition(f":{port}")[2]
            token = token_in(client.get(path).text)
            joined = client.post(path, data={"csrf": token, "password": PASSWORD, "again": PASSWORD})
            assert joined.status_code == 303
            token = token_in(client.get("/rate/profile").text)
            assert client.post("/rate/profile", data=PROFILE | {"csrf": token}).status_code == 303
            (code,) = re.findall(r'<li><a href="/rate/([^"/]+)', client.get("/rate").text)
            version = number = 0
            for kill in range(KILLS):
                before = len(acknowledged)
                killer = threading.Timer(chance.uniform(0.2, 0.8), process.send_signal, (signal.SIGKILL,))
                killer.start()
                while True:
                    number += 1
                    comment = f"save {number}"
                    fields = GOOD | {"csrf": token, "version": str(version), "comment": comment}
                    try:
                        answer = client.post(f"/rate/{code}/draft", data=fields)
                    except httpx.TransportError:
                        break
                    if answer.status_code == 409:  # the last before the kill was kept, and nobody heard of it
                        version += 1
                        continue
                    assert answer.status_code == 200, answer.text
                    version = answer.json()["version"]
                    acknowledged.append((version, comment))
                killer.join()
                process.wait(WAIT_SECONDS)
                assert len(acknowledged) > before, "nothing was saved between two kills"
                if kill < KILLS - 1:
                    process = start(study, port, *words)
    finally:
        process.kill()
        process.wait()
    with panel.database.reading() as connection:
        person = next(each.id for each in people(connection) if each.name == "Dr Ocelot")
        assignment = assignment_of(connection, code, person)
        assert assignment is not None
        kept = {each.version: each.comment for each in history(connection, assignment.id)}
    assert [kept.get(version) for version, _ in acknowledged] == [comment for _, comment in acknowledged]
    assert sorted(kept) == list(range(1, len(kept) + 1))
    panel.database.close()
