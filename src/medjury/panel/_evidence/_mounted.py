"""The evidence inside the panel: for coordinators and viewers, who rate nothing. A rater never reaches it."""

from __future__ import annotations

import threading
from pathlib import Path

from fastapi import APIRouter

from medjury.foundation.errors import MedjuryError
from medjury.panel._access import Role, person_with
from medjury.panel._evidence._pages import evidence_routes
from medjury.panel._evidence._run import EvidenceRun
from medjury.panel._look import NavigationLink
from medjury.panel._panel import Panel
from medjury.store.runs import files

READERS = (Role.COORDINATOR, Role.VIEWER)
NAVIGATION = (NavigationLink("/evidence", "Evidence", frozenset(READERS), order=60),)


def routes(panel: Panel) -> APIRouter:
    """The pages of the study's own run, once there is one."""
    opened: dict[str, EvidenceRun] = {}
    lock = threading.Lock()

    def runs() -> tuple[EvidenceRun, EvidenceRun | None]:
        folder = _run_folder(panel)
        if folder is None or not (folder / files.MANIFEST).is_file():
            raise MedjuryError(
                "this study has no run yet; its evidence can be read once `medjury run` has begun"
            )
        with lock:
            if "run" not in opened or opened["run"].changed:
                opened["run"] = EvidenceRun(folder)
        return opened["run"], None

    return evidence_routes(runs, person_with(*READERS), "/evidence")


def _run_folder(panel: Panel) -> Path | None:
    """Where the study's run lies, or will."""
    study = panel.study
    if study is None:
        return None
    return study.file.resolve().parent / (study.settings.output or f"runs/{study.settings.study}")
