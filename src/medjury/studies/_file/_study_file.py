"""The whole file."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, field_validator, model_validator

from medjury.foundation.fields import FileName, Part
from medjury.store.runs import ConsensusRule, DangerBy, GateRules, ReportSettings
from medjury.studies._file._cases import CasesPart
from medjury.studies._file._models import DraftingPart, ExamplesPart, JudgePart, ModelCheck

# The part of a study file for clinicians who rate in the browser: see docs/panel.md.


class AssignPart(Part):
    """Who rates which case: everyone all; `per_case` of them; everyone an `overlap` (a share below 1, or a number
    of cases) and one of them each of the rest; or fixed `pairs`."""

    per_case: int | None = Field(default=None, ge=1, le=1000)
    overlap: float | None = Field(default=None, gt=0)
    pairs: bool = False

    @model_validator(mode="before")
    @classmethod
    def _a_word_is_enough(cls, value: Any) -> Any:
        if value in ("all", "pairs"):
            return {"pairs": value == "pairs"}
        if not isinstance(value, dict | AssignPart):
            raise ValueError("is `all`, `pairs`, `{per_case: 2}` or `{overlap: 0.2}`")
        return value

    @model_validator(mode="after")
    def _one_design(self) -> AssignPart:
        if sum((self.per_case is not None, self.overlap is not None, self.pairs)) > 1:
            raise ValueError(
                "`per_case`, `overlap` and `pairs` each say who rates which case; keep one of them"
            )
        if self.overlap is not None and self.overlap >= 1 and self.overlap != int(self.overlap):
            raise ValueError("an `overlap` is a share below 1, such as 0.2, or a whole number of cases")
        return self


class KeyPart(Part):
    """The right grades of a training case (null: not applicable), and why."""

    case: str
    system: str | None = None
    grades: dict[str, int | None] = Field(min_length=1)
    reason: str = ""


class RoundPart(Part):
    """One round of a panel. `cases` are ids (or a file of them), `file` is a file of cases of the round's own,
    `draw` a file of `medjury plan review`, of which the drawn answers are rated; without any of them it has all
    cases of the study that no training or calibration round uses."""

    name: FileName
    kind: Literal["training", "calibration", "rating", "rescore"] = "rating"
    assign: AssignPart = AssignPart()
    cases: list[str] | str | None = None
    file: CasesPart | None = None
    draw: str | None = Field(default=None, min_length=1)
    show: list[str] | None = Field(default=None, min_length=1)
    key: list[KeyPart] = []
    pass_mark: float | None = Field(default=None, gt=0, le=1)
    within: int = Field(default=0, ge=0, le=10)  # how far from the key a grade may lie and still be right

    @field_validator("file", mode="before")
    @classmethod
    def _a_bare_path_is_enough(cls, value: Any) -> Any:
        return {"path": value} if isinstance(value, str) else value

    @model_validator(mode="after")
    def _what_belongs_to_its_kind(self) -> RoundPart:
        if self.kind in ("training", "calibration"):
            if self.assign != AssignPart():
                raise ValueError(f"everyone rates every case of a {self.kind} round; take `assign` out")
            if self.draw is not None:
                raise ValueError(f"a {self.kind} round is not part of the study; take `draw` out")
            if self.cases is None and self.file is None:
                raise ValueError(f"a {self.kind} round needs its own `cases` (ids) or `file`")
        if (self.kind == "training") != bool(self.key):
            raise ValueError("a training round, and no other, needs a `key`: the right grades of its cases")
        if self.pass_mark is not None and self.kind != "training":
            raise ValueError("only a training round has a `pass_mark`")
        stated = [name for name in ("cases", "file", "draw") if getattr(self, name) is not None]
        if len(stated) > 1:
            raise ValueError(
                f"`{stated[0]}` and `{stated[1]}` both say which cases are rated; keep one of them"
            )
        return self


Justification = Literal["none", "optional", "required"]


class PanelTextsPart(Part):
    """What raters read besides the instrument: on their first page, above the form, and at the end."""

    welcome: str = ""
    task: str = ""
    thanks: str = ""


class MeetingPart(Part):
    """Which differences between raters are settled once a round is closed, by whom, and whether they see names."""

    differ: Literal["any", "more_than_one_grade", "danger"] = "any"
    by: Literal["raters", "adjudicator"] = "raters"
    names: bool = False


class ConditionPart(Part):
    """`{dimension: concordant, is: 1}`: only after this grade."""

    dimension: str
    equals: int = Field(alias="is")


class QuestionPart(Part):
    """A question that is asked only after a grade. `between` are two texts, shown in either order without a name;
    `choices` then are what can be said besides the left and the right one."""

    name: FileName
    ask: str = Field(min_length=1)
    when: ConditionPart
    between: tuple[str, str] | None = None
    choices: list[Annotated[str, Field(min_length=1)]] = []

    @model_validator(mode="after")
    def _something_to_choose(self) -> QuestionPart:
        if len(set(self.choices)) < len(self.choices):
            raise ValueError("a choice appears twice; keep one of them")
        if self.between is None and len(self.choices) < 2:
            raise ValueError("needs two `choices` or more, or two texts under `between`")
        if self.between is not None and {"left", "right"} & set(self.choices):
            raise ValueError("with `between`, left and right are choices already; take them out of `choices`")
        if self.between is not None and self.between[0] == self.between[1]:
            raise ValueError("`between` names the same text twice")
        return self


class ReferencesPart(Part):
    """Panels that write the reference: the texts of the record that they read, the text that holds the routine
    diagnosis, and how many of a case's answers they score, drawn by chance (without it: all)."""

    show: list[str] = Field(min_length=1)
    routine: str | None = None
    answers: int | None = Field(default=None, ge=0)

    @model_validator(mode="after")
    def _nothing_too_early(self) -> ReferencesPart:
        late = {"candidate", "answer", "reference", *([self.routine] if self.routine else [])}
        if too_early := [name for name in self.show if name in late]:
            raise ValueError(f"`show` is what members read first; {too_early[0]!r} comes later. Take it out.")
        return self


