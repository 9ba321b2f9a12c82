"""The manifest: what was run, on what, with what, and what came of it. No clinical text, no secrets."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal

from medjury.foundation.errors import MedjuryError
from medjury.foundation.files import private_folder, whole_file
from medjury.models import DEPLOYMENTS, NOT_TOLD, same_model
from medjury.store.runs import files
from medjury.store.runs._anchors import LogAnchor, anchor_log
from medjury.store.runs._manifest_parts import (
    AnsweringModel,
    Coverage,
    ManifestDrafting,
    ManifestHumans,
    ManifestInjection,
    ManifestInstrument,
    ManifestJudge,
    ManifestJury,
    ManifestLeftOut,
    ManifestModel,
    ManifestReread,
    ManifestScores,
    PlannedWork,
    Prices,
    RereadSource,
    Units,
)
from medjury.store.runs._part import RunPart, in_words
from medjury.store.runs._protocol import Protocol, Registration, TouchedBy
from medjury.store.runs._stated import GateRules, ReportSettings, StatedGate

RunStatus = Literal["running", "complete", "incomplete", "failed"]


class Manifest(RunPart):
    """Everything a run folder says of itself."""

    FORMAT: ClassVar[int] = 1

    format: int = FORMAT
    study: str = ""
    run: str = ""
    status: RunStatus = "running"
    why: str = ""
    medjury: str = ""
    python: str = ""
    machine: str = ""
    packages: dict[str, str] = {}
    started_at: str = ""
    finished_at: str = ""
    study_file: str = ""
    study_file_hash: str = ""
    overrides: tuple[str, ...] = ()  # values of the study file that were replaced for this run
    data_hash: str = ""
    cases_hash: str = ""  # of the same cases in any order
    answer_hashes: tuple[str, ...] = ()
    cases: int = 0
    cases_skipped: int = 0
    cases_left_out: ManifestLeftOut = ManifestLeftOut()
    criteria_written: dict[
        str, int
    ] = {}  # in a file beside the cases: how many were accepted, edited, dropped
    criteria_models: tuple[str, ...] = ()  # whose drafts these are
    cases_lacking_input: int = 0
    repeated_texts: int = 0  # cases that have the text of another case: they count once
    systems: dict[str, int] = {}
    system_vendors: dict[str, str] = {}  # as the cases name them; `report: system_vendors` goes before
    instrument: ManifestInstrument = ManifestInstrument()
    humans: ManifestHumans | None = None
    prompt_version: str = ""
    judges: tuple[ManifestJudge, ...] = ()
    jury: ManifestJury = ManifestJury()
    scores: tuple[ManifestScores, ...] = ()  # what became of the files of judges whose scores existed already
    metrics: dict[str, str] = {}  # text metrics that rate beside the judges, and how each was computed
    juries: tuple[ManifestJury, ...] = ()  # where there are several; `jury` is the first of them
    gate: StatedGate | None = None
    touched: tuple[TouchedBy, ...] = ()  # tunings that had seen some of the cases
    touched_cases: tuple[str, ...] = ()  # which cases these are: nobody validates on them
    protocol: Protocol | None = None
    protocol_hash: str = ""
    registration: Registration | None = None  # what the ledger of registrations held of these cases
    report: ReportSettings = ReportSettings()
    allow_hosts: tuple[str, ...] = ()
    redacted: bool = False
    redactions: dict[str, int] = {}
    redaction_not_known: dict[str, int] = {}  # cases by language that the rules of redaction are not for
    settings_refused: dict[str, list[str]] = {}
    models_answered: tuple[AnsweringModel, ...] = ()
    prices: Prices = Prices()
    planned: dict[str, PlannedWork] = {}
    drafting: ManifestDrafting | None = None
    reread: ManifestReread | None = None
    injection: ManifestInjection | None = None  # what planted instructions did, where the study audits it
    coverage: Coverage = Coverage()
    units: Units | None = None
    calls: int = 0
    cost: float | None = None
    files: dict[str, str] = {}
    report_files: dict[str, str] = {}
    audit_log: LogAnchor | None = None
    hash: str = ""  # of all the rest; see `own_hash`

    @property
    def rules(self) -> GateRules:
        """The rules of the gate; what is not stated has its default."""
        return self.gate or GateRules()

    @property
    def stated_at(self) -> str | None:
        return None if self.gate is None else self.gate.stated_at

    @property
    def earlier_rules(self) -> tuple[StatedGate, ...]:
        """Rules that were recorded in this folder before, and then changed."""
        return () if self.gate is None else self.gate.earlier

    def as_source(self) -> ManifestReread:
        """This run as the one whose stored replies are read again."""
        names = RereadSource.model_fields
        return ManifestReread(source=RereadSource(**{name: getattr(self, name) for name in names}))

    def settings(self, **changes: Any) -> ReportSettings:
        """What the report shows; `changes` that are not None replace what the study file says."""
        return self.report.replaced(**{name: value for name, value in changes.items() if value is not None})

    def judge(self, name: str) -> ManifestJudge | None:
        return next((each for each in self.judges if each.name == name), None)

    @property
    def from_files(self) -> tuple[ManifestModel, ...]:
        """Judges whose scores came from a file, by their name and the hash of the file."""
        return tuple(model for judge in self.judges for model in judge.models if model.scores is not None)

    @property
    def all_juries(self) -> tuple[ManifestJury, ...]:
        """Every jury of the run, the first first; none where its judges are shown side by side."""
        return self.juries or (() if self.jury.rule == "none" else (self.jury,))

    @property
    def judge_vendors(self) -> dict[str, str]:
        return {each.name: each.vendor for each in self.judges}

    def other_models(self) -> tuple[AnsweringModel, ...]:
        """Answers of another model than the one asked for. A deployment is not compared: its name is the site's
        own."""
        return tuple(
            each
            for each in self.models_answered
            if not same_model(each.asked, each.answered) and not self._is_deployment(each)
        )

    def changed_models(self) -> tuple[tuple[AnsweringModel, ...], ...]:
        """By judge and model asked for, where more than one name answered in the run."""
        found: dict[tuple[str, str], list[AnsweringModel]] = {}
        for each in self.models_answered:
            if each.answered != NOT_TOLD:
                found.setdefault((each.judge, each.asked), []).append(each)
        return tuple(tuple(several) for several in found.values() if len(several) > 1)

    def model_warnings(self) -> tuple[str, ...]:
        """What the reader of a run must know of the models behind its judges, in sentences."""
        lines = [
            f"{each.judge}: {each.asked} was asked for, and {each.answered} reports that it answered: "
            f"{each.ratings:,} ratings rest on that."
            for each in self.other_models()
        ]
        for several in self.changed_models():
            names = ", ".join(f"{each.answered} ({each.ratings:,} ratings)" for each in several)
            lines.append(
                f"{several[0].judge}: the model behind {several[0].asked} changed during the run: {names}. They "
                "are not one judge."
            )
        return (*lines, *from_files_words(self.judges))

    def jury_warnings(self) -> tuple[str, ...]:
        """A warning for each jury of all judges that averages several ways of judging."""
        ways = list(dict.fromkeys(each.way for each in self.judges))
        return tuple(
            f"The jury {each.name!r} averages judges of {len(ways)} ways of judging ({'; '.join(ways)}), and "
            "nobody named its members. Say `juries:` with the members of each, or `jury: none` to show each judge "
            "on its own."
            for each in self.all_juries
            if not each.members and len(ways) > 1
        )

    def voting_words(self) -> str:
        """How the judges' votes became one, for the end of a sentence."""
        every = self.all_juries
        if not every:
            return "not combined: each judge is on its own"
        if len(every) == 1:
            who = f"of {', '.join(every[0].members)} " if every[0].members else ""
            quorum = f"{every[0].quorum} or more" if every[0].quorum else "more than half"
            return f"combined by {every[0].rule} {who}where {quorum} of them gave a score"
        listed = "; ".join(f"{each.name}: {each.rule} of {', '.join(each.members)}" for each in every)
        return f"combined in {len(every)} juries ({listed})"

    def _is_deployment(self, answering: AnsweringModel) -> bool:
        judge = self.judge(answering.judge)
        models = () if judge is None else judge.models
        return any(model.kind == DEPLOYMENTS and model.model == answering.asked for model in models)

    def anchored(self, folder: Path) -> Manifest:
        """With the place in the audit log at which this manifest is written."""
        return self.replaced(audit_log=anchor_log(folder))

    def write(self, folder: Path) -> None:
        """Replace the manifest in one step: a reader sees the old one or the new one. It ends with its own hash."""
        private_folder(folder)
        content = {name: value for name, value in self.content().items() if name != "hash"}
        content["hash"] = own_hash(content)
        with whole_file(folder / files.MANIFEST) as file:
            file.write(json.dumps(content, indent=2, ensure_ascii=False) + "\n")


