"""Decompose, then verify: a text is taken apart into claims, and each claim is held against another text.

After Wu et al., Automated Evaluation of Large Language Model Response Concordance with Human Specialist Responses
on Physician-to-Physician eConsult Cases, and the MedScore and VeriFact methods it builds on. Importance, the veto,
the check of every quotation and the rules for what could not be verified are ours.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace

from medjury.foundation.errors import MedjuryError
from medjury.instruments import (
    TRANSIENT,
    NotApplicable,
    Outcome,
    Reason,
    Unscored,
)
from medjury.intake.cases import Case, Note
from medjury.judging._asking import Asked, Sample, Speaker, draw_anew
from medjury.judging._claims.claim import RecordedClaim
from medjury.judging._claims.expected import expected_of
from medjury.judging._claims.prompts import (
    CLAIMS_PROMPT_VERSION,
    OURS,
    listing_system,
    verifying_system,
)
from medjury.judging._claims.records import record_of
from medjury.judging._claims.share import MEASURES, Measure, decide_support, support_share, worst_claim
from medjury.judging._claims.steps import (
    Listed,
    Steps,
    list_claims,
    question_of,
    verify_claims,
)
from medjury.judging._quotations import Source
from medjury.judging._rater import Expected, PlainRater, Rated, Unit
from medjury.judging._rows import rows_of
from medjury.models import Answer, ChatModel, Gate

# What a dimension is held against, by what it is read from.
AGAINST: Mapping[Measure, str] = {"support": "reference", "unsupported": "notes", "omitted": "notes"}
# The grade of a claim that is not supported, by its importance. A summary may leave out background.
GRADES: Mapping[Measure, Mapping[int, int]] = {
    "unsupported": {1: 1, 2: 2, 3: 3},
    "omitted": {1: 0, 2: 1, 3: 2},
}


@dataclass(frozen=True)
class Claims(Steps, PlainRater):
    """Rates the dimensions of `measures` that the instrument has, one unit each.

    `lister` takes texts apart, `verifier` gives the verdicts, `batch` claims to a call. `rubric` is the instrument
    that a single claim is rated by: its words for verdicts and importance are the prompts'. `against` names the
    input that claims are held against; by default the reference for a share, the notes for grades. `labels` are the
    words for verdicts, `examples` are shown in both steps.
    """

    def _stated(self) -> Mapping[str, object]:
        settings = {
            **self._settings(),
            "instrument": self.instrument.fingerprint(),
            "rubric": self.rubric.fingerprint(),
            "prompt": [
                listing_system(self.rubric, least, self.reading.claims) for least in (None, self.least)
            ],
            "verifying": verifying_system(self.rubric, self.labels),
            "lister": self.lister.settings(),
            "verifier": self.verifier.settings(),
        }
        if self.examples:
            settings["examples"] = [asdict(each) for each in self.examples]
        return settings

    def __post_init__(self) -> None:
        names = [dimension.name for dimension in self.instrument.dimensions]
        unknown = [name for name in self.measures if name not in names]
        if unknown and self.measures != MEASURES:
            known = ", ".join(names)
            raise MedjuryError(f"{self.instrument.name} has no dimension {unknown[0]!r}; it has {known}")
        if not self.groups:
            hint = (
                "there one case is one claim: rate it with `strategy: single`"
                if self.instrument.name == self.rubric.name
                else f"use `concordance` or `grounding`, or say with `rates` which of {', '.join(names)} it gives"
            )
            raise MedjuryError(f"claims cannot rate the instrument {self.instrument.name}: {hint}")
        for (name,) in self.groups:
            measure = self.measures[name]
            needed = {0, 1} if measure == "support" else {0, *GRADES[measure].values()}
            if not needed <= set(self.instrument.dimension(name).grades):
                wanted = ", ".join(str(each) for each in sorted(needed))
                raise MedjuryError(
                    f"{name!r} cannot be rated by {measure!r}, which gives the grades {wanted}"
                )
        grades = self.rubric.dimension("importance").values
        if set(grades) != {1, 2, 3} or not {1, 2, 3} <= set(self.rule.weights):
            raise MedjuryError("importance is 1, 2 or 3, and `weights` needs a weight for each")
        if not any(self.rule.weights[each] > 0 for each in grades) or min(self.rule.weights.values()) < 0:
            raise MedjuryError("`weights` must be 0 or more, and one of them above 0")
        if self.labels.name == "two" and self.rule.denominator == "addressed":
            raise MedjuryError(
                "with `labels: two` silence and contradiction are one word, so there is no share of the "
                "addressed claims; say `denominator: all`"
            )
        if self.reading.overlap >= self.reading.sentences:
            raise MedjuryError("passages must be longer than their overlap: raise `sentences`")

    @property
    def models(self) -> Sequence[ChatModel]:
        return tuple({id(each.model): each.model for each in (self.lister, self.verifier)}.values())

    @property
    def groups(self) -> tuple[tuple[str, ...], ...]:
        """Only what it can rate: other dimensions of the instrument have no rating of this rater."""
        return tuple((each.name,) for each in self.instrument.dimensions if each.name in self.measures)

    def describe(self) -> Mapping[str, object]:
        rated = {name for (name,) in self.groups}
        return {
            **self._settings(),
            "examples": len(self.examples),
            "rates": {name: measure for name, measure in self.measures.items() if name in rated},
            "not_rated": [each.name for each in self.instrument.dimensions if each.name not in rated],
            "rubric": f"{self.rubric.name}@{self.rubric.version}",
            "lister": _described(self.lister),
            "verifier": _described(self.verifier),
        }

    def _settings(self) -> dict[str, object]:
        # A dataclass's fields, one by one: what embeds texts may be a large model and is named, not copied.
        reading = {
            each.name: getattr(self.reading, each.name)
            for each in fields(self.reading)
            if each.name != "embed"
        }
        rule = {each.name: getattr(self.rule, each.name) for each in fields(self.rule)}
        rule["weights"] = {str(grade): float(weight) for grade, weight in sorted(self.rule.weights.items())}
        return {
            "strategy": "claims",
            "version": CLAIMS_PROMPT_VERSION,
            "rule": rule,
            "reading": reading,
            "batch": self.batch,
            "least": self.least,
            "against": self.against,
            "measures": dict(self.measures),
            **({} if self.labels is OURS else {"labels": self.labels.name}),
        }

    def expected(self, unit: Unit) -> Expected | Unscored:
        texts = self._texts(unit)
        if isinstance(texts, Unscored):
            return texts
        taken_apart, held_against, _ = texts
        is_omitted = self.measures[unit.dimensions[0]] == "omitted"
        question = question_of(unit.case)
        return expected_of(self, taken_apart, held_against, question=question, facts=is_omitted)

    async def rate(self, unit: Unit, gate: Gate) -> Rated:
        [dimension] = unit.dimensions
        texts = self._texts(unit)
        if isinstance(texts, Unscored):
            return Rated(rows_of(unit, {dimension: texts}, None))

        async def attempt(sample: Sample) -> Asked[Rated]:
            return await self._rate(unit, texts, sample, gate)

        rated = (await draw_anew(unit.sample, attempt)).value
        assert rated is not None
        return rated

    async def _rate(
        self, unit: Unit, texts: tuple[list[Source], list[Source], str], sample: Sample, gate: Gate
    ) -> Asked[Rated]:
        """One attempt at a whole unit: its value is there also where it failed."""
        [dimension] = unit.dimensions
        taken_apart, held_against, against = texts
        measure = self.measures[dimension]
        least = self.least if measure == "omitted" else None
        listed = await list_claims(self, taken_apart, case=unit.case, gate=gate, least=least, sample=sample)
        claims: list[RecordedClaim] = []
        verifying: list[Answer] = []
        failed = False
        if listed.claims:
            claims, verifying, failed = await verify_claims(
                self, listed.claims, held_against, case=unit.case, gate=gate, sample=sample
            )
        answers = [*listed.answers, *verifying]
        is_share = measure == "support" and listed.failure is None
        found = support_share(claims, denominator=self.rule.denominator, weights=self.rule.weights)
        outcome = self._outcome(dimension, measure, listed, claims)
        record = record_of(
            dimension=dimension,
            measure=measure,
            against=against,
            listed=listed,
            claims=claims,
            verifying=verifying,
            found=found if is_share else None,
            threshold=self.rule.threshold if is_share else None,
            weights=self.rule.weights,
            outcome=outcome,
        )
        rated = Rated(rows_of(unit, {dimension: outcome}, answers), record)
        if not isinstance(outcome, Unscored):
            return Asked(None, answers, value=rated)
        # A step that failed was drawn anew by itself. Where none did there is nothing to verify, or nothing to
        # verify it with, and only another list can help.
        sound = listed.failure is None and not failed
        in_vain = sound and all(answer.from_cache for answer in answers)
        return Asked(outcome, answers, 1, in_vain, value=rated)

    def _outcome(
        self, dimension: str, measure: Measure, listed: Listed, claims: Sequence[RecordedClaim]
    ) -> Outcome:
        if listed.failure is not None:
            return listed.failure
        if not listed.claims:
            nothing = (
                f"the sources hold no fact of importance {self.least} or more"
                if measure == "omitted"
                else "the text makes no claim that could be verified"
            )
            if self.instrument.dimension(dimension).may_be_not_applicable:
                return NotApplicable(nothing)
            return Unscored(Reason.MISSING, nothing)
        # A fault that may pass leaves the whole unit open, so that the next run goes on with it.
        for each in claims:
            failure = each.unverified
            if failure is not None and failure.reason in TRANSIENT:
                return Unscored(
                    failure.reason, f"verifying claim {each.number} of {len(claims)}: {failure.message}"
                )
        if measure == "support":
            outcome = decide_support(claims, self.rule)
        else:
            outcome = worst_claim(claims, GRADES[measure])
        return with_claims(outcome, claims, listed if measure == "omitted" else None)

    def _texts(self, unit: Unit) -> tuple[list[Source], list[Source], str] | Unscored:
        """What is taken apart, what it is held against, and the latter's name."""
        measure = self.measures[unit.dimensions[0]]
        against = self.against or AGAINST[measure]
        candidate, other = sources_of(unit.case, "candidate"), sources_of(unit.case, against)
        for name, found in (("candidate", candidate), (against, other)):
            if not found:
                return Unscored(Reason.INPUT, f"the case has no {name!r}, which claims need")
        return (other, candidate, "candidate") if measure == "omitted" else (candidate, other, against)


