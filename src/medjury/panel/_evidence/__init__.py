"""The evidence browser: every case with its source, its answer and all votes; read only, served or as one file."""

from __future__ import annotations

from medjury.panel._evidence._offline import write_evidence_file
from medjury.panel._evidence._pages import NAVIGATION, routes
from medjury.panel._evidence._run import EvidenceRun
from medjury.panel._evidence._serve import serve_evidence

__all__ = ["NAVIGATION", "EvidenceRun", "routes", "serve_evidence", "write_evidence_file"]
