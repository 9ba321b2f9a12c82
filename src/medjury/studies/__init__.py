"""Studies: one study file is planned, run and concluded as one run folder that can be checked later."""

from medjury.studies._conclude import RunResult
from medjury.studies._drafting import DraftResult
from medjury.studies._gate import read_rules
from medjury.studies._humans import Humans, read_humans
from medjury.studies._manifest import run_name
from medjury.studies._outlook import gate_outlook
from medjury.studies._plan import JudgePlan, RunPlan, plan_study
from medjury.studies._protocol import Registered
from medjury.studies._record import RecordResult, record_run
from medjury.studies._reread import RereadResult, reread_run
from medjury.studies._run import check_drafting, check_study, draft_study, register_study, run_study
from medjury.studies._study import Study, load_study
from medjury.studies._transcript_calls import CallFiles, calls_in
from medjury.studies._transcript_collection import TranscriptCollection, collect
from medjury.studies._transcript_study import TranscriptStudy, judges_settings, transcript_study

__all__ = [
    "CallFiles",
    "DraftResult",
    "Humans",
    "JudgePlan",
    "RecordResult",
    "Registered",
    "RereadResult",
    "RunPlan",
    "RunResult",
    "Study",
    "TranscriptCollection",
    "TranscriptStudy",
    "calls_in",
    "check_drafting",
    "check_study",
    "collect",
    "draft_study",
    "gate_outlook",
    "judges_settings",
    "load_study",
    "plan_study",
    "read_humans",
    "read_rules",
    "record_run",
    "register_study",
    "reread_run",
    "run_name",
    "run_study",
    "transcript_study",
]
