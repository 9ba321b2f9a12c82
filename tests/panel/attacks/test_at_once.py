"""Two at once: coordinators who include, and ratings that come while they do."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path

import polars
import pytest
from tests.loopback import LoopbackServer
from tests.panel.meeting.closed_rounds import closed_panel, same
from tests.panel.raters import GOOD, rater
from tests.panel.visitors import sign_in

from medjury.cli import main
from medjury.panel._access._people import Role
from medjury.panel._exchange._collecting import include
from medjury.panel._serve import make_app, open_panel
from medjury.studies import RatedStudy, panel_file
from medjury.tables import open_run

JUDGE = 'judges:\n  - {{kind: openai, name: juror, url: "{url}", model: m}}\nhumans: panel\n'


def test_two_coordinators_and_a_rater_at_once_leave_a_whole_run(tmp_path: Path) -> None:
    grades = [same("4", "2"), same("1", "1"), same("5", "4")]
    with LoopbackServer() as server:
        place = tmp_path / "ward.panel.sqlite"
        closed_panel(tmp_path, grades, place=place, close=False, panel=JUDGE.format(url=server.url))
        assert main(["run", str(tmp_path / "study.yaml"), "--quiet"]) == 0
    app = make_app(open_panel(tmp_path / "study.yaml"))
    people = [sign_in(app, Role.COORDINATOR, f"C {number}") for number in range(3)]
    one = rater(app, "Dr Quick")
    codes, told = one.codes(), []

    def included(number: int) -> None:
        told.append(people[number].submit("/exchange/include", "/exchange").status_code)

    def rated() -> None:
        told.extend(200 if one.rate(code, **GOOD).status_code == 303 else 500 for code in codes)

    threads = [threading.Thread(target=included, args=(number,)) for number in range(3)]
    threads.append(threading.Thread(target=rated))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert told == [200] * 6
    included(0)
    assert main(["runs", "verify", str(tmp_path / "runs" / "ward")]) == 0
    table = open_run(tmp_path / "runs" / "ward")
    assert len([name for name, kind in table.raters.items() if kind == "clinician"]) == 3


def test_of_two_includes_the_one_that_began_earlier_does_not_put_older_ratings_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    panel, _ = closed_panel(tmp_path, [same("4", "2"), same("1", "1")], close=False, panel="humans: panel\n")
    assert panel.study is not None
    collected, go_on, second_came = threading.Event(), threading.Event(), threading.Event()

    def slowly(study: RatedStudy, ratings: object) -> None:
        if not collected.is_set():  # the first has read what there is, and is held up
            collected.set()
            assert go_on.wait(60)

    def waits(_: float) -> None:
        second_came.set()
        go_on.wait(60)

    monkeypatch.setattr("medjury.panel._exchange._collecting.refuse_changed", slowly)
    monkeypatch.setattr("medjury.panel._exchange._collecting.sleep", waits)
    with ThreadPoolExecutor(2) as threads:
        first = threads.submit(include, panel.study, panel.database)
        assert collected.wait(60)
        app = make_app(panel)
        one = rater(app, "Dr Late")
        assert one.rate(one.codes()[0], **GOOD).status_code == 303
        second = threads.submit(include, panel.study, panel.database)
        while not second_came.is_set() and not second.done():
            wait([second], timeout=0.05)
        go_on.set()
        assert (first.result(60)[0], second.result(60)[0]) == (12, 15)
    kept = polars.read_parquet(panel_file(panel.study.file, panel.study.name))
    assert set(kept["rater"]) == {"Dr Wallaby 0", "Dr Wallaby 1", "Dr Late"} and len(kept) == 15
    panel.database.close()
