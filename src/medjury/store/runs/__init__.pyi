from . import files as files
from ._anchors import LogAnchor as LogAnchor
from ._anchors import file_hash as file_hash
from ._anchors import refuse_cut_log as refuse_cut_log
from ._answering import (
    changed_models as changed_models,
)
from ._answering import (
    from_files_words as from_files_words,
)
from ._answering import (
    model_warnings as model_warnings,
)
from ._answering import (
    other_models as other_models,
)
from ._check import Check as Check
from ._checks import check_files as check_files
from ._checks import record_report as record_report
from ._checks import verify_run as verify_run
from ._folder import open_run_folder as open_run_folder
from ._ledger import (
    LEDGER as LEDGER,
)
from ._ledger import (
    Ledger as Ledger,
)
from ._ledger import (
    anchor_line as anchor_line,
)
from ._ledger import (
    check_ledger as check_ledger,
)
from ._ledger import (
    enter_erasure as enter_erasure,
)
from ._ledger import (
    enter_protocol as enter_protocol,
)
from ._ledger import (
    erasures_of as erasures_of,
)
from ._ledger import (
    read_ledger as read_ledger,
)
from ._ledger import (
    registration_now as registration_now,
)
from ._manifest import (
    FORMAT as FORMAT,
)
from ._manifest import (
    Manifest as Manifest,
)
from ._manifest import (
    RunStatus as RunStatus,
)
from ._manifest import (
    own_hash as own_hash,
)
from ._manifest import (
    read_manifest as read_manifest,
)
from ._manifest_parts import (
    SCORES as SCORES,
)
from ._manifest_parts import (
    AnsweringModel as AnsweringModel,
)
from ._manifest_parts import (
    Conclusion as Conclusion,
)
from ._manifest_parts import (
    ConsensusRule as ConsensusRule,
)
from ._manifest_parts import (
    Coverage as Coverage,
)
from ._manifest_parts import (
    DraftCounts as DraftCounts,
)
from ._manifest_parts import (
    InjectionShift as InjectionShift,
)
from ._manifest_parts import (
    ManifestDimension as ManifestDimension,
)
from ._manifest_parts import (
    ManifestDrafting as ManifestDrafting,
)
from ._manifest_parts import (
    ManifestHumans as ManifestHumans,
)
from ._manifest_parts import (
    ManifestInjection as ManifestInjection,
)
from ._manifest_parts import (
    ManifestInstrument as ManifestInstrument,
)
from ._manifest_parts import (
    ManifestJudge as ManifestJudge,
)
from ._manifest_parts import (
    ManifestJury as ManifestJury,
)
from ._manifest_parts import (
    ManifestLeftOut as ManifestLeftOut,
)
from ._manifest_parts import (
    ManifestModel as ManifestModel,
)
from ._manifest_parts import (
    ManifestPanel as ManifestPanel,
)
from ._manifest_parts import (
    ManifestReread as ManifestReread,
)
from ._manifest_parts import (
    ManifestScores as ManifestScores,
)
from ._manifest_parts import (
    PlannedWork as PlannedWork,
)
from ._manifest_parts import (
    Prices as Prices,
)
from ._manifest_parts import (
    RepliesRead as RepliesRead,
)
from ._manifest_parts import (
    RereadSource as RereadSource,
)
from ._manifest_parts import (
    Shortened as Shortened,
)
from ._manifest_parts import (
    Units as Units,
)
from ._manifest_tuning import (
    TuningManifest as TuningManifest,
)
from ._manifest_tuning import (
    TuningSplit as TuningSplit,
)
from ._manifest_tuning import (
    read_tuning as read_tuning,
)
from ._manifest_tuning import (
    tunings_in as tunings_in,
)
from ._part import RunPart as RunPart
from ._parts import with_parts as with_parts
from ._patients import with_patients as with_patients
from ._people import read_labels as read_labels
from ._people import read_profiles as read_profiles
from ._protocol import (
    EarlierProtocol as EarlierProtocol,
)
from ._protocol import (
    Erasure as Erasure,
)
from ._protocol import (
    Protocol as Protocol,
)
from ._protocol import (
    Registration as Registration,
)
from ._protocol import (
    SeenRun as SeenRun,
)
from ._protocol import (
    TouchedBy as TouchedBy,
)
from ._protocol import (
    protocols_in as protocols_in,
)
from ._protocol import (
    read_protocol as read_protocol,
)
from ._protocol import (
    rules_hash as rules_hash,
)
from ._records import (
    Body as Body,
)
from ._records import (
    Grade as Grade,
)
from ._records import (
    Record as Record,
)
from ._records import (
    RecordedCut as RecordedCut,
)
from ._records import (
    RecordedFailure as RecordedFailure,
)
from ._records import (
    RecordedOutcome as RecordedOutcome,
)
from ._records import (
    Records as Records,
)
from ._signature import (
    check_signature as check_signature,
)
from ._signature import (
    check_text as check_text,
)
from ._signature import (
    sign_run as sign_run,
)
from ._signature import (
    sign_text as sign_text,
)
from ._stated import (
    DangerBy as DangerBy,
)
from ._stated import (
    GateRules as GateRules,
)
from ._stated import (
    ReportSettings as ReportSettings,
)
from ._stated import (
    StatedGate as StatedGate,
)
from ._ways import jury_warnings as jury_warnings
from ._ways import mixed_ways as mixed_ways
from ._ways import voting_words as voting_words
