"""New connections to one server: its name is looked up by the rule for hosts, its certificate is verified."""

from __future__ import annotations

import asyncio
import ipaddress
import socket
import ssl
from typing import Any

from medjury.models._connection import GuardError, guarded_name, loopback_addresses, may_be_reached
from medjury.models._http.connection import Connection
from medjury.models._http.errors import ConnectError, ConnectTimeoutError, UntrustedError
from medjury.models._http.request import Origin

_REMEMBERED = 60.0  # seconds for which the addresses of a name are kept
_NEXT_ADDRESS = 0.25  # seconds after which the next address is tried beside the one before it
AddressInfo = tuple[int, int, int, str, tuple[Any, ...]]


class Dial:
    """Connects to one server."""

    def __init__(self, origin: Origin, seconds: float) -> None:
        self._origin = origin
        self._seconds = seconds
        self._preparing = asyncio.Lock()  # many may dial at the same time: one makes the context for all
        self._looking: asyncio.Task[list[AddressInfo]] | None = None  # and looks the name up for all
        self._found: list[AddressInfo] = []
        self._found_at = 0.0
        self._context: ssl.SSLContext | None = None

    async def connect(self) -> Connection:
        """A new connection, or the error that says why there is none: in no case was anything sent."""
        try:
            async with asyncio.timeout(self._seconds):
                addresses = await self._addresses()
                async with self._preparing:
                    await self._make_context()
                return await self._first_of(addresses)
        except GuardError:
            raise
        except TimeoutError as error:
            raise (ConnectTimeoutError if error.errno is None else ConnectError)("no connection") from None
        except ssl.SSLCertVerificationError:
            raise UntrustedError("the certificate cannot be trusted") from None
        # A name that cannot be looked up at all is a ValueError, a loop that cannot take the socket a RuntimeError.
        except (OSError, ValueError, RuntimeError):
            raise ConnectError("no connection") from None

    async def _addresses(self) -> list[AddressInfo]:
        guarded_name(self._origin.host)
        now = asyncio.get_running_loop().time()
        if not self._found or now - self._found_at > _REMEMBERED:
            self._found = await self._look_up()
            self._found_at = now
        if not self._found:
            raise ConnectError("the name has no address")
        return list(self._found)

    async def _look_up(self) -> list[AddressInfo]:
        """One look for all who ask meanwhile, and one failure too."""
        if self._looking is None:
            self._looking = asyncio.create_task(_looked_up(self._origin.host, self._origin.port))
            self._looking.add_done_callback(self._looked)
        return await asyncio.shield(self._looking)

    def _looked(self, task: asyncio.Task[list[AddressInfo]]) -> None:
        self._looking = None
        if not task.cancelled():
            task.exception()  # heard of, though all who asked may have given up

    async def _make_context(self) -> None:
        if self._origin.secure and self._context is None:
            self._context = await asyncio.to_thread(_verifying_context)

    async def _first_of(self, addresses: list[AddressInfo]) -> Connection:
        """The first address that answers, and whose certificate holds; others are tried where it does not."""
        from aiohappyeyeballs import pop_addr_infos_interleave, start_connection  # aiohttp brings it

        while True:
            connected = await start_connection(addresses, happy_eyeballs_delay=_NEXT_ADDRESS, interleave=1)
            try:
                return await self._started(connected)
            except OSError:
                pop_addr_infos_interleave(addresses, 1)
                if not addresses:
                    raise

    async def _started(self, connected: socket.socket) -> Connection:
        loop = asyncio.get_running_loop()
        name = self._origin.host.rstrip(".") if self._context is not None else None
        made = Connection(loop, connected)
        try:
            connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            await loop.create_connection(
                lambda: made, sock=connected, ssl=self._context, server_hostname=name
            )
        except BaseException:
            made.abort()  # first: a transport that lives on would own the number of the next socket
            connected.close()
            raise
        return made


async def _looked_up(host: str, port: int) -> list[AddressInfo]:
    name = guarded_name(host)
    if name == "localhost":
        return [_address(each, port) for each in loopback_addresses()]
    try:
        ipaddress.ip_address(host)
    except ValueError:
        loop = asyncio.get_running_loop()
        found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_ADDRCONFIG)
        return [each for each in found if may_be_reached(name, str(each[4][0]))]
    return [_address(host, port)]


def _address(host: str, port: int) -> AddressInfo:
    if ":" in host:
        return (socket.AF_INET6, socket.SOCK_STREAM, socket.IPPROTO_TCP, "", (host, port, 0, 0))
    return (socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP, "", (host, port))


def _verifying_context() -> ssl.SSLContext:
    """The system's authorities, or those of SSL_CERT_FILE; reading them takes a while."""
    context = ssl.create_default_context()
    context.set_alpn_protocols(["http/1.1"])
    return context
