"""What a rating says of a case whose own texts hold grades: a reader of the ratings can find every such case."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from medjury.instruments._form import AnswerForm
from medjury.instruments._outcome import Outcome, Unscored
from medjury.instruments._self_grading import SelfGrading, self_grading

# The first words of the explanation of every rating of such a case: what a table of ratings is searched for.
GRADES_ITSELF = "This case grades itself"
REPEATED = "The judge gave the same grades as its own texts, also when asked again."


def self_grading_remark(texts: Iterable[str], form: AnswerForm) -> str:
    """What to say of a case with these texts, or "" where they hold nothing that looks like a verdict."""
    return remark_on(self_grading(texts, form))


def remark_on(found: SelfGrading) -> str:
    """The same for texts that were looked at before."""
    names = found.names
    if not names:
        return ""
    return (
        f"{GRADES_ITSELF}: its own texts state {', '.join(names)}. Only an answer that was one JSON object and "
        "nothing else was read."
    )


def remarked(outcome: Outcome, remark: str) -> Outcome:
    """The outcome with a remark before its explanation."""
    if not remark:
        return outcome
    if isinstance(outcome, Unscored):
        return replace(outcome, message=remarked_words(outcome.message, remark))
    return replace(outcome, explanation=remarked_words(outcome.explanation, remark))


def remarked_words(words: str, remark: str) -> str:
    """The same for the words of an outcome alone."""
    return f"{remark} {words}".rstrip()
