"""Batch jobs as OpenAI takes them: a file of requests, a job that names it, a file of answers and one of errors."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence

from medjury.models._batches.batch_job import Job, JobResult, JobState, State
from medjury.models._batches.batch_provider import BatchProvider
from medjury.models._chat import Request
from medjury.models._reply_fields import fields

_ENDPOINT = "/v1/chat/completions"
_NAME = "medjury_job"  # in the job's metadata, by which it is found again
_STATES: dict[str, State] = {
    "completed": "ended", "cancelled": "ended", "expired": "expired", "failed": "failed",
}  # fmt: skip
_MOST_PAGES = 50


class OpenAIBatches(BatchProvider):
    """A file with a line for each call of a job; `made` gives the body of one call."""

    async def submit(self, job: str, calls: Sequence[tuple[str, Request]]) -> str:
        import aiohttp

        lines = [
            b'{"custom_id":"%s","method":"POST","url":"%s","body":%s}\n'
            % (key.encode(), _ENDPOINT.encode(), self._made(request))
            for key, request in calls
        ]
        self._note(calls)
        form = aiohttp.FormData()
        form.add_field("purpose", "batch")
        form.add_field("file", b"".join(lines), filename=f"{job}.jsonl", content_type="application/jsonl")
        file = await self._wire.told("POST", "/files", data=form)
        asked = {
            "input_file_id": file["id"],
            "endpoint": _ENDPOINT,
            "completion_window": "24h",
            "metadata": {_NAME: job},
        }
        made = await self._wire.told("POST", "/batches", body=json.dumps(asked).encode())
        return str(made["id"])

    async def find(self, job: Job) -> str | None:
        after = ""
        for _ in range(_MOST_PAGES):
            page = await self._wire.told("GET", f"/batches?limit=100{after}")
            for each in page.get("data") or ():
                if fields(fields(each).get("metadata")).get(_NAME) == job.id:
                    return str(each["id"])
            if not page.get("has_more") or not page.get("last_id"):
                return None
            after = f"&after={page['last_id']}"
        return None

    async def look(self, provider_id: str) -> JobState:
        told = await self._wire.told("GET", f"/batches/{provider_id}")
        errors = fields(told.get("errors")).get("data") or ()
        why = "; ".join(str(fields(each).get("message", "")) for each in errors[:3])
        return JobState(_STATES.get(str(told.get("status")), "open"), why)

    async def results(self, provider_id: str) -> AsyncIterator[JobResult]:
        told = await self._wire.told("GET", f"/batches/{provider_id}")
        for name in ("output_file_id", "error_file_id"):
            if file := told.get(name):
                payload = await self._wire.send("GET", f"/files/{file}/content")
                for result in self._results_in(payload, _result):
                    yield result


def _result(line: bytes) -> JobResult | None:
    """What a line says of its call; None where it says nothing that can be read."""
    try:
        loaded = fields(json.loads(line))
    except (ValueError, RecursionError):
        return None
    key, response, error = loaded.get("custom_id"), fields(loaded.get("response")), loaded.get("error")
    if not isinstance(key, str):
        return None
    status = response.get("status_code")
    if isinstance(status, int) and not error:
        return JobResult(key, status, json.dumps(response.get("body")).encode())
    expired = fields(error).get("code") == "batch_expired"
    return JobResult(key, 0, json.dumps({"error": error}).encode(), expired)
