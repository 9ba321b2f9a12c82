"""Runs: what a run folder holds: its manifest, its records, its patients, and the names of its files (`files`)."""

from medjury.runs import files
from medjury.runs._answering import changed_models, model_warnings, other_models
from medjury.runs._body import Body, Grade, RecordedCut, RecordedFailure, RecordedOutcome
from medjury.runs._checks import Check, check_files, file_hash, verify_run
from medjury.runs._manifest import FORMAT, Manifest, RunStatus, read_manifest
from medjury.runs._manifest_parts import (
    AnsweringModel,
    Conclusion,
    Coverage,
    DraftCounts,
    ManifestDimension,
    ManifestDrafting,
    ManifestHumans,
    ManifestInstrument,
    ManifestJudge,
    ManifestJury,
    ManifestModel,
    ManifestReread,
    PlannedWork,
    Prices,
    RereadSource,
    Shortened,
    Units,
)
from medjury.runs._part import RunPart
from medjury.runs._patients import with_patients
from medjury.runs._records import Record, Records
from medjury.runs._stated import GateRules, ReportSettings, StatedGate

__all__ = [
    "FORMAT",
    "AnsweringModel",
    "Body",
    "Check",
    "Conclusion",
    "Coverage",
    "DraftCounts",
    "GateRules",
    "Grade",
    "Manifest",
    "ManifestDimension",
    "ManifestDrafting",
    "ManifestHumans",
    "ManifestInstrument",
    "ManifestJudge",
    "ManifestJury",
    "ManifestModel",
    "ManifestReread",
    "PlannedWork",
    "Prices",
    "Record",
    "RecordedCut",
    "RecordedFailure",
    "RecordedOutcome",
    "Records",
    "ReportSettings",
    "RereadSource",
    "RunPart",
    "RunStatus",
    "Shortened",
    "StatedGate",
    "Units",
    "changed_models",
    "check_files",
    "file_hash",
    "files",
    "model_warnings",
    "other_models",
    "read_manifest",
    "verify_run",
    "with_patients",
]
