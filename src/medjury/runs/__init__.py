"""Runs: what a run folder holds: its manifest, its records, its patients, and the names of its files (`files`)."""

from medjury.doors import on_demand

with on_demand(__name__):
    from medjury.runs import files
    from medjury.runs._anchors import LogAnchor, file_hash, refuse_cut_log
    from medjury.runs._answering import changed_models, from_files_words, model_warnings, other_models
    from medjury.runs._body import Body, Grade, RecordedCut, RecordedFailure, RecordedOutcome
    from medjury.runs._check import Check
    from medjury.runs._checks import check_files, record_report, verify_run
    from medjury.runs._folder import open_run_folder
    from medjury.runs._ledger import (
        LEDGER,
        Ledger,
        anchor_line,
        check_ledger,
        enter_erasure,
        enter_protocol,
        erasures_of,
        read_ledger,
        registration_now,
    )
    from medjury.runs._manifest import FORMAT, Manifest, RunStatus, own_hash, read_manifest
    from medjury.runs._manifest_parts import (
        SCORES,
        AnsweringModel,
        Conclusion,
        ConsensusRule,
        Coverage,
        DraftCounts,
        InjectionShift,
        ManifestDimension,
        ManifestDrafting,
        ManifestHumans,
        ManifestInjection,
        ManifestInstrument,
        ManifestJudge,
        ManifestJury,
        ManifestLeftOut,
        ManifestModel,
        ManifestPanel,
        ManifestReread,
        ManifestScores,
        PlannedWork,
        Prices,
        RepliesRead,
        RereadSource,
        Shortened,
        Units,
    )
    from medjury.runs._manifest_tuning import TuningManifest, TuningSplit, read_tuning, tunings_in
    from medjury.runs._part import RunPart
    from medjury.runs._parts import with_parts
    from medjury.runs._patients import with_patients
    from medjury.runs._people import read_labels, read_profiles
    from medjury.runs._protocol import (
        EarlierProtocol,
        Erasure,
        Protocol,
        Registration,
        SeenRun,
        TouchedBy,
        protocols_in,
        read_protocol,
        rules_hash,
    )
    from medjury.runs._records import Record, Records
    from medjury.runs._signature import check_signature, sign_run
    from medjury.runs._ssh_signature import check_text, sign_text
    from medjury.runs._stated import DangerBy, GateRules, ReportSettings, StatedGate
    from medjury.runs._ways import jury_warnings, mixed_ways, voting_words

__all__ = [
    "FORMAT",
    "LEDGER",
    "SCORES",
    "AnsweringModel",
    "Body",
    "Check",
    "Conclusion",
    "ConsensusRule",
    "Coverage",
    "DangerBy",
    "DraftCounts",
    "EarlierProtocol",
    "Erasure",
    "GateRules",
    "Grade",
    "InjectionShift",
    "Ledger",
    "LogAnchor",
    "Manifest",
    "ManifestDimension",
    "ManifestDrafting",
    "ManifestHumans",
    "ManifestInjection",
    "ManifestInstrument",
    "ManifestJudge",
    "ManifestJury",
    "ManifestLeftOut",
    "ManifestModel",
    "ManifestPanel",
    "ManifestReread",
    "ManifestScores",
    "PlannedWork",
    "Prices",
    "Protocol",
    "Record",
    "RecordedCut",
    "RecordedFailure",
    "RecordedOutcome",
    "Records",
    "Registration",
    "RepliesRead",
    "ReportSettings",
    "RereadSource",
    "RunPart",
    "RunStatus",
    "SeenRun",
    "Shortened",
    "StatedGate",
    "TouchedBy",
    "TuningManifest",
    "TuningSplit",
    "Units",
    "anchor_line",
    "changed_models",
    "check_files",
    "check_ledger",
    "check_signature",
    "check_text",
    "enter_erasure",
    "enter_protocol",
    "erasures_of",
    "file_hash",
    "files",
    "from_files_words",
    "jury_warnings",
    "mixed_ways",
    "model_warnings",
    "open_run_folder",
    "other_models",
    "own_hash",
    "protocols_in",
    "read_labels",
    "read_ledger",
    "read_manifest",
    "read_profiles",
    "read_protocol",
    "read_tuning",
    "record_report",
    "refuse_cut_log",
    "registration_now",
    "rules_hash",
    "sign_run",
    "sign_text",
    "tunings_in",
    "verify_run",
    "voting_words",
    "with_parts",
    "with_patients",
]
