"""What the claims of a unit will take, for a plan: calls and tokens to expect, and the most that there can be."""

from __future__ import annotations

from collections.abc import Sequence

from medjury.judging._claims.listing import MOST_CLAIMS, pieces
from medjury.judging._claims.prompts import (
    listing_messages,
    listing_schema,
    listing_system,
    verifying_schema,
    verifying_system,
)
from medjury.judging._claims.steps import BEFORE, Steps, needs_search
from medjury.judging._quotations import Source
from medjury.judging._rater import COMPLAINT, FRAME, Expected, Used, most_prompt, most_question
from medjury.models import Message, estimate_tokens

# One claim in so many tokens of text (the study of eConsults counted 24.9 claims in an answer of some 500 tokens),
# one important fact in so many of a record, and what a claim and a verdict take.
_TOKENS_PER_CLAIM, _TOKENS_PER_FACT, _CLAIM, _VERDICT = 20, 60, 70, 90


def expected_of(
    steps: Steps, taken_apart: Sequence[Source], held_against: Sequence[Source], *, question: str, facts: bool
) -> Expected:
    """Assumes one claim in twenty tokens of an answer, one important fact (`facts`) in sixty of a record, and that
    nothing is asked twice."""
    reading = steps.reading
    tokens = sum(estimate_tokens(source.text) for source in taken_apart)
    parts = sum(len(pieces(source.text, reading.piece)) for source in taken_apart)
    claims = max(1, round(tokens / (_TOKENS_PER_FACT if facts else _TOKENS_PER_CLAIM)))
    if reading.claims is not None:
        claims = min(claims, parts * reading.claims)
    calls = -(-claims // steps.batch)
    shown = sum(estimate_tokens(source.text) for source in held_against)
    if needs_search(held_against, reading):
        shown = min(shown, reading.most * reading.sentences * 30 * steps.batch)
    listing = estimate_tokens(listing_system(steps.rubric)) + _tokens(steps.listing_examples(None))
    listing = listing * parts + tokens
    asking = estimate_tokens(verifying_system(steps.rubric, steps.labels)) + _tokens(
        steps.verifying_examples()
    )
    verifying = (asking + shown) * calls + claims * _CLAIM // 2
    most = _listing_at_most(steps, taken_apart, question).plus(
        _verifying_at_most(steps, taken_apart, held_against, question)
    )
    return Expected(parts + calls, listing + verifying, claims * (_CLAIM + _VERDICT), most)


def _listing_at_most(steps: Steps, taken_apart: Sequence[Source], question: str) -> Used:
    """Every part is listed once, with the text before it."""
    used = Used()
    system = listing_system(steps.rubric, steps.least, steps.reading.claims)
    schema = listing_schema(steps.rubric.dimension("importance").values, steps.reading.claims)
    examples = steps.listing_examples(None)
    for source in taken_apart:
        for start, end in pieces(source.text, steps.reading.piece):
            before = source.text[max(0, start - BEFORE) : start]
            messages = listing_messages(system, question, before, source.text[start:end], examples)
            used = used.plus(most_question(most_prompt(messages, schema), steps.lister))
    return used


def _verifying_at_most(
    steps: Steps, taken_apart: Sequence[Source], held_against: Sequence[Source], question: str
) -> Used:
    """As if every part gave as many claims as are taken (`most_claims` bounds them), every claim were verified
    beside all the texts that may be shown, and every quotation were refused once."""
    reading, batch = steps.reading, steps.batch
    count = sum(len(pieces(source.text, reading.piece)) for source in taken_apart)
    claims = count * (reading.claims or MOST_CLAIMS)
    batches = -(-claims // batch)
    hits = 0 if not needs_search(held_against, reading) else reading.most * batch
    shown = sum(
        len(source.text.encode("utf-8", "replace")) + len(source.id) + len(source.label) + FRAME
        for source in held_against
    ) + hits * (FRAME + max(len(source.id) + len(source.label) for source in held_against))
    asked = [
        Message("system", verifying_system(steps.rubric, steps.labels)),
        *steps.verifying_examples(),
        Message("user", question),
    ]
    schema = verifying_schema(range(claims, claims + batch), steps.labels)
    complaint = COMPLAINT + FRAME * batch
    prompt = most_prompt(asked, schema) + shown + batch * (steps.lister.max_tokens + FRAME) + COMPLAINT
    again = prompt + steps.verifier.max_tokens + complaint
    first = Used().plus(most_question(prompt, steps.verifier, complaint), batches)
    return first.plus(most_question(again, steps.verifier, complaint), batches)


def _tokens(messages: Sequence[Message]) -> int:
    return sum(estimate_tokens(message.content) for message in messages)
