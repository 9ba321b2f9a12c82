"""What a look found: for a reader, for a program, and as a page in the watch's folder."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from html import escape
from pathlib import Path

from medjury.foundation.files import write_whole
from medjury.in_use.watching._confidence_sequence import ConfidenceSequence
from medjury.in_use.watching._quantities import BY_CLINICIANS, Quantity, WatchedScale
from medjury.in_use.watching._settings import WatchStudy
from medjury.in_use.watching._state import Alarm, State

PAGE = "status.html"
_STATUSES = {"complete": 0, "failed": 1, "incomplete": 3, "void": 6}
ALARM_STATUS = 7
_SHARES = ("coverage", "case_mix")  # of cases; all else is in grades


@dataclass(frozen=True, slots=True)
class Window:
    """A mean with its interval, in grades or shares, of so many groups of so many cases; none where there is
    none."""

    mean: float | None
    low: float
    high: float
    groups: int
    n: int


@dataclass(frozen=True, slots=True)
class QuantityFound:
    """A quantity in grades or shares: its mean since the watch began, with an interval that holds whenever you
    look, and the mean of the last cases, with an interval that holds for one look alone."""

    name: str
    state: str
    limit: float
    mean: float | None
    low: float
    high: float
    groups: int
    n: int
    recent: Window


@dataclass(frozen=True, slots=True)
class Watched:
    """The state of a watch after a look."""

    study: str
    folder: Path
    status: str
    why: str
    alpha: float
    counts: Mapping[str, int]
    quantities: Sequence[QuantityFound]
    alarms: Sequence[Alarm]

    @property
    def exit_status(self) -> int:
        """7 while a quantity is in alarm; else 0, 1 failed, 3 incomplete, 6 refused."""
        own = _STATUSES[self.status]
        alarmed = any(each.state == "alarm" for each in self.quantities)
        return own if own not in (0, 1) else ALARM_STATUS if alarmed else own

    def text(self) -> str:
        counts = self.counts
        lines = [f"{self.status.upper()}: {self.why}" if self.why else self.status.upper()]
        lines += [
            f"{each.state.upper()}: {each.name}, limit {_in_units(each, each.limit)}: {_shown(each)}"
            for each in self.quantities
        ]
        lines += [
            f"(a false alarm in the whole stream, of any limit: at most {100 * self.alpha:g} %, {_given(counts)})",
            f"{counts['cases']:,} cases, {counts['scored']:,} scored, {counts['outside']:,} outside what was "
            f"validated; {counts['drawn']:,} drawn for clinicians, {counts['rated']:,} rated",
            *(
                f"{each.at}  {each.event}: {each.quantity} (at case {each.found['case']:,})"
                for each in self.alarms
            ),
            f"Status page: {self.folder / PAGE}",
        ]
        return "\n".join(lines)

    def to_json(self) -> str:
        text = {
            "study": self.study,
            "status": self.status,
            "why": self.why,
            "exit_status": self.exit_status,
            "alpha": self.alpha,
            **self.counts,
            "quantities": [asdict(each) for each in self.quantities],
            "alarms": [asdict(each) for each in self.alarms],
        }
        return json.dumps(text, indent=1)


def write_status(study: WatchStudy, found: Watched) -> None:
    """A page that needs nothing else: `status.html`."""
    rows = "".join(
        f"<tr class='{each.state}'><th>{escape(each.name)}<td>{each.state}<td>{escape(_in_units(each, each.limit))}"
        f"<td>{escape(_shown(each))}"
        for each in found.quantities
    )
    alarms = "".join(
        f"<li>{escape(each.at)}: {escape(each.event)}, {escape(each.quantity)}" for each in found.alarms
    )
    head = (
        "body{font:16px sans-serif;margin:2em}td,th{padding:.3em 1em;text-align:left}.alarm{background:#fdd}"
    )
    write_whole(
        study.folder / PAGE,
        f"<!doctype html><meta charset='utf-8'><title>{escape(study.name)}</title><style>{head}</style>"
        f"<h1>{escape(study.name)}</h1><pre>{escape(found.text())}</pre>"
        f"<table><tr><th>watched<th>state<th>limit<th>mean{rows}</table><ul>{alarms}</ul>",
    )


def found_of(quantity: Quantity, study: WatchStudy, state: State, scale: WatchedScale) -> QuantityFound:
    """What is known of a quantity after a look."""
    name, settings = quantity.name, study.settings
    fed = state.fact("fed by clinicians" if name in BY_CLINICIANS else "fed by jury") or 0
    last: dict[str, list[float]] = {}
    for case in state.latest(fed, settings.recent):
        if (value := scale.value(name, case)) is not None:
            last.setdefault(case.cluster, []).append(value)
    recent = ConfidenceSequence(settings.alpha, *scale.ends(name))
    for values in last.values():
        recent.update(sum(values) / len(values))
    whole = _window(quantity.sequence, quantity.cases, name, scale)
    return QuantityFound(
        name,
        "alarm" if quantity.alarmed else "quiet",
        settings.limits.stated[name],
        **asdict(whole),
        recent=_window(recent, sum(map(len, last.values())), name, scale),
    )


def _window(sequence: ConfidenceSequence, cases: int, name: str, scale: WatchedScale) -> Window:
    low, high = sorted(scale.in_units(name, end) for end in sequence.interval)
    mean = None if sequence.mean is None else scale.in_units(name, sequence.mean)
    return Window(mean, low, high, sequence.n, cases)


def _given(counts: Mapping[str, int]) -> str:
    """What must be independent for that to hold."""
    kinds = {"patients": counts["by_patient"], "days": counts["by_day"], "cases": counts["by_case"]}
    found = [
        f"{kind} ({n:,} cases)" if kind != "cases" else f"cases ({n:,})" for kind, n in kinds.items() if n
    ]
    return f"if {' and '.join(found) or 'cases'} are independent of one another"


def _shown(each: QuantityFound) -> str:
    if each.mean is None:
        return "nothing yet"
    recent = f"; the last {_mean(each, each.recent)}" if each.recent.n < each.n else ""
    return f"{_mean(each, each)}{recent}"


def _mean(each: QuantityFound, shown: QuantityFound | Window) -> str:
    if shown.mean is None:
        return "cases have none"
    times = 100 if each.name in _SHARES else 1
    ends = f"{times * shown.low:.3g} to {times * shown.high:.3g}"
    seen = (
        f"{shown.n:,} cases" if shown.n == shown.groups else f"{shown.n:,} cases in {shown.groups:,} groups"
    )
    return f"{seen}: mean {_in_units(each, shown.mean)} ({ends})"


def _in_units(each: QuantityFound, value: float) -> str:
    return f"{100 * value:.3g} %" if each.name in _SHARES else f"{value:.3g} grades"
