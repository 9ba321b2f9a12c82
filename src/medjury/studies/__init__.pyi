from ._afterwards.compared import check_scores as check_scores
from ._afterwards.opened_run import (
    Run as Run,
)
from ._afterwards.opened_run import (
    open_run as open_run,
)
from ._afterwards.opened_run import (
    run_cases as run_cases,
)
from ._afterwards.opened_run import (
    run_store as run_store,
)
from ._afterwards.record import RecordResult as RecordResult
from ._afterwards.record import record_run as record_run
from ._afterwards.reread import RereadResult as RereadResult
from ._afterwards.reread import reread_run as reread_run
from ._answering import answering_study as answering_study
from ._clinicians.humans import (
    PANEL as PANEL,
)
from ._clinicians.humans import (
    Humans as Humans,
)
from ._clinicians.humans import (
    panel_file as panel_file,
)
from ._clinicians.humans import (
    read_humans as read_humans,
)
from ._clinicians.rated import (
    RatedRound as RatedRound,
)
from ._clinicians.rated import (
    RatedStudy as RatedStudy,
)
from ._clinicians.rated import (
    load_rated_study as load_rated_study,
)
from ._clinicians.rated import (
    read_queue as read_queue,
)
from ._clinicians.roles import with_stated_roles as with_stated_roles
from ._cluster.crew import RayCluster as RayCluster
from ._conclude import RunResult as RunResult
from ._demonstration import (
    GOOD_JURY as GOOD_JURY,
)
from ._demonstration import (
    LIVE as LIVE,
)
from ._demonstration import (
    PlantedErrors as PlantedErrors,
)
from ._demonstration import (
    copy_demonstration as copy_demonstration,
)
from ._demonstration import (
    planted_errors as planted_errors,
)
from ._demonstration import (
    why_no_live as why_no_live,
)
from ._drafts.drafting import DraftResult as DraftResult
from ._examples import stated_examples as stated_examples
from ._file import (
    ModelPart as ModelPart,
)
from ._file import (
    PanelPart as PanelPart,
)
from ._file import (
    RoundPart as RoundPart,
)
from ._file import (
    StudyFile as StudyFile,
)
from ._gate_settings import study_prices as study_prices
from ._hosts import check_store_host as check_store_host
from ._interrupts import stopped_after as stopped_after
from ._lock import StudyInUseError as StudyInUseError
from ._lock import only_run as only_run
from ._material.hashed import AnswerHashes as AnswerHashes
from ._material.hashed import HashedCases as HashedCases
from ._notebook import Stopper as Stopper
from ._notebook import Watcher as Watcher
from ._planning.outlook import gate_outlook as gate_outlook
from ._planning.plan import JudgePlan as JudgePlan
from ._planning.plan import RunPlan as RunPlan
from ._planning.plan import plan_study as plan_study
from ._rater_with import judge_place as judge_place
from ._rater_with import model_of as model_of
from ._rater_with import rater_with as rater_with
from ._run import (
    OverBudgetError as OverBudgetError,
)
from ._run import (
    arun_study as arun_study,
)
from ._run import (
    audit_injection as audit_injection,
)
from ._run import (
    check_drafting as check_drafting,
)
from ._run import (
    check_study as check_study,
)
from ._run import (
    draft_study as draft_study,
)
from ._run import (
    judge_cases as judge_cases,
)
from ._run import (
    refuse_over_budget as refuse_over_budget,
)
from ._run import (
    register_study as register_study,
)
from ._run import (
    run_study as run_study,
)
from ._stated.gate import danger_note as danger_note
from ._stated.gate import read_rules as read_rules
from ._stated.manifest import (
    answering_models as answering_models,
)
from ._stated.manifest import (
    describe_judges as describe_judges,
)
from ._stated.manifest import (
    describe_juries as describe_juries,
)
from ._stated.manifest import (
    finished_run as finished_run,
)
from ._stated.manifest import (
    run_name as run_name,
)
from ._stated.prompts import prompt_version as prompt_version
from ._stated.prompts import prompts_before_tokens as prompts_before_tokens
from ._stated.protocol import (
    RecordedErasure as RecordedErasure,
)
from ._stated.protocol import (
    Registered as Registered,
)
from ._stated.protocol import (
    record_erasure as record_erasure,
)
from ._stated.touched import TUNED as TUNED
from ._stated.touched import touched_marks as touched_marks
from ._stated.touched import tuned_facts as tuned_facts
from ._study import Study as Study
from ._study import load_study as load_study
from ._transcripts.calls import CallFiles as CallFiles
from ._transcripts.calls import calls_in as calls_in
from ._transcripts.collection import TranscriptCollection as TranscriptCollection
from ._transcripts.collection import collect as collect
from ._transcripts.study import (
    TranscriptStudy as TranscriptStudy,
)
from ._transcripts.study import (
    judges_settings as judges_settings,
)
from ._transcripts.study import (
    transcript_study as transcript_study,
)
