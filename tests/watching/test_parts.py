"""The parts of a watch: what it remembers, what is drawn, and the number that each case gives each quantity."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from medjury.foundation.errors import MedjuryError
from medjury.in_use.watching._quantities import Quantity, WatchedScale
from medjury.in_use.watching._settings import (
    LimitsPart,
    ReviewPart,
    SourcePart,
    WatchPart,
    WatchStudy,
    load_watch,
)
from medjury.in_use.watching._sources import finished, take
from medjury.in_use.watching._state import Alarm, State, WatchedCase
from medjury.in_use.watching._status import QuantityFound, Watched, Window
from medjury.in_use.watching._watch import (
    _bet,
    _cluster,
    _day_goes_on,
    _turn,
    _void,
    _waits,
    is_drawn,
    labels_of,
    probability_of,
    write_queue,
)
from medjury.intake.cases import Case, read_cases
from medjury.studies import HashedCases
from medjury.studies._study.rated import read_queue

UP, DOWN = WatchedScale(1, 5, True, 0.2), WatchedScale(0, 10, False, 0.2)


@pytest.fixture
def state(tmp_path: Path) -> Iterator[State]:
    made = State(tmp_path)
    yield made
    made.close()


def taken(state: State, number: int, *cases: str, day: bool = False) -> None:
    """A batch of cases, each `NAME of CLUSTER`."""
    split = [each.split(" of ") for each in cases]
    with state.whole():
        state.take_batch(
            number, [(name, "s", f"{'day' if day else 'patient'} {of}") for name, of in split], [number]
        )


def judged(state: State, number: int, *names: str, score: float | None = 3.0, drawn: bool = True) -> None:
    with state.whole():
        state.finish_batch(
            number, [(score, True, 0.5, drawn, "2026-03-01T00:00:00+00:00", each, "s") for each in names]
        )


def grouped(state: State, after: int = 0) -> list[list[str]]:
    return [[case.item for case in cases] for cases in state.groups(after)]


def test_facts_are_remembered_and_some_may_not_change(state: State) -> None:
    assert state.fact("x") is None and state.mark("x") is None
    with state.whole():
        state.remember("x", {"a": [1]})
        state.remember("mark f", "12")
        state.hold("rules", "old", "advice")
        state.hold("rules", "old", "advice")
    assert (state.fact("x"), state.mark("f")) == ({"a": [1]}, "12")
    with pytest.raises(MedjuryError, match=r"^watch: advice$"):
        state.hold("rules", "new", "advice")
    assert state.fact("rules") == "old"


def test_what_breaks_off_changes_nothing(state: State, tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), state.whole():
        state.remember("x", 1)
        _ = 1 / 0
    assert state.fact("x") is None
    with state.whole():
        state.remember("x", 2)
    again = State(tmp_path)
    assert again.fact("x") == 2
    again.close()


def test_batches_are_numbered_and_one_is_unfinished_until_it_is_judged(state: State) -> None:
    assert (state.unfinished(), state.next_batch()) == (None, 1)
    taken(state, 1, "a of p")
    assert (state.unfinished(), state.next_batch(), state.rows_of(1)) == (1, 2, [1])
    assert state.knows("a", "s") and not state.knows("a", "t") and not state.knows("b", "s")
    judged(state, 1, "a")
    assert (state.unfinished(), state.next_batch()) == (None, 2)


def test_the_cases_of_a_patient_that_come_together_are_one_group(state: State) -> None:
    taken(state, 1, "a of p", "b of q", "c of p")
    assert grouped(state) == [], "nothing is judged yet"
    judged(state, 1, "a", "b", "c")
    assert grouped(state) == [["a", "c"], ["b"]] and grouped(state, 1) == [["b"]] and grouped(state, 2) == []
    taken(state, 2, "d of p", "e of r")
    assert grouped(state) == [["a", "c"], ["b"]]
    judged(state, 2, "d", "e")
    assert grouped(state) == [["a", "c"], ["b"], ["d"], ["e"]], (
        "what a patient brings later is a group of its own"
    )


def test_the_cases_of_a_day_are_one_group_until_it_was_counted(state: State) -> None:
    taken(state, 1, "a of 2026-03-01", "b of 2026-03-02", day=True)
    judged(state, 1, "a", "b")
    with state.whole():
        state.remember("fed by jury", 1)
    taken(state, 2, "c of 2026-03-02", "d of 2026-03-01", "e of 2026-03-03", day=True)
    assert grouped(state) == [["a"]], "the second day has a case that is not judged"
    judged(state, 2, "c", "d", "e")
    assert grouped(state) == [["a"], ["b", "c"], ["d"], ["e"]]
    assert state.is_last_day("day 2026-03-03") and not state.is_last_day("day 2026-03-02")
    taken(state, 3, "f of x")
    assert state.is_last_day("day 2026-03-03"), "a patient is no later day"


def test_the_last_cases_come_first_and_only_of_groups_that_were_counted(state: State) -> None:
    taken(state, 1, "a of p", "b of q", "c of r")
    judged(state, 1, "a", "b", "c")
    found = [[each.item for each in state.latest(fed, most)] for fed, most in ((3, 2), (2, 9), (0, 9))]
    assert found == [["c", "b"], ["b", "a"], []]


def test_how_much_a_quantity_has_of_a_cluster_is_remembered(state: State) -> None:
    assert state.known("score", "p") == (0, 0)
    with state.whole():
        state.know("score", "p", 1, 0)
        state.know("score", "p", 2, 3)
        state.know("quality", "p", 5, 4)
    assert (state.known("score", "p"), state.known("quality", "p"), state.known("score", "q")) == (
        (2, 3),
        (5, 4),
        (0, 0),
    )


def test_cases_are_counted_once_they_are_judged(state: State) -> None:
    names = ("cases", "scored", "outside", "drawn", "rated", "by_patient", "by_day", "by_case")
    assert state.counts() == dict.fromkeys(names, 0)
    clusters = {"a": "patient p", "b": "day 2026-03-01", "c": "case c", "d": "case d", "e": "patient p"}
    with state.whole():
        state.take_batch(1, [(name, "s", cluster) for name, cluster in clusters.items()], [])
        rows = [(3.0, True, 0.5, True, "t", "a", "s"), (None, False, 0.5, False, "t", "b", "s"),
                (2.0, True, 0.5, True, "t", "c", "s"), (2.0, False, 0.5, True, "t", "d", "s")]  # fmt: skip
        state.finish_batch(1, rows)
        state.label([(4.0, "a", "s"), (4.0, "b", "s")])
        state.label([(5.0, "a", "s")])  # the first rating stays
    assert state.counts() == dict(zip(names, (4, 3, 2, 3, 1, 1, 1, 2), strict=True))
    case = state.cases(1)[0]
    assert case == WatchedCase(1, "a", "s", 3.0, True, 0.5, True, "t", 4.0, "patient p", 1)


def test_alarms_are_kept_in_their_order_and_marked_as_sent(state: State) -> None:
    with state.whole():
        state.raise_alarm("score", "alarm", {"case": 3}, "t1")
        state.raise_alarm("jury", "recovered", {}, "t2")
        state.mark_sent(1)
    assert state.alarms() == [
        Alarm(1, "score", "alarm", {"case": 3}, "t1"), Alarm(2, "jury", "recovered", {}, "t2")
    ]  # fmt: skip
    assert [each.number for each in state.alarms(untold=True)] == [2]


# What is drawn.


@pytest.mark.parametrize(
    ("score", "inside", "scale", "threshold", "probability", "reason"),
    [
        (None, True, UP, None, 0.5, "the jury gave no score"),
        (None, False, UP, 2, 0.5, "the jury gave no score"),
        (4.0, False, UP, None, 0.5, "outside what was validated"),
        (2.0, True, UP, 2, 0.5, "at or beyond the threshold"),
        (1.9, True, UP, 2, 0.5, "at or beyond the threshold"),
        (2.1, True, UP, 2, 0.05, "drawn"),
        (1.0, True, UP, None, 0.05, "drawn"),
        (8.0, True, DOWN, 8, 0.5, "at or beyond the threshold"),
        (9.0, True, DOWN, 8, 0.5, "at or beyond the threshold"),
        (7.0, True, DOWN, 8, 0.05, "drawn"),
    ],
)
def test_a_doubtful_case_is_drawn_more_often(
    score: float | None,
    inside: bool,
    scale: WatchedScale,
    threshold: float | None,
    probability: float,
    reason: str,
) -> None:
    assert probability_of(ReviewPart(threshold=threshold), scale, score, inside) == (probability, reason)


def test_a_draw_follows_from_seed_and_name_alone() -> None:
    names = [f"case-{number}" for number in range(400)]
    drawn = {
        seed: {name for name in names if is_drawn(ReviewPart(seed=seed), name, "s", 0.25)} for seed in (0, 1)
    }
    assert drawn[0] != drawn[1] and all(70 < len(each) < 130 for each in drawn.values())
    more = {name for name in names if is_drawn(ReviewPart(), name, "s", 0.5)}
    assert drawn[0] < more and {name for name in names if is_drawn(ReviewPart(), name, "t", 0.25)} != drawn[0]
    assert not any(is_drawn(ReviewPart(), name, "s", 0.0) for name in names)
    assert all(is_drawn(ReviewPart(), name, "\udc80", 1.0) for name in names[:3])


# The numbers of a case.


def case(score: float | None, label: float | None = None, **more: Any) -> WatchedCase:
    given = {"inside": True, "probability": 0.5, "drawn": True, **more}
    return WatchedCase(1, "i", "s", score, judged_at="", label=label, **given)


@pytest.mark.parametrize(
    ("name", "seen", "value"),
    [
        ("score", case(4), 0.75),
        ("score", case(None), None),
        ("coverage", case(1), 1.0),
        ("coverage", case(None), 0.0),
        ("case_mix", case(3), 0.0),
        ("case_mix", case(3, inside=False), 1.0),
        ("quality", case(5, 3), 0.0),  # 1 + (0.5 - 1) / 0.5
        ("quality", case(3, 5), 1.5),
        ("quality", case(3), 1.5),  # what nobody rated raises no alarm
        ("quality", case(3, drawn=False), 0.5),
        ("quality", case(None, drawn=False), 0.5),
        ("quality", case(None, 5), 1.5),
        ("disagreement", case(5, 3), 0.2),  # 0.5 * 0.2 / 0.5
        ("disagreement", case(3, 5, probability=0.2), 0.5),
        ("disagreement", case(5, 3, drawn=False), 0.0),
        ("disagreement", case(5), 0.0),
        ("disagreement", case(None, 3), 0.0),
    ],
)
def test_each_quantity_has_a_number_of_each_case(name: str, seen: WatchedCase, value: float | None) -> None:
    assert UP.value(name, seen) == (None if value is None else pytest.approx(value))


def test_a_scale_turns_grades_into_qualities_and_back() -> None:
    assert [UP.quality(grade) for grade in (0, 1, 2, 5, 6)] == [0, 0, 0.25, 1, 1]
    assert [DOWN.quality(grade) for grade in (-1, 0, 2.5, 10, 11)] == [1, 1, 0.75, 0, 0]
    assert [UP.grade(each) for each in (0, 0.25, 1)] == [1, 2, 5]
    assert [DOWN.grade(each) for each in (0, 0.75, 1)] == [10, 2.5, 0]
    for name in ("score", "coverage", "case_mix", "disagreement"):
        assert UP.ends(name) == (0.0, 1.0)
    assert UP.ends("quality") == (-4.0, 5.0)
    stated = {"score": 2, "quality": 2, "disagreement": 2, "coverage": 0.9, "case_mix": 0.3}
    limits = {name: UP.limit(name, limit) for name, limit in stated.items()}
    assert limits == {"score": 0.25, "quality": 0.25, "disagreement": 0.1, "coverage": 0.9, "case_mix": 0.3}
    for name, limit in limits.items():
        assert UP.in_units(name, limit) == pytest.approx(stated[name])
    assert DOWN.limit("disagreement", 2) == pytest.approx(0.04)
    assert (UP.in_units("score", -3), UP.in_units("quality", 3), UP.in_units("disagreement", 0.9)) == (
        1,
        5,
        4,
    )
    assert (DOWN.in_units("score", -3), DOWN.in_units("quality", 3)) == (10, 0)


def part(**settings: Any) -> WatchPart:
    return WatchPart(passport="p", **{"source": SourcePart(folder="f"), **settings})


@pytest.mark.parametrize(
    ("name", "worse", "better"),
    [("score", 0.0, 1.0), ("coverage", 0.0, 1.0), ("case_mix", 1.0, 0.0), ("quality", -1.0, 3.0),
     ("disagreement", 1.0, 0.0)],
)  # fmt: skip
def test_an_alarm_is_raised_by_what_is_worse_and_ended_by_what_is_better(
    name: str, worse: float, better: float
) -> None:
    limits = {"score": 3, "quality": 3, "disagreement": 1, "coverage": 0.5, "case_mix": 0.5}
    review = ReviewPart(ratings="r.csv")
    found = Quantity.new(name, part(limits=LimitsPart(**{name: limits[name]}), review=review), UP)
    assert found.alpha == 0.05 and found.state()["cases"] == 0
    seen = [found.update([better]) for _ in range(50)]
    assert not any(seen) and (found.cases, found.sequence.n, found.test.generation) == (50, 50, 1)
    raised = [found.update([worse, worse]) for _ in range(200)]
    assert raised.count("alarm") == 1 and raised.count("recovered") == 0 and found.alarmed
    assert (found.cases, found.test.generation) == (450, 2)
    ended = [found.update([better]) for _ in range(600)]
    assert ended.count("recovered") == 1 and ended.count("alarm") == 0 and not found.alarmed
    assert found.test.generation == 3
    again = Quantity.from_state(json.loads(json.dumps(found.state())))
    assert again.state() == found.state() and (again.name, again.alpha, again.cases) == (name, 0.05, 1050)


# Sources.


def study(root: Path, **settings: Any) -> WatchStudy:
    given = part(**{"limits": LimitsPart(score=3), **settings})
    return WatchStudy(name="w", folder=root / "watch", root=root, settings=given, allow_hosts=())


def arrive(folder: Path, name: str, *ids: str) -> None:
    folder.mkdir(exist_ok=True)
    rows = [{"id": each, "candidate": "x", "system": "s"} for each in ids]
    (folder / name).write_text("".join(json.dumps(each) + "\n" for each in rows))


def test_a_folder_is_read_by_name_and_batch_and_nothing_twice(state: State, tmp_path: Path) -> None:
    watched = study(tmp_path, batch=3, source=SourcePart(folder="in"))
    with pytest.raises(MedjuryError, match=r"the folder .* is not there"):
        take(watched, state, tmp_path)
    arrive(tmp_path / "in", "b.jsonl", "c", "d")
    arrive(tmp_path / "in", "a.jsonl", "a", "b")
    arrive(tmp_path / "in", "c.part", "z")
    first = take(watched, state, tmp_path)
    assert [case.id for case in first.cases] == ["a", "b", "c"] and list(first.marks) == ["file a.jsonl"]
    assert (first.rows, first.more) == ([], False)
    with state.whole():
        for name, mark in first.marks.items():
            state.remember(f"mark {name}", mark)
        state.take_batch(1, [(case.id, case.system, f"case {case.id}") for case in first.cases], [])
    second = take(watched, state, tmp_path)
    assert [case.id for case in second.cases] == ["d"] and list(second.marks) == ["file b.jsonl"]
    arrive(tmp_path / "in", "a.jsonl", "a", "b", "new")
    assert [case.id for case in take(watched, state, tmp_path).cases] == ["new", "d"]


def notes(file: Path, *rows: tuple[Any, ...]) -> sqlite3.Connection:
    database = sqlite3.connect(file)
    database.execute("CREATE TABLE notes (number INTEGER, id, candidate, texts, done)")
    database.executemany("INSERT INTO notes VALUES (?, ?, ?, ?, NULL)", rows)
    database.commit()
    return database


def test_a_table_is_read_in_its_order_after_the_last_row(state: State, tmp_path: Path) -> None:
    rows = [(3, "c", "[x", None), (1, "a", "x", '{"context": "talk"}'), (2, None, "x", None)]
    notes(tmp_path / "n.db", *rows).close()
    source = SourcePart(database="sqlite:///n.db", table="notes", order="number")
    first = take(study(tmp_path, batch=2, source=source), state, tmp_path)
    assert [(case.id, case.candidate, dict(case.texts)) for case in first.cases] == [
        ("a", "x", {"context": "talk"}), ("2", "x", {})
    ]  # fmt: skip
    assert (first.marks, first.rows, first.more) == ({"table": "2"}, [], True)
    with state.whole():
        state.remember("mark table", "2")
    rest = take(study(tmp_path, batch=2, source=source), state, tmp_path)
    assert [(case.id, case.candidate) for case in rest.cases] == [("c", "[x")]
    with state.whole():
        state.remember("mark table", "3")
    nothing = take(study(tmp_path, batch=2, source=source), state, tmp_path)
    assert (nothing.cases, nothing.marks, nothing.more) == ([], {}, False)


def test_a_queue_gives_what_was_not_taken_and_is_marked(state: State, tmp_path: Path) -> None:
    database = notes(tmp_path / "n.db", *((number, f"v{number}", "x", None) for number in (2, 1, 3)))
    source = SourcePart(
        database=f"sqlite:///{tmp_path / 'n.db'}", table="notes", order="number", taken="done"
    )
    watched = study(tmp_path, batch=2, source=source)
    first = take(watched, state, tmp_path)
    assert ([case.id for case in first.cases], first.rows, first.marks) == (["v1", "v2"], [1, 2], {})
    finished(watched, first.rows)
    finished(watched, [])
    left = database.execute("SELECT number FROM notes WHERE done IS NULL").fetchall()
    assert left == [(3,)] and [case.id for case in take(watched, state, tmp_path).cases] == ["v3"]
    database.close()


def test_a_database_named_by_the_environment_must_be_there(
    state: State, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = SourcePart(database="env:NOTES", table="notes", order="number")
    monkeypatch.delenv("NOTES", raising=False)
    with pytest.raises(MedjuryError, match="the environment variable env:NOTES names is not set"):
        take(study(tmp_path, source=source), state, tmp_path)
    monkeypatch.setenv("NOTES", "postgresql://notes.example/x")
    with pytest.raises(MedjuryError, match=r"notes\.example"):
        take(study(tmp_path, source=source), state, tmp_path)


@pytest.mark.parametrize(
    "named", [{}, {"folder": "f", "table": "t", "database": "d"}, {"table": "t"}, {"database": "d"},
              {"folder": "f", "database": "d"}],
)  # fmt: skip
def test_a_source_is_a_folder_or_a_table_of_a_database(named: dict[str, str]) -> None:
    with pytest.raises(ValueError, match=r"is `\{folder: inbox\}`, or"):
        SourcePart(**named)


# What counts as one, and how long is waited.


def test_a_case_belongs_to_its_patient_else_its_day_else_itself() -> None:
    one = Case("c", candidate="x", patient="MRN", metadata={"date": "2026-03-01T08:00"})
    alone = Case("c", candidate="x", metadata={"date": "soon"})
    limits = LimitsPart(score=3)
    by = {name: _cluster(one, part(limits=limits, by=name)) for name in ("patient", "day", "case")}
    assert by["day"] == "day 2026-03-01"
    assert (
        by["patient"].startswith("patient ") and by["case"].startswith("case ") and "MRN" not in by["patient"]
    )
    assert {len(by[name].split(" ")[1]) for name in ("patient", "case")} == {32}
    assert (
        _cluster(alone, part(limits=limits)) == by["case"] == _cluster(alone, part(limits=limits, by="day"))
    )
    other = part(limits=limits, review=ReviewPart(seed=1))
    assert _cluster(one, other) != by["patient"], "the seed keeps names from being guessed"


def test_a_day_goes_on_until_it_is_over_or_a_later_one_came(state: State) -> None:
    noon = datetime(2026, 3, 2, 12, tzinfo=UTC)
    taken(state, 1, "a of 2026-03-01", "b of 2026-03-02", day=True)
    judged(state, 1, "a", "b")
    first, second = state.groups(0)
    assert not _day_goes_on(state, first, noon) and _day_goes_on(state, second, noon)
    assert _day_goes_on(state, second, noon - timedelta(days=1))
    assert not _day_goes_on(state, first, noon - timedelta(days=1)), "a later day came"
    assert not _day_goes_on(state, second, noon + timedelta(days=1))


def test_a_drawn_case_waits_so_long_for_a_rating(tmp_path: Path) -> None:
    watched = study(tmp_path, review=ReviewPart(wait_days=2))
    start = datetime(2026, 3, 1, tzinfo=UTC)
    waiting = [WatchedCase(1, "i", "s", 3, True, 1, True, start.isoformat(), None)]
    done = [WatchedCase(1, "i", "s", 3, True, 1, drawn, start.isoformat(), 4) for drawn in (True, False)]
    assert not _waits(watched, done, start) and _waits(watched, [*done, *waiting], start)
    assert _waits(watched, waiting, start + timedelta(days=2, seconds=-1))
    assert not _waits(watched, waiting, start + timedelta(days=2))


def test_a_label_is_the_mean_of_the_clinicians_of_a_case(tmp_path: Path) -> None:
    watched = study(tmp_path, review=ReviewPart(ratings="r.csv"))
    assert labels_of(watched, "accuracy") == labels_of(study(tmp_path), "accuracy") == []
    lines = ["i,s,A,accuracy,2", "i,s,B,accuracy,5", "i,s,A,clarity,1", "j,s,A,accuracy,", "j,t,A,accuracy,4"]
    (tmp_path / "r.csv").write_text("\n".join(["item,system,rater,dimension,score", *lines]) + "\n")
    assert labels_of(watched, "accuracy") == [(3.5, "i", "s"), (4.0, "j", "t")]
    assert labels_of(watched, "clarity") == [(1.0, "i", "s")]


def test_the_settings_of_a_watch_are_read_from_its_study_file(tmp_path: Path) -> None:
    file = tmp_path / "study.yaml"
    whole = {
        "study": "w", "cases": {"path": "cases.jsonl", "language": "de"}, "instrument": "note_quality",
        "judges": [{"kind": "openai", "url": "http://127.0.0.1:1/v1", "model": "m"}], "allow_hosts": ["a.example"],
    }  # fmt: skip
    file.write_text("".join(f"{name}: {json.dumps(value)}\n" for name, value in whole.items()))
    with pytest.raises(MedjuryError, match="has no part `watch:`"):
        load_watch(file)
    settings = {"passport": "p.json", "source": {"folder": "in"}, "limits": {"score": 3}}
    file.write_text(f"{file.read_text()}watch: {json.dumps(settings)}\n")
    found = load_watch(file)
    assert (found.name, found.root, found.folder) == ("w", tmp_path, tmp_path / "runs/w-watch")
    assert (found.allow_hosts, found.language, found.place("x")) == (("a.example",), "de", tmp_path / "x")
    given = found.settings
    assert (given.alpha, given.by, given.recent, given.batch, given.dimension) == (
        0.05,
        "patient",
        500,
        500,
        None,
    )
    review = given.review
    assert (review.share, review.doubtful, review.wait_days, review.seed) == (0.05, 0.5, 30, 0)


def test_a_group_is_bet_on_with_what_is_known_of_its_cluster(state: State, tmp_path: Path) -> None:
    seen: list[Any] = []
    events = iter([None, "alarm"])
    quantity: Any = SimpleNamespace(
        name="score", update=lambda *given: seen.append(given) or next(events), test=SimpleNamespace(generation=4),
        sequence=SimpleNamespace(interval=(0.75, 0.25)),
    )  # fmt: skip
    group = [replace(case(score), place=place, cluster="p") for score, place in ((2, 7), (None, 9), (4, 8))]
    watched = study(tmp_path)
    _bet(watched, state, UP, quantity, group[1:2], "t0")
    assert state.known("score", "p") == (0, 0), "a group without a number is none"
    _bet(watched, state, UP, quantity, group, "t1")
    assert (state.known("score", "p"), state.alarms()) == ((1, 4), [])
    _bet(watched, state, UP, quantity, group, "t2")
    assert seen == [([0.25, 0.75], 0, 0), ([0.25, 0.75], 1, 4)] and state.known("score", "p") == (2, 4)
    found = {"limit": 3.0, "case": 9, "low": 2.0, "high": 4.0}
    assert state.alarms() == [Alarm(1, "score", "alarm", found, "t2")]


def test_another_jury_is_one_alarm_until_the_validated_one_is_back(state: State) -> None:
    taken(state, 1, "a of p")
    judged(state, 1, "a")
    for at in ("t0", "void t1", "void t2", "t3", "t4"):
        state.raise_alarm("score", "alarm", {}, at)
        if at.startswith("void"):
            _void(state, 1, at)
        else:
            _turn(state, "recovered", at)
    told = [(each.event, each.found, each.at) for each in state.alarms() if each.quantity == "jury"]
    assert told == [("alarm", {"case": 1}, "void t1"), ("recovered", {"case": 1}, "t3")]
    assert state.fact("void 1") == 2, "what each of them said is kept apart"


def test_a_queue_has_the_drawn_cases_first_in_their_order(tmp_path: Path) -> None:
    watched = study(tmp_path, review=ReviewPart(seed=5, share=0.25, doubtful=0.75, threshold=2))
    cases = [
        replace(
            case(1 if name == "b" else 4, drawn=name != "a", probability=0.25), item=name, inside=name != "d"
        )
        for name in "abcd"
    ]
    arrive(tmp_path, "cases.jsonl", *"abcd")
    assert write_queue(tmp_path, watched, UP, cases[:1]) is None
    file = write_queue(tmp_path, watched, UP, cases)
    assert file == tmp_path / "queue.csv"
    rows = read_queue(file)
    hashed = HashedCases(read_cases(tmp_path / "cases.jsonl"))
    assert len([*hashed]) == 4
    rest = (0.25, 5, "watch: share 0.25, doubtful 0.75, threshold 2.0", hashed.hash)
    found = [(each.probability, each.seed, each.rule, each.data) for each in rows]
    assert found == [rest] * 4 and {each.system for each in rows} == {"s"}
    assert [(each.item, each.drawn, each.place, each.reason) for each in rows] == [
        ("b", True, 0, "at or beyond the threshold"), ("c", True, 1, "drawn"),
        ("d", True, 2, "outside what was validated"), ("a", False, None, "drawn"),
    ]  # fmt: skip


# What a look says.


@pytest.mark.parametrize(
    ("status", "quantity", "code"),
    [("complete", "quiet", 0), ("failed", "quiet", 1), ("incomplete", "quiet", 3), ("void", "quiet", 6),
     ("complete", "alarm", 7), ("failed", "alarm", 7), ("incomplete", "alarm", 3), ("void", "alarm", 6)],
)  # fmt: skip
def test_an_alarm_has_a_status_of_its_own(tmp_path: Path, status: str, quantity: str, code: int) -> None:
    window = Window(None, 0, 1, 0, 0)
    found = QuantityFound("score", quantity, 3, None, 1, 5, 0, 0, window)
    quiet = QuantityFound("coverage", "quiet", 0.5, None, 0, 1, 0, 0, window)
    names = ("cases", "scored", "outside", "drawn", "rated", "by_patient", "by_day", "by_case")
    counts = dict(zip(names, range(8), strict=True))
    alarms = [Alarm(1, "score", "alarm", {"case": 1234}, "t")]
    watched = Watched("w", tmp_path, status, "so", 0.05, counts, [quiet, found], alarms)
    assert watched.exit_status == code
    told = json.loads(watched.to_json())
    assert (told["exit_status"], told["status"], told["why"], told["study"], told["alpha"]) == (
        code, status, "so", "w", 0.05
    )  # fmt: skip
    assert {name: told[name] for name in names} == counts
    assert [each["name"] for each in told["quantities"]] == ["coverage", "score"]
    assert told["alarms"] == [
        {"number": 1, "quantity": "score", "event": "alarm", "found": {"case": 1234}, "at": "t"}
    ]
    lines = watched.text().splitlines()
    assert lines[0] == f"{status.upper()}: so" and "t  alarm: score (at case 1,234)" in lines
