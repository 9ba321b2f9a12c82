"""Ray, loaded and connected only where a run asks for it."""

from __future__ import annotations

import importlib
import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from medjury.foundation.errors import MedjuryError

_START = "`ray start --head` starts one, and `--address local` one for this run alone"


@contextmanager
def connected(address: str) -> Iterator[Any]:
    """The library, connected to a cluster. Nothing is reported to its makers, and what workers print stays where
    they are; a cluster of this run's own listens on this machine only and has no dashboard."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    try:
        ray = importlib.import_module("ray")
    except ModuleNotFoundError:
        raise MedjuryError("--engine ray needs Ray: pip install 'medjury[ray]'") from None
    settings: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR}
    if address == "local":
        settings |= {"include_dashboard": False, "_node_ip_address": "127.0.0.1"}
    else:
        settings |= {"address": address}
    try:
        ray.init(**settings)
    except (ConnectionError, RuntimeError, ValueError) as error:
        raise MedjuryError(
            f"no Ray cluster can be reached at {address} ({type(error).__name__}); {_START}"
        ) from None
    # What nodes report of dead workers is printed whatever was asked for, amid a command's own output.
    private: Any = importlib.import_module("ray._private.worker")
    if hasattr(private, "print_to_stdstream"):
        private.print_to_stdstream = lambda *_, **__: None
    try:
        yield ray
    finally:
        ray.shutdown()
