"""The part of a study file for clinicians who rate in the browser: see docs/panel.md."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, field_validator, model_validator

from medjury.foundation.fields import FileName, Part
from medjury.studies._file.models import CasesPart


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
    `choices` then are what can be chosen besides the left and the right one."""

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
    points: bool = False  # whether raters see what a criterion is worth, which would steer them
    minutes_idle: float = Field(default=3.0, gt=0, le=60)
    texts: PanelTextsPart = PanelTextsPart()
    public_url: str | None = None  # the address that people type; --public-url comes first

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
