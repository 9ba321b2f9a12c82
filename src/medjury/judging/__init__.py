"""Judging: from cases to ratings. A judge is one model with one instrument; a jury is several; each way of
judging is one file that the engine runs."""

from medjury.judging._aggregate import aggregate, derived
from medjury.judging._asking import Asked, Speaker, Unusable, ask_for
from medjury.judging._combine import RULES, Rule, combine
from medjury.judging._deliberation import Agent, Deliberation
from medjury.judging._engine import Ledger, Progress, judge_all
from medjury.judging._judge import Judge
from medjury.judging._jury import Jury
from medjury.judging._personas import PERSONA_GROUPS, PERSONAS, Persona
from medjury.judging._prompt import PROMPT_VERSION, Prompt, text_block
from medjury.judging._rater import Expected, Rated, Rater, Unit, make_units
from medjury.judging._rows import outcome_columns, rows_of
from medjury.judging._sync import judge, run_async

__all__ = [
    "PERSONAS",
    "PERSONA_GROUPS",
    "PROMPT_VERSION",
    "RULES",
    "Agent",
    "Asked",
    "Deliberation",
    "Expected",
    "Judge",
    "Jury",
    "Ledger",
    "Persona",
    "Progress",
    "Prompt",
    "Rated",
    "Rater",
    "Rule",
    "Speaker",
    "Unit",
    "Unusable",
    "aggregate",
    "ask_for",
    "combine",
    "derived",
    "judge",
    "judge_all",
    "make_units",
    "outcome_columns",
    "rows_of",
    "run_async",
    "text_block",
]
