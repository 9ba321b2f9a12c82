"""Reading a run again: its stored replies, by the present reader and instrument, into a run of its own."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import Any

from medjury.errors import MedjuryError
from medjury.instruments import TRANSIENT
from medjury.judging import EarlierRun, Progress, Reread, judge_all, run_async
from medjury.models import AuditLog, Gate, MemoryCache, PriceList
from medjury.ratings import Rating, Store, StoreDesk, open_store
from medjury.studies._changes import CHANGES_FILE, Changes, find_changes
from medjury.studies._conclude import Outcome, RunResult, conclude
from medjury.studies._drafting import DRAFTS_FILE
from medjury.studies._drafting_cases import DraftedCases, Drafts
from medjury.studies._hosts import check_store_host
from medjury.studies._humans import Humans, read_humans
from medjury.studies._manifest import describe, file_hash, write_manifest
from medjury.studies._plan import Plan, plan_study
from medjury.studies._run import study_prices
from medjury.studies._study import Study, load_study

_NAMES_KEY = "rater-names.key"


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
        lines.append(f"Nothing was asked. Read from {self.earlier}; every change is in {CHANGES_FILE}")
        lines.append(f"Run folder: {self.result.folder}")
        return "\n".join(lines)


def reread_run(
    folder: str | Path, *, study: str | Path | None = None, out: str | Path | None = None
) -> RereadResult:
    """Read the stored replies of a run again, without asking anybody, and write a run folder of its own. The study
    file is the one the run names, unless another is given."""
    folder = Path(folder)
    earlier = _manifest(folder)
    given = load_study(_study_file(folder, earlier, study), skip_bad_cases=bool(earlier.get("cases_skipped")))
    if given.name != earlier["study"]:
        raise MedjuryError(
            f"{folder} is a run of the study {earlier['study']!r}, and {given.file} is {given.name!r}; name the "
            "right one with --study"
        )
    address = _store_address(folder, given)
    check_store_host(address, given.settings.allow_hosts)
    prices = study_prices(given)
    with open_store(address, create=False) as store:
        run, output = _new_run(store, earlier["run"], folder, out)
        _make_folder(output)
        found = _with_drafts(given, folder, output)
        plan = plan_study(found, prices, asking=False)
        humans = _humans(found, folder, output)
        manifest = _describe(found, plan, humans, prices, folder, earlier)
        manifest |= {"run": run, "study_file": os.path.relpath(found.file.resolve(), output.resolve())}
        write_manifest(output, manifest)
        store.put_run(run, manifest)
        if humans is not None:
            store.write_ratings(run, _with_own_keys(humans.ratings, run))
        AuditLog(output / "audit.jsonl").record({"event": "reread", "run": run, "from": earlier["run"]})
        again = EarlierRun(store, earlier["run"])
        judges = [Reread(judge, run, again, prices) for judge in found.jury.judges]
        reading = replace(found, jury=replace(found.jury, judges=judges), output=output)
        outcome = run_async(_judge(reading, plan, store, run))
        changes = find_changes(store, earlier["run"], run, output)
        manifest["reread"]["changes"] = changes.rows()
        result = conclude(reading, plan, store, run, outcome, manifest, prices)
        manifest["files"][CHANGES_FILE] = file_hash(output / CHANGES_FILE)
        write_manifest(output, manifest)
        store.put_run(run, manifest)
    return RereadResult(result, earlier["run"], changes, _notes(manifest, earlier))


def _manifest(folder: Path) -> dict[str, Any]:
    try:
        found = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise MedjuryError(f"{folder}: no manifest.json here; give the folder of a run") from None
    except (OSError, ValueError) as error:
        raise MedjuryError(f"{folder / 'manifest.json'}: cannot be read ({error})") from None
    if not isinstance(found, dict) or "run" not in found:
        raise MedjuryError(
            f"{folder}: nothing was judged in this run, so that there is nothing to read again"
        )
    return found


def _study_file(folder: Path, earlier: dict[str, Any], stated: str | Path | None) -> Path:
    if stated is not None:
        return Path(stated)
    named = earlier.get("study_file")
    file = None if named is None else folder / str(named)
    if file is None or not file.exists():
        why = "does not say where its study file is" if file is None else f"names {file}, which is not there"
        raise MedjuryError(f"{folder} {why}; name it with --study STUDY.yaml")
    return file


def _store_address(folder: Path, study: Study) -> str:
    """Where the study keeps its store; where it names none, the one in the run folder, which may have moved."""
    own = folder / "ratings.sqlite"
    return str(own) if study.settings.store is None and own.exists() else study.store


def _new_run(store: Store, earlier: str, folder: Path, out: str | Path | None) -> tuple[str, Path]:
    """A name and a folder that are not taken."""
    names = {each.name for each in store.runs()}
    if earlier not in names:
        raise MedjuryError(
            f"{store.place}: holds no run {earlier}, so that there are no replies to read again; is `store` in the "
            "study file the one of that run?"
        )
    folder = folder.resolve()
    for number in count(1):
        name, beside = f"{earlier}-reread-{number}", folder.with_name(f"{folder.name}-reread-{number}")
        if name not in names and (out is not None or not beside.exists()):
            break
    return name, beside if out is None else Path(out)


def _make_folder(output: Path) -> None:
    try:
        output.mkdir(parents=True, exist_ok=True)
        if any(output.iterdir()):
            raise MedjuryError(f"{output}: is not empty; name another folder with --out")
    except OSError as error:
        raise MedjuryError(f"{output}: the run folder cannot be made ({error.strerror})") from None


def _with_drafts(study: Study, folder: Path, output: Path) -> Study:
    """The study with the drafts that were judged: a draft is what is judged, not a reading of it."""
    if study.drafter is None:
        return study
    try:
        shutil.copyfile(folder / DRAFTS_FILE, output / DRAFTS_FILE)
    except OSError as error:
        raise MedjuryError(
            f"{folder / DRAFTS_FILE}: the drafts that were judged cannot be read ({error.strerror})"
        ) from None
    return replace(study, cases=DraftedCases(study.cases, study.drafter, Drafts.read(output / DRAFTS_FILE)))


def _humans(study: Study, folder: Path, output: Path) -> Humans | None:
    """The clinicians' ratings by the present instrument, under the pseudonyms of the earlier run."""
    if (folder / _NAMES_KEY).exists():
        shutil.copy2(folder / _NAMES_KEY, output / _NAMES_KEY)
    return read_humans(replace(study, output=output))


