"""The study of a run that is there, and its replies read again: what comparing, recording and rereading share."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from medjury.foundation.errors import MedjuryError
from medjury.instruments import TRANSIENT
from medjury.judging import Progress, Rater, judge_all
from medjury.models import Gate, MemoryCache
from medjury.store.runs import Manifest, files
from medjury.studies._run.calls import check_store_host
from medjury.studies._study.drafts import DraftedCases, Drafts
from medjury.studies._study.study import Study, load_study


def study_of_run(folder: Path, manifest: Manifest, stated: str | Path | None) -> tuple[Study, str]:
    """The study of a run, from the file that its manifest names unless another is stated, and where its store is:
    the one in the run folder, which may have moved, where the study names none."""
    file = folder / manifest.study_file if manifest.study_file else None
    if stated is not None:
        file = Path(stated)
    elif file is None or not file.exists():
        why = "does not say where its study file is" if file is None else f"names {file}, which is not there"
        raise MedjuryError(f"{folder} {why}; name it with --study STUDY.yaml")
    overrides = manifest.overrides if stated is None else ()
    study = load_study(file, skip_bad_cases=bool(manifest.cases_skipped), overrides=overrides)
    own = folder / files.STORE
    address = str(own) if study.settings.store is None and own.exists() else study.store
    check_store_host(address, study.settings.allow_hosts)
    return study, address


def with_drafts(study: Study, folder: Path) -> Study:
    """The study with the drafts that were judged: a draft is what is judged, not a reading of it."""
    if study.drafter is None:
        return study
    file = folder / files.DRAFTS
    if not file.exists():
        raise MedjuryError(f"{file}: the drafts that were judged are not there")
    return replace(study, cases=DraftedCases(study.cases, study.drafter, Drafts.read(file)))


async def read_again(
    study: Study, judges: Sequence[Rater], ledger: Any, run: str, progress: Progress
) -> None:
    """Read the stored replies of these judges. The gate is never asked: each rater answers its own questions."""
    await judge_all(
        study.cases,
        judges,
        repeats=study.jury.repeats,
        gate=Gate(cache=MemoryCache()),
        ledger=ledger,
        run=run,
        retry=TRANSIENT,
        workers=study.workers,
        progress=progress,
        stop=asyncio.Event(),
    )
