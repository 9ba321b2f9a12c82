from . import files as files
from ._anchors import LogAnchor as LogAnchor, file_hash as file_hash, refuse_cut_log as refuse_cut_log
from ._answering import (
    changed_models as changed_models,
    from_files_words as from_files_words,
    model_warnings as model_warnings,
    other_models as other_models,
)
from ._body import (
    Body as Body,
    Grade as Grade,
    RecordedCut as RecordedCut,
    RecordedFailure as RecordedFailure,
    RecordedOutcome as RecordedOutcome,
)
from ._check import Check as Check
from ._checks import check_files as check_files, record_report as record_report, verify_run as verify_run
from ._folder import open_run_folder as open_run_folder
from ._ledger import (
    LEDGER as LEDGER,
    Ledger as Ledger,
    anchor_line as anchor_line,
    check_ledger as check_ledger,
    enter_erasure as enter_erasure,
    enter_protocol as enter_protocol,
    erasures_of as erasures_of,
    read_ledger as read_ledger,
    registration_now as registration_now,
)
from ._manifest import (
    FORMAT as FORMAT,
    Manifest as Manifest,
    RunStatus as RunStatus,
    own_hash as own_hash,
    read_manifest as read_manifest,
)
from ._manifest_parts import (
    SCORES as SCORES,
    AnsweringModel as AnsweringModel,
    Conclusion as Conclusion,
    ConsensusRule as ConsensusRule,
    Coverage as Coverage,
    DraftCounts as DraftCounts,
    InjectionShift as InjectionShift,
    ManifestDimension as ManifestDimension,
    ManifestDrafting as ManifestDrafting,
    ManifestHumans as ManifestHumans,
    ManifestInjection as ManifestInjection,
    ManifestInstrument as ManifestInstrument,
    ManifestJudge as ManifestJudge,
    ManifestJury as ManifestJury,
    ManifestLeftOut as ManifestLeftOut,
    ManifestModel as ManifestModel,
    ManifestPanel as ManifestPanel,
    ManifestReread as ManifestReread,
    ManifestScores as ManifestScores,
    PlannedWork as PlannedWork,
    Prices as Prices,
    RepliesRead as RepliesRead,
    RereadSource as RereadSource,
    Shortened as Shortened,
    Units as Units,
)
from ._manifest_tuning import (
    TuningManifest as TuningManifest,
    TuningSplit as TuningSplit,
    read_tuning as read_tuning,
    tunings_in as tunings_in,
)
from ._part import RunPart as RunPart
from ._parts import with_parts as with_parts
from ._patients import with_patients as with_patients
from ._people import read_labels as read_labels, read_profiles as read_profiles
from ._protocol import (
    EarlierProtocol as EarlierProtocol,
    Erasure as Erasure,
    Protocol as Protocol,
    Registration as Registration,
    SeenRun as SeenRun,
    TouchedBy as TouchedBy,
    protocols_in as protocols_in,
    read_protocol as read_protocol,
    rules_hash as rules_hash,
)
from ._records import Record as Record, Records as Records
from ._signature import check_signature as check_signature, sign_run as sign_run
from ._ssh_signature import check_text as check_text, sign_text as sign_text
from ._stated import (
    DangerBy as DangerBy,
    GateRules as GateRules,
    ReportSettings as ReportSettings,
    StatedGate as StatedGate,
)
from ._ways import jury_warnings as jury_warnings, mixed_ways as mixed_ways, voting_words as voting_words
