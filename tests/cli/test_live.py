"""The live display: every judge with what is done, stored and unscored, the pace, the money and the time left."""

from __future__ import annotations

import io

from medjury.cli._display import LiveDisplay, ProgressLine
from medjury.instruments import Reason
from medjury.judging import Progress


class Screen(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def progress() -> Progress:
    """Two judges of ten units each: one found five stored and did two, one has two without a score."""
    found = Progress(planned=20, judges={"north": Progress(planned=10), "south [old]": Progress(planned=10)})
    for _ in range(5):
        found.find("north")
    for judge, count in (("north", 2), ("south [old]", 3)):
        for _ in range(count):
            found.note((), judge)
    found.unscored[Reason.PARSE] = found.judges["south [old]"].unscored[Reason.PARSE] = 2
    found.calls = 30
    return found


def test_every_judge_and_the_whole_run_are_shown() -> None:
    screen, clock = Screen(), Clock()
    live = LiveDisplay(screen, clock)
    live(Progress(), 0.0, "USD")
    at_work = progress()
    clock.now = 1.0
    live(at_work, 0.5, "USD")
    clock.now = 11.0
    screen.truncate(0)
    live(at_work, 0.5, "USD")
    seen = screen.getvalue()
    north, south = (next(line for line in seen.splitlines() if name in line) for name in ("north", "south"))
    assert "7/10" in north and "71 %" in north and "none" in north
    assert "south [old]" in south and "3/10" in south and "0 %" in south and "2 parse" in south
    assert "all: 10 of 20" in seen and "3 calls/s" in seen and "0.5 USD" in seen and "20 s left" in seen
    live.finish(at_work, None, "USD")
    assert "cost not known" in screen.getvalue()
    assert screen.getvalue().rstrip().endswith("\x1b[?25h"), "the cursor is given back"


def test_it_is_not_drawn_more_often_than_a_reader_can_see() -> None:
    screen, clock = Screen(), Clock()
    live = LiveDisplay(screen, clock)
    live(progress(), 0.0, "USD")
    drawn = screen.getvalue()
    clock.now = 0.1
    live(progress(), 0.0, "USD")
    assert screen.getvalue() == drawn
    live.close()


def test_the_last_state_stays_though_it_came_too_soon_to_be_drawn() -> None:
    screen, clock = Screen(), Clock()
    live = LiveDisplay(screen, clock)
    at_work = progress()
    live(at_work, 0.0, "USD")
    at_work.note((), "north")
    live(at_work, 0.0, "USD")
    assert "all: 11 of 20" not in screen.getvalue()
    live.close()
    assert "all: 11 of 20" in screen.getvalue()


def test_the_bar_of_the_report_goes_away() -> None:
    screen = Screen()
    live = LiveDisplay(screen)
    live.step(3, 34, "severe")
    assert "3 of 34 sections" in screen.getvalue() and "severe" in screen.getvalue()
    live.close()
    assert screen.getvalue().endswith("\x1b[1A\x1b[2K")


def test_a_log_gets_plain_lines() -> None:
    log, clock = io.StringIO(), Clock()
    line = ProgressLine(log, clock)
    line.step(1, 34, "severe")
    clock.now = 10.0
    line.finish(progress(), 0.5, "USD")
    assert log.getvalue() == (
        "[############............] 10 of 20 (50 %) · 5 already stored · unscored: 2 parse · 0.5 USD · 20 s left\n"
    )


def test_after_ctrl_c_it_says_what_is_waited_for() -> None:
    screen, clock, log = Screen(), Clock(), io.StringIO()
    live, line = LiveDisplay(screen, clock), ProgressLine(log, clock)
    at_work = progress()
    for show in (live, line):
        show(at_work, 0.5, "USD")
    at_work.stopping = True
    clock.now = 1.0
    for show in (live, line):
        show(at_work, 0.5, "USD")
    said = "Stopping: waiting for answers on their way. Ctrl-C again ends at once."
    assert said in screen.getvalue() and log.getvalue().splitlines()[-1] == said
    live.finish(at_work, 0.5, "USD")
    line.finish(at_work, 0.5, "USD")
    assert "10 of 20" in log.getvalue().splitlines()[-1] and "all: 10 of 20" in screen.getvalue()
