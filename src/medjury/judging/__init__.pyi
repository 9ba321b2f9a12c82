from ._adaptive.jury import AdaptiveBody as AdaptiveBody
from ._adaptive.jury import AdaptiveJury as AdaptiveJury
from ._adaptive.rule import (
    AdaptiveRule as AdaptiveRule,
)
from ._adaptive.rule import (
    WidthCell as WidthCell,
)
from ._adaptive.rule import (
    Widths as Widths,
)
from ._adaptive.rule import (
    read_widths as read_widths,
)
from ._adaptive.rule import (
    width_cell as width_cell,
)
from ._adaptive.rule_file import (
    SavedAdaptiveRule as SavedAdaptiveRule,
)
from ._adaptive.rule_file import (
    load_adaptive_rule as load_adaptive_rule,
)
from ._adaptive.rule_file import (
    save_adaptive_rule as save_adaptive_rule,
)
from ._answerer import TOKENS_PER_ANSWER as TOKENS_PER_ANSWER
from ._answerer import Answerer as Answerer
from ._answerer import AnswerText as AnswerText
from ._asking import (
    Asked as Asked,
)
from ._asking import (
    Sample as Sample,
)
from ._asking import (
    Speaker as Speaker,
)
from ._asking import (
    Unusable as Unusable,
)
from ._asking import (
    ask_for as ask_for,
)
from ._breaker import Breaker as Breaker
from ._breaker import HopelessError as HopelessError
from ._breaker import UnreachableError as UnreachableError
from ._claims.body import ClaimsBody as ClaimsBody
from ._claims.body import RecordedClaim as RecordedClaim
from ._claims.cases import claim_cases as claim_cases
from ._claims.labels import CLAIM_LABELS as CLAIM_LABELS
from ._claims.labels import ClaimLabelName as ClaimLabelName
from ._claims.rater import Claims as Claims
from ._claims.rater import ShareRule as ShareRule
from ._claims.share import (
    ClaimFinding as ClaimFinding,
)
from ._claims.share import (
    Support as Support,
)
from ._claims.share import (
    decide_support as decide_support,
)
from ._claims.share import (
    support_share as support_share,
)
from ._claims.share import (
    worst_claim as worst_claim,
)
from ._claims.statistics import (
    ClaimStatistics as ClaimStatistics,
)
from ._claims.statistics import (
    ClaimTally as ClaimTally,
)
from ._claims.statistics import (
    claim_statistics as claim_statistics,
)
from ._claims.steps import ClaimReading as ClaimReading
from ._claims.worked import (
    CLAIM_EXAMPLES as CLAIM_EXAMPLES,
)
from ._claims.worked import (
    WorkedClaim as WorkedClaim,
)
from ._claims.worked import (
    WorkedClaims as WorkedClaims,
)
from ._closed_loop.gate import Checked as Checked
from ._closed_loop.gate import DraftGate as DraftGate
from ._closed_loop.loop import ClosedLoop as ClosedLoop
from ._closed_loop.story import (
    ClosedLoopBody as ClosedLoopBody,
)
from ._closed_loop.story import (
    LoopRound as LoopRound,
)
from ._closed_loop.story import (
    revised_cases as revised_cases,
)
from ._concordance import (
    Concordance as Concordance,
)
from ._concordance import (
    ConcordanceBody as ConcordanceBody,
)
from ._concordance import (
    RecordedOrder as RecordedOrder,
)
from ._context.fitted import Fitted as Fitted
from ._context.fitted import first_questions as first_questions
from ._context.shortening import UNTOUCHABLE as UNTOUCHABLE
from ._context.shortening import Truncation as Truncation
from ._context.shortening import shorten as shorten
from ._counting.aggregate import aggregate as aggregate
from ._counting.aggregate import derived as derived
from ._counting.combine import RULES as RULES
from ._counting.combine import Rule as Rule
from ._counting.combine import combine as combine
from ._deliberation.body import DeliberationBody as DeliberationBody
from ._deliberation.body import RecordedStep as RecordedStep
from ._deliberation.personas import PERSONA_GROUPS as PERSONA_GROUPS
from ._deliberation.personas import PERSONAS as PERSONAS
from ._deliberation.personas import Persona as Persona
from ._deliberation.rater import Deliberation as Deliberation
from ._deliberation.rules import Agent as Agent
from ._drafting.answer import SECTIONS as SECTIONS
from ._drafting.body import Citation as Citation
from ._drafting.body import DraftBody as DraftBody
from ._drafting.drafted import AfterDrafting as AfterDrafting
from ._drafting.drafted import drafted_case as drafted_case
from ._drafting.drafter import (
    TOKENS_PER_DRAFT as TOKENS_PER_DRAFT,
)
from ._drafting.drafter import (
    Drafter as Drafter,
)
from ._drafting.drafter import (
    DraftingRules as DraftingRules,
)
from ._drafting.selection import SelectionRules as SelectionRules
from ._drafting.selection import select_sources as select_sources
from ._engine import JudgeProgress as JudgeProgress
from ._engine import Progress as Progress
from ._engine import judge_all as judge_all
from ._evidence.quotation import Place as Place
from ._evidence.quotation import Source as Source
from ._evidence.quotation import check_evidence as check_evidence
from ._examples.consensus import Consensus as Consensus
from ._examples.consensus import consensus_of as consensus_of
from ._examples.drawn import DRAWS as DRAWS
from ._examples.drawn import Draw as Draw
from ._examples.drawn import DrawnExamples as DrawnExamples
from ._examples.split import (
    Family as Family,
)
from ._examples.split import (
    TrainingSplit as TrainingSplit,
)
from ._examples.split import (
    WorkedExample as WorkedExample,
)
from ._examples.split import (
    families_of as families_of,
)
from ._examples.split import (
    split_training as split_training,
)
from ._judge import Judge as Judge
from ._jury import Bench as Bench
from ._jury import Jury as Jury
from ._model_check import ModelChecked as ModelChecked
from ._prompt import (
    BEFORE_TOKENS as BEFORE_TOKENS,
)
from ._prompt import (
    FIRST_VERSION as FIRST_VERSION,
)
from ._prompt import (
    PROMPT_VERSION as PROMPT_VERSION,
)
from ._prompt import (
    PROMPT_VERSIONS as PROMPT_VERSIONS,
)
from ._prompt import (
    RECORD_FIRST as RECORD_FIRST,
)
from ._prompt import (
    Prompt as Prompt,
)
from ._prompt import (
    text_block as text_block,
)
from ._prompt import (
    worked_messages as worked_messages,
)
from ._rater import (
    Beginning as Beginning,
)
from ._rater import (
    Expected as Expected,
)
from ._rater import (
    Rated as Rated,
)
from ._rater import (
    Rater as Rater,
)
from ._rater import (
    Unit as Unit,
)
from ._rater import (
    Used as Used,
)
from ._repeats import Repeats as Repeats
from ._repeats import RepeatsBody as RepeatsBody
from ._rereading import EarlierRun as EarlierRun
from ._rereading import Reread as Reread
from ._rows import rows_of as rows_of
from ._scores import ScoresFile as ScoresFile
from ._scores import ScoresJudge as ScoresJudge
from ._sync import judge as judge
from ._sync import run_async as run_async
