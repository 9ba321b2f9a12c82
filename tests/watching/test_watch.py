"""A jury in use, watched: what is new is judged once, alarms are raised once, and nothing is lost in between."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import signal
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import psycopg
import pytest
from tests.loopback import Call, LoopbackServer
from tests.passports.passported import as_clinicians, grade, row, write_rows

from medjury.cli import main
from medjury.foundation.errors import MedjuryError
from medjury.in_use.passports import make_passport
from medjury.in_use.watching import watch
from medjury.in_use.watching._confidence_sequence import ConfidenceSequence
from medjury.in_use.watching._quantities import Quantity, WatchedScale
from medjury.in_use.watching._settings import LimitsPart, SourcePart, WatchPart
from medjury.in_use.watching._state import WatchedCase
from medjury.in_use.watching._status import QuantityFound, Watched, Window
from medjury.studies._study.rated import read_queue

GOOD, BAD = range(1004, 2000, 5), range(1000, 2000, 5)  # visits that the jury gives a 5, or a 1


@pytest.fixture
def study(passport: Path, tmp_path: Path) -> Path:
    (tmp_path / "inbox").mkdir()
    write_rows(tmp_path / "cases.jsonl", [row(1)])
    return write(tmp_path)


def write(place: Path, **settings: Any) -> Path:
    """A study file whose jury is watched."""
    part = {"passport": "passport.json", "source": {"folder": "inbox"}, "limits": {"score": 3}, "batch": 100}
    study = {
        "study": "watched",
        "cases": "cases.jsonl",
        "instrument": "note_quality",
        "judges": [{"kind": "openai", "url": "http://127.0.0.1:1/v1", "model": "m"}],
        "watch": part | settings,
    }
    file = place / "study.yaml"
    file.write_text("".join(f"{name}: {json.dumps(value)}\n" for name, value in study.items()))
    return file


def arrive(study: Path, name: str, numbers: Any, **settings: Any) -> None:
    write_rows(study.parent / "inbox" / f"{name}.jsonl", [row(number, **settings) for number in numbers])


def events(found: Watched) -> list[tuple[str, str]]:
    return [(each.quantity, each.event) for each in found.alarms]


def test_a_growing_folder_is_judged_and_each_crossing_is_told_once(
    study: Path,
    server: LoopbackServer,
) -> None:
    arrive(study, "monday", GOOD[:30])
    first = watch(study)
    assert first.exit_status == 0 and first.counts["cases"] == 30 and not first.alarms
    arrive(study, "tuesday", BAD[:40])
    assert events(watch(study)) == [("score", "alarm")]
    arrive(study, "wednesday", BAD[40:60])
    asked = len(server.calls)
    again = watch(study)
    assert events(again) == [("score", "alarm")] and again.exit_status == 7
    assert len(server.calls) - asked == 20
    arrive(study, "thursday", GOOD[30:70])
    back = watch(study)
    assert events(back) == [("score", "alarm"), ("score", "recovered")] and back.exit_status == 0
    arrive(study, "friday", BAD[60:100])
    assert events(watch(study))[2:] == [("score", "alarm")]
    asked = len(server.calls)
    assert watch(study).counts["cases"] == 170 and len(server.calls) == asked, "nothing is judged twice"
    assert "alarm: score" in (study.parent / "runs" / "watched-watch" / "status.html").read_text()


def test_new_cases_are_read_by_the_studys_own_mapping(study: Path, server: LoopbackServer) -> None:
    stated = study.read_text().replace('"cases.jsonl"', '{"path": "cases.jsonl", "mapping": {"id": "visit"}}')
    rows = [{"visit": each.pop("id"), **each} for each in (row(1), row(2))]
    study.write_text(stated)
    write_rows(study.parent / "cases.jsonl", rows[:1])
    write_rows(study.parent / "inbox" / "new.jsonl", rows)
    assert watch(study).counts["scored"] == 2


def test_a_packed_file_in_the_folder_is_read_too(study: Path, server: LoopbackServer) -> None:
    inbox = study.parent / "inbox"
    write_rows(inbox / "one.jsonl", [row(1)])
    (inbox / "two.jsonl.gz").write_bytes(gzip.compress((json.dumps(row(2)) + "\n").encode()))
    assert watch(study).counts["cases"] == 2


def test_coverage_and_case_mix_are_watched_too(study: Path, server: LoopbackServer) -> None:
    write(study.parent, limits={"coverage": 0.9, "case_mix": 0.3})
    arrive(study, "other", GOOD[:60], specialty="oncology")
    server.endpoint.behaviours = lambda call: "ok:I would rather not say"
    found = watch(study)
    assert set(events(found)) == {("coverage", "alarm"), ("case_mix", "alarm")}
    assert found.counts["scored"] == 0 and found.counts["outside"] == 60


def test_drawn_cases_wait_for_clinicians_in_the_order_of_arrival(study: Path) -> None:
    review = {"share": 0.5, "doubtful": 1.0, "threshold": 2, "ratings": "clinicians.csv"}
    write(study.parent, limits={"quality": 2.5, "disagreement": 1.5}, review=review)
    arrive(study, "monday", [*GOOD[:80], *BAD[:20]])
    found = watch(study)
    queue = read_queue(study.parent / "runs/watched-watch/batch-00001/queue.csv")
    assert {each.probability for each in queue} == {0.5, 1.0} and len(queue) == 100
    assert all(each.drawn for each in queue if grade(int(each.item[5:])) <= 2)
    for each in queue:  # anybody can draw again
        digest = hashlib.sha256(f"0\0watch\0{each.item}\0{each.system}".encode()).digest()
        assert each.drawn == (int.from_bytes(digest[:8], "big") < each.probability * 2**64)
        assert (each.reason == "drawn") == (each.probability == 0.5)
    assert {each.reason for each in queue} == {
        "drawn", "at or beyond the threshold", "outside what was validated",
    }  # fmt: skip
    drawn = [each for each in queue if each.drawn]
    assert [each.place for each in queue] == [*range(len(drawn)), *[None] * (100 - len(drawn))]
    arrived = [f"case-{number}" for number in (*GOOD[:80], *BAD[:20])]
    assert found.quantities[0].n == min(arrived.index(each.item) for each in drawn), (
        "up to the first drawn one"
    )
    lines = [f"{each.item},{each.system},Dr C,accuracy,1" for each in drawn]
    (study.parent / "clinicians.csv").write_text(
        "\n".join(["item,system,rater,dimension,score", *lines]) + "\n"
    )
    rated = watch(study)
    assert rated.counts["rated"] == len(drawn) and [each.n for each in rated.quantities] == [100, 100]
    assert [(each.recent.n, each.recent.mean) for each in rated.quantities] == [
        (100, pytest.approx(each.mean)) for each in rated.quantities
    ]
    assert ("disagreement", "alarm") in events(rated), "clinicians give a 1 where the jury gives a 5"


def test_a_case_that_nobody_rates_holds_the_others_up_only_for_so_long(study: Path) -> None:
    review = {"share": 1.0, "doubtful": 1.0, "ratings": "clinicians.csv", "wait_days": 30}
    write(study.parent, limits={"quality": 2.5}, review=review)
    arrive(study, "monday", BAD[:20])
    assert watch(study).quantities[0].n == 0
    later = watch(study, now=datetime.now(UTC) + timedelta(days=31))
    assert later.quantities[0].n == 20 and not later.alarms, "what nobody rated raises no alarm"


def same_patient(numbers: Any, name: str = "MRN-1") -> list[dict[str, Any]]:
    return [row(number) | {"patient": name} for number in numbers]


def test_the_cases_of_a_patient_are_one_group_and_later_ones_are_no_news(study: Path) -> None:
    write_rows(study.parent / "inbox" / "monday.jsonl", same_patient(BAD[:40]))
    found = watch(study)
    assert (found.quantities[0].n, found.quantities[0].groups) == (40, 1) and not found.alarms
    assert "at most 5 %, if patients (40 cases) are independent" in found.text()
    for day in range(3):
        write_rows(
            study.parent / "inbox" / f"day-{day}.jsonl", same_patient(BAD[40 + 10 * day : 50 + 10 * day])
        )
        found = watch(study)
    assert (found.quantities[0].n, found.quantities[0].groups) == (70, 4) and not found.alarms
    assert (found.quantities[0].low, found.quantities[0].recent.groups) == (1.0, 1)
    assert found.quantities[0].high > 4, "one patient says little of all"
    arrive(study, "others", BAD[70:110])
    assert events(watch(study)) == [("score", "alarm")], "of other patients each is news"
    assert b"MRN" not in (study.parent / "runs/watched-watch/state.sqlite").read_bytes()


def test_what_a_patient_brings_later_is_summed_up_apart(study: Path) -> None:
    numbers = [*GOOD[:20], *BAD[:20]]
    for day in range(2):
        rows = [row(number + 1000 * day) | {"patient": f"MRN-{number}"} for number in numbers]
        write_rows(study.parent / "inbox" / f"{day}.jsonl", rows)
        (found,) = watch(study).quantities
    apart, together = ConfidenceSequence(0.05), ConfidenceSequence(0.05)
    for day in range(2):
        for number in numbers:
            apart.update((grade(number) - 1) / 4, day)
            together.update((grade(number) - 1) / 4)
    low, high = (1 + 4 * end for end in apart.interval)
    assert (found.groups, found.mean) == (80, 3.0) and (found.low, found.high) == pytest.approx((low, high))
    assert high > 1 + 4 * together.interval[1] + 0.1


def test_a_stream_of_single_cases_counts_them_one_by_one(study: Path) -> None:
    write(study.parent, by="case")
    write_rows(study.parent / "inbox" / "monday.jsonl", same_patient(BAD[:40]))
    found = watch(study)
    assert events(found) == [("score", "alarm")] and found.quantities[0].groups == 40
    assert "if cases (40) are independent" in found.text()


def of_day(numbers: Any, day: str, **more: Any) -> list[dict[str, Any]]:
    rows = [row(number) for number in numbers]
    return [each | {"patient": None, "metadata": each["metadata"] | {"date": day}} | more for each in rows]


def test_without_patients_a_day_is_one_group_once_it_is_over(study: Path) -> None:
    noon = (datetime.now(UTC) + timedelta(days=2)).replace(hour=12)
    before, today = ((noon - timedelta(days=days)).date().isoformat() for days in (1, 0))
    inbox = study.parent / "inbox"
    write_rows(inbox / "a.jsonl", of_day(GOOD[:10], before))
    write_rows(inbox / "b.jsonl", of_day(BAD[:30], f"{today}T08:15:00"))
    first = watch(study, now=noon)
    assert (first.quantities[0].n, first.quantities[0].groups, first.quantities[0].mean) == (10, 1, 5.0)
    write_rows(inbox / "c.jsonl", of_day(GOOD[10:40], today))
    assert watch(study, now=noon).quantities[0].groups == 1, "today goes on"
    over = watch(study, now=noon + timedelta(days=1)).quantities[0]
    assert (over.n, over.groups, over.mean) == (70, 2, 4.0), "the mean of 5 and 3, and no case was new"
    write_rows(inbox / "d.jsonl", of_day(BAD[30:40], before))
    late = watch(study, now=noon + timedelta(days=1))
    assert late.quantities[0].groups == 3 and late.counts["by_day"] == 80
    write_rows(inbox / "e.jsonl", of_day(BAD[40:60], "in spring"))
    found = watch(study, now=noon + timedelta(days=1))
    assert found.quantities[0].groups == 23 and found.counts["by_case"] == 20, (
        "where no day can be read, by case"
    )


def test_a_day_ends_when_one_of_the_next_comes_and_patients_may_be_left_out_of_account(study: Path) -> None:
    write(study.parent, by="day")
    rows = of_day(GOOD[:10], "2126-03-01", patient="p") + of_day(BAD[:10], "2126-03-02", patient="p")
    write_rows(study.parent / "inbox" / "a.jsonl", rows)
    found = watch(study)
    assert (found.quantities[0].groups, found.counts["by_day"], found.counts["by_patient"]) == (1, 20, 0)


def test_a_group_waits_until_every_drawn_case_of_the_patient_is_rated(study: Path) -> None:
    """Else the bad one that was rated first would count for all of them."""
    review = {"share": 1.0, "doubtful": 1.0, "ratings": "clinicians.csv"}
    write(study.parent, limits={"quality": 2.5}, review=review)
    pairs = zip(GOOD[:30], BAD[:30], strict=True)
    rows = [each for place, pair in enumerate(pairs) for each in same_patient(pair, f"MRN-{place}")]
    write_rows(study.parent / "inbox" / "monday.jsonl", rows)
    watch(study)
    lines = [
        "item,system,rater,dimension,score",
        *(f"case-{number},a,Dr C,accuracy,1" for number in BAD[:30]),
    ]
    (study.parent / "clinicians.csv").write_text("\n".join(lines) + "\n")
    half = watch(study)
    assert half.counts["rated"] == 30 and half.quantities[0].n == 0 and not half.alarms
    lines += [f"case-{number},a,Dr C,accuracy,5" for number in GOOD[:30]]
    (study.parent / "clinicians.csv").write_text("\n".join(lines) + "\n")
    (quality,) = watch(study).quantities
    assert (quality.n, quality.groups, quality.mean) == (60, 30, 3.0) and quality.state == "quiet"


@pytest.mark.parametrize("text", ["item,system,rater,dimension,score\n", ""])
def test_a_file_of_ratings_without_a_row_is_nothing_yet(
    study: Path, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    review = {"share": 1.0, "doubtful": 1.0, "ratings": "clinicians.csv"}
    write(study.parent, limits={"quality": 2.5}, review=review)
    arrive(study, "monday", BAD[:20])
    (study.parent / "clinicians.csv").write_text(text)
    assert main(["watch", str(study)]) == 0
    assert "QUIET: quality, limit 2.5 grades: nothing yet" in capsys.readouterr().out


def test_a_file_of_ratings_that_cannot_be_read_is_refused(study: Path) -> None:
    review = {"share": 1.0, "doubtful": 1.0, "ratings": "clinicians.csv"}
    write(study.parent, limits={"quality": 2.5}, review=review)
    (study.parent / "clinicians.csv").write_text("item,system,rater\ncase-1,a,Dr C\n")
    with pytest.raises(MedjuryError, match=r"clinicians\.csv"):
        watch(study)


def watching(**settings: Any) -> WatchPart:
    return WatchPart(passport="p", source=SourcePart(folder="f"), **settings)


def test_after_a_drop_the_interval_still_holds_its_own_mean() -> None:
    scale = WatchedScale(1, 5, True, 0.5)
    part = watching(limits=LimitsPart(score=2.75))
    score = Quantity.new("score", part, scale)
    for place, value in enumerate((*[0.7] * 1000, *[0.1] * 1000)):
        score.update([value])
        if place % 50 == 0:
            low, high = score.sequence.interval
            assert score.sequence.mean is not None and low <= score.sequence.mean <= high
    assert score.alarmed


def test_the_last_cases_are_shown_beside_the_whole(study: Path) -> None:
    write(study.parent, limits={"score": 2, "coverage": 0.5}, recent=10)
    arrive(study, "monday", [*GOOD[:30], *BAD[:5], *GOOD[30:35]])
    score, coverage = watch(study).quantities
    assert (score.n, score.mean) == (40, 4.5)
    assert (score.recent.n, score.recent.groups, score.recent.mean) == (10, 10, 3.0)
    assert score.recent.low <= 3 <= score.recent.high and coverage.recent.mean == 1.0
    page = (study.parent / "runs/watched-watch/status.html").read_text()
    assert "40 cases: mean 4.5 grades" in page and "the last 10 cases: mean 3 grades" in page
    write(study.parent, limits={"score": 2, "coverage": 0.5}, recent=40)
    assert "the last" not in watch(study).text(), "where the last ones are all"
    write(study.parent, limits={"score": 2, "coverage": 0.5}, recent=10)
    again = json.loads(watch(study).to_json())["quantities"][0]
    assert again["recent"] == {
        "mean": 3.0,
        "low": score.recent.low,
        "high": score.recent.high,
        "groups": 10,
        "n": 10,
    }


def test_every_limit_has_its_part_of_alpha(study: Path) -> None:
    """Evidence of 20 is an alarm of one limit, of two together it takes 40."""
    scale = WatchedScale(1, 5, True, 0.5)
    alone = Quantity.new("score", watching(limits=LimitsPart(score=3)), scale)
    beside = Quantity.new("score", watching(limits=LimitsPart(score=3, coverage=0.9)), scale)
    assert (alone.alpha, beside.alpha) == (0.05, 0.025)
    raised: list[int] = []
    for each in (alone, beside):
        seen = 1
        while each.update([0.3]) is None:
            seen += 1
            assert each.test.evidence[0] < (20 if each is alone else 40)
        raised.append(seen)
    assert raised[0] < raised[1]


def test_the_quality_of_a_case_is_the_clinicians_on_average_over_draws() -> None:
    scale = WatchedScale(1, 5, True, 0.2)
    for label in (1.0, 3.0, 5.0):
        values = [
            scale.value("quality", WatchedCase(1, "i", "s", 4.0, True, 0.2, drawn, "", label)) or 0.0
            for drawn in (True, False)
        ]
        assert 0.2 * values[0] + 0.8 * values[1] == pytest.approx(scale.quality(label))


def cells(number: int) -> tuple[Any, ...]:
    case = row(number)
    texts, metadata = json.dumps(case["texts"]), json.dumps(case["metadata"])
    return number, case["id"], case["system"], case["candidate"], texts, metadata


def test_a_table_is_read_row_by_row(study: Path) -> None:
    with sqlite3.connect(study.parent / "notes.db") as database:
        database.execute("CREATE TABLE notes (number INTEGER, id, system, candidate, texts, metadata)")
        database.executemany("INSERT INTO notes VALUES (?, ?, ?, ?, ?, ?)", [*map(cells, GOOD[:25])])
    write(
        study.parent, source={"database": "sqlite:///notes.db", "table": "notes", "order": "number"}, batch=20
    )
    assert watch(study).counts["cases"] == 25
    assert [each[1] for each in everything(study.parent / "runs/watched-watch")[0]] == [
        f"case-{number}" for number in GOOD[:25]
    ]
    with database:
        database.execute("INSERT INTO notes VALUES (?, ?, ?, ?, ?, ?)", cells(GOOD[25]))
    database.close()
    assert watch(study).counts["scored"] == 26


def test_a_queue_in_postgresql_is_marked_as_it_is_judged(
    study: Path, postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NOTES", postgres_url)
    source = {"database": "env:NOTES", "table": "public.notes", "order": "number", "taken": "judged_at"}
    write(study.parent, source=source, batch=20)
    with psycopg.connect(postgres_url, autocommit=True) as database:
        database.execute(
            "CREATE TABLE notes (number INTEGER, id TEXT, system TEXT, candidate TEXT, texts JSONB, "
            "metadata JSONB, judged_at TIMESTAMPTZ)"
        )
        add = "INSERT INTO notes VALUES (%s, %s, %s, %s, %s, %s, NULL)"
        for number in GOOD[:25]:
            database.execute(add, cells(number))
        assert watch(study).counts["cases"] == 25
        database.execute("UPDATE notes SET judged_at = NULL")  # as if it had been killed before this
        database.execute(add, cells(GOOD[25]))
        assert watch(study).counts["scored"] == 26
        left = database.execute("SELECT COUNT(*) FROM notes WHERE judged_at IS NULL").fetchone()
        assert left == (0,)


def test_a_look_is_told_to_opentelemetry_by_its_conventions(
    study: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trace = pytest.importorskip("opentelemetry.trace")
    events: list[tuple[str, dict[str, Any]]] = []

    class Span(trace.NonRecordingSpan):  # type: ignore[misc, name-defined]
        def add_event(self, name: str, attributes: Any = None, timestamp: Any = None) -> None:
            events.append((name, attributes))

    class Tracer(trace.NoOpTracer):  # type: ignore[misc, name-defined]
        @contextmanager
        def start_as_current_span(self, name: str, *_: Any, **__: Any) -> Iterator[Any]:
            yield Span(trace.INVALID_SPAN_CONTEXT)

    named: list[str] = []
    monkeypatch.setattr(trace, "get_tracer", lambda name, *_: named.append(name) or Tracer())
    arrive(study, "monday", GOOD[:10])
    watch(study)
    assert named == ["medjury.watch"]
    told = {"gen_ai.evaluation.name": "score", "gen_ai.evaluation.score.label": "quiet"}
    assert events == [("gen_ai.evaluation.result", told | {"gen_ai.evaluation.score.value": 5.0})]


def test_a_look_is_measured_for_opentelemetry(study: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    metrics = pytest.importorskip("opentelemetry.metrics")
    got: dict[tuple[str, str], float] = {}

    class Gauge:
        def __init__(self, name: str) -> None:
            self.name = name

        def set(self, amount: float, attributes: Any = None, context: Any = None) -> None:
            assert attributes["medjury.study"]
            got[self.name.removeprefix("medjury.watch."), attributes.get("gen_ai.evaluation.name", "")] = (
                amount
            )

    class Meter(metrics.NoOpMeter):  # type: ignore[misc, name-defined]
        def create_gauge(self, name: str, unit: str = "", description: str = "") -> Any:
            return Gauge(name)

    monkeypatch.setattr(metrics, "get_meter", lambda *_: Meter("medjury.watch"))
    arrive(study, "monday", GOOD[:10])
    found = watch(study)
    (score,) = found.quantities
    assert (got["cases", ""], got["scored", ""], got["rated", ""]) == (10, 10, 0)
    assert (got["mean", "score"], got["alarm", "score"]) == (5.0, 0)
    assert (got["low", "score"], got["high", "score"]) == (score.low, score.high)


def test_another_answering_model_is_an_alarm_and_its_scores_are_not_used(
    study: Path,
    server: LoopbackServer,
) -> None:
    arrive(study, "monday", GOOD[:12])
    server.endpoint.behaviours = lambda call: "model:m-2031-01-01"
    for _ in range(2):
        found = watch(study)
        assert found.exit_status == 6 and events(found) == [("jury", "alarm")]
    server.endpoint.behaviours = as_clinicians
    back = watch(study)
    assert events(back) == [("jury", "alarm"), ("jury", "recovered")] and back.counts["scored"] == 12


def test_alarms_go_to_an_allowed_host_once_and_carry_no_case(study: Path) -> None:
    got: list[bytes] = []
    paths: list[str] = []

    class Hook(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            got.append(self.rfile.read(int(self.headers["Content-Length"])))
            paths.append(f"{self.path} {self.headers['Content-Type']}")
            self.send_response(503 if len(got) == 1 else 204)
            self.end_headers()

        def log_message(self, *_: Any) -> None: ...

    hook = HTTPServer(("127.0.0.1", 0), Hook)
    threading.Thread(target=hook.serve_forever, daemon=True).start()
    write(study.parent, webhook=f"http://127.0.0.1:{hook.server_port}/alarm?to=ward")
    arrive(study, "monday", BAD[:20])
    for _ in range(3):  # refused, taken, nothing left to tell
        watch(study)
    hook.shutdown()
    hook.server_close()
    assert len(got) == 2 and got[0] == got[1]
    said = json.loads(got[1])
    assert paths == ["/alarm?to=ward application/json"] * 2
    assert said.keys() == {"study", "alarm", "quantity", "event", "at", "limit", "case", "low", "high"}
    assert (said["quantity"], said["event"], said["limit"]) == ("score", "alarm", 3)
    assert (said["study"], said["alarm"]) == ("watched", 1) and said["low"] == 1 < said["high"] < 3.5
    datetime.fromisoformat(said["at"])
    assert b"case-1" not in got[1] and b"Visit" not in got[1]


def test_no_alarm_leaves_for_a_host_that_is_not_named(study: Path) -> None:
    write(study.parent, webhook="https://alarms.example/x")
    arrive(study, "monday", BAD[:20])
    with pytest.raises(MedjuryError, match=r"allow_hosts: \[alarms\.example\]"):
        watch(study)


def everything(folder: Path) -> tuple[Any, ...]:
    """What a watch remembers, but for the times."""
    database = sqlite3.connect(folder / "state.sqlite")
    cases = database.execute("SELECT place, item, score, inside, drawn FROM cases").fetchall()
    alarms = database.execute("SELECT number, quantity, event, found FROM alarms").fetchall()
    quantities = database.execute("SELECT name, value FROM facts WHERE name LIKE 'quantity%'").fetchall()
    database.close()
    return cases, alarms, quantities


def test_a_watch_that_is_killed_goes_on_as_if_nothing_had_happened(
    study: Path,
    server: LoopbackServer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    write(study.parent, batch=50)
    arrive(study, "monday", [*GOOD[:15], *BAD[:30]])
    process: list[subprocess.Popen[bytes]] = []
    asked: list[str] = []

    def deadly(call: Call) -> str:
        asked.append(call.prompt)
        if len(asked) == 30:
            os.kill(process[0].pid, signal.SIGKILL)
        return as_clinicians(call)

    server.endpoint.behaviours = deadly
    words = [sys.executable, "-m", "medjury", "watch", str(study), "--no-preflight"]
    process.append(subprocess.Popen(words, stdout=subprocess.DEVNULL))
    assert process[0].wait(60) == -signal.SIGKILL
    # The second death: in the middle of what a batch changes.
    whole, seen = Quantity.update, []

    def broken(self: Quantity, values: list[float], *known: int) -> Any:
        seen.append(values)
        if len(seen) == 10:
            raise RuntimeError("killed")
        return whole(self, values, *known)

    monkeypatch.setattr(Quantity, "update", broken)
    with pytest.raises(RuntimeError, match="killed"):
        watch(study)
    monkeypatch.setattr(Quantity, "update", whole)
    watch(study)
    watch(write(study.parent, batch=50, folder="undisturbed"))
    killed, undisturbed = (everything(study.parent / name) for name in ("runs/watched-watch", "undisturbed"))
    assert killed == undisturbed and len(killed[1]) == 1


def test_what_was_promised_cannot_be_changed_half_way(study: Path) -> None:
    arrive(study, "monday", GOOD[:5])
    watch(study)
    changes: list[dict[str, Any]] = [
        {"limits": {"score": 2}}, {"alpha": 0.1}, {"by": "case"}, {"review": {"share": 0.2}},
        {"dimension": "accuracy"},
    ]  # fmt: skip
    for change in changes:
        write(study.parent, **change)
        with pytest.raises(MedjuryError, match="limits, alpha, by or review were changed"):
            watch(study)
    write(study.parent, batch=7, recent=3)
    assert watch(study).exit_status == 0, "what promises nothing may be changed"


def test_a_folder_belongs_to_one_passport(study: Path, run: Path) -> None:
    arrive(study, "monday", GOOD[:5])
    watch(study)
    other = make_passport(run, expires_days=30)
    (study.parent / "passport.json").write_text(other.text())
    with pytest.raises(
        MedjuryError, match=r"^watch: this folder holds a watch by another passport; name another `folder`$"
    ):
        watch(study)


def test_wrong_settings_are_told_with_their_line(study: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(study.parent, limits={"quality": 3})
    assert main(["watch", str(study)]) == 2
    assert "need clinicians" in capsys.readouterr().err
    write(study.parent, limits={"score": 9})
    assert main(["watch", str(study)]) == 2
    assert "lies beyond the scale of accuracy" in capsys.readouterr().err


def test_every_command_prints_json(
    study: Path, run: Path, passport: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arrive(study, "monday", GOOD[:3])
    made, place = str(study.parent / "made.json"), study.parent
    calls = {
        ("passport", "make", str(run), "--out", made): {"force", "population", "hash"},
        ("passport", "check", str(passport)): {"state", "exit_status", "reasons"},
        ("judge", "--passport", made, str(place / "cases.jsonl"), "--out", str(place / "out")): {
            "status",
            "outside",
        },
        ("watch", str(study)): {"exit_status", "quantities", "alarms"},
    }
    for words, names in calls.items():
        assert main([*words, "--json"]) == 0
        assert names <= json.loads(capsys.readouterr().out).keys(), words


def test_what_is_watched_is_shown_in_its_unit_and_never_beyond_the_scale() -> None:
    scale = WatchedScale(low=1, high=5, higher_is_better=True, least=0.05)
    assert scale.in_units("disagreement", 1.0) == 4, "grades are no farther apart than the scale is long"
    assert scale.in_units("disagreement", 0.0125) == pytest.approx(1.0)
    one = QuantityFound("coverage", "quiet", 0.95, 1.0, 0.821, 1.0, 42, 42, Window(0.9, 0.5, 1.0, 10, 10))
    two = QuantityFound("score", "quiet", 3.3, 2.93, 2.05, 3.84, 30, 42, Window(2.5, 1.5, 3.5, 8, 20))
    new = QuantityFound("quality", "quiet", 3.3, None, 1.0, 5.0, 0, 0, Window(None, 1.0, 5.0, 0, 0))
    names = ("cases", "scored", "outside", "drawn", "rated", "by_patient", "by_day", "by_case")
    counts = dict.fromkeys(names, 0) | {"by_patient": 1200, "by_case": 2}
    told = Watched("s", Path("w"), "complete", "", 0.05, counts, (one, two, new), ()).text()
    assert (
        "coverage, limit 95 %: 42 cases: mean 100 % (82.1 to 100); the last 10 cases: mean 90 % (50 to"
        in told
    )
    assert "score, limit 3.3 grades: 42 cases in 30 groups: mean 2.93 grades (2.05 to 3.84); " in told
    assert "the last 20 cases in 8 groups: mean 2.5 grades (1.5 to 3.5)" in told
    assert "quality, limit 3.3 grades: nothing yet" in told
    assert "at most 5 %, if patients (1,200 cases) and cases (2) are independent of one another" in told
    told = Watched("s", Path("w"), "complete", "", 0.05, dict.fromkeys(names, 0), (new,), ()).text()
    assert "at most 5 %, if cases are independent of one another)" in told


def test_a_quantity_in_alarm_is_remembered_in_alarm() -> None:
    part = watching(limits=LimitsPart(score=2.75))
    found = Quantity.new("score", part, WatchedScale(1, 5, True, 0.2))
    while found.update([0.1]) is None:
        pass
    again = Quantity.from_state(json.loads(json.dumps(found.state())))
    assert again.alarmed and again.state() == found.state()
