"""Reading a run again: its stored replies, by the present reader and instrument, into a run of its own."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path
from typing import Any, Literal

from medjury.foundation.errors import MedjuryError
from medjury.foundation.files import private_folder, whole_binary, whole_file
from medjury.instruments import TRANSIENT
from medjury.intake.cases import clean_text
from medjury.judging import EarlierRun, Progress, Reread, run_async
from medjury.models import AuditLog
from medjury.store.ratings import Rating, Store, StoreDesk, guard_frame, open_store
from medjury.store.runs import Manifest, RunFolder, file_hash, files
from medjury.studies._afterwards.earlier_run import read_again, study_of_run, with_drafts
from medjury.studies._plan.clinicians import Humans
from medjury.studies._plan.manifest import describe
from medjury.studies._plan.plan import RunPlan, plan_study
from medjury.studies._run.conclude import RunResult, WorkDone, conclude
from medjury.studies._study.study import Study

# What changed where stored replies were read again: every rating before and after, by judge and dimension.

CHANGES_FILE = "changes.csv"
Kind = Literal["same", "changed", "gained", "lost", "reason", "added", "removed"]
# "Not applicable" counts as a score here: it is an answer.
_WORDS: dict[Kind, str] = {
    "same": "the same",
    "changed": "with another score",
    "gained": "scored now and not before",
    "lost": "scored before and not now",
    "reason": "unscored for another reason",
    "added": "not in the earlier run",
    "removed": "only in the earlier run",
}


@dataclass(frozen=True)
class Changes:
    """The counts by judge and dimension. `no_reply` are ratings without a score because no reply is stored."""

    counts: dict[tuple[str, str], Counter[Kind]] = field(default_factory=lambda: defaultdict(Counter))
    no_reply: Counter[tuple[str, str]] = field(default_factory=Counter)

    def total(self, kind: Kind) -> int:
        return sum(each[kind] for each in self.counts.values())

    @property
    def read(self) -> int:
        return sum(each.total() for each in self.counts.values()) - self.total("removed")

    def rows(self) -> list[dict[str, Any]]:
        """One row per judge and dimension, for the manifest."""
        rows: list[dict[str, Any]] = []
        for (rater, dimension), counted in sorted(self.counts.items()):
            row: dict[str, Any] = {"rater": rater, "dimension": dimension}
            row |= {kind: counted[kind] for kind in _WORDS}
            rows.append(row | {"no_reply": self.no_reply[rater, dimension]})
        return rows

    def lines(self) -> list[str]:
        """The counts in words, all first, then each judge and dimension where something changed."""
        whole: Counter[Kind] = Counter()
        for counted in self.counts.values():
            whole.update(counted)
        lines = [f"{self.read:,} ratings read again: {_in_words(whole)}"]
        for (rater, dimension), counted in sorted(self.counts.items()):
            if counted["same"] < counted.total():
                lines.append(f"  {rater}, {dimension}: {_in_words(counted)}")
        return lines


def find_changes(store: Store, earlier: str, run: str, folder: Path) -> Changes:
    """Compare the judges' ratings of two runs, one at a time, and write those that differ to a table."""
    import polars

    changes = Changes()
    rows: list[tuple[Any, ...]] = []
    for before, after in _pairs(_judged(store, earlier), _judged(store, run)):
        one = after or before
        assert one is not None
        kind = _kind(before, after)
        changes.counts[one.rater, one.dimension][kind] += 1
        if after is not None and after.reason in TRANSIENT:
            changes.no_reply[one.rater, one.dimension] += 1
        if kind != "same":
            names = (one.item, one.system, one.rater, one.dimension)
            rows.append((*map(clean_text, names), one.repeat, kind, *_columns(before), *_columns(after)))
    sides = [f"{column}_{side}" for side in ("before", "after") for column in ("status", "score", "reason")]
    columns = ("item", "system", "rater", "dimension", "repeat", "change", *sides)
    types = {each: polars.Float64 if "score" in each else polars.String for each in columns}
    frame = polars.DataFrame(rows, schema=types | {"repeat": polars.Int64}, orient="row")
    with whole_file(folder / CHANGES_FILE) as file:
        file.write(guard_frame(frame).write_csv())
    return changes


def _judged(store: Store, run: str) -> Iterator[Rating]:
    return (row for row in store.ratings(run) if row.rater_kind == "judge")