class PanelPart(Part):
    """How clinicians rate in the browser: see docs/panel.md. Without it everyone rates every case, blind. Where
    panels write references and no round is named, there is none."""

    rounds: list[RoundPart] = [RoundPart(name="rating")]
    meeting: MeetingPart = MeetingPart()
    questions: list[QuestionPart] = []
    references: ReferencesPart | None = None
    seed: int = 0
    blind_words: list[Annotated[str, Field(min_length=2)]] = []
    justification: Justification | dict[str, Justification] = "optional"
    differences: bool | None = (
        None  # mark what differs between reference and answer; by default for transcripts
    )
    examples: bool = True
    minutes_idle: float = Field(default=3.0, gt=0, le=60)
    texts: PanelTextsPart = PanelTextsPart()

    @model_validator(mode="before")
    @classmethod
    def _references_need_no_round(cls, value: Any) -> Any:
        if isinstance(value, dict) and value.get("references") and "rounds" not in value:
            return {**value, "rounds": []}
        return value

    @model_validator(mode="after")
    def _rounds_have_names(self) -> PanelPart:
        if not self.rounds and self.references is None:
            raise ValueError("there is no round; name one, or take `rounds` out")
        for kind, names in (
            ("rounds", [each.name for each in self.rounds]),
            ("questions", [each.name for each in self.questions]),
        ):
            if twice := [name for name in names if names.count(name) > 1]:
                raise ValueError(f"two {kind} are called {twice[0]!r}; give each a name of its own")
        return self


# Juries and clinicians as a study file names them.


class JuryPart(Part):
    """How votes become one rating: those of its `members`, or, where none is named, of all judges."""

    name: FileName = "jury"
    members: list[FileName] | None = Field(default=None, min_length=1)
    aggregate: Literal["mean", "median", "majority"] = "mean"
    quorum: int | None = Field(default=None, ge=1)


