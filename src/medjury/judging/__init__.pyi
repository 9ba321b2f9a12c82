from ._adaptive.body import AdaptiveBody as AdaptiveBody
from ._adaptive.jury import AdaptiveJury as AdaptiveJury
from ._adaptive.rule import (
    AdaptiveRule as AdaptiveRule,
    WidthCell as WidthCell,
    Widths as Widths,
    read_widths as read_widths,
    width_cell as width_cell,
)
from ._adaptive.rule_file import (
    SavedAdaptiveRule as SavedAdaptiveRule,
    load_adaptive_rule as load_adaptive_rule,
    save_adaptive_rule as save_adaptive_rule,
)
from ._answerer import TOKENS_PER_ANSWER as TOKENS_PER_ANSWER, Answerer as Answerer, AnswerText as AnswerText
from ._asking import Asked as Asked, Sample as Sample, Speaker as Speaker, Unusable as Unusable, ask_for as ask_for
from ._breaker import Breaker as Breaker, HopelessError as HopelessError, UnreachableError as UnreachableError
from ._claims.body import ClaimsBody as ClaimsBody, RecordedClaim as RecordedClaim
from ._claims.cases import claim_cases as claim_cases
from ._claims.labels import CLAIM_LABELS as CLAIM_LABELS, ClaimLabelName as ClaimLabelName
from ._claims.measures import ShareRule as ShareRule
from ._claims.rater import Claims as Claims
from ._claims.share import (
    ClaimFinding as ClaimFinding,
    Support as Support,
    decide_support as decide_support,
    support_share as support_share,
    worst_claim as worst_claim,
)
from ._claims.statistics import (
    ClaimStatistics as ClaimStatistics,
    ClaimTally as ClaimTally,
    claim_statistics as claim_statistics,
)
from ._claims.steps import ClaimReading as ClaimReading
from ._claims.worked import (
    CLAIM_EXAMPLES as CLAIM_EXAMPLES,
    WorkedClaim as WorkedClaim,
    WorkedClaims as WorkedClaims,
)
from ._closed_loop.body import ClosedLoopBody as ClosedLoopBody, LoopRound as LoopRound
from ._closed_loop.gate import Checked as Checked, DraftGate as DraftGate
from ._closed_loop.loop import ClosedLoop as ClosedLoop
from ._closed_loop.story import revised_cases as revised_cases
from ._concordance import Concordance as Concordance
from ._concordance_body import ConcordanceBody as ConcordanceBody, RecordedOrder as RecordedOrder
from ._context.fitted import Fitted as Fitted, first_questions as first_questions
from ._context.shortening import UNTOUCHABLE as UNTOUCHABLE, Truncation as Truncation, shorten as shorten
from ._counting.aggregate import aggregate as aggregate, derived as derived
from ._counting.combine import RULES as RULES, Rule as Rule, combine as combine
from ._deliberation.body import DeliberationBody as DeliberationBody, RecordedStep as RecordedStep
from ._deliberation.personas import PERSONA_GROUPS as PERSONA_GROUPS, PERSONAS as PERSONAS, Persona as Persona
from ._deliberation.rater import Deliberation as Deliberation
from ._deliberation.rules import Agent as Agent
from ._drafting.answer import SECTIONS as SECTIONS
from ._drafting.body import Citation as Citation, DraftBody as DraftBody
from ._drafting.drafted import AfterDrafting as AfterDrafting, drafted_case as drafted_case
from ._drafting.drafter import (
    TOKENS_PER_DRAFT as TOKENS_PER_DRAFT,
    Drafter as Drafter,
    DraftingRules as DraftingRules,
)
from ._drafting.selection import SelectionRules as SelectionRules, select_sources as select_sources
from ._engine import JudgeProgress as JudgeProgress, Progress as Progress, judge_all as judge_all
from ._evidence.quotation import Place as Place, Source as Source, check_evidence as check_evidence
from ._examples.consensus import Consensus as Consensus, consensus_of as consensus_of
from ._examples.drawn import DRAWS as DRAWS, Draw as Draw, DrawnExamples as DrawnExamples
from ._examples.split import (
    Family as Family,
    TrainingSplit as TrainingSplit,
    WorkedExample as WorkedExample,
    families_of as families_of,
    split_training as split_training,
)
from ._judge import Judge as Judge
from ._jury import Bench as Bench, Jury as Jury
from ._model_check import ModelChecked as ModelChecked
from ._prompt import (
    BEFORE_TOKENS as BEFORE_TOKENS,
    FIRST_VERSION as FIRST_VERSION,
    PROMPT_VERSION as PROMPT_VERSION,
    PROMPT_VERSIONS as PROMPT_VERSIONS,
    RECORD_FIRST as RECORD_FIRST,
    Prompt as Prompt,
    text_block as text_block,
    worked_messages as worked_messages,
)
from ._rater import (
    Beginning as Beginning,
    Expected as Expected,
    Rated as Rated,
    Rater as Rater,
    Unit as Unit,
    Used as Used,
)
from ._repeats import Repeats as Repeats
from ._repeats_body import RepeatsBody as RepeatsBody
from ._rereading import EarlierRun as EarlierRun, Reread as Reread
from ._rows import rows_of as rows_of
from ._scores import ScoresFile as ScoresFile, ScoresJudge as ScoresJudge
from ._sync import judge as judge, run_async as run_async
