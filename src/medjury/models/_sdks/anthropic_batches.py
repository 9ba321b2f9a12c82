"""Batch jobs as Anthropic takes them: one request with all calls, and their results line by line.

A job has no name of ours. One whose submission was never confirmed is found by its calls: each carries its key.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime, timedelta

from medjury.instruments import Reason
from medjury.models._batches.batch_job import Job, JobResult, JobState
from medjury.models._batches.batch_provider import BatchProvider
from medjury.models._chat import Request
from medjury.models._faults import LostReplyError
from medjury.models._reply_fields import fields

_PATH = "/v1/messages/batches"
_CLOCKS = timedelta(minutes=10)  # between ours and the provider's
_MOST_PAGES = 50
# What the provider calls an error, as the HTTP status that it would have been.
_STATUS = {
    "invalid_request_error": 400, "authentication_error": 401, "permission_error": 403, "not_found_error": 404,
    "request_too_large": 413, "rate_limit_error": 429, "api_error": 500, "overloaded_error": 529,
}  # fmt: skip


class AnthropicBatches(BatchProvider):
    """One request with all calls of a job; `made` gives the parameters of one call."""

    async def submit(self, job: str, calls: Sequence[tuple[str, Request]]) -> str:
        asked = [{"custom_id": key, "params": self._made(request)} for key, request in calls]
        self._note(calls)
        body = json.dumps({"requests": asked}, ensure_ascii=False).encode()
        return str((await self._wire.told("POST", _PATH, body=body))["id"])

    async def find(self, job: Job) -> str | None:
        """Jobs made since the intent with as many calls may be ours; the first result of each tells. One that has
        not ended yet cannot tell: then nobody knows, and nothing may be asked again."""
        since = datetime.fromisoformat(job.created_at) - _CLOCKS
        ours = {call.key for call in job.calls}
        unknown, after = False, ""
        for _ in range(_MOST_PAGES):
            page = await self._wire.told("GET", f"{_PATH}?limit=100{after}")
            for each in page.get("data") or ():
                told = fields(each)
                if _moment(told.get("created_at")) < since:
                    return self._undecided(unknown)
                if sum(n for n in fields(told.get("request_counts")).values() if isinstance(n, int)) != len(
                    ours
                ):
                    continue
                if told.get("processing_status") != "ended":
                    unknown = True
                elif await self._holds(str(told["id"]), ours):
                    return str(told["id"])
            if not page.get("has_more") or not page.get("last_id"):
                break
            after = f"&after_id={page['last_id']}"
        return self._undecided(unknown)

    async def _holds(self, provider_id: str, ours: set[str]) -> bool:
        async for result in self.results(provider_id):
            return result.key in ours
        return False

    @staticmethod
    def _undecided(unknown: bool) -> None:
        if unknown:
            told = (
                "a batch job that may be ours has not ended yet, and only its results tell; run again later"
            )
            raise LostReplyError(Reason.PROVIDER, told, retry=True)

    async def look(self, provider_id: str) -> JobState:
        told = await self._wire.told("GET", f"{_PATH}/{provider_id}")
        return JobState("ended" if told.get("processing_status") == "ended" else "open")

    async def results(self, provider_id: str) -> AsyncIterator[JobResult]:
        payload = await self._wire.send("GET", f"{_PATH}/{provider_id}/results")
        for result in self._results_in(payload, _result):
            yield result


def _moment(told: object) -> datetime:
    try:
        moment = datetime.fromisoformat(str(told))
    except ValueError:
        return datetime.max.replace(tzinfo=UTC)  # of a job without a time nothing is known
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _result(line: bytes) -> JobResult | None:
    """What a line says of its call; None where it says nothing that can be read."""
    try:
        loaded = fields(json.loads(line))
    except (ValueError, RecursionError):
        return None
    key, result = loaded.get("custom_id"), fields(loaded.get("result"))
    if not isinstance(key, str):
        return None
    if result.get("type") == "succeeded":
        return JobResult(key, 200, json.dumps(result.get("message")).encode())
    error = fields(fields(result.get("error")).get("error")) or fields(result.get("error"))
    status = _STATUS.get(str(error.get("type")), 500 if error else 0)
    return JobResult(key, status, json.dumps({"error": error}).encode(), result.get("type") == "expired")
