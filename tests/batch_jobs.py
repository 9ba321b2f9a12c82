"""Batch jobs at the loopback endpoint, in OpenAI's and in Anthropic's way, with the ways in which they go wrong."""

from __future__ import annotations

import asyncio
import json
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from aiohttp import web

_MESSAGES = "/v1/messages/batches"
_PATHS = re.compile(r"/v1/(files|batches|messages/batches)(/|$)")
# Answers one call of a job: its status and its body.
Line = Callable[[str, dict[str, Any]], tuple[int, dict[str, Any]]]


@dataclass
class BatchJobs:
    """`looks` is how often a job is looked at before it has ended. `expires_after` calls of a job the rest expire;
    results come in reverse with `reverse`, and each twice with `twice`. While `loses` is above 0, a submission
    arrives and nobody is told; while `refuses` is above 0, it is answered with `refusal` and does not arrive.
    While `silent`, a submission has arrived and is not answered yet. `paid` counts the answers to each call, `held`
    keeps jobs from ending, `losing` takes results out."""

    looks: int = 1
    expires_after: int | None = None
    reverse: bool = False
    twice: bool = False
    loses: int = 0
    refuses: int = 0
    refusal: int = 500
    held: bool = False
    silent: bool = False
    losing: Callable[[str], bool] = lambda key: False
    fails: str = ""
    files: dict[str, bytes] = field(default_factory=dict)
    jobs: dict[str, dict[str, Any]] = field(default_factory=dict)
    paid: Counter[str] = field(default_factory=Counter)
    polls: int = 0

    def takes(self, path: str) -> bool:
        return _PATHS.match(path) is not None

    async def answer(self, request: web.BaseRequest, line: Line) -> web.StreamResponse:
        if request.path.startswith(_MESSAGES):
            return await self._anthropic(request, line)
        if request.path.startswith("/v1/files"):
            return await self._files(request)
        return await self._openai(request, line)

    # OpenAI's way

    async def _files(self, request: web.BaseRequest) -> web.StreamResponse:
        if request.method == "GET":
            return web.Response(body=self.files[request.path.split("/")[3]])
        parts = re.findall(rb'name="file".*?\r\n\r\n(.*)\r\n--', await request.read(), re.DOTALL)
        name = f"file-{len(self.files)}"
        self.files[name] = parts[0]
        return web.json_response({"id": name, "object": "file"})

    async def _openai(self, request: web.BaseRequest, line: Line) -> web.StreamResponse:
        if request.method == "POST":
            asked = json.loads(await request.read())
            calls = [json.loads(each) for each in self.files[asked["input_file_id"]].splitlines()]
            return await self._made(
                request, {"metadata": asked["metadata"], "calls": {c["custom_id"]: c["body"] for c in calls}}
            )
        if request.path == "/v1/batches":
            return web.json_response(
                {"data": [_told(each) for each in self.jobs.values()], "has_more": False}
            )
        job = self.jobs[request.path.split("/")[3]]
        if self._ended(job) and "output_file_id" not in job:
            self._work(job, "/v1/chat/completions", line)
        return web.json_response(_told(job))

    def _work(self, job: dict[str, Any], path: str, line: Line) -> None:
        good, bad = [], []
        for number, (key, body) in enumerate(job["calls"].items()):
            if self.expires_after is not None and number >= self.expires_after:
                bad.append(
                    {
                        "custom_id": key,
                        "response": None,
                        "error": {"code": "batch_expired", "message": "late"},
                    }
                )
                continue
            if self.fails:
                continue
            status, told = line(path, body)
            if status == 200:
                self.paid[key] += 1
            row = {"custom_id": key, "response": {"status_code": status, "body": told}, "error": None}
            (good if status == 200 else bad).append(row)
        for name, rows in (("output_file_id", self._mixed(good)), ("error_file_id", self._mixed(bad))):
            job[name] = f"file-{len(self.files)}" if rows else None
            if rows:
                self.files[job[name]] = b"".join(json.dumps(row).encode() + b"\n" for row in rows)
        job["status"] = "completed" if self.expires_after is None else "expired"
        if self.fails:
            job |= {"status": "failed", "errors": {"data": [{"message": self.fails}]}}

    # Anthropic's way

    async def _anthropic(self, request: web.BaseRequest, line: Line) -> web.StreamResponse:
        if request.method == "POST":
            asked = json.loads(await request.read())["requests"]
            return await self._made(request, {"calls": {each["custom_id"]: each["params"] for each in asked}})
        if request.path == _MESSAGES:
            listed = [self._message(each) for each in reversed(self.jobs.values())]
            return web.json_response({"data": listed, "has_more": False, "last_id": None})
        name = request.path.split("/")[4]
        job = self.jobs[name]
        if not request.path.endswith("/results"):
            return web.json_response(self._message(job))
        rows = []
        for number, (key, body) in enumerate(job["calls"].items()):
            if self.expires_after is not None and number >= self.expires_after:
                rows.append({"custom_id": key, "result": {"type": "expired"}})
                continue
            if key not in job["told"]:
                job["told"][key] = line("/v1/messages", body)
                self.paid[key] += job["told"][key][0] == 200
            status, told = job["told"][key]
            result = (
                {"type": "succeeded", "message": told}
                if status == 200
                else {"type": "errored", "error": told}
            )
            rows.append({"custom_id": key, "result": result})
        return web.Response(body=b"".join(json.dumps(row).encode() + b"\n" for row in self._mixed(rows)))

    def _message(self, job: dict[str, Any]) -> dict[str, Any]:
        ended = self._ended(job)
        return {
            "id": job["id"],
            "type": "message_batch",
            "processing_status": "ended" if ended else "in_progress",
            "request_counts": {
                "processing": 0 if ended else len(job["calls"]),
                "succeeded": len(job["calls"]) * ended,
            },
            "created_at": job["created_at"],
        }

    # Both

    async def _made(self, request: web.BaseRequest, job: dict[str, Any]) -> web.StreamResponse:
        if self.refuses > 0:
            self.refuses -= 1
            return web.json_response({"error": {"message": "on purpose"}}, status=self.refusal)
        name = f"batch-{len(self.jobs)}"
        made = {
            "id": name,
            "status": "in_progress",
            "looked": 0,
            "told": {},
            "created_at": datetime.now(UTC).isoformat(),
        }
        self.jobs[name] = {**made, **job}
        while self.silent:  # noqa: ASYNC110 - another thread ends it
            await asyncio.sleep(0.01)
        if self.loses > 0:
            self.loses -= 1
            if request.transport is not None:
                request.transport.abort()
        return web.json_response(_told(self.jobs[name]))

    def _ended(self, job: dict[str, Any]) -> bool:
        self.polls += 1
        job["looked"] += 1
        return job["looked"] > self.looks and not self.held

    def _mixed(self, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        kept = [row for row in rows if not self.losing(row["custom_id"])]
        kept = kept[::-1] if self.reverse else kept
        return [row for row in kept for _ in range(2)] if self.twice else kept


def _told(job: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in job.items() if key not in ("calls", "told", "looked")}