class NamedJuryPart(JuryPart):
    """One of several juries: it has a name, and says who votes in it."""

    name: FileName
    members: list[FileName] = Field(min_length=1)


class HumansPart(Part):
    """Clinicians' ratings of the same cases, and who is who among them: see docs/roles.md."""

    path: str
    mapping: str | None = None
    keep_names: bool = False
    on_bad: Literal["refuse", "unscored"] = "refuse"
    on_unknown: Literal["refuse", "drop"] = "refuse"
    illustrative: bool = False  # made up for a demonstration: the report says so
    blinded: bool | None = None  # whether they rated without seeing the judges' scores; None: nobody says
    reference: str | list[str] = "clinicians"
    second_panel: str | list[str] | None = None
    consensus: ConsensusRule = "mean"
    adjudicator: str | None = None
    labels: dict[FileName, str] = {}

    @model_validator(mode="before")
    @classmethod
    def _file_is_another_word_for_path(cls, value: Any) -> Any:
        if not isinstance(value, dict) or "file" not in value:
            return value
        if "path" in value:
            raise ValueError("`file` and `path` both name the clinicians' file; keep one of them")
        return {**{name: said for name, said in value.items() if name != "file"}, "path": value["file"]}

    @field_validator("reference", "second_panel")
    @classmethod
    def _somebody_is_named_once(cls, value: str | list[str] | None) -> str | list[str] | None:
        if isinstance(value, list):
            if not value:
                raise ValueError("names nobody; name raters or a panel, or leave it out")
            if twice := [name for name in value if value.count(name) > 1]:
                raise ValueError(f"{twice[0]!r} is named twice; name each rater once")
        return value

    @model_validator(mode="after")
    def _adjudicator_and_rule_go_together(self) -> HumansPart:
        if self.consensus == "adjudicated" and self.adjudicator is None:
            raise ValueError(
                "`consensus: adjudicated` needs the rater whose label settles; name it: `adjudicator: NAME`"
            )
        if self.adjudicator is not None and self.consensus != "adjudicated":
            raise ValueError(
                f"an `adjudicator` has no part in a {self.consensus} consensus; say `consensus: adjudicated`, or "
                "take the adjudicator out"
            )
        return self


# Budget, rules of the gate, and report, as a study file states them.

_RULES, _SHOWN = GateRules(), ReportSettings()


class BudgetPart(Part):
    """The run stops asking at either cap and is then INCOMPLETE."""

    money: float | None = Field(default=None, gt=0)
    calls: int | None = Field(default=None, ge=1)


class GatePart(Part):
    """What must be shown before the jury may be trusted: see docs/report.md. State it before the run."""

    statistic: Literal["kappa_quadratic", "icc_2_1", "spearman"] = "kappa_quadratic"
    margin: float = Field(default=_RULES.margin, gt=0, le=2)
    missed_margin: float = Field(default=_RULES.missed_margin, gt=0, le=1)
    floor: float = Field(default=_RULES.floor, ge=-1, le=1)
    minimum_cases: int = Field(default=_RULES.minimum_cases, ge=1)
    minimum_clinicians: int = Field(default=_RULES.minimum_clinicians, ge=1)
    minimum_doubly_rated: int = Field(default=_RULES.minimum_doubly_rated, ge=0)
    offset_limit: float = Field(default=_RULES.offset_limit, gt=0, le=1)
    severe_limit: float = Field(default=_RULES.severe_limit, ge=0, le=1)
    danger: float = Field(default=_RULES.danger, ge=0)
    danger_by: DangerBy = _RULES.danger_by
    gap: float = Field(default=_RULES.gap, gt=0, le=1)
    coverage: float = Field(default=_RULES.coverage, ge=0, le=1)
    copy_limit: float = Field(default=_RULES.copy_limit, gt=0, le=1)
    parts: list[str] | None = None
    severe_dimensions: list[str] | None = None
    development_cases: list[str] | str = []


