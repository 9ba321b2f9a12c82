"""`medjury run` before a reader at a terminal: judges as they go on, and every word once."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from tests.cli.in_terminal import in_terminal

from medjury.judging import Progress
from medjury.store.runs import Coverage, Manifest
from medjury.studies import load_study
from medjury.studies._run.conclude import WorkDone, judge_outcome

Write = Callable[..., Path]


def test_a_run_that_fails_says_so_once_and_shows_what_is_unscored(write_study: Write, tmp_path: Path) -> None:
    cases = [
        {"id": f"c{n}", "candidate": "[[loopback:refusal]]" if n < 2 else "fine", "texts": {"context": "n"}}
        for n in range(10)
    ]
    study = write_study(cases=cases)
    status, seen = in_terminal("run", str(study), folder=tmp_path)
    assert status == 1
    assert seen.count("FAILED: 20.0 % of the ratings are unscored") == 1
    juror = [line for line in seen.splitlines() if line.startswith("juror ")][-1]
    assert "10/10" in juror and "6 refusal" in juror
    assert "sections" in seen, "the report's bar"
    assert max(len(line) for line in seen.splitlines() if str(tmp_path) not in line) <= 80
    counted = re.search(r"[\d,]+ of [\d,]+ ratings scored", seen)
    page = (tmp_path / "runs" / "small" / "report.html").read_text()
    assert counted is not None and counted.group() in page, "the report counts as the terminal does"


def test_an_interruption_after_the_last_answer_leaves_nothing_to_go_on_with(write_study: Write) -> None:
    study = load_study(write_study())
    all_done = WorkDone(Progress(planned=6, judged=6), interrupted=True)
    assert judge_outcome(study, all_done, Coverage(ratings=6, scored=6), Manifest()) == ("complete", "")
    before = WorkDone(Progress(planned=6, judged=5), interrupted=True)
    assert judge_outcome(study, before, Coverage(ratings=5, scored=5), Manifest())[0] == "incomplete"
