"""A real Chromium, driven over its debugging protocol: no network, every message of the page kept."""

from __future__ import annotations

import base64
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
from tests.chromium import address


class Page:
    """One open page. `messages` holds what the console, the network and uncaught errors had to say."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse, session: str) -> None:
        self._socket, self._session, self._number = socket, session, 0
        self.messages: list[dict[str, Any]] = []

    async def send(self, method: str, **parameters: Any) -> Any:
        self._number += 1
        number = self._number
        await self._socket.send_str(
            json.dumps({"id": number, "method": method, "params": parameters, "sessionId": self._session})
        )
        while True:
            message = json.loads((await self._socket.receive(timeout=120)).data)
            if message.get("id") == number and message.get("sessionId") == self._session:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']}")
                return message["result"]
            self.messages.append(message)

    async def wait_for(self, method: str) -> None:
        while not any(message.get("method") == method for message in self.messages):
            self.messages.append(json.loads((await self._socket.receive(timeout=120)).data))

    async def evaluate(self, script: str) -> Any:
        result = await self.send("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in result:
            raise RuntimeError(result["exceptionDetails"]["exception"].get("description", "script failed"))
        return result["result"].get("value")

    async def width(self, pixels: int) -> None:
        await self.send(
            "Emulation.setDeviceMetricsOverride", width=pixels, height=900, deviceScaleFactor=1, mobile=False
        )

    async def pdf(self) -> bytes:
        made = await self.send("Page.printToPDF", preferCSSPageSize=True, printBackground=True)
        return base64.b64decode(made["data"])

    def complaints(self) -> list[str]:
        """Console messages, uncaught errors and refused loads."""
        wanted = (
            "Runtime.consoleAPICalled",
            "Runtime.exceptionThrown",
            "Log.entryAdded",
            "Network.loadingFailed",
        )
        return [json.dumps(each)[:500] for each in self.messages if each.get("method") in wanted]

    def requests(self) -> list[str]:
        sent = [each for each in self.messages if each.get("method") == "Network.requestWillBeSent"]
        return [each["params"]["request"]["url"] for each in sent]


@asynccontextmanager
async def open_page(file: Path, *, script: bool = True) -> AsyncIterator[Page]:
    """The file, loaded in a browser that cannot reach any network: a context of its own, as a new profile is."""
    async with aiohttp.ClientSession() as client, client.ws_connect(address(), max_msg_size=0) as socket:
        context = await _plain(socket, 900_000, "Target.createBrowserContext", disposeOnDetach=True)
        yield await _opened(socket, file.as_uri(), script, context["browserContextId"])


async def _opened(socket: aiohttp.ClientWebSocketResponse, location: str, script: bool, context: str) -> Page:
    target = await _plain(socket, 900_001, "Target.createTarget", url="about:blank", browserContextId=context)
    session = await _plain(
        socket, 900_002, "Target.attachToTarget", targetId=target["targetId"], flatten=True
    )
    page = Page(socket, session["sessionId"])
    for domain in ("Page", "Runtime", "Log", "Network"):
        await page.send(f"{domain}.enable")
    await page.send(
        "Network.emulateNetworkConditions", offline=True, latency=0, downloadThroughput=0, uploadThroughput=0
    )
    await page.send("Emulation.setScriptExecutionDisabled", value=not script)
    await page.width(1280)
    page.messages.clear()
    await page.send("Page.navigate", url=location)
    await page.wait_for("Page.loadEventFired")
    return page


async def _plain(socket: aiohttp.ClientWebSocketResponse, number: int, method: str, **parameters: Any) -> Any:
    await socket.send_str(json.dumps({"id": number, "method": method, "params": parameters}))
    while True:
        message = json.loads((await socket.receive(timeout=120)).data)
        if message.get("id") == number:
            return message["result"]
