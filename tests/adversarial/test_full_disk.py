"""No room left, a store without a byte, a reader who leaves: a run says so, and pays nothing twice."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.loopback import LoopbackServer
from tests.processes import Command

from medjury.cli import main
from medjury.foundation.errors import MedjuryError
from medjury.foundation.files import is_full, write_whole
from medjury.store.ratings import open_store
from medjury.store.ratings._store.store_error import StoreError
from medjury.store.runs import RunFolder, files
from medjury.studies import load_study, run_study

Write = Callable[..., Path]
CASES = 60


@pytest.fixture
def tiny_disk(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "tiny"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=600k", "tmpfs", str(folder)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("a small disk cannot be mounted here")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


def run(study: Path, *, longest_file: int | None = None) -> subprocess.CompletedProcess[str]:
    """No file may be longer than `longest_file`: a quota, that whichever file is the longest meets first."""
    words = ["run", str(study), "--quiet"]
    with Command(*words, longest_file=longest_file) as command:
        out, told = command.communicate()
        return subprocess.CompletedProcess(words, command.wait(), out, told)


def asked(server: LoopbackServer) -> Counter[str]:
    """How often each question about a case was put."""
    questions = [json.dumps(call.json["messages"]) for call in server.calls]
    return Counter(question for question in questions if "Summary " in question)


def in_words(done: subprocess.CompletedProcess[str]) -> None:
    assert done.returncode == 3, done.stderr
    assert "Traceback" not in done.stderr and "INCOMPLETE" in done.stdout and "INCOMPLETE" in done.stderr


def test_a_disk_that_fills_up_ends_in_words_and_pays_nothing_twice(
    write_study: Write, server: LoopbackServer, tiny_disk: Path
) -> None:
    study = write_study(
        cases=CASES, judge={"concurrency": 1}, output=str(tiny_disk / "run"), report={"resamples": 200}
    )
    ballast = tiny_disk / "ballast"
    ballast.write_bytes(b"x" * 330_000)
    stopped = run(study)
    in_words(stopped)
    assert "no room left" in stopped.stderr or "the disk failed" in stopped.stderr
    assert 0 < asked(server).total() < CASES, "it filled up in mid-run"
    assert RunFolder(tiny_disk / "run").manifest.status in ("running", "incomplete")
    ballast.unlink()
    subprocess.run(["mount", "-o", "remount,size=20m", str(tiny_disk)], check=True)
    again = run(study)
    assert again.returncode == 0, again.stderr
    counts = asked(server)
    assert len(counts) == CASES and sum(counts.values()) - CASES <= 1, "at most the call that was in flight"


def test_no_room_for_the_store_is_said_before_the_first_call(
    write_study: Write, server: LoopbackServer
) -> None:
    stopped = run(write_study(), longest_file=6_000)
    assert stopped.returncode == 1 and "Traceback" not in stopped.stderr and "free space" in stopped.stderr
    assert not server.calls


def test_a_file_that_may_not_grow_ends_in_words(write_study: Write, server: LoopbackServer) -> None:
    study = write_study(cases=CASES, judge={"concurrency": 1}, report={"resamples": 200})
    stopped = run(study, longest_file=160_000)
    in_words(stopped)
    assert 0 < asked(server).total() < CASES
    assert run(study).returncode == 0
    counts = asked(server)
    assert len(counts) == CASES and sum(counts.values()) - CASES <= 1


def test_what_was_made_of_a_full_disk_is_still_known_as_one(tmp_path: Path) -> None:
    full = OSError(28, "No space left on device")
    try:
        try:
            raise full
        except OSError as error:
            raise MedjuryError("the log cannot be written") from error
    except MedjuryError as error:
        assert is_full(error)
    assert not is_full(OSError(2, "No such file")) and not is_full(MedjuryError("no"))


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
def test_a_command_other_than_run_says_it_too(write_study: Write, tmp_path: Path) -> None:
    folder = run_study(load_study(write_study())).folder
    command = [
        sys.executable, "-m", "medjury", "runs", "ratings", "export", str(folder / files.STORE), "--out",
    ]  # fmt: skip
    (tmp_path / "full.csv").symlink_to("/dev/full")
    done = subprocess.run([*command, str(tmp_path / "full.csv")], capture_output=True, text=True, check=False)
    assert done.returncode != 0 and "Traceback" not in done.stderr and "No space left" in done.stderr


# A store without a byte


def test_a_store_that_lost_everything_is_not_taken_for_a_new_one(
    write_study: Write, server: LoopbackServer, capsys: pytest.CaptureFixture[str]
) -> None:
    study = write_study()
    folder = run_study(load_study(study)).folder
    calls = asked(server).total()
    store = folder / files.STORE
    whole = store.read_bytes()
    store.write_bytes(b"")
    assert main(["run", str(study), "--quiet"]) == 2
    told = capsys.readouterr().err
    assert "is empty" in told and "18 ratings" in told and "copy" in told
    assert asked(server).total() == calls and not store.stat().st_size, "nothing asked, and left as it is"
    store.write_bytes(whole)
    assert main(["run", str(study), "--quiet"]) == 0 and asked(server).total() == calls
    store.unlink()
    assert main(["run", str(study), "--quiet"]) == 0 and asked(server).total() == 2 * calls, (
        "deleted on purpose"
    )


def test_an_empty_store_is_not_read_as_one_without_ratings(tmp_path: Path) -> None:
    (tmp_path / "ratings.sqlite").touch()
    with pytest.raises(StoreError, match="is empty"):
        open_store(tmp_path / "ratings.sqlite", create=False)


def test_an_empty_store_beside_its_log_was_not_always_empty(tmp_path: Path) -> None:
    (tmp_path / "ratings.sqlite").touch()
    (tmp_path / "ratings.sqlite-wal").write_bytes(b"x" * 100)
    with pytest.raises(StoreError, match="was not before"):
        open_store(tmp_path / "ratings.sqlite")


def test_a_run_that_died_before_its_first_call_begins_anew(write_study: Write) -> None:
    study = write_study()
    folder = study.parent / "runs" / "small"
    folder.mkdir(parents=True)
    (folder / files.STORE).touch()
    assert run_study(load_study(study)).status == "complete"


# A reader who leaves: `medjury run STUDY | head`


def piped(command: list[str], lines: int) -> tuple[int, str]:
    """Run with a standard output that is closed after so many lines; the exit status and standard error."""
    reading, writing = os.pipe()
    with subprocess.Popen(command, stdout=writing, stderr=subprocess.PIPE, text=True) as process:
        os.close(writing)
        with os.fdopen(reading) as out:
            for _ in range(lines):
                out.readline()
        assert process.stderr is not None
        return process.wait(timeout=600), process.stderr.read()


@pytest.mark.parametrize("lines", [0, 1])
def test_a_closed_output_does_not_stop_the_report(write_study: Write, lines: int) -> None:
    study = write_study(report={"resamples": 200})
    status, told = piped([sys.executable, "-m", "medjury", "run", str(study), "--quiet"], lines)
    folder = study.parent / "runs" / "small"
    assert status == 0 and told == ""
    assert (folder / files.REPORT).exists() and main(["runs", "verify", str(folder)]) == 0


def test_a_closed_output_does_not_hide_that_a_run_is_incomplete(write_study: Write) -> None:
    study = write_study(report={"resamples": 200}, budget={"calls": 2})
    status, told = piped([sys.executable, "-m", "medjury", "run", str(study), "--quiet"], 0)
    assert status == 3 and "INCOMPLETE" in told and "could not be written" not in told


def test_closed_errors_do_not_stop_the_run(write_study: Write) -> None:
    """`medjury run STUDY 2>&1 | head`: the line of progress has no reader either."""
    study = write_study(report={"resamples": 200})
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "medjury", "run", str(study)]
    done = subprocess.run(command, stdout=writing, stderr=writing, check=False, timeout=600)
    os.close(writing)
    assert done.returncode == 0 and (study.parent / "runs" / "small" / files.REPORT).exists()


def test_other_commands_end_quietly(write_study: Write) -> None:
    folder = run_study(load_study(write_study(cases=40))).folder
    for words in (
        ["runs", "ratings", "runs", str(folder / files.STORE)],
        ["instruments", "list"],
        ["runs", "verify", str(folder)],
    ):
        status, told = piped([sys.executable, "-m", "medjury", *words], 0)
        assert (status, told) == (0, ""), words


def test_a_report_that_cannot_be_written_still_says_so(
    write_study: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    study = write_study(report={"resamples": 200})
    folder = study.parent / "runs" / "small"
    (folder / files.REPORT).mkdir(parents=True)
    write_whole(folder / files.REPORT / "in-the-way", "x")
    assert main(["run", str(study), "--quiet"]) == 0
    assert "the report could not be written" in capsys.readouterr().err
