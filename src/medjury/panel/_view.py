"""The evidence browser by its front door; the web framework is imported only when it is used."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def serve_evidence(folder: str | Path, **settings: Any) -> None:
    """Serve the evidence of a run to the person at this machine until interrupted: see `medjury view --help`."""
    from medjury.panel._evidence import serve_evidence as serve

    serve(folder, **settings)


def write_evidence_file(folder: str | Path, out: str | Path, **settings: Any) -> str:
    """Write the evidence of a run as one HTML file that needs no server, and say in words what is in it."""
    from medjury.panel._evidence import write_evidence_file as write

    return write(folder, out, **settings)
