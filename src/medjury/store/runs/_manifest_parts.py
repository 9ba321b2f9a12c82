"""The parts of a manifest: instrument, judges, jury, clinicians, drafts, and what became of the ratings."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import AliasChoices, Field

from medjury.instruments import Instrument
from medjury.store.runs._part import RunPart

SCORES = "scores"  # the kind of a judge whose scores exist already, in a file
Conclusion = Literal["complete", "incomplete", "failed"]
ConsensusRule = Literal["mean", "median", "majority", "adjudicated"]


class ManifestDimension(RunPart):
    """A dimension as the instrument had it; `of` is what a reversed one reverses, `weights` a composite's parts."""

    name: str
    label: str = ""
    grades: tuple[float, ...] | None = None
    higher_is_better: bool = True
    safety: bool = False
    derived: bool = False
    of: str | None = None
    weights: dict[str, float] = {}
    needs_every_part: bool = False


class ManifestInstrument(RunPart):
    """The instrument: enough of it that a reader of the run needs no instrument file."""

    name: str = ""
    version: str = ""
    fingerprint: str = ""
    dimensions: tuple[ManifestDimension, ...] = ()

    @classmethod
    def of(cls, instrument: Instrument) -> ManifestInstrument:
        """What the manifest says of an instrument: its dimensions in their order, then what follows from them."""
        own = {
            each.name: ManifestDimension(
                name=each.name,
                label=each.label,
                grades=each.values,
                higher_is_better=each.higher_is_better,
                safety=each.safety,
            )
            for each in instrument.dimensions
        }
        turned = [
            ManifestDimension(
                name=each.name, label=each.label or each.name, grades=own[each.of].grades,
                higher_is_better=not own[each.of].higher_is_better, safety=own[each.of].safety, derived=True,
                of=each.of,
            )
            for each in instrument.reversed
        ]  # fmt: skip
        composites = [
            ManifestDimension(
                name=each.name, label=each.label or each.name, derived=True, weights=dict(each.weights),
                needs_every_part=each.needs_every_part,
            )
            for each in instrument.composites
        ]  # fmt: skip
        return cls(
            name=instrument.name,
            version=instrument.version,
            fingerprint=instrument.fingerprint(),
            dimensions=(*own.values(), *turned, *composites),
        )


class ManifestModel(RunPart):
    """A model. `recorded` is the hash of the file that its answers came from, where nobody was asked, and
    `recorded_at` when the first score that rests on them was seen ("": not known). `scores` is the hash of the file
    that a judge's scores came from, where nobody knows which model gave them."""

    name: str = ""
    kind: str = ""
    model: str | None = None
    file: str | None = None
    vendor: str | None = None
    host: str | None = None
    recorded: str | None = None
    recorded_at: str = ""
    scores: str | None = None

    @property
    def title(self) -> str:
        if self.scores is not None:
            return f"{self.file}, SHA-256 {self.scores[:12]}"
        return self.model or self.file or self.name


class ManifestJudge(RunPart):
    """A judge: its models and how it judges; the settings of its strategy are in `others`."""

    name: str
    models: tuple[ManifestModel, ...] = ()
    settings_hash: str = ""
    strategy: str = "single"

    @property
    def vendor(self) -> str:
        """Who made its (first) model; "none" where nobody says."""
        return (self.models[0].vendor if self.models else None) or "none"

    @property
    def way(self) -> str:
        """The way of judging in words: `single`, `single, 3 examples`, `single, tuned by gepa`."""
        name = self.strategy.replace("_", " ")
        if isinstance(tuned := self.others.get("tuned"), dict):
            name = f"{name}, tuned by {tuned.get('way', 'hand')}"
        drawn, own = self.others.get("drawn_examples"), self.others.get("examples")
        shots = drawn.get("shots") if isinstance(drawn, dict) else own
        if not isinstance(shots, int) or not shots:
            return name
        return f"{name}, {shots:,} {'example' if shots == 1 else 'examples'}"