def from_files_words(judges: Iterable[ManifestJudge]) -> tuple[str, ...]:
    """What a reader must know of judges whose scores came from a file, in one sentence; nothing where there is
    none."""
    found = [model for judge in judges for model in judge.models if model.scores is not None]
    if not found:
        return ()
    named = "; ".join(f"{model.name} ({model.title})" for model in found)
    return (
        f"Scores of unknown making: {named}. They came from a file; which model gave them, by which prompt and "
        "when, is not recorded.",
    )


def own_hash(content: Mapping[str, Any]) -> str:
    """SHA-256 of a manifest's content without its hash, however the file is laid out."""
    canonical = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(canonical.encode()).hexdigest()


def stated_content(folder: Path) -> dict[str, Any] | None:
    """What the manifest's file says, name by name; None where a name appears twice, so that two readers may read
    two things."""
    try:
        found = json.loads((folder / files.MANIFEST).read_bytes(), object_pairs_hook=_once)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def _once(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) < len(pairs):
        raise ValueError("a name appears twice")
    return content


def read_manifest(folder: str | Path) -> Manifest:
    """The manifest of a run folder; an error that says what to do where there is none, or none that can be read."""
    file = Path(folder) / files.MANIFEST
    with in_words(
        file,
        missing=f"{folder}: not a finished run folder ({files.MANIFEST} is missing); run the study first",
        wrong="is damaged ({}); run the study again, which writes it again and asks no question twice",
    ):
        if Path(folder).is_file():
            raise MedjuryError(
                f"{folder}: is a file, not a run folder; name the folder that `medjury run` wrote, such as "
                "runs/NAME"
            )
        manifest = Manifest.model_validate_json(file.read_bytes())
    if manifest.format > Manifest.FORMAT:
        raise MedjuryError(
            f"{file}: was written by a newer version of medjury ({manifest.medjury}); use that one or a later"
        )
    return manifest
