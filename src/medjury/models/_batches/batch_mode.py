"""What endpoints that take batch jobs share: how that is stated, where they are, and what a result without a reply
means."""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import urlsplit, urlunsplit

from medjury.foundation.errors import MedjuryError
from medjury.instruments import Reason
from medjury.models._batches.batch_job import JobResult
from medjury.models._chat import ModelError
from medjury.models._faults import Place, fault

MOST_CALLS = 10_000  # of one job, unless the judge's entry says otherwise
_MODES = ("call", "batch")


def asked_in_batches(mode: str) -> bool:
    if mode not in _MODES:
        raise MedjuryError(f"mode: is {' or '.join(_MODES)}, not {mode!r}")
    return mode == "batch"


def batch_base(chat_address: str) -> str:
    """The address beside which files and jobs are, from that of chat completions."""
    parts = urlsplit(chat_address)
    if parts.query:
        raise MedjuryError("mode: an address with a query takes no batch jobs; take `mode: batch` out")
    return urlunsplit(parts._replace(path=parts.path.removesuffix("/chat/completions")))


def result_fault(place: Place, result: JobResult, words: str, prompt: Iterable[str]) -> ModelError:
    """The error of a call in a job that gave no reply: what has expired or broke is asked again in the next one."""
    if result.expired:
        return ModelError(
            Reason.TIMEOUT, f"the batch job at {place.host} expired before this call", retry=True
        )
    if not result.status:
        found = fault(place, 500, words, prompt)
        return ModelError(found.reason, found.message, retry=True)
    return fault(place, result.status, words, prompt)