def _pairs(
    before: Iterator[Rating], after: Iterator[Rating]
) -> Iterator[tuple[Rating | None, Rating | None]]:
    """Both runs side by side; a store gives the ratings of every run in one order."""
    old, new = next(before, None), next(after, None)
    while old is not None or new is not None:
        first = min(_order(row) for row in (old, new) if row is not None)
        one = old if old is not None and _order(old) == first else None
        two = new if new is not None and _order(new) == first else None
        yield one, two
        old = old if one is None else next(before, None)
        new = new if two is None else next(after, None)


def _order(row: Rating) -> tuple[bytes, bytes, bytes, bytes, int]:
    """The store's order: that of the bytes."""
    names = (row.item, row.system, row.rater, row.dimension)
    item, system, rater, dimension = (each.encode("utf-8", "surrogatepass") for each in names)
    return item, system, rater, dimension, row.repeat


def _kind(before: Rating | None, after: Rating | None) -> Kind:
    if before is None or after is None:
        return "added" if before is None else "removed"
    if (before.status, before.score, before.reason) == (after.status, after.score, after.reason):
        return "same"
    failed = before.reason is not None, after.reason is not None
    if failed == (True, True):
        return "reason"
    return "gained" if failed[0] else "lost" if failed[1] else "changed"


def _columns(row: Rating | None) -> tuple[str, float | None, str]:
    if row is None:
        return "", None, ""
    return row.status, row.score, "" if row.reason is None else row.reason.value


def _in_words(counted: Counter[Kind]) -> str:
    named = (kind for kind in _WORDS if counted[kind] or kind == "same")
    return ", ".join(f"{counted[kind]:,} {_WORDS[kind]}" for kind in named)


@dataclass(frozen=True)
class RereadResult:
    """What came of reading a run again: the run that was made, and what is different in it."""

    result: RunResult
    earlier: str
    changes: Changes
    notes: tuple[str, ...]

    @property
    def no_reply(self) -> int:
        """How many ratings could not be read again: no reply to their question is stored."""
        return self.changes.no_reply.total()

    def text(self) -> str:
        """The counts first, then where they are."""
        lines = self.changes.lines()
        if self.no_reply:
            lines.append(
                f"{self.no_reply:,} ratings have no stored reply: they are unscored, for the reason they had or as "
                "not_stored"
            )
        lines += self.notes
        status = self.result.status
        if status != "complete":
            lines.append(f"As a run it is {status.upper()}: {self.result.why}")
        lines.append(f"No model was asked. Read from {self.earlier}; every change is in {CHANGES_FILE}")
        lines.append(f"Run folder: {self.result.folder}")
        return "\n".join(lines)


def reread_run(
    folder: str | Path, *, study: str | Path | None = None, out: str | Path | None = None
) -> RereadResult:
    """Read the stored replies of a run again, without asking anybody, and write a run folder of its own. The study
    file is the one the run names, unless another is given."""
    folder = Path(folder)
    earlier = RunFolder(folder).manifest
    if not earlier.run:
        raise MedjuryError(f"{folder}: nothing was judged in this run, so there is nothing to read again")
    given, address = study_of_run(folder, earlier, study)
    if given.name != earlier.study:
        raise MedjuryError(
            f"{folder} is a run of the study {earlier.study!r}, and {given.file} is {given.name!r}; name the "
            "right one with --study"
        )
    with open_store(address, create=False) as store:
        run, output = _new_run(store, earlier.run, folder, out)
        found = with_drafts(given, folder)
        plan = plan_study(found, asking=False)
        Humans.read(found, rehearse=True)  # all that can be refused is refused before anything is written
        _make_folder(output, shared=given.settings.share == "group")
        humans = _humans(found, folder, output)
        manifest = _describe(found, plan, humans, folder, earlier)
        study_file = os.path.relpath(found.file.resolve(), output.resolve())
        manifest = manifest.replaced(run=run, study_file=study_file)
        manifest.write(output)
        store.put_run(run, manifest.content())
        if humans is not None:
            store.write_ratings(run, _with_own_keys(humans.ratings, run))
        AuditLog(output / files.AUDIT_LOG).record({"event": "reread", "run": run, "from": earlier.run})
        again = EarlierRun(store, earlier.run)
        judges = [Reread(judge, run, again, given.prices) for judge in found.jury.judges]
        reading = replace(found, jury=replace(found.jury, judges=judges), output=output)
        outcome = run_async(_judge(reading, plan, store, run))
        changes = find_changes(store, earlier.run, run, output)
        assert manifest.reread is not None
        manifest = manifest.replaced(reread=manifest.reread.replaced(changes=tuple(changes.rows())))
        result = conclude(reading, plan, store, run, outcome, manifest, humans)
        manifest = RunFolder(output).manifest
        table = {CHANGES_FILE: file_hash(output / CHANGES_FILE)}
        manifest = _carried_over(manifest, earlier).replaced(files={**manifest.files, **table})
        manifest.write(output)
        store.put_run(run, manifest.content())
    return RereadResult(result, earlier.run, changes, _notes(manifest, earlier))


