"""What a leaderboard is made of: the items, what each candidate answered, how it was marked, and what it cost.

Runs of our own write it, and so may whoever reads another harness's files. Nothing in it is an average yet.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from medjury.foundation.documents import nearest
from medjury.foundation.errors import MedjuryError
from medjury.statistics import Estimate
from medjury.validation import ORDER, Word

# How an answer counts: it has a score; the candidate itself failed to give one; or nobody knows what it would be.
State = Literal["scored", "unanswered", "missing"]


@dataclass(frozen=True, slots=True)
class ItemResult:
    """One item of a benchmark. `decided` says that a trivial answer is right on it."""

    benchmark: str
    item: str
    prompt: str = ""
    gold: tuple[str, ...] = ()
    patient: str = ""
    decided: bool = False


@dataclass(frozen=True, slots=True)
class AnswerResult:
    """One candidate's answer to one item. `score` (0 to 1) is that of the benchmark's first metric; an answer
    without one is `unanswered`, where the candidate declined, said nothing or nothing readable, and `missing`,
    where the transport or the jury failed: `reason` says why. `others` are the scores of the further metrics."""

    benchmark: str
    item: str
    candidate: str
    state: State
    score: float | None = None
    reason: str = ""
    answer: str = ""
    read: str = ""
    note: str = ""
    others: Mapping[str, float] = field(default_factory=dict)
    weight: float = 1.0  # of a score that is averaged over parts of items, such as codes

    def __post_init__(self) -> None:
        if (self.state == "scored") != (self.score is not None) or (self.state == "scored") == bool(
            self.reason
        ):
            raise ValueError("an answer has either a score or the reason why there is none")
        if self.score is not None and not 0 <= self.score <= 1:
            raise ValueError(f"a score lies between 0 and 1, not {self.score}")


@dataclass(frozen=True, slots=True)
class BaselineResult:
    """A trivial answer to every item, such as "always A", and its scores by item, with their weights where they
    have any."""

    benchmark: str
    name: str
    scores: Mapping[str, float]
    weights: Mapping[str, float] = field(default_factory=dict)

    def mean(self, items: Sequence[str]) -> float:
        """The score over these items."""
        weights = [self.weights.get(item, 1.0) for item in items]
        return sum(w * self.scores[item] for w, item in zip(weights, items, strict=True)) / sum(weights)


@dataclass(frozen=True, slots=True)
class JuryResult:
    """The jury of an open benchmark: who judged, where its run folder is, and the verdict on it, dimension by
    dimension. `clinicians` counts those who rated its answers."""

    judges: tuple[str, ...]
    folder: str = ""
    verdicts: Mapping[str, str] = field(default_factory=dict)
    why: str = ""
    clinicians: int = 0

    @property
    def word(self) -> Word:
        """The worst of its verdicts: a score is the mean of all axes."""
        return next((word for word in reversed(ORDER) if word in self.verdicts.values()), "NOT VALIDATED")


@dataclass(frozen=True, slots=True)
class AgreementResult:
    """How far the jury, text metrics and one clinician agree with clinicians on one benchmark (or on all that
    clinicians rated): ICC(3,k) on z-scores, by who is compared."""

    benchmark: str
    answers: int
    clinicians: int
    columns: Mapping[str, Estimate]


@dataclass(frozen=True, slots=True)
class HelmResult:
    """How HELM scores a benchmark: its name there, the rule of its mark in words (none where a jury of models
    scores it), and its items and prompt where they are not ours."""

    name: str
    rule: str
    split: str = ""
    prompt: str = ""


@dataclass(frozen=True, slots=True)
class BenchmarkResult:
    """A benchmark as it was run: its facts, and which of its items were asked. `sample` says that these are the
    made-up rows that show its format, and no data."""

    name: str
    title: str
    category: str
    subcategory: str = ""
    metric: str = ""
    metrics: tuple[str, ...] = ()
    open: bool = False
    access: str = "public"
    curation: str = "existing"
    sample: bool = False
    source: str = ""
    licence: str = ""
    citation: str = ""
    drawn_from: int = 0  # items there are, of which those asked were drawn
    left_out: Mapping[str, int] = field(default_factory=dict)
    problems: int = 0
    jury: JuryResult | None = None
    known: bool = True  # the files are the source's own, by their checksums
    helm: HelmResult | None = None  # where HELM's marks were asked for


@dataclass(frozen=True, slots=True)
class CandidateResult:
    """A model under test. `why` says what stopped it, where something did."""

    name: str
    vendor: str = ""
    model: str = ""
    window: int | None = None
    price: tuple[float, float] | None = None  # per million tokens, in and out
    why: str = ""


@dataclass(frozen=True, slots=True)
class Spending:
    """Calls and tokens of one payer on one benchmark, and their price: `bound` with every answer as long as it may
    be, `expected`, and what it came to. A price that is not known is None."""

    payer: str  # a candidate, or a judge
    benchmark: str
    candidate: str  # whose answers were judged; the payer itself where it answers
    role: Literal["candidate", "judge"] = "candidate"
    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    money: float | None = None
    bound_tokens: int = 0
    bound_money: float | None = None
    expected_tokens: int = 0
    expected_money: float | None = None


@dataclass(frozen=True, slots=True)
class ReachResult:
    """What a judge said of a benchmark's gold answers: by item 1 where the input is enough to give it, 0 where it
    is not, None where the judge could not say."""

    benchmark: str
    judge: str
    answerable: Mapping[str, float | None]


@dataclass(frozen=True, slots=True)
class MemoryResult:
    """What a probe found: does a candidate know a benchmark by heart? None where that cannot be told."""

    candidate: str
    benchmark: str
    test: str
    memorised: bool | None
    text: str


@dataclass(frozen=True, slots=True)
class Results:
    """Everything of a suite's run."""

    suite: str
    benchmarks: tuple[BenchmarkResult, ...]
    candidates: tuple[CandidateResult, ...]
    items: tuple[ItemResult, ...]
    answers: tuple[AnswerResult, ...]
    baselines: tuple[BaselineResult, ...] = ()
    spending: tuple[Spending, ...] = ()
    agreement: tuple[AgreementResult, ...] = ()
    currency: str = "USD"
    prices_as_of: str = ""
    paid: float | None = None  # all that was ever paid, failed and repeated calls included
    made_at: str = ""
    notes: tuple[str, ...] = ()
    reach: tuple[ReachResult, ...] = ()
    memory: tuple[MemoryResult, ...] = ()
    published: Mapping[str, Mapping[str, float]] = field(default_factory=dict)  # by HELM, of each model

    def by_item(self) -> dict[tuple[str, str], dict[str, AnswerResult]]:
        """By candidate and benchmark, the answer to each item."""
        found: dict[tuple[str, str], dict[str, AnswerResult]] = {}
        for answer in self.answers:
            found.setdefault((answer.candidate, answer.benchmark), {})[answer.item] = answer
        return found

    def items_of(self, benchmark: str, *, leave_out_decided: bool = False) -> list[ItemResult]:
        """The items of a benchmark; without those on which a trivial answer is right, where these are left out."""
        own = (each for each in self.items if each.benchmark == benchmark)
        return [each for each in own if not (leave_out_decided and each.decided)]

    def only(
        self, candidates: Sequence[str] | None = None, benchmarks: Sequence[str] | None = None
    ) -> Results:
        """The same with these candidates and benchmarks alone."""
        known = [each.name for each in self.candidates], [each.name for each in self.benchmarks]
        for named, there in zip((candidates, benchmarks), known, strict=True):
            for name in named or ():
                if name not in there:
                    raise MedjuryError(f"there is no {name!r} in these results; {nearest(name, there)}")
        own, those = (
            known[0] if candidates is None else candidates,
            known[1] if benchmarks is None else benchmarks,
        )
        return replace(
            self,
            candidates=tuple(each for each in self.candidates if each.name in own),
            benchmarks=tuple(each for each in self.benchmarks if each.name in those),
            items=tuple(each for each in self.items if each.benchmark in those),
            answers=tuple(each for each in self.answers if each.candidate in own and each.benchmark in those),
            baselines=tuple(each for each in self.baselines if each.benchmark in those),
            spending=tuple(
                each for each in self.spending if each.candidate in own and each.benchmark in those
            ),
            reach=tuple(each for each in self.reach if each.benchmark in those),
            memory=tuple(each for each in self.memory if each.candidate in own and each.benchmark in those),
            published={
                model: {name: score for name, score in scores.items() if name in those}
                for model, scores in self.published.items()
            },
        )
