"""One look at a jury in use: judge what is new, take in what clinicians said, raise what must be raised."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

from medjury.cases import write_cases
from medjury.files import private_folder
from medjury.passports import Judged, judge_with_passport, read_passport
from medjury.studies import only_run
from medjury.watching._quantities import BY_CLINICIANS, BY_JURY, Quantity, Watching, watching_of
from medjury.watching._review import is_drawn, labels_of, probability_of, write_queue
from medjury.watching._settings import WatchStudy, load_watch
from medjury.watching._sources import Taken, finished, take
from medjury.watching._state import State, WatchedCase
from medjury.watching._status import Watched, write_status
from medjury.watching._telling import tell, traced

JURY = "jury"  # the name of the alarm that another model answers


def watch(path: str | Path, *, now: datetime | None = None, preflight: bool = True) -> Watched:
    """Judge every new case of a study's source, batch by batch, and tell what was found. Start it again at any
    time: it goes on where it was, also after it was killed, and raises no alarm twice."""
    study = load_watch(path)
    private_folder(study.folder)
    with only_run(study.folder):
        state = State(study.folder)
        try:
            return _look(study, state, now, preflight)
        finally:
            state.close()


def _look(study: WatchStudy, state: State, now: datetime | None, preflight: bool) -> Watched:
    passport = read_passport(study.place(study.settings.passport))
    dimension, scale = watching_of(passport, study.settings)
    with state.whole():
        state.hold(
            "passport", passport.hash, "this folder holds a watch by another passport; name another `folder`"
        )
        rules = study.settings.model_dump_json(include={"limits", "alpha", "review", "dimension"})
        state.hold("rules", rules, "limits, alpha or review were changed, and what was promised holds for the old "
                   "ones alone; bring them back, or name another `folder`")  # fmt: skip
    status, why = "complete", ""
    while (number := _next(study, state)) is not None:
        folder = _folder(study, number)
        judged = judge_with_passport(
            study.place(study.settings.passport),
            folder / "cases.jsonl",
            folder / f"judged-{state.fact(f'void {number}') or 0}",
            override=None if study.settings.override is None else study.place(study.settings.override),
            preflight=preflight,
            now=now,
        )
        status, why = judged.status, judged.why
        if status == "void":
            _void(state, number, _at(now))
        if status in ("void", "incomplete"):
            break
        _take_in(study, state, number, judged, dimension, scale, now)
        finished(study, state.rows_of(number))
        preflight = False
    with state.whole():
        state.label(labels_of(study, dimension))
        _settle(study, state, scale, now)
    tell(study, state)
    found = Watched.of(study, state, _quantities(study, state, scale), scale, status, why)
    write_status(study, found)
    traced(found)
    return found


def _void(state: State, number: int, at: str) -> None:
    """Another model answers: that is an alarm until the validated one does. What it said is kept and not used."""
    with state.whole():
        state.remember(f"void {number}", (state.fact(f"void {number}") or 0) + 1)
        _turn(state, "alarm", at)


def _turn(state: State, event: str, at: str) -> None:
    """Raise or end the alarm about the jury itself, once."""
    last = [each.event for each in state.alarms() if each.quantity == JURY]
    if (last[-1] if last else "recovered") != event:
        state.raise_alarm(JURY, event, {"case": state.counts()["cases"]}, at)


def _next(study: WatchStudy, state: State) -> int | None:
    """The batch to be judged: the one that was left unfinished, else what is new."""
    number = state.unfinished()
    if number is not None:
        return number
    number = state.next_batch()
    folder = _folder(study, number)
    private_folder(folder)
    taken = take(study, state, folder)
    while taken.more and not taken.cases:  # all of them were judged, and their rows not yet marked
        finished(study, taken.rows)
        with state.whole():
            _remember(state, taken)
        taken = take(study, state, folder)
    if taken.cases:
        write_cases(taken.cases, folder / "cases.jsonl")
    with state.whole():
        _remember(state, taken)
        if taken.cases:
            keys = dict.fromkeys((case.id, case.system) for case in taken.cases)
            state.take_batch(number, [*keys], taken.rows)
    return number if taken.cases else None


def _remember(state: State, taken: Taken) -> None:
    for name, mark in taken.marks.items():
        state.remember(f"mark {name}", mark)


def _take_in(
    study: WatchStudy,
    state: State,
    number: int,
    judged: Judged,
    dimension: str,
    scale: Watching,
    now: datetime | None,
) -> None:
    """What the jury said of a batch, and every alarm that comes of it, in one step."""
    scores = judged.scores(dimension)
    review, at = study.settings.review, _at(now)
    rows = []
    for (item, system), placed in judged.placed.items():
        score = scores.get((item, system))
        probability, _ = probability_of(review, scale, score, placed.inside)
        drawn = is_drawn(review, item, system, probability)
        rows.append((score, placed.inside, probability, drawn, at, item, system))
    with state.whole():
        state.finish_batch(number, rows)
        _turn(state, "recovered", at)
        cases = [*state.cases(batch=number)]
        _feed(study, state, scale, cases, BY_JURY, at)
    write_queue(_folder(study, number), study, scale, cases)


def _settle(study: WatchStudy, state: State, scale: Watching, now: datetime | None) -> None:
    """Cases in the order of arrival as far as all that were drawn are rated, or waited too long for a rating. One
    that nobody rated counts as what raises no alarm: who rates what, and when, can then raise none either."""
    wait = timedelta(days=study.settings.review.wait_days)
    moment = now or datetime.now(UTC)
    ready: list[WatchedCase] = []
    for case in state.cases(after=state.fact("settled") or 0):
        if case.drawn and case.label is None and moment - datetime.fromisoformat(case.judged_at) < wait:
            break
        ready.append(case)
    if ready:
        _feed(study, state, scale, ready, BY_CLINICIANS, _at(now))
        state.remember("settled", ready[-1].place)


def _feed(
    study: WatchStudy,
    state: State,
    scale: Watching,
    cases: list[WatchedCase],
    names: tuple[str, ...],
    at: str,
) -> None:
    for quantity in _quantities(study, state, scale):
        if quantity.name not in names:
            continue
        for case in cases:
            value = _value(quantity.name, case, scale)
            event = None if value is None else quantity.update(value)
            if event is not None:
                low, high = (scale.told(quantity.name, end) for end in quantity.sequence.interval)
                limit = study.settings.limits.stated[quantity.name]
                found = {"limit": limit, "case": case.place, "low": min(low, high), "high": max(low, high)}
                state.raise_alarm(quantity.name, event, found, at)
        state.remember(f"quantity {quantity.name}", quantity.state())


def _value(name: str, case: WatchedCase, scale: Watching) -> float | None:
    score = None if case.score is None else scale.quality(case.score)
    label = None if case.label is None else scale.quality(case.label)
    if name == "score":
        return score
    if name == "coverage":
        return float(score is not None)
    if name == "case_mix":
        return float(not case.inside)
    if name == "quality":
        guess = 0.5 if score is None else score
        said = (1.0 if label is None else label) if case.drawn else guess
        return guess + (said - guess) / case.probability
    if not case.drawn or label is None or score is None:
        return 0.0
    return abs(score - label) * scale.least / case.probability


def _quantities(study: WatchStudy, state: State, scale: Watching) -> list[Quantity]:
    made = []
    for name in study.settings.limits.stated:
        known = state.fact(f"quantity {name}")
        made.append(
            Quantity.new(name, study.settings, scale) if known is None else Quantity.from_state(known)
        )
    return made


def _folder(study: WatchStudy, number: int) -> Path:
    return study.folder / f"batch-{number:05d}"


def _at(now: datetime | None) -> str:
    return (now or datetime.now(UTC)).isoformat(timespec="seconds")