def _with_own_keys(ratings: Sequence[Rating], run: str) -> list[Rating]:
    """The same ratings beside those of the earlier run: another instrument may read them otherwise."""
    return [
        replace(each, key=hashlib.sha256(f"reread {run} {each.key}".encode()).hexdigest()) for each in ratings
    ]


def _describe(
    study: Study,
    plan: Plan,
    humans: Humans | None,
    prices: PriceList,
    folder: Path,
    earlier: dict[str, Any],
) -> dict[str, Any]:
    """The manifest of the new run. The gate is the one that was stated before the first call of the earlier one."""
    manifest = describe(replace(study, output=folder), plan, humans, prices.as_of)
    told = ("run", "medjury", "prompt_version", "instrument", "data_hash", "finished_at")
    manifest["reread"] = {"from": {name: earlier.get(name) for name in told}}
    manifest["planned"] = {}
    if "drafting" in earlier:
        manifest["drafting"] = earlier["drafting"]
        manifest["report"]["system_vendors"] = earlier["report"]["system_vendors"]
    return manifest


def _notes(manifest: dict[str, Any], earlier: dict[str, Any]) -> tuple[str, ...]:
    """What else is not as it was."""
    then, now = earlier["instrument"], manifest["instrument"]
    notes = []
    if then["fingerprint"] != now["fingerprint"]:
        versions = f"{then['name']} {then['version']} then, {now['name']} {now['version']} now"
        notes.append(f"The instrument is another one ({versions})")
    if earlier["data_hash"] != manifest["data_hash"]:
        notes.append("The cases are not those of the run: one that was changed has no stored reply")
    left = [each["name"] for each in earlier["judges"]]
    left = [name for name in left if name not in {each["name"] for each in manifest["judges"]}]
    if left:
        notes.append(f"Judges that the study file does not name any more were left out: {', '.join(left)}")
    return tuple(notes)


async def _judge(study: Study, plan: Plan, store: Store, run: str) -> Outcome:
    judges = study.jury.judges
    groups = sum(len(judge.groups) for judge in judges)
    outcome = Outcome(Progress(planned=plan.cases * study.jury.repeats * groups))
    async with StoreDesk(store, run) as desk:
        await judge_all(
            study.cases,
            judges,
            repeats=study.jury.repeats,
            gate=Gate(cache=MemoryCache()),  # never asked: each rater answers its own questions
            ledger=desk,
            run=run,
            retry=TRANSIENT,
            workers=study.workers,
            progress=outcome.progress,
            stop=asyncio.Event(),
        )
    return outcome