def _described(speaker: Speaker) -> dict[str, object]:
    return {"model": speaker.model.name, **{k: v for k, v in speaker.settings().items() if k != "model"}}


def sources_of(case: Case, name: str) -> list[Source]:
    """The texts of one input, each with its own name; none where it is absent or blank."""
    value = case.input(name)
    if not value:
        return []
    if isinstance(value, str):
        return [Source(name, value)] if value.strip() else []
    seen: Counter[str] = Counter()
    found = []
    for each in value:
        if isinstance(each, Note):
            own, label = each.id, ", ".join(fact for fact in (each.kind, each.date) if fact)
        else:
            own, label = f"turn {each.turn}" if each.turn else each.kind, each.heading
        seen[own] += 1
        name = own if seen[own] == 1 else f"{own} ({seen[own]})"  # an id may appear twice
        if each.text.strip():
            found.append(Source(name, each.text, label=label))
    return found


def with_claims(outcome: Outcome, claims: Sequence[RecordedClaim], record: Listed | None) -> Outcome:
    """The explanation with the gravest claims that count against the text, so that a reader sees why, and with the
    parts of a record that gave nothing to look for."""
    against = [each for each in claims if each.verdict in ("contradicted", "not_addressed")]
    against.sort(key=lambda each: (-each.importance, each.verdict != "contradicted"))
    lines = [f"{(each.verdict or '').replace('_', ' ')}: {each.claim}" for each in against[:3]]
    if record is not None and record.silent:
        lines.append(f"no fact was listed from {record.silent} of {record.parts} parts of the record")
    if isinstance(outcome, Unscored) or not lines:
        return outcome
    return replace(outcome, explanation=". ".join([outcome.explanation, *lines]))
