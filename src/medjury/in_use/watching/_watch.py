"""One look at a jury in use: judge what is new, take in what clinicians said, raise what must be raised."""

from __future__ import annotations

import hashlib
import http.client
import json
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from urllib.parse import urlsplit

from medjury.analysis.calibration import QueueRow, ReviewQueue, write_frame
from medjury.foundation.errors import MedjuryError
from medjury.foundation.files import private_folder
from medjury.in_use.passports import judge_with_passport, read_passport
from medjury.in_use.watching._quantities import BY_CLINICIANS, BY_JURY, Quantity, WatchedScale, watched_scale
from medjury.in_use.watching._settings import ReviewPart, WatchPart, WatchStudy, load_watch
from medjury.in_use.watching._sources import Taken, finished, take
from medjury.in_use.watching._state import Alarm, State, WatchedCase
from medjury.in_use.watching._status import Watched, found_of, write_status
from medjury.intake import NoRowsError
from medjury.intake.cases import Case, read_cases, write_cases
from medjury.models import forbidden, host_of, is_local, normal_hosts
from medjury.store.ratings import read_ratings
from medjury.studies import HashedCases, only_run

# Alarms leave the machine only where the study allows it, and never with a text, a case or a patient.

_SECONDS = 10
_GAUGES = {
    "cases": "cases seen so far",
    "scored": "cases that the jury scored",
    "outside": "cases outside what was validated",
    "rated": "cases that clinicians rated",
    "alarm": "1 while the quantity is in alarm, else 0",
    "mean": "the estimate",
    "low": "lower end of an interval that holds whenever you look",
    "high": "upper end of it",
}


def tell(study: WatchStudy, state: State) -> None:
    """Send every alarm that was not sent yet. Where the host does not take it, it is sent with the next look; the
    number of an alarm is the same each time."""
    address = study.settings.webhook
    if address is None:
        return
    host = host_of(address)
    if not is_local(host) and host not in normal_hosts(study.allow_hosts):
        raise MedjuryError(forbidden(host, "the webhook"))
    for alarm in state.alarms(untold=True):
        if _taken(address, study, alarm):
            with state.whole():
                state.mark_sent(alarm.number)


def _taken(address: str, study: WatchStudy, alarm: Alarm) -> bool:
    """No redirect is followed, and no proxy of the environment is used."""
    parts = urlsplit(address)
    kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    connection = kind(parts.hostname or "", parts.port, timeout=_SECONDS)
    text = {
        "study": study.name,
        "alarm": alarm.number,
        "quantity": alarm.quantity,
        "event": alarm.event,
        "at": alarm.at,
        **alarm.found,
    }
    place = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    try:
        connection.request("POST", place, json.dumps(text), {"Content-Type": "application/json"})
        return 200 <= connection.getresponse().status < 300
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def traced(found: Watched) -> None:
    """Estimates and states for OpenTelemetry, where its API is installed and the program set up an exporter: an
    evaluation result for each quantity, under the conventions for generative AI, and the same as measurements."""
    try:
        from opentelemetry import metrics, trace
    except ModuleNotFoundError:
        return
    meter = metrics.get_meter("medjury.watch")
    gauges = {
        name: meter.create_gauge(f"medjury.watch.{name}", description=text) for name, text in _GAUGES.items()
    }
    for name in ("cases", "scored", "outside", "rated"):
        gauges[name].set(found.counts[name], {"medjury.study": found.study})
    for each in found.quantities:
        about = {"medjury.study": found.study, "gen_ai.evaluation.name": each.name}
        gauges["alarm"].set(int(each.state == "alarm"), about)
        if each.mean is not None:
            for name in ("mean", "low", "high"):
                gauges[name].set(getattr(each, name), about)
    with trace.get_tracer("medjury.watch").start_as_current_span("evaluate medjury") as span:
        span.set_attribute("gen_ai.operation.name", "evaluate")
        span.set_attribute("medjury.watch.cases", found.counts["cases"])
        for each in found.quantities:
            text: dict[str, str | float] = {"gen_ai.evaluation.name": each.name}
            text["gen_ai.evaluation.score.label"] = each.state
            if each.mean is not None:
                text["gen_ai.evaluation.score.value"] = each.mean
            span.add_event("gen_ai.evaluation.result", text)


