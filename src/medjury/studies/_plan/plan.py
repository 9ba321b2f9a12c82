"""The plan: every case is read once before any call, so that a run knows its size, its price and its faults."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from medjury.foundation.errors import MedjuryError
from medjury.instruments import Unscored
from medjury.intake.cases import CaseCriteria, CaseReader, LeftOut, RedactedCases, not_known_text, pair_of
from medjury.judging import Rater, Used, shows_images
from medjury.models import ChatModel, Price, PriceList, no_images, takes_images
from medjury.statistics import Printable, counted, text_table
from medjury.store.runs import SCORES, ManifestScores, TouchedBy
from medjury.studies._file.models import JudgePart
from medjury.studies._file.study_file import BudgetPart
from medjury.studies._plan.case_facts import CaseParts, CaseVendors, PartsOfCases
from medjury.studies._plan.context_windows import WindowCheck
from medjury.studies._plan.gate import listed_cases, named_cases, unknown_note
from medjury.studies._plan.touched import TouchedCases
from medjury.studies._study.drafts import DraftedCases
from medjury.studies._study.material import (
    AnswerHashes,
    CaseLeaves,
    HashedCases,
    KeptCases,
    refuse_lost_criteria,
)
from medjury.studies._study.patient_groups import PatientGroups
from medjury.studies._study.study import Study

if TYPE_CHECKING:
    from medjury.studies._plan.clinicians import Humans

# Providers cache no shorter prompts.
LEAST_TOKENS = 1024
# The beginnings of so many records are kept in mind: questions about one record follow each other.
_MOST_KNOWN = 1_000


class Served:
    """Tokens read from the cache and written to it by the questions so far."""

    def __init__(self) -> None:
        self.read = 0
        self.written = 0
        self._known: dict[str, None] = {}

    def add(self, beginnings: Mapping[str, int], times: int = 1) -> None:
        """One more question that begins so, the shortest beginning first."""
        if not beginnings:
            return
        long = {each: tokens for each, tokens in beginnings.items() if tokens >= LEAST_TOKENS}
        read = max((tokens for each, tokens in long.items() if each in self._known), default=0)
        whole = max(long.values(), default=0)
        self.read += times * read
        self.written += times * (whole - read)
        for each in long:
            self._known[each] = None
        while len(self._known) > _MOST_KNOWN:
            del self._known[next(iter(self._known))]


# A stated assumption for what cannot be known before asking.
SECONDS_PER_CALL = 5.0
_MOST_SYSTEMS = 1_000


@dataclass(frozen=True)
class Planned:
    """Calls, their tokens and their price; `money` is None where the price is not known."""

    calls: int
    tokens_in: int
    tokens_out: int
    money: float | None


@dataclass(frozen=True)
class JudgePlan(Planned):
    """What one judge is expected to use, and the `most` that it can use."""

    name: str
    seconds: float
    most: Planned
    cached: int = 0  # of the tokens in, those that the provider's prompt cache is expected to serve


@dataclass(frozen=True)
class RunPlan:
    """What a run will do. What is expected counts first questions; the most, everything that may be asked."""

    cases: int
    skipped: int
    systems: Mapping[str, int]
    data_hash: str
    lacking: int  # cases without an input that the instrument needs: they will be unscored
    judges: tuple[JudgePlan, ...]
    currency: str
    units: Mapping[str, int] = field(default_factory=dict)  # of work, by judge
    notes: tuple[str, ...] = ()
    drafting: JudgePlan | None = None  # what writing the answers takes, where the study drafts them
    patients: Mapping[str, int] = field(default_factory=dict)  # cases that go with another
    repeated_texts: int = 0  # cases with the text of another case
    preflight: JudgePlan | None = None  # the question that each model is asked first
    budget: BudgetPart = field(default_factory=BudgetPart)
    known_of: PartsOfCases = field(default_factory=dict)
    answer_hashes: tuple[str, ...] = ()  # by which another study of the same answers is known
    leaves: CaseLeaves = field(default_factory=CaseLeaves, compare=False)  # a hash of each case
    left_out: LeftOut = field(default_factory=LeftOut)  # of the cases, with counts by reason
    touched: tuple[str, ...] = ()  # cases that tuning has seen: they serve development
    touched_by: tuple[TouchedBy, ...] = ()
    vendors: Mapping[str, str] = field(default_factory=dict)  # of the systems, as the cases name them
    criteria: CaseCriteria = field(default_factory=CaseCriteria, compare=False)
    scores: tuple[ManifestScores, ...] = ()  # what became of files of scores, by judge
    kept: KeptCases | None = field(default=None, compare=False)  # the cases, for the judging that follows
    timed: Mapping[str, float] = field(
        default_factory=dict
    )  # seconds of one call, by judge, where it was tried
    humans: Humans | None = field(default=None, compare=False)  # where they were read beside the cases

    @cached_property
    def cases_hash(self) -> str:
        """The hash of the cases in whatever order."""
        return self.leaves.hash()

    @property
    def parts(self) -> tuple[JudgePlan, ...]:
        """The preflight and the drafting, where there are any, and every judge."""
        first = (self.preflight, self.drafting)
        return (*(part for part in first if part is not None), *self.judges)

    @property
    def calls(self) -> int:
        """What the judges, and the drafting, are expected to ask."""
        return sum(part.calls for part in self.parts if part is not self.preflight)

    @property
    def money(self) -> float | None:
        """What everything is expected to cost; None where a price is not known."""
        return _sum(part.money for part in self.parts)

    @property
    def most(self) -> Planned:
        """The most that everything can take."""
        parts = [part.most for part in self.parts]
        return Planned(
            sum(part.calls for part in parts),
            sum(part.tokens_in for part in parts),
            sum(part.tokens_out for part in parts),
            _sum(part.money for part in parts),
        )

    def content(self) -> dict[str, Any]:
        """The plan as a program reads it."""
        return {
            "cases": self.cases,
            "rows_left_out": self.skipped,
            "cases_lacking_an_input": self.lacking,
            "calls": self.calls,
            "money": self.money,
            "currency": self.currency,
            "most": asdict(self.most),
            "parts": [asdict(part) for part in self.parts],
            "notes": list(self.notes),
        }

    def text(self) -> str:
        """The plan for a reader: calls, tokens, price and time, with what they rest on."""
        named = {name for each in self.systems for name in pair_of(each) or (each,)}
        systems = f", {len(named)} systems" if len(named) > 1 else ""
        pairs = bool(self.systems) and all(map(pair_of, self.systems))
        what = f"{self.cases // 2:,} pairs of answers, in both orders" if pairs else f"{self.cases:,} cases"
        lines = [f"{what}{systems}, data {self.data_hash[:12]}"]
        if self.skipped:
            lines.append(f"{self.skipped:,} rows left out because they could not be read")
        lines += [f"in the cases: {reason}: {count:,}" for reason, count in self.left_out.parts.items()]
        if self.lacking:
            lines.append(
                f"{self.lacking:,} cases lack an input that the instrument needs: they will be unscored"
            )
        lines += self.notes
        lines += text_table([row for part in self.parts for row in self._rows(part)])
        lines += [
            f"{part.name}: {part.cached:,} of these tokens in ({100 * part.cached / part.tokens_in:.0f} %) are "
            "expected from the prompt cache"
            for part in self.parts
            if part.cached
        ]
        expected = sum(part.calls for part in self.parts)
        lines.append(f"In all {expected:,} calls expected, price {self._price(self.money)};")
        lines.append(f"at most {self.most.calls:,} calls, price {self._price(self.most.money)}.")
        lines += self._beside_the_budget()
        lines.append(
            "Expected tokens are estimated from characters, the price from the dated price list, the time from "
            f"{self._seconds_text()}. The most has one token for each byte, every answer as long as "
            "`max_tokens` and asked for again as often as `reasks` allows, and every step that a way of "
            "judging may take. "
            "Calls that fail and are tried again come on top, and so do records that are shortened on the way. "
            "Answers already in the store cost nothing and are counted here."
        )
        return "\n".join(lines)

    def _seconds_text(self) -> str:
        timed = ", ".join(f"{name} {seconds:.1f} s" for name, seconds in self.timed.items())
        guessed = f"{SECONDS_PER_CALL:g} s a call"
        if not timed:
            return guessed
        return f"one call of that size that was timed on this machine ({timed}), else from {guessed}"

    def _rows(self, part: JudgePlan) -> Iterator[dict[str, Printable]]:
        for name, how, planned, time in (
            (part.name, "expected", part, f"{part.seconds / 60:.1f} min"),
            ("", "most", part.most, ""),
        ):
            yield {
                "of": name,
                "": how,
                "calls": planned.calls,
                "tokens in": planned.tokens_in,
                "tokens out": planned.tokens_out,
                "price": self._price(planned.money),
                "time": time,
            }

    def _price(self, money: float | None) -> str:
        return "not known" if money is None else f"{money:,.2f} {self.currency}"

    def _beside_the_budget(self) -> list[str]:
        """Whether the budget is enough for whatever may come."""
        caps = ((self.budget.calls, self.most.calls, "calls"), (self.budget.money, self.most.money, "money"))
        lines = []
        for cap, most, what in caps:
            if cap is None or most is None:
                continue
            stated = f"The budget ({cap:,g} in money)" if what == "money" else f"The budget ({cap:,} calls)"
            lines.append(
                f"{stated} covers the most."
                if cap >= most
                else f"{stated} is less than the most: the run may stop before its end, INCOMPLETE, and can go on "
                "with a larger one."
            )
        return lines


class _Total:
    """What was used so far, summed in place: a plan adds twice for every unit."""

    def __init__(self) -> None:
        self._calls = self._tokens_in = self._tokens_out = 0

    def add(self, used: Used, times: int) -> None:
        self._calls += times * used.calls
        self._tokens_in += times * used.tokens_in
        self._tokens_out += times * used.tokens_out

    @property
    def used(self) -> Used:
        return Used(self._calls, self._tokens_in, self._tokens_out)


def _sum(amounts: Iterable[float | None]) -> float | None:
    known = list(amounts)
    return None if any(each is None for each in known) else sum(each or 0.0 for each in known)


def plan_study(study: Study, *, asking: bool = True, rehearse: bool = False) -> RunPlan:
    """Read every case once: count it, hash it, check its inputs and estimate its tokens. Where nobody is to be
    `asking`, no model's window is looked at; a rehearsal leaves the store alone."""
    refuse_lost_criteria(study.file, study.settings)
    danger, scores = study.cautions, read_scores(study)
    count = lacking = with_images = 0
    shown = shows_images(study.instrument)
    systems: Counter[str] = Counter()
    kept = KeptCases(study.cases) if isinstance(study.cases, CaseReader) else None
    hashed = HashedCases(study.cases if kept is None else kept.reading())
    answers, leaves = AnswerHashes(), CaseLeaves()
    judges, repeats = study.jury.judges, study.jury.repeats
    totals = {judge.name: (_Total(), _Total()) for judge in judges}
    served = {judge.name: Served() for judge in judges}
    windows, units = WindowCheck(), dict.fromkeys(totals, 0)
    talks = False
    labels = () if study.settings.humans is None else study.settings.humans.labels.values()
    groups, vendors, criteria = PatientGroups(), CaseVendors(), CaseCriteria()
    parts = CaseParts(study.settings.gate.parts or (), set_aside=tuple(labels))
    named, listed = named_cases(study), set(listed_cases(study))
    unknown, tuned = set(named), TouchedCases(study, rehearse=rehearse)
    for case in hashed:
        count += 1
        leaves.add(case)
        groups.add(case)
        if study.instrument.by_case:
            criteria.add(case)
        parts.add(case)
        unknown.discard(case.id)
        if not tuned.add(case) and case.id not in listed:
            answers.add(case)  # a case that serves development may have been judged before
        if len(systems) < _MOST_SYSTEMS or case.system in systems:
            systems[case.system] += 1
            vendors.add(case)
        lacks = False
        with_images += bool(case.images)
        if case.images and shown:
            _refuse_blind_models(study)
        for judge, part in zip(judges, study.settings.judges, strict=True):
            for unit in judge.units(case, 0):
                units[judge.name] += repeats
                expected = judge.expected(unit)
                if isinstance(expected, Unscored):
                    lacks = True
                    continue
                if asking and not windows.look(unit, expected, part.max_tokens):
                    continue
                usual, most = totals[judge.name]
                usual.add(expected, repeats)
                most.add(expected.most, repeats)
                served[judge.name].add(judge.shared(unit), repeats)
        lacking += lacks
        talks = talks or bool(case.messages)
    if not count:
        raise MedjuryError(f"{study.settings.cases.path}: holds no case that could be read")
    if lacking == count and study.drafter is None:  # drafts may all have failed
        needed = ", ".join(each.name for each in study.instrument.inputs if each.required)
        cure = "name them in the file, or map your own columns with `cases: {path, mapping}`"
        if talks and study.settings.unit is None:
            cure = (
                "they are conversations: say what is judged of each: `unit: conversation`, `last` or `turn`"
            )
        raise MedjuryError(
            f"{study.settings.cases.path}: no case has all that {study.instrument.name} needs ({needed}); {cure}"
        )
    plans = tuple(
        _judge_plan(judge, part, usual.used, most.used, served[judge.name], study.prices)
        for judge, part in zip(judges, study.settings.judges, strict=True)
        for usual, most in (totals[judge.name],)
    )
    notes = (
        *danger,
        *study.notes,
        *_redaction_note(study),
        *unknown_note(study, named, unknown),
        *([] if study.split is None else [study.split.note()]),
        *tuned.notes(),
        *windows.notes(judges, count),
        *_injection_note(study, count),
        *_image_note(study, with_images, shown),
        *(note for each in scores for note in (f"scores from a file: {each.text()}", *each.warnings)),
    )
    return RunPlan(
        count,
        study.cases.skipped,
        dict(systems),
        hashed.hash,
        lacking,
        plans,
        study.prices.currency,
        units,
        notes,
        patients=groups.shared(),
        repeated_texts=groups.repeated,
        budget=study.settings.budget,
        known_of=parts.found,
        answer_hashes=answers.kept,
        leaves=leaves,
        left_out=study.cases.left_out,
        touched=tuned.cases,
        touched_by=tuned.by,
        vendors=vendors.known(),
        criteria=criteria,
        kept=kept,
        scores=scores,
    )


