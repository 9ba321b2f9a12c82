"""The audit log: a chain that several processes write, that survives their death and shows every change."""

from __future__ import annotations

import asyncio
import hashlib
import json
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from medjury.models import (
    AuditError,
    AuditLog,
    AuditTotals,
    audit_totals,
    entry_hash,
    verify_audit_log,
)
from medjury.models._gate import audit_log as audit_chain

ROOT = Path(__file__).parents[2]
WRITER = """
import sys
from medjury.models import AuditLog
log = AuditLog(sys.argv[1])
for number in range(int(sys.argv[2])):
    log.record({"event": "call", "key": f"{number:064d}", "who": sys.argv[3]})
"""


def writer(path: Path, count: int, who: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", WRITER, str(path), str(count), who], cwd=ROOT)


def fill(path: Path, count: int) -> list[str]:
    log = AuditLog(path)
    for number in range(count):
        log.record({"event": "call", "key": str(number)})
    return path.read_text().splitlines(keepends=True)


def test_entries_are_chained_and_counted(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "audit.jsonl"
    first, second = (json.loads(line) for line in fill(path, 2))
    assert second["previous"] == first["hash"] and (first["n"], second["n"]) == (1, 2)
    AuditLog(path).record({"event": "call"})
    assert verify_audit_log(path) == 3
    assert path.stat().st_mode & 0o077 == 0, "only its owner reads it"


@pytest.mark.parametrize(
    ("change", "line", "words"),
    [
        (lambda lines: [lines[0].replace('"0"', '"9"'), *lines[1:]], 1, "damaged"),
        (lambda lines: [lines[0], lines[2], lines[3]], 2, "lines are missing"),
        (lambda lines: [lines[1], lines[0], *lines[2:]], 1, "lines are missing"),
        (lambda lines: [*lines[:2], "not json\n", *lines[2:]], 3, "damaged"),
    ],
    ids=["changed", "removed", "swapped", "put in"],
)
def test_every_change_is_found_and_its_line_named(
    change: object, line: int, words: str, tmp_path: Path
) -> None:
    path = tmp_path / "audit.jsonl"
    lines = fill(path, 4)
    path.write_text("".join(change(lines)))  # type: ignore[operator]
    with pytest.raises(AuditError, match=rf"line {line}: .*{words}"):
        verify_audit_log(path)


def test_a_line_rewritten_with_a_fitting_hash_breaks_the_next_one(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    lines = fill(path, 3)
    other = tmp_path / "other.jsonl"
    AuditLog(other).record({"event": "call", "key": "of another call"})
    path.write_text("".join([other.read_text(), *lines[1:]]))
    with pytest.raises(AuditError, match="line 2: does not follow"):
        verify_audit_log(path)


def test_a_log_of_before_goes_on_and_names_stand_in_it_as_they_are(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    previous, lines = "0" * 64, []
    for number, name in enumerate(("J\u00fcrgen", "\u6797", "plain"), 1):  # as they were written in ASCII
        body = json.dumps(
            {"n": number, "event": "call", "rater": name, "previous": previous}, separators=(",", ":")
        )[:-1]
        previous = hashlib.sha256(body.encode()).hexdigest()
        lines.append(f'{body},"hash":"{previous}"}}\n')
    path.write_text("".join(lines), encoding="ascii")
    for name in ("J\u00fcrgen", "\u6797 \u2028\x85\x7f", "half \ud83d of one"):
        AuditLog(path).record({"event": "call", "rater": name})
    assert verify_audit_log(path) == 6 and audit_totals(path).calls == 6
    written = path.read_bytes().split(b"\n")[:-1]
    assert "J\u00fcrgen".encode() in written[3] and [json.loads(line)["rater"] for line in written] == [
        "J\u00fcrgen", "\u6797", "plain", "J\u00fcrgen", "\u6797 \u2028\x85\x7f", "half \ud83d of one",
    ]  # fmt: skip


def test_the_hash_of_a_line_is_the_one_it_says_whatever_became_of_it(tmp_path: Path) -> None:
    """Read at a glance, where it ends in its own hash; else as JSON. Both ways come to the same."""
    path = tmp_path / "audit.jsonl"
    log = AuditLog(path)
    for number in range(3):
        log.record({"event": "call", "key": str(number), "rater": 'says ,"hash":"x"} of itself'})
    chance = random.Random(3)
    for whole in path.read_bytes().splitlines(keepends=True):
        said = json.loads(whole)["hash"]
        assert entry_hash(whole) == entry_hash(whole.rstrip(b"\n")) == said
        for _ in range(300):
            line = bytearray(whole)
            for _ in range(chance.randrange(1, 4)):
                place = chance.randrange(len(line))
                if chance.random() < 0.5:
                    del line[place : place + chance.randrange(1, 40)]
                else:
                    line[place] = chance.randrange(256)
            assert entry_hash(bytes(line)) == as_json(bytes(line)), bytes(line)
    for odd in (b"", b"\n", b"[]", b"1", b'{"hash":1}', b'{"hash":"x"}', b"[" * 100_000, b',"hash":"'):
        assert entry_hash(odd) == as_json(odd)


def as_json(line: bytes) -> str:
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):
        return ""
    said = entry.get("hash") if isinstance(entry, dict) else None
    return said if isinstance(said, str) else ""


def test_a_torn_last_line_is_sealed_by_the_next_run(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    lines = fill(path, 3)
    path.write_text("".join(lines) + lines[2][:50])
    with pytest.raises(AuditError, match="line 4: the last line is damaged"):
        verify_audit_log(path)
    AuditLog(path).record({"event": "call"})
    assert verify_audit_log(path) == 5, "three entries, the seal and the new one"
    sealed = path.read_text().splitlines()
    path.write_text("\n".join([*sealed[:3], sealed[3][:-1], *sealed[4:]]) + "\n")
    with pytest.raises(AuditError, match="line 4: is damaged, and no later entry seals it"):
        verify_audit_log(path)


def test_two_processes_write_one_chain(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    processes = [writer(path, 150, who) for who in ("a", "b")]
    assert [process.wait(60) for process in processes] == [0, 0]
    assert verify_audit_log(path) == 300


def test_a_killed_writer_leaves_a_whole_chain(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    chance = random.Random(3)
    for _ in range(3):
        size = path.stat().st_size if path.exists() else 0
        process = writer(path, 1_000_000, "a")
        while not path.exists() or path.stat().st_size == size:
            time.sleep(0.005)
        time.sleep(chance.uniform(0, 0.05))
        process.send_signal(signal.SIGKILL)
        process.wait()
    log = AuditLog(path)
    log.record({"event": "call"})
    assert verify_audit_log(path) > 3


def test_a_full_disk_stops_the_run_and_leaves_no_half_line(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    program = (
        "import resource, signal\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n" + WRITER
    )
    command = [sys.executable, "-c", program, str(path), "100", "a"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    assert "AuditError" in done.stderr and "audit log cannot be written" in done.stderr
    assert verify_audit_log(path) > 2


def test_a_log_that_cannot_be_opened_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(AuditError, match="cannot be opened"):
        AuditLog(tmp_path / "file" / "audit.jsonl").record({})
    with pytest.raises(AuditError, match="cannot be read"):
        verify_audit_log(tmp_path / "absent.jsonl")


def test_the_totals_count_every_call_ever_sent_and_add_up_the_known_costs(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    assert audit_totals(path) == AuditTotals(0, 0.0), "no log, no calls"
    log = AuditLog(path)
    log.record({"event": "call", "status": "stop", "cost": 0.25})
    log.record({"event": "call", "status": "provider"})
    log.record({"event": "call", "status": "stop", "cost": None})
    log.record({"event": "opened", "cost": 9.0})
    AuditLog(path).record({"event": "call", "status": "length", "cost": 0.5})
    log.record({"event": "call", "status": "timeout", "perhaps": 0.125})
    assert audit_totals(path) == AuditTotals(5, 0.75, 0.125)


def test_the_totals_of_a_torn_log_count_the_call_that_tore_it(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    AuditLog(path).record({"event": "call", "status": "stop", "cost": 0.25})
    line = path.read_bytes()
    path.write_bytes(line + line[: line.index(b"status")] + b"\xff")
    assert audit_totals(path) == AuditTotals(2, 0.25)
    AuditLog(path).record({"event": "call", "status": "stop", "cost": 0.25})
    assert audit_totals(path) == AuditTotals(3, 0.5), "the seal is no call"
    with pytest.raises(AuditError, match="cannot be read"):
        audit_totals(tmp_path)


def test_the_totals_count_an_announced_call_once_whether_it_has_an_end_or_not(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    log = AuditLog(path)
    numbers = [log.record({"event": "sent", "for": "call", "perhaps": 0.5}) for _ in range(4)]
    log.record({"event": "sent", "for": "count"})
    assert audit_totals(path) == AuditTotals(4, 0.0, 2.0, 0, 4)
    log.record({"of": numbers[0], "event": "call", "status": "stop", "cost": 0.25})
    log.record({"of": numbers[1], "event": "call", "status": "timeout", "perhaps": 0.5})
    log.record({"of": numbers[2], "event": "call", "status": "provider", "left": False})
    assert audit_totals(path) == AuditTotals(3, 0.25, 1.0, 0, 1)


def test_announcements_are_counted_alike_at_a_glance_and_word_by_word(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chance = random.Random(5)
    names = [
        "juror",
        'says "perhaps":1',
        'ends ,"hash":"x"}',
        '{"n":1,"at":"x","event":"sent","for":"call",',
        "\u6797",
    ]
    for turn in range(40):
        path = tmp_path / f"{turn}.jsonl"
        log, sent = AuditLog(path), []
        for _ in range(chance.randrange(1, 30)):
            about = {"key": str(chance.random()), "rater": chance.choice(names)}
            if chance.random() < 0.6:
                perhaps = {"perhaps": 0.25} if chance.random() < 0.3 else {}
                what = "count" if chance.random() < 0.1 else "call"
                sent.append(log.record({"event": "sent", "for": what, **about, **perhaps}))
            else:
                of = {"of": sent.pop()} if sent else {}
                log.record({**of, "event": "call", **about, "cost": 0.5, "reply": "r"})
        whole = path.read_bytes()
        for cut in (len(whole), *(chance.randrange(len(whole)) for _ in range(6))):
            path.write_bytes(whole[:cut] + (b"\n" if chance.random() < 0.5 else b""))
            quickly = audit_totals(path)
            with monkeypatch.context() as slow:
                slow.setattr(audit_chain, "_plain_announcement", lambda _: 0)
                assert quickly == audit_totals(path), path.read_bytes()


@pytest.mark.parametrize(
    ("entry", "calls"),
    [
        ({"event": "sent", "for": "call", "key": "k"}, 1),  # it was never whole, so nothing left
        ({"of": 1, "event": "call", "key": "k"}, 1),  # the end of a call that is counted already
        ({"event": "call", "key": "k"}, 2),  # of a model in this process, which announces nothing
    ],
    ids=["announcement", "end", "alone"],
)
def test_a_torn_line_changes_no_count(entry: dict[str, object], calls: int, tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    AuditLog(path).record({"event": "sent", "for": "call"})
    before = path.read_bytes()
    AuditLog(path).record(entry)
    whole = path.read_bytes()
    path.write_bytes(whole[: whole.index(b'"key"', len(before))])
    assert audit_totals(path).calls == calls


async def test_entries_of_one_moment_are_one_chain_in_one_write(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    log = AuditLog(path)
    numbers = await asyncio.gather(*(log.announce({"event": "sent", "for": "call"}) for _ in range(50)))
    await asyncio.gather(*(log.append({"of": number, "event": "call"}) for number in numbers))
    assert numbers == list(range(1, 51)) and verify_audit_log(path) == 100
    assert audit_totals(path) == AuditTotals(50, 0.0)


async def test_no_request_may_leave_where_the_log_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    log = AuditLog(tmp_path / "file" / "audit.jsonl")
    asked = (log.announce({"event": "sent", "for": "call"}) for _ in range(3))
    told = await asyncio.gather(*asked, return_exceptions=True)
    assert [type(each) for each in told] == [AuditError] * 3
