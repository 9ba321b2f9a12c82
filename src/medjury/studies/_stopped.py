"""When the place to write fails in mid-run (no room on the disk, a server that is gone): what was paid for is in
the store, so the run ends INCOMPLETE, in words, and the next one goes on."""

from __future__ import annotations

from contextlib import suppress

from medjury.foundation.errors import MedjuryError
from medjury.foundation.files import is_full
from medjury.models import audit_totals
from medjury.store.ratings import StoreStopped, is_empty_file
from medjury.store.runs import Coverage, Manifest, files
from medjury.studies._conclude import RunResult, WorkDone
from medjury.studies._planning.plan import RunPlan
from medjury.studies._stated.manifest import earlier_manifest, now
from medjury.studies._study import Study


def why_stopped(error: BaseException) -> str:
    """Why the run could not write on; nothing where the error is of another kind."""
    if isinstance(error, StoreStopped):
        return str(error)
    if is_full(error):
        return (
            f"there is no room left on the disk ({error}). Free some space and run again: it goes on from where it "
            "stopped"
        )
    return ""


def unfinished(
    study: Study, plan: RunPlan, run: str, outcome: WorkDone, manifest: Manifest, why: str
) -> RunResult:
    """The result of a run that could not write on. Its manifest says so, if there is room for it; else the one that
    was written before the first call says that the run is not complete."""
    with suppress(OSError, MedjuryError):
        stopped = manifest.replaced(status="incomplete", why=why, finished_at=now())
        stopped.anchored(study.output).write(study.output)
    return RunResult(
        "incomplete", why, study.output, run, outcome.progress, outcome.calls, outcome.money, plan.currency,
        Coverage(), plan.skipped, judged=False,
    )  # fmt: skip


def refuse_emptied_store(study: Study) -> None:
    """A store without a byte is not taken for a new one where the run folder knows of answers: all of them would be
    paid for again."""
    if not is_empty_file(study.store):
        return
    earlier = earlier_manifest(study.output)
    ratings = 0 if earlier is None else earlier.coverage.ratings
    calls = audit_totals(study.output / files.AUDIT_LOG).calls
    if ratings or calls:
        raise MedjuryError(
            f"{study.store}: is empty, but {study.output} knows of {calls:,} calls and {ratings:,} ratings that "
            "were kept in it. Put it back from a copy; or delete the file, and every answer is paid for again."
        )