def read_scores(study: Study) -> tuple[ManifestScores, ...]:
    """What the files hold of judges whose scores exist already; what is wrong with one is reported with its
    line."""
    found: list[ManifestScores] = []
    if all(part.kind != SCORES for part in study.settings.judges):
        return ()
    from medjury.judging import ScoresJudge

    for index, judge in enumerate(study.jury.judges):
        if isinstance(judge, ScoresJudge):
            try:
                found.append(judge.read())
            except MedjuryError as error:
                raise MedjuryError(study.document.complaint(("judges", index), str(error))) from None
    return tuple(found)


def _judge_plan(
    judge: Rater, part: JudgePart, usual: Used, most: Used, served: Served, prices: PriceList
) -> JudgePlan:
    in_process = all(model.host is None for model in judge.models)
    at_once = 1 if in_process else part.concurrency or 16
    # Recorded answers are read from a file at once.
    waits = not all(model.recorded for model in judge.models)
    seconds = usual.calls * SECONDS_PER_CALL / at_once if waits else 0.0
    return priced(judge.name, judge.models, usual, most, seconds, prices, served)


def priced(
    name: str,
    models: Sequence[ChatModel],
    usual: Used,
    most: Used,
    seconds: float,
    prices: PriceList,
    served: Served | None = None,
) -> JudgePlan:
    """A rater of several models is priced at the dearest input and the dearest output among them: neither an
    estimate nor a bound should flatter. A prompt cache counts where every model's price says what it saves."""
    if not models:  # scores from a file: nobody is asked
        return JudgePlan(0, 0, 0, 0.0, name, 0.0, Planned(0, 0, 0, 0.0))
    in_batch = any(model.batch for model in models)
    known = [
        price
        for model in models
        if (price := prices.price(model, batch=served is not None and model.batch is not None)) is not None
    ]
    expected: float | None = None
    worst: float | None = None
    cached = written = 0
    if len(known) == len(models):
        # Whether a job finds its beginnings in a cache is not promised.
        if served is not None and not in_batch and all(each.cached_input is not None for each in known):
            cached, written = served.read, served.written
        expected = _dearest(known).of(usual.tokens_in, usual.tokens_out, cached, written)
        worst = _dearest([each.dearest for each in known]).of(most.tokens_in, most.tokens_out)
    return JudgePlan(
        usual.calls, usual.tokens_in, usual.tokens_out, expected, name, seconds,
        Planned(most.calls, most.tokens_in, most.tokens_out, worst), cached,
    )  # fmt: skip