# Which cases clinicians read, and the queue that the panel takes: drawn by stated probabilities.

QUEUE = "queue.csv"


def probability_of(
    review: ReviewPart, scale: WatchedScale, score: float | None, inside: bool
) -> tuple[float, str]:
    """With which probability a case is read, and why."""
    if score is None:
        return review.doubtful, "the jury gave no score"
    if not inside:
        return review.doubtful, "outside what was validated"
    if review.threshold is not None and scale.quality(score) <= scale.quality(review.threshold):
        return review.doubtful, "at or beyond the threshold"
    return review.share, "drawn"


def is_drawn(review: ReviewPart, item: str, system: str, probability: float) -> bool:
    """By a number from the seed and the case's name alone: anybody can draw again."""
    digest = hashlib.sha256(
        f"{review.seed}\0watch\0{item}\0{system}".encode("utf-8", "surrogatepass")
    ).digest()
    return int.from_bytes(digest[:8], "big") / 2.0**64 < probability


def write_queue(
    folder: Path, study: WatchStudy, scale: WatchedScale, cases: Sequence[WatchedCase]
) -> Path | None:
    """The batch's queue beside its cases, as a round of the panel takes it (`draw:`); none where none is drawn."""
    if not any(case.drawn for case in cases):
        return None
    review = study.settings.review
    hashed = HashedCases(read_cases(folder / "cases.jsonl"))
    for _ in hashed:
        pass
    rule = f"watch: share {review.share:g}, doubtful {review.doubtful:g}, threshold {review.threshold}"
    places = iter(range(len(cases)))
    ordered = sorted(cases, key=lambda case: not case.drawn)
    rows = [
        QueueRow(
            case.item,
            case.system,
            case.drawn,
            next(places) if case.drawn else None,
            case.probability,
            probability_of(review, scale, case.score, case.inside)[1],
            review.seed,
            rule,
            hashed.hash,
        )
        for case in ordered
    ]
    file = folder / QUEUE
    write_frame(ReviewQueue(QueueRow.sealed(rows), (), {"rule": rule}).frame(), file)
    return file


def labels_of(study: WatchStudy, dimension: str) -> list[tuple[float, str, str]]:
    """The clinicians' mean grade of each rated case; none where their file is not there yet, or has no row yet."""
    name = study.settings.review.ratings
    file = None if name is None else study.place(name)
    if file is None or not file.is_file():
        return []
    found: dict[tuple[str, str], list[float]] = {}
    try:
        ratings = read_ratings(file).ratings
    except NoRowsError:
        return []
    for rating in ratings:
        if rating.dimension == dimension and rating.score is not None:
            found.setdefault((rating.item, rating.system), []).append(rating.score)
    return [(sum(grades) / len(grades), *key) for key, grades in found.items()]


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
    dimension, scale = watched_scale(passport, study.settings)
    with state.whole():
        state.hold(
            "passport", passport.hash, "this folder holds a watch by another passport; name another `folder`"
        )
        rules = study.settings.model_dump_json(include={"limits", "alpha", "by", "review", "dimension"})
        state.hold("rules", rules, "limits, alpha, by or review were changed, and what was promised holds only "
                   "for the old ones; bring them back, or name another `folder`")  # fmt: skip
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
        scores = judged.scores(dimension)
        placed = {key: (scores.get(key), each.inside) for key, each in judged.placed.items()}
        _take_in(study, state, number, placed, scale, now)
        finished(study, state.rows_of(number))
        preflight = False
    with state.whole():
        state.label(labels_of(study, dimension))
        for names in (BY_JURY, BY_CLINICIANS):
            _advance(study, state, scale, names, now)
    tell(study, state)
    quantities = [found_of(each, study, state, scale) for each in _quantities(study, state, scale)]
    alpha = study.settings.alpha
    found = Watched(study.name, study.folder, status, why, alpha, state.counts(), quantities, state.alarms())
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
            clusters: dict[tuple[str, str], str] = {}
            for case in taken.cases:
                clusters.setdefault((case.id, case.system), _cluster(case, study.settings))
            state.take_batch(number, [(*key, own) for key, own in clusters.items()], taken.rows)
    return number if taken.cases else None