class ManifestScores(RunPart):
    """What became of the scores in a judge's file: `counts` by status, the unscored by reason; `absent` are ratings
    that the study asks for and the file does not have, `unknown` scores of answers that the study does not have.
    `left_out` says in words what else of the file is not among the scores."""

    judge: str
    file: str
    hash: str
    counts: dict[str, int] = {}
    absent: int = 0
    unknown: int = 0
    unknown_answers: int = 0
    left_out: dict[str, int] = {}
    warnings: tuple[str, ...] = ()

    def text(self) -> str:
        """The counts in a sentence."""
        scored = self.counts.get("scored", 0)
        unscored = {
            what: count for what, count in self.counts.items() if what not in ("scored", "not_applicable")
        }
        parts = [f"{scored:,} scores"]
        parts += (
            [f"{self.counts['not_applicable']:,} not applicable"] if "not_applicable" in self.counts else []
        )
        parts += [f"{count:,} unscored ({what})" for what, count in unscored.items()]
        parts += [f"{self.absent:,} that the file does not have (missing)"] if self.absent else []
        if self.unknown:
            unknown = f"{self.unknown_answers:,} answers that the study does not have"
            parts.append(f"{self.unknown:,} scores of {unknown}, left out")
        parts += [f"{what}: {count:,}" for what, count in self.left_out.items()]
        return f"{self.judge} ({self.file}): {'; '.join(parts)}"


class AnsweringModel(RunPart):
    """How many ratings of a judge rest on answers for which one model was asked and this one says it answered."""

    judge: str
    asked: str
    answered: str
    ratings: int = 0


class ManifestJury(RunPart):
    """How votes become one rating: `rule` of the scores of its `members` (none named: all judges) where `quorum` of
    them (None: more than half) gave one. The rule "none" is a study without a jury: judges are shown side by
    side."""

    name: str = "jury"
    rule: Literal["mean", "median", "majority", "none"] = "mean"
    quorum: int | None = None
    repeats: int = 1
    members: tuple[str, ...] = ()


class ManifestPanel(RunPart):
    """Clinicians who rated together: the panel's name in the study file, and its members."""

    name: str
    members: tuple[str, ...] = ()


class ManifestLeftOut(RunPart):
    """What the reader of the cases did not read, with counts: `rows` by what is wrong with them, `parts` by what
    was left out of the others or kept with a mark."""

    rows: dict[str, int] = {}
    parts: dict[str, int] = {}


class ManifestHumans(RunPart):
    """Clinicians' ratings; `hash` is that of what they said, whatever pseudonyms they have, and `cases_hash` the
    same case by case, so that cases which were erased since can be recognised. `left_out_by`
    says in words what of the files is not among the scores, and how much. `reference` names the
    yardstick (none: all who have no other part), `second_panel` those who are compared with it and never part of
    it, `consensus` how the reference's scores become one, `adjudicator` who settles, `labels` what is known of each
    case besides: the label and the column it came from. `roles` says the same in the study file's own words, which
    name no clinician, and `roles_hash` tells two divisions of the same people apart. `blinded` says whether they
    rated without seeing the judges' scores; None where nobody states it."""

    file: str = ""
    hash: str = ""
    cases_hash: str = ""
    ratings: int = 0
    raters: tuple[str, ...] = ()
    pseudonyms: bool = True
    illustrative: bool = False
    blinded: bool | None = None  # whether they had not seen the jury's scores; None: not stated
    not_rated: int = 0
    left_out: int = 0
    left_out_by: dict[str, int] = {}
    unscored: dict[str, int] = {}
    warnings: tuple[str, ...] = ()
    reference: tuple[str, ...] = ()
    second_panel: ManifestPanel | None = None
    consensus: ConsensusRule = "mean"
    adjudicator: str = ""
    labels: dict[str, str] = {}
    roles: dict[str, str] = {}
    roles_hash: str = ""

    @property
    def blinding(self) -> str:
        """`blinded` in words."""
        if self.blinded is None:
            return "it is not stated whether they saw the judges' scores before they rated"
        return (
            "they rated without seeing the judges' scores"
            if self.blinded
            else "they could see the judges' scores before they rated"
        )


