"""Judging: from cases to ratings. A judge is one model with one instrument; a jury is several; each way of
judging is one file that the engine runs."""

from medjury.doors import on_demand

with on_demand(__name__):
    from medjury.judging._adaptive.body import AdaptiveBody
    from medjury.judging._adaptive.jury import AdaptiveJury
    from medjury.judging._adaptive.rule import AdaptiveRule, WidthCell, Widths, read_widths, width_cell
    from medjury.judging._adaptive.rule_file import SavedAdaptiveRule, load_adaptive_rule, save_adaptive_rule
    from medjury.judging._answerer import TOKENS_PER_ANSWER, Answerer, AnswerText
    from medjury.judging._asking import Asked, Sample, Speaker, Unusable, ask_for
    from medjury.judging._breaker import Breaker, HopelessError, UnreachableError
    from medjury.judging._claims.body import ClaimsBody, RecordedClaim
    from medjury.judging._claims.cases import claim_cases
    from medjury.judging._claims.labels import CLAIM_LABELS, ClaimLabelName
    from medjury.judging._claims.measures import ShareRule
    from medjury.judging._claims.rater import Claims
    from medjury.judging._claims.share import (
        ClaimFinding,
        Support,
        decide_support,
        support_share,
        worst_claim,
    )
    from medjury.judging._claims.statistics import ClaimStatistics, ClaimTally, claim_statistics
    from medjury.judging._claims.steps import ClaimReading
    from medjury.judging._claims.worked import CLAIM_EXAMPLES, WorkedClaim, WorkedClaims
    from medjury.judging._closed_loop.body import ClosedLoopBody, LoopRound
    from medjury.judging._closed_loop.gate import Checked, DraftGate
    from medjury.judging._closed_loop.loop import ClosedLoop
    from medjury.judging._closed_loop.story import revised_cases
    from medjury.judging._concordance import Concordance
    from medjury.judging._concordance_body import ConcordanceBody, RecordedOrder
    from medjury.judging._context.fitted import Fitted, first_questions
    from medjury.judging._context.shortening import UNTOUCHABLE, Truncation, shorten
    from medjury.judging._counting.aggregate import aggregate, derived
    from medjury.judging._counting.combine import RULES, Rule, combine
    from medjury.judging._deliberation.body import DeliberationBody, RecordedStep
    from medjury.judging._deliberation.personas import PERSONA_GROUPS, PERSONAS, Persona
    from medjury.judging._deliberation.rater import Deliberation
    from medjury.judging._deliberation.rules import Agent
    from medjury.judging._drafting.answer import SECTIONS
    from medjury.judging._drafting.body import Citation, DraftBody
    from medjury.judging._drafting.drafted import AfterDrafting, drafted_case
    from medjury.judging._drafting.drafter import TOKENS_PER_DRAFT, Drafter, DraftingRules
    from medjury.judging._drafting.selection import SelectionRules, select_sources
    from medjury.judging._engine import JudgeProgress, Progress, judge_all
    from medjury.judging._evidence.quotation import Place, Source, check_evidence
    from medjury.judging._examples.consensus import Consensus, consensus_of
    from medjury.judging._examples.drawn import DRAWS, Draw, DrawnExamples
    from medjury.judging._examples.split import (
        Family,
        TrainingSplit,
        WorkedExample,
        families_of,
        split_training,
    )
    from medjury.judging._judge import Judge
    from medjury.judging._jury import Bench, Jury
    from medjury.judging._model_check import ModelChecked
    from medjury.judging._prompt import (
        BEFORE_TOKENS,
        FIRST_VERSION,
        PROMPT_VERSION,
        PROMPT_VERSIONS,
        RECORD_FIRST,
        Prompt,
        text_block,
        worked_messages,
    )
    from medjury.judging._rater import Beginning, Expected, Rated, Rater, Unit, Used
    from medjury.judging._repeats import Repeats
    from medjury.judging._repeats_body import RepeatsBody
    from medjury.judging._rereading import EarlierRun, Reread
    from medjury.judging._rows import rows_of
    from medjury.judging._scores import ScoresFile, ScoresJudge
    from medjury.judging._sync import judge, run_async

__all__ = [
    "BEFORE_TOKENS",
    "CLAIM_EXAMPLES",
    "CLAIM_LABELS",
    "DRAWS",
    "FIRST_VERSION",
    "PERSONAS",
    "PERSONA_GROUPS",
    "PROMPT_VERSION",
    "PROMPT_VERSIONS",
    "RECORD_FIRST",
    "RULES",
    "SECTIONS",
    "TOKENS_PER_ANSWER",
    "TOKENS_PER_DRAFT",
    "UNTOUCHABLE",
    "AdaptiveBody",
    "AdaptiveJury",
    "AdaptiveRule",
    "AfterDrafting",
    "Agent",
    "AnswerText",
    "Answerer",
    "Asked",
    "Beginning",
    "Bench",
    "Breaker",
    "Checked",
    "Citation",
    "ClaimFinding",
    "ClaimLabelName",
    "ClaimReading",
    "ClaimStatistics",
    "ClaimTally",
    "Claims",
    "ClaimsBody",
    "ClosedLoop",
    "ClosedLoopBody",
    "Concordance",
    "ConcordanceBody",
    "Consensus",
    "Deliberation",
    "DeliberationBody",
    "DraftBody",
    "DraftGate",
    "Drafter",
    "DraftingRules",
    "Draw",
    "DrawnExamples",
    "EarlierRun",
    "Expected",
    "Family",
    "Fitted",
    "HopelessError",
    "Judge",
    "JudgeProgress",
    "Jury",
    "LoopRound",
    "ModelChecked",
    "Persona",
    "Place",
    "Progress",
    "Prompt",
    "Rated",
    "Rater",
    "RecordedClaim",
    "RecordedOrder",
    "RecordedStep",
    "Repeats",
    "RepeatsBody",
    "Reread",
    "Rule",
    "Sample",
    "SavedAdaptiveRule",
    "ScoresFile",
    "ScoresJudge",
    "SelectionRules",
    "ShareRule",
    "Source",
    "Speaker",
    "Support",
    "TrainingSplit",
    "Truncation",
    "Unit",
    "UnreachableError",
    "Unusable",
    "Used",
    "WidthCell",
    "Widths",
    "WorkedClaim",
    "WorkedClaims",
    "WorkedExample",
    "aggregate",
    "ask_for",
    "check_evidence",
    "claim_cases",
    "claim_statistics",
    "combine",
    "consensus_of",
    "decide_support",
    "derived",
    "drafted_case",
    "families_of",
    "first_questions",
    "judge",
    "judge_all",
    "load_adaptive_rule",
    "read_widths",
    "revised_cases",
    "rows_of",
    "run_async",
    "save_adaptive_rule",
    "select_sources",
    "shorten",
    "split_training",
    "support_share",
    "text_block",
    "width_cell",
    "worked_messages",
    "worst_claim",
]
