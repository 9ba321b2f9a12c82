"""Studies: one study file is planned, run and concluded as one run folder that can be checked later."""

from medjury.doors import on_demand

with on_demand(__name__):
    from medjury.studies._afterwards.compared import check_scores
    from medjury.studies._afterwards.opened_run import Run, open_run
    from medjury.studies._afterwards.record import RecordResult, record_run
    from medjury.studies._afterwards.reread import RereadResult, reread_run
    from medjury.studies._afterwards.run_cases import run_cases, run_store
    from medjury.studies._answering import answering_study
    from medjury.studies._clinicians.humans import PANEL, Humans, panel_file, read_humans
    from medjury.studies._clinicians.queue_file import read_queue
    from medjury.studies._clinicians.rated import RatedRound, RatedStudy, load_rated_study
    from medjury.studies._clinicians.roles import with_stated_roles
    from medjury.studies._cluster.crew import RayCluster
    from medjury.studies._conclude import RunResult
    from medjury.studies._demonstration import (
        GOOD_JURY,
        LIVE,
        PlantedErrors,
        copy_demonstration,
        planted_errors,
        why_no_live,
    )
    from medjury.studies._drafts.drafting import DraftResult
    from medjury.studies._examples import stated_examples
    from medjury.studies._file import ModelPart, PanelPart, RoundPart, StudyFile
    from medjury.studies._gate_settings import study_prices
    from medjury.studies._hosts import check_store_host
    from medjury.studies._interrupts import stopped_after
    from medjury.studies._lock import StudyInUseError, only_run
    from medjury.studies._material.hashed import AnswerHashes, HashedCases
    from medjury.studies._notebook import Stopper, Watcher
    from medjury.studies._planning.outlook import gate_outlook
    from medjury.studies._planning.plan import JudgePlan, RunPlan, plan_study
    from medjury.studies._rater_with import judge_place, model_of, rater_with
    from medjury.studies._run import (
        OverBudgetError,
        arun_study,
        audit_injection,
        check_drafting,
        check_study,
        draft_study,
        judge_cases,
        refuse_over_budget,
        register_study,
        run_study,
    )
    from medjury.studies._stated.gate import danger_note, read_rules
    from medjury.studies._stated.manifest import (
        answering_models,
        describe_judges,
        describe_juries,
        finished_run,
        run_name,
    )
    from medjury.studies._stated.prompts import prompt_version, prompts_before_tokens
    from medjury.studies._stated.protocol import RecordedErasure, Registered, record_erasure
    from medjury.studies._stated.touched import TUNED, touched_marks, tuned_facts
    from medjury.studies._study import Study, load_study
    from medjury.studies._transcripts.calls import CallFiles, calls_in
    from medjury.studies._transcripts.collection import TranscriptCollection, collect
    from medjury.studies._transcripts.study import TranscriptStudy, judges_settings, transcript_study

__all__ = [
    "GOOD_JURY",
    "LIVE",
    "PANEL",
    "TUNED",
    "AnswerHashes",
    "CallFiles",
    "DraftResult",
    "HashedCases",
    "Humans",
    "JudgePlan",
    "ModelPart",
    "OverBudgetError",
    "PanelPart",
    "PlantedErrors",
    "RatedRound",
    "RatedStudy",
    "RayCluster",
    "RecordResult",
    "RecordedErasure",
    "Registered",
    "RereadResult",
    "RoundPart",
    "Run",
    "RunPlan",
    "RunResult",
    "Stopper",
    "Study",
    "StudyFile",
    "StudyInUseError",
    "TranscriptCollection",
    "TranscriptStudy",
    "Watcher",
    "answering_models",
    "answering_study",
    "arun_study",
    "audit_injection",
    "calls_in",
    "check_drafting",
    "check_scores",
    "check_store_host",
    "check_study",
    "collect",
    "copy_demonstration",
    "danger_note",
    "describe_judges",
    "describe_juries",
    "draft_study",
    "finished_run",
    "gate_outlook",
    "judge_cases",
    "judge_place",
    "judges_settings",
    "load_rated_study",
    "load_study",
    "model_of",
    "only_run",
    "open_run",
    "panel_file",
    "plan_study",
    "planted_errors",
    "prompt_version",
    "prompts_before_tokens",
    "rater_with",
    "read_humans",
    "read_queue",
    "read_rules",
    "record_erasure",
    "record_run",
    "refuse_over_budget",
    "register_study",
    "reread_run",
    "run_cases",
    "run_name",
    "run_store",
    "run_study",
    "stated_examples",
    "stopped_after",
    "study_prices",
    "touched_marks",
    "transcript_study",
    "tuned_facts",
    "why_no_live",
    "with_stated_roles",
]