def _cluster(case: Case, settings: WatchPart) -> str:
    """What a case belongs to: `day 2026-03-01`, or a patient or a case under a name that does not say which."""
    if settings.by == "patient" and case.patient:
        kind, name = "patient", case.patient
    elif settings.by != "case" and (day := _day(case)):
        return f"day {day}"
    else:
        kind, name = "case", case.id
    hashed = hashlib.sha256(f"{settings.review.seed}\0{kind}\0{name}".encode("utf-8", "surrogatepass"))
    return f"{kind} {hashed.hexdigest()[:32]}"


def _day(case: Case) -> str | None:
    try:
        return date.fromisoformat(str(case.metadata.get("date"))[:10]).isoformat()
    except ValueError:
        return None


def _remember(state: State, taken: Taken) -> None:
    for name, mark in taken.marks.items():
        state.remember(f"mark {name}", mark)


def _take_in(
    study: WatchStudy,
    state: State,
    number: int,
    placed: Mapping[tuple[str, str], tuple[float | None, bool]],
    scale: WatchedScale,
    now: datetime | None,
) -> None:
    """What the jury said of a batch (each case's score, and whether it lies inside), and every alarm that comes of
    it, in one step."""
    review, at = study.settings.review, _at(now)
    rows = []
    for (item, system), (score, inside) in placed.items():
        probability, _ = probability_of(review, scale, score, inside)
        drawn = is_drawn(review, item, system, probability)
        rows.append((score, inside, probability, drawn, at, item, system))
    with state.whole():
        state.finish_batch(number, rows)
        _turn(state, "recovered", at)
        _advance(study, state, scale, BY_JURY, now)
    write_queue(_folder(study, number), study, scale, state.cases(number))


def _advance(
    study: WatchStudy, state: State, scale: WatchedScale, names: tuple[str, ...], now: datetime | None
) -> None:
    """Take the groups that are whole, in the order in which they began; stop at the first that is not."""
    who = "clinicians" if names is BY_CLINICIANS else "jury"
    moment = now or datetime.now(UTC)
    ready: list[list[WatchedCase]] = []
    for cases in state.groups(state.fact(f"fed by {who}") or 0):
        if _day_goes_on(state, cases, moment) or (who == "clinicians" and _waits(study, cases, moment)):
            break
        ready.append(cases)
    if not ready:
        return
    for quantity in _quantities(study, state, scale):
        if quantity.name in names:
            for cases in ready:
                _bet(study, state, scale, quantity, cases, _at(now))
            state.remember(f"quantity {quantity.name}", quantity.state())
    state.remember(f"fed by {who}", ready[-1][0].grouped)


def _day_goes_on(state: State, cases: list[WatchedCase], moment: datetime) -> bool:
    """Whether more cases of the same day may come: it is today, and none of a later day came."""
    kind, _, name = cases[0].cluster.partition(" ")
    return kind == "day" and name >= moment.date().isoformat() and state.is_last_day(cases[0].cluster)


def _waits(study: WatchStudy, cases: list[WatchedCase], moment: datetime) -> bool:
    """Whether a drawn case waits for a rating, and not yet too long. One that nobody rated counts as what raises no
    alarm; which cases count together was settled before anybody rated. So who rates what, and when, raises none."""
    wait = timedelta(days=study.settings.review.wait_days)
    waiting = (case.judged_at for case in cases if case.drawn and case.label is None)
    return any(moment - datetime.fromisoformat(each) < wait for each in waiting)


def _bet(
    study: WatchStudy,
    state: State,
    scale: WatchedScale,
    quantity: Quantity,
    cases: list[WatchedCase],
    at: str,
) -> None:
    """One group of cases for one quantity, and the alarm that comes of it."""
    values = [value for case in cases if (value := scale.value(quantity.name, case)) is not None]
    if not values:
        return
    name, cluster = quantity.name, cases[0].cluster
    groups, known = state.known(name, cluster)
    event = quantity.update(values, groups, known)
    state.know(name, cluster, groups + 1, quantity.test.generation)
    if event is not None:
        low, high = sorted(scale.in_units(name, end) for end in quantity.sequence.interval)
        limit = study.settings.limits.stated[name]
        found = {"limit": limit, "case": max(case.place for case in cases), "low": low, "high": high}
        state.raise_alarm(name, event, found, at)


def _quantities(study: WatchStudy, state: State, scale: WatchedScale) -> list[Quantity]:
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
