"""What can go wrong between a request and its answer: each says whether anything has left this machine."""

from __future__ import annotations


class ConnectError(OSError):
    """No connection came about: nothing has left."""


class ConnectTimeoutError(ConnectError):
    """No connection came about in time."""


class UntrustedError(ConnectError):
    """The server's certificate cannot be trusted, or is another server's."""


class BrokenError(OSError):
    """The request may have left, and no whole answer came. Its text names the cause."""


class ResponseError(BrokenError):
    """What arrived is no HTTP response, or only a part of one."""
