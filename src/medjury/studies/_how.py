"""How a run is done, as the command line or a script asks for it."""

from __future__ import annotations

from dataclasses import dataclass

from medjury.studies._notebook import Stopper, Watcher


@dataclass(frozen=True)
class How:
    """How the work is done and who looks on."""

    watch: Watcher | None
    retry_unscored: bool
    keep_going: bool
    preflight: bool
    ask: bool = True
    stopper: Stopper | None = None
    wait: bool = True