class InjectionPart(Part):
    """So many cases are judged again with instructions planted in the judged text: see docs/auditing.md."""

    cases: int = Field(default=30, ge=5, le=1000)


class AuditsPart(Part):
    """Audits that ask the judges more questions than the study itself does."""

    injection: InjectionPart | None = None


class ReportPart(Part):
    """What the report shows: see docs/report.md."""

    note: str = Field(default="", max_length=300)
    clinician_cost_per_hour: float | None = Field(default=None, ge=0)
    clinician_minutes_per_case: float | None = Field(default=None, gt=0)
    system_vendors: dict[str, str] | None = None
    rank_by: list[str] | None = Field(default=None, min_length=1)
    cases_shown: int = Field(default=_SHOWN.cases_shown, ge=0, le=500)
    hide_texts: bool = False
    png: bool = False
    resamples: int = Field(default=_SHOWN.resamples, ge=200, le=100_000)
    seed: int = 0

    @field_validator("rank_by", mode="before")
    @classmethod
    def _one_name_is_enough(cls, value: Any) -> Any:
        return [value] if isinstance(value, str) else value


class StudyFile(Part):
    """The whole file."""

    study: FileName
    cases: CasesPart
    instrument: str
    dimensions: list[str] | None = Field(default=None, min_length=1)
    judges: list[JudgePart] = Field(min_length=1)
    jury: JuryPart | None = JuryPart()  # None: the judges stand side by side
    juries: list[NamedJuryPart] | None = Field(default=None, min_length=1)
    repeats: int = Field(default=1, ge=1, le=1000)
    # Text metrics that rate beside the judges (docs/text-metrics.md), and what a worker of a cluster needs for one.
    metrics: list[str | dict[str, str | float | None]] = []
    drafting: DraftingPart | None = None
    humans: HumansPart | None = None
    output: str | None = None
    share: Literal["group"] | None = None  # who else may read the run folder
    store: str | None = None
    store_reconnect_seconds: float = Field(
        default=120.0, ge=0, le=86_400
    )  # how long a run waits for its server
    allow_hosts: list[str] = []
    redact: dict[str, Any] | bool | None = None
    budget: BudgetPart = BudgetPart()
    max_unscored: float = Field(default=0.05, ge=0, le=1)
    model_check: ModelCheck = "tell"  # whether another model's answer is told, or is no answer
    examples: ExamplesPart | None = None
    gate: GatePart = GatePart()
    audits: AuditsPart = AuditsPart()
    protocol: str | None = None  # the file that `medjury register` wrote; by default the one beside the study
    report: ReportPart = ReportPart()
    panel: PanelPart = PanelPart()
    tuning: dict[str, Any] | None = None  # how a judge is improved on labelled cases: see docs/tuning.md
    watch: dict[str, Any] | None = None  # how its jury is watched in use: see docs/watch.md

    @field_validator("jury", mode="before")
    @classmethod
    def _none_is_a_word(cls, value: Any) -> Any:
        if value == "none":
            return None
        if not isinstance(value, dict | JuryPart):
            raise ValueError("is `none`, or how votes become one: `{aggregate: mean, quorum: 2}`")
        return value

    @model_validator(mode="after")
    def _one_way_to_name_juries(self) -> StudyFile:
        if self.juries is not None and "jury" in self.model_fields_set:
            raise ValueError("`jury` and `juries` both say how votes become one; keep one of them")
        return self

    @field_validator("cases", "humans", mode="before")
    @classmethod
    def _a_bare_path_is_enough(cls, value: Any) -> Any:
        return {"path": value} if isinstance(value, str) else value

    @field_validator("judges", mode="before")
    @classmethod
    def _a_bare_kind_is_enough(cls, value: Any) -> Any:
        if isinstance(value, list):
            return [{"kind": each} if isinstance(each, str) else each for each in value]
        return value


class RatedStudyFile(StudyFile):
    """The same for a study that clinicians rate: it needs no judge."""

    judges: list[JudgePart] = []
