"""The two steps: list the claims of texts, piece by piece; then verify every claim against what was shown."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from medjury.instruments import Instrument, Reason, Unscored, load_instrument
from medjury.intake.cases import Case
from medjury.judging._asking import Asked, Sample, Speaker, ask_for
from medjury.judging._claims.claim import RecordedClaim, SeenPassage
from medjury.judging._claims.listing import (
    numbers_of,
    pieces,
    read_claims,
    says_something,
    some,
    strays,
    without_repeats,
)
from medjury.judging._claims.prompts import (
    OURS,
    Labels,
    listing_messages,
    listing_schema,
    listing_system,
    verifying_messages,
    verifying_system,
)
from medjury.judging._claims.share import MEASURES, Measure, ShareRule
from medjury.judging._claims.verifying import Verified, verify
from medjury.judging._claims.worked import WorkedClaims
from medjury.judging._quotations import CLOSENESS, Source
from medjury.judging._retrieval import Embed, Index, passages
from medjury.models import Answer, Gate, Message

# How much of what comes before a piece is shown with it, so that the piece can be understood.
BEFORE = 800
_Made = TypeVar("_Made")


@dataclass(frozen=True, slots=True)
class ClaimReading:
    """How texts are shown. Up to `whole` characters a text is verified against as a whole; of a longer one each
    claim sees the `most` passages (windows of `sentences`, `overlap` shared) that fit it best. Claims are listed
    from pieces of at most `piece` characters, at most `claims` of each where that is set. `embed` ranks passages
    by meaning too, and `embed_name` tells which model that is."""

    whole: int = 20_000
    most: int = 8
    sentences: int = 4
    overlap: int = 1
    piece: int = 4_000
    claims: int | None = None
    closeness: float = CLOSENESS
    embed: Embed | None = field(default=None, compare=False)
    embed_name: str = ""


@dataclass(frozen=True)
class Listed:
    """The claims of some texts. `repeats` name the place of the claim they repeat; `set_aside` are facts of too
    little importance to look for; `failure` is why there is no list."""

    claims: Sequence[RecordedClaim] = ()
    repeats: Sequence[tuple[RecordedClaim, int]] = ()
    set_aside: Sequence[RecordedClaim] = ()
    failure: Unscored | None = None
    answers: Sequence[Answer] = ()
    parts: int = 0
    silent: int = 0  # parts of which nothing was listed


@dataclass(frozen=True)
class Steps:
    """Who lists and who verifies, how, and what follows from it: see `Claims`."""

    name: str
    instrument: Instrument
    lister: Speaker
    verifier: Speaker
    rule: ShareRule = field(default_factory=ShareRule)
    reading: ClaimReading = field(default_factory=ClaimReading)
    batch: int = 1
    least: int = 2
    against: str | None = None
    measures: Mapping[str, Measure] = field(default_factory=lambda: dict(MEASURES))
    rubric: Instrument = field(default_factory=lambda: load_instrument("claims"))
    labels: Labels = OURS
    examples: Sequence[WorkedClaims] = ()

    def listing_examples(self, least: int | None) -> list[Message]:
        return [message for each in self.examples for message in each.listing(least)]

    def verifying_examples(self) -> list[Message]:
        return [message for each in self.examples for message in each.verifying(self.labels)]


async def list_claims(
    steps: Steps, sources: Sequence[Source], *, case: Case, gate: Gate, least: int | None, sample: Sample
) -> Listed:
    """One call for each piece of each text. A piece that fails leaves no list at all: a list with a hole would
    look complete."""
    reading, question, examples = steps.reading, question_of(case), steps.listing_examples(least)
    system = listing_system(steps.rubric, least, reading.claims)
    grades = steps.rubric.dimension("importance").values
    schema = listing_schema(grades, reading.claims)
    parts = [(source, place) for source in sources for place in pieces(source.text, reading.piece)]

    async def one(source: Source, start: int, end: int) -> Asked[list[RecordedClaim]]:
        def read(value: Any) -> list[RecordedClaim]:
            claims = read_claims(value, source, grades, reading.claims)
            # Of a record only what matters is listed, and a part of it may hold nothing that does.
            return claims if least is not None else some(claims, source.text[start:end])

        before = source.text[max(0, start - BEFORE) : start]
        return await ask_for(
            gate,
            steps.lister,
            listing_messages(system, question, before, source.text[start:end], examples),
            schema,
            read,
            sample,
            ["list", case.fingerprint(), source.id, start, end, least],
        )

    done = await together([one(source, *place) for source, place in parts])
    answers = [answer for each in done for answer in each.answers]
    for number, asked in enumerate(done, start=1):
        if (failure := asked.failure) is None:
            continue
        where = f"part {number} of {len(parts)}: " if len(parts) > 1 else ""
        what = failure.message
        if failure.reason is Reason.TRUNCATED:
            most = steps.lister.max_tokens
            what = f"the list was cut off at {most} tokens; raise list_tokens, or set most_claims"
        failed_listing = Unscored(failure.reason, f"listing the claims, {where}{what}")
        return Listed(failure=failed_listing, answers=answers, parts=len(parts))
    found = [claim for each in done for claim in each.value or ()]
    if least is not None and not found and any(says_something(source.text) for source in sources):
        words = sum(len(source.text.split()) for source in sources)
        nothing = f"no fact of importance {least} or more was listed from a record of {words} words"
        return Listed(failure=Unscored(Reason.MISSING, nothing), answers=answers, parts=len(parts))
    silent = sum(not each.value for each in done)
    kept, repeats = without_repeats(each for each in found if least is None or each.importance >= least)
    aside = [each for each in found if least is not None and each.importance < least]
    numbers = {source.id: set(numbers_of(source.text)) | set(numbers_of(question)) for source in sources}
    claims = [
        each.replaced(number=number, stray_numbers=tuple(strays(each, numbers[each.source])))
        for number, each in enumerate(kept, start=1)
    ]
    return Listed(claims, repeats, aside, None, answers, len(parts), silent)


async def verify_claims(
    steps: Steps,
    claims: Sequence[RecordedClaim],
    sources: Sequence[Source],
    *,
    case: Case,
    gate: Gate,
    sample: Sample,
) -> tuple[list[RecordedClaim], list[Answer], bool]:
    """Every claim with its verdict or why it has none; what that took; and whether one was asked about in vain.
    `batch` claims go to a call; a long record is searched for each claim."""
    batch, question, examples = steps.batch, question_of(case), steps.verifying_examples()
    system = verifying_system(steps.rubric, steps.labels)
    claims = await _seen(claims, sources, steps.reading)
    checked: dict[int, RecordedClaim] = {}
    askable: list[RecordedClaim] = []
    for each in claims:
        if each.seen:
            askable.append(each)
        else:
            nothing = Unscored(Reason.MISSING, "no passage of the record shares a word with the claim")
            checked[each.number] = each.judged(None, failure=nothing)

    async def one(asked: Sequence[RecordedClaim]) -> Verified:
        seen = [passage for each in asked if each.seen != "whole" for passage in each.seen]
        shown = _shown(seen, sources) if seen else sources
        return await verify(
            asked,
            shown,
            messages=verifying_messages(system, question, shown, asked, examples),
            case=case,
            gate=gate,
            speaker=steps.verifier,
            closeness=steps.reading.closeness,
            sample=sample,
            labels=steps.labels,
        )

    done = await together([one(askable[start : start + batch]) for start in range(0, len(askable), batch)])
    for verified in done:
        checked |= verified.value or {}
    answers = [answer for verified in done for answer in verified.answers]
    failed = any(verified.failure is not None for verified in done)
    return [checked[each.number] for each in claims], answers, failed


def question_of(case: Case) -> str:
    question = case.input("question")
    return question if isinstance(question, str) else ""


def needs_search(sources: Sequence[Source], reading: ClaimReading) -> bool:
    return sum(len(source.text) for source in sources) > reading.whole


async def _seen(
    claims: Sequence[RecordedClaim], sources: Sequence[Source], reading: ClaimReading
) -> list[RecordedClaim]:
    """Every claim with the passages that fit it best, or "whole" where the texts are short enough for that."""
    if not needs_search(sources, reading):
        return [claim.replaced(seen="whole") for claim in claims]
    found = [
        passage
        for source in sources
        for passage in passages(source, size=reading.sentences, overlap=reading.overlap)
    ]

    def search() -> list[RecordedClaim]:
        index = Index(found, reading.embed)
        return [
            claim.replaced(
                seen=tuple(
                    SeenPassage(source=each.id, start=each.offset, end=each.end, score=round(score, 4))
                    for each, score in index.search(claim.claim, reading.most)
                )
            )
            for claim in claims
        ]

    # What embeds may be slow: the other calls in flight must not wait for it.
    return search() if reading.embed is None else await asyncio.to_thread(search)


def _shown(seen: Sequence[SeenPassage], sources: Sequence[Source]) -> list[Source]:
    """The passages that a call shows, in the order of the record; those that overlap or touch become one."""
    shown: list[Source] = []
    for source in sources:
        merged: list[tuple[int, int]] = []
        for start, end in sorted({(each.start, each.end) for each in seen if each.source == source.id}):
            if merged and not source.text[merged[-1][1] : start].strip():
                merged[-1] = merged[-1][0], max(end, merged[-1][1])
            else:
                merged.append((start, end))
        shown += [
            Source(source.id, source.text[start:end], start, source.label, source) for start, end in merged
        ]
    return shown


async def together(work: Sequence[Awaitable[_Made]]) -> list[_Made]:
    """All results in order; an error is raised as it is, once all have ended: a call in flight is paid for, and
    its reply is kept for the next run."""
    done = await asyncio.gather(*work, return_exceptions=True)
    for each in done:
        if isinstance(each, BaseException):
            raise each
    return [each for each in done if not isinstance(each, BaseException)]