def _dearest(prices: Sequence[Price]) -> Price:
    cached = [each.cached_input for each in prices if each.cached_input is not None]
    written = [each.cache_write for each in prices if each.cache_write is not None]
    return Price(
        max(each.input for each in prices),
        max(each.output for each in prices),
        max(cached, default=None),
        max(written, default=None),
    )


def refuse_injection(study: Study) -> None:
    """Scores that came from a file cannot be asked again."""
    if scored := [judge.name for judge in study.jury.judges if not judge.models]:
        raise MedjuryError(
            f"{study.file}: audits.injection asks every judge again, and the scores of {', '.join(scored)} came "
            "from a file; leave the audit out"
        )


def _redaction_note(study: Study) -> list[str]:
    source = study.cases.source if isinstance(study.cases, DraftedCases) else study.cases
    found = not_known_text(source.not_known) if isinstance(source, RedactedCases) else ""
    return [found] if found else []


def _refuse_blind_models(study: Study) -> None:
    for index, judge in enumerate(study.jury.judges):
        for model in judge.models:
            if not takes_images(model):
                raise MedjuryError(study.document.complaint(("judges", index), no_images(model)))


def _image_note(study: Study, with_images: int, shown: bool) -> list[str]:
    if not with_images or shown:
        return []
    return [
        f"{counted(with_images, 'case')} with images: {study.instrument.name} has no input `images`, so no judge "
        "sees them"
    ]


def _injection_note(study: Study, count: int) -> list[str]:
    part = study.settings.audits.injection
    if part is None:
        return []
    refuse_injection(study)
    answers = 6 * min(part.cases, count)  # each once as it is, and once with each of five instructions
    return [
        f"audits.injection: {answers:,} more answers are judged at the end, with planted instructions and "
        "without; their calls are not in the counts above"
    ]