class Shortened(RunPart):
    units: int
    notes: int
    characters: int


class RepliesRead(RunPart):
    """The judges' replies by how they were read: as one `object` and nothing else, by the `token` of their
    question, or `not_read`. `asked_again` are those that were given after an answer had been handed back."""

    object: int = 0
    token: int = 0
    not_read: int = 0
    asked_again: int = 0

    def text(self) -> str:
        """The counts in one sentence."""
        return (
            f"{self.object:,} replies were read as one JSON object and nothing else, {self.token:,} by the token "
            f"of their question, {self.not_read:,} were not read; {self.asked_again:,} were asked for again"
        )


class Coverage(RunPart):
    """The judges' ratings by what became of them. What is formed of them, such as a composite, is not counted."""

    ratings: int = 0
    scored: int = 0
    not_applicable: int = 0
    unscored: int = 0
    unscored_by_reason: dict[str, int] = {}
    shortened: dict[str, Shortened] = {}
    perhaps_cut: int = 0
    replies: RepliesRead | None = None

    def text(self) -> str:
        """The counts in the one sentence that a run ends with and its report repeats."""
        return (
            f"{self.scored:,} of {self.ratings:,} ratings scored, {self.not_applicable:,} not applicable, "
            f"{self.unscored:,} unscored (given by judges; composites are not counted)"
        )


class Units(RunPart):
    planned: int = 0
    done: int = 0


class Prices(RunPart):
    """What calls cost: the day and the currency of the list, and the price of each of the study's `models`."""

    as_of: str = ""
    currency: str = ""
    models: dict[str, str] = {}


class PlannedWork(RunPart):
    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    money: float | None = None
    most: PlannedWork | None = None


class DraftCounts(RunPart):
    """What came of the drafts that a study had written before they were judged. `failed` and `sources` (what the
    drafts were written from) count by reason and by name."""

    system: str = ""
    cases: int = 0
    kept: int = 0
    drafted: int = 0
    citations: int = 0
    citations_invented: int = 0
    failed: dict[str, int] = {}
    sources: dict[str, int] = {}
    shortened: dict[str, Shortened] = {}


class ManifestDrafting(DraftCounts):
    """The drafting of a run: which model wrote, and the hash of the file of drafts; settings are in `others`."""

    run: str = ""
    model: ManifestModel = ManifestModel()
    settings_hash: str = ""
    status: Conclusion = "complete"
    file: dict[str, str] = {}


class RereadSource(RunPart):
    """The run whose stored replies were read again."""

    run: str = ""
    medjury: str = ""
    prompt_version: str = ""
    instrument: ManifestInstrument = ManifestInstrument()
    data_hash: str = ""
    finished_at: str = ""


class InjectionShift(RunPart):
    """By how much an instruction of one kind, planted in the judged text, moved the grade of one rater."""

    rater: str
    dimension: str
    kind: str
    value: float | None = None
    low: float | None = None
    high: float | None = None
    n: int = 0
    not_read: int = 0
    reason: str = ""


class ManifestInjection(RunPart):
    """The injection audit of a run: how many cases had instructions planted, and what each kind did."""

    cases: int = 0
    shifts: tuple[InjectionShift, ...] = ()


class ManifestReread(RunPart):
    """A run that was read from another one's replies; `changes` counts by judge and dimension what is different."""

    source: RereadSource = Field(
        default=RereadSource(), validation_alias=AliasChoices("from", "source"), serialization_alias="from"
    )
    changes: tuple[dict[str, Any], ...] = ()
