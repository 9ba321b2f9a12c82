"""Alarms leave the machine only where the study allows it, and never with a text, a case or a patient."""

from __future__ import annotations

import http.client
import json
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from medjury.foundation.errors import MedjuryError
from medjury.in_use.watching._settings import WatchStudy
from medjury.in_use.watching._state import Alarm, State
from medjury.models import forbidden, host_of, is_local, normal_hosts

if TYPE_CHECKING:
    from medjury.in_use.watching._status import Watched

_SECONDS = 10
_GAUGES = {
    "cases": "cases seen so far",
    "scored": "cases that the jury scored",
    "outside": "cases outside what was validated",
    "rated": "cases that clinicians rated",
    "alarm": "1 while the quantity is in alarm, else 0",
    "mean": "the estimate",
    "low": "lower end of an interval that holds whenever one looks",
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
                state.told(alarm.number)


def _taken(address: str, study: WatchStudy, alarm: Alarm) -> bool:
    """No redirect is followed, and no proxy of the environment is used."""
    parts = urlsplit(address)
    kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    connection = kind(parts.hostname or "", parts.port, timeout=_SECONDS)
    said = {
        "study": study.name,
        "alarm": alarm.number,
        "quantity": alarm.quantity,
        "event": alarm.event,
        "at": alarm.at,
        **alarm.found,
    }
    place = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    try:
        connection.request("POST", place, json.dumps(said), {"Content-Type": "application/json"})
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
        name: meter.create_gauge(f"medjury.watch.{name}", description=said) for name, said in _GAUGES.items()
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
            said: dict[str, str | float] = {"gen_ai.evaluation.name": each.name}
            said["gen_ai.evaluation.score.label"] = each.state
            if each.mean is not None:
                said["gen_ai.evaluation.score.value"] = each.mean
            span.add_event("gen_ai.evaluation.result", said)
