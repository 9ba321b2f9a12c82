"""Runs: what a run folder holds: its manifest, its records, its patients, and the names of its files (`files`)."""

from medjury.runs import files
from medjury.runs._body import Body, Grade, RecordedCut, RecordedFailure, RecordedOutcome
from medjury.runs._checks import Check, check_files, file_hash, verify_run
from medjury.runs._manifest import FORMAT, Manifest, RunStatus, read_manifest
from medjury.runs._manifest_parts import (
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
from medjury.runs._parts import with_parts
from medjury.runs._patients import with_patients
from medjury.runs._protocol import EarlierProtocol, Protocol, SeenRun, protocols_in, read_protocol
from medjury.runs._records import Record, Records
from medjury.runs._stated import DangerBy, GateRules, ReportSettings, StatedGate

__all__ = [
    "FORMAT",
    "Body",
    "Check",
    "Conclusion",
    "Coverage",
    "DangerBy",
    "DraftCounts",
    "EarlierProtocol",
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
    "Protocol",
    "Record",
    "RecordedCut",
    "RecordedFailure",
    "RecordedOutcome",
    "Records",
    "ReportSettings",
    "RereadSource",
    "RunPart",
    "RunStatus",
    "SeenRun",
    "Shortened",
    "StatedGate",
    "Units",
    "check_files",
    "file_hash",
    "files",
    "protocols_in",
    "read_manifest",
    "read_protocol",
    "verify_run",
    "with_parts",
    "with_patients",
]