def _new_run(store: Store, earlier: str, folder: Path, out: str | Path | None) -> tuple[str, Path]:
    """A name and a folder that are not taken."""
    names = {each.name for each in store.runs()}
    if earlier not in names:
        raise MedjuryError(
            f"{store.place}: holds no run {earlier}, so there are no replies to read again; is `store` in the "
            "study file the one of that run?"
        )
    folder = folder.resolve()
    for number in count(1):
        name, beside = f"{earlier}-reread-{number}", folder.with_name(f"{folder.name}-reread-{number}")
        if name not in names and (out is not None or not beside.exists()):
            break
    return name, beside if out is None else Path(out)


def _make_folder(output: Path, shared: bool) -> None:
    try:
        private_folder(output, shared=shared)
        if any(output.iterdir()):
            raise MedjuryError(f"{output}: is not empty; name another folder with --out")
        RunFolder(output).prepare(shared=shared)
    except OSError as error:
        raise MedjuryError(f"{output}: the run folder cannot be made ({error.strerror})") from None


def _humans(study: Study, folder: Path, output: Path) -> Humans | None:
    """The clinicians' ratings by the present instrument. The drafts that were judged come along."""
    if study.drafter is not None:
        with (folder / files.DRAFTS).open("rb") as judged, whole_binary(output / files.DRAFTS) as copy:
            shutil.copyfileobj(judged, copy)
    return Humans.read(replace(study, output=output))


def _with_own_keys(ratings: Sequence[Rating], run: str) -> list[Rating]:
    """The same ratings beside those of the earlier run: another instrument may read them otherwise."""
    return [
        replace(each, key=hashlib.sha256(f"reread {run} {each.key}".encode()).hexdigest()) for each in ratings
    ]


def _describe(
    study: Study, plan: RunPlan, humans: Humans | None, folder: Path, earlier: Manifest
) -> Manifest:
    """The manifest of the new run. The gate is the one that was stated before the first call of the earlier one."""
    manifest = describe(replace(study, output=folder), plan, humans)
    manifest = manifest.replaced(reread=earlier.as_source(), planned={})
    if earlier.drafting is None:
        return manifest
    vendors = manifest.report.replaced(system_vendors=earlier.report.system_vendors)
    return manifest.replaced(drafting=earlier.drafting, report=vendors)


def _carried_over(manifest: Manifest, earlier: Manifest) -> Manifest:
    """What is known of how the replies were given, and of none that was read: it holds for them still."""
    made = manifest.replaced(settings_refused=earlier.settings_refused)
    cut = earlier.coverage.perhaps_cut
    return made.replaced(coverage=made.coverage.replaced(perhaps_cut=cut)) if cut else made


def _notes(manifest: Manifest, earlier: Manifest) -> tuple[str, ...]:
    """What else is not as it was."""
    then, now = earlier.instrument, manifest.instrument
    notes = []
    if then.fingerprint != now.fingerprint:
        versions = f"{then.name} {then.version} then, {now.name} {now.version} now"
        notes.append(f"The instrument is a different one ({versions})")
    if earlier.data_hash != manifest.data_hash:
        notes.append("The cases are not those of the run: one that was changed has no stored reply")
    left = [each.name for each in earlier.judges if manifest.judge(each.name) is None]
    if left:
        notes.append(f"Judges that the study file does not name any more were left out: {', '.join(left)}")
    return tuple(notes)


async def _judge(study: Study, plan: RunPlan, store: Store, run: str) -> WorkDone:
    outcome = WorkDone(Progress(planned=sum(plan.units.values())))
    async with StoreDesk(store, run) as desk:
        await read_again(study, study.jury.judges, desk, run, outcome.progress)
    return outcome
