from ._afterwards.compared import check_scores as check_scores
from ._afterwards.opened_run import Run as Run, open_run as open_run
from ._afterwards.record import RecordResult as RecordResult, record_run as record_run
from ._afterwards.reread import RereadResult as RereadResult, reread_run as reread_run
from ._afterwards.run_cases import run_cases as run_cases, run_store as run_store
from ._answering import answering_study as answering_study
from ._clinicians.humans import (
    PANEL as PANEL,
    Humans as Humans,
    panel_file as panel_file,
    read_humans as read_humans,
)
from ._clinicians.queue_file import read_queue as read_queue
from ._clinicians.rated import (
    RatedRound as RatedRound,
    RatedStudy as RatedStudy,
    load_rated_study as load_rated_study,
)
from ._clinicians.roles import with_stated_roles as with_stated_roles
from ._cluster.crew import RayCluster as RayCluster
from ._conclude import RunResult as RunResult
from ._demonstration import (
    GOOD_JURY as GOOD_JURY,
    LIVE as LIVE,
    PlantedErrors as PlantedErrors,
    copy_demonstration as copy_demonstration,
    planted_errors as planted_errors,
    why_no_live as why_no_live,
)
from ._drafts.drafting import DraftResult as DraftResult
from ._examples import stated_examples as stated_examples
from ._file import ModelPart as ModelPart, PanelPart as PanelPart, RoundPart as RoundPart, StudyFile as StudyFile
from ._gate_settings import study_prices as study_prices
from ._hosts import check_store_host as check_store_host
from ._interrupts import stopped_after as stopped_after
from ._lock import StudyInUseError as StudyInUseError, only_run as only_run
from ._material.hashed import AnswerHashes as AnswerHashes, HashedCases as HashedCases
from ._notebook import Stopper as Stopper, Watcher as Watcher
from ._planning.outlook import gate_outlook as gate_outlook
from ._planning.plan import JudgePlan as JudgePlan, RunPlan as RunPlan, plan_study as plan_study
from ._rater_with import judge_place as judge_place, model_of as model_of, rater_with as rater_with
from ._run import (
    OverBudgetError as OverBudgetError,
    arun_study as arun_study,
    audit_injection as audit_injection,
    check_drafting as check_drafting,
    check_study as check_study,
    draft_study as draft_study,
    judge_cases as judge_cases,
    refuse_over_budget as refuse_over_budget,
    register_study as register_study,
    run_study as run_study,
)
from ._stated.gate import danger_note as danger_note, read_rules as read_rules
from ._stated.manifest import (
    answering_models as answering_models,
    describe_judges as describe_judges,
    describe_juries as describe_juries,
    finished_run as finished_run,
    run_name as run_name,
)
from ._stated.prompts import prompt_version as prompt_version, prompts_before_tokens as prompts_before_tokens
from ._stated.protocol import (
    RecordedErasure as RecordedErasure,
    Registered as Registered,
    record_erasure as record_erasure,
)
from ._stated.touched import TUNED as TUNED, touched_marks as touched_marks, tuned_facts as tuned_facts
from ._study import Study as Study, load_study as load_study
from ._transcripts.calls import CallFiles as CallFiles, calls_in as calls_in
from ._transcripts.collection import TranscriptCollection as TranscriptCollection, collect as collect
from ._transcripts.study import (
    TranscriptStudy as TranscriptStudy,
    judges_settings as judges_settings,
    transcript_study as transcript_study,
)
