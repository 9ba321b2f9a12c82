"""Requests of test clients, answered in one visit to the event loop.

Starlette's client goes there nine times for every request, and each time two threads wait for one another: that was
most of what a small page cost. What a page answers is the same, and is read to its end before it is handed over.
"""

from __future__ import annotations

import asyncio
from typing import Any
from urllib.parse import unquote

from starlette.testclient import _TestClientTransport, httpx


def answer(transport: _TestClientTransport, request: httpx.Request) -> httpx.Response:
    """In place of the client's own way to answer a request over HTTP."""
    with transport.portal_factory() as portal:
        return portal.call(_answer, transport, request)


async def _answer(transport: _TestClientTransport, request: httpx.Request) -> httpx.Response:
    started: list[dict[str, Any]] = []
    body: list[bytes] = []
    was_read = False
    complete = asyncio.Event()

    async def receive() -> dict[str, Any]:
        nonlocal was_read
        if was_read:
            await complete.wait()
            return {"type": "http.disconnect"}
        was_read = True
        return {"type": "http.request", "body": request.read()}

    async def send(message: dict[str, Any]) -> None:
        assert not complete.is_set(), f"{message['type']} after the end"
        if message["type"] == "http.response.start":
            assert not started, "two answers to one request"
            started.append(message)
        else:
            assert started and message["type"] == "http.response.body", message
            body.append(message.get("body", b""))
            if not message.get("more_body", False):
                complete.set()

    try:
        await transport.app(_scope(transport, request), receive, send)
    except Exception:
        if transport.raise_server_exceptions:
            raise
    if not started:
        return httpx.Response(500, headers=[], stream=httpx.ByteStream(b""), request=request)
    headers = [(name.decode(), value.decode()) for name, value in started[0].get("headers", [])]
    sent = b"" if request.method == "HEAD" else b"".join(body)
    return httpx.Response(
        started[0]["status"], headers=headers, stream=httpx.ByteStream(sent), request=request
    )


def _scope(transport: _TestClientTransport, request: httpx.Request) -> dict[str, Any]:
    """The request as a server hands it to an application."""
    url = request.url
    return {
        "type": "http",
        "http_version": "1.1",
        "method": request.method,
        "path": unquote(url.path),
        "raw_path": url.raw_path.split(b"?", 1)[0],
        "root_path": transport.root_path,
        "scheme": url.scheme,
        "query_string": url.query,
        "headers": [(name.lower().encode(), value.encode()) for name, value in request.headers.multi_items()],
        "client": transport.client,
        "server": [url.host, url.port or {"http": 80, "https": 443}[url.scheme]],
        "state": transport.app_state.copy(),
    }
